"""The walk by gain per cost is that of the coverage kernel, and reaches its factor of brute force."""

from collections.abc import Callable, Iterator
from itertools import combinations

import attrs
import numpy as np
import numpy.typing as npt
import pytest

from packer import Pool
from proofs.conformance.inputs import CASES, unit_vectors
from proofs.smt.greedy_against_the_best_single import FACTOR, best_single, walk
from strategies import coverage

Floats = npt.NDArray[np.float64]

kernel = pytest.importorskip(
    "packer.kernels.coverage", reason="the selector coverage is not installed"
)


@attrs.frozen(eq=False)
class Case:
    """Rows with a worth of their own, near to each other, and what they cost."""

    vectors: npt.NDArray[np.float32]
    worth: Floats
    costs: npt.NDArray[np.int64]
    budget: int

    @property
    def matrix(self) -> Floats:
        exact = self.vectors.astype(np.float64)
        return np.maximum(exact @ exact.T, 0.0)

    @property
    def subsets(self) -> Iterator[list[int]]:
        """All that fit."""
        n = len(self.costs)
        for size in range(n + 1):
            for found in map(list, combinations(range(n), size)):
                if self.costs[found].sum() <= self.budget:
                    yield found

    def selected(self, *, lead: bool) -> tuple[list[int], float, float]:
        """What the kernel chooses, its value and its bound."""
        n = len(self.costs)
        rows, value, bound, _ = kernel.select(
            self.worth,
            self.worth,
            np.ones(n),
            np.empty(0),
            self.worth + self.matrix.sum(axis=0),
            1.0 / self.costs,
            self.costs,
            self.budget,
            self.vectors,
            np.ones(n, np.bool_),
            np.zeros(n + 1, np.int64),
            np.empty(0, np.int32),
            lead=lead,
        )
        return rows.tolist(), value, bound


def facility(
    matrix: Floats, worth: Floats, weights: float | Floats = 1.0
) -> Callable[[frozenset[int]], float]:
    """Facility location with relevance, as the kernel has it."""

    def value(rows: frozenset[int]) -> float:
        if not rows:
            return 0.0
        chosen = sorted(rows)
        return float(worth[chosen].sum() + (weights * matrix[chosen].max(axis=0)).sum())

    return value


def cases() -> Iterator[Case]:
    rng = np.random.default_rng(20_240_609)
    for _ in range(CASES):
        n = int(rng.integers(1, 6))
        worth = rng.integers(0, 64, n) / 16 + np.arange(n) * 1e-3  # no two gains are equal
        costs, budget = rng.integers(1, 9, n).astype(np.int64), int(rng.integers(4, 12))
        yield Case(unit_vectors(n, rng), worth, costs, budget)


def test_kernel_takes_what_the_walk_takes_and_reaches_the_factor() -> None:
    singles = 0
    for case in cases():
        value, costs = facility(case.matrix, case.worth), case.costs.tolist()
        chosen, single = walk(value, costs, case.budget), best_single(value, costs, case.budget)
        rows, reached, bound = case.selected(lead=False)
        assert rows == chosen
        assert reached == pytest.approx(value(frozenset(chosen)), rel=1e-6)
        best = max(value(frozenset(found)) for found in case.subsets)
        alone = value(frozenset(single))
        assert max(value(frozenset(chosen)), alone) >= FACTOR * best
        assert bound >= best - 1e-6
        if alone > value(frozenset(chosen)):
            singles += 1
            assert case.selected(lead=True)[0] == walk(value, costs, case.budget, single)
    assert singles > CASES / 100


def test_selector_begins_with_the_best_single_where_that_is_worth_more() -> None:
    rng = np.random.default_rng(20_240_613)
    stage = coverage(0.37, cost_power=1.0)  # no two gains per cost are equal
    led = 0
    for _ in range(CASES):
        n = int(rng.integers(2, 6))
        scores = np.sort(rng.random(n))[::-1]
        costs, budget = rng.integers(1, 9, n).astype(np.int64), int(rng.integers(4, 12))
        case = Case(unit_vectors(n, rng), np.zeros(n), costs, budget)
        # Scores count from 0 to 1, and their sum in units of what greedy gets of it.
        relevance = (scores - scores[-1]) / (scores[0] - scores[-1])
        left, got = budget, 0.0
        for row in range(n):
            if costs[row] <= left:
                left, got = left - int(costs[row]), got + relevance[row]
        worth, weights = 0.37 * relevance / (got or 1.0), 0.63 * relevance / relevance.sum()
        value = facility(case.matrix, worth, weights)

        chosen = walk(value, costs.tolist(), budget)
        single = best_single(value, costs.tolist(), budget)
        more = value(frozenset(single)) - value(frozenset(chosen))
        led += more > 1e-9
        if more > 1e-9:
            chosen = walk(value, costs.tolist(), budget, single)
        selection = stage(Pool.from_arrays(scores, costs, case.vectors, budget=budget))
        if abs(more) > 1e-9:  # else rounding decides which of the two begins
            assert selection.chosen.tolist() == chosen
        assert selection.optimality is not None
        assert selection.optimality.value == pytest.approx(value(frozenset(chosen)), rel=1e-6)
        best = max(value(frozenset(found)) for found in case.subsets)
        assert selection.optimality.value >= FACTOR * best - 1e-9
    assert led > CASES / 100
