"""Texts as sets of character trigrams, and the Jaccard similarity of two such sets.

The sets of a pool are one CSR matrix: `indptr` int64[n + 1] and `grams` int32[indptr[n]], where
``grams[indptr[i]:indptr[i + 1]]`` is the set of text i as sorted, distinct integers. Small
integers are rare trigrams, which is the order that a prefix filter wants.
"""

import numpy as np
import numpy.typing as npt

from ._jit import kernel

CODES = npt.NDArray[np.uint32]
INDPTR = npt.NDArray[np.int64]
GRAMS = npt.NDArray[np.int32]


@kernel
def build(codes: CODES, offsets: INDPTR) -> tuple[INDPTR, GRAMS]:
    """Sets of trigrams of the folded texts ``codes[offsets[i]:offsets[i + 1]]``.

    `codes` are code points (at most 0x10FFFF), uint32[total]; `offsets` is int64[n + 1]. A text
    of fewer than three characters is one element of its own, equal only to the same text.

    Trigrams are numbered by document frequency, rarest first, ties by first appearance; two
    transpositions (a counting sort in both directions) then leave every set sorted. O(total)
    time and memory, plus a table of at most 0x110000 code points.

    >>> codes = np.frombuffer("abcdbcd".encode("utf-32-le"), dtype=np.uint32)
    >>> indptr, grams = build(codes, np.array([0, 4, 7]))
    >>> indptr.tolist(), grams.tolist()
    ([0, 2, 3], [0, 1, 1])
    """
    n = offsets.shape[0] - 1
    symbols, count = _symbols(codes)
    base = count + 1
    windows = 0
    for i in range(n):
        windows += max(offsets[i + 1] - offsets[i] - 2, 1)

    # The distinct trigrams of each text, numbered by first appearance.
    indptr = np.zeros(n + 1, np.int64)
    found = np.empty(windows, np.int32)
    frequency = np.zeros(windows, np.int32)
    last = np.full(windows, -1, np.int32)
    keys = np.full(1024, -1, np.int64)
    names = np.zeros(1024, np.int32)
    vocabulary = 0
    end = 0
    for i in range(n):
        start = offsets[i]
        length = offsets[i + 1] - start
        for w in range(max(length - 2, 1)):
            # A short text is padded on the left with 0, which is no symbol.
            a = symbols[codes[start + w]] if length > 2 else 0
            b = symbols[codes[start + length - 2]] if length == 2 else 0
            if length > 2:
                b = symbols[codes[start + w + 1]]
            c = 0
            if length > 2:
                c = symbols[codes[start + w + 2]]
            elif length > 0:
                c = symbols[codes[start + length - 1]]
            key = (a * base + b) * base + c
            slot = _slot(keys, key)
            if keys[slot] < 0:
                if 2 * vocabulary >= keys.shape[0]:
                    keys, names = _grown(keys, names)
                    slot = _slot(keys, key)
                keys[slot] = key
                names[slot] = vocabulary
                vocabulary += 1
            name = names[slot]
            if last[name] != i:
                last[name] = i
                frequency[name] += 1
                found[end] = name
                end += 1
        indptr[i + 1] = end

    # Rank of each trigram by frequency, and where the texts that hold it begin.
    below = np.zeros(n + 2, np.int64)
    for name in range(vocabulary):
        below[frequency[name] + 1] += 1
    for f in range(n + 1):
        below[f + 1] += below[f]
    rank = np.empty(vocabulary, np.int32)
    ends = np.zeros(vocabulary + 1, np.int64)
    for name in range(vocabulary):
        rank[name] = below[frequency[name]]
        below[frequency[name]] += 1
        ends[rank[name] + 1] = frequency[name]
    for r in range(vocabulary):
        ends[r + 1] += ends[r]

    texts = np.empty(end, np.int32)
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            r = rank[found[p]]
            texts[ends[r]] = i
            ends[r] += 1
    grams = np.empty(end, np.int32)
    fill = indptr[:-1].copy()
    begin = 0
    for r in range(vocabulary):
        for p in range(begin, ends[r]):
            i = texts[p]
            grams[fill[i]] = r
            fill[i] += 1
        begin = ends[r]
    return indptr, grams


@kernel
def _symbols(codes: CODES) -> tuple[npt.NDArray[np.int64], int]:
    """Code point -> 1, 2, 3 ... for those that occur, and how many there are."""
    top = 0
    for p in range(codes.shape[0]):
        top = max(top, np.int64(codes[p]))
    symbols = np.zeros(top + 1, np.int64)
    for p in range(codes.shape[0]):
        symbols[codes[p]] = 1
    count = 0
    for code in range(top + 1):
        if symbols[code] != 0:
            count += 1
            symbols[code] = count
    return symbols, count


@kernel
def _slot(keys: npt.NDArray[np.int64], key: int) -> int:
    """The slot of `key`, or the free one where it belongs (linear probing; free is -1)."""
    mask = keys.shape[0] - 1
    # Two halves, so that no product leaves int64 (plain Python would not wrap around).
    slot = ((key & 0x7FFFFFFF) * 0x5BD1E995 + (key >> 31) * 0x2545F491) >> 15 & mask
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def _grown(
    keys: npt.NDArray[np.int64], names: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The same table at four times the size."""
    wider = np.full(4 * keys.shape[0], -1, np.int64)
    moved = np.zeros(4 * keys.shape[0], np.int32)
    for old in range(keys.shape[0]):
        if keys[old] >= 0:
            slot = _slot(wider, keys[old])
            wider[slot] = keys[old]
            moved[slot] = names[old]
    return wider, moved


@kernel
def jaccard(indptr: INDPTR, grams: GRAMS, i: int, j: int) -> float:
    """|A & B| / |A | B| of the sets of texts i and j, 0.0 when both are empty. O(|A| + |B|).

    >>> indptr, grams = np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32)
    >>> jaccard(indptr, grams, 0, 1)
    0.5
    """
    p, q = indptr[i], indptr[j]
    p_end, q_end = indptr[i + 1], indptr[j + 1]
    total = (p_end - p) + (q_end - q)
    shared = 0
    while p < p_end and q < q_end:
        left, right = grams[p], grams[q]
        shared += left == right
        p += left <= right
        q += right <= left
    return ratio(shared, total)


@kernel
def ratio(shared: int, total: int) -> float:
    """Jaccard of two sets with `shared` elements in common and `total` in both, added."""
    if total == 0:
        return 0.0
    return shared / (total - shared)


@kernel
def vocabulary(indptr: INDPTR, grams: GRAMS) -> int:
    """One more than the largest trigram. O(n): every set is sorted."""
    size = 0
    for i in range(indptr.shape[0] - 1):
        if indptr[i + 1] > indptr[i]:
            size = max(size, np.int64(grams[indptr[i + 1] - 1]) + 1)
    return size


@kernel
def mark(indptr: INDPTR, grams: GRAMS, i: int, marks: npt.NDArray[np.int32]) -> None:
    """Write i + 1 at the trigrams of text i, in `marks` (zeros at first). O(|A|)."""
    for p in range(indptr[i], indptr[i + 1]):
        marks[grams[p]] = i + 1


@kernel
def marked(
    indptr: INDPTR, grams: GRAMS, i: int, marks: npt.NDArray[np.int32], j: int
) -> float:
    """Jaccard of texts i and j, where i is the one marked last. O(|B|), without a branch."""
    shared = 0
    for p in range(indptr[j], indptr[j + 1]):
        shared += marks[grams[p]] == i + 1
    return ratio(shared, indptr[i + 1] - indptr[i] + indptr[j + 1] - indptr[j])
