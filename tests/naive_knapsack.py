"""The slow, obvious twins of the knapsack kernel: all subsets, and a table over the capacity."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def by_subsets(values: Sequence[int], weights: Sequence[int], capacity: int) -> int:
    """The highest total value of a subset within `capacity`, by trying all. O(2^n)."""
    totals = [(0, 0)]
    for value, weight in zip(values, weights, strict=True):
        totals += [(p + int(value), w + int(weight)) for p, w in totals]
    return max(p for p, w in totals if w <= capacity)


def by_table(values: Ints, weights: Ints, capacity: int) -> int:
    """The same, by dynamic programming over the capacity. O(n * capacity)."""
    best = np.zeros(capacity + 1, dtype=np.int64)
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        if weight <= capacity:
            best[weight:] = np.maximum(best[weight:], best[: capacity + 1 - weight] + value)
    return int(best[capacity])


def break_solution(rank: npt.NDArray[np.float64], weights: Ints, room: int) -> tuple[set[int], int]:
    """The best-ranked items that fit, and the first that does not; earlier items first."""
    taken: set[int] = set()
    for item in np.argsort(-rank, kind="stable").tolist():
        if weights[item] > room:
            return taken, item
        room -= int(weights[item])
        taken.add(item)
    raise AssertionError("everything fits")
