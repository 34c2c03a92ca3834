"""In which order the chosen chunks are shown."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import attrs
import numpy as np

from packer.algebra import Order
from packer.errors import InvalidParameter
from packer.parameters import flag, function, ids, key
from packer.records import Chunk
from packer.selection import Layout, Selection

from ._dates import instants_of

__all__ = [
    "by_score",
    "chronological",
    "document",
    "natural",
    "reverse",
    "sorted_by",
    "stable",
    "ushape",
]


@final
@attrs.frozen(repr=False)
class Natural(Order):
    name = "natural"
    is_constant = True

    def __call__(self, selection: Selection, /) -> Layout:
        return selection.in_order()


natural: Final[Order] = Natural()
"""The order in which the selector chose; what a policy without an order does.  O(k)."""


@final
@attrs.frozen(repr=False)
class ByScore(Order):
    name = "by_score"
    is_constant = True

    def __call__(self, selection: Selection, /) -> Layout:
        return selection.arrange(selection.best_first())


by_score: Final[Order] = ByScore()
"""The best first; equal scores in input order.  O(k log k)."""


@final
@attrs.frozen(repr=False)
class Ushape(Order):
    name = "ushape"
    is_constant = True

    def __call__(self, selection: Selection, /) -> Layout:
        ranked = selection.best_first()
        return selection.arrange(np.concatenate([ranked[0::2], ranked[1::2][::-1]]))


ushape: Final[Order] = Ushape()
"""The best at the edges: ranks 0, 2, 4 ... from the front, 1, 3, 5 ... from the back, by score.

O(k log k).  Models read the middle of a long context least (Liu et al., "Lost in the middle",
TACL 2024).
"""


@final
@attrs.frozen(repr=False)
class Reverse(Order):
    name = "reverse"
    is_constant = True

    def __call__(self, selection: Selection, /) -> Layout:
        return selection.arrange(np.arange(len(selection))[::-1])


reverse: Final[Order] = Reverse()
"""The selection order backwards, so that the best stands last, beside the question.  O(k)."""


@final
@attrs.frozen(repr=False)
class Chronological(Order):
    name = "chronological"
    newest_first: bool = flag(default=False, kw_only=True)
    at: str = key(default="timestamp", kw_only=True)

    def __call__(self, selection: Selection, /) -> Layout:
        dates = instants_of(selection.column(self.at), selection.ids, self.at)
        undated = np.isnan(dates)
        if undated.any():
            words = f"{int(undated.sum())} packed chunks have no {self.at} and stand last"
            selection = selection.warn("undated", words, np.flatnonzero(undated).tolist())
        time = -dates if self.newest_first else dates  # NaN sorts behind all numbers
        return selection.arrange(np.lexsort((selection.chosen, -selection.scores, time)))


def chronological(*, newest_first: bool = False, at: str = "timestamp") -> Order:
    """By date, the oldest first; undated chunks last, by score, with the warning `undated`.

    Equal dates: the higher score first, then input order.  Dates as in `fresh`.  O(k log k).

    Raises INVALID_TIMESTAMP, with the ids, for a date that cannot be read.

    >>> chronological(newest_first=True)
    chronological(newest_first=True)
    """
    return Chronological(newest_first=newest_first, at=at)


@final
@attrs.frozen(repr=False)
class Document(Order):
    name = "document"
    is_constant = True

    def __call__(self, selection: Selection, /) -> Layout:
        keys = [
            (_text_key(source), _number_key(position))
            for source, position in zip(
                selection.column("source"), selection.column("position"), strict=True
            )
        ]
        ranked = selection.best_first().tolist()  # what the keys leave equal stays by score
        return selection.arrange(sorted(ranked, key=lambda place: keys[place]))


def _text_key(value: object) -> tuple[bool, str]:
    return (value is None, "" if value is None else str(value))


def _number_key(value: object) -> tuple[bool, int | float]:
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    if isinstance(value, int | float) and not (isinstance(value, float) and math.isnan(value)):
        return (False, value)  # ints of any size compare exactly with floats
    return (True, 0)


document: Final[Order] = Document()
"""As in the sources: by `source` (as text), then by `position` in it.

A chunk without a source stands last, one without a position after those of its source that have
one; what is equal goes by score.  O(k log k).
"""


@final
@attrs.frozen(repr=False)
class SortedBy(Order):
    name = "sorted_by"
    key: Callable[[Chunk], Any] = function("key")

    def __call__(self, selection: Selection, /) -> Layout:
        pool = selection.pool
        keys = [self.key(pool.chunk(row)) for row in selection.chosen.tolist()]
        try:
            return selection.arrange(sorted(range(len(keys)), key=keys.__getitem__))
        except TypeError as error:
            message = f"{pool.stage}: its keys do not compare: {error}"
            raise InvalidParameter(message, details={"stage": pool.stage}) from error


def sorted_by(key: Callable[[Chunk], Any]) -> Order:
    """By a Python function of a chunk, the least first; equal keys in selection order.

    O(k log k).  Its text cannot be parsed back.

    Raises INVALID_PARAMETER when the keys do not compare with each other.
    """
    return SortedBy(key)


@final
@attrs.frozen(repr=False)
class Stable(Order):
    name = "stable"
    previous_ids: tuple[str, ...] = ids()

    def __call__(self, selection: Selection, /) -> Layout:
        before = {id_: place for place, id_ in reversed(list(enumerate(self.previous_ids)))}
        ranks = [before.get(id_, len(self.previous_ids)) for id_ in selection.ids]
        return selection.arrange(np.argsort(np.array(ranks, np.int64), kind="stable"))


def stable(previous_ids: Sequence[str]) -> Order:
    """What the previous prompt had stays where it was; what is new follows, in selection order.

    `previous_ids`: the ids of the previous prompt in its order.  The prompt then begins with the
    same bytes up to the first chunk that is out by now, which is what prompt caches reuse.  O(k).

    >>> stable(["a", "b"])
    stable(["a", "b"])
    """
    return Stable(previous_ids)  # type: ignore[arg-type]  # the field makes a tuple
