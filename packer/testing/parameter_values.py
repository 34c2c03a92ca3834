"""What the parameters of stages may be, by the `domain` in the metadata of their fields."""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs
from hypothesis import strategies as st

from packer.errors import InvalidParameter, shown
from packer.records import Chunk
from strategies import Context

from .material import DATE_KEYS, GROUP_KEYS, Values
from .metadata_conditions import ODD_TEXT, conditions

__all__ = [
    "DOMAINS",
    "FUNCTIONS",
    "by_id",
    "by_length",
    "everything",
    "shortest",
    "values_of",
]


def _numbers(low: float, high: float, above: float | None, *, wide: bool) -> Values:
    open_low = above is not None
    least = low if above is None else max(low, above)
    if not wide:  # what boosts a score or floors it, on the scale of the scores above
        least, high = max(least, -3.0), min(high, 3.0)
    nice = [value for value in (0.0, 0.1, 0.5, 0.85, 1.0, 2.0) if least <= value <= high]
    if open_low:
        nice = [value for value in nice if value > least]
    every = st.floats(
        None if math.isinf(least) else least,
        None if math.isinf(high) else high,
        allow_nan=False,
        allow_infinity=False,
        exclude_min=open_low,
        allow_subnormal=wide,
    )
    return st.sampled_from(nice) | every


def _rising(low: float, high: float, *, wide: bool) -> Values:
    limits = () if wide else (max(low, -3.0), min(high, 3.0))
    ends = limits or (None if math.isinf(low) else low, None if math.isinf(high) else high)
    every = st.floats(*ends, allow_nan=False, allow_infinity=False)
    return st.lists(every, min_size=1, max_size=4, unique_by=lambda value: value + 0.0).map(sorted)


def _durations(*, wide: bool) -> Values:
    texts = st.sampled_from(("30d", "12h", "90m", "45s", "2w", "1.5h", "0.000001s"))
    if not wide:
        return texts.filter(lambda text: text != "0.000001s") | st.timedeltas(
            dt.timedelta(minutes=1), dt.timedelta(days=1000)
        )
    return texts | st.timedeltas(dt.timedelta(microseconds=1))


def _key_names(parameter: str, *, wide: bool) -> Values:
    usual = st.sampled_from(DATE_KEYS if parameter == "at" else GROUP_KEYS)
    return usual | ODD_TEXT if wide else usual


def _weights(*, wide: bool) -> Values:
    keys = st.sampled_from(("year", "position", "score", "status", "nowhere"))
    names = keys | ODD_TEXT if wide else keys
    every = _numbers(-math.inf, math.inf, None, wide=wide)
    return st.dictionaries(names, every, min_size=1, max_size=3)


DOMAINS: Final[Mapping[str, Callable[[Any, str, bool], Values]]] = {
    "number": lambda limits, name, wide: _numbers(*limits, wide=wide),
    "numbers": lambda limits, name, wide: _rising(*limits, wide=wide),
    "count": lambda limits, name, wide: st.integers(0, 2**63 - 1 if wide else 13),
    "amount": lambda limits, name, wide: (
        st.none() | st.integers(*((0, 20) if name == "min" else (20, 2**63 - 1 if wide else 60)))
    ),
    "choice": lambda options, name, wide: st.sampled_from(*options),
    "key": lambda limits, name, wide: _key_names(name, wide=wide),
    "flag": lambda limits, name, wide: st.booleans(),
    "condition": lambda limits, name, wide: conditions(wide=wide),
    "conditions": lambda limits, name, wide: st.lists(
        conditions(wide=wide), min_size=1, max_size=3
    ),
    "duration": lambda limits, name, wide: _durations(wide=wide),
    "weights": lambda limits, name, wide: _weights(wide=wide),
    "ids": lambda limits, name, wide: st.lists(
        ODD_TEXT if wide else st.integers(0, 14).map("c{}".format), max_size=5
    ),
}
"""The values of a kind of parameter, by the rest of its domain, its name, and `wide`."""


def everything(chunks: Iterable[Chunk], context: Context) -> list[Chunk]:
    """Choose all, within the budget or not."""
    del context
    return list(chunks)


def shortest(chunks: Iterable[Chunk], context: Context) -> list[Chunk]:
    """Choose the three shortest that cost no more than a third of the budget."""
    small = [chunk for chunk in chunks if 3 * _cost(chunk, context) <= context.budget]
    return sorted(small, key=lambda chunk: _cost(chunk, context))[:3]


def _cost(chunk: Chunk, context: Context) -> int:
    return context.overhead + (chunk.tokens or 0)


def by_length(chunk: Chunk) -> tuple[int, str]:
    """A key that sorts by length, then text."""
    return len(chunk.content), chunk.content


def by_id(chunk: Chunk) -> str:
    """A key that sorts by id."""
    return str(chunk.id)


FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Any], ...]]] = {
    "selector": (everything, shortest),
    "key": (by_length, by_id),
}
"""Python functions, by the role that `packer.parameters.function` was given."""

_BY_TYPE: Final[Mapping[object, Values]] = {
    bool: st.booleans(),
    int: st.integers(0, 60),
    float: st.sampled_from((0.0, 0.5, 1.0)) | st.floats(0.0, 1.0),
    str: st.sampled_from(("source", "kb", "c0")) | ODD_TEXT,
}


def values_of(kind: Any, parameter: str, *, wide: bool = False) -> Values:
    """The values of a parameter of a class of stages.

    `wide`: every value that it takes; without it those under which a stage runs on the pools
    made here.  A field without a domain (of no factory of `packer.parameters`) has the values of
    its type.

    Raises INVALID_PARAMETER where neither is known.
    """
    fields = {field.name: field for field in attrs.fields(kind)}
    field = fields.get(parameter)
    domain = field.metadata.get("domain") if field is not None else None
    if domain is not None:
        name, *rest = domain
        if name == "function" and rest[0] in FUNCTIONS:
            return st.sampled_from(FUNCTIONS[rest[0]])
        if name in DOMAINS:
            return DOMAINS[name](rest, parameter, wide)
    types = {"bool": bool, "int": int, "float": float, "str": str}
    wanted = field.type if field is not None else None
    wanted = types.get(wanted, wanted) if isinstance(wanted, str) else wanted
    if wanted in _BY_TYPE:
        return _BY_TYPE[wanted]
    message = (
        f"no values are known for {parameter} of {kind.name} ({shown(domain or wanted)}); make its "
        "field by packer.parameters, or put a Hypothesis strategy of stages into the catalog"
    )
    raise InvalidParameter(message, details={"stage": kind.name, "parameter": parameter})
