"""Which texts stand inside another: a join by the share of a text's trigrams that the other has."""

import numpy as np
import numpy.typing as npt

from . import trigrams
from ._jit import kernel
from .prefix_filter import least


@kernel
def drop(
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    threshold: float,
    always: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """For each row the kept row that holds `threshold` of its trigrams or more, and the share.

    The rows are taken in `order` (int64[n], the largest first). `survivor` (int64[n]) names the
    kept row that holds most, ties: the one kept first; kept rows have -1 and the share 0.0.
    `always` (bool[n]): rows that are kept, whatever holds them.

    Exact: a text of which t of its size trigrams are held has one of its rarest
    size - ceil(t * size) + 1 among them, so only these are looked up (as in `prefix_filter`).
    Memory O(n + len(grams)); time O(sum of the lists that are looked up).
    """
    n = order.size
    survivor = np.full(n, -1, np.int64)
    share = np.zeros(n, np.float64)
    vocabulary = trigrams.vocabulary(indptr, grams)
    begins = np.zeros(vocabulary + 1, np.int64)
    for at in range(grams.size):
        begins[grams[at] + 1] += 1
    for gram in range(vocabulary):
        begins[gram + 1] += begins[gram]
    ends = begins[:-1].copy()
    index = np.zeros(grams.size, np.int32)
    place = np.zeros(n, np.int64)
    marks = np.zeros(vocabulary, np.int64)
    seen = np.full(n, -1, np.int64)
    for turn in range(n):
        row = order[turn]
        place[row] = turn
        first, last = indptr[row], indptr[row + 1]
        size = last - first
        for at in range(first, last):
            marks[grams[at]] = turn + 1
        for at in range(first, first if always[row] else last - least(threshold * size) + 1):
            for slot in range(begins[grams[at]], ends[grams[at]]):
                other = index[slot]
                if seen[other] == turn:
                    continue
                seen[other] = turn
                shared = 0
                for held in range(indptr[other], indptr[other + 1]):
                    if marks[grams[held]] == turn + 1:
                        shared += 1
                value = shared / size
                best = survivor[row]
                if value >= threshold and (
                    value > share[row] or (value == share[row] and place[other] < place[best])
                ):
                    survivor[row] = other
                    share[row] = value
        if survivor[row] < 0:
            for at in range(first, last):
                index[ends[grams[at]]] = row
                ends[grams[at]] += 1
    return survivor, share
