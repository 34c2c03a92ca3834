"""Counters of every kind: additive, dearer or cheaper at joins, by byte, and without any sense."""

import zlib
from collections.abc import Callable
from typing import Final

__all__ = ["ADDITIVE", "COUNTERS"]


def characters(text: str) -> int:
    return len(text)


def utf8_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def quarters(text: str) -> int:
    return -(-len(text) // 4)


def words(text: str) -> int:
    return len(text.split())


def dear_joins(text: str) -> int:
    """A letter is one token, a line break is five, and so is each further chunk's mark."""
    return len(text) + 4 * text.count("\n") + 5 * max(text.count("[") - 1, 0)


def merging(text: str) -> int:
    """What repeats is nearly free."""
    return len(zlib.compress(text.encode("utf-8", "surrogatepass")))


def squared(text: str) -> int:
    return len(text) ** 2 // 40


def senseless(text: str) -> int:
    """As good as random, and so neither monotone nor additive; the empty text costs too."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % 90


def nothing(text: str) -> int:
    del text
    return 0


ADDITIVE: Final[tuple[Callable[[str], int], ...]] = (characters, utf8_bytes)
COUNTERS: Final = (*ADDITIVE, quarters, words, dear_joins, merging, squared, senseless, nothing)
