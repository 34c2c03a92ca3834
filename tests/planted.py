"""Stages for tests: those that do whatever a function does, to plant a fault in one of each role."""

from collections.abc import Callable

import attrs

from packer import Constraint, Filter, Layout, Order, Pool, Scoring, Selection, Selector
from packer.parameters import function

__all__ = ["Arranges", "Binds", "Longest", "Narrows", "Obeys", "Rescores", "Selects"]


@attrs.frozen(repr=False)
class Narrows(Filter):
    """Any function in the place of a filter."""

    does: Callable[[Pool], Pool] = function()

    def __call__(self, pool: Pool, /) -> Pool:
        return self.does(pool)


@attrs.frozen(repr=False)
class Rescores(Scoring):
    """Any function in the place of a scoring stage."""

    does: Callable[[Pool], Pool] = function()

    def __call__(self, pool: Pool, /) -> Pool:
        return self.does(pool)


@attrs.frozen(repr=False)
class Binds(Constraint):
    """Any function in the place of a constraint."""

    does: Callable[[Pool], Pool] = function()

    def __call__(self, pool: Pool, /) -> Pool:
        return self.does(pool)


@attrs.frozen(repr=False)
class Selects(Selector):
    """Any function in the place of a selector."""

    does: Callable[[Pool], Selection] = function()

    def __call__(self, pool: Pool, /) -> Selection:
        return self.does(pool)


@attrs.frozen(repr=False)
class Obeys(Selects):
    """The same, which says that it chooses under the rules of the pool."""

    obeys_rules = True


@attrs.frozen(repr=False)
class Arranges(Order):
    """Any function in the place of an order."""

    does: Callable[[Selection], Layout] = function()

    def __call__(self, selection: Selection, /) -> Layout:
        return self.does(selection)


@attrs.frozen(repr=False)
class Longest(Filter):
    """Fields without a domain: their types say what they may be."""

    name = "longest"
    characters: int
    share: float = 0.5
    strict: bool = attrs.field(default=False, kw_only=True)
    key: str = attrs.field(default="source", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        return pool.keep([len(t) <= self.characters for t in pool.texts], reason="metadata")
