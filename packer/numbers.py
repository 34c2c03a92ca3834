"""What counts as a number where a caller may give anything."""

import math

import numpy as np

__all__ = ["is_finite", "is_int"]


def is_int(value: object) -> bool:
    """Whether the value is an integer, Python's or numpy's; a bool is none.

    >>> is_int(3), is_int(True), is_int(3.0)
    (True, False, False)
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_finite(value: object) -> bool:
    """Whether the value is a finite number that a float can hold; a bool is none.

    >>> is_finite(0.5), is_finite(float("nan")), is_finite(10**400)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
