"""Rows in a heap by a bound that only falls: what lazy greedy algorithms pop (Minoux 1978).

`heap` int64[size] holds rows; `bound` and `scores` are float64[n], of the rows.
"""

import numpy as np
import numpy.typing as npt

from ._jit import kernel


@kernel
def before(a: int, b: int, bound: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> bool:
    """Whether row a goes before row b: greater bound, then higher score, then lower row."""
    if bound[a] != bound[b]:
        return bool(bound[a] > bound[b])
    if scores[a] != scores[b]:
        return bool(scores[a] > scores[b])
    return a < b


@kernel
def rival(
    heap: npt.NDArray[np.int64],
    size: int,
    bound: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float64],
) -> int:
    """The row that is next after the top of the heap, -1 if there is none."""
    if size < 2:
        return -1
    if size > 2 and before(heap[2], heap[1], bound, scores):
        return int(heap[2])
    return int(heap[1])


@kernel
def sink(
    heap: npt.NDArray[np.int64],
    at: int,
    size: int,
    bound: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float64],
) -> None:
    """Move the row at `at` down to its place in ``heap[:size]``. O(log n)."""
    row = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and before(heap[child + 1], heap[child], bound, scores):
            child += 1
        if not before(heap[child], row, bound, scores):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = row
