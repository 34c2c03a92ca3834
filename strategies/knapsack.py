"""The subset with the highest total score that the budget allows."""

import math
from typing import Final, final

import attrs
import numpy as np

from packer import kernels
from packer.algebra import Selector
from packer.arrays import Floats, Ints, best_first, frozen
from packer.pool import Pool, Selection
from packer.records import Optimality

from .greedy import fill

__all__ = ["knapsack"]

BITS: Final = 52
"""Sums of scaled scores stay below 2**BITS, so that they are exact as int64 and as float64."""


@final
@attrs.frozen(repr=False)
class Knapsack(Selector):
    name = "knapsack"
    is_constant = True
    uses_kernels = True

    def __call__(self, pool: Pool, /) -> Selection:
        scores, costs = pool.scores, pool.costs
        useful = (scores > 0) & (costs <= pool.capacity)
        free = useful & (costs == 0)
        rows = np.flatnonzero(useful & ~free)
        chosen, bound, proven = _best(scores[rows], costs[rows], pool.capacity)
        taken = np.concatenate([np.flatnonzero(free), rows[chosen]])
        taken = taken[np.lexsort((taken, -scores[taken]))]
        gained = _total(scores[free])
        optimality = _optimality(_total(scores[taken]), bound + gained, proven=proven)

        def detail(row: int) -> str | None:
            return None if scores[row] > 0 else "score <= 0 adds nothing"

        if len(pool) and not (scores > 0).any():
            words = 'no score is above 0, so none adds to the total; put normalize("sigmoid") first'
            pool = pool.warn("nonpositive-scores", words, range(len(pool)))
        return pool.select(taken, detail=detail, optimality=optimality)


def _best(scores: Floats, costs: Ints, capacity: int) -> tuple[Ints, float, bool]:
    """The best rows (scores and costs above 0), a bound on any total, and whether it is proven."""
    if int(costs.sum()) <= capacity:
        return np.arange(len(scores)), _total(scores), True
    values, shift = _scaled(scores)
    rows = np.flatnonzero(values)  # a score too small for the scale joins where it fits, below
    solve, limit = kernels.knapsack.solve, kernels.knapsack.WORK_LIMIT
    mask, most, proven = solve(frozen(values[rows]), frozen(costs[rows]), capacity, limit)
    chosen = rows[mask]
    order = best_first(np.where(np.isin(np.arange(len(scores)), chosen), -1.0, scores))
    order = order[: len(scores) - len(chosen)]
    left = capacity - int(costs[chosen].sum())
    chosen = np.concatenate([chosen, fill(order, costs, left)])
    rounding = 0 if np.array_equal(np.ldexp(values.astype(np.float64), -shift), scores) else 0.5
    return chosen, _unscaled(most + rounding * len(scores), shift), proven


def _scaled(scores: Floats) -> tuple[Ints, int]:
    """The scores times 2**shift, rounded to integers whose sum is below 2**BITS; and shift."""
    exponent = math.frexp(float(scores.max()))[1]
    shift = BITS - len(scores).bit_length() - exponent
    return np.rint(np.ldexp(scores, shift)).astype(np.int64), shift


def _unscaled(total: float, shift: int) -> float:
    """The scores' sum of which `total` is the scaled one."""
    try:
        return math.ldexp(total, -shift)
    except OverflowError:
        return math.inf


def _total(scores: Floats) -> float:
    """The sum, rounded once."""
    try:
        return math.fsum(scores.tolist())
    except OverflowError:
        return math.inf


def _optimality(value: float, bound: float, *, proven: bool) -> Optimality:
    bound = max(bound, value)
    gap = (bound - value) / bound if 0 < bound < math.inf else 0.0
    return Optimality(value=value, bound=bound, gap=gap, proven=proven)


knapsack: Final[Selector] = Knapsack()
"""The subset with the highest total score within the budget, exact at any budget.

Scores that do not add to the total (<= 0) stay out; free chunks with a positive score are in.
The scores must mean value that adds up (expected evidence, a probability): over raw cosines,
which differ less than lengths do, the best total is many short weak chunks.

`report.optimality` says what is proven.  Scores are scaled to integers with about
52 - log2(n) bits; the rounding, at most n * 2**-shift / 2, is part of `bound`.  Beyond its work
limit (some 20 ms) the best found so far comes with a true bound and ``proven=False``.

Algorithm: Pisinger, "A minimal algorithm for the 0-1 knapsack problem", Operations Research
45(5), 1997, with ideas of Martello, Pisinger, Toth, Management Science 45(3), 1999; no table of
n x budget.  O(n) and a small core in practice; memory O(n + work limit).
"""
