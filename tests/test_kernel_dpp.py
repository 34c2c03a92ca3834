"""Lazy greedy MAP against the eager algorithm, and the residual against the determinant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import dpp, rules

from . import naive_dpp as naive
from . import naive_lazy, seeded_pools
from .naive_similarity import Features
from .similarity_pools import (
    clustered,
    features,
    frozen,
    kernel_matrix,
    mixed,
    only_embeddings,
    only_texts,
    prose,
)
from .test_kernel_rules import bound_pools, ints


@given(mixed(), st.sampled_from([0.0, 0.3, 1.0]), st.booleans(), st.data())
def test_lazy_selection_is_eager_selection(
    pool: tuple[Features, list[set[str]]], weight: float, based: object, data: st.DataObject
) -> None:
    """The same rows in the same order, under every kind of rule, from a base or from nothing."""
    found, _ = pool
    n = len(found[1])
    if n == 0:
        return
    _, costs, budget, bound = data.draw(bound_pools(n))
    numbers = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=n, max_size=n)
    scores, quality = data.draw(numbers), data.draw(numbers)
    start = ints([])
    if based:
        start = frozen(rules.base(ints(np.arange(n)), costs, budget, bound)[0])
    rows, _, _ = dpp.select(
        frozen(np.array(scores)),
        frozen(np.array(quality)),
        weight,
        costs,
        budget,
        *found,
        bound,
        start,
    )
    assert rows.tolist() == naive.select(
        kernel_matrix(found),
        scores,
        quality,
        weight,
        costs.tolist(),
        budget,
        bound,
        start.tolist(),
    )


@pytest.mark.parametrize("kind", ["embeddings", "texts", "mixed"])
def test_realistic_pools_are_selected_eagerly(kind: str) -> None:
    """Clusters of near-duplicates, and more picks than the first room for entries has columns."""
    n = 60
    unit, texts = clustered(n, 48), prose(n)
    found = {
        "embeddings": only_embeddings(unit),
        "texts": only_texts(texts),
        "mixed": features(unit, np.arange(n) % 3 > 0, texts),
    }[kind]
    quality = np.random.default_rng(4).standard_normal(n)
    costs = ints(np.random.default_rng(0).lognormal(5.4, 0.5, n))
    call = frozen(quality), frozen(quality), 0.5, costs, 6000, *found
    rows, _, _ = dpp.select(*call)
    assert len(rows) > 20
    expected = naive.select(
        kernel_matrix(found),
        quality.tolist(),
        quality.tolist(),
        0.5,
        costs.tolist(),
        6000,
        rules.free(n),
        [],
    )
    assert rows.tolist() == expected


def test_residuals_multiply_to_the_determinant() -> None:
    """In the order of the picks, of well separated rows."""
    found = only_embeddings(clustered(30, 64, seed=3))
    matrix = kernel_matrix(found)
    ones, none = ints(np.ones(30)), frozen(np.zeros(30))
    rows, residual, _ = dpp.select(none, none, 1.0, ones, 8, *found)
    assert len(rows) == 8
    chosen = matrix[np.ix_(rows, rows)]
    assert np.prod(residual[rows]) == pytest.approx(np.linalg.det(chosen), rel=1e-4)


def test_what_is_spanned_stays_out_though_it_fits() -> None:
    """A copy, and a mixture of two that are in."""
    unit = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0.6, 0.8, 0], [0, 0, 1]], dtype=np.float32)
    quality = frozen(np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
    ones = ints(np.ones(5))
    rows, residual, _ = dpp.select(quality, quality, 1.0, ones, 5, *only_embeddings(unit))
    assert rows.tolist() == [0, 1, 4]
    assert (residual[[2, 3]] <= dpp.SPANNED).all()
    rows, _, _ = dpp.select(quality, quality, 0.0, ones, 5, *only_embeddings(unit))
    assert rows.tolist() == [0, 1, 2, 3, 4]


def test_few_entries_are_computed() -> None:
    """Less than a third of what bringing all rows up to date after each pick computes."""
    n = 1000
    found = only_embeddings(clustered(n, 96))
    quality = frozen(np.random.default_rng(5).standard_normal(n))
    costs = ints(np.random.default_rng(0).lognormal(5.4, 0.5, n))
    rows, _, computed = dpp.select(quality, quality, 0.5, costs, 16_000, *found)
    assert len(rows) > 50
    assert computed < n * len(rows) / 3


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_every_kind_of_rule_from_a_base_or_from_nothing(weight: float) -> None:
    """The rows of the eager algorithm, with no more entries than a sorted list needs."""
    for pool in seeded_pools.pools(90):
        matrix = kernel_matrix(pool.found)
        quality = frozen(pool.scores[::-1])
        rows, residual, computed = dpp.select(
            pool.scores,
            quality,
            weight,
            pool.costs,
            pool.budget,
            *pool.found,
            pool.rules,
            pool.start,
        )
        eager = naive.select(
            matrix,
            pool.scores.tolist(),
            quality.tolist(),
            weight,
            pool.costs.tolist(),
            pool.budget,
            pool.rules,
            pool.start.tolist(),
        )
        assert rows.tolist() == eager
        assert (rows.tolist(), residual.tolist(), computed) == naive_lazy.dpp(
            matrix,
            pool.scores,
            quality,
            weight,
            pool.costs,
            pool.budget,
            pool.rules,
            pool.start.tolist(),
        )
