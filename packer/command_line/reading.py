"""From a file or standard input to chunks: a JSON array, `{"chunks": [...]}`, or JSON Lines.

The input is read in blocks and taken apart chunk by chunk; each becomes a record at once, so
that an embedding costs four bytes a number and not thirty.  What is wrong with a chunk is left
for `pack` to say; `Input.lines` has the line on which each began.
"""

import codecs
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final, Protocol, final

import attrs

from packer.intake import ChunkLike
from packer.records import Chunk

from .faults import InputFault
from .json_text import EXPECTED, JsonText, not_utf8, reason

__all__ = ["Input", "read"]

BLOCK: Final = 1 << 20
"""Bytes read at a time."""

_KEYS: Final = frozenset(field.name for field in attrs.fields(Chunk))
_CHUNKS_FIRST: Final = re.compile(rb'\s*\{\s*"chunks"\s*:')


class Blocks(Protocol):
    """A binary file, or standard input."""

    def read1(self, size: int, /) -> bytes:
        """At most so many bytes, none at the end."""
        ...


Seen = Callable[[int, int], None]
"""Told now and then how many bytes and how many chunks were read so far."""


@final
@attrs.frozen
class Input:
    """The chunks of a file, and on which line each began."""

    name: str
    chunks: list[ChunkLike]
    lines: list[int]


def read(path: str, seen: Seen = lambda _bytes, _chunks: None) -> Input:
    """The chunks of the file, or of standard input for `-`.  O(size), one block at a time.

    Raises InputFault for what cannot be read, is not UTF-8 or is no JSON, with the line.
    """
    found = Input("standard input" if path == "-" else path, [], [])
    try:
        with _opened(path) as stream:
            for line, value in _values(_Source(found, stream, seen)):
                found.lines.append(line)
                found.chunks.append(_record(value))
    except OSError as error:
        message = f"cannot read {found.name}: {error.strerror or error}"
        raise InputFault(message) from None
    return found


def _opened(path: str) -> AbstractContextManager[Blocks]:
    if path == "-":
        return nullcontext(sys.stdin.buffer)  # type: ignore[arg-type]  # a BufferedReader
    return Path(path).open("rb")


def _record(value: Any) -> Any:
    """The chunk that a JSON object is; what is none stays as it is, for `pack` to name."""
    if type(value) is dict and value.keys() <= _KEYS and {"content", "score"} <= value.keys():
        return Chunk(**value)
    return value


@final
class _Source:
    """The bytes of an input in blocks."""

    def __init__(self, found: Input, stream: Blocks, seen: Seen) -> None:
        self.name = found.name
        self._found = found
        self._stream = stream
        self._seen = seen
        self._size = 0

    def blocks(self) -> Iterator[bytes]:
        """What is left, a block at a time."""
        while block := self._stream.read1(BLOCK):  # one system call, so that Ctrl-C is heard
            self._size += len(block)
            self._seen(self._size, len(self._found.chunks))
            yield block

    def fault(self, line: int, message: str) -> InputFault:
        return InputFault(f"{self.name}, line {line}{message}")


def _values(source: _Source) -> Iterator[tuple[int, Any]]:
    """Each value of the input and its line, whichever of the three forms it has."""
    blocks = source.blocks()
    head = b""
    for block in blocks:
        head += block
        if len(head) >= len(codecs.BOM_UTF8) and head.removeprefix(codecs.BOM_UTF8).strip():
            break
    head = head.removeprefix(codecs.BOM_UTF8)
    start = head.lstrip()[:1]
    if start == b"{" and b"\n" not in head.lstrip() and not _CHUNKS_FIRST.match(head):
        head += b"".join(_through_newline(blocks))  # a first line that is longer than a block
    if start == b"{" and not _has_chunks(head):
        start = b""
    whole = itertools.chain([head], blocks)
    if start == b"[":
        return JsonText(source.fault, whole).array()
    if start == b"{":
        return JsonText(source.fault, whole).chunks_of_object()
    return _json_lines(source, whole)


def _through_newline(blocks: Iterator[bytes]) -> Iterator[bytes]:
    for block in blocks:
        yield block
        if b"\n" in block:
            return


def _has_chunks(head: bytes) -> bool:
    """Whether an object is `{"chunks": [...]}` and not the first chunk of JSON Lines.

    A first line that ends within the object is taken for the former.
    """
    if _CHUNKS_FIRST.match(head):
        return True
    text = head.lstrip().partition(b"\n")[0].decode("utf-8", "replace").rstrip()
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except (ValueError, RecursionError):
        return False
    return "chunks" in value


# -- JSON Lines -----------------------------------------------------------------------------


def _json_lines(source: _Source, blocks: Iterable[bytes]) -> Iterator[tuple[int, Any]]:
    decode = json.JSONDecoder().decode
    for number, line in enumerate(_lines(blocks), 1):
        if not line or line.isspace():
            continue
        try:
            yield number, decode(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise not_utf8(source.fault, number, error) from None
        except json.JSONDecodeError as error:
            told = f", column {error.pos + 1}: {reason(error)}; {EXPECTED}"
            raise source.fault(number, told) from None
        except (ValueError, RecursionError) as error:
            raise source.fault(number, f": {reason(error)}") from None


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    pending: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        pending.append(first)
        for part in others:
            yield b"".join(pending)
            pending = [part]
    yield b"".join(pending)
