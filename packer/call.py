"""What the caller asked for, checked once: budget, overhead, counter, query, now, template."""

import datetime as dt
from typing import Any, final

import attrs

from .budget import available
from .errors import InvalidCounter, InvalidParameter, InvalidTimestamp, shown
from .numbers import is_int
from .template import Template
from .timestamps import instant
from .tokens import MOST_TOKENS, CountTokens, count

__all__ = ["Call", "checked_call"]


@final
@attrs.frozen(kw_only=True)
class Call:
    """What was asked for; `overhead` is charged per chunk, `now` is aware.

    `limit` is the caller's budget, `budget` what chunks may be charged: the same, but for a
    template, whose header and footer (`fixed`) are charged once, and whose separator (`between`)
    stands between chunks, while each is charged one.
    """

    budget: int
    overhead: int
    count_tokens: CountTokens
    query: str | None
    now: dt.datetime | None
    limit: int
    fixed: int = 0
    between: int = 0
    template: Template | None = None

    def within(self, limit: int) -> "Call":
        """The same call with another budget; below 0 there is no room even for what costs 0."""
        room = max(limit - self.fixed + self.between, 0)
        return attrs.evolve(self, limit=limit, budget=room)

    def at(self, moment: dt.datetime, query: Any = None, now: Any = None) -> "Call":
        """The same call at a moment, for a request with its own `query` or `now`.

        What the request says comes first, then what the call says, then the moment; header,
        footer and separator are not counted again.

        Raises INVALID_PARAMETER or INVALID_TIMESTAMP.
        """
        if query is None and now is None and self.now is not None:
            return self
        return Call(
            budget=self.budget,
            overhead=self.overhead,
            count_tokens=self.count_tokens,
            query=self.query if query is None else _words(query),
            now=_moment(now) or self.now or moment,
            limit=self.limit,
            fixed=self.fixed,
            between=self.between,
            template=self.template,
        )


def checked_call(
    budget: Any,
    overhead: Any,
    count_tokens: Any,
    query: Any,
    now: Any,
    template: Any = None,
) -> Call:
    """The call with these arguments.

    Raises INVALID_BUDGET, INVALID_COUNTER, INVALID_PARAMETER or INVALID_TIMESTAMP.
    """
    limit = available(budget)
    if not is_int(overhead) or not 0 <= overhead <= MOST_TOKENS:
        message = (
            f"overhead is {shown(overhead)}; give an int of 0 or more (at most 2**43), in tokens "
            "per chunk"
        )
        raise InvalidParameter(message, details={"overhead": overhead})
    if not callable(count_tokens):
        message = f"count_tokens is {shown(count_tokens)}; give a function from text to an int"
        raise InvalidCounter(message, details={"count_tokens": count_tokens})
    if template is not None and not isinstance(template, Template):
        message = f"template is {shown(template)}; give a Template, as in Template('{{content}}')"
        raise InvalidParameter(message, details={"template": template})
    fixed, between = 0, 0
    if template is not None:
        ends = template.header + template.footer
        fixed = count(count_tokens, ends, "the header and footer") if ends else 0
        if template.separator:
            between = count(count_tokens, template.separator, "the separator")
    call = Call(
        budget=limit,
        overhead=int(overhead),
        count_tokens=count_tokens,
        query=None if query is None else _words(query),
        now=_moment(now),
        limit=limit,
        fixed=fixed,
        between=between,
        template=template,
    )
    return call if template is None else call.within(limit)


def _words(query: Any) -> str:
    if isinstance(query, str):
        return query
    message = f"query is {shown(query)}; give the request's words as text, or None"
    raise InvalidParameter(message, details={"query": query})


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
