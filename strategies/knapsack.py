"""The subset with the highest total score that the budget allows."""

import contextlib
import math
from collections.abc import Callable
from typing import Final, final

import attrs
import numpy as np

from packer import kernels
from packer.algebra import Selector
from packer.arrays import Bools, Floats, Ints, best_first, sealed
from packer.errors import Infeasible, OverBudget
from packer.growing import Growing, Values
from packer.infeasible import conflict
from packer.pool import Pool
from packer.records import Optimality
from packer.rulebook import Rulebook, rulebook
from packer.rules import Overlap
from packer.selection import Selection

from .greedy import fill
from .squeezed import warn_squeezed

__all__ = ["knapsack"]

BITS: Final = 52
"""Sums of scaled scores stay below 2**BITS, so that they are exact as int64 and as float64."""

NOTHING: Final = "score <= 0 adds nothing"
NONPOSITIVE: Final = (
    'no score is above 0, so none adds to the total; put normalize("sigmoid") first'
)


@final
@attrs.frozen(repr=False)
class Knapsack(Selector):
    name = "knapsack"
    is_constant = True
    uses_kernels = True
    obeys_rules = True
    counts_overlap = True

    def __call__(self, pool: Pool, /) -> Selection:
        pool = warn_squeezed(pool)
        if pool.overlapping:
            return _overlapping(pool)
        book = rulebook(pool)
        if book is not None:
            return _under_rules(book)
        scores = pool.scores
        chosen, optimality = solved(scores, pool.costs, pool.capacity)
        return _warned(pool).select(chosen, detail=_why(scores), optimality=optimality)


def _why(scores: Floats) -> Callable[[int], str | None]:
    """What is to say of a row that is out."""
    return lambda row: None if scores[row] > 0 else NOTHING


def _warned(pool: Pool) -> Pool:
    """The pool, with a warning where nothing adds to the total."""
    if not len(pool) or (pool.scores > 0).any():
        return pool
    return pool.warn("nonpositive-scores", NONPOSITIVE, range(len(pool)))


def solved(scores: Floats, costs: Ints, capacity: int) -> tuple[Ints, Optimality]:
    """The rows of the best subset, best first, and how good it is known to be."""
    useful = (scores > 0) & (costs <= capacity)
    taken = useful & (costs == 0)
    gained = _total(scores[taken])
    rows = np.flatnonzero(useful ^ taken)
    mask, bound, proven = _best(scores[rows], costs[rows], capacity)
    taken[rows[mask]] = True
    chosen = np.flatnonzero(taken)
    chosen = chosen[best_first(scores[chosen])]
    return chosen, Optimality.of(_total(scores[chosen]), bound + gained, proven=proven)


def _under_rules(book: Rulebook) -> Selection:
    """The best selection that the rules allow; what they demand may have a score <= 0.

    The total is that of the positive scores.
    """
    pool, scores = book.pool, book.pool.scores
    positive = np.maximum(scores, 0.0)
    mask, bound, proven = _allowed(book, np.where(book.costs <= pool.capacity, positive, 0.0))
    rest = np.flatnonzero(~mask & (scores > 0))  # too small for the scale, or beyond the limit
    chosen = book.walk(rest[best_first(scores[rest])], sealed(np.flatnonzero(mask)))
    chosen = book.without_idle(chosen)
    chosen = chosen[np.lexsort((chosen, -scores[chosen]))]
    optimality = Optimality.of(_total(positive[chosen]), bound, proven=proven)
    return book.select(chosen, detail=_why(scores), optimality=optimality)


def _allowed(book: Rulebook, scores: Floats) -> tuple[Bools, float, bool]:
    """The best rows that the rules allow (by scores >= 0), a bound, and whether it is proven.

    A row that is worth more than the bound is in no selection.  As the highest score sets the
    scale, it must not blur the others: without it the scale is set anew.
    """
    while True:
        values, shift = np.zeros(len(scores), np.int64), 0
        if scores.any():
            values, shift = _scaled(scores)
        found = book.solve(values)
        if found is None:
            raise conflict(book)
        mask, most, proven = found
        possible = values <= most
        if possible.all():
            return mask, _unscaled(most + _rounding(scores, values, shift), shift), proven
        scores = np.where(possible, scores, 0.0)


def _overlapping(pool: Pool) -> Selection:
    """The best of three: by full costs and then filled up, and by score or density of what is new.

    The bound takes what overlaps as free; it proves only what has all.
    """
    scores = pool.scores
    tries = [
        _grown(pool, lambda _: scores),
        _grown(pool, lambda found: scores / np.maximum(found.costs, 0.5)),
    ]
    plain = pool.with_rules(rule for rule in pool.rules if not isinstance(rule, Overlap))
    with contextlib.suppress(Infeasible, OverBudget):  # by full costs
        tries.insert(0, _grown(pool, lambda _: scores, knapsack(plain).chosen))
    found = max(tries, key=lambda one: _value(scores, one))  # the first of equals
    shared = np.array(pool.spans.meets, np.bool_) & (scores > 0)
    rest = np.flatnonzero(~shared & (scores > 0))
    free = pool.costs[rest] == 0
    rest = rest[np.lexsort((-scores[rest] / np.maximum(pool.costs[rest], 1), ~free))]
    spent = np.cumsum(pool.costs[rest])
    whole = rest[: int(np.searchsorted(spent, pool.budget, side="right")) + 1]
    bound = _total(scores[np.concatenate([np.flatnonzero(shared), whole])])
    value = _value(scores, found)
    found.pool = _warned(pool)
    return found.select(
        detail=_why(scores), optimality=Optimality.of(value, bound, proven=value >= bound)
    )


def _grown(pool: Pool, values: Values, rows: Ints | None = None) -> Growing:
    """These rows, or what must be in, and what of a positive score `values` ranks first."""
    found = Growing(pool)
    if rows is None:
        found.start(best_first(pool.scores))
    else:
        found.extend(rows)
    found.closed |= pool.scores <= 0
    found.grow(values)
    return found


def _value(scores: Floats, found: Growing) -> float:
    return _total(np.maximum(scores[np.array(found.chosen, np.int64)], 0.0))


def _best(scores: Floats, costs: Ints, capacity: int) -> tuple[Bools, float, bool]:
    """The best rows (of scores and costs above 0), a bound on any total, whether it is proven."""
    if int(np.add.reduce(costs)) <= capacity:
        return np.ones(len(scores), np.bool_), _total(scores), True
    values, shift = _scaled(scores)
    solve, limit = kernels.knapsack.solve, kernels.knapsack.WORK_LIMIT
    large = values > 0  # a score too small for the scale joins where it fits, below
    chosen = large.copy()
    part = slice(None) if large.all() else large
    chosen[part], most, proven = solve(sealed(values[part]), sealed(costs[part]), capacity, limit)
    left = capacity - int(np.add.reduce(costs[chosen]))
    rest = np.flatnonzero(~chosen & (costs <= left))
    if len(rest):
        chosen[rest[fill(best_first(scores[rest]), costs[rest], left)]] = True
    return chosen, _unscaled(most + _rounding(scores, values, shift), shift), proven


def _scaled(scores: Floats) -> tuple[Ints, int]:
    """The scores times 2**shift, rounded to integers whose sum is below 2**BITS; and shift."""
    exponent = math.frexp(float(scores.max()))[1]
    shift = BITS - len(scores).bit_length() - exponent
    return np.rint(np.ldexp(scores, shift)).astype(np.int64), shift


def _rounding(scores: Floats, values: Ints, shift: int) -> float:
    """By how much the scaled scores of a subset may exceed the sum of its integers."""
    exact = np.array_equal(np.ldexp(values.astype(np.float64), -shift), scores)
    return 0.0 if exact else 0.5 * np.count_nonzero(scores)


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


knapsack: Final[Selector] = Knapsack()
"""The subset with the highest total score within the budget, exact at any budget.

Scores that do not add to the total (<= 0) stay out; free chunks with a positive score are in.

What scores must mean: value that adds up, so that two chunks of 0.3 are worth as much as one of
0.6 and a worthless chunk has 0.  A probability of holding evidence does (`utility` makes one of a
score; the total is then the evidence to be expected), and so does a count of answers.  A cosine
does not: what is beside the point has 0.3 and not 0, so the best total is many short weak chunks.
The report warns, `squeezed-scores`, where not all fits and scores spread (standard deviation over
mean) by less than 0.5 or less than costs do, unless `utility` made them.

`report.optimality` says what is proven.  Scores are scaled to integers with about
52 - log2(n) bits of the highest that can come in; the rounding, at most n * 2**-shift / 2, is
part of `bound` and `gap`.  ``proven=True`` means that no other subset has a higher sum of these
integers.  Beyond its work limit (some 20 ms) the best found so far comes with a true bound and
``proven=False``.

Algorithm: Pisinger, "A minimal algorithm for the 0-1 knapsack problem", Operations Research
45(5), 1997, with ideas of Martello, Pisinger, Toth, Management Science 45(3), 1999; no table of
n x budget.  O(n) and a small core in practice; memory O(n + work limit).
"""
