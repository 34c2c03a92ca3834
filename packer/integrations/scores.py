"""What a store calls a score, as a number where higher is better.

A store answers with a similarity or with a distance, and its result does not say which.  So the
caller names it, once, by `metric`:

    metric                    what the number is                      score            range
    similarity                higher is better already                s                any
    cosine_distance           1 - cosine, 0 to 2                      1 - d            -1 to 1
    l2                        Euclidean distance                      1 / (1 + d)      0 to 1
    l2_squared                the square of it                        1 / (1 + √d)     0 to 1
    negative_inner_product    -(a·b)                                  -d               any

Each map falls strictly as the distance grows, so that no order is lost; `l2` and `l2_squared` of
the same two vectors give the same score.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias, get_args

from packer.errors import InvalidChunk, InvalidParameter, shown

__all__ = [
    "METRICS",
    "RANK",
    "Kind",
    "Metric",
    "checked_kind",
    "checked_metric",
    "refuse_ascending",
    "score",
    "scores",
]

Metric: TypeAlias = Literal[
    "similarity", "cosine_distance", "l2", "l2_squared", "negative_inner_product"
]
"""What kind of number a store gives."""

Kind: TypeAlias = Metric | Literal["rank"]
"""The same, or that only the order of the documents counts."""

RANK: Final = "rank"
"""Documents that come best first and have no score, or one that means nothing."""

METRICS: Final[tuple[Metric, ...]] = get_args(Metric)

ROUNDING: Final = 1e-5
"""Distances are float32 sums: one of 0 may come as -1e-7, one of 2 as 2.0000002."""

_FARTHEST: Final = 2.0
"""No cosine distance is larger."""


def checked_metric(metric: object) -> Metric:
    """The metric, or INVALID_PARAMETER that names them all."""
    for known in METRICS:
        if isinstance(metric, str) and metric == known:
            return known
    message = (
        f"metric is {shown(metric)}; say what kind of number the store gives, "
        f"one of {', '.join(map(repr, METRICS))}"
    )
    raise InvalidParameter(message, details={"parameter": "metric", "value": metric})


def checked_kind(metric: object) -> Kind:
    """The metric, or "rank", or INVALID_PARAMETER that names them all."""
    if isinstance(metric, str) and metric == RANK:
        return "rank"
    try:
        return checked_metric(metric)
    except InvalidParameter as error:
        message = f"{error.message}, or 'rank' where their order is all that counts"
        raise InvalidParameter(message, details=error.details) from None


def scores(
    values: Sequence[Any], ids: Sequence[str | None], metric: Kind, *, mend: str
) -> list[float]:
    """The score of each value.  `ids` and `mend` (what to do about a missing one) serve the errors.

    Under "rank" the first of n has the score 1, the last 1/n, whatever the values are.

    Raises INVALID_CHUNK for a value that is no finite number, INVALID_PARAMETER for one that the
    metric cannot have.

    >>> scores([0.0, 3.0], ["near", "far"], "l2", mend="")
    [1.0, 0.25]
    >>> scores([None, None], ["first", "second"], "rank", mend="")
    [1.0, 0.5]
    """
    if metric == "rank":
        return [(len(values) - at) / len(values) for at in range(len(values))]
    return [
        score(value, metric, where=_where(at, ids[at]), mend=mend)
        for at, value in enumerate(values)
    ]


def _where(at: int, id_: str | None) -> str:
    return f"row {at}" if id_ is None else f"row {at} ({shown(id_)})"


def score(value: Any, metric: Metric, *, where: str, mend: str) -> float:
    """The score of one value; `where` and `mend` name it in an error.

    >>> score(0.25, "cosine_distance", where="row 0", mend="")
    0.75
    """
    number = _number(value)
    if number is None:
        message = (
            f"{where} has the {_WORD[metric]} {shown(value)}, which is no finite number; {mend}"
        )
        raise InvalidChunk(message, details={"where": where, "value": value})
    if metric == "similarity":
        return number
    if metric == "negative_inner_product":
        return -number + 0.0
    farthest = _FARTHEST if metric == "cosine_distance" else math.inf
    if not -ROUNDING <= number <= farthest + ROUNDING:
        raise _contradiction(number, metric, where)
    distance = min(max(number, 0.0), farthest)  # a rounding beyond the range is none
    if metric == "cosine_distance":
        return 1.0 - distance
    return 1.0 / (1.0 + (distance if metric == "l2" else math.sqrt(distance)))


_WORD: Final[dict[Metric, str]] = {
    "similarity": "score",
    "cosine_distance": "distance",
    "l2": "distance",
    "l2_squared": "distance",
    "negative_inner_product": "distance",
}


def _number(value: Any) -> float | None:
    """The value as a float where it is a finite number (Decimal and numpy's included)."""
    if value is None or isinstance(value, bool | str | bytes):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _contradiction(number: float, metric: Metric, where: str) -> InvalidParameter:
    if number < 0:
        others = "metric='similarity' (higher is better) or metric='negative_inner_product'"
        rule = "is below 0"
    else:
        others = "metric='l2_squared', metric='l2' or metric='similarity'"
        rule = "is above 2"
    message = (
        f"{where} has the distance {number:g}, which {rule}: no {metric} is. "
        f"Pass the metric that the index was built with, here perhaps {others}"
    )
    details = {"parameter": "metric", "metric": metric, "value": number, "where": where}
    return InvalidParameter(message, details=details)


def refuse_ascending(found: Sequence[float], metric: Metric) -> None:
    """Raise INVALID_PARAMETER where a store's answer, best first, would have its last row best.

    Every store sorts its answer; scores that only rise in it were read the wrong way round.
    """
    pairs = list(pairwise(found))
    if not pairs or found[0] == found[-1] or any(left > right for left, right in pairs):
        return
    others = (
        "metric='cosine_distance', metric='l2', metric='l2_squared' or "
        "metric='negative_inner_product'"
        if metric == "similarity"
        else "metric='similarity'"
    )
    message = (
        f"the store gave its best row first, but under metric={metric!r} the last row is the "
        f"best (scores {found[0]:.4g} to {found[-1]:.4g}); pass {others}, whichever the index "
        "was built with"
    )
    raise InvalidParameter(message, details={"parameter": "metric", "metric": metric})
