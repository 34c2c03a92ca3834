"""Choosing under rules: what selectors do when the pool has some."""

from typing import Final

import numpy as np

from .arrays import Ints, best_first
from .conflicts import conflict
from .pool import Pool
from .quotas import keys_of, over
from .rulebook import Rulebook, refuse_without_room, rulebook
from .rules import UNBOUNDED, Pin, Quota
from .selection import Selection

__all__ = ["base", "choose", "down", "enforce"]

MANY: Final = 5_000
"""Of more rows than this the compiled walk is faster than a loop of Python."""

BLOCK: Final = 128
"""Rows that are looked at in one go; mostly the room is spent before the last."""


def base(book: Rulebook, order: Ints) -> Ints:
    """The rows that must be in, found going down `order`.

    Raises OVER_BUDGET or INFEASIBLE, naming the least set of rules that cannot hold together.
    """
    rows = book.base(order)
    if rows is None:
        raise conflict(book)
    return rows


def down(pool: Pool, order: Ints, *, stop: bool = False) -> Selection | None:
    """The selection going down `order` under the rules of a pool; None where it has none.

    With `stop` it ends at the first that does not fit the budget.  Pins and quotas without a
    minimum need no kernel: O(r n) for r rules.

    Raises as `base`.
    """
    if not pool.rules:
        return None
    if len(pool) <= MANY and all(
        isinstance(rule, Pin) or (isinstance(rule, Quota) and rule.least == 0)
        for rule in pool.rules
    ):
        refuse_without_room(pool)
        rows = _walk(pool, order, stop=stop)
        if rows is not None:
            return pool.select(rows, cuts=over(pool, rows))
    book = rulebook(pool)
    return None if book is None else choose(book, order, stop=stop)


def choose(book: Rulebook, order: Ints, *, stop: bool = False) -> Selection:
    """What must be in, then down `order`, adding what the rules and the budget allow."""
    start = base(book, order)
    possible = order[~np.isin(order, list(book.missing))]  # what cannot come stops nobody
    return book.select(book.walk(possible, start, stop=stop))


def _walk(pool: Pool, order: Ints, *, stop: bool) -> Ints | None:
    """The rows that go in under pins and quotas; None where a pin does not."""
    pins = 0
    if isinstance(pool.rules[0], Pin):  # pins come first
        pinned = pool.pinned[order]
        order = np.concatenate([order[pinned], order[~pinned]])
        pins = int(np.count_nonzero(pinned))
    quotas = [
        (rule.unit == "tokens", found.numbers, [rule.most] * len(found.values) + [UNBOUNDED])
        for rule, found in (
            (rule, keys_of(pool, rule.by)) for rule in pool.rules if isinstance(rule, Quota)
        )
    ]  # of each key what is left, and last, where -1 points, that of no key
    least, left = int(pool.costs.min(initial=0)), pool.capacity
    taken: list[int] = []
    for begin in range(0, len(order), BLOCK):
        if left < least and begin >= pins:
            break
        rows = order[begin : begin + BLOCK]
        if not stop and begin >= pins:
            rows = rows[pool.costs[rows] <= left]
        costs = pool.costs[rows].tolist()
        ones = [1] * len(costs)
        each = [
            (room, numbers[rows].tolist(), costs if of_tokens else ones)
            for of_tokens, numbers, room in quotas
        ]
        for place, row in enumerate(rows.tolist()):
            cost = costs[place]
            if cost > left and not stop and begin + place >= pins:
                continue
            for room, keys, amounts in each:
                if room[keys[place]] < amounts[place]:
                    if begin + place < pins:
                        return None
                    break
            else:
                if cost <= left:
                    for room, keys, amounts in each:
                        room[keys[place]] -= amounts[place]
                    left -= cost
                    taken.append(row)
                elif begin + place < pins:
                    return None
                else:
                    return np.array(taken, np.int64)
    return np.array(taken, np.int64)


def enforce(pool: Pool, selection: Selection) -> Selection:
    """A selection by a stage that knows no rules: what violates one is cut, what must be in added."""
    book = rulebook(pool)
    if book is None:
        return selection
    wanted = selection.chosen
    rest = np.setdiff1d(np.arange(len(pool)), wanted)
    order = np.concatenate([wanted, rest[best_first(pool.scores[rest])]])
    return book.select(book.walk(wanted, base(book, order)))
