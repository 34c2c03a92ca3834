r"""Where a text may end: after a sentence, a word, or a character as readers see one.

The package `regex` (for ``\X``, the extended grapheme clusters of UAX 29) is imported where it
is used, so that `import packer` stays light.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["ends", "longest_prefix", "sentences", "words"]

FIRST_TRIED = 8
"""Boundaries at the beginning of a text that are tried when bisection finds none that fits."""

_SENTENCE = (
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s+[^\s\p{Ll}]|\s*$)"  # noqa: RUF001  # "e.g. this" goes on
    r"|[。！？｡][」』”’）]*+"  # noqa: RUF001  # these are meant
    r"|(?<=\S)(?=\s*\n)"
)
_WORD = r"(?w)(?<=\S)\b"


def _graphemes(text: str) -> Sequence[int]:
    if text.isascii() and "\r" not in text:  # each character is one
        return range(1, len(text) + 1)
    import regex

    return [found.end() for found in regex.finditer(r"\X", text)]


def _inked(text: str, places: Sequence[int]) -> list[int]:
    """The places with something to see before them, without those that only add blanks."""
    first = len(text) - len(text.lstrip())
    return [place for place in places if place > first and not text[place - 1].isspace()]


def ends(text: str) -> Iterator[list[int]]:
    """The places where a text may end: of sentences, then of words, then of graphemes.

    Each list rises; each prefix has something to see, ends with no blank, and is shorter than
    the text.  No place is inside a grapheme.  O(length) each.

    >>> [places[:3] for places in ends("Refunds: 5 days. We ship.")]
    [[16], [7, 8, 10], [1, 2, 3]]
    """
    import regex

    whole = len(text.rstrip())
    graphemes = _graphemes(text)
    allowed = graphemes if isinstance(graphemes, range) else frozenset(graphemes)
    for pattern in (_SENTENCE, _WORD):
        found = sorted({match.end() for match in regex.finditer(pattern, text)})
        places = _inked(text, [place for place in found if place in allowed])
        yield [place for place in places if place < whole]
    yield [place for place in _inked(text, graphemes) if place < whole]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with the blanks that follow it: joined they are the text.

    >>> sentences("Refunds take 5 days. We ship.  Soon!")
    ['Refunds take 5 days. ', 'We ship.  ', 'Soon!']
    """
    places = next(ends(text))
    starts = [place + _blanks(text, place) for place in places]
    spans = zip([0, *starts], [*starts, len(text)], strict=True)
    return [text[start:end] for start, end in spans if end > start]


def words(text: str) -> list[str]:
    """The words of a text, folded; of scripts without blanks each ideograph.

    >>> words("Refunds, 3.5 days: 返品")
    ['refunds', '3.5', 'days', '返', '品']
    """
    import regex

    found: list[str] = regex.findall(r"(?w)\b\w.*?\b", text.casefold())
    return found


def _blanks(text: str, place: int) -> int:
    rest = text[place:]
    return len(rest) - len(rest.lstrip())


def longest_prefix(text: str, fits: Callable[[str], bool | None]) -> str | None:
    """A long prefix that fits: at a sentence's end, else a word's, else a grapheme's.

    `fits` says True, False where the prefix is too long, None where it is too short.  The
    longest at that level where longer prefixes never fit better; for other measures some that
    fits, as each is tried before it is given back.  At most log2(n) + 9 calls a level.
    """
    tried: dict[int, bool | None] = {}

    def at(place: int) -> bool | None:
        if place not in tried:
            tried[place] = fits(text[:place])
        return tried[place]

    for places in ends(text):
        found = _bisected(places, at)
        if found is not None:
            return text[:found]
    return None


def _bisected(places: Sequence[int], at: Callable[[int], bool | None]) -> int | None:
    best = None
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        verdict: Any = at(places[middle])
        if verdict is False:
            high = middle
        else:
            best = places[middle] if verdict else best
            low = middle + 1
    if best is None:
        return next((place for place in reversed(places[:FIRST_TRIED]) if at(place)), None)
    return best
