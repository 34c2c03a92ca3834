"""How a value is written in the text of a policy."""

import re

__all__ = ["escaped_surrogates", "literal"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def literal(value: object) -> str:
    r"""The value as a Python literal that policy text can hold: double quotes, lists for tuples.

    >>> print(literal('a "quoted" word'), literal(("kb", 3)), literal(0.5))
    "a \"quoted\" word" ["kb", 3] 0.5
    """
    if isinstance(value, str):
        import json

        return escaped_surrogates(json.dumps(value, ensure_ascii=False))
    if isinstance(value, tuple):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return repr(value)


def escaped_surrogates(text: str) -> str:
    """Quoted text with lone surrogates, which no encoding takes, written as escapes."""
    return _SURROGATE.sub(lambda lone: f"\\u{ord(lone.group()):04x}", text)
