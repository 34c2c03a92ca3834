"""The walk of `dedup`, for any n, as relations that z3 knows nothing else about.

Rows 0, 1, ... are in the order in which `dedup` looks at them.  `similar(i, j)` may be any relation.
A row is kept when it is among the candidates and no earlier row that is kept is similar to it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import z3

from .either import all_of, negated

__all__ = ["blocks", "earlier", "kept", "similar", "stays", "step_holds"]

similar = z3.Function("similar", z3.IntSort(), z3.IntSort(), z3.BoolSort())
_j = z3.Int("j")


def earlier(row: Any, holds: Callable[[Any], Any]) -> Any:
    """Whether an earlier row than `row` has the property."""
    return z3.Exists([_j], z3.And(_j >= 0, _j < row, holds(_j)))


def blocks(kept: Any, alike: Any) -> Any:
    """Whether an earlier row blocks a later one, which is similar to it or not."""
    return all_of(kept, alike)


def stays(candidate: Any, blocked: Any) -> Any:
    """Whether a row is kept, which an earlier one blocks or none does."""
    return all_of(candidate, negated(blocked))


def step_holds(keep: Any, row: Any, candidate: Any) -> Any:
    """That `keep` is at this row what the walk makes of the earlier rows."""
    blocked = earlier(row, lambda other: blocks(keep(other), similar(row, other)))
    return keep(row) == stays(candidate, blocked)


def kept(candidates: Sequence[bool], alike: Callable[[int, int], bool]) -> list[bool]:
    """The walk on numbers: which rows are kept."""
    found: list[bool] = []
    for row, candidate in enumerate(candidates):
        blocked = any(blocks(found[other], alike(row, other)) for other in range(row))
        found.append(stays(candidate, blocked))
    return found
