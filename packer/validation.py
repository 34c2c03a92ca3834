"""What is wrong with a chunk: its place, its fault and the mend, for every chunk at once."""

import collections
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from .errors import DimensionMismatch, InvalidChunk, shown
from .numbers import is_finite, is_int
from .records import EMPTY, Chunk, Exclusion, Metadata, Reason
from .tokens import MOST_TOKENS

__all__ = ["KEYS", "STAGE", "Faults", "find_faults", "read_records", "refusal", "set_aside"]

Faults: TypeAlias = dict[int, list[str]]
"""Input position -> what is wrong with that chunk."""

KEYS: Final = ("content", "score", "id", "tokens", "embedding", "metadata")
"""The keys of a chunk given as a mapping."""

STAGE: Final = "pack"
"""What is set aside before all stages is set aside by `pack` itself."""

_DIMENSION: Final = "embedding has "
_MOST_NAMED: Final = 5


def read_records(given: Sequence[object]) -> tuple[list[Chunk | None], Faults]:
    """Each item as a `Chunk`, None where it is neither one nor a mapping."""
    faults: Faults = {}
    records: list[Chunk | None] = []
    for at, item in enumerate(given):
        if isinstance(item, Chunk):
            records.append(item)
        elif isinstance(item, Mapping):
            found = _faults_of_keys(item)
            if found:
                faults[at] = found
            values = {key: item[key] for key in KEYS if key in item}
            records.append(Chunk(**{"content": "", "score": 0.0, **values}))
        else:
            faults[at] = [f"it is {shown(item)}; give a Chunk or a mapping with its keys"]
            records.append(None)
    return records, faults


def _faults_of_keys(item: Mapping[Any, object]) -> list[str]:
    unknown = [key for key in item if key not in KEYS]
    faults = []
    if unknown:
        keys = ", ".join(map(repr, unknown))
        faults.append(f"it has the unknown key {keys}; a chunk has {', '.join(KEYS)}")
    return faults + [f"it has no {key}" for key in ("content", "score") if key not in item]


def find_faults(records: Sequence[Chunk | None], faults: Faults) -> None:
    """Add to `faults` what is wrong with the values of the records.  O(total size)."""
    dimension = _dimension(records)
    for at, record in enumerate(records):
        if record is not None:
            found = _faults_of(record, dimension)
            if found:
                faults.setdefault(at, []).extend(found)


def _dimension(records: Sequence[Chunk | None]) -> int:
    """The length that most embeddings have, the first such on a tie; 0 when there is none."""
    lengths = collections.Counter(
        len(record.embedding)
        for record in records
        if record is not None and _is_vector(record.embedding) and len(record.embedding)
    )
    return lengths.most_common(1)[0][0] if lengths else 0


def _is_vector(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.float32


def _faults_of(record: Chunk, dimension: int) -> list[str]:
    faults = []
    if not isinstance(record.content, str):
        faults.append(f"content is {shown(record.content)}; give text")
    if not is_finite(record.score):
        faults.append(f"score is {shown(record.score)}; give a finite number")
    if record.id is not None and not isinstance(record.id, str):
        faults.append(f"id is {shown(record.id)}; give text, or None to have one made")
    if record.tokens is not None and not _is_token_count(record.tokens):
        faults.append(
            f"tokens is {shown(record.tokens)}; give an int of 0 or more (at most 2**43), "
            "or None to have them counted"
        )
    if not isinstance(record.metadata, Metadata):
        faults.append(f"metadata is {shown(record.metadata)}; give a mapping")
    if record.embedding is not None:
        faults += _faults_of_embedding(record.embedding, dimension)
    return faults


def _faults_of_embedding(vector: Any, dimension: int) -> list[str]:
    if not _is_vector(vector):
        return [f"embedding is {shown(vector)}; give a list of numbers"]
    if len(vector) not in (0, dimension):
        return [f"{_DIMENSION}{len(vector)} dimensions, most have {dimension}"]
    if not np.isfinite(vector).all():
        place = int(np.flatnonzero(~np.isfinite(vector))[0])
        return [f"embedding is {vector[place]} at {place}; give finite numbers"]
    return []


def _is_token_count(tokens: Any) -> bool:
    return is_int(tokens) and 0 <= tokens <= MOST_TOKENS


def refusal(
    faults: Faults, ids: Sequence[str] | Mapping[int, str]
) -> InvalidChunk | DimensionMismatch:
    """The error that names every chunk with a fault."""
    places = sorted(faults)
    told = [f"{ids[at]!r} at {at}: {', '.join(faults[at])}" for at in places[:_MOST_NAMED]]
    more = f"; and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    count = "1 chunk is invalid" if len(places) == 1 else f"{len(places)} chunks are invalid"
    message = (
        f"{count}: {'; '.join(told)}{more}. Mend them, "
        'or set such chunks aside with on_invalid="exclude"'
    )
    chunks = [{"id": ids[at], "position": at, "faults": faults[at]} for at in places]
    only_dimensions = all(
        fault.startswith(_DIMENSION) for found in faults.values() for fault in found
    )
    error = DimensionMismatch if only_dimensions else InvalidChunk
    return error(message, details={"chunks": chunks})


def set_aside(item: object, id_: str, faults: Sequence[str]) -> Exclusion:
    """The record of an invalid chunk, with as much of it as is of the right kind."""

    def part(key: str) -> Any:
        return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)

    content, score, tokens, metadata = map(part, ("content", "score", "tokens", "metadata"))
    return Exclusion(
        id=id_,
        content=content if isinstance(content, str) else "" if content is None else repr(content),
        score=float(score) if is_finite(score) else math.nan,
        tokens=int(tokens) if _is_token_count(tokens) else 0,
        reason=Reason.INVALID,
        stage=STAGE,
        detail=", ".join(faults),
        metadata=Metadata(metadata) if isinstance(metadata, Mapping) else EMPTY,
    )
