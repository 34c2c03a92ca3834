"""The slow, obvious twin of the determinantal kernel: a whole Cholesky row for every row at every step."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from packer.kernels.dpp import SPANNED, inner
from packer.kernels.rules import Rules

from . import naive_rules


def residual(matrix: npt.NDArray[np.float64], chosen: Sequence[int], row: int) -> float:
    """What the chosen do not span of a row, with the kernel's own inner product."""
    rows = [*chosen, row]
    factors = np.zeros((len(rows), len(rows)))
    pivots = [1.0] * len(rows)
    for here, _ in enumerate(rows):
        for place in range(here):
            value = float(matrix[rows[here], rows[place]])
            value -= inner(factors, here, place, place)
            if pivots[place] > SPANNED:
                factors[here, place] = value / math.sqrt(pivots[place])
            pivots[here] -= factors[here, place] ** 2
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
