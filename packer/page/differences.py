"""Near-duplicates side by side, with the words marked in which they differ."""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from packer.records import Exclusion

from .cards import link
from .cast import Cast, Member
from .markup import Html, element, joined, prose

__all__ = ["differing", "pairs"]

MOST_PAIRS: Final = 60
"""Pairs that a page shows."""

MOST_WORDS: Final = 600
"""Words of a text that are compared; the time of a comparison may grow with their square."""

Run: TypeAlias = tuple[str, bool]
"""Words with the blanks after them, and whether the other text lacks them."""


def pairs(cast: Cast) -> Html:
    """Each chunk that is out as redundant beside the one that it is like."""
    found = [
        (member, cast.by_id[member.near])
        for member in cast.members
        if member.near is not None and member.near in cast.by_id
    ]
    if not found:
        return element("p", "No chunk is out for its likeness to another.", class_="empty")
    more = len(found) - MOST_PAIRS
    return joined(
        *(_pair(cast, out, kept) for out, kept in found[:MOST_PAIRS]),
        element("p", f"... and {more:,} pairs more", class_="empty") if more > 0 else None,
    )


def _pair(cast: Cast, out: Member, kept: Member) -> Html:
    left, right = differing(kept.record.content, out.record.content)
    only_left, only_right = _words(left), _words(right)
    numbers = any(any(map(str.isdigit, word)) for word in (*only_left, *only_right))
    record = out.record
    likeness = record.similarity if isinstance(record, Exclusion) else None
    line = element(
        "summary",
        element("span", prose(out.id), class_="id"),
        element("span", " is like ", class_="joint"),
        element("span", prose(kept.id), class_="id"),
        element("span", f"similarity {likeness:.4f}", class_="figure") if likeness else None,
        element("span", "numbers differ", class_="alert") if numbers else None,
        element("span", _counted(only_left, only_right), class_="figure"),
    )
    body = element(
        "div",
        _side("Kept" if kept.position is not None else "Kept then", cast, kept, left),
        _side("Out", cast, out, right),
        class_="sides",
    )
    return element("details", line, body, class_="pair")


def _side(word: str, cast: Cast, member: Member, runs: Sequence[Run]) -> Html:
    shown = [_marked(words) if lacking else prose(words, keep="\n\t") for words, lacking in runs]
    return element(
        "div",
        element("h3", f"{word}: ", link(cast, member)),
        element("p", joined(*shown), class_="text", dir="auto"),
    )


def _marked(words: str) -> Html:
    """The words marked, without the blanks around them."""
    start, end = len(words) - len(words.lstrip()), len(words.rstrip())
    if start >= end:
        return prose(words, keep="\n\t")
    parts = [prose(part, keep="\n\t") for part in (words[:start], words[start:end], words[end:])]
    return joined(parts[0], element("mark", parts[1]), parts[2])


def _counted(left: Sequence[str], right: Sequence[str]) -> str:
    if not left and not right:
        return "the same words"
    return f"{len(left)} and {len(right)} words differ"


def _words(runs: Iterable[Run]) -> list[str]:
    return [word for words, lacking in runs if lacking for word in words.split()]


def differing(left: str, right: str) -> tuple[list[Run], list[Run]]:
    """Both texts as runs of words, each with whether the other lacks it there.

    >>> differing("within 14 days of delivery", "within 30 days of delivery")[1]
    [('within ', False), ('30 ', True), ('days of delivery', False)]
    """
    ours, theirs = (re.findall(r"\s*\S+\s*|\s+", text) for text in (left, right))
    ours_more, theirs_more = "".join(ours[MOST_WORDS:]), "".join(theirs[MOST_WORDS:])
    ours, theirs = ours[:MOST_WORDS], theirs[:MOST_WORDS]
    matcher = difflib.SequenceMatcher(
        None, [word.strip() for word in ours], [word.strip() for word in theirs], autojunk=False
    )
    one: list[Run] = []
    other: list[Run] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if b > a:
            one.append(("".join(ours[a:b]), kind != "equal"))
        if d > c:
            other.append(("".join(theirs[c:d]), kind != "equal"))
    one += [(ours_more, False)] if ours_more else []
    other += [(theirs_more, False)] if theirs_more else []
    return one, other
