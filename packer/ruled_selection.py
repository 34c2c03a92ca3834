"""Choosing under rules: what selectors do when the pool has some."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import attrs
import numpy as np

from .arrays import Floats, Ints, best_first
from .growing import Growing, filled, grown, must
from .infeasible import conflict
from .pool import Pool
from .quotas import keys_of, over
from .rulebook import Rulebook, rulebook
from .rules import UNBOUNDED, Overlap, Pin, Quota
from .selection import Selection

__all__ = ["base", "choose", "down", "enforce", "topped_up"]

MANY: Final = 5_000
"""Of more rows than this the compiled walk is faster than a loop of Python."""

BLOCK: Final = 128
"""Rows that are looked at in one go; mostly the room is spent before the last."""


def base(book: Rulebook, order: Ints) -> Ints:
    """The rows that must be in, found going down `order`.

    Where rows overlap they need fit only by what is new of each.

    Raises OVER_BUDGET or INFEASIBLE, naming the least set of rules that cannot hold together.
    """
    rows = must(book, order) if book.pool.overlapping else book.base(order)
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
    if pool.overlapping:
        rank = np.empty(len(pool))
        rank[order] = -np.arange(len(pool))
        return grown(pool, lambda _: rank, stop=stop)
    if len(pool) <= MANY and all(
        isinstance(rule, Pin | Overlap) or (isinstance(rule, Quota) and rule.least == 0)
        for rule in pool.rules
    ):
        rows = _walk(pool, order, stop=stop)
        if rows is not None:
            return pool.select(rows, cuts=over(pool, rows))
    book = rulebook(pool)
    return None if book is None else choose(book, order, stop=stop)


def choose(book: Rulebook, order: Ints, *, stop: bool = False) -> Selection:
    """What must be in, then down `order`, adding what the rules and the budget allow."""
    start = base(book, order)
    possible = order
    if book.missing:
        possible = order[~np.isin(order, list(book.missing))]  # what cannot come stops nobody
    return book.select(book.walk(possible, start, stop=stop))


_Room: TypeAlias = tuple[bool, Ints, list[int]]
"""Of a quota: whether it counts tokens, the key of each row, and what each key has left."""


def _walk(pool: Pool, order: Ints, *, stop: bool) -> Ints | None:
    """The rows that go in under pins and quotas; None where a pin does not."""
    rooms = [
        (rule.unit == "tokens", found.numbers, [rule.most] * len(found.values) + [UNBOUNDED])
        for rule, found in (
            (rule, keys_of(pool, rule.by)) for rule in pool.rules if isinstance(rule, Quota)
        )
    ]  # the last, where -1 points, is of no key
    taken: list[int] = []
    left, ended = pool.capacity, False
    if isinstance(pool.rules[0], Pin):  # pins come first
        pinned = pool.pinned[order]
        pins, order = order[pinned], order[~pinned]
        taken, left, _ = _block(pool, pins, rooms, left, stop=True)
        if len(taken) < len(pins):
            return None
    least = int(pool.costs.min(initial=0))
    for begin in range(0, len(order), BLOCK):
        if left < least or ended:
            break
        rows = order[begin : begin + BLOCK]
        if not stop:
            rows = rows[pool.costs[rows] <= left]
        more, left, ended = _block(pool, rows, rooms, left, stop=stop)
        taken += more
    return np.array(taken, np.int64)


def _block(
    pool: Pool, rows: Ints, rooms: Sequence[_Room], left: int, *, stop: bool
) -> tuple[list[int], int, bool]:
    """What of these rows goes in, what is left of the budget, and whether it stopped."""
    taken: list[int] = []
    costs = pool.costs[rows].tolist()
    ones = [1] * len(costs)
    each = [
        (room, numbers[rows].tolist(), costs if of_tokens else ones)
        for of_tokens, numbers, room in rooms
    ]
    for place, row in enumerate(rows.tolist()):
        cost = costs[place]
        if cost > left and not stop:
            continue
        for room, keys, amounts in each:
            if room[keys[place]] < amounts[place]:
                break
        else:
            if cost > left:
                return taken, left, True
            for room, keys, amounts in each:
                room[keys[place]] -= amounts[place]
            left -= cost
            taken.append(row)
    return taken, left, False


def enforce(pool: Pool, selection: Selection) -> Selection:
    """A selection by a stage that knows no rules: what violates one is cut, what must be in added."""
    book = rulebook(pool)
    if book is None:
        return selection
    wanted = selection.chosen
    rest = np.setdiff1d(np.arange(len(pool)), wanted)
    order = np.concatenate([wanted, rest[best_first(pool.scores[rest])]])
    if pool.overlapping:
        found = Growing(pool)
        found.start(order)
        found.closed[rest] = True
        rank = np.zeros(len(pool))
        rank[wanted] = -np.arange(len(wanted))
        found.grow(lambda _: rank)
        return found.select()
    return book.select(book.walk(wanted, base(book, order)))


def topped_up(
    pool: Pool, wanted: Ints, selection: Selection, worth: Callable[[Pool], Floats]
) -> Selection:
    """A selection by full costs, and what fits in the room that overlaps freed, the best first.

    `wanted` are the rows that the selector chose: what found no room beside them at full costs may
    come in now.  How good that is nobody knows, so it has no `optimality`.
    """
    out = np.ones(len(pool), np.bool_)
    out[wanted] = False
    also = np.flatnonzero(out & (pool.costs > pool.budget - int(pool.costs[wanted].sum())))
    rows = filled(pool, selection.chosen, worth(pool), also)
    if len(rows) == len(selection):
        return attrs.evolve(selection, optimality=None)
    warned = attrs.evolve(pool, warnings=selection.pool.warnings)
    book = rulebook(warned)
    return warned.select(rows) if book is None else book.select(rows)
