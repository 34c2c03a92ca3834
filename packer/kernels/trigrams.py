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
def folded(codes: CODES, offsets: INDPTR) -> tuple[CODES, INDPTR]:
    r"""The texts with each run of white space as one blank, and none at their ends.  O(total).

    White space is what `str.split` cuts at.  Arguments and results as `build` takes them.

    >>> codes = np.frombuffer("  a \t b\n".encode("utf-32-le"), dtype=np.uint32)
    >>> codes, offsets = folded(codes, np.array([0, len(codes)]))
    >>> codes.tobytes().decode("utf-32-le"), offsets.tolist()
    ('a b', [0, 3])
    """
    kept = np.empty(len(codes), np.uint32)
    ends = np.zeros(len(offsets), np.int64)
    size = int(np.int64(0))
    for i in range(len(offsets) - 1):
        begin = size
        blank = False
        for p in range(offsets[i], offsets[i + 1]):
            code = codes[p]
            if code == 0x20 or ((code < 0x20 or code >= 0x85) and _is_space(code)):
                blank = True
            else:
                if blank and size > begin:
                    kept[size] = 0x20
                    size += 1
                blank = False
                kept[size] = code
                size += 1
        ends[i + 1] = size
    return kept[:size], ends


@kernel
def _is_space(code: int) -> bool:
    if code <= 0x20:
        return 0x09 <= code <= 0x0D or 0x1C <= code
    return (
        code == 0x85
        or code == 0xA0
        or code == 0x1680
        or 0x2000 <= code <= 0x200A
        or 0x2028 <= code <= 0x2029
        or code == 0x202F
        or code == 0x205F
        or code == 0x3000
    )


def build(codes: CODES, offsets: INDPTR) -> tuple[INDPTR, GRAMS]:
    """Sets of trigrams of the folded texts ``codes[offsets[i]:offsets[i + 1]]``.

    `codes` are code points (at most 0x10FFFF), uint32[total]; `offsets` is int64[n + 1]. A text
    of fewer than three characters is one element of its own, equal only to the same text.

    Trigrams are numbered by document frequency, rarest first, ties by first appearance. O(total)
    time and memory, at most 40 bytes a character, plus a table of at most 0x110000 code points.

    >>> codes = np.frombuffer("abcdbcd".encode("utf-32-le"), dtype=np.uint32)
    >>> indptr, grams = build(codes, np.array([0, 4, 7]))
    >>> indptr.tolist(), grams.tolist()
    ([0, 2, 3], [0, 1, 1])
    """
    indptr, names, frequency = _named(codes, offsets)
    return indptr, _ranked(indptr, names, frequency)


@kernel
def _named(codes: CODES, offsets: INDPTR) -> tuple[INDPTR, GRAMS, GRAMS]:
    """Distinct trigrams of each text, numbered by first appearance, and how many texts hold each.

    A trigram is a pair of characters that occurs and the character after it.  Where the pairs
    are few, each such has a slot of its own; else the slots are hashed.
    """
    symbols, base = _symbols(codes)
    windows = 0
    for i in range(len(offsets) - 1):
        windows += max(offsets[i + 1] - offsets[i] - 2, 1)
    most_pairs, most_slots = _most(windows)
    pairs, count = _pairs(symbols, offsets, base, most_pairs)
    if 0 < count and count * base <= most_slots:
        return _with_slots(symbols, pairs, offsets, windows, np.zeros(count * base, np.int32), base)
    return _hashed(symbols, offsets, windows, base)


@kernel
def _most(windows: int) -> tuple[int, int]:
    """How many numbers the tables of pairs and of slots may hold, for so many trigrams."""
    return 4 * windows + 65536, 8 * windows + 65536


@kernel
def _with_slots(
    symbols: GRAMS, pairs: GRAMS, offsets: INDPTR, windows: int, names: GRAMS, base: int
) -> tuple[INDPTR, GRAMS, GRAMS]:
    """As `_named`, by a table of names (0 where there is none) for pair and character."""
    n = len(offsets) - 1
    indptr = np.zeros(n + 1, np.int64)
    found = np.empty(windows, np.int32)
    frequency = np.zeros(windows + 1, np.int32)
    last = np.zeros(windows + 1, np.int32)
    vocabulary = 0
    end = 0
    for i in range(n):
        start, stop = offsets[i], offsets[i + 1]
        first = max(min(start + 2, stop - 1), start)
        pair = 0 if first == start else int(pairs[first - 1])  # 0 fills up short texts
        for p in range(first, max(stop, start + 1)):
            slot = pair * base
            if start < stop:
                slot += symbols[p]
                pair = int(pairs[p])
            name = int(names[slot])
            if name == 0:
                vocabulary += 1
                name = vocabulary
                names[slot] = name
            # Without a branch, which no processor could foresee.
            new = int(last[name] != i + 1)
            last[name] = i + 1
            frequency[name] += new
            found[end] = name - 1
            end += new
        indptr[i + 1] = end
    return indptr, found, frequency[1 : vocabulary + 1]


@kernel
def _hashed(
    symbols: GRAMS, offsets: INDPTR, windows: int, base: int
) -> tuple[INDPTR, GRAMS, GRAMS]:
    """As `_named`, for many different characters."""
    n = len(offsets) - 1
    keys = np.zeros(1024, np.int64)  # key + 1, 0 where the slot is free
    names = np.zeros(1024, np.int32)  # name, 0 where it has none
    indptr = np.zeros(n + 1, np.int64)
    found = np.empty(windows, np.int32)
    frequency = np.zeros(windows + 1, np.int32)
    last = np.zeros(windows + 1, np.int32)
    vocabulary = 0
    end = 0
    for i in range(n):
        start, stop = offsets[i], offsets[i + 1]
        first = max(min(start + 2, stop - 1), start)
        for p in range(first, max(stop, start + 1)):
            key = 0
            for at in range(p - 2, p + 1):  # 0 fills up short texts
                key = key * base + (int(symbols[at]) if start <= at < stop else 0)
            key += 1
            slot = _slot(keys, key)
            keys[slot] = key
            name = int(names[slot])
            if name == 0:
                vocabulary += 1
                name = vocabulary
                names[slot] = name
                if 2 * vocabulary >= len(keys):
                    keys, names = _grown(keys, names)
            new = int(last[name] != i + 1)
            last[name] = i + 1
            frequency[name] += new
            found[end] = name - 1
            end += new
        indptr[i + 1] = end
    return indptr, found, frequency[1 : vocabulary + 1]


@kernel
def _pairs(symbols: GRAMS, offsets: INDPTR, base: int, limit: int) -> tuple[GRAMS, int]:
    """For each character the number of the pair that it ends (of 0 and it, where a text begins).

    Pairs are numbered 1, 2, 3 ...; also one more than how many there are, 0 where a table of all
    possible ones would exceed the limit: nothing is numbered then.
    """
    pairs = np.zeros(len(symbols), np.int32)
    if base * base > limit:
        return pairs, int(np.int64(0))
    numbers = np.zeros(base * base, np.int32)
    count = int(np.int64(1))
    for i in range(len(offsets) - 1):
        before = int(np.int64(0))
        for p in range(offsets[i], offsets[i + 1]):
            place = before * base + symbols[p]
            before = int(symbols[p])
            number = int(numbers[place])
            if number == 0:
                number = count
                numbers[place] = number
                count += 1
            pairs[p] = number
    return pairs, count


@kernel
def _ranked(indptr: INDPTR, names: GRAMS, frequency: GRAMS) -> GRAMS:
    """The sets with trigrams numbered by frequency, each set sorted.

    Two transpositions, texts to trigrams and back, are a counting sort of all sets at once.
    """
    n = len(indptr) - 1
    vocabulary = len(frequency)
    below = np.zeros(n + 2, np.int64)
    for name in range(vocabulary):
        below[frequency[name] + 1] += 1
    for f in range(n):
        below[f + 1] += below[f]
    rank = np.zeros(vocabulary, np.int32)
    ends = np.zeros(vocabulary + 1, np.int64)
    for name in range(vocabulary):
        rank[name] = below[frequency[name]]
        below[frequency[name]] += 1
        ends[rank[name] + 1] = frequency[name]
    for r in range(vocabulary):
        ends[r + 1] += ends[r]

    texts = np.zeros(indptr[n], np.int32)
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            r = rank[names[p]]
            texts[ends[r]] = i
            ends[r] += 1
    grams = np.zeros(indptr[n], np.int32)
    fill = indptr[:-1].copy()
    begin = 0
    for r in range(vocabulary):
        for p in range(begin, ends[r]):
            i = texts[p]
            grams[fill[i]] = r
            fill[i] += 1
        begin = ends[r]
    return grams


@kernel
def _symbols(codes: CODES) -> tuple[GRAMS, int]:
    """The characters as 1, 2, 3 ... in order of appearance, and one more than how many there are."""
    top = 0
    for p in range(len(codes)):
        top = max(top, int(np.int64(codes[p])))
    numbers = np.zeros(top + 1, np.int32)
    symbols = np.empty(len(codes), np.int32)
    count = int(np.int64(1))
    for p in range(len(codes)):
        number = int(numbers[codes[p]])
        if number == 0:
            number = count
            numbers[codes[p]] = number
            count += 1
        symbols[p] = number
    return symbols, count


@kernel
def _slot(keys: npt.NDArray[np.int64], key: int) -> int:
    """The slot of `key`, or the free one where it belongs (linear probing; free is 0)."""
    mask = len(keys) - 1
    # Two halves, so that no product leaves int64 (plain Python would not wrap around).
    slot = ((key & 0x7FFFFFFF) * 0x5BD1E995 + (key >> 31) * 0x2545F491) >> 15 & mask
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@kernel
def _grown(
    keys: npt.NDArray[np.int64], names: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The same table at four times the size."""
    wider = np.zeros(4 * len(keys), np.int64)
    moved = np.zeros(4 * len(keys), np.int32)
    for old in range(len(keys)):
        if keys[old] != 0:
            slot = _slot(wider, keys[old])
            wider[slot] = keys[old]
            moved[slot] = names[old]
    return wider, moved


@kernel
def jaccard(indptr: INDPTR, grams: GRAMS, i: int, j: int) -> float:
    """|A & B| / |A | B| of the sets of texts i and j, 0.0 when both are empty. O(|A| + |B|).

    >>> indptr, grams = np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32)
    >>> float(jaccard(indptr, grams, 0, 1))
    0.5
    """
    p, q = indptr[i], indptr[j]
    p_end, q_end = indptr[i + 1], indptr[j + 1]
    total = (p_end - p) + (q_end - q)
    shared = int(np.int64(0))  # typed, or `ratio` is compiled for the literal 0 as well
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
    for i in range(len(indptr) - 1):
        if indptr[i + 1] > indptr[i]:
            size = max(size, int(grams[indptr[i + 1] - 1]) + 1)
    return size


@kernel
def mark(indptr: INDPTR, grams: GRAMS, i: int, marks: npt.NDArray[np.int32]) -> None:
    """Write i + 1 at the trigrams of text i, in `marks` (zeros at first). O(|A|)."""
    for p in range(indptr[i], indptr[i + 1]):
        marks[grams[p]] = i + 1


@kernel
def marked(indptr: INDPTR, grams: GRAMS, i: int, marks: npt.NDArray[np.int32], j: int) -> float:
    """Jaccard of texts i and j, where i is the one marked last. O(|B|), without a branch."""
    shared = int(np.int64(0))
    for p in range(indptr[j], indptr[j + 1]):
        shared += marks[grams[p]] == i + 1
    return ratio(shared, indptr[i + 1] - indptr[i] + indptr[j + 1] - indptr[j])
