"""Records as the plain values that JSON can hold, and as its text."""

import datetime as dt
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs
import numpy as np

from .literals import escaped_surrogates

__all__ = ["json_text", "plain"]


def plain(value: Any) -> Any:
    """The value as JSON can hold it: records as objects, sets sorted, NaN as null, dates as text.

    What JSON knows nothing of becomes its text.  O(n).

    >>> plain({1: (float("nan"), dt.date(2024, 5, 1), {"b", "a"}, np.float32(0.5))})
    {'1': [None, '2024-05-01', ['a', 'b'], 0.5]}
    """
    if attrs.has(type(value)):
        return {name.name: plain(getattr(value, name.name)) for name in attrs.fields(type(value))}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=repr)  # a set has no order of its own
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def json_text(value: Any, indent: int | None = None) -> str:
    r"""Plain values as JSON text that every encoding takes: lone surrogates stand as escapes.

    Raises ValueError for NaN and infinities, which `plain` leaves none of.

    >>> print(json_text(["caf\xe9", "\ud800"]))
    ["café", "\ud800"]
    """
    import json

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return escaped_surrogates(text)
