"""What the caller asked for, checked once: budget, overhead, counter, query, now."""

import datetime as dt
from typing import Any, final

import attrs

from .errors import InvalidBudget, InvalidCounter, InvalidParameter, InvalidTimestamp, shown
from .numbers import is_int
from .timestamps import instant
from .tokens import MOST_TOKENS, CountTokens

__all__ = ["Call", "checked_call"]


@final
@attrs.frozen(kw_only=True)
class Call:
    """`budget` and `overhead` (charged per chunk) in tokens; `now` is aware."""

    budget: int
    overhead: int
    count_tokens: CountTokens
    query: str | None
    now: dt.datetime | None

    def at(self, now: dt.datetime) -> "Call":
        """The same call at a moment; its own `now` comes first."""
        if self.now is not None:
            return self
        return Call(
            budget=self.budget,
            overhead=self.overhead,
            count_tokens=self.count_tokens,
            query=self.query,
            now=now,
        )


def checked_call(budget: Any, overhead: Any, count_tokens: Any, query: Any, now: Any) -> Call:
    """The call with these arguments.

    Raises INVALID_BUDGET, INVALID_COUNTER, INVALID_PARAMETER or INVALID_TIMESTAMP.
    """
    if not is_int(budget) or budget < 1:
        message = f"budget is {shown(budget)}; give an int above 0, in tokens"
        raise InvalidBudget(message, details={"budget": budget})
    if not is_int(overhead) or not 0 <= overhead <= MOST_TOKENS:
        message = f"overhead is {shown(overhead)}; give an int of 0 or more, in tokens per chunk"
        raise InvalidBudget(message, details={"overhead": overhead})
    if not callable(count_tokens):
        message = f"count_tokens is {shown(count_tokens)}; give a function from text to an int"
        raise InvalidCounter(message, details={"count_tokens": count_tokens})
    if query is not None and not isinstance(query, str):
        message = f"query is {shown(query)}; give the request's words as text, or None"
        raise InvalidParameter(message, details={"query": query})
    return Call(
        budget=int(budget),
        overhead=int(overhead),
        count_tokens=count_tokens,
        query=query,
        now=_moment(now),
    )


def _moment(now: Any) -> dt.datetime | None:
    if now is None:
        return None
    if isinstance(now, dt.datetime):
        return now if now.tzinfo is not None else now.replace(tzinfo=dt.UTC)
    seconds = instant(now)
    try:
        if seconds is not None:
            return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (OverflowError, ValueError, OSError):  # beyond the years 1 to 9999
        pass
    message = f"now is {shown(now)}; give a datetime, ISO 8601 text, or epoch seconds"
    raise InvalidTimestamp(message, details={"now": now})
