"""Lazy MMR against the eager algorithm."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import mmr

from . import naive_lazy, naive_rules, seeded_pools
from . import naive_similarity as naive
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


def lognormal_costs(n: int, seed: int = 0) -> npt.NDArray[np.int64]:
    """Costs of chunks of text, about 250 tokens."""
    return np.random.default_rng(seed).lognormal(5.4, 0.5, n).astype(np.int64)


@given(mixed(), st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0]) | st.floats(0.0, 1.0), st.data())
def test_lazy_selection_is_eager_selection(
    pool: tuple[naive.Features, list[set[str]]], lambda_: float, data: st.DataObject
) -> None:
    """The same rows in the same order, with tied scores, equal rows and costs of 0."""
    found, _ = pool
    n = len(found[1])
    scores = data.draw(
        st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]) | st.floats(-9, 9), min_size=n, max_size=n)
    )
    costs = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    budget = data.draw(st.integers(0, 40))
    chosen = mmr.select(frozen(np.array(scores)), frozen(np.array(costs)), budget, lambda_, *found)
    assert chosen.tolist() == naive.mmr(kernel_matrix(found), scores, costs, budget, lambda_)


@pytest.mark.parametrize("lambda_", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("kind", ["embeddings", "texts", "mixed"])
def test_realistic_pools_are_selected_eagerly(kind: str, lambda_: float) -> None:
    """Clusters of near-duplicates under a budget of some dozens."""
    n = 60
    texts = prose(n)
    unit = clustered(n, 24)
    pools = {
        "embeddings": only_embeddings(unit),
        "texts": only_texts(texts),
        "mixed": features(unit, np.arange(n) % 3 > 0, texts),
    }
    found = pools[kind]
    scores = np.random.default_rng(4).random(n)
    costs = lognormal_costs(n)
    chosen = mmr.select(frozen(scores), frozen(costs), 4000, lambda_, *found)
    expected = naive.mmr(kernel_matrix(found), scores.tolist(), costs.tolist(), 4000, lambda_)
    assert chosen.tolist() == expected
    assert len(chosen) > 10


def test_nothing_fits_or_nothing_is_there() -> None:
    """An empty selection, never an error."""
    found = only_texts(["abc", "abd"])
    scores, costs = frozen(np.array([1.0, 2.0])), frozen(np.array([5, 7]))
    assert mmr.select(scores, costs, 4, 0.5, *found).tolist() == []
    assert mmr.select(scores, costs, 6, 0.5, *found).tolist() == [0]
    assert mmr.select(scores[:0], costs[:0], 4, 0.5, *only_texts([])).tolist() == []


def test_negative_cosines_count() -> None:
    """An opposite row is worth more than an orthogonal one of the same score."""
    unit = np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    scores, costs = frozen(np.array([2.0, 1.0, 1.0])), frozen(np.ones(3, np.int64))
    assert mmr.select(scores, costs, 3, 0.5, *only_embeddings(unit)).tolist() == [0, 2, 1]


@pytest.mark.parametrize("lambda_", [0.2, 0.5, 0.7])
def test_few_pairs_are_compared(lambda_: float) -> None:
    """Less than a quarter of what a scan of all candidates for each pick compares."""
    n = 1000
    found = only_embeddings(clustered(n, 96))
    scores = np.random.default_rng(5).random(n)
    chosen, compared = mmr.trace(
        frozen(scores), frozen(lognormal_costs(n)), 32_000, lambda_, *found
    )
    assert len(chosen) > 50
    assert compared < n * len(chosen) / 4


@pytest.mark.parametrize("lambda_", [0.0, 0.3, 0.7])
def test_every_kind_of_rule_from_a_base_or_from_nothing(lambda_: float) -> None:
    """The rows of eager MMR, with no more similarities than a sorted list needs."""
    for pool in seeded_pools.pools(90):
        matrix = kernel_matrix(pool.found)
        rows, compared = mmr.trace(
            pool.scores, pool.costs, pool.budget, lambda_, *pool.found, pool.rules, pool.start
        )
        eager = naive_rules.mmr(
            matrix,
            pool.scores.tolist(),
            pool.costs.tolist(),
            pool.budget,
            lambda_,
            pool.rules,
            pool.start.tolist(),
        )
        assert rows.tolist() == eager
        assert (rows.tolist(), compared) == naive_lazy.mmr(
            matrix,
            pool.found[1],
            pool.scores,
            pool.costs,
            pool.budget,
            lambda_,
            pool.rules,
            pool.start.tolist(),
        )
