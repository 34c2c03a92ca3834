"""Token counters: what a text costs.

A counter is any function from text to an int >= 0.  Those made here also carry a name and say
whether they estimate, which the report repeats.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, final

import attrs

from .awaitables import is_awaitable
from .errors import InvalidCounter, InvalidParameter, shown
from .numbers import is_int

__all__ = [
    "CountTokens",
    "TokenCounter",
    "approximate",
    "count",
    "counter_name",
    "counts",
    "is_estimate",
    "tokenizer",
    "utf8_estimate",
    "utf8_upper_bound",
]

CountTokens: TypeAlias = Callable[[str], int]

MOST_TOKENS: Final = 2**43
"""No chunk costs more: a million of them still add up within int64."""


@final
@attrs.frozen(repr=False)
class TokenCounter:
    """A counting function with a name, and whether it estimates."""

    name: str
    count: CountTokens
    estimated: bool

    def __call__(self, text: str) -> int:
        return self.count(text)

    def __repr__(self) -> str:
        return self.name


def _quarter_of_characters(text: str) -> int:
    return -(-len(text) // 4)


def _utf8_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _quarter_of_bytes(text: str) -> int:
    return -(-_utf8_bytes(text) // 4)


approximate: Final = TokenCounter("approximate", _quarter_of_characters, estimated=True)
"""ceil(characters / 4): the usual guess for English; three times too low for Chinese.

>>> approximate("Returns take 30 days.")
6
"""

utf8_estimate: Final = TokenCounter("utf8_estimate", _quarter_of_bytes, estimated=True)
"""ceil(UTF-8 bytes / 4): as `approximate` for ASCII, and close for Chinese and Japanese.

>>> utf8_estimate("返品は三十日以内")
6
"""

utf8_upper_bound: Final = TokenCounter("utf8_upper_bound", _utf8_bytes, estimated=True)
"""UTF-8 bytes: never too low for a byte-level BPE tokenizer, and about four times too high.

>>> utf8_upper_bound("Returns")
7
"""


def tokenizer(name: str) -> TokenCounter:
    """The exact counter of a tokenizer, e.g. ``tokenizer("o200k_base")``.

    Special tokens in a text (``<|endoftext|>``) count as the plain text that they are.  Needs the
    extra ``chunk-packer[tokenizer]`` (quicktok, its vocabularies in the wheel: cl100k_base,
    o200k_base, o200k_harmony, llama3, qwen3) or ``chunk-packer[tiktoken]``, which fetches a
    vocabulary on its first use unless its cache has it.  quicktok is asked first.

    Raises INVALID_PARAMETER when neither package is installed or knows the name.
    """
    if not isinstance(name, str):
        message = f"tokenizer takes a name such as 'o200k_base', not {shown(name)}"
        raise InvalidParameter(message, details={"name": name})
    faults = []
    for load in (_quicktok, _tiktoken):
        try:
            return TokenCounter(name, load(name), estimated=False)
        except ImportError as error:
            faults.append(f"{error.name or load.__name__[1:]} is not installed")
        except Exception as error:  # noqa: BLE001  # each package has errors of its own for an unknown name
            faults.append(f"{load.__name__[1:]}: {shown(str(error), 120)}")
    message = (
        f"no tokenizer {name!r} ({'; '.join(faults)}); "
        "check the name, or install chunk-packer[tokenizer] or chunk-packer[tiktoken]"
    )
    raise InvalidParameter(message, details={"name": name, "faults": faults})


@final
@attrs.frozen
class _Loaded:
    """A tokenizer's counting function; pickled by name, and loaded again where it arrives."""

    load: Callable[[str], "_Loaded"]
    name: str
    count: CountTokens = attrs.field(eq=False, repr=False)

    def __call__(self, text: str) -> int:
        return self.count(_encodable(text))

    def __reduce__(self) -> tuple[object, ...]:
        return self.load, (self.name,)


def _quicktok(name: str) -> _Loaded:
    import quicktok

    encoding = quicktok.get_encoding(name)
    return _Loaded(_quicktok, name, lambda text: int(encoding.count(text)))


def _tiktoken(name: str) -> _Loaded:
    import tiktoken

    encoding = tiktoken.get_encoding(name)
    return _Loaded(_tiktoken, name, lambda text: len(encoding.encode_ordinary(text)))


def _encodable(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, as U+FFFD (three bytes too)."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def counter_name(count_tokens: CountTokens) -> str:
    """The name that a report gives a counter."""
    name = getattr(count_tokens, "name", None) or getattr(count_tokens, "__qualname__", None)
    return name if isinstance(name, str) else type(count_tokens).__name__


def is_estimate(count_tokens: CountTokens) -> bool:
    """Whether the counter says of itself that it estimates; a plain function does not."""
    return bool(getattr(count_tokens, "estimated", False))


def counts(count_tokens: CountTokens, texts: Sequence[str], ids: Sequence[str]) -> list[int]:
    """The tokens of each text.  `ids` name the chunk in an error.

    Raises INVALID_COUNTER for a result that is no int of 0 or more.
    """
    return [
        count(count_tokens, text, f"chunk {id_!r}", id_)
        for text, id_ in zip(texts, ids, strict=True)
    ]


def count(count_tokens: CountTokens, text: str, what: str, id_: str | None = None) -> int:
    """The tokens of one text; `what` names it in an error, `id_` its chunk.

    Raises INVALID_COUNTER for a result that is no int of 0 or more.
    """
    try:
        number: Any = count_tokens(text)
    except Exception as error:
        error.add_note(f"raised by the token counter for {what}")
        raise
    if is_int(number) and 0 <= number <= MOST_TOKENS:
        return int(number)
    message = (
        f"the token counter {counter_name(count_tokens)} gave {shown(number)} for {what}; "
        "it must return an int of 0 or more (at most 2**43)"
        + (", and it must not be async" if is_awaitable(number) else "")
    )
    raise InvalidCounter(message, details={"id": id_, "value": number})
