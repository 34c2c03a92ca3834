"""Results side by side: what each is called, what it holds, and which chunks it shares with whom."""

from collections.abc import Sequence
from typing import final

import attrs

from .counted import number
from .records import Packed

__all__ = ["Group", "groups", "letter", "summary"]


@final
@attrs.frozen
class Group:
    """The chunks that the same policies pack.

    `places`: the numbers of these policies, ascending.  `ids`: in the order of the first policy,
    then what each adds.  `heading`: who packs them, and how many.
    """

    places: tuple[int, ...]
    ids: tuple[str, ...]
    heading: str


def groups(outcomes: Sequence[Packed]) -> tuple[Group, ...]:
    """What all pack, then what one alone packs, then what two do, and so on.

    What no policy packs is in none.  O(m n) for m results of n chunks.
    """
    takers: dict[str, tuple[int, ...]] = {}
    for place, packed in enumerate(outcomes):
        for chunk in packed:
            takers[chunk.id] = (*takers.get(chunk.id, ()), place)
    found: dict[tuple[int, ...], list[str]] = {}
    for id_, places in takers.items():
        found.setdefault(places, []).append(id_)
    everyone = tuple(range(len(outcomes)))
    order = sorted(found, key=lambda places: (places != everyone, len(places), places))
    return tuple(
        Group(places, tuple(found[places]), _heading(places, everyone, len(found[places])))
        for places in order
    )


def _heading(places: tuple[int, ...], everyone: tuple[int, ...], count: int) -> str:
    if places == everyone:
        return f"In {'both' if everyone == (0, 1) else 'all'}: {count:,}"
    return f"Only in {' and '.join(map(letter, places))}: {count:,}"


def summary(packed: Packed, alone: int) -> str:
    """What a result holds, and how many chunks are in it alone."""
    report = packed.report
    value = sum(chunk.score for chunk in packed)
    return (
        f"{number(report.selected_count, 'chunk')}, {report.tokens_used:,} of "
        f"{report.budget:,} tokens, total score {value:.4g}, {alone:,} in here alone"
    )


def letter(place: int) -> str:
    """The name of a policy: A, B, C ...; its number beyond Z.

    >>> letter(0), letter(26)
    ('A', '27')
    """
    return chr(ord("A") + place) if place < 26 else str(place + 1)
