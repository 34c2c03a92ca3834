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

__all__ = ["Growing", "filled", "grown"]

Values: TypeAlias = Callable[["Growing"], Floats]
"""float64[n] of a choice that grows: the addable row of the highest value comes in next."""

ROOM: Final = 2**62


@final
class Growing:
    """A choice of rows of a pool that grows; a tool of one function, never shared.

    `costs` int64[n] are what each row would be charged now, `left` is what remains.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        ruled = any(not isinstance(rule, Overlap) for rule in pool.rules)
        self.book: Rulebook | None = rulebook(pool) if ruled else None
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
        book, pool = self.book, self.pool
        if book is None:
            return
        lost = np.zeros(len(pool), np.int64)
        lost[list(book.missing)] = 1
        rows, fine = kernels.rules.base(frozen(order), sealed(lost), 0, book.columns)
        if not fine or int(pool.charged(rows.tolist())[rows].sum()) > pool.budget:
            found = book.base(order)
            if found is None:
                raise conflict(book)
            rows = found
        self.extend(rows)

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
