"""Elements whose text is escaped by construction."""

import html
import re
from collections.abc import Iterable
from typing import Final, TypeAlias, final

from packer.controls import UNSAFE, visible

__all__ = ["Content", "Html", "element", "joined", "prose", "text"]

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


def text(words: object) -> Html:
    """Words as they stand, escaped; control characters but line ends and tabs written out.

    >>> text("a < b & c")
    'a &lt; b &amp; c'
    """
    if isinstance(words, Html):
        return words
    return Html(html.escape(visible(str(words), keep="\n\t")))


def prose(words: str, keep: str = "") -> Html:
    r"""A caller's words: escaped, and what cannot be seen written out and marked.

    >>> prose("</p>\x1b")
    '&lt;/p&gt;<span class="control" title="U+001B">\\x1b</span>'
    """
    parts = _HIDDEN.split(words)
    shown = [
        html.escape(part) if place % 2 == 0 else _marked(part, keep)
        for place, part in enumerate(parts)
    ]
    return Html("".join(shown))


def _marked(character: str, keep: str) -> str:
    if character in keep:
        return character
    written = character.encode("unicode_escape").decode()
    return f'<span class="control" title="U+{ord(character):04X}">{written}</span>'


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
        quoted = html.escape(visible(str(value)))
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
        if isinstance(part, str | int):
            parts.append(text(part))
        else:
            parts.append(joined(*part))
    return Html("".join(parts))
