"""Characters that do something instead of showing something, made visible."""

import re
from typing import Final

__all__ = ["UNSAFE", "visible"]

UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""What moves a terminal's cursor, turns its text round, or cannot be encoded."""


def visible(text: str, keep: str = "") -> str:
    r"""The text with control characters as escapes, but for those in `keep`.

    >>> print(visible("red \x1b[31m alert\n"))
    red \x1b[31m alert\n
    """

    def escaped(found: re.Match[str]) -> str:
        character = found.group()
        return character if character in keep else character.encode("unicode_escape").decode()

    return UNSAFE.sub(escaped, text)
