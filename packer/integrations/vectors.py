"""Vectors that a caller's function gives for documents or nodes, awaited where the framework is async."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeAlias

from packer.awaitables import is_awaitable
from packer.errors import InvalidParameter

__all__ = ["Embed", "Vectors", "as_many", "awaited", "called"]

Vectors: TypeAlias = Sequence[Any]
Embed: TypeAlias = Callable[[Sequence[Any]], Vectors | Awaitable[Vectors]]
"""A function from documents (or nodes) to as many vectors."""


def called(embed: Embed, asked: Sequence[Any], what: str) -> Vectors:
    """What a plain function gives for these; `what` names them in an error.

    Raises INVALID_PARAMETER for an async function, or another number of vectors.

    >>> called(lambda texts: [[float(len(text))] for text in texts], ["a", "ab"], "texts")
    [[1.0], [2.0]]
    """
    found = embed(asked)
    if is_awaitable(found):
        message = "embeddings= is async, and this call is not; call the async form, or give a plain function"
        raise InvalidParameter(message, details={"parameter": "embeddings"})
    return as_many(found, asked, what)


async def awaited(embed: Embed, asked: Sequence[Any], what: str) -> Vectors:
    """The same from an async function, or from a plain one in a thread."""
    found = await asyncio.to_thread(embed, asked)
    return as_many(await found if isinstance(found, Awaitable) else found, asked, what)


def as_many(vectors: Any, asked: Sequence[Any], what: str) -> Vectors:
    """The vectors as a list, one for each.

    Raises INVALID_PARAMETER for another number of them.
    """
    found = list(vectors) if isinstance(vectors, Iterable) else [vectors]
    if len(found) != len(asked):
        message = (
            f"embeddings= gave {len(found)} vectors for {len(asked)} {what}; give one for each"
        )
        raise InvalidParameter(message, details={"parameter": "embeddings"})
    return found
