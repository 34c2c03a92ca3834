"""Which rows need which: the edges that `Needs` rules make, and what follows from them."""

from collections.abc import Iterator, Mapping, Sequence

from .metadata import names
from .pool import Pool
from .rules import Needs

__all__ = ["children", "closed", "edges"]


def edges(pool: Pool) -> Iterator[tuple[Needs, int, str]]:
    """Each id that a row names, with the rule that reads it: (rule, row, id), rule by rule."""
    for rule in pool.rules:
        if isinstance(rule, Needs):
            for row, value in enumerate(pool.column(rule.key)):
                if value is not None:
                    for name in names(value):
                        yield rule, row, name


def children(pool: Pool) -> Mapping[int, Sequence[int]]:
    """For each row of the table that others of the pool need directly, these.  O(n)."""
    found: dict[int, list[int]] = {}
    listed = list(edges(pool))
    rows = pool.table_rows.tolist()
    row_of = dict(zip(pool.ids, rows, strict=True)) if listed else {}
    for _, row, name in listed:
        parent = row_of.get(name)
        if parent is not None and parent != rows[row]:
            found.setdefault(parent, []).append(rows[row])
    return found


def closed(row: int, children: Mapping[int, Sequence[int]]) -> list[int]:
    """The row, and all that needs it, directly or not.

    >>> closed(1, {1: [2, 3], 2: [4], 4: [1]})
    [1, 2, 3, 4]
    """
    found = {row: None}
    waiting = [row]
    while waiting:
        for child in children.get(waiting.pop(0), ()):
            if child not in found:
                found[child] = None
                waiting.append(child)
    return list(found)
