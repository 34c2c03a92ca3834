"""A selector out of a Python function."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, final

import attrs
import numpy as np

from packer.algebra import Selector
from packer.awaitables import is_awaitable
from packer.errors import InvalidStrategy, MissingCustomStrategy, shown
from packer.parameters import function
from packer.pool import Pool
from packer.records import Chunk, Reason
from packer.selection import Selection
from packer.tokens import CountTokens

__all__ = ["Choose", "Context", "custom"]


@final
@attrs.frozen
class Context:
    """What a function needs to know of the call."""

    budget: int
    overhead: int
    count_tokens: CountTokens


Choose: TypeAlias = Callable[[Sequence[Chunk], Context], Iterable[Chunk]]


@final
@attrs.frozen(repr=False)
class Custom(Selector):
    name = "custom"
    counts_overlap = True
    cuts_the_end = True
    fn: Choose = function("selector")

    def __call__(self, pool: Pool, /) -> Selection:
        chunks = tuple(pool.chunk(row) for row in range(len(pool)))
        call = pool.call
        chosen = self.fn(chunks, Context(call.budget, call.overhead, call.count_tokens))
        rows = _rows(pool, chunks, chosen)
        costs = pool.charged(rows)[rows]
        fit = int(np.searchsorted(np.cumsum(costs), pool.budget, side="right"))
        if fit == len(rows):
            return pool.select(rows)
        beyond = np.array(rows[fit:], np.int64)
        cut = pool.cut(Reason.BUDGET, beyond, "the function chose it, beyond the budget")
        return pool.select(rows[:fit], cuts=[cut])


def _rows(pool: Pool, chunks: Sequence[Chunk], chosen: Any) -> list[int]:
    """The rows of what the function returned."""
    if is_awaitable(chosen):
        message = f"{pool.stage} is async; give a plain function, and await before you pack"
        raise InvalidStrategy(message, details={"stage": pool.stage})
    unordered = isinstance(chosen, str | set | frozenset)
    if unordered or not isinstance(chosen, Iterable):
        message = (
            f"{pool.stage} returned {shown(chosen)}; it must return a list of some of its chunks"
        )
        raise InvalidStrategy(message, details={"stage": pool.stage})
    row_of = {chunk.id: row for row, chunk in enumerate(chunks)}
    rows: dict[int, None] = {}  # in order, each once
    for chunk in chosen:
        row = row_of.get(chunk.id) if isinstance(chunk, Chunk) else None
        if row is None or chunks[row] != chunk:
            message = f"{pool.stage} returned {shown(chunk)}, which it was not given"
            raise InvalidStrategy(message, details={"stage": pool.stage})
        if row in rows:
            message = f"{pool.stage} returned chunk {chunk.id!r} twice; a chunk can be in once"
            raise InvalidStrategy(message, details={"stage": pool.stage, "id": chunk.id})
        rows[row] = None
    return list(rows)


def custom(fn: Choose) -> Selector:
    """The selector that `fn(chunks, context)` is: it returns some of its chunks, in its order.

    The chunks have ids and token counts; `context` has `budget`, `overhead` and `count_tokens`.
    What it returns is checked: a chunk that it was not given, or one twice, is refused; what
    exceeds the budget is cut from the end and excluded as `budget`.

    Raises MISSING_CUSTOM_STRATEGY for None, INVALID_PARAMETER for what is no function,
    INVALID_STRATEGY for what it returns.

    >>> from packer import Chunk, pack
    >>> def longest(chunks, context):
    ...     return sorted(chunks, key=lambda chunk: -chunk.tokens)
    >>> chunks = [Chunk("short", 0.9), Chunk("a good deal longer", 0.5)]
    >>> [chunk.content for chunk in pack(chunks, custom(longest), budget=5)]
    ['a good deal longer']
    """
    if fn is None:
        message = "custom needs a function from (chunks, context) to some of the chunks"
        raise MissingCustomStrategy(message)
    return Custom(fn)
