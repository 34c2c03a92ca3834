"""pgvector: the rows of a SELECT, as chunks.  Needs no package: any driver's rows will do."""

from collections.abc import Iterable, Sequence
from typing import Any

from packer.errors import InvalidChunk, shown
from packer.records import Chunk

from .rows import as_rows, chunks_of_rows, refuse_twice
from .scores import Metric, checked_metric

__all__ = ["from_pgvector_rows"]


def from_pgvector_rows(
    rows: Any,
    *,
    metric: Metric,
    text: str = "content",
    id: str | None = "id",  # noqa: A002 (the name of the chunk's field)
    score: str = "distance",
    embedding: str | None = None,
    columns: Sequence[str] | None = None,
) -> list[Chunk]:
    """The chunks of the rows of a query such as

        SELECT id, content, source, embedding, embedding <=> %s AS distance FROM ... ORDER BY distance

    `metric`: the operator.  ``<=>`` gives "cosine_distance", ``<->`` "l2", ``<#>``
    "negative_inner_product", ``<+>`` (taxicab) is mapped like "l2"; a column that the query made
    into a similarity, ``1 - (embedding <=> %s)``, is "similarity".  `rows`: mappings
    (``dict_row``), named tuples, SQLAlchemy rows, or plain tuples with `columns`, their names
    (``[column.name for column in cursor.description]``).  `text`, `id`, `score`, `embedding`: the
    names of the columns; all other columns become metadata.  Ids become text; an embedding may
    be a list, an array, pgvector's own types, or its text ``[1,2,3]``.

    SQL rows need no order, so a metric read the wrong way round shows only in values that it
    cannot have: check the sign.

    Raises INVALID_PARAMETER, naming the argument, for a column that is not there or stands twice;
    MISSING_EMBEDDINGS for an embedding column that is not.

    >>> row = (7, "Returns take 30 days.", "faq", 0.25)
    >>> found = from_pgvector_rows(
    ...     [row], metric="cosine_distance", columns=["id", "content", "source", "distance"]
    ... )
    >>> found[0].id, found[0].score, found[0].metadata
    ('7', 0.75, {'source': 'faq'})
    """
    checked_metric(metric)
    if columns is not None:
        refuse_twice(list(columns), "columns")
        if not isinstance(rows, Iterable):
            message = f"rows is {shown(rows)}; give the rows of the query"
            raise InvalidChunk(message, details={"parameter": "rows", "value": rows})
        rows = [_named(row, at, columns) for at, row in enumerate(rows)]
    return chunks_of_rows(
        as_rows(rows, "the query's answer"),
        text=text,
        id=id,
        score=score,
        embedding=embedding,
        metric=metric,
        sorted_best_first=False,
        mend="an embedding that is NULL has no distance: add WHERE embedding IS NOT NULL",
    )


def _named(row: Any, at: int, columns: Sequence[str]) -> dict[str, Any]:
    if not isinstance(row, Iterable) or isinstance(row, str | bytes):
        message = f"row {at} is {shown(row)}; give tuples of the columns' values"
        raise InvalidChunk(message, details={"parameter": "rows", "position": at})
    values = tuple(row)
    if len(values) != len(columns):
        message = f"row {at} has {len(values)} values for {len(columns)} names; pass columns="
        raise InvalidChunk(message, details={"parameter": "columns", "position": at})
    return dict(zip(columns, values, strict=True))
