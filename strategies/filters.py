"""Which chunks are candidates at all, by score and by number."""

from typing import final

import attrs
import numpy as np

from packer.algebra import Filter
from packer.arrays import best_first
from packer.pool import Pool
from packer.records import Reason

from ._parameters import count, number

__all__ = ["max_candidates", "threshold", "top"]


@final
@attrs.frozen(repr=False)
class Threshold(Filter):
    name = "threshold"
    floor: float = number()

    def __call__(self, pool: Pool, /) -> Pool:
        def detail(row: int) -> str:
            return f"score {pool.scores[row]:.6g}, floor {self.floor:.6g}"

        return pool.keep(pool.scores >= self.floor, reason=Reason.BELOW_THRESHOLD, detail=detail)


def threshold(floor: float) -> Filter:
    """Keep the chunks with score >= floor.

    The floor is in the unit of the current scores; there is no floor that suits every retriever.
    O(n).  Excludes as `below-threshold`.

    >>> threshold(0.6)
    threshold(0.6)
    """
    return Threshold(floor)


@final
@attrs.frozen(repr=False)
class MaxCandidates(Filter):
    name = "max_candidates"
    n: int = count()

    def __call__(self, pool: Pool, /) -> Pool:
        def detail(row: int) -> str:
            return f"number {row + 1} in input order, limit {self.n}"

        first = np.arange(len(pool)) < self.n
        return pool.keep(first, reason=Reason.MAX_CANDIDATES, detail=detail)


def max_candidates(n: int) -> Filter:
    """Keep the first n chunks in input order; for the n best by score see `top`.

    O(n).  Excludes as `max-candidates`.
    """
    return MaxCandidates(n)


@final
@attrs.frozen(repr=False)
class Top(Filter):
    name = "top"
    n: int = count()

    def __call__(self, pool: Pool, /) -> Pool:
        rank = np.empty(len(pool), np.int64)
        rank[best_first(pool.scores)] = np.arange(len(pool))

        def detail(row: int) -> str:
            return f"rank {rank[row] + 1} by score, limit {self.n}"

        return pool.keep(rank < self.n, reason=Reason.MAX_CANDIDATES, detail=detail)


def top(n: int) -> Filter:
    """Keep the n best chunks by score, the earlier of equals; they stay in input order.

    O(n log n).  Excludes as `max-candidates`.
    """
    return Top(n)
