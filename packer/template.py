"""How a chunk is written in the prompt: text with fields, read once."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, final

import attrs

from .errors import InvalidParameter, shown

__all__ = ["FIELDS", "Template"]

FIELDS: Final = ("position", "id", "content", "score", "tokens")
"""What a field may name, besides `metadata[key]`."""

_PIECE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_METADATA: Final = re.compile(r"metadata\[([^\[\]]+)\]")


def _text(value: Any, _: object, attribute: "attrs.Attribute[Any]") -> str:
    if not isinstance(value, str):
        message = f"Template: {attribute.name} is {shown(value)}; give text"
        raise InvalidParameter(message, details={"parameter": attribute.name, "value": value})
    return value


def _part(default: str, *, kw_only: bool = True) -> Any:
    converter = attrs.Converter(_text, takes_self=True, takes_field=True)
    return attrs.field(default=default, converter=converter, kw_only=kw_only)


@final
@attrs.frozen
class Template:
    r"""How the chunks are written: `header`, the chunks with `separator` between, `footer`.

    `chunk` may have the fields ``{position}`` (from 1, in output order), ``{id}``, ``{content}``,
    ``{score}``, ``{tokens}`` (of the content) and ``{metadata[key]}``; ``{{`` and ``}}`` are
    braces.  Nothing else is reachable, and what a chunk says is text, never a field.  The other
    parts stand as they are: end a header with its own line break.

    Raises INVALID_PARAMETER, with `line` and `column`, for what is no template.

    >>> Template("<{id}>{content}", header="Sources:\n").fields
    ('id', 'content')
    """

    chunk: str = _part("[{position}] {metadata[source]}\n{content}", kw_only=False)
    separator: str = _part("\n\n")
    header: str = _part("")
    footer: str = _part("")
    _pieces: tuple[str | tuple[str, str], ...] = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_pieces", _read(self.chunk))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of `chunk` in order, metadata as ``metadata[key]``."""
        named = (piece for piece in self._pieces if isinstance(piece, tuple))
        return tuple(name if name != "metadata" else f"metadata[{key}]" for name, key in named)

    @property
    def keys(self) -> tuple[str, ...]:
        """The metadata keys that every chunk must have."""
        named = (piece for piece in self._pieces if isinstance(piece, tuple))
        return tuple(dict.fromkeys(key for name, key in named if name == "metadata"))

    def form(
        self,
        *,
        position: int,
        id: str,  # noqa: A002 (the name of the chunk's field)
        content: str,
        score: float,
        tokens: int,
        metadata: Mapping[str, object],
    ) -> str:
        """One chunk as it is written; a metadata key that is missing or None is empty.

        >>> Template("[{position}] {{{content}}}").form(
        ...     position=1, id="a", content="{id}", score=0.5, tokens=1, metadata={}
        ... )
        '[1] {{id}}'
        """
        values = {
            "position": str(position),
            "id": id,
            "content": content,
            "score": f"{score:g}",
            "tokens": str(tokens),
        }
        written = []
        for piece in self._pieces:
            if isinstance(piece, str):
                written.append(piece)
            elif piece[0] != "metadata":
                written.append(values[piece[0]])
            else:
                value = metadata.get(piece[1])
                written.append("" if value is None else str(value))
        return "".join(written)

    def joined(self, forms: Iterable[str]) -> str:
        """The whole text of these forms; no forms, no text: never a header alone."""
        body = list(forms)
        return f"{self.header}{self.separator.join(body)}{self.footer}" if body else ""


def _read(chunk: str) -> tuple[str | tuple[str, str], ...]:
    """The text as what stands, and fields as (name, key)."""
    pieces: list[str | tuple[str, str]] = []
    end = 0
    for found in _PIECE.finditer(chunk):
        pieces.append(chunk[end : found.start()])
        end = found.end()
        text, inside = found.group(), found.group(1)
        if text in ("{{", "}}"):
            pieces.append(text[0])
        elif inside is None:
            raise _fault(chunk, found.start(), f"a lone {text}", f"write {text * 2} for a brace")
        elif inside in FIELDS:
            pieces.append((inside, ""))
        elif key := _METADATA.fullmatch(inside):
            pieces.append(("metadata", key.group(1)))
        else:
            known = ", ".join(f"{{{name}}}" for name in FIELDS)
            wanted = f"there are {known} and {{metadata[key]}}; {{{{ and }}}} are braces"
            raise _fault(chunk, found.start(), f"no field {shown(text)}", wanted)
    pieces.append(chunk[end:])
    return tuple(piece for piece in pieces if piece)


def _fault(chunk: str, at: int, what: str, mend: str) -> InvalidParameter:
    line = chunk.count("\n", 0, at) + 1
    column = at - (chunk.rfind("\n", 0, at) + 1) + 1
    message = f"Template: line {line}, column {column}: {what}; {mend}"
    details = {"parameter": "chunk", "line": line, "column": column, "text": chunk}
    return InvalidParameter(message, details=details)
