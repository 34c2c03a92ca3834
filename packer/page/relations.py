"""Which chunks speak of each other: near-duplicates, versions, needs, variants, conflicts."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, final

import attrs

from packer.metadata import hashable, names, superseders
from packer.records import PackedChunk, Reason

from .cast import Cast, Member, keyed

__all__ = ["Relation", "Relations", "relations"]

CONFLICT: Final = "conflict"
"""The code of a warning that names chunks which contradict each other."""


@final
@attrs.frozen
class Relation:
    """What one chunk is to another: `words` and the other's number on the page."""

    words: str
    row: int


Relations: TypeAlias = Mapping[int, tuple[Relation, ...]]
"""The relations of each chunk that has some, by its number on the page."""


def relations(cast: Cast) -> Relations:
    """Every relation, from both ends.  O(n + r) for r relations."""
    found: dict[int, dict[Relation, None]] = {}
    for one, words, other, back in _pairs(cast):
        if one.row != other.row:
            found.setdefault(one.row, {})[Relation(words, other.row)] = None
            found.setdefault(other.row, {})[Relation(back, one.row)] = None
    return {row: tuple(told) for row, told in found.items()}


def _pairs(cast: Cast) -> Iterator[tuple[Member, str, Member, str]]:
    yield from _near_duplicates(cast)
    named = [
        ("superseded_by", "superseded by", "supersedes"),
        *((key, "needs", "needed by") for key in {"parent", *keyed(cast.report, "needs")}),
    ]
    for member in cast.members:
        for key, words, back in named:
            for id_ in _names(member.record.metadata.get(key)):
                if id_ in cast.by_id:
                    yield member, words, cast.by_id[id_], back
    yield from _replaced(cast)
    yield from _variants(cast)
    for warning in cast.report.warnings:
        if warning.code == CONFLICT:
            chunks = [cast.by_id[id_] for id_ in warning.ids if id_ in cast.by_id]
            for one in chunks:
                for other in chunks:
                    yield one, "conflicts with", other, "conflicts with"


def _near_duplicates(cast: Cast) -> Iterator[tuple[Member, str, Member, str]]:
    for member in cast.members:
        record = member.record
        if isinstance(record, PackedChunk):
            for id_ in record.merged_from:
                if id_ in cast.by_id:
                    yield member, "stands for", cast.by_id[id_], "redundant with"
        elif member.near is not None and member.near in cast.by_id:
            yield member, "redundant with", cast.by_id[member.near], "stands for"
        if member.reason is Reason.DUPLICATE and cast.by_id[member.id] is not member:
            yield member, "has the id of", cast.by_id[member.id], "has the id of"


def _replaced(cast: Cast) -> Iterator[tuple[Member, str, Member, str]]:
    """Chunks that another's `supersedes` names, as `current` sees it."""
    metadata = [
        {"source": own.get("source"), "supersedes": _names(own.get("supersedes"))}
        for own in (member.record.metadata for member in cast.members)
    ]
    newer = superseders([member.id for member in cast.members], metadata)
    for member, rows in zip(cast.members, newer, strict=True):
        if cast.by_id[member.id] is member:
            for row in rows:
                yield cast.members[row], "supersedes", member, "superseded by"


def _variants(cast: Cast) -> Iterator[tuple[Member, str, Member, str]]:
    """Chunks that are out because another of their group is in."""
    for key in keyed(cast.report, "exclusive"):
        taken = {
            value: member
            for member in cast.inside
            if (value := hashable(member.record.metadata.get(key))) is not None
        }
        for member in cast.groups.get(Reason.EXCLUSIVE, ()):
            other = taken.get(hashable(member.record.metadata.get(key)))
            if other is not None:
                yield member, "variant of", other, "variant of"


def _names(value: object) -> list[str]:
    """What a value names; nothing where it cannot be written."""
    try:
        return names(value)
    except Exception:  # noqa: BLE001  # whatever a caller's own objects raise
        return []
