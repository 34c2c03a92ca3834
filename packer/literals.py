"""How a value is written in the text of a policy."""

import json
import re

__all__ = ["literal"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def literal(value: object) -> str:
    r"""The value as a Python literal that policy text can hold: double quotes, lists for tuples.

    >>> print(literal('a "quoted" word'), literal(("kb", 3)), literal(0.5))
    "a \"quoted\" word" ["kb", 3] 0.5
    """
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return _SURROGATE.sub(lambda lone: f"\\u{ord(lone.group()):04x}", quoted)
    if isinstance(value, tuple):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return repr(value)
