"""One ranking out of several: reciprocal rank fusion."""

from collections.abc import Iterable
from typing import Any

import attrs

from packer.errors import InvalidChunk, shown
from packer.intake import ChunkLike
from packer.numbers import is_finite
from packer.parameters import refusal
from packer.records import Chunk

__all__ = ["fuse"]


def fuse(*lists: Iterable[ChunkLike], k: float = 60) -> list[Chunk]:
    """Fuse rankings, each the best first, into one list of chunks with fused scores.

    The score is the sum of 1 / (k + rank) over the lists that have the chunk, ranks from 1; a
    list without it adds nothing, a repeat inside one list counts once, at its first rank.  Chunks
    are the same when their ids are, or their contents where they have no id; the record first
    seen stays.  Sorted by score; equal scores in the order first seen.  O(total length).

    Source: Cormack, Clarke, Buettcher, "Reciprocal rank fusion outperforms Condorcet and
    individual rank learning methods", SIGIR 2009.

    Raises INVALID_PARAMETER for a k that is negative or not finite, INVALID_CHUNK for an item
    that is no chunk.

    >>> x, a, y = (Chunk(name, 1.0, id=name) for name in "xay")
    >>> [chunk.id for chunk in fuse([x, a, y], [Chunk("b", 1.0, id="b"), y])]
    ['y', 'x', 'b', 'a']
    """
    if not is_finite(k) or k < 0:
        raise refusal("fuse", "k", k, "a finite number of 0 or more")
    seen: dict[tuple[str, str], Chunk] = {}
    scores: dict[tuple[str, str], float] = {}
    for place, ranking in enumerate(lists):
        if isinstance(ranking, str) or not isinstance(ranking, Iterable):
            raise _refusal(ranking, place)
        here: set[tuple[str, str]] = set()
        for item in ranking:
            chunk = _chunk(item, place)
            name = ("content", chunk.content) if chunk.id is None else ("id", chunk.id)
            if not isinstance(name[1], str):
                raise _refusal(item, place)
            if name in here:
                continue
            here.add(name)
            seen.setdefault(name, chunk)
            scores[name] = scores.get(name, 0.0) + 1.0 / (float(k) + len(here))
    best = sorted(seen, key=lambda name: -scores[name])
    return [attrs.evolve(seen[name], score=scores[name]) for name in best]


def _chunk(item: Any, place: int) -> Chunk:
    if isinstance(item, Chunk):
        return item
    try:
        return Chunk(**{"score": 0.0, **item})
    except TypeError:
        raise _refusal(item, place) from None


def _refusal(item: object, place: int) -> InvalidChunk:
    message = (
        f"list {place} of fuse has {shown(item)}; give Chunks, or mappings with the same keys, "
        "whose ids and contents are text"
    )
    return InvalidChunk(message, details={"list": place, "value": item})
