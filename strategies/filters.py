"""Which chunks are candidates at all: by score, by number, by metadata."""

from typing import final

import attrs
import numpy as np

from packer.algebra import Filter
from packer.arrays import best_first
from packer.conditions import Condition
from packer.parameters import conditions, count, number
from packer.pool import Pool
from packer.records import Reason

__all__ = ["max_candidates", "threshold", "top", "where"]


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


@final
@attrs.frozen(repr=False)
class Where(Filter):
    name = "where"
    conditions: tuple[Condition, ...] = conditions()

    def __call__(self, pool: Pool, /) -> Pool:
        metadata = pool.metadata
        mask = [all(wanted.holds(row) for wanted in self.conditions) for row in metadata]

        def detail(row: int) -> str:
            failed = next(wanted for wanted in self.conditions if not wanted.holds(metadata[row]))
            return f"{failed.actual(metadata[row])}, wanted {failed!r}"

        return pool.keep(np.array(mask, np.bool_), reason=Reason.METADATA, detail=detail)


def where(*conditions: Condition) -> Filter:
    """Keep the chunks whose metadata meets all the conditions.

    In code ``where(field("status") == "current", field("year") >= 2023)``, in text
    ``where(status == "current", year >= 2023)``.  A missing key fails every comparison but
    `is None`.  O(n) per condition.  Excludes as `metadata`.

    >>> from strategies import field
    >>> where(field("status") == "current", field("source").is_in(["kb", "faq"]))
    where(status == "current", source in ["kb", "faq"])
    """
    return Where(conditions)
