"""Selectors that go down one ranking: by score, or by score per token."""

from typing import Final, final

import attrs
import numpy as np

from packer.algebra import Selector
from packer.arrays import Floats, Ints, best_first
from packer.growing import grown
from packer.pool import Pool
from packer.ruled_selection import down
from packer.selection import Selection

from .squeezed import warn_squeezed

__all__ = ["density", "fill", "greedy", "per_token", "prefix"]


def fill(order: Ints, costs: Ints, capacity: int) -> Ints:
    """The rows taken when going down `order` (int64[n]), skipping what does not fit.  O(n).

    >>> fill(np.array([0, 1, 2]), np.array([60, 80, 30]), 100).tolist()
    [0, 2]
    """
    ranked = costs[order]
    spent = ranked.cumsum()
    run = int(spent.searchsorted(capacity, side="right"))  # these fit without a skip
    if run == len(order):
        return order
    left = capacity - (int(spent[run - 1]) if run else 0)
    taken = list(range(run))
    small = (ranked[run:] <= left).nonzero()[0] + run
    for place, cost in zip(small.tolist(), ranked[small].tolist(), strict=True):
        if cost <= left:
            taken.append(place)
            left -= cost
    return order[taken]


def _down(pool: Pool, order: Ints) -> Selection:
    """The selection of what fits going down `order`, under the rules of the pool."""
    ruled = down(pool, order)
    return pool.select(fill(order, pool.costs, pool.capacity)) if ruled is None else ruled


@final
@attrs.frozen(repr=False)
class Greedy(Selector):
    name = "greedy"
    is_constant = True
    obeys_rules = True
    counts_overlap = True

    def __call__(self, pool: Pool, /) -> Selection:
        return _down(pool, best_first(pool.scores))


greedy: Final[Selector] = Greedy()
"""By score, skipping what does not fit and trying the smaller.

O(n log n).  Equal scores: the earlier chunk first.  Not optimal: for the best total see
`knapsack`.
"""


@final
@attrs.frozen(repr=False)
class Prefix(Selector):
    name = "prefix"
    is_constant = True
    obeys_rules = True
    counts_overlap = True

    def __call__(self, pool: Pool, /) -> Selection:
        order = best_first(pool.scores)
        ruled = down(pool, order, stop=True)
        if ruled is not None:
            return ruled
        run = int(np.searchsorted(np.cumsum(pool.costs[order]), pool.capacity, side="right"))
        if run == len(order):
            return pool.select(order)
        stop = int(order[run])
        lacking = int(pool.costs[order[: run + 1]].sum()) - pool.budget
        told = f"prefix stopped at {pool.candidates.id(pool.table_rows[stop])!r}, which needs {lacking} more"

        def detail(row: int) -> str | None:
            return None if row == stop else told

        return pool.select(order[:run], detail=detail)


prefix: Final[Selector] = Prefix()
"""By score, stopping at the first chunk that does not fit: strict priority.

No chunk is in while a better one is out.  O(n log n).
"""


@final
@attrs.frozen(repr=False)
class Density(Selector):
    name = "density"
    is_constant = True
    obeys_rules = True
    counts_overlap = True

    def __call__(self, pool: Pool, /) -> Selection:
        pool = warn_squeezed(pool)
        if pool.overlapping:
            return grown(pool, lambda found: per_token(pool.scores, found.costs))
        return _down(pool, np.lexsort((-pool.scores, -self.worth(pool))))

    def worth(self, pool: Pool, /) -> Floats:
        return per_token(pool.scores, pool.costs)


def per_token(scores: Floats, costs: Ints) -> Floats:
    """float64[n]: score per token; a free chunk is worth +-infinity, by its sign."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((costs == 0) & (scores == 0), 0.0, scores / costs)


density: Final[Selector] = Density()
"""By score per token (tokens + overhead), skipping what does not fit.

O(n log n).  Many short chunks win: with scores that differ less than lengths do, as cosines, this
picks the short and weak ones, and the report warns (`squeezed-scores`, as for `knapsack`).  Equal densities: the higher score first, then input order.
"""
