"""The window as one line: its chunks in output order, width by tokens, colour by score.

What is not chunks (overhead, header and footer, the rest) is shaded.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final, final

import attrs
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from packer.page.scale import Scale
from packer.page.window import window_parts
from packer.records import PackedChunk, Report

__all__ = ["Bar", "window_bar"]

COLOURS: Final = ("#4a7486", "#41809a", "#378cae", "#2e98c2", "#4fb0d3", "#7fcbe4", "#b5e8f8")
"""Lowest to highest score, to be seen on black and on white."""

REST: Final = "\u2591"  # ░
LINE: Final = "\u2501"  # ━


@final
@attrs.frozen
class Bar:
    """Pieces of a length each, as wide as the console; a piece begins with its number."""

    pieces: Sequence[tuple[str, int, str]]
    """Words, tokens, colour (empty for what is no chunk)."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        width = min(options.max_width, 120)
        lengths = cells([tokens for _, tokens, _ in self.pieces], width)
        for (words, _, colour), length in zip(self.pieces, lengths, strict=True):
            style = Style(color=colour or "bright_black")
            filling = LINE if colour else REST
            told = words if len(words) < length else ""
            yield Segment(told, style + Style(bold=True) if told else style)
            yield Segment(filling * (length - len(told)), style)
        yield Segment.line()


def cells(lengths: Sequence[int], width: int) -> list[int]:
    """How many of `width` cells each length gets: its share, rounded so that all are used.

    >>> cells([78, 95, 27], 20)
    [8, 9, 3]
    """
    whole = sum(lengths)
    ends, at = [0], 0
    for length in lengths:
        at += length
        ends.append((at * width * 2 + whole) // (whole * 2) if whole else 0)
    return [after - before for before, after in itertools.pairwise(ends)]


def window_bar(chunks: Sequence[PackedChunk], report: Report) -> RenderableType:
    """The window of a result; nothing where there is none."""
    scale = Scale.of([chunk.score for chunk in chunks])
    pieces = [
        (str(part.position), part.tokens, COLOURS[scale.step(part.score)])
        if part.kind == "chunk"
        else ("", part.tokens, "")
        for part in window_parts(chunks, report)
    ]
    return Bar(pieces) if pieces else Text()
