"""One JSON text that comes in blocks, taken apart value by value."""

import codecs
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias, final

from .faults import InputFault

__all__ = ["EXPECTED", "Fault", "JsonText", "not_utf8", "reason"]

Fault: TypeAlias = Callable[[int, str], InputFault]
"""Makes the error for a line and what is wrong there."""

EXPECTED: Final = 'give a JSON array of chunks, {"chunks": [...]}, or one chunk a line (JSON Lines)'

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_WIDEST_TOKEN: Final = len("-Infinity")


@final
class JsonText:
    """A JSON text that comes in blocks, taken apart value by value.

    `_buffer` holds what was not taken yet, from `_at` on.  A value that ends beyond the buffer
    is tried again with twice the text, so that the work stays linear in the size.
    """

    def __init__(self, fault: Fault, blocks: Iterable[bytes]) -> None:
        self._refuse = fault
        self._texts = self._decoded(blocks)
        self._decode = json.JSONDecoder().raw_decode
        self._buffer = ""
        self._at = 0
        self._ended = False
        self._line = 1
        self._counted = 0  # up to here in the buffer, line breaks are in `_line`
        self._before = 0  # characters of the buffer's first line that were dropped

    def array(self) -> Iterator[tuple[int, Any]]:
        """The values of the array that the text is."""
        yield from self._elements()
        if self._peek():
            raise self._fault("there is text after the end of the array")

    def chunks_of_object(self) -> Iterator[tuple[int, Any]]:
        """The values of the array under "chunks" in the object that the text is."""
        keys: list[str] = []
        self._take("{")
        while self._peek() != "}" or keys:
            key = self._value() if self._peek() == '"' else None
            if key is None:
                raise self._fault("expecting a key in double quotes")
            self._take(":")
            if key != "chunks":
                self._value()
            elif "chunks" in keys:
                raise self._fault('the key "chunks" stands here a second time')
            elif self._peek() != "[":
                raise self._fault('"chunks" is no array of chunks')
            else:
                yield from self._elements()
            keys.append(key)
            if self._peek() != ",":
                break
            self._take(",")
        self._take("}")
        if "chunks" not in keys:
            told = ", ".join(map(json.dumps, keys[:8])) or "no keys"
            raise self._fault(f'this object has no "chunks" but {told}; {EXPECTED}')
        if self._peek():
            raise self._fault("there is text after the end of the object")

    def _elements(self) -> Iterator[tuple[int, Any]]:
        self._take("[")
        if self._peek() == "]":
            self._take("]")
            return
        while True:
            self._peek()
            line = self._here()
            yield line, self._value()
            if self._peek() != ",":
                break
            self._take(",")
        self._take("]")

    def _peek(self) -> str:
        """The next character that is not blank, "" at the end."""
        while True:
            self._at = _BLANK.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if self._ended:
                return ""
            self._fill()

    def _take(self, wanted: str) -> None:
        if self._peek() != wanted:
            raise self._fault(f"expecting {wanted!r}" + ("" if self._peek() else ", at the end"))
        self._at += 1

    def _value(self) -> Any:
        self._peek()
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                cut_off = error.pos + _WIDEST_TOKEN > len(self._buffer) or error.msg.startswith(
                    "Unterminated string"
                )
                if self._ended or not cut_off:
                    self._at = error.pos
                    raise self._fault(reason(error)) from None
            except (ValueError, RecursionError) as error:
                raise self._fault(reason(error)) from None
            else:
                if end < len(self._buffer) or self._ended:
                    self._at = end
                    return value
            self._fill()

    def _fill(self) -> None:
        """Drop what was taken and append at least as much as is left."""
        self._here()
        newline = self._buffer.rfind("\n", 0, self._at)
        self._before = self._at - newline - 1 if newline >= 0 else self._before + self._at
        parts = [self._buffer[self._at :]]
        wanted = max(len(parts[0]), 1)
        self._at = self._counted = 0
        while wanted > 0:
            text = next(self._texts, None)
            if text is None:
                self._ended = True
                break
            parts.append(text)
            wanted -= len(text)
        self._buffer = "".join(parts)

    def _here(self) -> int:
        """The line that is reached."""
        self._line += self._buffer.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _fault(self, message: str) -> InputFault:
        line = self._line + self._buffer.count("\n", self._counted, self._at)
        newline = self._buffer.rfind("\n", 0, self._at)
        column = self._at - newline if newline >= 0 else self._before + self._at + 1
        return self._refuse(line, f", column {column}: {message}")

    def _decoded(self, blocks: Iterable[bytes]) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        lines = 1
        for block in itertools.chain(blocks, [b""]):
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                line = lines + error.object.count(b"\n", 0, error.start)
                raise not_utf8(self._refuse, line, error) from None
            lines += block.count(b"\n")
            if text:
                yield text


def reason(error: Exception) -> str:
    """Why a text could not be decoded."""
    if isinstance(error, json.JSONDecodeError):
        return f"this is no JSON: {error.msg}"
    if isinstance(error, RecursionError):
        return "this is nested too deeply"
    return f"this is no JSON that can be read: {str(error).partition(';')[0]}"


def not_utf8(fault: Fault, line: int, error: UnicodeDecodeError) -> InputFault:
    """The fault of a line that is not UTF-8."""
    words = (
        f": this is not UTF-8 (byte 0x{error.object[error.start]:02x}); "
        "convert it, say with: iconv -f LATIN1 -t UTF-8"
    )
    return fault(line, words)
