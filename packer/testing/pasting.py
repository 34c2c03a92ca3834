"""Values as the Python that makes them, so that a counterexample can be pasted."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from packer.records import Chunk

__all__ = ["chunk_source", "chunks_source", "source"]


def source(value: object) -> str:
    """A Python expression that makes an equal value.

    For the plain values that metadata holds: None, bools, numbers, text, bytes, dates, and lists,
    tuples, sets and mappings of them.  Of anything else it is the `repr`.

    >>> source({"year": float("nan"), "tags": ("a",)})
    "{'year': float('nan'), 'tags': ('a',)}"
    """
    if isinstance(value, np.ndarray | np.generic):
        return source(value.tolist())
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if isinstance(value, Mapping):
        items = ", ".join(f"{source(key)}: {source(item)}" for key, item in value.items())
        return f"{{{items}}}"
    if isinstance(value, list):
        return f"[{_joined(value)}]"
    if isinstance(value, tuple):
        return f"({_joined(value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, set | frozenset):
        inner = f"[{_joined(sorted(value, key=repr))}]"
        return f"{type(value).__name__}({inner})"
    if isinstance(value, str):
        return ascii(value) if not value.isprintable() or not _encodes(value) else repr(value)
    return repr(value)


def _joined(values: Iterable[object]) -> str:
    return ", ".join(map(source, values))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def chunk_source(chunk: Chunk) -> str:
    """The call that makes the chunk, without what is at its default.

    >>> chunk_source(Chunk("We ship.", 0.5, id="c0", tokens=2))
    "Chunk('We ship.', 0.5, id='c0', tokens=2)"
    """
    arguments = [source(chunk.content), source(chunk.score)]
    for name in ("id", "tokens", "embedding"):
        value = getattr(chunk, name)
        if value is not None:
            arguments.append(f"{name}={source(value)}")
    if chunk.metadata:
        arguments.append(f"metadata={source(chunk.metadata)}")
    return f"Chunk({', '.join(arguments)})"


def chunks_source(chunks: Sequence[Chunk]) -> str:
    """The assignment that makes the list, a chunk a line.

    >>> print(chunks_source([Chunk("We ship.", 0.5)]))
    chunks = [
        Chunk('We ship.', 0.5),
    ]
    """
    if not chunks:
        return "chunks = []"
    lines = "".join(f"    {chunk_source(chunk)},\n" for chunk in chunks)
    return f"chunks = [\n{lines}]"
