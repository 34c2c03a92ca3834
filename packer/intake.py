"""From what the caller has to columns.

Chunks are read column by column; only when a column has something unusual does
`packer.validation` look at the chunks one by one.  Blank texts and repeated ids are set aside.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, Literal, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from .arrays import Bools, Floats, Ints, Vectors, frozen, sealed, squares
from .columns import Candidates, Cut
from .errors import InvalidChunk, InvalidParameter, shown
from .records import EMPTY, Chunk, Exclusion, Metadata, Reason, Warning
from .tokens import MOST_TOKENS, CountTokens, counter_name, counts, is_estimate
from .validation import STAGE, find_faults, read_records, refusal, set_aside

__all__ = [
    "ChunkLike",
    "Intake",
    "OnInvalid",
    "checked_on_invalid",
    "constant_scores",
    "estimates",
    "from_arrays",
    "from_chunks",
]

ChunkLike: TypeAlias = Chunk | Mapping[str, Any]
OnInvalid: TypeAlias = Literal["raise", "exclude"]


@final
@attrs.frozen(eq=False, kw_only=True)
class Intake:
    """The table, its rows in play, and what was set aside on the way in."""

    candidates: Candidates
    rows: Ints
    cuts: tuple[Cut, ...] = ()
    invalid: tuple[Exclusion, ...] = ()
    warnings: tuple[Warning, ...] = ()
    estimated: bool = False


# -- records --------------------------------------------------------------------------------


@final
@attrs.frozen(eq=False)
class _Columns:
    """The values of the valid chunks, and the input position of each."""

    ids: Sequence[str]
    texts: Sequence[str]
    scores: Floats
    tokens: Ints | Sequence[int | None]
    vectors: Vectors | None
    squares: Vectors | None
    has_vector: Bools
    metadata: Sequence[Mapping[str, object]]
    at: Ints


def checked_on_invalid(on_invalid: object) -> None:
    """Raise INVALID_PARAMETER for what is neither "raise" nor "exclude"."""
    if on_invalid not in ("raise", "exclude"):
        message = f'on_invalid is {shown(on_invalid)}; write "raise" or "exclude"'
        raise InvalidParameter(message, details={"on_invalid": on_invalid})


def from_chunks(
    chunks: Iterable[ChunkLike], count_tokens: CountTokens, on_invalid: OnInvalid
) -> Intake:
    """Chunks (or mappings with the same keys) as columns.  O(total size), one pass a column.

    Raises INVALID_CHUNK or DIMENSION_MISMATCH, naming every chunk with a fault, unless
    `on_invalid` is "exclude"; INVALID_COUNTER for a counter that does not count.
    """
    checked_on_invalid(on_invalid)
    unordered = isinstance(chunks, set | frozenset | Mapping)
    if unordered or isinstance(chunks, str | bytes | Chunk) or not isinstance(chunks, Iterable):
        message = f"chunks is {shown(chunks)}; give a list of Chunk or of mappings"
        raise InvalidChunk(message, details={"chunks": []})
    given = list(chunks)
    invalid: tuple[Exclusion, ...] = ()
    columns = _usual_columns(given)
    if columns is None:
        columns, invalid = _checked_columns(given, on_invalid)
    tokens, counted = _tokens(columns, count_tokens)
    candidates = Candidates(
        given_ids=columns.ids,
        texts=columns.texts,
        scores=sealed(columns.scores),
        tokens=sealed(tokens),
        metadata=columns.metadata,
        vectors=columns.vectors,
        squares=columns.squares,
        has_vector=sealed(columns.has_vector),
        source_rows=sealed(columns.at),
    )
    estimated = counted > 0 and is_estimate(count_tokens)
    warnings = (estimates(counted, len(candidates), count_tokens),) if estimated else ()
    return _in_play(candidates, invalid, warnings, estimated=estimated)


def _usual_columns(given: Sequence[Any]) -> _Columns | None:
    """The columns when nothing is wrong and nothing needs conversion; else None."""
    if not _are(given, Chunk):
        return None
    texts = [chunk.content for chunk in given]
    scores = [chunk.score for chunk in given]
    ids = [chunk.id for chunk in given]
    vectors = [chunk.embedding for chunk in given]
    metadata = [chunk.metadata for chunk in given]
    tokens = _usual_tokens([chunk.tokens for chunk in given])
    if tokens is None or not (
        _are(texts, str) and _are(scores, float, int) and _are(metadata, Metadata)
    ):
        return None
    if not _are(ids, str):
        if not _are(ids, str, NoneType):
            return None
        ids = _unique_ids(ids)
    matrix = _usual_matrix(vectors)
    if matrix is None:
        return None
    try:
        numbers = np.fromiter(scores, np.float64, len(scores))
    except OverflowError:
        return None
    if not np.isfinite(numbers).all():
        return None
    return _Columns(ids, texts, numbers + 0.0, tokens, *matrix, metadata, np.arange(len(given)))


def _are(values: Sequence[object], *kinds: type) -> bool:
    """Whether every value is of one of these very types.  One pass in C."""
    return frozenset(kinds).issuperset(map(type, values))


def _usual_tokens(tokens: Sequence[Any]) -> Ints | Sequence[int | None] | None:
    """The counts when all are ints in range (int64[n]) or to be counted (a list); else None."""
    if _are(tokens, int):
        given = tokens
    elif _are(tokens, int, NoneType):
        given = [count for count in tokens if count is not None]
    else:
        return None
    if given and not (min(given) >= 0 and max(given) <= MOST_TOKENS):
        return None
    return np.fromiter(tokens, np.int64, len(tokens)) if given is tokens else tokens


_Matrix: TypeAlias = tuple[Vectors | None, Vectors | None, Bools]
"""float32[m, d], their squares, and which rows are there; the rest as in `Candidates`."""


def _usual_matrix(vectors: Sequence[Any]) -> _Matrix | None:
    """The embeddings as `_matrix` gives them when all are finite vectors of one length."""
    if _are(vectors, NoneType):
        return _matrix(vectors)
    if not _are(vectors, np.ndarray, NoneType):
        return None
    given = [vector for vector in vectors if vector is not None]
    if {vector.ndim for vector in given} != {1} or len(set(map(len, given))) > 1:
        return None
    matrix = _matrix(vectors)
    if matrix[0] is not None and (
        matrix[0].dtype != np.float32 or not _all_finite(matrix[0], matrix[1])
    ):
        return None
    return matrix


def _checked_columns(
    given: Sequence[object], on_invalid: OnInvalid
) -> tuple[_Columns, tuple[Exclusion, ...]]:
    """The columns of the valid chunks, converted, and the records of the others."""
    records, faults = read_records(given)
    find_faults(records, faults)
    ids = _unique_ids([None if record is None else record.id for record in records])
    if faults and on_invalid == "raise":
        raise refusal(faults, ids)
    invalid = tuple(set_aside(given[at], ids[at], faults[at]) for at in sorted(faults))
    good = [(at, record) for at, record in enumerate(records) if record and at not in faults]
    vectors, lengths, has_vector = _matrix([record.embedding for _, record in good])
    columns = _Columns(
        ids=[ids[at] for at, _ in good],
        texts=[record.content for _, record in good],
        scores=np.array([float(record.score) for _, record in good], dtype=np.float64) + 0.0,
        tokens=[None if record.tokens is None else int(record.tokens) for _, record in good],
        vectors=vectors,
        squares=lengths,
        has_vector=has_vector,
        metadata=[record.metadata for _, record in good],
        at=np.array([at for at, _ in good], dtype=np.int64),
    )
    return columns, invalid


def _unique_ids(given: Sequence[Any]) -> list[str]:
    """The id of every chunk; a missing one is `chunk-N`, with a suffix where that is taken."""
    ids = list(given)
    if _are(ids, str):
        return ids
    taken = {id_ for id_ in ids if isinstance(id_, str)}
    for at, id_ in enumerate(ids):
        if not isinstance(id_, str):
            name, number = f"chunk-{at}", 1
            while name in taken:
                number += 1
                name = f"chunk-{at}-{number}"
            taken.add(name)
            ids[at] = name
    return ids


def _tokens(columns: _Columns, count_tokens: CountTokens) -> tuple[Ints, int]:
    """int64[m]: the tokens as given or counted (0 for blank text), and how many were counted."""
    tokens = columns.tokens
    if isinstance(tokens, np.ndarray):
        return tokens, 0
    to_count = [
        row
        for row, count in enumerate(tokens)
        if count is None and not _is_blank(columns.texts[row])
    ]
    found = counts(
        count_tokens,
        [columns.texts[row] for row in to_count],
        [columns.ids[row] for row in to_count],
    )
    known = np.array([count or 0 for count in tokens], dtype=np.int64)
    known[to_count] = found
    return known, len(to_count)


def estimates(counted: int, count: int, count_tokens: CountTokens) -> Warning:
    """The warning that so many of the counts are estimates."""
    words = (
        f"{counted} of {count} token counts are estimates ({counter_name(count_tokens)}); "
        "give `tokens`, or count with a tokenizer, where the window must hold for sure"
    )
    return Warning("estimated-tokens", words)


def constant_scores(count: int, score: float) -> Warning:
    """The warning that all chunks have one score."""
    words = f"all {count} chunks have the score {score:g}, so input order decides"
    return Warning("constant-scores", words)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _matrix(vectors: Sequence[npt.NDArray[np.float32] | None]) -> _Matrix:
    """The embeddings as rows, zero where there is none (or an empty one)."""
    given = [vector for vector in vectors if vector is not None and len(vector)]
    if not given:
        return None, None, np.zeros(len(vectors), np.bool_)
    rows = np.concatenate(given).reshape(len(given), -1)
    if len(given) == len(vectors):
        return sealed(rows), sealed(squares(rows)), np.ones(len(vectors), np.bool_)
    has_vector = np.array([vector is not None and len(vector) > 0 for vector in vectors], np.bool_)
    matrix = np.zeros((len(vectors), rows.shape[1]), dtype=np.float32)
    matrix[has_vector] = rows
    return sealed(matrix), sealed(squares(matrix)), has_vector


def _all_finite(vectors: Vectors, lengths: Vectors | None) -> bool:
    """Whether every number is finite; the squares tell, but for those that leave float32."""
    return lengths is not None and bool(
        np.isfinite(lengths).all() or np.isfinite(vectors[~np.isfinite(lengths)]).all()
    )


# -- arrays ---------------------------------------------------------------------------------


_TOKENS: Final = "ints of 0 or more, at most 2**43"


def from_arrays(
    scores: npt.ArrayLike,
    tokens: npt.ArrayLike,
    embeddings: npt.ArrayLike | None,
    ids: Sequence[str] | None,
    texts: Sequence[str] | None,
    metadata: Sequence[Mapping[str, object]] | None,
) -> Intake:
    """Arrays as columns, checked as a whole; float64, int64 and float32 are not copied.

    Raises INVALID_CHUNK, naming the column and the first row with a fault.
    """
    numbers = _array(scores, np.float64, "scores", "iuf")
    costs = _array(tokens, np.int64, "tokens", "iu")
    count = len(numbers)
    vectors = None
    if embeddings is not None:
        vectors = _array(embeddings, np.float32, "embeddings", "iuf", ndim=2)
    named = {"tokens": costs, "embeddings": vectors, "ids": ids, "texts": texts}
    for name, column in {**named, "metadata": metadata}.items():
        if column is not None and len(column) != count:
            message = f"{name} has {len(column)} rows, scores has {count}; give one for each chunk"
            raise InvalidChunk(message, details={"column": name})
    _refuse_rows(~np.isfinite(numbers), numbers, "scores", "finite numbers")
    _refuse_rows((costs < 0) | (costs > MOST_TOKENS), costs, "tokens", _TOKENS)
    lengths = None if vectors is None else squares(vectors)
    if vectors is not None and not _all_finite(vectors, lengths):
        wrong = ~np.isfinite(vectors).all(axis=1)
        _refuse_rows(wrong, vectors, "embeddings", "finite numbers")
    _refuse_kinds(ids, "ids", str)
    _refuse_kinds(texts, "texts", str)
    _refuse_kinds(metadata, "metadata", Mapping)
    if vectors is not None and not vectors.shape[1]:
        vectors, lengths = None, None
    candidates = Candidates(
        given_ids=ids,
        texts=texts,
        scores=frozen(numbers),
        tokens=frozen(costs),
        metadata=(EMPTY,) * count if metadata is None else [Metadata(row) for row in metadata],
        vectors=None if vectors is None else frozen(vectors),
        squares=None if lengths is None else sealed(lengths),
        has_vector=sealed(np.full(count, vectors is not None)),
        source_rows=sealed(np.arange(count)),
    )
    return _in_play(candidates, (), (), estimated=False)


def _array(
    value: npt.ArrayLike, dtype: Any, name: str, kinds: str, ndim: int = 1
) -> npt.NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.array(shown(value))
    if not array.size and array.ndim == 1:
        return np.empty((0,) * ndim, dtype)
    if array.ndim != ndim or array.dtype.kind not in kinds:
        words = "a vector" if ndim == 1 else "a matrix"
        of = "numbers" if "f" in kinds else "ints"
        message = f"{name} is {array.dtype}{list(array.shape)}; give {words} of {of}"
        raise InvalidChunk(message, details={"column": name})
    if array.dtype == np.uint64 and dtype is np.int64:
        _refuse_rows(array > MOST_TOKENS, array, name, _TOKENS)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype)


def _refuse_rows(wrong: Bools, column: Any, name: str, wanted: str) -> None:
    rows = np.flatnonzero(wrong).tolist()
    if rows:
        more = f" (and {len(rows) - 1} more rows are wrong)" if len(rows) > 1 else ""
        message = f"{name} in row {rows[0]} is {shown(column[rows[0]])}; give {wanted}{more}"
        raise InvalidChunk(message, details={"column": name, "rows": rows})


def _refuse_kinds(entries: Sequence[object] | None, name: str, kind: type) -> None:
    if entries is not None:
        wrong = np.array([not isinstance(entry, kind) for entry in entries], np.bool_)
        _refuse_rows(wrong, entries, name, f"a {kind.__name__.lower()} in each")


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
    rows = np.arange(len(candidates))
    texts, ids = candidates.texts, candidates.given_ids
    if texts is not None and (not all(texts) or any(map(str.isspace, texts))):
        blank = [row for row, text in enumerate(texts) if _is_blank(text)]
        cuts.append(_cut(candidates, Reason.INVALID, blank, lambda _: "its text is blank"))
        rows = np.delete(rows, blank)
    if ids is not None and len(set(ids)) < len(ids):
        winners = _winners(candidates, ids, rows)
        losers = [row for row in rows.tolist() if winners[ids[row]] != row]
        if losers:
            cuts.append(_duplicates(candidates, losers, [winners[ids[row]] for row in losers]))
            rows = np.setdiff1d(rows, losers)
    scores = candidates.scores[rows] if cuts else candidates.scores
    if len(rows) > 1 and scores[0] == scores[-1] and scores.min() == scores.max():
        warnings = (*warnings, constant_scores(len(rows), scores[0]))
    zero = _zero_vectors(candidates, rows)
    if zero:
        words = "these embeddings are all zeros: similar to nothing by cosine, no embedding by auto"
        warnings = (*warnings, Warning("zero-vector", words, zero))
    return Intake(
        candidates=candidates,
        rows=sealed(rows),
        cuts=tuple(cuts),
        invalid=invalid,
        warnings=warnings,
        estimated=estimated,
    )


def _winners(candidates: Candidates, ids: Sequence[str], rows: Ints) -> dict[str, int]:
    """For each id the row that stays: the higher score, the earlier on a tie."""
    winners: dict[str, int] = {}
    for row in rows.tolist():
        best = winners.setdefault(ids[row], row)
        if candidates.scores[row] > candidates.scores[best]:
            winners[ids[row]] = row
    return winners


def _duplicates(candidates: Candidates, losers: Sequence[int], winners: Sequence[int]) -> Cut:
    def detail(at: int) -> str:
        row, winner = losers[at], winners[at]
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
    vectors, lengths = candidates.vectors, candidates.squares
    if vectors is None or lengths is None or lengths.all():
        return ()
    small = rows[candidates.has_vector[rows] & (lengths[rows] == 0.0)]
    zero = small[~vectors[small].any(axis=1)]  # the others are too small for a square
    return tuple(candidates.id(row) for row in zero.tolist())
