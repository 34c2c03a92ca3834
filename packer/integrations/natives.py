"""Packed chunks back to the objects that they were made from, and the report as plain values."""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

import attrs

from packer.algebra import Policy
from packer.errors import MissingEmbeddings
from packer.facade import Packer
from packer.records import Chunk, Metadata, Packed, PackedChunk, Report
from strategies import parse

__all__ = ["note", "pack_natives", "policy_of", "summary"]


def policy_of(policy: Policy | str) -> Policy:
    """The policy, read from its text where it is one.

    >>> policy_of("threshold(0.6) | greedy")
    threshold(0.6) | greedy
    """
    return parse(policy) if isinstance(policy, str) else policy


def pack_natives(
    packer: Packer, chunks: Sequence[Chunk], *, query: str | None, mend: str
) -> tuple[Packed, list[tuple[int, PackedChunk]]]:
    """What is packed, and each packed chunk with the place of its own in `chunks`.

    Ids may be missing or stand twice: a packed chunk carries the very metadata object that its
    chunk came with, and by that it is found again.  `mend`: the argument that brings embeddings,
    said where the policy needs them.

    >>> from strategies import greedy
    >>> chunks = [Chunk("a long text", 0.2), Chunk("b", 0.9)]
    >>> _, found = pack_natives(Packer(greedy, budget=1), chunks, query=None, mend="")
    >>> [(place, chunk.content) for place, chunk in found]
    [(1, 'b')]
    """
    own = [attrs.evolve(chunk, metadata=Metadata(chunk.metadata)) for chunk in chunks]
    place_of = {id(chunk.metadata): place for place, chunk in enumerate(own)}
    try:
        packed = packer.pack(own, query=query)
    except MissingEmbeddings as error:
        raise MissingEmbeddings(f"{error.message}; {mend}", details=error.details) from error
    return packed, [(place_of[id(chunk.metadata)], chunk) for chunk in packed]


_FIGURES: Final = (
    "policy",
    "strategy",
    "ordering",
    "budget",
    "tokens_used",
    "tokens_remaining",
    "utilization",
    "rendered_tokens",
    "selected_count",
    "excluded_count",
    "counter",
    "estimated",
    "timestamp",
    "duration_ms",
)


def summary(report: Report) -> dict[str, Any]:
    """The report as plain values, small enough to travel with the documents.

    `Report.to_dict` without the texts and metadata of what is out, which the caller has, and
    without `conflicts`, `values`, `diversity` and `position_quality`, which are computed when they are read.
    """
    return {
        **{name: getattr(report, name) for name in _FIGURES},
        "excluded": [_plain(out) for out in report.excluded],
        "stages": [_plain(stage) for stage in report.stages],
        "warnings": [_plain(warning) for warning in report.warnings],
        "optimality": None if report.optimality is None else _plain(report.optimality),
    }


def note(chunk: PackedChunk, report: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a packed document carries: its place, score and tokens; the first one the report, too.

    >>> note(PackedChunk("a", "text", 0.5, 1, 0), {"budget": 9})["report"]
    {'budget': 9}
    >>> note(PackedChunk("b", "text", 0.25, 1, 1), {"budget": 9})
    {'id': 'b', 'position': 1, 'score': 0.25, 'tokens': 1}
    """
    own: dict[str, Any] = {
        "id": chunk.id,
        "position": chunk.position,
        "score": chunk.score,
        "tokens": chunk.tokens,
    }
    if chunk.original_tokens is not None:
        own["original_tokens"] = chunk.original_tokens
    if chunk.new_tokens is not None:
        own["new_tokens"] = chunk.new_tokens
    if chunk.merged_from:
        own["merged_from"] = list(chunk.merged_from)
    return own if report is None or chunk.position else {**own, "report": report}


def _plain(record: "attrs.AttrsInstance") -> dict[str, Any]:
    names = (field.name for field in attrs.fields(type(record)))
    return {name: _json(getattr(record, name)) for name in names if name not in _KNOWN}


_KNOWN: Final = frozenset({"content", "metadata"})
"""What the caller has already."""


def _json(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
