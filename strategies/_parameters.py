"""The kinds of parameters that stages have, each with its check.

Every factory gives an attrs field whose errors name the stage, the parameter and the value.  Its
`metadata["domain"]` says which values are allowed, for whoever generates or lists stages.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import numpy as np

from packer.conditions import Condition
from packer.errors import InvalidParameter, shown

__all__ = [
    "choice",
    "condition",
    "count",
    "flag",
    "function",
    "is_finite",
    "key",
    "number",
    "refusal",
]

MOST: Final = 2**63 - 1


def refusal(stage: str, parameter: str, value: object, wanted: str) -> InvalidParameter:
    """The error for a value that a parameter cannot have."""
    message = f"{stage}: {parameter} is {shown(value)}; give {wanted}"
    return InvalidParameter(
        message, details={"stage": stage, "parameter": parameter, "value": value}
    )


def _field(
    convert: Callable[[str, str, Any], Any],
    domain: Any,
    default: Any = attrs.NOTHING,
    *,
    kw_only: bool = False,
) -> Any:
    def converter(value: Any, instance: Any, attribute: "attrs.Attribute[Any]") -> Any:
        return convert(type(instance).name, attribute.name, value)

    return attrs.field(
        default=default,
        kw_only=kw_only,
        converter=attrs.Converter(converter, takes_self=True, takes_field=True),
        metadata={"domain": domain},
    )


def number(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float | None = None,
    default: Any = attrs.NOTHING,
    kw_only: bool = False,
) -> Any:
    """A finite float in [low, high] (and above `above`); -0.0 becomes 0.0."""

    def convert(stage: str, name: str, value: Any) -> float:
        if not is_finite(value):
            raise refusal(stage, name, value, "a finite number")
        found = float(value) + 0.0
        if not low <= found <= high or (above is not None and found <= above):
            raise refusal(stage, name, value, f"a number {_interval(low, high, above)}")
        return found

    return _field(convert, ("number", low, high, above), default, kw_only=kw_only)


def is_finite(value: Any) -> bool:
    """Whether the value is a finite number that a float can hold, and no bool."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _interval(low: float, high: float, above: float | None) -> str:
    floor = f"above {above:g}" if above is not None else f"of at least {low:g}"
    if math.isinf(high):
        return floor
    return f"{floor} and at most {high:g}"


def count(*, default: Any = attrs.NOTHING) -> Any:
    """An int of 0 or more."""

    def convert(stage: str, name: str, value: Any) -> int:
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            raise refusal(stage, name, value, "an int of 0 or more")
        if not 0 <= value <= MOST:
            raise refusal(stage, name, value, "an int of 0 or more, below 2**63")
        return int(value)

    return _field(convert, ("count",), default)


def choice(options: Sequence[str], *, default: Any, kw_only: bool = False) -> Any:
    """One of `options`."""

    def convert(stage: str, name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in options:
            raise refusal(stage, name, value, "one of " + ", ".join(map(repr, options)))
        return value

    return _field(convert, ("choice", tuple(options)), default, kw_only=kw_only)


def key(*, default: str, kw_only: bool = False) -> Any:
    """The name of a metadata key."""

    def convert(stage: str, name: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise refusal(stage, name, value, "the name of a metadata key")
        return value

    return _field(convert, ("key",), default, kw_only=kw_only)


def flag(*, default: bool, kw_only: bool = False) -> Any:
    """True or False."""

    def convert(stage: str, name: str, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise refusal(stage, name, value, "True or False")
        return bool(value)

    return _field(convert, ("flag",), default, kw_only=kw_only)


def condition() -> Any:
    """A condition on metadata."""

    def convert(stage: str, name: str, value: Any) -> Condition:
        if not isinstance(value, Condition):
            raise refusal(stage, name, value, "a condition, as in field('status') == 'current'")
        return value

    return _field(convert, ("condition",))


def function() -> Any:
    """A Python function; a stage with one has no text that can be parsed."""

    def convert(stage: str, name: str, value: Any) -> Any:
        if not callable(value):
            raise refusal(stage, name, value, "a function")
        return value

    return _field(convert, ("function",))
