"""Lazy coverage against the eager algorithm, its value against its definition, its bound against all sets."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import coverage, rules
from packer.kernels.rules import Rules

from . import naive_coverage as naive
from . import naive_lazy, seeded_pools
from .naive_similarity import Features
from .similarity_pools import clustered, features, frozen, kernel_matrix, mixed, only_embeddings
from .test_kernel_rules import bound_pools, ints

Floats = np.typing.NDArray[np.float64]


class Trial(NamedTuple):
    """What the kernel is asked, and the twin of its objective."""

    found: Features
    scores: Floats
    worth: Floats
    weights: Floats
    ceiling: Floats
    rate: Floats
    costs: np.typing.NDArray[np.int64]
    budget: int
    rules: Rules

    @property
    def value(self) -> naive.Value:
        ceiling = self.ceiling.tolist() if self.ceiling.size else None
        return naive.Value(
            kernel_matrix(self.found), self.worth.tolist(), self.weights.tolist(), ceiling
        )

    def run(
        self, start: np.typing.NDArray[np.int64], *, lead: bool = False
    ) -> tuple[np.typing.NDArray[np.int64], float, float, int]:
        near, _ = coverage.totals(self.weights, *self.found)
        return coverage.select(
            self.scores,
            self.worth,
            self.weights,
            self.ceiling,
            frozen(self.worth + near),
            self.rate,
            self.costs,
            self.budget,
            *self.found,
            self.rules,
            start,
            lead=lead,
        )


@st.composite
def trials(draw: st.DrawFn, *, ruled: bool) -> Trial:
    found, _ = draw(mixed().filter(lambda pool: len(pool[0][1]) > 0))
    n = len(found[1])
    numbers = st.lists(
        st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0.0, 1.0, allow_subnormal=False),
        min_size=n,
        max_size=n,
    )
    costs = ints(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)))
    budget, bound = draw(st.integers(0, 30)), rules.free(n)
    if ruled:
        _, costs, budget, bound = draw(bound_pools(n))
    ceiling = np.empty(0)
    if draw(st.booleans()):
        ceiling = draw(st.sampled_from([0.5, 1.5])) * kernel_matrix(found).clip(0.0).mean(axis=0)
    power = draw(st.sampled_from([0.0, 0.5, 1.0]))
    return Trial(
        found,
        frozen(np.array(draw(numbers))),
        frozen(np.array(draw(numbers))),
        frozen(np.array(draw(numbers))),
        frozen(ceiling),
        frozen(np.maximum(costs, 1) ** -power),
        costs,
        budget,
        bound,
    )


@given(trials(ruled=True), st.booleans(), st.booleans())
def test_lazy_selection_is_eager_selection(trial: Trial, lead: object, based: object) -> None:
    """The same rows in the same order, under every kind of rule, from a base or from nothing."""
    order = ints(np.arange(len(trial.costs)))
    start = ints([])
    if based:
        start = frozen(rules.base(order, trial.costs, trial.budget, trial.rules)[0])
    rows, value, bound, _ = trial.run(start, lead=bool(lead))
    assert rows.tolist() == naive.select(
        trial.value,
        trial.scores.tolist(),
        trial.rate.tolist(),
        trial.costs.tolist(),
        trial.budget,
        trial.rules,
        start.tolist(),
        lead=bool(lead),
    )
    assert value == pytest.approx(trial.value.of([*start.tolist(), *rows.tolist()]), abs=1e-12)
    assert bound >= value


@given(trials(ruled=False))
def test_no_set_is_worth_more_than_the_bound(trial: Trial) -> None:
    """Whatever the objective and the order of the picks."""
    rows, value, bound, _ = trial.run(ints([]))
    assert trial.costs[rows].sum() <= trial.budget
    best = trial.value.best(trial.costs.tolist(), trial.budget)
    assert value - 1e-9 <= best <= bound + 1e-9


@given(trials(ruled=False))
def test_totals_are_row_sums_of_the_similarities(trial: Trial) -> None:
    """With weights and without, negative similarities as 0."""
    weighted, plain = coverage.totals(trial.weights, *trial.found)
    matrix = kernel_matrix(trial.found).clip(0.0)
    assert weighted == pytest.approx(matrix @ trial.weights, abs=1e-9)
    assert plain == pytest.approx(matrix.sum(axis=1), abs=1e-9)


@pytest.mark.parametrize("saturated", [False, True])
def test_few_gains_are_computed(saturated: object) -> None:
    """Less than a quarter of what a scan of all rows for each pick computes."""
    n = 200
    found = only_embeddings(clustered(n, 16))
    scores = frozen(np.random.default_rng(5).random(n))
    near, total = coverage.totals(scores, *found)
    ceiling = frozen(4.0 * total / n if saturated else np.empty(0))
    none, ones = frozen(np.zeros(n)), frozen(np.ones(n))
    costs = ints(np.random.default_rng(0).lognormal(5.4, 0.5, n))
    rows, _, _, gains = coverage.select(
        scores, none, scores, ceiling, frozen(near), ones, costs, 8_000, *found
    )
    assert len(rows) > 20
    assert gains < n * len(rows) / 4


def test_a_row_that_is_near_to_two_comes_before_either() -> None:
    """Of three vectors in a fan the middle covers most, by hand: 0.8 + 1 + 0.8 to 1 + 0.8 + 0.28."""
    unit = np.array([[1, 0], [0.8, 0.6], [0.28, 0.96]], dtype=np.float32)
    found = features(unit, np.ones(3, np.bool_), [""] * 3)
    none, ones = frozen(np.zeros(3)), frozen(np.ones(3))
    near, _ = coverage.totals(ones, *found)
    rows, value, bound, _ = coverage.select(
        ones, none, ones, frozen(np.empty(0)), frozen(near), ones, ints([1, 1, 1]), 1, *found
    )
    assert rows.tolist() == [1]
    assert value == pytest.approx(2.6, abs=1e-6)
    assert bound == pytest.approx(2.8, abs=1e-6)  # either end would add 0.2


def test_more_rows_than_lines_are_kept_choose_the_same() -> None:
    """Against a matrix, of more rows than the kernel keeps similarities of."""
    n = coverage.LINES + 60
    found = only_embeddings(clustered(n, 8, seed=7))
    matrix = kernel_matrix(found).clip(0.0)
    worth = frozen(np.random.default_rng(6).random(n))
    none, ones = frozen(np.empty(0)), frozen(np.ones(n))
    near, _ = coverage.totals(ones, *found)
    rows, *_ = coverage.select(
        worth, worth, ones, none, frozen(worth + near), ones, ints(ones), 25, *found
    )
    cover = np.zeros(n)
    expected: list[int] = []
    for _ in range(25):
        gains = worth + np.maximum(matrix - cover, 0.0).sum(axis=1)
        gains[expected] = -1.0
        expected.append(int(gains.argmax()))
        cover = np.maximum(cover, matrix[expected[-1]])
    assert rows.tolist() == expected


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("saturated", [False, True])
def test_every_kind_of_rule_from_a_base_or_from_nothing(saturated: object, power: float) -> None:
    """The rows of the eager algorithm, the bound, and no more gains than a sorted list needs."""
    for seed, pool in enumerate(seeded_pools.pools(60)):
        lead = seed % 4 > 1
        matrix = kernel_matrix(pool.found)
        ceiling = frozen(matrix.clip(0.0).mean(axis=0) if saturated else np.empty(0))
        trial = Trial(
            pool.found,
            pool.scores,
            frozen(np.abs(pool.scores[::-1])),
            frozen(pool.scores.clip(0.0)),
            ceiling,
            frozen(np.maximum(pool.costs, 1) ** -power),
            pool.costs,
            pool.budget,
            pool.rules,
        )
        rows, value, bound, gains = trial.run(pool.start, lead=lead)
        asked = trial.rate.tolist(), pool.costs.tolist(), pool.budget, pool.rules
        start = pool.start.tolist()
        eager = naive.select(trial.value, pool.scores.tolist(), *asked, start, lead=lead)
        assert rows.tolist() == eager
        assert value == pytest.approx(trial.value.of([*start, *eager]), abs=1e-12)
        near, _ = coverage.totals(trial.weights, *pool.found)
        lazy = naive_lazy.coverage(
            trial.value,
            (trial.worth + near) * coverage.SLACK,
            pool.scores,
            trial.rate,
            pool.costs,
            pool.budget,
            pool.rules,
            start,
            lead=lead,
        )
        assert (rows.tolist(), gains) == (lazy[0], lazy[2])
        assert bound == pytest.approx(lazy[1], abs=1e-12)
