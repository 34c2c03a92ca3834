"""Scores of different kinds on one scale."""

import math
from typing import Final

import numpy as np

from packer.arrays import Floats, best_first
from packer.errors import InvalidParameter
from packer.pool import Pool

__all__ = ["minmax", "rank", "refuse_negative", "sigmoid", "zscore"]

MEND: Final = 'put normalize("minmax") or normalize("sigmoid") before it'


def minmax(scores: Floats) -> Floats:
    """(s - min) / (max - min), in 0..1; 1.0 for all when they are equal."""
    if not len(scores):
        return scores
    halves = scores / 2.0  # the difference of halves cannot overflow
    low, high = halves.min(), halves.max()
    if low == high:
        return np.ones(len(scores))
    scaled: Floats = (halves - low) / (high - low)  # in 0..1: rounding keeps the order of quotients
    return scaled


def zscore(scores: Floats) -> Floats:
    """(s - mean) / standard deviation (of the n, not n - 1); 0.0 for all when they are equal.

    The sums are exact, so that the order of the chunks does not show in the last digit.
    """
    scaled = minmax(scores)  # does not change the result, and no square overflows
    if not len(scores) or scaled.min() == scaled.max():
        return np.zeros(len(scores))
    from_mean = scaled - math.fsum(scaled.tolist()) / len(scaled)
    spread = math.sqrt(math.fsum((from_mean * from_mean).tolist()) / len(scaled))
    return from_mean / spread


def sigmoid(scores: Floats) -> Floats:
    """1 / (1 + e^-s), in 0..1."""
    small = np.exp(-np.abs(scores))  # at most 1, so nothing overflows
    return np.where(scores >= 0, 1.0 / (1.0 + small), small / (1.0 + small))


def rank(scores: Floats) -> Floats:
    """(n - r) / n with r the number of better scores: 1.0 for the best, equal for equals."""
    order = best_first(scores)
    ranked = scores[order]
    better = np.empty(len(scores))
    better[order] = np.searchsorted(-ranked, -ranked, side="left")
    return (len(scores) - better) / len(scores)


def refuse_negative(pool: Pool, name: str, does: str = "multiplies scores") -> None:
    """Raise INVALID_PARAMETER where a score is negative, for a stage that would turn it round."""
    if len(pool) and pool.scores.min() < 0:
        row = int(pool.scores.argmin())
        message = (
            f"{name} {does}, and chunk {pool.ids[row]!r} has the negative score "
            f"{pool.scores[row]:.6g}; {MEND}"
        )
        raise InvalidParameter(message, details={"id": pool.ids[row], "stage": name})
