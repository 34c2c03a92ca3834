"""Which chunks still hold: conditions on metadata, replaced and outdated versions, age."""

import datetime as dt
from collections.abc import Iterable
from typing import Any, Final, final

import attrs
import numpy as np

from packer.algebra import Filter
from packer.conditions import Condition
from packer.pool import Pool
from packer.records import Reason

from ._parameters import key, refusal
from .dates import ages, instants, warn_undated
from .durations import duration, duration_text

__all__ = ["current", "fresh", "latest", "where"]


def _conditions(value: Any) -> tuple[Condition, ...]:
    for condition in value:
        if not isinstance(condition, Condition):
            wanted = "conditions, as in where(field('status') == 'current')"
            raise refusal("where", "conditions", condition, wanted)
    if not value:
        raise refusal("where", "conditions", value, "at least one condition")
    return tuple(value)


@final
@attrs.frozen(repr=False)
class Where(Filter):
    name = "where"
    conditions: tuple[Condition, ...] = attrs.field(
        converter=_conditions, metadata={"domain": ("conditions",)}
    )

    def __call__(self, pool: Pool, /) -> Pool:
        metadata = pool.metadata
        mask = [all(wanted.holds(row) for wanted in self.conditions) for row in metadata]

        def detail(row: int) -> str:
            failed = next(wanted for wanted in self.conditions if not wanted.holds(metadata[row]))
            return f"{failed.actual(metadata[row])}, wanted {failed!r}"

        return pool.keep(np.array(mask, np.bool_), reason=Reason.METADATA, detail=detail)

    def __repr__(self) -> str:
        return f"where({', '.join(map(repr, self.conditions))})"


def where(*conditions: Condition) -> Filter:
    """Keep the chunks whose metadata meets all the conditions.

    In code ``where(field("status") == "current", field("year") >= 2023)``, in text
    ``where(status == "current", year >= 2023)``.  A missing key fails every comparison but
    `is None`.  O(n) per condition.  Excludes as `metadata`.

    >>> from strategies import field
    >>> where(field("status") == "current", field("source").is_in(["kb", "faq"]))
    where(status == "current", source in ["kb", "faq"])
    """
    return Where(conditions)


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
        names = _superseders(pool)
        why: list[str | None] = []
        for id_, metadata in zip(pool.ids, pool.metadata, strict=True):
            status, successor = metadata.get("status"), metadata.get("superseded_by")
            source = metadata.get("source")
            by = names.get(id_) or (names.get(source) if isinstance(source, str) else None)
            newer = [
                other
                for other, other_source in by or ()
                if other != id_ and (other_source is None or other_source != source)
            ]
            if isinstance(status, str) and status.strip().lower() in SUPERSEDED:
                why.append(f"status is {status!r}")
            elif _names(successor):
                why.append(f"superseded by {', '.join(_names(successor))}")
            elif newer:
                why.append(f"superseded by {', '.join(newer)}")
            else:
                why.append(None)
        mask = np.array([text is None for text in why], np.bool_)
        return pool.keep(mask, reason=Reason.SUPERSEDED, detail=lambda row: why[row])


def _superseders(pool: Pool) -> dict[str, list[tuple[str, object]]]:
    """What is named in `supersedes` (an id or a source) -> the ids and sources that name it."""
    found: dict[str, list[tuple[str, object]]] = {}
    for id_, metadata in zip(pool.ids, pool.metadata, strict=True):
        for name in _names(metadata.get("supersedes")):
            found.setdefault(name, []).append((id_, metadata.get("source")))
    return found


def _names(value: object) -> list[str]:
    if value is None or value is False or value is True:
        return []
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [str(value)] if value != "" else []
    return [str(name) for name in value]


def current() -> Filter:
    """Drop what is marked as replaced by something newer.

    That is: `status` is one of superseded, archived, deprecated, expired, obsolete, outdated,
    replaced, retired or withdrawn; or `superseded_by` is set; or the `supersedes` (a name or a
    list of names) of another chunk in the pool names its id, or its `source` from another source.
    O(n).  Excludes as `superseded`.
    """
    return Current()


@final
@attrs.frozen(repr=False)
class Latest(Filter):
    name = "latest"
    by: str = key(default="source")
    at: str = key(default="timestamp", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        keys = [_hashable(value) for value in pool.column(self.by)]
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


def _hashable(value: object) -> object:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


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

    def written(self, field: str, value: object) -> str:
        if isinstance(value, dt.timedelta):
            return super().written(field, duration_text(value))
        return super().written(field, value)


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
