"""Which rows need which: the edges that `Needs` rules make, and what follows from them."""

from collections.abc import Mapping, Sequence
from typing import final

import attrs
import numpy as np

from .arrays import Ints, sealed
from .metadata import names
from .pool import Pool
from .rules import Needs

__all__ = ["Edges", "children", "closed", "edges_of"]


@final
@attrs.frozen(eq=False)
class Edges:
    """What the rows of a pool name under a key: `child` int64[e] needs `parent` int64[e].

    `wanted` has the id of each parent, which is -1 where no row has it.  In row order; what names
    itself needs nothing.
    """

    child: Ints
    parent: Ints
    wanted: Sequence[str]

    def taken(self, rows: Ints) -> "Edges":
        """The edges of some rows."""
        place = np.full(1 + max(int(column.max(initial=-1)) for column in (rows, *self.ends)), -1)
        place = np.append(place, -1)  # where -1 points
        place[rows] = np.arange(len(rows))
        kept = np.flatnonzero(place[self.child] >= 0)
        wanted = [self.wanted[edge] for edge in kept.tolist()]
        child, parent = place[self.child[kept]], place[self.parent[kept]]
        return Edges(sealed(child), sealed(parent), wanted)

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The two columns."""
        return self.child, self.parent


def edges_of(pool: Pool, key: str) -> Edges:
    """What each row names under a key, read once in a call.  O(n)."""
    return pool.derive(f"edges {key}", lambda made: _edges(made, key), Edges.taken)


def _edges(pool: Pool, key: str) -> Edges:
    child: list[int] = []
    parent: list[int] = []
    wanted: list[str] = []
    row_of: dict[str, int] | None = None
    for row, value in enumerate(pool.column(key)):
        if value is None:
            continue
        for name in (value,) if type(value) is str and value else names(value):
            if row_of is None:
                row_of = dict(zip(pool.ids, range(len(pool)), strict=True))
            found = row_of.get(name, -1)
            if found != row:
                child.append(row)
                parent.append(found)
                wanted.append(name)
    return Edges(sealed(np.array(child, np.int64)), sealed(np.array(parent, np.int64)), wanted)


def children(pool: Pool) -> Mapping[int, Sequence[int]]:
    """For each row of the table that others of the pool need directly, these.  O(n)."""
    found: dict[int, list[int]] = {}
    rows = pool.table_rows.tolist()
    for rule in pool.rules:
        if isinstance(rule, Needs):
            edges = edges_of(pool, rule.key)
            for child, parent in zip(edges.child.tolist(), edges.parent.tolist(), strict=True):
                if parent >= 0:
                    found.setdefault(rows[parent], []).append(rows[child])
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
