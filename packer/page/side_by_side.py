"""Several policies on the same chunks: a bar for each, and the chunks by who packs them."""

from collections.abc import Mapping, Sequence
from typing import final

import attrs

from packer.records import Packed

from .cards import card_text, metadata_of, score_text, snippet, way
from .cast import Cast, Member
from .counted import number
from .document import document
from .markup import Html, element, joined, prose
from .scale import Scale
from .tools import section, tools
from .window import bar, hatching, parts

__all__ = ["comparison_page", "letter"]


@final
@attrs.frozen(eq=False)
class _Entry:
    """A chunk that some policy packs: its number on the page, and what it is to each."""

    row: int
    id: str
    members: tuple[Member, ...]

    @property
    def takers(self) -> tuple[int, ...]:
        """Who packs it."""
        return tuple(
            place for place, member in enumerate(self.members) if member.position is not None
        )


def comparison_page(outcomes: Sequence[Packed]) -> str:
    """The page of a comparison; what no policy packs is counted and not shown.  O(n)."""
    casts = [Cast.of(packed) for packed in outcomes]
    ids = dict.fromkeys(chunk.id for packed in outcomes for chunk in packed)
    entries = [
        _Entry(row, id_, tuple(cast.by_id[id_] for cast in casts)) for row, id_ in enumerate(ids)
    ]
    scale = Scale.of(chunk.score for packed in outcomes for chunk in packed)
    rows = {entry.id: entry.row for entry in entries}
    first = outcomes[0].report
    title = (
        f"{len(outcomes)} policies on {number(len(casts[0].members), 'chunk')}, "
        f"budget {first.budget:,}"
    )
    neither = len({id_ for cast in casts for id_ in cast.by_id}) - len(entries)
    body = [
        element("header", element("h1", title)),
        element(
            "main",
            hatching(),
            *(_policy(place, cast, scale, rows, entries) for place, cast in enumerate(casts)),
            scale.legend(),
            tools(),
            *_groups(casts, entries, scale),
            element(
                "p", f"{number(neither, 'chunk is', 'chunks are')} out everywhere.", class_="empty"
            ),
        ),
    ]
    return document(title, *body, values={})


def _policy(
    place: int, cast: Cast, scale: Scale, rows: Mapping[str, int], entries: Sequence[_Entry]
) -> Html:
    report = cast.report
    alone = sum(entry.takers == (place,) for entry in entries)
    value = sum(member.record.score for member in cast.inside)
    told = (
        f"{number(report.selected_count, 'chunk')}, {report.tokens_used:,} of "
        f"{report.budget:,} tokens, total score {value:.4g}, {alone:,} in here alone"
    )
    pieces = [
        part if part.row is None else attrs.evolve(part, row=rows[part.id]) for part in parts(cast)
    ]
    name = f"policy-{place}"
    return element(
        "section",
        element("h2", f"{letter(place)}: ", element("code", prose(report.policy)), id=name),
        bar(scale, pieces, f"The window of {letter(place)}: {told}"),
        element("p", told, class_="legend"),
        aria_labelledby=name,
    )


def _groups(casts: Sequence[Cast], entries: Sequence[_Entry], scale: Scale) -> list[Html]:
    everyone = tuple(range(len(casts)))
    takers = {entry.takers: None for entry in entries}
    order = sorted(takers, key=lambda places: (places != everyone, len(places), places))
    sections = []
    for places in order:
        group = [entry for entry in entries if entry.takers == places]
        names = " and ".join(map(letter, places))
        if places == everyone:
            heading = f"In {'both' if everyone == (0, 1) else 'all'}: {len(group):,}"
        else:
            heading = f"Only in {names}: {len(group):,}"
        items = [element("li", _card(casts, entry, scale)) for entry in group]
        listed = element("ul", joined(*items), class_="chunks")
        sections.append(section(f"in-{'-'.join(map(str, places))}", heading, listed))
    return sections


def _card(casts: Sequence[Cast], entry: _Entry, scale: Scale) -> Html:
    record = entry.members[entry.takers[0]].record
    verdicts = [
        element(
            "span",
            element("b", letter(place)),
            f" position {member.position}"
            if member.position is not None
            else joined(f" {member.reason}: ", prose(member.decided)),
            class_="verdict in" if member.position is not None else "verdict",
        )
        for place, member in enumerate(entry.members)
    ]
    line = element(
        "summary",
        element("span", class_=f"swatch {scale.css(record.score)}", aria_hidden="true"),
        element("span", prose(entry.id), class_="id"),
        element("span", f"score {score_text(record.score)}", class_="figure"),
        element("span", f"{record.tokens:,} tokens", class_="figure"),
        element("span", joined(*verdicts), class_="decided"),
        snippet(record.content),
    )
    ways = [
        joined(
            element("h3", f"Way through the stages of {letter(place)}"),
            way(cast.way(member)),
        )
        for place, (cast, member) in enumerate(zip(casts, entry.members, strict=True))
    ]
    body = element(
        "div",
        card_text(record.content, "h3"),
        metadata_of(record.metadata, "h3"),
        joined(*ways),
        class_="body",
    )
    return element("details", line, body, id=f"c{entry.row}", class_="chunk", data_row=entry.row)


def letter(place: int) -> str:
    """The name of a policy: A, B, C ...; its number beyond Z.

    >>> letter(0), letter(26)
    ('A', '27')
    """
    return chr(ord("A") + place) if place < 26 else str(place + 1)
