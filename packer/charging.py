"""What a row is charged: its tokens, or what its rendered form costs, and the overhead."""

from collections.abc import Sequence

import numpy as np

from .arrays import Bools, Ints
from .call import Call
from .columns import Candidates
from .metadata import present
from .spans import share
from .template import Template
from .tokens import count, counts

__all__ = ["charge", "charges", "form", "lacking", "own_count", "part_tokens"]


def charges(table: Candidates, rows: Ints, call: Call) -> Ints:
    """int64[n]: what each of these rows of the table is charged.

    Without a template its tokens.  With one, what its form costs after a separator, at the
    widest position that the table allows: one call of the counter a row.  The overhead of the
    call comes on top of either.
    """
    if call.template is None:
        return table.tokens[rows] + call.overhead
    forms = [_charged(table, row, call.template, table.text(row)) for row in rows.tolist()]
    ids = [table.id(row) for row in rows.tolist()]
    return np.array(counts(call.count_tokens, forms, ids), np.int64) + call.overhead


def charge(table: Candidates, row: int, text: str, tokens: int, call: Call) -> int:
    """What a row of the table would be charged with another text of so many tokens."""
    if call.template is None:
        return tokens + call.overhead
    charged = _charged(table, row, call.template, text, tokens)
    return counts(call.count_tokens, [charged], [table.id(row)])[0] + call.overhead


def part_tokens(table: Candidates, row: int, start: int, end: int, call: Call) -> int:
    """The tokens of a part of a row's text, from one character to another.

    Counted where the call's counter is the one that made the row's tokens, or writes its text; in
    proportion to the characters, rounded up, where it is not.
    """
    text, id_ = table.text(row), table.id(row)
    if call.template is None and not own_count(table, row, call):
        return share(int(table.tokens[row]), end - start, len(text))
    return count(call.count_tokens, text[start:end], f"a part of chunk {id_!r}", id_)


def own_count(table: Candidates, row: int, call: Call) -> bool:
    """Whether the tokens of a row are what the call's counter says of its text."""
    id_, tokens = table.id(row), int(table.tokens[row])
    return count(call.count_tokens, table.text(row), f"chunk {id_!r}", id_) == tokens


def _charged(
    table: Candidates, row: int, template: Template, text: str, tokens: int | None = None
) -> str:
    return template.separator + form(table, row, len(table), template, text, tokens)


def form(
    table: Candidates,
    row: int,
    position: int,
    template: Template,
    text: str | None = None,
    tokens: int | None = None,
) -> str:
    """A row of the table as the template writes it, with its own text or another."""
    return template.form(
        position=position,
        id=table.id(row),
        content=table.text(row) if text is None else text,
        score=float(table.scores[row]),
        tokens=int(table.tokens[row]) if tokens is None else tokens,
        metadata=table.metadata[row],
    )


def lacking(table: Candidates, rows: Ints, keys: Sequence[str]) -> tuple[Bools, list[str]]:
    """Which rows lack one of the metadata keys (bool[n]), and what to say of each that does."""
    lacks = np.zeros(len(rows), np.bool_)
    told = []
    for at, row in enumerate(rows.tolist()):
        missing = [key for key in keys if present(table.metadata[row].get(key)) is None]
        if missing:
            lacks[at] = True
            fields = ", ".join(f"{{metadata[{key}]}}" for key in missing)
            told.append(f"it has no {fields}, which the template writes")
    return lacks, told
