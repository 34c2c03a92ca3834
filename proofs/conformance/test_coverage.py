"""The walk by gain per cost is that of the coverage kernel, and reaches its factor of brute force."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from proofs.conformance.inputs import CASES, unit_vectors
from proofs.smt.greedy_against_the_best_single import FACTOR, walk_or_single

Floats = npt.NDArray[np.float64]

kernel = pytest.importorskip(
    "packer.kernels.coverage", reason="the selector coverage is not installed"
)


def facility(matrix: Floats, worth: Floats) -> Callable[[frozenset[int]], float]:
    """Facility location with relevance, as the kernel has it, on numbers that sum exactly."""

    def value(rows: frozenset[int]) -> float:
        if not rows:
            return 0.0
        chosen = sorted(rows)
        return float(worth[chosen].sum() + matrix[chosen].max(axis=0).sum())

    return value


def test_kernel_takes_what_the_walk_takes_and_reaches_the_factor() -> None:
    rng = np.random.default_rng(20_240_609)
    singles = 0
    for _ in range(CASES):
        n = int(rng.integers(1, 6))
        vectors = unit_vectors(n, rng)
        matrix = np.maximum(vectors.astype(np.float64) @ vectors.astype(np.float64).T, 0.0)
        worth = rng.integers(0, 64, n) / 16 + np.arange(n) * 1e-3  # no two gains are equal
        costs, budget = rng.integers(1, 9, n).astype(np.int64), int(rng.integers(4, 12))
        value = facility(matrix, worth)
        chosen, total = walk_or_single(value, costs.tolist(), budget)
        rows, reached, bound, _ = kernel.select(
            worth,
            worth,
            np.ones(n),
            np.empty(0),
            worth + matrix.sum(axis=0),
            1.0 / costs,
            costs,
            budget,
            vectors,
            np.ones(n, np.bool_),
            np.zeros(n + 1, np.int64),
            np.empty(0, np.int32),
        )
        if reached + 1e-6 < total:
            singles += 1  # the selector begins with the best one alone then
            assert len(chosen) == 1
        else:
            assert rows.tolist() == chosen
            assert reached == pytest.approx(total, rel=1e-6)
        best = max(
            value(frozenset(found))
            for size in range(n + 1)
            for found in combinations(range(n), size)
            if costs[list(found)].sum() <= budget
        )
        assert total >= FACTOR * best
        assert bound >= best - 1e-6
    assert singles > 0
