"""Records as the plain values that JSON can hold, and as its text."""

import datetime as dt
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs
import numpy as np

from .errors import InvalidParameter
from .literals import escaped_surrogates

__all__ = ["json_text", "plain"]


def plain(value: Any) -> Any:
    """The value as JSON can hold it: records as objects, sets sorted, NaN as null, dates as text.

    What JSON knows nothing of becomes its text.  O(n).

    Raises INVALID_PARAMETER for what holds itself, or has no text.

    >>> plain({1: (float("nan"), dt.date(2024, 5, 1), {"b", "a"}, np.float32(0.5))})
    {'1': [None, '2024-05-01', ['a', 'b'], 0.5]}
    """
    try:
        return _plain(value)
    except RecursionError:
        message = "a value holds itself, or is nested too deeply to be written; leave it out"
        raise InvalidParameter(message) from None
    except ValueError as error:  # of a key or of an object that becomes its text
        raise InvalidParameter(f"a value cannot be written: {error}") from None


def _plain(value: Any) -> Any:
    if attrs.has(type(value)):
        return {name.name: _plain(getattr(value, name.name)) for name in attrs.fields(type(value))}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=repr)  # a set has no order of its own
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def json_text(value: Any, indent: int | None = None) -> str:
    r"""Plain values as JSON text that every encoding takes: lone surrogates stand as escapes.

    Raises INVALID_PARAMETER, naming the place, for what Python writes no JSON of: an int of more
    than 4300 digits, and NaN and infinities, which `plain` leaves none of.

    >>> print(json_text(["caf\xe9", "\ud800"]))
    ["café", "\ud800"]
    """
    import json

    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (ValueError, RecursionError) as error:
        place = _unwritable(value)
        message = f"{place or 'a value'} cannot be written as JSON: {error}"
        raise InvalidParameter(message, details={"place": place}) from None
    return escaped_surrogates(text)


def _unwritable(value: Any) -> str | None:
    """Where the first number stands that has no text in JSON, as in `chunks[0].metadata.size`."""
    waiting = [("", value)]
    while waiting:
        place, found = waiting.pop()
        if isinstance(found, Mapping):
            parts = [(f"{place}.{key}" if place else str(key), part) for key, part in found.items()]
            waiting += reversed(parts)
        elif isinstance(found, list | tuple):
            waiting += reversed([(f"{place}[{at}]", part) for at, part in enumerate(found)])
        elif isinstance(found, int | float) and not _has_text(found):
            return place or None
    return None


def _has_text(number: float) -> bool:
    try:
        return math.isfinite(number) if isinstance(number, float) else bool(str(number))
    except ValueError:  # Python writes no int of more digits than sys.get_int_max_str_digits()
        return False
