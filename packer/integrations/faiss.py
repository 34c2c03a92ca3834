"""FAISS: distances and labels of a search, with the texts that only the caller has, as chunks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from packer.errors import InvalidChunk, InvalidParameter, shown
from packer.records import Chunk

from .rows import chunks_of, identifier, one_query
from .scores import Metric, checked_metric

__all__ = ["from_faiss"]

ByLabel: TypeAlias = Sequence[Any] | npt.NDArray[Any] | Mapping[int, Any] | Callable[[int], Any]
"""A value for each label: in the index's order, by label, or by a function such as `reconstruct`."""

_NOTHING = -1
"""The label with which FAISS fills an answer of fewer rows than were asked for."""


def from_faiss(
    distances: Any,
    labels: Any,
    texts: ByLabel,
    *,
    metric: Metric,
    ids: ByLabel | None = None,
    metadata: ByLabel | None = None,
    embeddings: ByLabel | None = None,
    query: int | None = None,
) -> list[Chunk]:
    """The chunks of ``distances, labels = index.search(...)`` for one query, in its order.

    `metric`: the index's.  ``METRIC_L2``, the default, gives "l2_squared"; ``METRIC_INNER_PRODUCT``
    gives "similarity".  `texts`, `ids`, `metadata`, `embeddings`: a list in the order in which
    vectors were added, a mapping by label, or a function of the label (`index.reconstruct` gives
    embeddings); without `ids` the label is the id.  `query`: which row, where the answer has
    several.  Rows with the label -1, with which FAISS fills up an answer, are no candidates and
    are left out.

    Raises INVALID_PARAMETER for another metric where that shows, INVALID_CHUNK for a label that
    `texts` (or `ids`, `metadata`, `embeddings`) does not have.

    >>> found = from_faiss([[0.0, 9.0, 3.4e38]], [[1, 0, -1]], ["far", "near"], metric="l2_squared")
    >>> [(chunk.id, chunk.content, chunk.score) for chunk in found]
    [('1', 'near', 1.0), ('0', 'far', 0.25)]
    """
    checked_metric(metric)
    numbers, places = _array(distances, "distances"), _array(labels, "labels")
    whole = places.dtype.kind in "iu" or not places.size  # numpy takes an empty list for floats
    if numbers.shape != places.shape or places.ndim not in (1, 2) or not whole:
        message = (
            f"distances are {numbers.dtype}{list(numbers.shape)} and labels "
            f"{places.dtype}{list(places.shape)}; give both as index.search returned them, "
            "distances first"
        )
        raise InvalidParameter(message, details={"parameter": "labels"})
    if places.ndim == 2:
        row = one_query(len(places), query, "the search")
        numbers, places = numbers[row], places[row]
    found = places != _NOTHING
    at = [int(label) for label in places[found]]
    return chunks_of(
        ids=[str(label) for label in at]
        if ids is None
        else [identifier(value) for value in _column(ids, at, "ids")],
        texts=_column(texts, at, "texts"),
        values=numbers[found].tolist(),
        metadata=[None] * len(at) if metadata is None else _column(metadata, at, "metadata"),
        vectors=None if embeddings is None else _column(embeddings, at, "embeddings"),
        metric=metric,
        sorted_best_first=True,
        mend="was the index searched with finite vectors?",
    )


def _array(given: Any, name: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError:
        message = f"{name} has rows of several lengths; give it as index.search returned it"
        raise InvalidParameter(message, details={"parameter": name}) from None


def _column(source: ByLabel, labels: Sequence[int], name: str) -> list[Any]:
    """The value of each label.

    Raises INVALID_CHUNK for one that is not there, INVALID_PARAMETER for what has none.
    """
    if callable(source):
        return [source(label) for label in labels]
    if not hasattr(source, "__len__") or not hasattr(source, "__getitem__"):
        message = (
            f"{name} is {shown(source)}; give a list in the order in which the vectors were "
            "added, a mapping by label, or a function of the label"
        )
        raise InvalidParameter(message, details={"parameter": name, "value": source})
    missing = [
        label
        for label in labels
        if (label not in source if isinstance(source, Mapping) else not 0 <= label < len(source))
    ]
    if missing:
        message = (
            f"{name} has {len(source)} entries and none for the label {missing[0]} "
            f"({shown(missing)} in all); pass {name}= in the order in which the vectors were "
            "added, or a mapping by label for an IndexIDMap"
        )
        raise InvalidChunk(message, details={"parameter": name, "labels": missing})
    return [source[label] for label in labels]
