"""All pairs of a pool that are near-duplicates of each other."""

import numpy as np
import numpy.typing as npt

from . import cosine, prefix_filter, trigrams
from ._jit import kernel
from .room import with_room

Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


@kernel
def noted(pairs: Found, count: int, left: int, right: int, similarity: float) -> Found:
    """The pairs found (int64[2 c] and float64[c], with room) and one more, number `count`."""
    rows, values = pairs
    rows = with_room(rows, 2 * count, 2 * count + 2)
    values = with_room(values, count, count + 1)
    rows[2 * count] = left
    rows[2 * count + 1] = right
    values[count] = similarity
    return rows, values


@kernel
def pairs(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    threshold: float,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Rows, others and similarities of the pairs with similarity >= `threshold`, row > other.

    The features as in `pairs`. Embeddings O(n^2 d), texts through `prefix_filter`; memory for the
    pairs that are found.
    """
    n = embedded.size
    found = (np.empty(0, np.int64), np.empty(0, np.float64))
    count = 0
    begins = prefix_filter.room(indptr, grams, threshold)
    ends = begins[:-1].copy()
    index = np.zeros(2 * begins[-1], np.int32)
    marks = np.zeros(begins.size, np.int32)
    shared = np.zeros(n, np.int32)
    candidates = np.empty(n, np.int64)
    for row in range(n):
        if embedded[row]:
            for other in range(row):
                if embedded[other]:
                    value = cosine.similarity(unit, row, other)
                    if value >= threshold:
                        found = noted(found, count, row, other, value)
                        count += 1
        near = prefix_filter.probe(
            indptr, grams, embedded, row, threshold, begins, ends, index, shared, candidates
        )
        if near > 0:
            trigrams.mark(indptr, grams, row, marks)
        for c in range(near):
            other = candidates[c]
            if shared[other] > 0:
                value = trigrams.marked(indptr, grams, row, marks, other)
                if value >= threshold:
                    found = noted(found, count, row, other, value)
                    count += 1
            shared[other] = 0
        prefix_filter.insert(indptr, grams, row, threshold, ends, index)
    rows, values = found
    return rows[0 : 2 * count : 2].copy(), rows[1 : 2 * count : 2].copy(), values[:count].copy()
