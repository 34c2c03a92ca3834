"""What counts tokens, by its name on the command line."""

from typing import Final

from packer import tokens
from packer.tokens import CountTokens

__all__ = ["counter"]

OURS: Final = ("approximate", "utf8_estimate", "utf8_upper_bound")


def counter(name: str) -> CountTokens:
    """One of ours, or a tokenizer such as o200k_base.

    Raises INVALID_COUNTER for a name that is none.
    """
    found: CountTokens = getattr(tokens, name) if name in OURS else tokens.tokenizer(name)
    return found
