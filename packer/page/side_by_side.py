"""Several policies on the same chunks: a bar for each, and the chunks by who packs them."""

from collections.abc import Mapping, Sequence

import attrs

from packer.counted import number
from packer.records import Packed
from packer.sides import Group, groups, letter, summary

from .cards import card_text, metadata_of, score_text, snippet, way
from .cast import Cast
from .document import document
from .markup import Html, element, joined, prose
from .scale import Scale
from .tools import section, tools
from .window import bar, hatching, parts

__all__ = ["comparison_page"]


def comparison_page(outcomes: Sequence[Packed]) -> str:
    """The page of a comparison; what no policy packs is counted and not shown.  O(n)."""
    casts = [Cast.of(packed) for packed in outcomes]
    taken = groups(outcomes)
    alone = {group.places: len(group.ids) for group in taken}
    ids = dict.fromkeys(chunk.id for packed in outcomes for chunk in packed)
    rows = {id_: row for row, id_ in enumerate(ids)}
    scale = Scale.of(chunk.score for packed in outcomes for chunk in packed)
    first = outcomes[0].report
    title = (
        f"{len(outcomes)} policies on {number(len(casts[0].members), 'chunk')}, "
        f"budget {first.budget:,}"
    )
    neither = len({id_ for cast in casts for id_ in cast.by_id}) - len(rows)
    body = [
        element("header", element("h1", title)),
        element(
            "main",
            hatching(),
            *(
                _policy(place, cast, scale, rows, alone.get((place,), 0))
                for place, cast in enumerate(casts)
            ),
            scale.legend(),
            tools(),
            *(_group(group, casts, rows, scale) for group in taken),
            element(
                "p", f"{number(neither, 'chunk is', 'chunks are')} out everywhere.", class_="empty"
            ),
        ),
    ]
    return document(title, *body, values={})


def _policy(place: int, cast: Cast, scale: Scale, rows: Mapping[str, int], alone: int) -> Html:
    told = summary(cast.packed, alone)
    pieces = [
        part if part.row is None else attrs.evolve(part, row=rows[part.id]) for part in parts(cast)
    ]
    name = f"policy-{place}"
    return element(
        "section",
        element("h2", f"{letter(place)}: ", element("code", prose(cast.report.policy)), id=name),
        bar(scale, pieces, f"The window of {letter(place)}: {told}"),
        element("p", told, class_="legend"),
        aria_labelledby=name,
    )


def _group(group: Group, casts: Sequence[Cast], rows: Mapping[str, int], scale: Scale) -> Html:
    taker = group.places[0]
    items = [element("li", _card(casts, id_, taker, rows[id_], scale)) for id_ in group.ids]
    listed = element("ul", joined(*items), class_="chunks")
    return section(f"in-{'-'.join(map(str, group.places))}", group.heading, listed)


def _card(casts: Sequence[Cast], id_: str, taker: int, row: int, scale: Scale) -> Html:
    """A chunk as `taker` packs it: its number on the page, and what it is to each."""
    members = [cast.by_id[id_] for cast in casts]
    record = members[taker].record
    verdicts = [
        element(
            "span",
            element("b", letter(place)),
            f" position {member.position}"
            if member.position is not None
            else joined(f" {member.reason}: ", prose(member.decided)),
            class_="verdict in" if member.position is not None else "verdict",
        )
        for place, member in enumerate(members)
    ]
    line = element(
        "summary",
        element("span", class_=f"swatch {scale.css(record.score)}", aria_hidden="true"),
        element("span", prose(id_), class_="id"),
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
        for place, (cast, member) in enumerate(zip(casts, members, strict=True))
    ]
    body = element(
        "div",
        card_text(record.content, "h3"),
        metadata_of(record.metadata, "h3"),
        joined(*ways),
        class_="body",
    )
    return element("details", line, body, id=f"c{row}", class_="chunk", data_row=row)
