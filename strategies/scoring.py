"""Stages that change the current score; records keep the original."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias, final

import attrs
import numpy as np

from packer.algebra import Scoring
from packer.arrays import Floats
from packer.conditions import Condition
from packer.parameters import choice, condition, duration, key, number
from packer.pool import Pool

from ._dates import ages, warn_undated
from .scales import minmax, rank, refuse_negative, sigmoid

__all__ = ["boost", "decay", "normalize"]

Scale: TypeAlias = Literal["minmax", "sigmoid", "rank"]
SCALES: Final = ("minmax", "sigmoid", "rank")


@final
@attrs.frozen(repr=False)
class Decay(Scoring):
    name = "decay"
    refuses_negative = True
    half_life: dt.timedelta = duration()
    at: str = key(default="timestamp", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        refuse_negative(pool, self.name)
        age = ages(pool, self.at)
        undated = np.isnan(age)
        pool = warn_undated(pool, np.flatnonzero(undated), self.at)
        half_lives = np.where(undated, 0.0, np.maximum(age, 0.0) / self.half_life.total_seconds())
        factor = np.exp2(-half_lives)
        return pool.rescore(pool.scores * factor, parts={"factor": factor}, combine="product")


def decay(half_life: dt.timedelta | str, *, at: str = "timestamp") -> Scoring:
    """Multiply the score by 0.5 ** (age / half_life), age from the call's `now`.

    `half_life` as in `fresh`.  A date after `now` counts as `now`; an undated chunk keeps its
    score, with the warning `undated`.  O(n).

    Raises INVALID_PARAMETER for negative scores, which this would raise: normalize first.

    >>> decay("30d")
    decay("30d")
    """
    return Decay(half_life, at=at)  # type: ignore[arg-type]  # the field converts text


@final
@attrs.frozen(repr=False)
class Boost(Scoring):
    name = "boost"
    refuses_negative = True
    condition: Condition = condition()
    factor: float = number(above=0.0)

    def __call__(self, pool: Pool, /) -> Pool:
        refuse_negative(pool, self.name)
        holds = np.array([self.condition.holds(row) for row in pool.metadata], np.bool_)
        with np.errstate(over="ignore"):  # rescore refuses what is not finite
            factor = np.where(holds, self.factor, 1.0)
            return pool.rescore(pool.scores * factor, parts={"factor": factor}, combine="product")


def boost(condition: Condition, factor: float) -> Scoring:
    """Multiply the score of the chunks that meet the condition by `factor` (above 0).

    In code ``boost(field("source") == "handbook", 1.5)``, in text
    ``boost(source == "handbook", 1.5)``.  O(n).

    Raises INVALID_PARAMETER for negative scores, which this would lower: normalize first.
    """
    return Boost(condition, factor)


@final
@attrs.frozen(repr=False)
class Normalize(Scoring):
    name = "normalize"
    scale: Scale = choice(SCALES, default="minmax")

    def __call__(self, pool: Pool, /) -> Pool:
        if not len(pool):
            return pool
        return pool.rescore(_SCALES[self.scale](pool.scores))


_SCALES: Final[Mapping[Scale, Callable[[Floats], Floats]]] = {
    "minmax": minmax,
    "sigmoid": sigmoid,
    "rank": rank,
}


def normalize(scale: Scale = "minmax") -> Scoring:
    """Bring the scores to 0..1.

    "minmax": (s - min) / (max - min), 1.0 for all when they are equal.  "sigmoid":
    1 / (1 + e^-s), for logits.  "rank": (n - r) / n with r the number of better chunks, so 1.0
    for the best and equal for equals.  O(n), "rank" O(n log n).

    >>> from packer.pool import Pool
    >>> normalize("rank")(Pool.from_arrays([0.1, 7.0, 0.1, 3.0], [1, 1, 1, 1])).scores.tolist()
    [0.5, 1.0, 0.5, 0.75]
    """
    return Normalize(scale)
