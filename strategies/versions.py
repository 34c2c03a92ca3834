"""Which chunks still hold: replaced and outdated versions, age."""

import datetime as dt
from typing import Final, final

import attrs
import numpy as np

from packer.algebra import Filter
from packer.durations import duration_text
from packer.metadata import hashable, names, superseders
from packer.parameters import duration, key
from packer.pool import Pool
from packer.records import Reason

from ._dates import ages, instants, warn_undated

__all__ = ["current", "fresh", "latest"]


SUPERSEDED: Final = frozenset(
    {
        "superseded",
        "archived",
        "deprecated",
        "expired",
        "obsolete",
        "outdated",
        "replaced",
        "retired",
        "withdrawn",
    }
)
"""Values of `status`, in any case, that mark a chunk as replaced."""


@final
@attrs.frozen(repr=False)
class Current(Filter):
    name = "current"

    def __call__(self, pool: Pool, /) -> Pool:
        why: list[str | None] = []
        newer = superseders(pool.ids, pool.metadata)
        for metadata, others in zip(pool.metadata, newer, strict=True):
            status, successors = metadata.get("status"), names(metadata.get("superseded_by"))
            if isinstance(status, str) and status.strip().lower() in SUPERSEDED:
                why.append(f"status is {status!r}")
            elif successors:
                why.append(f"superseded by {', '.join(successors)}")
            elif others:
                why.append(f"superseded by {', '.join(pool.ids[row] for row in others)}")
            else:
                why.append(None)
        mask = np.array([text is None for text in why], np.bool_)
        return pool.keep(mask, reason=Reason.SUPERSEDED, detail=lambda row: why[row])


def current() -> Filter:
    """Drop what is marked as replaced by something newer.

    That is: `status` is one of superseded, archived, deprecated, expired, obsolete, outdated,
    replaced, retired or withdrawn; or `superseded_by` is set; or the `supersedes` (a name or a
    list of names) of another chunk in the pool names its id, or its `source` from another source
    (of whose chunks the detail names the first).  O(n).  Excludes as `superseded`.
    """
    return Current()


@final
@attrs.frozen(repr=False)
class Latest(Filter):
    name = "latest"
    by: str = key(default="source")
    at: str = key(default="timestamp", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        keys = [None if value == "" else hashable(value) for value in pool.column(self.by)]
        dates = instants(pool, self.at)
        newest: dict[object, int] = {}
        for row, (name, date) in enumerate(zip(keys, dates.tolist(), strict=True)):
            if name is not None and not np.isnan(date):
                best = newest.setdefault(name, row)
                if date > dates[best]:
                    newest[name] = row
        mask = np.array(
            [
                name not in newest or np.isnan(date) or date == dates[newest[name]]
                for name, date in zip(keys, dates, strict=True)
            ],
            np.bool_,
        )
        values = pool.column(self.at)

        def detail(row: int) -> str:
            best = newest[keys[row]]
            return f"{self.at} is {values[row]}, {keys[row]} has a version of {values[best]}"

        with_key = np.array([name is not None for name in keys], np.bool_)
        pool = warn_undated(pool, np.flatnonzero(np.isnan(dates) & with_key), self.at)
        return pool.keep(mask, reason=Reason.SUPERSEDED, detail=detail)


def latest(by: str = "source", *, at: str = "timestamp") -> Filter:
    """Of each document (the chunks with the same `by`) keep only the newest version.

    All chunks of a document with its latest date stay.  A chunk without the key is not bound; one
    without a date stays too, with the warning `undated`.  O(n).  Excludes as `superseded`.

    Raises INVALID_TIMESTAMP, with the ids, for a date that cannot be read.

    >>> latest()
    latest("source")
    """
    return Latest(by, at=at)


@final
@attrs.frozen(repr=False)
class Fresh(Filter):
    name = "fresh"
    max_age: dt.timedelta = duration()
    at: str = key(default="timestamp", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        age = ages(pool, self.at)
        undated = np.isnan(age)
        pool = warn_undated(pool, np.flatnonzero(undated), self.at)

        def detail(row: int) -> str:
            days = age[row] / 86400
            return f"{days:.1f} days old, at most {duration_text(self.max_age)}"

        recent = undated | (age <= self.max_age.total_seconds())
        return pool.keep(recent, reason=Reason.STALE, detail=detail)


def fresh(max_age: dt.timedelta | str, *, at: str = "timestamp") -> Filter:
    """Drop what is older than `max_age` at the `now` of the call.

    `max_age`: a timedelta or text (``"30d"``, ``"12h"``), never a bare number.  Dates: ISO 8601
    text, datetimes (naive means UTC), epoch seconds, or milliseconds from 1e11 on.  An undated
    chunk stays, with the warning `undated`.  O(n).  Excludes as `stale`.

    Raises INVALID_TIMESTAMP, with the ids, for a date that cannot be read.

    >>> fresh(dt.timedelta(hours=48))
    fresh("2d")
    """
    return Fresh(max_age, at=at)  # type: ignore[arg-type]  # the field converts text
