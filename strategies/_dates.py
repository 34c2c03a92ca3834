"""The dates of a pool as a column, and what to say of chunks that have none."""

from collections.abc import Iterable, Sequence

import numpy as np

from packer.arrays import Floats, Ints
from packer.errors import InvalidParameter, InvalidTimestamp, shown
from packer.pool import Pool
from packer.timestamps import instant

__all__ = ["ages", "instants", "instants_of", "warn_undated"]


def instants(pool: Pool, at: str) -> Floats:
    """float64[n]: seconds since 1970 of the metadata key `at`; NaN where a chunk lacks it.

    Raises INVALID_TIMESTAMP, with the ids, for values that are no date.
    """
    return instants_of(pool.column(at), pool.ids, at)


def instants_of(values: Iterable[object], ids: Sequence[str], at: str) -> Floats:
    """As `instants`, for values and the ids of their chunks."""
    found = []
    faulty = []
    for id_, value in zip(ids, values, strict=True):
        seconds = np.nan if value is None else instant(value)
        if seconds is None:
            faulty.append((id_, value))
            seconds = np.nan
        found.append(seconds)
    if faulty:
        told = ", ".join(f"{id_!r} has {shown(value)}" for id_, value in faulty[:5])
        more = f" and {len(faulty) - 5} more" if len(faulty) > 5 else ""
        message = f"{at} is no date: {told}{more}; give ISO 8601 text, a datetime, or epoch seconds"
        raise InvalidTimestamp(message, details={"ids": tuple(id_ for id_, _ in faulty), "key": at})
    return np.array(found, dtype=np.float64)


def ages(pool: Pool, at: str) -> Floats:
    """float64[n]: seconds from the date of each chunk to the call's `now`; NaN where undated.

    Raises INVALID_PARAMETER when the pool has no `now`.
    """
    if pool.now is None:
        message = f"{pool.stage} needs the moment of the call; give the pool a `now`"
        raise InvalidParameter(message, details={"stage": pool.stage})
    now: Floats = np.float64(instant(pool.now)) - instants(pool, at)
    return now


def warn_undated(pool: Pool, rows: Ints, at: str) -> Pool:
    """The pool with the warning `undated` about these rows, if there are any."""
    if not len(rows):
        return pool
    return pool.warn("undated", f"{len(rows)} chunks have no {at}", rows.tolist())
