"""What the value of a metadata key says: nothing, one name, or several."""

import math
from collections.abc import Iterable

__all__ = ["names", "present"]


def present(value: object) -> object:
    """The value, None for NaN, which tables write where they have none.

    >>> present(float("nan")), present(0)
    (None, 0)
    """
    return None if isinstance(value, float) and math.isnan(value) else value


def names(value: object) -> list[str]:
    """The ids or sources that a value names, one or a list of them; empty text, 0 and bools name nothing.

    >>> names("a"), names(["a", "b"]), names(None), names("")
    (['a'], ['a', 'b'], [], [])
    """
    value = present(value)
    if value is None or isinstance(value, bool | bytes):
        return []
    if isinstance(value, str | int | float) and not value:
        return []
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [str(value)]
    return [name for item in value for name in names(item)]
