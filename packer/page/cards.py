"""A chunk in full: its line, and below it its text, metadata, way and relations."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from packer.records import PackedChunk, Reason

from .cast import Cast, Member, Step
from .markup import Html, element, joined, prose
from .relations import Relation, Relations

__all__ = [
    "MEANINGS",
    "card_text",
    "inside",
    "link",
    "metadata_of",
    "outside",
    "score_text",
    "snippet",
    "way",
]

SNIPPET: Final = 220
"""Characters of a text that its line shows."""

LONGEST: Final = 20_000
"""Characters of a text that the page has; the rest is counted."""

LONGEST_VALUE: Final = 500
"""Characters of a metadata value that the page has."""

MEANINGS: Final[Mapping[str, str]] = {
    Reason.BUDGET: "did not fit in what remained of the budget",
    Reason.REDUNDANT: "too similar to a chunk that was kept",
    Reason.STRATEGY: "would still fit, the selector did not want it",
    Reason.MAX_CANDIDATES: "beyond the number of candidates asked for",
    Reason.BELOW_THRESHOLD: "score below the floor",
    Reason.METADATA: "metadata does not meet a condition",
    Reason.SUPERSEDED: "a newer version replaces it",
    Reason.STALE: "too old",
    Reason.QUOTA: "its key has all the room that it may have",
    Reason.EXCLUSIVE: "another variant of it is in",
    Reason.NEEDS: "a chunk that it needs is out",
    Reason.DUPLICATE: "another chunk has the same id",
    Reason.INVALID: "no valid chunk, or its text is blank",
}


def inside(cast: Cast, found: Relations) -> Html:
    """What is in, in output order."""
    if not cast.inside:
        return element("p", "Nothing is in.", class_="empty")
    items = [element("li", _card(cast, member, found, "h3")) for member in cast.inside]
    return element("ol", joined(*items), class_="chunks")


def outside(cast: Cast, found: Relations) -> Html:
    """What is out, by reason, each in the order of the stages."""
    if not cast.groups:
        return element("p", "Nothing is out.", class_="empty")
    return joined(*(_group(cast, *group, found) for group in cast.groups.items()))


def _group(cast: Cast, reason: Reason, members: Sequence[Member], found: Relations) -> Html:
    items = [
        element("li", _card(cast, member, found, "h4"))
        for member in members
        if member.row in cast.shown
    ]
    more = len(members) - len(items)
    name = f"out-{reason}"
    heading = element(
        "h3",
        element("span", str(reason), class_="reason"),
        f" {len(members):,}",
        element("span", f" {MEANINGS.get(reason, '')}", class_="meaning"),
        id=name,
    )
    rest = (
        f"... and {more:,} more, left out for the size of the page; packed.report.excluded has all"
    )
    return element(
        "section",
        heading,
        element("ul", joined(*items), class_="chunks"),
        element("p", rest, class_="empty") if more else None,
        aria_labelledby=name,
        class_="group",
    )


def _card(cast: Cast, member: Member, found: Relations, heading: str) -> Html:
    record, told = member.record, found.get(member.row, ())
    line = element(
        "summary",
        element("span", class_=f"swatch {cast.scale.css(record.score)}", aria_hidden="true"),
        element("span", str(member.position), class_="place")
        if member.position is not None
        else None,
        element("span", prose(record.id), class_="id"),
        element("span", f"score {score_text(record.score)}", class_="figure"),
        _value(cast, member),
        element("span", _tokens(member), class_="figure"),
        element("span", class_="change"),
        element("span", prose(member.decided), class_="decided") if member.decided else None,
        snippet(record.content),
    )
    body = element(
        "div",
        card_text(record.content, heading),
        _relations(cast, told, heading),
        metadata_of(record.metadata, heading),
        element(heading, "Way through the stages"),
        way(cast.way(member)),
        class_="body",
    )
    return element(
        "details",
        line,
        body,
        id=f"c{member.row}",
        class_="chunk",
        data_row=member.row,
        data_near=" ".join(str(one.row) for one in told) or None,
    )


def _value(cast: Cast, member: Member) -> Html | None:
    """What the scoring stages made of the score, where that is another."""
    current = cast.current(member)
    if not cast.value(member) or current == member.record.score:
        return None
    return element("span", f"then {score_text(current)}", class_="figure")


def _tokens(member: Member) -> str:
    record = member.record
    if not isinstance(record, PackedChunk):
        return f"{record.tokens:,} tokens"
    whole = "" if record.original_tokens is None else f" of {record.original_tokens:,}"
    new = "" if record.charged == record.tokens else f" ({record.charged:,} new)"
    return f"{record.tokens:,}{whole} tokens{new}"


def snippet(content: str) -> Html:
    """How a text begins, on one line."""
    return element("span", prose(" ".join(content[:SNIPPET].split())), class_="snippet")


def card_text(content: str, heading: str) -> Html:
    """A text in full, or its first 20,000 characters."""
    more = len(content) - LONGEST
    return joined(
        element(heading, "Text"),
        element("p", prose(content[:LONGEST], keep="\n\t"), class_="text", dir="auto"),
        element("p", f"... and {more:,} characters more", class_="empty") if more > 0 else None,
    )


def metadata_of(metadata: Mapping[str, object], heading: str) -> Html | None:
    """Keys and values; nothing where there are none."""
    if not metadata:
        return None
    rows = [
        element("div", element("dt", prose(str(key))), element("dd", prose(_shortened(value))))
        for key, value in metadata.items()
    ]
    return joined(element(heading, "Metadata"), element("dl", joined(*rows)))


def _shortened(value: Any) -> str:
    try:
        words = str(value)
    except Exception:  # noqa: BLE001  # whatever a caller's own objects raise
        words = f"<{type(value).__name__}>"
    return words if len(words) <= LONGEST_VALUE else f"{words[:LONGEST_VALUE]}..."


def way(steps: Iterable[Step]) -> Html:
    """The stages with what became of a chunk."""
    items = [element("li", _step(step), class_=step.state.replace(" ", "-")) for step in steps]
    return element("ol", joined(*items), class_="way")


def _step(step: Step) -> Html:
    words = step.words or step.state
    if step.state == "stopped" and step.words:
        words = f"stopped: {step.words}"
    return joined(element("code", prose(step.stage)), " ", element("span", prose(words)))


def _relations(cast: Cast, told: Sequence[Relation], heading: str) -> Html | None:
    if not told:
        return None
    items = [element("li", f"{one.words} ", link(cast, cast.members[one.row])) for one in told]
    return joined(element(heading, "Relations"), element("ul", joined(*items), class_="relations"))


def link(cast: Cast, member: Member) -> Html:
    """A way to a chunk on the page; its id alone where the page leaves it out."""
    if member.row not in cast.shown:
        return element("span", prose(member.id), class_="id")
    href = f"#c{member.row}"
    return element("a", prose(member.id), href=href, class_="id", data_row=member.row)


def score_text(score: float) -> str:
    """A score as the page writes it; a dash where an invalid chunk has none."""
    return "-" if score != score else f"{score:.4g}"  # noqa: PLR0124  (NaN: it had none)
