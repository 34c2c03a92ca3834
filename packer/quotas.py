"""What counts toward a quota: the keys of rows as numbers, and whether minima are met."""

from collections.abc import Sequence

import numpy as np

from .arrays import Ints
from .pool import Pool
from .rules import Quota

__all__ = ["numbered", "unmet"]


def unmet(pool: Pool, table_rows: Ints) -> bool:
    """Whether a selection of these rows of the table leaves a minimum of the pool's rules unmet."""
    inside = np.isin(pool.table_rows, table_rows)
    for rule in pool.rules:
        if isinstance(rule, Quota) and rule.least > 0:
            group = np.full(len(pool), -1, np.int64)
            keys = numbered(pool.column(rule.by), group)
            amount = pool.costs if rule.unit == "tokens" else np.ones(len(pool), np.int64)
            total = np.zeros(len(keys) + 1, np.int64)
            np.add.at(total, group[inside], amount[inside])
            if (total[:-1] < rule.least).any():
                return True
    return False


def numbered(values: Sequence[object], numbers: Ints) -> tuple[object, ...]:
    """Write the number of each value's key; -1 where there is none.  The keys by number."""
    try:
        keys = dict.fromkeys(values)
    except TypeError:  # a list, say: by its text
        return numbered([None if value is None else repr(value) for value in values], numbers)
    keys.pop(None, None)
    place: dict[object, int] = {key: number for number, key in enumerate(keys)}
    place[None] = -1
    numbers[:] = np.fromiter(map(place.__getitem__, values), np.int64, len(values))
    return tuple(keys)
