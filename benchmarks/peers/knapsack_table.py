"""The table of n x budget that every textbook has, in numba; two rows, so that it vectorises."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_CELLS", "total"]

MOST_CELLS: Final = 2_000_000_000
"""It keeps one byte a cell to find the choice again."""


@cache
def _compiled() -> Callable[..., Any]:
    import numba

    @numba.njit(nogil=True)
    def table(
        values: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], budget: int
    ) -> npt.NDArray[np.bool_]:
        n = values.shape[0]
        taken = np.zeros((n, budget + 1), np.bool_)
        before = np.zeros(budget + 1, np.int64)
        after = np.zeros(budget + 1, np.int64)
        for item in range(n):
            weight, value = weights[item], values[item]
            row = taken[item]
            for room in range(min(weight, budget + 1)):
                after[room] = before[room]
            for room in range(weight, budget + 1):
                better = before[room - weight] + value
                wins = better > before[room]
                after[room] = better if wins else before[room]
                row[room] = wins
            before, after = after, before
        chosen = np.zeros(n, np.bool_)
        room = budget
        for item in range(n - 1, -1, -1):
            if taken[item, room]:
                chosen[item] = True
                room -= weights[item]
        return chosen

    compiled: Callable[..., Any] = table
    return compiled


def total(values: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], budget: int) -> int:
    """The best total."""
    return int(values[_compiled()(values, weights, budget)].sum())
