"""Choosing under rules: what selectors do when the pool has a rulebook."""

import numpy as np

from .arrays import Ints, best_first
from .conflicts import conflict
from .pool import Pool
from .rulebook import Rulebook, rulebook
from .selection import Selection

__all__ = ["base", "choose", "enforce"]


def base(book: Rulebook, order: Ints) -> Ints:
    """The rows that must be in, found going down `order`.

    Raises OVER_BUDGET or INFEASIBLE, naming the least set of rules that cannot hold together.
    """
    rows = book.base(order)
    if rows is None:
        raise conflict(book)
    return rows


def choose(book: Rulebook, order: Ints, *, stop: bool = False) -> Selection:
    """What must be in, then down `order`, adding what the rules and the budget allow."""
    start = base(book, order)
    possible = order[~np.isin(order, list(book.missing))]  # what cannot come stops nobody
    return book.select(book.walk(possible, start, stop=stop))


def enforce(pool: Pool, selection: Selection) -> Selection:
    """A selection by a stage that knows no rules: what violates one is cut, what must be in added."""
    book = rulebook(pool)
    if book is None:
        return selection
    wanted = selection.chosen
    rest = np.setdiff1d(np.arange(len(pool)), wanted)
    order = np.concatenate([wanted, rest[best_first(pool.scores[rest])]])
    return book.select(book.walk(wanted, base(book, order)))
