"""The kinds of parameters that stages have: attrs fields that check, convert and print themselves.

Every factory gives an attrs field.  Its errors name the stage, the parameter and the value; its
`metadata["domain"]` says which values are allowed, for whoever lists or generates stages; its
`metadata["write"]`, where there is one, makes the text that a policy has for the value.

>>> import attrs
>>> from packer import Filter, Pool
>>> @attrs.frozen(repr=False)
... class AtMost(Filter):
...     name = "at_most"
...     tokens: int = count()
...     def __call__(self, pool: Pool) -> Pool:
...         return pool.keep(pool.tokens <= self.tokens, reason="metadata", detail="too long")
>>> try:
...     AtMost(-1)
... except ValueError as error:
...     print(error)
at_most: tokens is -1; give an int of 0 or more (below 2**63)
"""

import datetime as dt
import keyword
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, Literal

import attrs
import numpy as np

from .conditions import Condition
from .durations import duration_text, parse_duration
from .errors import InvalidParameter, shown
from .literals import literal
from .numbers import is_finite, is_int

__all__ = [
    "choice",
    "condition",
    "conditions",
    "count",
    "duration",
    "flag",
    "function",
    "ids",
    "key",
    "number",
    "numbers",
    "refusal",
    "weights",
]

MOST: Final = 2**63 - 1
"""The largest int that a count can be."""


def refusal(stage: str, parameter: str, value: object, wanted: str) -> InvalidParameter:
    """The error for a value that a parameter cannot have."""
    message = f"{stage}: {parameter} is {shown(value)}; give {wanted}"
    return InvalidParameter(
        message, details={"stage": stage, "parameter": parameter, "value": value}
    )


def _field(
    check: Callable[[Any], Any],
    wanted: str,
    domain: tuple[Any, ...],
    *,
    default: Any = attrs.NOTHING,
    kw_only: bool = False,
    optional: bool = False,
    write: Callable[[Any], str] = literal,
) -> Any:
    """A field that holds `check(value)`; where that is None, the value is refused.

    `optional`: None itself is allowed.
    """

    def convert(value: Any, instance: Any, attribute: "attrs.Attribute[Any]") -> Any:
        if optional and value is None:
            return None
        found = check(value)
        if found is None:
            raise refusal(type(instance).name, attribute.name, value, wanted)
        return found

    return attrs.field(
        default=default,
        kw_only=kw_only,
        converter=attrs.Converter(convert, takes_self=True, takes_field=True),
        metadata={"domain": domain, "write": write},
    )


def number(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float | None = None,
    default: Any = attrs.NOTHING,
    kw_only: bool = False,
    optional: bool = False,
) -> Any:
    """A finite float in [low, high] (and above `above`); -0.0 becomes 0.0; with `optional` also None."""

    def check(value: Any) -> float | None:
        if not is_finite(value):
            return None
        found = float(value) + 0.0
        return found if low <= found <= high and (above is None or found > above) else None

    wanted = f"a {'finite ' if math.isinf(low) and above is None else ''}number"
    if above is not None:
        wanted += f" above {above:g}"
    elif not math.isinf(low):
        wanted += f" of at least {low:g}"
    if not math.isinf(high):
        wanted += f" and at most {high:g}"
    domain = ("number", low, high, above)
    if optional:
        return _field(check, wanted, domain, default=None, kw_only=kw_only, optional=True)
    return _field(check, wanted, domain, default=default, kw_only=kw_only)


def numbers(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    kw_only: bool = False,
    optional: bool = False,
) -> Any:
    """One finite float or more, each in [low, high], as a tuple; with `optional` also None."""

    def check(value: Any) -> tuple[float, ...] | None:
        if isinstance(value, str | AbstractSet | Mapping) or not isinstance(value, Iterable):
            return None
        found = tuple(value)
        if not found or not all(is_finite(item) and low <= item <= high for item in found):
            return None
        return tuple(float(item) + 0.0 for item in found)

    wanted = "a list of finite numbers"
    if not math.isinf(low):
        wanted = f"a list of numbers of at least {low:g} and at most {high:g}"
    default = None if optional else attrs.NOTHING
    domain = ("numbers", low, high)
    return _field(check, wanted, domain, default=default, kw_only=kw_only, optional=optional)


def count(*, default: Any = attrs.NOTHING, kw_only: bool = False, optional: bool = False) -> Any:
    """An int of 0 or more (below 2**63); with `optional` also None."""

    def check(value: Any) -> int | None:
        return int(value) if is_int(value) and 0 <= value <= MOST else None

    if optional:
        wanted = "an int of 0 or more (below 2**63), or None"
        return _field(check, wanted, ("amount",), default=None, kw_only=kw_only, optional=True)
    return _field(
        check, "an int of 0 or more (below 2**63)", ("count",), default=default, kw_only=kw_only
    )


def choice(options: Sequence[str], *, default: Any, kw_only: bool = False) -> Any:
    """One of `options`."""

    def check(value: Any) -> str | None:
        return value if isinstance(value, str) and value in options else None

    wanted = "one of " + ", ".join(map(repr, options))
    return _field(check, wanted, ("choice", tuple(options)), default=default, kw_only=kw_only)


def key(*, default: str, kw_only: bool = False) -> Any:
    """The name of a metadata key."""

    def check(value: Any) -> str | None:
        return value if isinstance(value, str) and value else None

    return _field(check, "the name of a metadata key", ("key",), default=default, kw_only=kw_only)


def flag(*, default: bool, kw_only: bool = False) -> Any:
    """True or False."""

    def check(value: Any) -> bool | None:
        return bool(value) if isinstance(value, bool | np.bool_) else None

    return _field(check, "True or False", ("flag",), default=default, kw_only=kw_only)


def duration() -> Any:
    """A timedelta above 0, given as one or as text such as "30d"."""

    def check(value: Any) -> dt.timedelta | None:
        length = parse_duration(value) if isinstance(value, str) else value
        return length if isinstance(length, dt.timedelta) and length > dt.timedelta(0) else None

    wanted = 'a timedelta above 0 or text such as "30d", "12h", "90m" or "45s"'
    return _field(check, wanted, ("duration",), write=lambda value: literal(duration_text(value)))


def condition() -> Any:
    """A condition on metadata."""

    def check(value: Any) -> Condition | None:
        return value if isinstance(value, Condition) else None

    wanted = "a condition, as in field('status') == 'current'"
    return _field(check, wanted, ("condition",), write=repr)


def conditions() -> Any:
    """One condition or more, as a tuple."""

    def check(value: Any) -> tuple[Condition, ...] | None:
        good = value and all(isinstance(part, Condition) for part in value)
        return tuple(value) if good else None

    def write(value: tuple[Condition, ...]) -> str:
        return ", ".join(map(repr, value))

    wanted = "conditions (at least one condition), as in where(field('status') == 'current')"
    return _field(check, wanted, ("conditions",), write=write)


def ids() -> Any:
    """A list of ids, in its order; sets and mappings, which have none of their own, are refused."""

    def check(value: Any) -> tuple[str, ...] | None:
        if isinstance(value, str | AbstractSet | Mapping) or not isinstance(value, Iterable):
            return None
        found = tuple(value)
        return found if all(isinstance(id_, str) for id_ in found) else None

    return _field(check, "a list of the ids of the previous prompt", ("ids",))


def function(role: Literal["selector", "key"] | None = None) -> Any:
    """A Python function; a stage with one has no text that can be parsed.

    `role`: "selector" where it chooses among chunks as for `custom`, "key" where it makes of a
    chunk what it is sorted by; `packer.testing` then knows some.
    """

    def check(value: Any) -> Any:
        return value if callable(value) else None

    def write(value: Any) -> str:
        return getattr(value, "__qualname__", None) or shown(value)

    return _field(check, "a function", ("function", role), write=write)


def weights() -> Any:
    """Finite weights by the names of metadata keys, as a tuple of pairs sorted by name.

    As text they are keywords, and in ``**{"doc score": 0.5}`` where a name is none.
    """

    def convert(value: Any, instance: Any) -> tuple[tuple[str, float], ...]:
        stage = type(instance).name
        if not value:
            wanted = f"at least one key and its weight, as in {stage}(rerank=1.0)"
            raise refusal(stage, "weights", value, wanted)
        for key_, weight in value.items():
            if not isinstance(key_, str) or not key_:
                raise refusal(stage, "weights", key_, "the name of a metadata key")
            if not is_finite(weight):
                raise refusal(stage, key_, weight, "a finite number, the weight of that key")
        return tuple(sorted((key_, float(weight) + 0.0) for key_, weight in value.items()))

    def write(value: tuple[tuple[str, float], ...]) -> str:
        texts = [f"{key_}={weight!r}" for key_, weight in value if _is_keyword(key_)]
        rest = [f"{literal(key_)}: {weight!r}" for key_, weight in value if not _is_keyword(key_)]
        return ", ".join([*texts, *(["**{" + ", ".join(rest) + "}"] if rest else [])])

    return attrs.field(
        converter=attrs.Converter(convert, takes_self=True),
        metadata={"domain": ("weights",), "write": write},
    )


def _is_keyword(name: str) -> bool:
    """Whether an argument can have the name; beyond ASCII Python's parser may respell it."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
