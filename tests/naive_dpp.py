"""The slow, obvious twin of the determinantal kernel: a whole Cholesky row for every row at every step."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from packer.kernels.dpp import SPANNED
from packer.kernels.rules import Rules

from . import naive_rules


def residual(matrix: npt.NDArray[np.float64], chosen: Sequence[int], row: int) -> float:
    """What the chosen do not span of a row, in the kernel's order of sums."""
    factors: list[list[float]] = []
    pivots: list[float] = []
    for here in [*chosen, row]:
        entries: list[float] = []
        left = 1.0
        for place, other in enumerate(chosen[: len(factors)]):
            value = float(matrix[here, other])
            for at in range(place):
                value -= entries[at] * factors[place][at]
            entry = value / math.sqrt(pivots[place]) if pivots[place] > SPANNED else 0.0
            entries.append(entry)
            left -= entry * entry
        factors.append(entries)
        pivots.append(left)
    return pivots[-1]


def select(
    matrix: npt.NDArray[np.float64],
    scores: Sequence[float],
    quality: Sequence[float],
    weight: float,
    costs: Sequence[int],
    budget: int,
    rules: Rules,
    start: Sequence[int],
) -> list[int]:
    added: list[int] = []
    while True:
        chosen = [*start, *added]

        def value(row: int, chosen: list[int] = chosen) -> float:
            if not weight:
                return quality[row]
            left = residual(matrix, chosen, row)
            return quality[row] + weight * math.log(left) if left > SPANNED else -math.inf

        addable = [
            row
            for row in range(len(costs))
            if row not in chosen
            and naive_rules.broken(rules, costs, budget, set(chosen), row) == 0
            and value(row) > -math.inf
        ]
        if not addable:
            return added
        pick = max(addable, key=lambda row: (value(row), scores[row], -row))
        added += naive_rules.ancestors(rules, pick, set(chosen))
