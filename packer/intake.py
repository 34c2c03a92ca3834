"""From what the caller has to columns: the one place where input is checked.

A chunk with a fault is named with its place, its fault and the mend: all of them at once in one
error, or each set aside as `invalid`.  Blank text and repeated ids are set aside always.
"""

import collections
import datetime as dt
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from .arrays import Bools, Floats, Ints, Vectors, frozen
from .columns import Call, Candidates, Cut
from .errors import (
    DimensionMismatch,
    InvalidBudget,
    InvalidChunk,
    InvalidCounter,
    InvalidParameter,
    InvalidTimestamp,
    shown,
)
from .records import EMPTY, Chunk, Exclusion, Metadata, Reason, Warning
from .timestamps import instant
from .tokens import MOST_TOKENS, CountTokens, counter_name, counts, is_estimate

__all__ = ["ChunkLike", "Intake", "OnInvalid", "checked_call", "from_arrays", "from_chunks"]

ChunkLike: TypeAlias = Chunk | Mapping[str, Any]
OnInvalid: TypeAlias = Literal["raise", "exclude"]

STAGE: Final = "pack"
"""What is set aside before all stages is set aside by `pack` itself."""

_KEYS: Final = ("content", "score", "id", "tokens", "embedding", "metadata")
_columns: Final = operator.attrgetter(*_KEYS)


@final
@attrs.frozen(eq=False, kw_only=True)
class Intake:
    """The table, its rows in play, and what was set aside on the way in."""

    candidates: Candidates
    rows: Ints
    cuts: tuple[Cut, ...]
    invalid: tuple[Exclusion, ...]
    warnings: tuple[Warning, ...]
    estimated: bool


# -- the call -------------------------------------------------------------------------------


def checked_call(
    budget: object, overhead: object, count_tokens: object, query: object, now: object
) -> Call:
    """The call's own arguments, checked.

    Raises INVALID_BUDGET, INVALID_COUNTER, INVALID_PARAMETER or INVALID_TIMESTAMP.
    """
    if not _is_int(budget) or budget < 1:  # type: ignore[operator]  # an int by now
        message = f"budget is {shown(budget)}; give an int above 0, in tokens"
        raise InvalidBudget(message, details={"budget": budget})
    if not _is_int(overhead) or not 0 <= overhead <= MOST_TOKENS:  # type: ignore[operator]
        message = f"overhead is {shown(overhead)}; give an int of 0 or more, in tokens per chunk"
        raise InvalidBudget(message, details={"overhead": overhead})
    if not callable(count_tokens):
        message = f"count_tokens is {shown(count_tokens)}; give a function from text to an int"
        raise InvalidCounter(message, details={"count_tokens": count_tokens})
    if query is not None and not isinstance(query, str):
        message = f"query is {shown(query)}; give the request's words as text, or None"
        raise InvalidParameter(message, details={"query": query})
    return Call(
        budget=int(budget),  # type: ignore[call-overload]  # an int by now
        overhead=int(overhead),  # type: ignore[call-overload]
        count_tokens=count_tokens,
        query=query,
        now=_moment(now),
    )


def _moment(now: object) -> dt.datetime | None:
    if now is None:
        return None
    if isinstance(now, dt.datetime):
        return now if now.tzinfo is not None else now.replace(tzinfo=dt.UTC)
    seconds = instant(now)
    if seconds is None:
        message = f"now is {shown(now)}; give a datetime, ISO 8601 text, or epoch seconds"
        raise InvalidTimestamp(message, details={"now": now})
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def _is_int(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


# -- records --------------------------------------------------------------------------------


def from_chunks(
    chunks: Iterable[ChunkLike], count_tokens: CountTokens, on_invalid: OnInvalid
) -> Intake:
    """Chunks (or mappings with the same keys) as columns.  O(total size), one pass a column.

    Raises INVALID_CHUNK or DIMENSION_MISMATCH, naming every chunk with a fault, unless
    `on_invalid` is "exclude"; INVALID_COUNTER for a counter that does not count.
    """
    if on_invalid not in ("raise", "exclude"):
        message = f'on_invalid is {shown(on_invalid)}; write "raise" or "exclude"'
        raise InvalidParameter(message, details={"on_invalid": on_invalid})
    if isinstance(chunks, str | Mapping | Chunk) or not isinstance(chunks, Iterable):
        message = f"chunks is {shown(chunks)}; give a list of Chunk or of mappings"
        raise InvalidChunk(message, details={"chunks": []})
    given = list(chunks)
    records, faults = _records(given)
    ids = _unique_ids(records)
    columns = _plain_columns(records) if not faults else None
    if columns is None:
        columns = _checked_columns(records, faults)
    if faults and on_invalid == "raise":
        raise _refusal(faults, ids)
    invalid = tuple(_set_aside(given[at], ids[at], faults[at]) for at in sorted(faults))
    return _intake(columns, ids, invalid, count_tokens)


@final
@attrs.frozen(eq=False)
class _Columns:
    """The columns of the valid chunks; `at` is the input position of each."""

    at: Sequence[int]
    texts: Sequence[str]
    scores: Floats
    tokens: Sequence[int | None]
    vectors: Sequence[npt.NDArray[np.float32] | None]
    metadata: Sequence[Mapping[str, object]]


Faults: TypeAlias = dict[int, list[str]]
"""Input position -> what is wrong with that chunk."""

_DIMENSION: Final = "embedding has "


def _records(given: Sequence[object]) -> tuple[list[Chunk | None], Faults]:
    faults: Faults = {}
    records: list[Chunk | None] = []
    for at, item in enumerate(given):
        if type(item) is Chunk:
            records.append(item)
            continue
        if not isinstance(item, Mapping):
            faults[at] = [f"it is {shown(item)}; give a Chunk or a mapping with its keys"]
            records.append(None)
            continue
        unknown = [key for key in item if key not in _KEYS]
        missing = [key for key in ("content", "score") if key not in item]
        if unknown:
            keys = ", ".join(map(repr, unknown))
            faults[at] = [f"it has the unknown key {keys}; a chunk has {', '.join(_KEYS)}"]
        for key in missing:
            faults.setdefault(at, []).append(f"it has no {key}")
        values = {key: item[key] for key in _KEYS if key in item}
        records.append(Chunk(**{"content": "", "score": 0.0, **values}))
    return records, faults


def _unique_ids(records: Sequence[Chunk | None]) -> list[str]:
    """The id of every chunk; a missing one is `chunk-N`, with a suffix where that is taken."""
    found = [None if record is None else record.id for record in records]
    if set(map(type, found)) == {str}:
        return found  # type: ignore[return-value]  # just seen: all text
    taken = {id_ for id_ in found if isinstance(id_, str)}
    for at, id_ in enumerate(found):
        if not isinstance(id_, str):
            name, number = f"chunk-{at}", 1
            while name in taken:
                number += 1
                name = f"chunk-{at}-{number}"
            taken.add(name)
            found[at] = name
    return found  # type: ignore[return-value]  # every None was replaced


_PLAIN: Final[tuple[set[type], ...]] = (
    {str},
    {float, int},
    {str, type(None)},
    {int, type(None)},
    {np.ndarray, type(None)},
    {Metadata},
)


def _plain_columns(records: Sequence[Chunk | None]) -> _Columns | None:
    """The columns when nothing is wrong and nothing needs conversion, the usual case."""
    if not records:
        return _Columns((), (), np.empty(0), (), (), ())
    columns = list(zip(*map(_columns, records), strict=True))
    if not all(
        allowed.issuperset(map(type, column))
        for allowed, column in zip(_PLAIN, columns, strict=True)
    ):
        return None
    texts, scores, _, tokens, vectors, metadata = columns
    try:
        numbers = np.array(scores, dtype=np.float64)
    except OverflowError:
        return None
    if not np.isfinite(numbers).all():
        return None
    given = [count for count in tokens if count is not None]
    if given and not (min(given) >= 0 and max(given) <= MOST_TOKENS):
        return None
    shapes = {vector.shape for vector in vectors if vector is not None}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        return None
    if not all(vector is None or np.isfinite(vector).all() for vector in vectors):
        return None
    return _Columns(range(len(records)), texts, numbers + 0.0, tokens, vectors, metadata)


def _checked_columns(records: Sequence[Chunk | None], faults: Faults) -> _Columns:
    """The columns chunk by chunk: adds to `faults`, converts what may be converted."""
    dimension = _dimension(records)
    for at, record in enumerate(records):
        if record is not None:
            found = _faults_of(record, dimension)
            if found:
                faults.setdefault(at, []).extend(found)
    good = [(at, record) for at, record in enumerate(records) if record and at not in faults]
    return _Columns(
        at=[at for at, _ in good],
        texts=[record.content for _, record in good],
        scores=np.array([float(record.score) for _, record in good], dtype=np.float64) + 0.0,
        tokens=[None if record.tokens is None else int(record.tokens) for _, record in good],
        vectors=[record.embedding for _, record in good],
        metadata=[record.metadata for _, record in good],
    )


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
    if not _is_finite(record.score):
        faults.append(f"score is {shown(record.score)}; give a finite number")
    if record.id is not None and not isinstance(record.id, str):
        faults.append(f"id is {shown(record.id)}; give text, or None to have one made")
    if record.tokens is not None and not (
        _is_int(record.tokens) and 0 <= record.tokens <= MOST_TOKENS
    ):
        faults.append(
            f"tokens is {shown(record.tokens)}; give an int of 0 or more (at most 2**43), "
            "or None to have them counted"
        )
    if not isinstance(record.metadata, Metadata):
        faults.append(f"metadata is {shown(record.metadata)}; give a mapping")
    vector = record.embedding
    if vector is not None:
        if not _is_vector(vector):
            faults.append(f"embedding is {shown(vector)}; give a list of numbers")
        elif len(vector) not in (0, dimension):
            faults.append(f"{_DIMENSION}{len(vector)} dimensions, most have {dimension}")
        elif not np.isfinite(vector).all():
            place = int(np.flatnonzero(~np.isfinite(vector))[0])
            faults.append(f"embedding is {vector[place]} at {place}; give finite numbers")
    return faults


def _is_finite(score: object) -> bool:
    if isinstance(score, bool) or not isinstance(score, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(float(score))
    except OverflowError:
        return False


def _refusal(faults: Faults, ids: Sequence[str]) -> InvalidChunk | DimensionMismatch:
    told = [f"{ids[at]!r} at {at}: {', '.join(found)}" for at, found in sorted(faults.items())[:5]]
    more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
    count = "1 chunk is invalid" if len(faults) == 1 else f"{len(faults)} chunks are invalid"
    message = (
        f"{count}: {'; '.join(told)}{more}. Mend them, "
        'or set such chunks aside with on_invalid="exclude"'
    )
    details = {
        "chunks": [
            {"id": ids[at], "position": at, "faults": found} for at, found in sorted(faults.items())
        ]
    }
    only_dimensions = all(
        fault.startswith(_DIMENSION) for found in faults.values() for fault in found
    )
    error = DimensionMismatch if only_dimensions else InvalidChunk
    return error(message, details=details)


def _set_aside(item: object, id_: str, faults: Sequence[str]) -> Exclusion:
    """The record of an invalid chunk, with as much of it as is of the right kind."""

    def part(key: str) -> Any:
        return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)

    content, score, tokens, metadata = (
        part(key) for key in ("content", "score", "tokens", "metadata")
    )
    return Exclusion(
        id=id_,
        content=content if isinstance(content, str) else "" if content is None else repr(content),
        score=float(score) if _is_finite(score) else math.nan,
        tokens=int(tokens) if _is_int(tokens) and 0 <= tokens <= MOST_TOKENS else 0,
        reason=Reason.INVALID,
        stage=STAGE,
        detail=", ".join(faults),
        metadata=Metadata(metadata) if isinstance(metadata, Mapping) else EMPTY,
    )


def _intake(
    columns: _Columns,
    ids: Sequence[str],
    invalid: tuple[Exclusion, ...],
    count_tokens: CountTokens,
) -> Intake:
    names = ids if len(columns.at) == len(ids) else [ids[at] for at in columns.at]
    tokens, counted = _tokens(columns, names, count_tokens)
    vectors, has_vector = _matrix(columns.vectors)
    candidates = Candidates(
        ids=names,
        texts=columns.texts,
        scores=frozen(columns.scores),
        tokens=frozen(tokens),
        metadata=columns.metadata,
        vectors=vectors,
        has_vector=frozen(has_vector),
        source_rows=frozen(np.array(columns.at, dtype=np.int64)),
    )
    estimated = counted > 0 and is_estimate(count_tokens)
    warnings: tuple[Warning, ...] = ()
    if estimated:
        words = (
            f"{counted} of {len(names)} token counts are estimates ({counter_name(count_tokens)}); "
            "give `tokens`, or count with a tokenizer, where the window must hold for sure"
        )
        warnings = (Warning("estimated-tokens", words),)
    return _in_play(candidates, invalid, warnings, estimated=estimated)


def _tokens(columns: _Columns, names: Sequence[str], count_tokens: CountTokens) -> tuple[Ints, int]:
    """int64[m]: the tokens as given or counted (0 for blank text), and how many were counted."""
    if None not in columns.tokens:
        return np.array(columns.tokens, dtype=np.int64), 0
    tokens = [count or 0 for count in columns.tokens]
    to_count = [
        row
        for row, count in enumerate(columns.tokens)
        if count is None and not _is_blank(columns.texts[row])
    ]
    found = counts(
        count_tokens, [columns.texts[row] for row in to_count], [names[row] for row in to_count]
    )
    for row, count in zip(to_count, found, strict=True):
        tokens[row] = count
    return np.array(tokens, dtype=np.int64), len(to_count)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _matrix(
    vectors: Sequence[npt.NDArray[np.float32] | None],
) -> tuple[Vectors | None, Bools]:
    has_vector = np.array([vector is not None and len(vector) > 0 for vector in vectors], np.bool_)
    if not has_vector.any():
        return None, has_vector
    if has_vector.all():
        return frozen(np.stack(vectors)), has_vector  # type: ignore[arg-type]  # none is None
    width = max(len(vector) for vector in vectors if vector is not None)
    matrix = np.zeros((len(vectors), width), dtype=np.float32)
    for row in np.flatnonzero(has_vector).tolist():
        matrix[row] = vectors[row]
    return frozen(matrix), has_vector


# -- arrays ---------------------------------------------------------------------------------


def from_arrays(
    scores: npt.ArrayLike,
    tokens: npt.ArrayLike,
    embeddings: npt.ArrayLike | None,
    ids: Sequence[str] | None,
    texts: Sequence[str] | None,
    metadata: Sequence[Mapping[str, object]] | None,
) -> Intake:
    """Arrays as columns, checked as a whole; float64, int64 and float32 are not copied.

    Raises INVALID_CHUNK or DIMENSION_MISMATCH naming the first rows with a fault.
    """
    numbers = _array(scores, np.float64, "scores", "iuf")
    costs = _array(tokens, np.int64, "tokens", "iu")
    count = len(numbers)
    vectors = None
    if embeddings is not None:
        vectors = _array(embeddings, np.float32, "embeddings", "iuf", ndim=2)
        if vectors.shape[1] == 0:
            vectors = None
    columns = {"tokens": costs, "embeddings": embeddings, "ids": ids}
    for name, column in {**columns, "texts": texts, "metadata": metadata}.items():
        if column is not None and len(column) != count:  # type: ignore[arg-type]  # sized by now
            message = f"{name} has {len(column)} rows, scores has {count}"  # type: ignore[arg-type]
            raise InvalidChunk(message, details={"column": name})
    _no_faulty_row(~np.isfinite(numbers), "scores", "is not finite")
    _no_faulty_row((costs < 0) | (costs > MOST_TOKENS), "tokens", "is not in 0..2**43")
    if vectors is not None:
        _no_faulty_row(~np.isfinite(vectors).all(axis=1), "embeddings", "is not finite")
    for name, entries, kind in (
        ("ids", ids, str),
        ("texts", texts, str),
        ("metadata", metadata, Mapping),
    ):
        if entries is not None:
            wrong = np.array([not isinstance(entry, kind) for entry in entries], np.bool_)
            _no_faulty_row(wrong, name, f"is no {kind.__name__}")
    candidates = Candidates(
        ids=[f"chunk-{row}" for row in range(count)] if ids is None else ids,
        texts=texts,
        scores=frozen(numbers),
        tokens=frozen(costs),
        metadata=(EMPTY,) * count if metadata is None else [Metadata(row) for row in metadata],
        vectors=None if vectors is None else frozen(vectors),
        has_vector=frozen(np.full(count, vectors is not None)),
        source_rows=frozen(np.arange(count, dtype=np.int64)),
    )
    return _in_play(candidates, (), (), estimated=False)


def _array(
    value: npt.ArrayLike, dtype: Any, name: str, kinds: str, ndim: int = 1
) -> npt.NDArray[Any]:
    array = np.asarray(value)
    if array.size == 0 and array.ndim == ndim == 1:
        return np.empty(0, dtype)
    if array.ndim != ndim or array.dtype.kind not in kinds:
        words = "a vector" if ndim == 1 else "a matrix"
        message = f"{name} is {array.dtype}{list(array.shape)}; give {words} of numbers"
        raise InvalidChunk(message, details={"column": name})
    if array.dtype.kind == "u" and dtype is np.int64 and array.max() > MOST_TOKENS:
        _no_faulty_row(array > MOST_TOKENS, name, "is not in 0..2**43")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype)


def _no_faulty_row(wrong: Bools, name: str, words: str) -> None:
    rows = np.flatnonzero(wrong).tolist()
    if rows:
        message = f"{name} {words} in row {rows[0]}" + (
            f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        )
        raise InvalidChunk(message, details={"column": name, "rows": rows})


# -- both -----------------------------------------------------------------------------------


def _in_play(
    candidates: Candidates,
    invalid: tuple[Exclusion, ...],
    warnings: tuple[Warning, ...],
    *,
    estimated: bool,
) -> Intake:
    """Set aside blank texts and repeated ids; warn of equal scores and zero vectors."""
    cuts: list[Cut] = []
    rows = np.arange(len(candidates), dtype=np.int64)
    if candidates.texts is not None:
        blank = [row for row, text in enumerate(candidates.texts) if _is_blank(text)]
        if blank:
            cuts.append(_cut(candidates, Reason.INVALID, blank, lambda _: "its text is blank"))
            rows = np.delete(rows, blank)
    ids = candidates.ids
    if len(set(ids)) < len(ids):
        winners = _winners(candidates, rows)
        losers = [row for row in rows.tolist() if winners[ids[row]] != row]
        if losers:
            cuts.append(_duplicates(candidates, losers, winners))
            rows = np.setdiff1d(rows, losers)
    scores = candidates.scores[rows]
    if len(rows) > 1 and scores.min() == scores.max():
        words = f"all {len(rows)} chunks have the score {scores[0]:g}, so input order decides"
        warnings = (*warnings, Warning("constant-scores", words))
    zero = _zero_vectors(candidates, rows)
    if zero:
        words = "these embeddings are all zeros: similar to nothing by cosine, no embedding by auto"
        warnings = (*warnings, Warning("zero-vector", words, zero))
    return Intake(
        candidates=candidates,
        rows=frozen(rows),
        cuts=tuple(cuts),
        invalid=invalid,
        warnings=warnings,
        estimated=estimated,
    )


def _winners(candidates: Candidates, rows: Ints) -> dict[str, int]:
    """For each id the row that stays: the higher score, the earlier on a tie."""
    winners: dict[str, int] = {}
    for row in rows.tolist():
        best = winners.setdefault(candidates.ids[row], row)
        if candidates.scores[row] > candidates.scores[best]:
            winners[candidates.ids[row]] = row
    return winners


def _duplicates(candidates: Candidates, losers: Sequence[int], winners: Mapping[str, int]) -> Cut:
    def detail(at: int) -> str:
        row, winner = losers[at], winners[candidates.ids[losers[at]]]
        same = candidates.text(row) == candidates.text(winner)
        return (
            f"same id as the chunk at {candidates.source_rows[winner]} with score "
            f"{candidates.scores[winner]:g}; its text {'is the same' if same else 'differs'}"
        )

    return _cut(candidates, Reason.DUPLICATE, losers, detail)


def _cut(
    candidates: Candidates, reason: Reason, rows: Sequence[int], detail: Callable[[int], str]
) -> Cut:
    at = np.array(rows, dtype=np.int64)
    return Cut(stage=STAGE, reason=reason, rows=at, scores=candidates.scores[at], detail=detail)


def _zero_vectors(candidates: Candidates, rows: Ints) -> tuple[str, ...]:
    if candidates.vectors is None:
        return ()
    given = rows[candidates.has_vector[rows]]
    zero = given[~candidates.vectors[given].any(axis=1)]
    return tuple(candidates.ids[row] for row in zero.tolist())
