"""The near-duplicates of a pool: an exact similarity join of each row with the rows kept so far.

Texts are looked up through `prefix_filter`, embeddings block by block through `tiles`. Both only
rule pairs out; a pair that passes is compared by `trigrams.marked` or `cosine.similarity`, so that
no decision depends on the blocks.
"""

import numpy as np
import numpy.typing as npt

from . import cosine, prefix_filter, tiles, trigrams
from ._jit import kernel
from .tiles import BLOCK


def dedup(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    threshold: float,
    always: int = 0,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """For each row, the kept row that it is a near-duplicate of, and their similarity.

    The rows are taken in `order`, a permutation (int64[n]), best first. One whose similarity to
    a kept row is >= `threshold` (0 < threshold <= 1) is dropped, and `survivor` (int64[n]) names
    the most similar kept row, ties: the one kept first. Kept rows have survivor -1 and
    similarity 0.0 (float64[n]). The first `always` rows are kept, whatever they are like.

    The features as in `pairs`. Exact: the same pairs as by comparing each row with every kept
    one. Memory O(n + len(grams) + d), never n x n; time O(n kept d) at worst.
    """
    survivor, similarity, _ = join(unit, embedded, indptr, grams, order, threshold, always)
    return survivor, similarity


def join(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    threshold: float,
    always: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """As `dedup`, with three counts of pairs, int64[3].

    Those filtered by the first dimensions, and those compared in full: embeddings, texts.
    """
    n, d = len(order), unit.shape[1]
    survivor = np.full(n, -1, np.int64)
    similarity = np.zeros(n, np.float64)
    place = np.empty(n, np.int64)  # in `order`; breaks ties
    place[order] = np.arange(n)
    counts = np.zeros(3, np.int64)
    best = survivor, similarity, place, counts

    by_vector, by_text = bool(embedded.any()), not embedded.all()
    kept = np.empty(n, np.int64)  # rows with an embedding, in the order in which they were kept
    kept_size = 0
    passed = np.zeros(BLOCK * BLOCK, np.bool_)
    hits = np.zeros(BLOCK, np.int64)
    depth = tiles.head(d, threshold)
    rest = tiles.tails(unit, depth) if by_vector else np.zeros(0, np.float32)
    left, right = np.zeros((2, BLOCK * (d + 3)), np.float32)

    begins = prefix_filter.room(indptr, grams, threshold) if by_text else np.zeros(1, np.int64)
    ends = begins[:-1].copy()
    index = np.zeros(2 * begins[-1], np.int32)
    marks = np.zeros(len(ends), np.int32)
    shared = np.zeros(n, np.int32)

    for begin in range(0, n, BLOCK):
        rows = order[begin : begin + BLOCK]
        vectors = rows[embedded[rows]]
        if len(vectors) > 0:
            _against_kept(
                unit, rest, vectors, kept, kept_size, threshold, depth, left, right, passed, hits,
                *best,
            )  # fmt: skip
        kept_size = _among_themselves(
            unit, embedded, indptr, grams, rows, vectors, kept, kept_size, threshold, passed, hits,
            begins, ends, index, marks, shared, always, *best,
        )  # fmt: skip
        if 16 * counts[1] > counts[0]:
            # The first dimensions tell too little about these rows: multiply all of them.
            depth = 4 * ((d + 3) // 4)
            rest[:] = 0.0
    return survivor, similarity, counts


@kernel
def _against_kept(
    unit: npt.NDArray[np.float32],
    rest: npt.NDArray[np.float32],
    rows: npt.NDArray[np.int64],
    kept: npt.NDArray[np.int64],
    kept_size: int,
    threshold: float,
    depth: int,
    left: npt.NDArray[np.float32],
    right: npt.NDArray[np.float32],
    passed: npt.NDArray[np.bool_],
    hits: npt.NDArray[np.int64],
    survivor: npt.NDArray[np.int64],
    similarity: npt.NDArray[np.float64],
    place: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
) -> None:
    """Compare embeddings with all that were kept, then filter those of `rows` themselves."""
    size = len(rows)
    slack = 1e-5 + 2.4e-7 * unit.shape[1]  # rounding of a float32 sum of d products, twice
    left_tails = np.zeros(BLOCK, np.float32)
    right_tails = np.zeros(BLOCK, np.float32)
    floors = np.zeros(BLOCK, np.float32)
    sums = np.zeros(4 * BLOCK, np.float32)
    for a in range(size):  # behind the kept rows, as the last block to compare with
        kept[kept_size + a] = rows[a]
    tiles.transpose(unit, rest, kept, kept_size, size, depth, left, left_tails)
    start = int(np.int64(0))  # typed, or `transpose` is compiled for the literal 0 as well
    while start <= kept_size:
        width = min(BLOCK, kept_size - start) if start < kept_size else size
        tiles.transpose(unit, rest, kept, start, width, depth, right, right_tails)
        for a in range(size):
            floors[a] = max(threshold, similarity[rows[a]]) - slack
        tiles.near(
            left, left_tails, floors, size, right, right_tails, width, depth, sums, passed, hits
        )
        counts[0] += size * width
        for a in range(size if start < kept_size else 0):
            for b in range(width if hits[a] > 0 else 0):
                if passed[a * BLOCK + b]:
                    counts[1] += 1
                    row, other = rows[a], kept[start + b]
                    value = cosine.similarity(unit, row, other)
                    _improve(row, other, value, threshold, survivor, similarity, place)
        start += width


@kernel
def _among_themselves(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int64],
    vectors: npt.NDArray[np.int64],
    kept: npt.NDArray[np.int64],
    kept_size: int,
    threshold: float,
    passed: npt.NDArray[np.bool_],
    hits: npt.NDArray[np.int64],
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    index: npt.NDArray[np.int32],
    marks: npt.NDArray[np.int32],
    shared: npt.NDArray[np.int32],
    always: int,
    survivor: npt.NDArray[np.int64],
    similarity: npt.NDArray[np.float64],
    place: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
) -> int:
    """Decide the rows of a block one after the other; returns how many embeddings are kept."""
    by_text = len(ends) > 0
    candidates = np.empty(len(embedded), np.int64)
    a = -1
    for row in rows:
        if embedded[row]:
            a += 1
            for b in range(a if hits[a] > 0 else 0):
                other = vectors[b]
                if passed[a * BLOCK + b] and survivor[other] < 0:
                    counts[1] += 1
                    value = cosine.similarity(unit, row, other)
                    _improve(row, other, value, threshold, survivor, similarity, place)
        if by_text:
            found = prefix_filter.probe(
                indptr, grams, embedded, row, threshold, begins, ends, index, shared, candidates
            )
            if found > 0:
                trigrams.mark(indptr, grams, row, marks)
            for c in range(found):
                other = candidates[c]
                if shared[other] > 0:
                    counts[2] += 1
                    value = trigrams.marked(indptr, grams, row, marks, other)
                    _improve(row, other, value, threshold, survivor, similarity, place)
                shared[other] = 0
        if place[row] < always:
            survivor[row] = -1
            similarity[row] = 0.0
        if survivor[row] < 0:
            if embedded[row]:
                kept[kept_size] = row
                kept_size += 1
            if by_text:
                prefix_filter.insert(indptr, grams, row, threshold, ends, index)
    return kept_size


@kernel
def _improve(
    row: int,
    other: int,
    value: float,
    threshold: float,
    survivor: npt.NDArray[np.int64],
    similarity: npt.NDArray[np.float64],
    place: npt.NDArray[np.int64],
) -> None:
    """Make `other` the survivor of `row` if it is the most similar kept row yet."""
    if value < threshold or value < similarity[row]:
        return
    if value > similarity[row] or place[other] < place[survivor[row]]:
        survivor[row] = other
        similarity[row] = value
