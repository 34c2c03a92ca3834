"""What counts as a date: ISO 8601 text, a datetime, epoch seconds or epoch milliseconds."""

import datetime as dt
import math

import numpy as np

__all__ = ["MILLISECONDS_FROM", "instant", "is_date_text"]

MILLISECONDS_FROM = 1e11
"""Numbers from here on are milliseconds (as seconds they would lie in the year 5138)."""


def instant(value: object) -> float | None:
    """Seconds since 1970-01-01 UTC, or None for what is no date.

    A naive datetime and a date without a time mean UTC.  Bools and non-finite numbers are no
    dates; neither is text that is not ISO 8601.

    >>> instant("1970-01-02"), instant(86400), instant(1_700_000_000_000), instant("yesterday")
    (86400.0, 86400.0, 1700000000.0, None)
    """
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | float | np.integer | np.floating):
        try:
            number = float(value)
        except OverflowError:
            return None
        if not math.isfinite(number):
            return None
        return number / 1000.0 if abs(number) >= MILLISECONDS_FROM else number
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, dt.datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=dt.UTC)
        return (aware - _EPOCH).total_seconds()
    if isinstance(value, dt.date):
        return (dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC) - _EPOCH) / _SECOND
    return None


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_SECOND = dt.timedelta(seconds=1)


def is_date_text(value: object) -> bool:
    """Whether `value` is text that begins as a date does (`2024-05-01…`) and parses as one.

    Stricter than `instant`: compact forms such as "20240501" stay plain text in comparisons.
    """
    return (
        isinstance(value, str)
        and len(value) >= 10
        and value[4:5] == value[7:8] == "-"
        and instant(value) is not None
    )
