"""What the user did wrong, as a message: which rule, which value, where, and the mend."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.cells import cell_len

from packer.errors import PackError

from .output import visible

__all__ = ["InputFault", "for_the_command_line", "input_fault", "told"]

SHOWN: Final = 10
"""Invalid chunks that a message names."""

WIDTH: Final = 72
"""Cells of a policy's line that are shown around a fault."""


class InputFault(Exception):
    """Input that cannot be read as chunks; the message names the file and the line."""


def told(error: InputFault | PackError) -> str:
    """The message for the user, several lines where the place can be shown.

    >>> from strategies import parse
    >>> try:
    ...     parse("threshold(0.6) | mmr")
    ... except PackError as error:
    ...     print(told(error))
    line 1, column 18: mmr is called; write mmr()
      threshold(0.6) | mmr
                       ^
    """
    if isinstance(error, InputFault):
        return visible(str(error), keep="\n")
    message = for_the_command_line(error.message)
    lines = [visible(message, keep="\n"), *_place(error.details)]
    suggestion = error.details.get("suggestion")
    if isinstance(suggestion, str) and suggestion not in message and "text" in error.details:
        lines.append(f"  try: {visible(suggestion)}")
    return "\n".join(lines)


def input_fault(error: PackError, name: str, lines: Sequence[int]) -> InputFault | PackError:
    """The error of `pack` about bad chunks with the lines on which they stand; others as they are.

    `lines`: the line of each chunk of the input.
    """
    found: Any = error.details.get("chunks")
    if not found or not all(isinstance(item, Mapping) and "faults" in item for item in found):
        return error
    count = "1 chunk is invalid" if len(found) == 1 else f"{len(found):,} chunks are invalid"
    rows = [
        f"  line {lines[item['position']]}, {item['id']}: {', '.join(item['faults'])}"
        for item in found[:SHOWN]
    ]
    if len(found) > SHOWN:
        rows.append(f"  ... and {len(found) - SHOWN:,} more")
    rows = [visible(row) for row in rows]
    mend = "Mend them, or set such chunks aside with --on-invalid exclude"
    return InputFault("\n".join([f"{visible(name)}: {count}", *rows, mend]))


def for_the_command_line(message: str) -> str:
    """The message with options in place of Python's arguments."""
    message = message.replace('on_invalid="exclude"', "--on-invalid exclude")
    for column in ("candidates_column", "query_column", "budget_column"):
        message = message.replace(f"by {column}", f"by --{column.replace('_', '-')}")
    message = message.replace("words as query=...", "words as --query")
    return message.replace(", in tokens, or a Budget", ", in tokens")


def _place(details: Mapping[str, object]) -> Iterator[str]:
    """The line of a policy's text and a caret under the fault."""
    text, number, column = (details.get(key) for key in ("text", "line", "column"))
    if not isinstance(text, str) or not isinstance(number, int) or not isinstance(column, int):
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    line = lines[number - 1] if number <= len(lines) else ""
    before, rest = visible(line[: column - 1]), visible(line[column - 1 :])
    if cell_len(before) > WIDTH // 2:
        before = "..." + before[-(WIDTH // 2) :]
    if cell_len(before + rest) > WIDTH:
        rest = rest[: max(WIDTH - cell_len(before), 0)] + "..."
    yield f"  {before}{rest}"
    yield f"  {' ' * cell_len(before)}^"
