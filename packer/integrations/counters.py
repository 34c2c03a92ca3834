"""Token counters by name, for configurations that are written down and loaded again."""

from typing import Final

from packer.tokens import (
    CountTokens,
    TokenCounter,
    approximate,
    tokenizer,
    utf8_estimate,
    utf8_upper_bound,
)

__all__ = ["counter", "is_named"]

_ESTIMATES: Final = {one.name: one for one in (approximate, utf8_estimate, utf8_upper_bound)}


def counter(given: CountTokens | str) -> CountTokens:
    """The counter, looked up where it is given by name.

    Raises INVALID_PARAMETER for a name that is neither an estimate's nor a tokenizer's.

    >>> counter("utf8_estimate")
    utf8_estimate
    """
    return _ESTIMATES.get(given) or tokenizer(given) if isinstance(given, str) else given


def is_named(count_tokens: CountTokens) -> bool:
    """Whether the counter's name brings back the same counter.

    >>> is_named(approximate), is_named(len)
    (True, False)
    """
    return isinstance(count_tokens, TokenCounter) and counter(count_tokens.name) == count_tokens
