"""Coverage: relevant, and together near to all that is relevant."""

from typing import Final, Literal, TypeAlias, final

import attrs
import numpy as np

from packer import kernels
from packer.algebra import Selector
from packer.arrays import Bools, Floats, Ints, best_first, frozen, sealed
from packer.parameters import choice, number
from packer.pool import Pool
from packer.records import Optimality
from packer.rulebook import rulebook
from packer.ruled_selection import base
from packer.selection import Selection
from packer.similarity import METRICS, Features, Metric, features

from .greedy import fill
from .scales import minmax

__all__ = ["coverage"]

Objective: TypeAlias = Literal["facility", "saturated"]
OBJECTIVES: Final = ("facility", "saturated")


@final
@attrs.frozen(repr=False)
class Coverage(Selector):
    name = "coverage"
    uses_kernels = True
    obeys_rules = True
    relevance: float = number(0.0, 1.0, default=0.5)
    objective: Objective = choice(OBJECTIVES, default="facility", kw_only=True)
    saturation: float = number(above=0.0, default=4.0, kw_only=True)
    cost_power: float = number(0.0, 1.0, default=0.0, kw_only=True)
    metric: Metric = choice(METRICS, default="auto", kw_only=True)

    def __call__(self, pool: Pool, /) -> Selection:
        if not len(pool):
            return pool.select([])
        pool, found = features(pool, self.metric)
        value = self._value(pool, found)
        book = rulebook(pool)
        start = np.empty(0, np.int64) if book is None else base(book, best_first(pool.scores))
        costs = pool.costs if book is None else book.costs
        rules = None if book is None else book.columns
        rate = sealed(np.maximum(costs, 1) ** -self.cost_power)

        def run(*, lead: bool) -> tuple[Ints, float, float]:
            rows, total, bound, _ = kernels.coverage.select(
                frozen(pool.scores),
                *value.columns,
                rate,
                costs,
                pool.capacity,
                *found.arrays,
                rules,
                start,
                lead=lead,
            )
            return rows, total, min(bound, value.most(costs, pool.capacity))

        rows, total, bound = run(lead=False)
        single = value.upper[costs <= pool.capacity].max(initial=0.0)
        if self.cost_power and single > total:  # the best one alone may be worth more
            other = run(lead=True)
            bound = min(bound, other[2])
            rows, total = other[:2] if other[1] > total else (rows, total)
        optimality = _optimality(total, bound)
        if book is None:
            return pool.select(rows, optimality=optimality)
        return book.select(np.concatenate([start, rows]), optimality=optimality)

    def _value(self, pool: Pool, found: Features) -> "_Value":
        """The objective over this pool, in its two parts, each about 1 for a good selection."""
        relevance = minmax(pool.scores)
        reached = float(relevance[fill(best_first(relevance), pool.costs, pool.capacity)].sum())
        worth = self.relevance * relevance / (reached or 1.0)
        weights = sealed(relevance)
        near, total = kernels.coverage.totals(weights, *found.arrays)
        ceiling = np.empty(0)
        most = float(weights.sum())
        if self.objective == "saturated":
            ceiling = self.saturation * total / len(pool)
            most = float((weights * ceiling).sum())
        scale = (1.0 - self.relevance) / (most or 1.0)
        return _Value(
            worth=sealed(worth),
            weights=sealed(weights * scale),
            ceiling=sealed(ceiling),
            upper=sealed(worth + near * scale),
            covered=1.0 - self.relevance,
        )


@final
@attrs.frozen(eq=False)
class _Value:
    """The objective as `kernels.coverage` takes it: `worth` of each row, `weights` of what it covers.

    `covered`: no set's coverage is worth more.
    """

    worth: Floats
    weights: Floats
    ceiling: Floats
    upper: Floats
    covered: float

    @property
    def columns(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.worth, self.weights, self.ceiling, self.upper

    def most(self, costs: Ints, capacity: int) -> float:
        """A bound on the value of any set, of its parts and of the rows one by one."""
        fits = costs <= capacity
        apart = _fractional(self.worth, costs, capacity, fits) + self.covered
        return min(apart, _fractional(self.upper, costs, capacity, fits))


def _fractional(values: Floats, costs: Ints, capacity: int, fits: Bools) -> float:
    """The best total of the rows that fit, of which the last may be in with a part."""
    free = fits & (costs == 0)
    rows = np.flatnonzero(fits & ~free)
    rows = rows[best_first(values[rows] / costs[rows])]
    before = np.cumsum(costs[rows]) - costs[rows]
    share = np.clip((capacity - before) / costs[rows], 0.0, 1.0)
    return float(values[free].sum() + values[rows] @ share)


def _optimality(value: float, bound: float) -> Optimality:
    found = Optimality.of(value, bound, proven=False)
    return attrs.evolve(found, proven=found.gap <= ROUNDING)


ROUNDING: Final = 1e-12
"""What sums of float64 in two orders may differ by, relatively."""


def coverage(
    relevance: float = 0.5,
    *,
    objective: Objective = "facility",
    saturation: float = 4.0,
    cost_power: float = 0.0,
    metric: Metric = "auto",
) -> Selector:
    """The chunks that are relevant and together near to whatever is relevant.

    A set is worth relevance * R + (1 - relevance) * C.  Scores count from 0 for the pool's lowest
    to 1 for its highest, so any scale will do.  R is their sum over the set, in units of what
    `greedy` gets from the budget; C, in 0..1, is how well each chunk v of the pool, weighted by
    its score, is covered:

    - "facility" (facility location): the largest similarity of v to a chunk of the set;
    - "saturated": the sum of these similarities, but at most `saturation` (above 0) times the mean
      similarity of v to the pool, after which v counts as covered.

    `relevance` in 0..1: 1.0 is `greedy`; below some 0.3 a chunk that stands for many weak ones
    beats the one that holds the answer.  Negative cosines count as 0.  Next comes the chunk with
    the greatest gain / cost ** `cost_power` (0..1; a free chunk costs 1 here), until none fits;
    with a power above 0 the best single chunk begins instead where that is worth more.  0.0, the
    default, does not prefer short chunks.  Ties: the higher score, then the earlier.

    What that reaches of the best possible value: 1 - 1/e = 0.632 where all cost the same;
    0.405 for ``cost_power=1.0`` (Tang et al. 2021; 1 - 1/sqrt(e) in Lin, Bilmes 2010), without
    constraints.  What it reached in this call says `report.optimality`: `bound` is the value and
    the best fractional filling of the budget with what the others would add (Leskovec et al.
    2007), often far tighter.

    Lazy (Minoux 1978): O(n^2 d / 2) for the first gains, then O(n d) for each row that is looked
    at and O(n) where it is looked at again; memory O(n d), the similarities of 512 rows at most.

    Sources: Lin, Bilmes, "Multi-document summarization via budgeted maximization of submodular
    functions", NAACL 2010, and "A class of submodular functions for document summarization", ACL
    2011; Leskovec et al., "Cost-effective outbreak detection in networks", KDD 2007; Tang et al.,
    "Revisiting modified greedy algorithm for monotone submodular maximization with a knapsack
    constraint", SIGMETRICS 2021.

    Raises MISSING_EMBEDDINGS, with the ids, under ``metric="cosine"``.

    >>> coverage(0.7, objective="saturated")
    coverage(0.7, objective="saturated")
    """
    return Coverage(
        relevance,
        objective=objective,
        saturation=saturation,
        cost_power=cost_power,
        metric=metric,
    )
