r"""Labelled queries from files and tables.

A file is JSON Lines (or gzipped, `.jsonl.gz`), one query a line, with the keys that `case` takes:

    {"query": "...", "evidence": ["a"], "candidates": [{"id": "a", "content": "...", "score": 0.9}]}

Embeddings may stand in an `.npz` beside it (`faq.jsonl.gz`, `faq.npz`): `ids` text[m] and
`embeddings` float[m, d] of the candidates, and where there are `query_embeddings` float[q, d], a
row for each query.

A table (pandas, Arrow, Polars) has either a row for each query, with the same keys as columns, or
a row for each candidate; see `cases_from_table`.
"""

import errno
import gzip
import json
import math
import os
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import attrs
import numpy as np

from packer.arrays import Vectors, frozen
from packer.counted import number
from packer.errors import InvalidChunk, InvalidParameter, PackError, shown
from packer.intake import OnInvalid
from packer.tokens import CountTokens, approximate
from packer.validation import KEYS

from .cases import Case, CaseSet, case

__all__ = ["cases_from_table", "read_cases"]

ENDINGS: Final = (".jsonl.gz", ".jsonl", ".ndjson", ".json", ".gz")
COLUMNAR: Final = (".parquet", ".feather", ".arrow")

ROW_KEYS: Final = ("query", "query_id", "answers", "evidence")
"""Columns of a table of candidates that are about the query, not the chunk."""

MARKS: Final[Mapping[str, bool | str]] = {"": False, "false": False, "true": True}
"""Texts in a column of evidence that say whether a row is it."""

UNCLEAR: Final = frozenset({"0", "1", "yes", "no", "none", "null", "nan"})
"""Texts in a column of evidence that are hardly the name of a piece of it."""


def read_cases(
    path: str | Path,
    *,
    name: str | None = None,
    count_tokens: CountTokens = approximate,
    on_invalid: OnInvalid = "raise",
) -> CaseSet:
    """The labelled queries of a file, checked; the set is called `name`, or as the file is.

    `.parquet`, `.feather` and `.arrow` are read as tables, with pyarrow (the extra `eval`).
    `count_tokens` and `on_invalid` as in `case`.  O(size).

    Raises INVALID_PARAMETER or INVALID_CHUNK, naming the file, the line and the field; OSError.
    """
    path = Path(path)
    stem, ending = _parted(path)
    options = {"count_tokens": count_tokens, "on_invalid": on_invalid}
    if ending in COLUMNAR:
        return cases_from_table(_columnar(path), name=name or stem, **options)  # type: ignore[arg-type]
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    beside = _Embeddings.beside(path.with_name(f"{stem}.npz"))
    found: list[Case] = []
    for line, text in _lines(path):
        with _named(f"{path}, line {line}", {"file": str(path), "line": line}):
            record = beside.joined(_record(text), len(found))
            found.append(case(record, number=len(found), **options))  # type: ignore[arg-type]
    beside.check_queries(len(found))
    if not found:
        message = f"{path} has no queries; write one a line"
        raise InvalidParameter(message, details={"file": str(path)})
    return CaseSet(name or stem, found)


def cases_from_table(
    table: Any,
    *,
    name: str = "table",
    count_tokens: CountTokens = approximate,
    on_invalid: OnInvalid = "raise",
) -> CaseSet:
    """The labelled queries of a pandas or Polars frame, an Arrow table, or a list of mappings.

    With a column `candidates` each row is a query, and its columns are the keys of `case`.  Else
    each row is a candidate: `query`, `content`, `score`; `evidence`, True, False (1, 0, "true"
    and "false" too) or the name of the piece of evidence that it holds (rows with the same name
    are one group); where there are `query_id` (else equal `query`s belong together), `answers`,
    `id`, `tokens`, `embedding`, and any others, which become metadata.  NaN and null count as
    missing, and so does blank evidence.

    Raises INVALID_PARAMETER or INVALID_CHUNK, naming the row (counted from 1) and the field.

    >>> rows = [
    ...     {"query": "Who pays?", "content": "We pay.", "score": 0.9, "evidence": True},
    ...     {"query": "Who pays?", "content": "It is red.", "score": 0.4, "evidence": False},
    ... ]
    >>> asked = cases_from_table(rows).cases[0]
    >>> asked.query, [group.tolist() for group in asked.groups]
    ('Who pays?', [[0]])
    """
    rows = _rows(table)
    if not rows:
        message = "the table has no rows; give one a query, or one a candidate"
        raise InvalidParameter(message, details={"table": name})
    whole = any("candidates" in row for row in rows)
    numbered = enumerate(rows, 1) if whole else _gathered(rows, name)
    found: list[Case] = []
    for row, record in numbered:
        with _named(f"{name}, row {row}", {"table": name, "row": row}):
            known = {key: _nested(value) for key, value in record.items() if not _missing(value)}
            found.append(
                case(known, number=len(found), count_tokens=count_tokens, on_invalid=on_invalid)
            )
    return CaseSet(name, found)


# -- files ----------------------------------------------------------------------------------


def _parted(path: Path) -> tuple[str, str]:
    """The name of a file without its ending, and the ending."""
    for ending in (*ENDINGS, *COLUMNAR):
        if path.name.lower().endswith(ending) and len(path.name) > len(ending):
            return path.name[: -len(ending)], ending
    return path.stem, path.suffix


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, numbered from 1, unpacked where they are gzipped."""
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    line = 0
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            for line, content in enumerate(stream, 1):
                text = content.decode("utf-8-sig" if line == 1 else "utf-8")
                if text.strip():
                    yield line, text.rstrip()
    except UnicodeDecodeError as error:
        fault = f"{path}, line {line}: it is no UTF-8 ({error.reason})"
        raise InvalidParameter(fault, details={"file": str(path), "line": line}) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        fault = f"{path}, after line {line}: it is no whole gzip file ({error})"
        raise InvalidParameter(fault, details={"file": str(path), "line": line}) from None


def _record(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"column {error.pos + 1}: {error.msg}; write one query a line, as JSON"
        raise InvalidParameter(message, details={"column": error.pos + 1}) from None
    except (ValueError, RecursionError) as error:
        message = f"it cannot be read ({error}); write one query a line, as JSON"
        raise InvalidParameter(message) from None
    if not isinstance(record, dict):
        message = f"it is {shown(record)}; write an object with query, candidates and evidence"
        raise InvalidParameter(message, details={"value": record})
    return record


def _columnar(path: Path) -> Any:
    try:
        from pyarrow import feather, parquet
    except ModuleNotFoundError:
        message = f'{path}: needs pyarrow; install it with: pip install "chunk-packer[eval]"'
        raise InvalidParameter(message, details={"file": str(path)}) from None
    try:
        if path.suffix == ".parquet":
            return parquet.read_table(path)
        return feather.read_table(path)
    except ValueError as error:  # pyarrow's own errors are ValueErrors
        message = f"{path}: {error}"
        raise InvalidParameter(message, details={"file": str(path)}) from None


@final
@attrs.frozen
class _Embeddings:
    """What stands in the `.npz` beside a file: the vector of each id, and of each query."""

    path: Path
    rows: Mapping[str, int]
    vectors: Vectors | None
    queries: Vectors | None

    @classmethod
    def beside(cls, path: Path) -> "_Embeddings":
        if not path.is_file():
            return cls(path, {}, None, None)
        try:
            with np.load(path) as arrays:
                named = {key: arrays[key] for key in arrays.files}
        except (ValueError, OSError, zlib.error) as error:
            message = f"{path}: it is no .npz file of arrays ({error})"
            raise InvalidParameter(message, details={"file": str(path)}) from None
        ids, vectors = named.get("ids"), named.get("embeddings")
        queries = named.get("query_embeddings")
        if ids is None or vectors is None:
            message = (
                f"{path}: has the arrays {', '.join(named) or 'none'}; it needs ids and embeddings"
            )
            raise InvalidParameter(message, details={"file": str(path)})
        if ids.ndim != 1 or vectors.ndim != 2 or len(ids) != len(vectors):
            message = (
                f"{path}: ids is of shape {list(ids.shape)}, embeddings of {list(vectors.shape)}; "
                "embeddings has a row for each id"
            )
            raise InvalidParameter(message, details={"file": str(path)})
        rows = {str(id_): row for row, id_ in enumerate(ids.tolist())}
        return cls(path, rows, _floats(vectors), None if queries is None else _floats(queries))

    def joined(self, record: dict[str, Any], number: int) -> dict[str, Any]:
        """The record with the embeddings of its candidates and of its query."""
        if self.vectors is None:
            return record
        joined = dict(record)
        candidates = record.get("candidates")
        if isinstance(candidates, list):
            joined["candidates"] = [
                self._embedded(chunk, at) for at, chunk in enumerate(candidates)
            ]
        if self.queries is not None and number < len(self.queries):
            joined.setdefault("query_embedding", self.queries[number])
        return joined

    def _embedded(self, chunk: Any, at: int) -> Any:
        if not isinstance(chunk, dict) or chunk.get("embedding") is not None:
            return chunk
        row = self.rows.get(str(chunk.get("id")))
        if row is None or self.vectors is None:
            message = (
                f"candidate {at + 1}: {self.path.name} has no embedding for the id "
                f"{shown(chunk.get('id'))}; add a row for it, or take the file away"
            )
            raise InvalidChunk(message, details={"id": chunk.get("id"), "field": "embedding"})
        return {**chunk, "embedding": self.vectors[row]}

    def check_queries(self, count: int) -> None:
        """Raise INVALID_PARAMETER when there is not one query embedding for each query."""
        if self.queries is not None and len(self.queries) != count:
            rows, queries = number(len(self.queries), "row"), number(count, "query", "queries")
            message = (
                f"{self.path}: query_embeddings has {rows} for {queries}; "
                "write one for each, in their order"
            )
            raise InvalidParameter(message, details={"file": str(self.path)})


def _floats(array: Any) -> Vectors:
    return frozen(np.ascontiguousarray(array, np.float32))


# -- tables ---------------------------------------------------------------------------------


def _rows(table: Any) -> list[dict[str, Any]]:
    """The rows of a table of whatever library, as mappings."""
    if hasattr(table, "to_pylist"):  # Arrow
        rows = table.to_pylist()
    elif hasattr(table, "to_dicts"):  # Polars
        rows = table.to_dicts()
    elif hasattr(table, "to_dict") and hasattr(table, "columns"):  # pandas, but no Series
        rows = table.to_dict("records")
    elif isinstance(table, Sequence) and not isinstance(table, str):
        rows = list(table)
    else:
        rows = [None]
    if not all(isinstance(row, Mapping) for row in rows):
        message = (
            f"table is {shown(table)}; give a data frame, an Arrow table or a list of mappings"
        )
        raise InvalidParameter(message, details={"table": table})
    return [dict(row) for row in rows]


def _gathered(
    rows: Sequence[Mapping[str, Any]], table: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of candidates as a record for each query, with the number of its first row."""
    of_query: dict[tuple[str, Any], list[tuple[int, Mapping[str, Any]]]] = {}
    for place, row in enumerate(rows, 1):
        with _named(f"{table}, row {place}", {"table": table, "row": place}):
            of_query.setdefault(_asked(row), []).append((place, row))
    for taken in of_query.values():
        start, first = taken[0]
        groups: dict[object, list[str]] = {}
        candidates = [_candidate(row) for _, row in taken]
        for (place, row), chunk, made in zip(taken, candidates, _made_ids(candidates), strict=True):
            chunk.setdefault("id", made)
            with _named(f"{table}, row {place}", {"table": table, "row": place}):
                held = _evidence(_nested(row.get("evidence")))
            if held is not False:
                groups.setdefault(place if held is True else held, []).append(chunk["id"])
        record: dict[str, Any] = {
            key: first[key] for key in ("query", "query_id") if not _missing(first.get(key))
        }
        answers = _nested(first.get("answers"))
        if any("evidence" in row for _, row in taken):
            record["evidence_groups"] = list(groups.values())
        if not _missing(answers):
            record["answers"] = [answers] if isinstance(answers, str) else answers
        yield start, {**record, "candidates": candidates}


def _asked(row: Mapping[str, Any]) -> tuple[str, Any]:
    """What the rows of a query have in common: their query_id, or else its words."""
    for key, kinds, wanted in (
        ("query_id", Hashable, "a text or a number"),
        ("query", str, "the request's words as text"),
    ):
        value = _nested(row.get(key))
        if _missing(value):
            continue
        if not isinstance(value, kinds):
            message = f"{key} is {shown(value)}; give {wanted}"
            raise InvalidParameter(message, details={"field": key, "value": value})
        return key, value
    return "query", None


def _made_ids(candidates: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """An id for each candidate that none of them has: `chunk-N`, with a suffix where it is taken."""
    taken = {id_ for chunk in candidates if isinstance(id_ := chunk.get("id"), str)}
    for at in range(len(candidates)):
        name, more = f"chunk-{at}", 1
        while name in taken:
            name, more = f"chunk-{at}-{more}", more + 1
        yield name


def _evidence(value: Any) -> bool | str:
    """Whether a row is evidence, or the name of the piece that it holds.

    Raises INVALID_PARAMETER for what may mean either.
    """
    if _missing(value):
        return False
    if isinstance(value, str) and (text := value.strip().casefold()) not in UNCLEAR:
        return MARKS.get(text, value)
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    message = (
        f"evidence is {shown(value)}; give True, False, or the name of the piece of evidence that "
        "the row holds, as text"
    )
    raise InvalidParameter(message, details={"field": "evidence", "value": value})


def _candidate(row: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: _nested(value) for key, value in row.items() if not _missing(value)}
    chunk: dict[str, Any] = {key: known[key] for key in KEYS if key in known}
    more = {key: value for key, value in known.items() if key not in KEYS and key not in ROW_KEYS}
    metadata = chunk.get("metadata")
    chunk["metadata"] = {**(metadata if isinstance(metadata, Mapping) else {}), **more}
    return chunk


def _nested(value: Any) -> Any:
    """Arrays of objects, as pandas has them in cells, as lists; mappings without missing values."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [_nested(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {key: _nested(item) for key, item in value.items() if not _missing(item)}
    if isinstance(value, list):
        return [_nested(item) for item in value]
    return value


def _missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, or pandas' NA and NaT, which equal not even themselves."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")


# -- faults ---------------------------------------------------------------------------------


class _named:  # noqa: N801  # a context manager, used as a function
    """Puts the place before the message of what is raised within."""

    def __init__(self, place: str, details: Mapping[str, object]) -> None:
        self.place, self.details = place, details

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, PackError):
            message = f"{self.place}: {error.message}"
            details = {**self.details, **error.details}
            raise type(error)(message, error.code, details) from None
