"""The window as a bar: its chunks in output order, width by tokens, colour by score."""

from collections.abc import Sequence
from typing import Final, final

import attrs

from packer.records import PackedChunk, Report

from .cast import Cast
from .counted import number
from .markup import Html, element, joined, prose
from .scale import Scale

__all__ = ["Part", "bar", "hatching", "parts", "window", "window_parts"]

ROOM_FOR_NUMBER: Final = 2.5
ROOM_FOR_WORDS: Final = 5.5
ROOM_FOR_ID: Final = 9.0
"""Percent of the bar from which a part has its number, words, or its id written in it."""


@final
@attrs.frozen
class Part:
    """A piece of the bar: a chunk (`row`), or what else is spent, or what is left."""

    kind: str
    tokens: int
    """What it was charged."""
    row: int | None = None
    position: int | None = None
    id: str = ""
    score: float = 0.0


def window_parts(inside: Sequence[PackedChunk], report: Report) -> list[Part]:
    """The pieces of a result's window; together the budget, unless joins merge tokens."""
    chunks = [
        Part("chunk", one.charged, row, one.position, one.id, one.score)
        for row, one in enumerate(inside)
    ]
    around = report.tokens_used - sum(part.tokens for part in chunks)
    return [
        *chunks,
        *([Part("around", around)] if around > 0 else []),
        *([Part("rest", report.tokens_remaining)] if report.tokens_remaining > 0 else []),
    ]


def parts(cast: Cast) -> list[Part]:
    """The pieces of the window of a result that is shown."""
    return window_parts(cast.packed.chunks, cast.report)


def bar(scale: Scale, pieces: Sequence[Part], name: str) -> Html:
    """The bar as SVG.  Positions are percents, so that text keeps its size at any width."""
    whole = sum(part.tokens for part in pieces) or 1
    drawn, at = [], 0
    for part in pieces:
        drawn.append(_piece(scale, part, 100 * at / whole, 100 * part.tokens / whole))
        at += part.tokens
    return element(
        "svg",
        element("g", joined(*drawn), class_="pieces"),
        class_="bar",
        width="100%",
        height="64",
        role="img",
        aria_label=name,
    )


def hatching() -> Html:
    """The pattern that bars are filled with where they are no chunk; once on a page."""
    lines = element("path", d="M0 8L8 0", class_="hatch")
    pattern = element(
        "pattern", lines, id="hatching", width=8, height=8, patternUnits="userSpaceOnUse"
    )
    return element("svg", element("defs", pattern), class_="defs", aria_hidden="true")


def _piece(scale: Scale, part: Part, x: float, width: float) -> Html:
    inner = [element("rect", width="100%", height="100%"), element("title", _told(part))]
    if part.kind == "chunk":
        if width >= ROOM_FOR_NUMBER:
            inner.append(element("text", str(part.position), x=8, y=26, class_="number"))
        if width >= ROOM_FOR_ID:
            inner.append(element("text", prose(part.id), x=8, y=47))
    elif width >= ROOM_FOR_WORDS:
        words = f"{part.tokens:,} left" if part.kind == "rest" else f"{part.tokens:,} around"
        inner.append(element("text", words, x=8, y=37))
    kind = f"chunk {scale.css(part.score)}" if part.kind == "chunk" else part.kind
    return element(
        "svg",
        *inner,
        x=f"{x:.4f}%",
        width=f"{width:.4f}%",
        height="100%",
        class_=f"piece {kind}",
        data_row=part.row,
    )


def _told(part: Part) -> str:
    if part.kind == "chunk":
        return f"{part.position}. {part.id}: {part.tokens:,} tokens, score {part.score:.4g}"
    if part.kind == "around":
        return f"overhead, separators, header and footer: {part.tokens:,} tokens"
    return f"unused: {part.tokens:,} tokens"


def window(cast: Cast) -> Html:
    """The bar with what it says in words."""
    report = cast.report
    name = (
        f"The window: {number(report.selected_count, 'chunk')}, {report.tokens_used:,} of "
        f"{report.budget:,} tokens used, {report.tokens_remaining:,} left"
    )
    return joined(hatching(), bar(cast.scale, parts(cast), name), cast.scale.legend())
