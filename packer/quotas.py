"""What counts toward a quota: the keys of rows as numbers, and whether minima are met."""

from collections.abc import Callable, Sequence
from typing import final

import attrs
import numpy as np

from .arrays import Ints, sealed
from .columns import Cut
from .pool import Pool
from .rules import Quota

__all__ = ["Keys", "detail_of", "keys_of", "over", "unmet"]


@final
@attrs.frozen(eq=False)
class Keys:
    """The values of a metadata key: `numbers` int64[n] of each row, -1 for none, and `values`."""

    numbers: Ints
    values: tuple[object, ...]


def keys_of(pool: Pool, by: str) -> Keys:
    """The values of a key, numbered by the row in which each comes first; read once in a call.

    O(n).
    """
    return pool.derive(f"key {by}", lambda made: _keys(made.column(by)), _taken)


def _keys(column: Sequence[object]) -> Keys:
    try:
        numbered = dict.fromkeys(column)
    except TypeError:  # a list, say
        column = [_hashable(value) for value in column]
        numbered = dict.fromkeys(column)
    numbered.pop(None, None)
    place: dict[object, int] = dict(zip(numbered, range(len(numbered)), strict=True))
    place[None] = -1
    values = tuple(one.text if isinstance(one, _Written) else one for one in numbered)
    return Keys(sealed(np.array(list(map(place.__getitem__, column)), np.int64)), values)


@final
@attrs.frozen
class _Written:
    """A value that has no hash, by its text; never equal to a text that is a value."""

    text: str


def _hashable(value: object) -> object:
    try:
        hash(value)
    except TypeError:
        return _Written(repr(value.tolist() if isinstance(value, np.ndarray) else value))
    return value


def _taken(keys: Keys, rows: Ints) -> Keys:
    """The keys of some rows, those that none of them has left out."""
    numbers = keys.numbers[rows]
    there = np.zeros(len(keys.values) + 1, np.bool_)
    there[numbers] = True  # -1 is the last
    there[-1] = False
    kept = np.flatnonzero(there)
    again = np.full(len(there), -1, np.int64)
    again[kept] = np.arange(len(kept))
    return Keys(sealed(again[numbers]), tuple(keys.values[at] for at in kept.tolist()))


def over(pool: Pool, rows: Ints) -> list[Cut]:
    """The exclusions of what has no room left in a quota when these rows are chosen.

    Each by the first quota that forbids it.  O(r n) for r quotas.
    """
    open_ = np.ones(len(pool), np.bool_)
    open_[rows] = False
    cuts = []
    for rule in pool.rules:
        if isinstance(rule, Quota):
            keys = keys_of(pool, rule.by)
            numbers = keys.numbers
            if rule.unit == "tokens":
                total = np.zeros(len(keys.values) + 1, np.int64)  # the last is of no key
                np.add.at(total, numbers[rows], pool.costs[rows])
                full = total[numbers] + pool.costs > rule.most
            else:
                full = (
                    np.bincount(numbers[rows] + 1, minlength=len(keys.values) + 1) >= rule.most
                )[numbers + 1]
            full &= open_
            full &= numbers >= 0
            out = full.nonzero()[0]
            if len(out):
                open_[out] = False
                cuts.append(pool.at(rule.stage).cut(rule.reason, out, detail_of(rule, keys)))
    return cuts


def detail_of(rule: Quota, keys: Keys) -> Callable[[int], str]:
    """What to say of a row that a quota keeps out."""
    numbers, values = keys.numbers, keys.values
    return lambda row: f"{rule.by} {values[numbers[row]]!r} has all of its {rule.most} {rule.unit}"


def unmet(pool: Pool, table_rows: Ints) -> bool:
    """Whether a selection of these rows of the table leaves a minimum of the pool's rules unmet."""
    inside = np.isin(pool.table_rows, table_rows)
    for rule in pool.rules:
        if isinstance(rule, Quota) and rule.least > 0:
            keys = keys_of(pool, rule.by)
            amount = pool.costs if rule.unit == "tokens" else np.ones(len(pool), np.int64)
            total = np.zeros(len(keys.values) + 1, np.int64)
            np.add.at(total, keys.numbers[inside], amount[inside])
            if (total[:-1] < rule.least).any():
                return True
    return False
