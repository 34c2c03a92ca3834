"""Lengths of time as policies write them: "30d", "12h", "90m", "45s", "2w"."""

import datetime as dt
import re
from typing import Final

__all__ = ["duration_text", "parse_duration"]

_SECONDS: Final = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_TEXT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([wdhms])", re.ASCII)


def parse_duration(text: str) -> dt.timedelta | None:
    """The length of time that a text names, to the microsecond; None for any other text.

    >>> parse_duration("1.5h"), parse_duration("30")
    (datetime.timedelta(seconds=5400), None)
    """
    found = _TEXT.fullmatch(text.strip())
    if not found:
        return None
    from decimal import Decimal

    microseconds = Decimal(found.group(1)) * _SECONDS[found.group(2)] * 1_000_000
    try:
        return dt.timedelta(microseconds=int(microseconds))
    except OverflowError:
        return None


def duration_text(length: dt.timedelta) -> str:
    """The shortest exact text of a length of time: in days, hours, minutes, else seconds.

    >>> duration_text(dt.timedelta(hours=720)), duration_text(dt.timedelta(milliseconds=1500))
    ('30d', '1.5s')
    """
    microseconds = length // dt.timedelta(microseconds=1)
    for unit in "dhm":
        whole, rest = divmod(microseconds, _SECONDS[unit] * 1_000_000)
        if not rest:
            return f"{whole}{unit}"
    from decimal import Decimal

    seconds = Decimal(microseconds) / 1_000_000
    return f"{seconds.normalize():f}s"
