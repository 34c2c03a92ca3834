"""A determinantal point process: relevant, and together spanning much."""

from typing import final

import attrs
import numpy as np

from packer import kernels
from packer.algebra import Selector
from packer.arrays import Floats, best_first, frozen, sealed
from packer.parameters import choice, number
from packer.pool import Pool
from packer.rulebook import rulebook
from packer.ruled_selection import base
from packer.selection import Selection
from packer.similarity import METRICS, Metric, features

from .scales import minmax

__all__ = ["dpp"]


@final
@attrs.frozen(repr=False)
class Dpp(Selector):
    name = "dpp"
    uses_kernels = True
    obeys_rules = True
    relevance: float = number(0.0, 1.0, default=0.5)
    metric: Metric = choice(METRICS, default="auto", kw_only=True)

    def __call__(self, pool: Pool, /) -> Selection:
        if not len(pool):
            return pool.select([])
        pool, found = features(pool, self.metric)
        quality = sealed(self.relevance * _standardised(pool.scores))
        weight = 1.0 - self.relevance
        scores, book = frozen(pool.scores), rulebook(pool)
        if book is None:
            rows, residual, _ = kernels.dpp.select(
                scores, quality, weight, pool.costs, pool.capacity, *found.arrays
            )
        else:
            start = base(book, best_first(pool.scores))
            rows, residual, _ = kernels.dpp.select(
                scores,
                quality,
                weight,
                book.costs,
                pool.capacity,
                *found.arrays,
                book.columns,
                start,
            )
            rows = np.concatenate([start, rows])
        left = pool.budget - int(pool.costs[rows].sum())

        def detail(row: int) -> str | None:
            if not weight or residual[row] > kernels.dpp.SPANNED or pool.costs[row] > left:
                return None
            return "what is in spans it, so that with it the determinant is 0"

        return (pool if book is None else book).select(rows, detail=detail)


def _standardised(scores: Floats) -> Floats:
    """float64[n]: the scores in standard deviations from their mean; 0.0 where all are equal."""
    scaled = minmax(scores)  # so that nothing overflows
    spread = float(scaled.std())
    return (scaled - scaled.mean()) / spread if spread else np.zeros(len(scores))


def dpp(relevance: float = 0.5, *, metric: Metric = "auto") -> Selector:
    """The most probable set of a determinantal point process, greedily: first the best score that
    fits; then, while any fits, the best of relevance * z + (1 - relevance) * log r.

    z is the score in standard deviations from the pool's mean, so any scale will do.  r, in 0..1,
    is what a chunk adds to what is in: the part of its embedding, squared, that those which are
    in do not span; det S of their similarities is multiplied by it.  So `dpp`, unlike `mmr`, sees
    that a chunk is a mixture of several that are in.  `relevance` in 0..1: 1.0 is `greedy`.

    A chunk that is spanned (r at most 1e-5: exact copies, or all when more are in than the
    embeddings have dimensions) stays out as `strategy`, even where it would fit.  Jaccard
    similarities make a determinant too; under "auto" a pool of both kinds need not, so there
    `mmr` is the better choice.  Ties: the higher score, then the earlier.

    log det is submodular but not monotone, and the budget is filled, so there is no bound in
    `report.optimality`.  Lazy; at worst O(n k d + n k^2) for k chosen, memory O(n k).

    Source: Chen, Zhang, Zhou, "Fast greedy MAP inference for determinantal point process to improve
    recommendation diversity", NeurIPS 2018, section 4, with the trade-off of its equation 10.

    Raises MISSING_EMBEDDINGS, with the ids, under ``metric="cosine"``.

    >>> dpp(0.7)
    dpp(0.7)
    """
    return Dpp(relevance, metric=metric)
