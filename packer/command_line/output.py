"""The two streams: exact bytes for programs, safe text for eyes."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Final, TextIO

import attrs
from rich.console import Console, RenderableType

from packer.controls import UNSAFE, visible
from packer.plan import PackedPlan
from packer.records import Deferred, Exclusion, Packed, PackedChunk

__all__ = ["Format", "console", "context", "display", "emit", "only", "visible"]


class Format(StrEnum):
    """What `packer pack` writes to standard output."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    TABLE = "table"


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def console(stream: TextIO, *, plain: bool) -> Console:
    """A console that takes nothing in a text for markup; no escape codes at all when `plain`."""
    without = plain or bool(os.environ.get("NO_COLOR"))
    return Console(
        file=stream,
        color_system=None if without else "auto",
        force_terminal=False if without else None,  # a bar is of escape codes, too
        markup=False,
        emoji=False,
        highlight=False,
    )


def display(console: Console, part: RenderableType, *, whole: bool = False) -> None:
    """Print; off a terminal without the blanks with which tables fill their lines.

    `whole`: and there each text on one line, as wide as it is, for what reads it line by line.
    """
    if console.is_terminal:
        console.print(part)
        return
    with console.capture() as captured:
        console.print(part, soft_wrap=whole)
    lines = captured.get().splitlines()
    console.file.write("".join(line.rstrip() + "\n" for line in lines))


def context(packed: Packed | PackedPlan, form: Format) -> str:
    """What was packed, in a form for programs."""
    if isinstance(packed, PackedPlan):
        return _plan_context(packed, form)
    if form is Format.JSON:
        return _escaped(packed.to_json()) + "\n"
    if form is Format.JSONL:
        return _json_lines(_rows(packed))
    return _shown(packed.text()) + "\n" if len(packed) else ""


def _plan_context(packed: PackedPlan, form: Format) -> str:
    if form is Format.JSON:
        return _escaped(packed.to_json()) + "\n"
    if form is Format.JSONL:
        parts = packed.sections.items()
        return _json_lines(
            [{"section": name, **row} for name, part in parts for row in _rows(part)]
        )
    return _shown(packed.text()) + "\n" if packed.report.selected_count else ""


def _rows(packed: Packed) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = only(packed, chunks=packed.chunks).to_dict()["chunks"]
    return rows


def _json_lines(rows: Iterable[object]) -> str:
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return "".join(_escaped(line) + "\n" for line in lines)


def only(
    packed: Packed,
    *,
    chunks: tuple[PackedChunk, ...] = (),
    excluded: tuple[Exclusion, ...] = (),
) -> Packed:
    """The same outcome with these records alone, without the figures that are costly to make.

    So that one chunk can be asked `why` without a search among all.
    """
    report = attrs.evolve(
        packed.report,
        excluded=Deferred(lambda: excluded),
        diversity=Deferred(lambda: None),
        position_quality=Deferred(lambda: None),
    )
    return Packed(Deferred(lambda: chunks), report)


def _shown(text: str) -> str:
    """A context as it is, but for lone surrogates; on a terminal with its controls visible."""
    if sys.stdout.isatty():
        return visible(text, keep="\n\t")
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def _escaped(text: str) -> str:
    """The same JSON with what is unsafe to print as escapes; off a terminal surrogates only."""
    pattern = UNSAFE if sys.stdout.isatty() else _SURROGATE
    return pattern.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def emit(text: str) -> None:
    """Write to standard output as UTF-8, line ends as they are, and let it go at once."""
    sys.stdout.flush()
    for part in _parts(text):
        sys.stdout.buffer.write(part.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def _parts(text: str, size: int = 1 << 20) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))
