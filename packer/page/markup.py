"""Elements whose text is escaped by construction."""

import html
import re
from collections.abc import Iterable
from typing import Final, TypeAlias, final

from packer.controls import UNSAFE

__all__ = ["Content", "Html", "element", "joined", "plain", "prose"]

VOID: Final = frozenset({"br", "input", "meta"})
"""Elements that have no content."""

_HIDDEN: Final = re.compile(
    f"({UNSAFE.pattern[:-1]}\u00ad\u200b\u2060-\u2064\ufff9-\ufffb\U000e0000-\U000e007f])"
)
"""What cannot be seen, or moves what stands around it; in a text, line ends and tabs may stay."""


@final
class Html(str):
    """Text that is markup already; anything else is escaped where it becomes part of a page."""

    __slots__ = ()


Content: TypeAlias = "str | int | Iterable[str | int | None] | None"


def plain(words: str, keep: str = "") -> str:
    r"""A caller's words with what cannot be seen written out, but for what is in `keep`.

    >>> plain("</p>\x1b\u202e")
    '</p>\\x1b\\u202e'
    """
    return "".join(
        _written(part) if place % 2 and part not in keep else part
        for place, part in enumerate(_HIDDEN.split(words))
    )


def prose(words: str, keep: str = "") -> Html:
    r"""A caller's words: escaped, and what cannot be seen written out and marked.

    >>> prose("</p>\x1b")
    '&lt;/p&gt;<span class="control" title="U+001B">\\x1b</span>'
    """
    return Html(
        "".join(
            _marked(part) if place % 2 and part not in keep else html.escape(part)
            for place, part in enumerate(_HIDDEN.split(words))
        )
    )


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _marked(character: str) -> str:
    code = f"U+{ord(character):04X}"
    return f'<span class="control" title="{code}">{_written(character)}</span>'


def element(name: str, /, *content: Content, **attributes: object) -> Html:
    """`<name attributes>content</name>`, text in it escaped.

    `class_` is class, `data_row` is data-row; True is an attribute without a value, None and
    False are none at all.

    >>> element("a", "x < y", href='"', class_="id")
    '<a href="&quot;" class="id">x &lt; y</a>'
    """
    written = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        quoted = html.escape(plain(str(value)))
        written.append(word if value is True else f'{word}="{quoted}"')
    start = f"<{' '.join(written)}>"
    if name in VOID:
        return Html(start)
    return Html(f"{start}{joined(*content)}</{name}>")


def joined(*content: Content) -> Html:
    """All of it, one after the other."""
    parts: list[str] = []
    for part in content:
        if part is None:
            continue
        if isinstance(part, Html):
            parts.append(part)
        elif isinstance(part, str | int):
            parts.append(html.escape(plain(str(part), keep="\n\t")))
        else:
            parts.append(joined(*part))
    return Html("".join(parts))
