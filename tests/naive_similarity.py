"""The slow, obvious twins of the similarity kernels: Python sets and double loops."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Features = tuple[
    npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.int64], npt.NDArray[np.int32]
]


def folded(text: str) -> str:
    """In lower case, with single blanks."""
    return " ".join(text.lower().split())


def trigrams(text: str) -> set[str]:
    """The set of trigrams of a folded text; a short text is its own single element."""
    if len(text) < 3:
        return {text}
    return {text[k : k + 3] for k in range(len(text) - 2)}


def jaccard(left: set[str], right: set[str]) -> float:
    """|A & B| / |A | B|, 0.0 for two empty sets."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def cosine(left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]) -> float:
    """Cosine of two unit rows in float64, exactly 1.0 where they are equal and not zero."""
    if not left.any() or not right.any():
        return 0.0
    if np.array_equal(left, right):
        return 1.0
    value = float(left.astype(np.float64) @ right.astype(np.float64))
    return min(max(value, -1.0), float(np.nextafter(1.0, 0.0)))


def similarity_matrix(
    unit: npt.NDArray[np.float32], embedded: npt.NDArray[np.bool_], sets: Sequence[set[str]]
) -> npt.NDArray[np.float64]:
    """The similarity of every pair, float64[n, n]: cosine if both are embedded, else Jaccard."""
    n = len(embedded)
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if embedded[i] and embedded[j]:
                matrix[i, j] = cosine(unit[i], unit[j])
            else:
                matrix[i, j] = jaccard(sets[i], sets[j])
    return matrix


def mean_pairwise(matrix: npt.NDArray[np.float64]) -> float:
    """Mean of the upper triangle."""
    n = len(matrix)
    return float(np.mean([matrix[i, j] for i in range(n) for j in range(i + 1, n)]))


def dedup(
    matrix: npt.NDArray[np.float64], order: Sequence[int], threshold: float, always: int = 0
) -> tuple[list[int], list[float]]:
    """Survivor (-1: kept) and similarity of each row, compared with all kept rows in turn.

    The first `always` of the order are kept.
    """
    survivor, similarity = [-1] * len(order), [0.0] * len(order)
    kept: list[int] = list(order[:always])
    for row in order[always:]:
        for other in kept:
            value = float(matrix[row, other])
            if value >= threshold and value > similarity[row]:
                survivor[row], similarity[row] = other, value
        if survivor[row] < 0:
            kept.append(row)
    return survivor, similarity


def mmr(
    matrix: npt.NDArray[np.float64],
    scores: Sequence[float],
    costs: Sequence[int],
    budget: int,
    lambda_: float,
) -> list[int]:
    """Eager MMR: every candidate against every chosen row, at every step."""
    chosen: list[int] = []
    left = budget
    while True:
        fitting = [i for i in range(len(scores)) if i not in chosen and costs[i] <= left]
        if not fitting:
            return chosen

        def value(i: int) -> float:
            if not chosen:
                return scores[i]
            nearest = max(float(matrix[i, j]) for j in chosen)
            return lambda_ * scores[i] - (1.0 - lambda_) * nearest

        best = max(fitting, key=lambda i: (value(i), scores[i], -i))
        chosen.append(best)
        left -= costs[best]
