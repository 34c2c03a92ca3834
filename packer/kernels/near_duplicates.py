"""The near-duplicates of a pool: an exact similarity join of each row with the rows kept so far.

Texts: a prefix filter (Bayardo, Ma & Srikant 2007, "Scaling up all pairs similarity search") with
the size and positional filters of PPJoin (Xiao, Wang, Lin & Yu 2008). Two sets with Jaccard >= t
share at least ceil(t * size) elements, so they share one in the rarest size - ceil(t * size) + 1
of each; only these are indexed and looked up.

Embeddings: blocks of rows against all kept rows, four by four in registers. The product of what is
left of both rows bounds what the rest of a dot product can add (Cauchy & Schwarz), so most pairs
end after the first segment of the dimensions. A pair that passes is compared by
`cosine.similarity`, hence no decision depends on the blocks.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from . import cosine, trigrams
from ._jit import kernel, reassociating

BLOCK: Final = 32  # rows of `order` that share one pass over the kept rows
SEGMENT: Final = 128  # dimensions between two looks at the bound
SLACK: Final = 1e-5  # above the rounding of a partial dot product and its bound, in float32


@kernel
def dedup(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    threshold: float,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """For each row, the kept row that it is a near-duplicate of, and their similarity.

    The rows are taken in `order`, a permutation (int64[n]), best first. One whose similarity to
    a kept row is >= `threshold` (0 < threshold <= 1) is dropped, and `survivor` (int64[n]) names
    the most similar kept row, ties: the one kept first. Kept rows have survivor -1 and
    similarity 0.0.

    The features as in `pairs`. Exact: the same pairs as by comparing each row with every kept
    one. Memory O(n + len(grams) + n d / 128), never n x n; time O(n kept d) at worst.
    """
    survivor, similarity, _, _ = join(unit, embedded, indptr, grams, order, threshold)
    return survivor, similarity


@kernel
def join(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    threshold: float,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], int, int]:
    """As `dedup`, with the pairs compared: in the first segment of dimensions, and by text."""
    n = order.shape[0]
    survivor = np.full(n, -1, np.int64)
    similarity = np.zeros(n, np.float64)
    tails = _tails(unit)
    kept = np.empty(n, np.int64)  # those with an embedding, in the order in which they were kept
    kept_count = 0
    kept_at = np.zeros(n, np.int64)  # position in `order`, breaks ties
    dots = 0
    verified = 0

    by_text = False
    for row in range(n):
        by_text = by_text or not embedded[row]
    ends = _index(indptr, grams, threshold, by_text)
    starts = ends[:-1].copy()
    indexed_row = np.empty(ends[-1], np.int32)
    indexed_at = np.empty(ends[-1], np.int32)
    fill = starts.copy()
    marks = np.zeros(starts.shape[0], np.int32)
    shared = np.zeros(n, np.int64)
    candidates = np.empty(n, np.int64)
    group = np.empty(BLOCK, np.int64)

    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        size = 0
        for at in range(begin, end):
            if embedded[order[at]]:
                group[size] = order[at]
                size += 1
        if size > 0 and kept_count > 0:
            dots += size * kept_count
            _against(
                unit, tails, group[:size], kept[:kept_count], threshold, survivor, similarity
            )
        before = kept_count
        for at in range(begin, end):
            row = order[at]
            kept_at[row] = at
            if embedded[row]:
                dots += kept_count - before
                for k in range(before, kept_count):
                    _improve(
                        row,
                        kept[k],
                        cosine.similarity(unit, row, kept[k]),
                        threshold,
                        survivor,
                        similarity,
                        kept_at,
                    )
            if by_text:
                count = _probe(
                    indptr, grams, embedded, row, threshold,
                    starts, fill, indexed_row, indexed_at, shared, candidates,
                )
                if count > 0:
                    trigrams.mark(indptr, grams, row, marks)
                for c in range(count):
                    other = candidates[c]
                    if shared[other] > 0:
                        verified += 1
                        _improve(
                            row,
                            other,
                            trigrams.marked(indptr, grams, row, marks, other),
                            threshold,
                            survivor,
                            similarity,
                            kept_at,
                        )
                    shared[other] = 0
            if survivor[row] < 0:
                if embedded[row]:
                    kept[kept_count] = row
                    kept_count += 1
                if by_text:
                    first = indptr[row]
                    for p in range(first, first + _prefix(indptr, row, threshold)):
                        slot = fill[grams[p]]
                        indexed_row[slot] = row
                        indexed_at[slot] = p - first
                        fill[grams[p]] = slot + 1
    return survivor, similarity, dots, verified


@kernel
def _improve(
    row: int,
    other: int,
    value: float,
    threshold: float,
    survivor: npt.NDArray[np.int64],
    similarity: npt.NDArray[np.float64],
    kept_at: npt.NDArray[np.int64],
) -> None:
    """Make `other` the survivor of `row` if it is the most similar kept row yet."""
    if value < threshold or value < similarity[row]:
        return
    best = survivor[row]
    if best < 0 or value > similarity[row] or kept_at[other] < kept_at[best]:
        survivor[row] = other
        similarity[row] = value


@kernel
def _least(overlap: float) -> int:
    """ceil(overlap), at least 1, and never above it for a rounding error (sets below 1e9)."""
    return max(math.ceil(overlap - 1e-6), 1)


@kernel
def _prefix(indptr: npt.NDArray[np.int64], row: int, threshold: float) -> int:
    """How many of the rarest trigrams of `row` are indexed and looked up."""
    size = indptr[row + 1] - indptr[row]
    return size - _least(threshold * size) + 1 if size > 0 else 0


@kernel
def _index(
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    threshold: float,
    by_text: bool,
) -> npt.NDArray[np.int64]:
    """Room for the rows of each trigram in the index: where each list begins, and the end."""
    if not by_text:
        return np.zeros(1, np.int64)
    begins = np.zeros(trigrams.vocabulary(indptr, grams) + 1, np.int64)
    for row in range(indptr.shape[0] - 1):
        for p in range(indptr[row], indptr[row] + _prefix(indptr, row, threshold)):
            begins[grams[p] + 1] += 1
    for gram in range(begins.shape[0] - 1):
        begins[gram + 1] += begins[gram]
    return begins


@kernel
def _probe(
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    embedded: npt.NDArray[np.bool_],
    row: int,
    threshold: float,
    starts: npt.NDArray[np.int64],
    fill: npt.NDArray[np.int64],
    indexed_row: npt.NDArray[np.int32],
    indexed_at: npt.NDArray[np.int32],
    shared: npt.NDArray[np.int64],
    candidates: npt.NDArray[np.int64],
) -> int:
    """Collect the kept rows that may reach the threshold with `row`, return how many.

    ``shared[other]`` counts the trigrams that both prefixes hold; it is -1 where the rest of the
    two sets is too short for the threshold.
    """
    first = indptr[row]
    size = indptr[row + 1] - first
    share = threshold / (1.0 + threshold)  # of both sizes, added
    count = 0
    for i in range(_prefix(indptr, row, threshold)):
        gram = grams[first + i]
        for slot in range(starts[gram], fill[gram]):
            other = np.int64(indexed_row[slot])
            if shared[other] < 0 or (embedded[row] and embedded[other]):
                continue
            if shared[other] == 0:
                candidates[count] = other
                count += 1
            other_size = indptr[other + 1] - indptr[other]
            rest = min(size - i, other_size - indexed_at[slot])
            if shared[other] + rest >= _least(share * (size + other_size)):
                shared[other] += 1
            else:
                shared[other] = -1
    return count


@kernel
def _tails(unit: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Length of what is left of each row after each segment. O(n d)."""
    n, d = unit.shape
    tails = np.zeros((n, (d + SEGMENT - 1) // SEGMENT), np.float32)
    for row in range(n):
        squares = 0.0
        for segment in range(tails.shape[1] - 1, 0, -1):
            for k in range(segment * SEGMENT, min((segment + 1) * SEGMENT, d)):
                squares += np.float64(unit[row, k]) * np.float64(unit[row, k])
            tails[row, segment - 1] = math.sqrt(squares)
    return tails


@kernel
def _against(
    unit: npt.NDArray[np.float32],
    tails: npt.NDArray[np.float32],
    group: npt.NDArray[np.int64],
    kept: npt.NDArray[np.int64],
    threshold: float,
    survivor: npt.NDArray[np.int64],
    similarity: npt.NDArray[np.float64],
) -> None:
    """Find the survivor of each row of `group` among the rows of `kept`, first kept first."""
    d = unit.shape[1]
    segments = tails.shape[1]
    sums = np.empty(16, np.float32)
    for first in range(0, kept.shape[0], 4):
        first_end = min(first + 4, kept.shape[0])
        for top in range(0, group.shape[0], 4):
            top_end = min(top + 4, group.shape[0])
            for k in range(16):
                sums[k] = 0.0
            floor = 1.0
            for a in range(top, top_end):
                floor = min(floor, similarity[group[a]])
            floor = max(floor, threshold) - SLACK
            alive = False
            for segment in range(segments):
                start = segment * SEGMENT
                best = _tile(unit, group, top, kept, first, start, min(start + SEGMENT, d), sums)
                left = np.float32(0.0)
                right = np.float32(0.0)
                for a in range(top, top_end):
                    left = max(left, tails[group[a], segment])
                for b in range(first, first_end):
                    right = max(right, tails[kept[b], segment])
                alive = best + left * right >= floor
                if not alive:
                    break
            if not alive:
                continue
            for a in range(top, top_end):
                row = group[a]
                for b in range(first, first_end):
                    if sums[4 * (a - top) + b - first] < max(threshold, similarity[row]) - SLACK:
                        continue
                    value = cosine.similarity(unit, row, kept[b])
                    if value >= threshold and value > similarity[row]:
                        survivor[row] = kept[b]
                        similarity[row] = value


@reassociating
def _tile(
    unit: npt.NDArray[np.float32],
    group: npt.NDArray[np.int64],
    top: int,
    kept: npt.NDArray[np.int64],
    first: int,
    start: int,
    stop: int,
    sums: npt.NDArray[np.float32],
) -> np.float32:
    """Add the products of dimensions start to stop of four rows by four to `sums`, float32[16].

    Returns the greatest of the sums. Where fewer than four are left, the last one stands in for the others.
    """
    last = group.shape[0] - 1
    a0 = unit[group[top], start:stop]
    a1 = unit[group[min(top + 1, last)], start:stop]
    a2 = unit[group[min(top + 2, last)], start:stop]
    a3 = unit[group[min(top + 3, last)], start:stop]
    last = kept.shape[0] - 1
    b0 = unit[kept[first], start:stop]
    b1 = unit[kept[min(first + 1, last)], start:stop]
    b2 = unit[kept[min(first + 2, last)], start:stop]
    b3 = unit[kept[min(first + 3, last)], start:stop]
    s00 = s01 = s02 = s03 = np.float32(0.0)
    s10 = s11 = s12 = s13 = np.float32(0.0)
    s20 = s21 = s22 = s23 = np.float32(0.0)
    s30 = s31 = s32 = s33 = np.float32(0.0)
    for k in range(stop - start):
        x0, x1, x2, x3 = a0[k], a1[k], a2[k], a3[k]
        y0, y1, y2, y3 = b0[k], b1[k], b2[k], b3[k]
        s00 += x0 * y0
        s01 += x0 * y1
        s02 += x0 * y2
        s03 += x0 * y3
        s10 += x1 * y0
        s11 += x1 * y1
        s12 += x1 * y2
        s13 += x1 * y3
        s20 += x2 * y0
        s21 += x2 * y1
        s22 += x2 * y2
        s23 += x2 * y3
        s30 += x3 * y0
        s31 += x3 * y1
        s32 += x3 * y2
        s33 += x3 * y3
    sums[0] += s00
    sums[1] += s01
    sums[2] += s02
    sums[3] += s03
    sums[4] += s10
    sums[5] += s11
    sums[6] += s12
    sums[7] += s13
    sums[8] += s20
    sums[9] += s21
    sums[10] += s22
    sums[11] += s23
    sums[12] += s30
    sums[13] += s31
    sums[14] += s32
    sums[15] += s33
    best = sums[0]
    for k in range(1, 16):
        best = max(best, sums[k])
    return best
