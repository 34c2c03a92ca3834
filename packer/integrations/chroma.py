"""Chroma: what `Collection.query` returns, as chunks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from packer.errors import InvalidChunk, shown
from packer.records import Chunk

from .rows import chunks_of, identifier, one_query, require, require_each
from .scores import Metric, checked_metric

__all__ = ["from_chroma"]

_INCLUDE: Final = 'pass include=["documents", "metadatas", "distances", "embeddings"] to the query'


def from_chroma(
    result: Mapping[str, Any],
    *,
    metric: Metric,
    query: int | None = None,
    embeddings: bool | None = None,
) -> list[Chunk]:
    """The chunks of one query of a Chroma result, in its order.

    `metric`: the collection's space.  Chroma's ``l2``, the default, is "l2_squared"; ``cosine``
    is "cosine_distance"; ``ip`` is 1 - a·b: "cosine_distance" for vectors of length 1, otherwise
    "negative_inner_product" (the score is then a·b - 1).  `query`: which query, where the
    result answers several.  `embeddings`: None takes those that are there, True requires them,
    of every record, False leaves them.  A record without a document has the text "", which `pack` sets aside.

    Raises INVALID_PARAMETER for another metric than the collection's where that shows,
    INVALID_CHUNK for a result without documents or distances, MISSING_EMBEDDINGS.

    >>> result = {"ids": [["a", "b"]], "documents": [["near", "far"]], "distances": [[0.0, 9.0]]}
    >>> [(chunk.id, chunk.score) for chunk in from_chroma(result, metric="l2_squared")]
    [('a', 1.0), ('b', 0.25)]
    """
    checked_metric(metric)
    if not isinstance(result, Mapping) or "ids" not in result:
        message = f"result is {shown(result)}; give what Collection.query returned"
        raise InvalidChunk(message, details={"value": result})
    columns = {name: result.get(name) for name in ("documents", "distances", "metadatas")}
    for name in ("documents", "distances"):
        if columns[name] is None:
            message = f"the result has no {name}; {_INCLUDE} (Collection.get has no distances)"
            raise InvalidChunk(message, details={"column": name})
    if not isinstance(result["ids"], Sequence) or isinstance(result["ids"], str):
        message = (
            f"the result's ids are {shown(result['ids'])}; give what Collection.query returned"
        )
        raise InvalidChunk(message, details={"column": "ids", "value": result["ids"]})
    at = one_query(len(result["ids"]), query, "the result")
    ids = _answer(result, "ids", at)
    vectors = None if embeddings is False else result.get("embeddings")
    if embeddings:
        require(there=vectors is not None, mend=_INCLUDE, count=len(ids))
    found = None if vectors is None else _answer(result, "embeddings", at)
    names = [identifier(id_) for id_ in ids]
    if embeddings and found is not None and len(found) == len(names):
        require_each(found, names, "add vectors to these records, or pass embeddings=None")
    return chunks_of(
        ids=names,
        texts=_answer(result, "documents", at),
        values=_answer(result, "distances", at),
        metadata=[None] * len(names)
        if columns["metadatas"] is None
        else _answer(result, "metadatas", at),
        vectors=found,
        metric=metric,
        sorted_best_first=True,
        mend="see the collection's records",
    )


def _answer(result: Mapping[str, Any], column: str, at: int) -> Any:
    """The entry of a column for one query.

    Raises INVALID_CHUNK where the column has no list for it.
    """
    given = result[column]
    try:
        found = given[at]
        len(found)
    except (IndexError, KeyError, TypeError):
        found = ""
    if isinstance(found, str):
        message = (
            f"{column} is {shown(given)}, which has no list for query {at}; give what "
            "Collection.query returned, a list for each query in every column"
        )
        raise InvalidChunk(message, details={"column": column, "query": at})
    return found
