"""Choosing where a chunk costs only what is new beside those that are in: one row after the other.

The plain selectors and the compiled ones count on costs that do not change.  This is the slow,
general way under `Overlap`, and it obeys the other rules of the pool too.
"""

from collections.abc import Callable
from typing import Final, TypeAlias, final

import numpy as np

from . import kernels
from .arrays import Floats, Ints, best_first, frozen, sealed
from .infeasible import conflict
from .pool import Pool
from .rulebook import Rulebook, rulebook
from .rules import Overlap
from .selection import Selection

__all__ = ["Growing", "filled", "grown", "must"]

Values: TypeAlias = Callable[["Growing"], Floats]
"""float64[n] of a choice that grows: the addable row of the highest value comes in next."""

ROOM: Final = 2**62

SEEDS: Final = 32
"""Rows from which a selection that meets the minima is sought where the plain ways find none."""


@final
class Growing:
    """A choice of rows of a pool that grows; a tool of one function, never shared.

    `costs` int64[n] are what each row would be charged now, `left` is what remains.
    """

    def __init__(self, pool: Pool, book: Rulebook | None = None) -> None:
        self.pool = pool
        ruled = book is None and any(not isinstance(rule, Overlap) for rule in pool.rules)
        self.book: Rulebook | None = rulebook(pool) if ruled else book
        self.chosen: list[int] = []
        self.costs = pool.costs.copy()
        self.left = pool.budget
        self.closed = np.zeros(len(pool), np.bool_)  # in, or kept out by a rule for good
        self._cover = pool.cover()
        spans = self._cover.spans
        self._source, self._start, self._end = map(np.array, (spans.source, spans.start, spans.end))
        if self.book is not None:
            self.closed[list(self.book.missing)] = True
            none, empty = sealed(np.zeros(len(pool), np.int64)), np.empty(0, np.int64)
            self._free = none
            self._state, _ = kernels.rules.started(empty, none, ROOM, self.book.columns)

    def start(self, order: Ints) -> None:
        """Let in what must be in, found going down `order`.

        Raises OVER_BUDGET or INFEASIBLE.
        """
        if self.book is not None:
            rows = must(self.book, order)
            if rows is None:
                raise conflict(self.book)
            self.extend(rows)

    def meet(self) -> bool:
        """Let in what the minima ask for, each time what costs least for what it counts.

        False where one cannot be met so.
        """
        assert self.book is not None
        _, group, amount, least = self.book.columns[:4]
        out = np.zeros(len(self.pool), np.bool_)  # what it needs has no room, or a rule forbids it
        while True:
            counts = np.zeros(len(self.pool), np.int64)  # of each row, toward what is missing
            for number, keys in enumerate(self.book.keys):
                total = np.zeros(len(keys) + 1, np.int64)  # the last is of no key
                np.add.at(total, group[number][self.chosen], amount[number][self.chosen])
                total[-1] = least[number]
                counts += np.minimum(
                    amount[number], np.maximum(least[number] - total[group[number]], 0)
                )
            if not counts[~self.closed].any():
                return bool((counts == 0).all())
            rows = np.flatnonzero(~self.closed & ~out & (counts > 0) & (self.costs <= self.left))
            if not len(rows):
                return False
            rate = self.costs[rows] / counts[rows]
            row = int(rows[np.lexsort((-self.pool.scores[rows], rate))[0]])
            out[row] = not self.add(row)

    def extend(self, rows: Ints) -> None:
        """Let in rows of which it is known that all rules allow them together."""
        for row in rows.tolist():
            self._admit(row)

    def add(self, row: int) -> bool | None:
        """Let a row in with what it needs; False where a rule forbids it, None where no room is."""
        if self.book is None:
            if self.costs[row] > self.left:
                return None
            self._take([row])
            return True
        rules = kernels.rules
        reason, size, _ = rules.admit(
            row, self._free, ROOM, self.book.columns, self._state, rules.PROBE
        )
        if reason != rules.ADDABLE:
            return False
        rows = self._state[3][:size].tolist()
        if any(other in self.book.missing for other in rows):
            return False
        if self._cover.cost_of(rows) > self.left:
            return None
        self._admit(row)
        return True

    def _admit(self, row: int) -> None:
        """Let a row in for good, with what it needs; nothing if it is in."""
        if self.closed[row] and row in self.chosen:
            return
        if self.book is None:
            self._take([row])
            return
        rules = kernels.rules
        _, size, _ = rules.admit(row, self._free, ROOM, self.book.columns, self._state, rules.KEEP)
        self._take(self._state[3][:size].tolist())

    def _take(self, rows: list[int]) -> None:
        for row in rows:
            self.left -= self._cover.take(row)
            self.chosen.append(row)
            self.closed[row] = True
            if self._cover.spans.meets[row]:
                near = (self._source == self._source[row]) & ~self.closed
                near &= (self._start < self._end[row]) & (self._end > self._start[row])
                for other in np.flatnonzero(near).tolist():
                    self.costs[other] = self._cover.cost(other)

    def grow(self, values: Values, *, stop: bool = False) -> None:
        """Let rows in, each time the one of the highest value that can come, until none can.

        Of equal values the higher score, then the earlier.  With `stop` it ends at the first that
        has no room.  O(n) a row, and a count for each part that is new.
        """
        scores = self.pool.scores
        waiting = np.zeros(len(self.pool), np.bool_)  # what it needs had no room
        while True:
            open_ = ~self.closed & ~waiting
            if not stop:
                open_ &= self.costs <= self.left
            rows = np.flatnonzero(open_)
            if not len(rows):
                return
            worth = values(self)[rows]
            rows = rows[worth == worth.max()]
            row = int(rows[np.argmax(scores[rows])])
            added = self.add(row)
            if added:
                waiting[:] = False
            elif added is None and stop:
                return
            elif added is None:
                waiting[row] = True
            else:
                self.closed[row] = True

    def select(self, **words: object) -> Selection:
        """The selection of what is in."""
        rows = np.array(self.chosen, np.int64)
        select = self.pool.select if self.book is None else self.book.select
        return select(rows, **words)  # type: ignore[arg-type]  # detail and optimality of both


def must(book: Rulebook, order: Ints) -> Ints | None:
    """What must be in under `Overlap`, within the budget; None where it was not found.

    Going down `order`; else by full costs; else by the cost of what is new, from nothing or from
    one of the `SEEDS` cheapest that share something.
    """
    pool, columns = book.pool, book.columns
    lost = np.zeros(len(pool), np.int64)
    lost[list(book.missing)] = 1
    order, lost = frozen(order), sealed(lost)
    rows, fine = kernels.rules.base(order, lost, 0, columns)
    if fine and _spent(pool, rows) <= pool.budget:
        return rows
    found = book.base(order)
    if found is not None:
        return found
    no_least = sealed(np.zeros(len(columns[3]), np.int64))
    rows, fine = kernels.rules.base(order, lost, 0, (*columns[:3], no_least, *columns[4:]))
    if not fine or _spent(pool, rows) > pool.budget:
        return None
    asked = ((columns[1] >= 0) & (columns[3][:, None] > 0)).any(axis=0)
    seeds = np.flatnonzero(asked & np.array(pool.spans.meets, np.bool_))
    seeds = seeds[np.lexsort((-pool.scores[seeds], pool.costs[seeds]))][:SEEDS]
    for seed in (None, *seeds.tolist()):
        tried = Growing(pool, book)
        tried.extend(rows)
        if (seed is None or tried.closed[seed] or tried.add(seed)) and tried.meet():
            return np.array(tried.chosen, np.int64)
    return None


def _spent(pool: Pool, rows: Ints) -> int:
    return int(pool.charged(rows.tolist())[rows].sum())


def grown(pool: Pool, values: Values, *, stop: bool = False) -> Selection:
    """What must be in, and then what `values` ranks first each time.

    Raises OVER_BUDGET or INFEASIBLE.
    """
    found = Growing(pool)
    found.start(best_first(pool.scores))
    found.grow(values, stop=stop)
    return found.select()


def filled(pool: Pool, rows: Ints, worth: Floats, also: Ints) -> Ints:
    """These rows, and of `also` the best by `worth` that the room of what they share lets in."""
    found = Growing(pool)
    found.extend(rows)
    found.closed |= ~np.isin(np.arange(len(pool)), also)
    found.grow(lambda _: worth)
    return np.array(found.chosen, np.int64)
