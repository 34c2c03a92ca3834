"""Qdrant: scored points, as chunks."""

from collections.abc import Iterable, Mapping
from typing import Any

from packer.errors import InvalidChunk, InvalidParameter, shown
from packer.records import Chunk

from .rows import chunks_of, identifier, listed, require, require_each
from .scores import Metric, checked_metric

__all__ = ["from_qdrant"]


def from_qdrant(
    result: Any,
    *,
    metric: Metric,
    text: str,
    vector: str | None = None,
    embeddings: bool | None = None,
) -> list[Chunk]:
    """The chunks of a `query_points` response, or of a list of scored points, in its order.

    `metric`: the collection's distance.  Qdrant gives similarities for ``Cosine`` and ``Dot``
    ("similarity") and distances for ``Euclid`` ("l2"); ``Manhattan`` is a distance, too, and
    "l2" maps it the same way.  Fused and reranked scores are "similarity".  `text`: the key of
    the payload that has the text; the rest of the payload becomes metadata.  `vector`: the name
    of the vector, where points have several.  `embeddings`: None takes those that are there,
    True requires one of every point, False leaves them.  Ids become text.

    Raises INVALID_CHUNK for what is no scored point or has no payload or text, INVALID_PARAMETER for another
    metric where that shows or a vector that is not named, MISSING_EMBEDDINGS.

    >>> points = [{"id": 7, "score": 0.5, "payload": {"text": "Returns take 30 days.", "year": 2024}}]
    >>> from_qdrant(points, metric="similarity", text="text")[0].metadata
    {'year': 2024}
    """
    checked_metric(metric)
    points = _points(result)
    payloads = [_payload(point, at, text) for at, point in enumerate(points)]
    ids = [identifier(_part(point, "id")) for point in points]
    vectors = None
    if embeddings is not False:
        vectors = [_vector(point, at, vector) for at, point in enumerate(points)]
        there = any(found is not None for found in vectors)
        if embeddings:
            require(there=there, mend="pass with_vectors=True to query_points", count=len(points))
            require_each(vectors, ids, "give these points a vector, or pass embeddings=None")
    return chunks_of(
        ids=ids,
        texts=[payload[text] for payload in payloads],
        values=[_part(point, "score") for point in points],
        metadata=[
            {key: value for key, value in payload.items() if key != text} for payload in payloads
        ],
        vectors=vectors,
        metric=metric,
        sorted_best_first=True,
        mend="give scored points, as query_points returns them; those of scroll have no score",
    )


def _points(result: Any) -> list[Any]:
    """The points of an answer.

    Raises INVALID_CHUNK for another method's answer, or what is none.
    """
    found = getattr(result, "points", result)
    if hasattr(found, "groups"):
        message = (
            "the result is an answer of query_points_groups; give the hits of one of its groups"
        )
        raise InvalidChunk(message, details={"value": result})
    if isinstance(found, Mapping | str) or not isinstance(found, Iterable):
        message = f"the result is {shown(found)}; give what query_points returned, or its points"
        raise InvalidChunk(message, details={"value": result})
    points = list(found)
    for at, point in enumerate(points):
        if _part(point, "points") is not None:
            mend = "query_batch_points answers several queries; give one of its answers"
        elif isinstance(point, list):
            mend = "scroll gives a pair, and its points have no score; use query_points"
        elif all(_part(point, name) is None for name in ("id", "payload", "score")):
            mend = "give what query_points returned, or its points"
        else:
            continue
        message = f"what stands at {at} is no scored point but {shown(point)}; {mend}"
        raise InvalidChunk(message, details={"position": at, "value": point})
    return points


def _part(point: Any, name: str) -> Any:
    return point.get(name) if isinstance(point, Mapping) else getattr(point, name, None)


def _payload(point: Any, at: int, text: str) -> Mapping[str, Any]:
    payload = _part(point, "payload")
    where = f"point {shown(_part(point, 'id'))} at {at}"
    if not payload:
        message = f"{where} has no payload; pass with_payload=True to query_points"
        raise InvalidChunk(message, details={"position": at})
    if text not in payload:
        message = (
            f"{where} has no {text!r} in its payload, which has {shown(listed(payload))}; "
            "pass text=, the key that has the text"
        )
        raise InvalidChunk(message, details={"position": at, "text": text})
    found: Mapping[str, Any] = payload
    return found


def _vector(point: Any, at: int, name: str | None) -> Any:
    found = _part(point, "vector")
    if isinstance(found, Mapping):
        if name is None and len(found) == 1:
            return next(iter(found.values()))
        if name not in found:
            message = (
                f"point {shown(_part(point, 'id'))} at {at} has the vectors {shown(listed(found))}, "
                f"and vector is {shown(name)}; pass vector=, the one to compare by"
            )
            raise InvalidParameter(message, details={"parameter": "vector", "value": name})
        return found[name]
    return found
