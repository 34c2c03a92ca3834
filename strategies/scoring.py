"""Stages that change the current score; records keep the original."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias, final

import attrs
import numpy as np

from packer.algebra import Scoring
from packer.arrays import Floats, best_first
from packer.conditions import Condition
from packer.errors import InvalidParameter
from packer.parameters import choice, condition, duration, key, number
from packer.pool import Pool

from ._dates import ages, warn_undated

__all__ = ["boost", "decay", "minmax", "normalize", "sigmoid"]

Scale: TypeAlias = Literal["minmax", "sigmoid", "rank"]
SCALES: Final = ("minmax", "sigmoid", "rank")


@final
@attrs.frozen(repr=False)
class Decay(Scoring):
    name = "decay"
    half_life: dt.timedelta = duration()
    at: str = key(default="timestamp", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        _refuse_negative(pool, self.name)
        age = ages(pool, self.at)
        undated = np.isnan(age)
        pool = warn_undated(pool, np.flatnonzero(undated), self.at)
        half_lives = np.where(undated, 0.0, np.maximum(age, 0.0) / self.half_life.total_seconds())
        return pool.rescore(pool.scores * np.exp2(-half_lives))


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
    condition: Condition = condition()
    factor: float = number(above=0.0)

    def __call__(self, pool: Pool, /) -> Pool:
        _refuse_negative(pool, self.name)
        holds = np.array([self.condition.holds(row) for row in pool.metadata], np.bool_)
        with np.errstate(over="ignore"):  # rescore refuses what is not finite
            boosted = np.where(holds, pool.scores * self.factor, pool.scores)
        return pool.rescore(boosted)


def boost(condition: Condition, factor: float) -> Scoring:
    """Multiply the score of the chunks that meet the condition by `factor` (above 0).

    In code ``boost(field("source") == "handbook", 1.5)``, in text
    ``boost(source == "handbook", 1.5)``.  O(n).

    Raises INVALID_PARAMETER for negative scores, which this would lower: normalize first.
    """
    return Boost(condition, factor)


def _refuse_negative(pool: Pool, name: str) -> None:
    if len(pool) and pool.scores.min() < 0:
        row = int(pool.scores.argmin())
        message = (
            f"{name} multiplies scores, and chunk {pool.ids[row]!r} has the negative score "
            f'{pool.scores[row]:.6g}; put normalize("minmax") or normalize("sigmoid") before it'
        )
        raise InvalidParameter(message, details={"id": pool.ids[row], "stage": name})


@final
@attrs.frozen(repr=False)
class Normalize(Scoring):
    name = "normalize"
    scale: Scale = choice(SCALES, default="minmax")

    def __call__(self, pool: Pool, /) -> Pool:
        if not len(pool):
            return pool
        return pool.rescore(_SCALES[self.scale](pool.scores))


def minmax(scores: Floats) -> Floats:
    """float64[n]: (s - min) / (max - min) of one score or more; 1.0 for all when they are equal."""
    halves = scores / 2.0  # the difference of halves cannot overflow
    low, high = halves.min(), halves.max()
    if low == high:
        return np.ones(len(scores))
    scaled: Floats = (halves - low) / (high - low)
    return np.clip(scaled, 0.0, 1.0)


def sigmoid(scores: Floats) -> Floats:
    """float64[n]: 1 / (1 + e^-s); infinite scores have 0 and 1."""
    small = np.exp(-np.abs(scores))  # at most 1, so nothing overflows
    return np.where(scores >= 0, 1.0 / (1.0 + small), small / (1.0 + small))


def _rank(scores: Floats) -> Floats:
    order = best_first(scores)
    ranked = scores[order]
    better = np.empty(len(scores))
    better[order] = np.searchsorted(-ranked, -ranked, side="left")
    return (len(scores) - better) / len(scores)


_SCALES: Final[Mapping[Scale, Callable[[Floats], Floats]]] = {
    "minmax": minmax,
    "sigmoid": sigmoid,
    "rank": _rank,
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
