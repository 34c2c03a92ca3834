"""One row of a store's answer as a chunk: its id, text, metadata and vector, whatever holds them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from typing import Any, Final

from packer.errors import InvalidChunk, InvalidParameter, MissingEmbeddings, shown
from packer.records import Chunk

from .scores import Metric, refuse_ascending, scores

__all__ = [
    "as_rows",
    "chunks_of",
    "chunks_of_rows",
    "identifier",
    "listed",
    "one_query",
    "refuse_twice",
    "require",
    "require_each",
]

_MADE_BY: Final = ("to_pylist", "to_list", "to_dicts", "mappings")
"""How Arrow tables, query builders, polars frames and SQLAlchemy results give their rows."""


def chunks_of(
    *,
    ids: Sequence[str | None],
    texts: Sequence[Any],
    values: Sequence[Any],
    metadata: Sequence[Any],
    vectors: Sequence[Any] | None,
    metric: Metric,
    sorted_best_first: bool,
    mend: str,
) -> list[Chunk]:
    """The chunks of an answer given as columns of one length.

    A missing text becomes "", which `pack` sets aside as `invalid` and reports.  `mend`: what to
    do where a row has no number; `sorted_best_first`: whether the store promises it, so that an
    order the other way round shows a wrong metric.

    Raises INVALID_CHUNK for columns of several lengths.
    """
    columns = {"ids": ids, "texts": texts, "scores": values, "metadata": metadata}
    lengths = {name: len(column) for name, column in columns.items()}
    if vectors is not None:
        lengths["embeddings"] = len(vectors)
    if len(set(lengths.values())) > 1:
        has = ", ".join(f"{count} {name}" for name, count in lengths.items())
        message = f"the answer has {has}; give one of each for every row, as the store returned it"
        raise InvalidChunk(message, details={"lengths": lengths})
    found = scores(values, ids, metric, mend=mend)
    if sorted_best_first:
        refuse_ascending(found, metric)
    return [
        Chunk(
            "" if texts[at] is None else texts[at],
            found[at],
            id=ids[at],
            embedding=None if vectors is None else vectors[at],
            metadata={} if metadata[at] is None else metadata[at],
        )
        for at in range(len(ids))
    ]


def chunks_of_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    text: str,
    id: str | None,  # noqa: A002 (the name of the chunk's field)
    score: str,
    embedding: str | None,
    metric: Metric,
    added: AbstractSet[str] = frozenset(),
    sorted_best_first: bool,
    mend: str,
) -> list[Chunk]:
    """The chunks of rows with named columns; what is not named, nor `added` by the store, is metadata.

    Raises INVALID_PARAMETER, naming the argument, for a column that a row does not have,
    MISSING_EMBEDDINGS where that is the embedding.
    """
    named = {"text": text, "score": score, **({} if id is None else {"id": id})}
    for at, row in enumerate(rows):
        for parameter, column in named.items():
            if column not in row:
                message = (
                    f"row {at} has no column {column!r} (it has {shown(listed(row), 120)}); "
                    f"pass {parameter}=, the name of the column, or select it"
                )
                raise InvalidParameter(message, details={"parameter": parameter, "value": column})
    if embedding is not None:
        told = f"select the column {embedding!r}, or pass embedding=, the column that has them"
        require(there=all(embedding in row for row in rows), mend=told, count=len(rows))
    known = {*named.values(), embedding, *added}
    return chunks_of(
        ids=[None if id is None else identifier(row[id]) for row in rows],
        texts=[row[text] for row in rows],
        values=[row[score] for row in rows],
        metadata=[
            {name: value for name, value in row.items() if name not in known} for row in rows
        ],
        vectors=None if embedding is None else [_vector(row[embedding]) for row in rows],
        metric=metric,
        sorted_best_first=sorted_best_first,
        mend=mend,
    )


def identifier(value: Any) -> str | None:
    """An id as text: stores number their rows, or name them by UUIDs.

    >>> identifier(7), identifier("a"), identifier(None)
    ('7', 'a', None)
    """
    return value if value is None or isinstance(value, str) else str(value)


def _vector(value: Any) -> Any:
    """A vector as the record takes it; pgvector's own types and its text are read."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value  # `pack` names it
    to_numpy = getattr(value, "to_numpy", None)
    return to_numpy() if callable(to_numpy) else value


def listed(names: Iterable[Any]) -> list[str]:
    """Keys as an error names them, in order: those of a store need not all be text.

    >>> listed(["b", 1, "a"])
    ['1', 'a', 'b']
    """
    return sorted(map(str, names))


def require(*, there: bool, mend: str, count: int) -> None:
    """Raise MISSING_EMBEDDINGS where the answer has none though they were asked for."""
    if not there and count:
        message = f"the answer has no embeddings; {mend}"
        raise MissingEmbeddings(message, details={"parameter": "embeddings", "mend": mend})


def require_each(vectors: Sequence[Any], ids: Sequence[str | None], mend: str) -> None:
    """Raise MISSING_EMBEDDINGS, naming the rows, where some have none though all were asked for."""
    bare = [
        at
        for at, vector in enumerate(vectors)
        if vector is None or (isinstance(vector, Sized) and not len(vector))
    ]
    if not bare:
        return
    names = shown([at if ids[at] is None else ids[at] for at in bare])
    message = f"{len(bare)} of {len(vectors)} rows have no embedding: {names}; {mend}"
    raise MissingEmbeddings(
        message, details={"parameter": "embeddings", "mend": mend, "positions": tuple(bare)}
    )


def refuse_twice(names: Sequence[Any], parameter: str) -> None:
    """Raise INVALID_PARAMETER for a column that is named twice: a row can give only one of them."""
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        message = (
            f"{parameter} names {shown(twice)} more than once; "
            "give each column a name of its own (SELECT ... AS ...)"
        )
        raise InvalidParameter(message, details={"parameter": parameter, "columns": twice})


def one_query(count: int, query: int | None, what: str) -> int:
    """Which of `count` answers is meant; only one may be left unnamed.

    Raises INVALID_PARAMETER.
    """
    if query is None and count == 1:
        return 0
    if isinstance(query, int) and not isinstance(query, bool) and 0 <= query < count:
        return query
    if not count:
        message = f"{what} answers no query; give an answer of at least one"
        raise InvalidParameter(message, details={"parameter": "query", "queries": 0})
    said = "query is not given" if query is None else f"query is {shown(query)}"
    message = (
        f"{what} answers {count} queries, and {said}; pass query=, an int from 0 to {count - 1}"
    )
    raise InvalidParameter(message, details={"parameter": "query", "queries": count})


def as_rows(rows: Any, store: str) -> list[Mapping[str, Any]]:
    """Rows as mappings: a list of them, an Arrow table, a data frame, a query, a driver's rows.

    Raises INVALID_CHUNK, with the place, for a row without names, INVALID_PARAMETER for a name
    that stands twice.
    """
    for name in _MADE_BY:
        make: Callable[[], Any] | None = getattr(rows, name, None)
        if callable(make):
            rows = make()
            break
    else:
        if callable(frame := getattr(rows, "to_dict", None)):  # pandas
            rows = frame("records")
    if not isinstance(rows, Iterable):
        message = f"{store} is {shown(rows)}; give its rows"
        raise InvalidChunk(message, details={"value": rows})
    return [_named(row, at, store) for at, row in enumerate(rows)]


def _named(row: Any, at: int, store: str) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if isinstance(named := getattr(row, "_mapping", None), Mapping):  # SQLAlchemy
        return named
    if callable(as_dict := getattr(row, "_asdict", None)):
        return dict(as_dict())
    if callable(getattr(row, "keys", None)):  # asyncpg, sqlite3
        refuse_twice(list(row.keys()), store)
        return dict(row)
    message = (
        f"row {at} of {store} is {shown(row)}, a row without column names; give mappings or "
        "named tuples"
    )
    raise InvalidChunk(message, details={"position": at, "value": row})
