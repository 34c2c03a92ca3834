"""Inputs at which models and shipped code could differ: ties, nothing left, one token too many."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["CASES", "items", "rankings", "unit_vectors"]

Ints = npt.NDArray[np.int64]

CASES: Final = 3000
"""So many inputs each comparison has."""


def rankings(most: int, cases: int = CASES) -> Iterator[tuple[list[float], list[int], int, int]]:
    """(scores, tokens, overhead, budget) of up to `most` chunks, the budget often just reached."""
    rng = np.random.default_rng(20_240_601)
    for _ in range(cases):
        n = int(rng.integers(0, most + 1))
        scores = (rng.integers(-2, 6, n) / 4).tolist()
        tokens = rng.integers(0, rng.choice([2, 12, 2**40]), n)
        overhead = int(rng.choice([0, 0, 3]))
        part = tokens[rng.random(n) < 0.6] + overhead
        budget = max(1, int(part.sum()) + int(rng.integers(-1, 2)))
        yield scores, tokens.tolist(), overhead, budget


def items(least: int, most: int, cases: int = CASES) -> Iterator[tuple[Ints, Ints, int]]:
    """(values, weights, capacity) of a knapsack: values and weights from 1, each weight fits alone."""
    rng = np.random.default_rng(20_240_602)
    for _ in range(cases):
        n = int(rng.integers(least, most + 1))
        high = int(rng.choice([3, 20, 1000]))
        weights = rng.integers(1, high + 1, n)
        alike = rng.random() < 0.3  # values that nearly are the weights are hard
        values = weights + rng.integers(0, 3, n) if alike else rng.integers(1, high + 1, n)
        capacity = int(rng.integers(weights.max(initial=1), weights.sum() + 2))
        yield values.astype(np.int64), weights.astype(np.int64), capacity


def unit_vectors(n: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """float32[n, 2]: directions of which any two have a cosine far from 0.85 and 0.5."""
    angles = rng.choice([0.0, 0.2, 0.4, 0.75, 1.3, 2.0, 3.1], n)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
