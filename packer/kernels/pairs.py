"""The similarity of a pair of chunks: by embedding where both have one, else by text."""

import numpy as np
import numpy.typing as npt

from . import cosine, trigrams
from ._jit import kernel


@kernel
def similarity(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    i: int,
    j: int,
) -> float:
    """Cosine of chunks i and j if both are `embedded` (bool[n]), else Jaccard. O(size).

    `unit` as in `cosine`, `indptr` and `grams` as in `trigrams`.
    """
    if embedded[i] and embedded[j]:
        return cosine.similarity(unit, i, j)
    return trigrams.jaccard(indptr, grams, i, j)


@kernel
def beside(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    row: int,
) -> npt.NDArray[np.float64]:
    """float64[n]: the similarity of each chunk to one of them. O(n size)."""
    n = len(embedded)
    marks = np.zeros(trigrams.vocabulary(indptr, grams), np.int32)
    trigrams.mark(indptr, grams, row, marks)
    found = np.empty(n, np.float64)
    for other in range(n):
        if embedded[row] and embedded[other]:
            found[other] = cosine.similarity(unit, row, other)
        else:
            found[other] = trigrams.marked(indptr, grams, row, marks, other)
    return found


@kernel
def mean_pairwise(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
) -> float:
    """Mean similarity over all pairs i < j of n >= 2 chunks.

    O(n^2 size) time; memory for one mark per trigram.
    """
    n = len(embedded)
    marks = np.zeros(trigrams.vocabulary(indptr, grams), np.int32)
    total = 0.0
    for i in range(n):
        trigrams.mark(indptr, grams, i, marks)
        for j in range(i + 1, n):
            if embedded[i] and embedded[j]:
                total += cosine.similarity(unit, i, j)
            else:
                total += trigrams.marked(indptr, grams, i, marks, j)
    return float(total / (n * (n - 1) / 2))
