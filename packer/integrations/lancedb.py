"""LanceDB: the rows of a search, as chunks."""

from typing import Any, Final

from packer.records import Chunk

from .rows import as_rows, chunks_of_rows, require_each
from .scores import Metric, checked_metric

__all__ = ["from_lancedb"]

_RERANKED: Final = "_relevance_score"
_SCORES: Final = frozenset({"_distance", "_score", _RERANKED})
"""What a search adds to the table's own columns."""


def from_lancedb(
    result: Any,
    *,
    metric: Metric,
    text: str = "text",
    id: str | None = None,  # noqa: A002 (the name of the chunk's field)
    score: str = "_distance",
    embedding: str | None = None,
) -> list[Chunk]:
    """The chunks of a search: its `to_list`, `to_arrow` or `to_pandas`, or the query itself.

    `metric`: the distance type of the search.  LanceDB's ``l2``, the default, is "l2_squared";
    ``cosine`` is "cosine_distance"; ``dot`` is 1 - a·b: "cosine_distance" for vectors of length 1,
    otherwise "negative_inner_product" (the score is then a·b - 1).  `score`: the column of the
    number; full-text search writes ``_score`` and a reranker ``_relevance_score``, which are
    "similarity".  `text`, `id`, `embedding`: the columns of the table; without `id` chunks get
    ids by their place, without `embedding` no vector.  All other columns become metadata.

    Raises INVALID_PARAMETER for another metric where that shows, or for a column that is not there;
    MISSING_EMBEDDINGS for an embedding column that is not, or that is null in a row.

    >>> rows = [{"key": 1, "text": "Returns take 30 days.", "_distance": 0.25, "year": 2024}]
    >>> chunk = from_lancedb(rows, metric="cosine_distance", id="key")[0]
    >>> chunk.id, chunk.score, chunk.metadata
    ('1', 0.75, {'year': 2024})
    """
    checked_metric(metric)
    rows = as_rows(result, "LanceDB's answer")
    reranked = score != _RERANKED and any(_RERANKED in row for row in rows)
    chunks = chunks_of_rows(
        rows,
        text=text,
        id=id,
        score=score,
        embedding=embedding,
        metric=metric,
        added=_SCORES,
        sorted_best_first=not reranked,
        mend="pass score=, the column that the search sorted by",
    )
    if embedding is not None:
        require_each(
            [chunk.embedding for chunk in chunks],
            [chunk.id for chunk in chunks],
            f"fill the column {embedding!r}, or leave embedding= out",
        )
    return chunks
