"""The stage `coverage`: what it prefers, what it guarantees, what it reports."""

import math
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Packer, PackError, Pool, pack
from packer.kernels import rules
from strategies import coverage, greedy, parse
from tests import naive_coverage as naive
from tests.generators import chunk_lists, pools
from tests.similarity_pools import kernel_matrix

OBJECTIVES: Any = ("facility", "saturated")
EMBEDDED = chunk_lists(embedded=True, max_size=8)


def objective(stage: Any, pool: Pool) -> naive.Value:
    """The value of sets as the docstring of `coverage` defines it."""
    from packer.similarity import features

    _, found = features(pool, stage.metric)
    matrix = kernel_matrix(found.arrays).clip(0.0)
    scores, n = pool.scores, len(pool)
    low, high = scores.min(), scores.max()
    relevance = (scores - low) / (high - low) if high > low else np.ones(n)
    left, reached = pool.budget, 0.0
    for row in sorted(range(n), key=lambda row: (-scores[row], row)):
        if pool.costs[row] <= left:
            left -= int(pool.costs[row])
            reached += relevance[row]
    ceiling = None
    most = relevance.sum()
    if stage.objective == "saturated":
        ceiling = stage.saturation * matrix.mean(axis=0)
        most = relevance @ ceiling
    weights = (1.0 - stage.relevance) * relevance / (most or 1.0)
    worth = stage.relevance * relevance / (reached or 1.0)
    return naive.Value(
        matrix, worth.tolist(), weights.tolist(), None if ceiling is None else ceiling.tolist()
    )


@given(pools())
def test_of_relevance_alone_it_is_greedy(pool: Pool) -> None:
    """Ties and order included, whatever the objective."""
    for kind in OBJECTIVES:
        chosen = coverage(1.0, objective=kind)(pool).chosen
        assert chosen.tolist() == greedy(pool).chosen.tolist()


@given(
    pools(EMBEDDED),
    st.builds(
        coverage,
        st.sampled_from([0.0, 0.3, 0.5, 0.9]),
        objective=st.sampled_from(OBJECTIVES),
        saturation=st.sampled_from([0.5, 1.0, 4.0]),
        cost_power=st.sampled_from([0.0, 0.5, 1.0]),
    ),
)
def test_the_optimality_is_true(pool: Pool, stage: Any) -> None:
    """The value is that of the set, no set within the budget is above the bound."""
    if not len(pool):
        assert stage(pool).optimality is None
        return
    selection = stage(pool)
    value, costs = objective(stage, pool), pool.costs.tolist()
    best, told = value.best(costs, pool.capacity), selection.optimality
    assert told.value == pytest.approx(value.of(selection.chosen.tolist()), abs=1e-9)
    assert told.value - 1e-9 <= best <= told.bound + 1e-9
    assert told.gap == pytest.approx(1.0 - told.value / told.bound if told.bound else 0.0)
    if told.proven:
        assert best <= told.value + 1e-9
    if stage.cost_power == 1.0:
        assert told.value >= 0.405 * best - 1e-9


@given(pools(EMBEDDED.map(lambda chunks: [_alike(chunk) for chunk in chunks])))
def test_of_chunks_that_cost_the_same_it_gets_the_share_that_it_promises(pool: Pool) -> None:
    """1 - 1/e of the best value (Nemhauser, Wolsey, Fisher 1978)."""
    if not len(pool):
        return
    for kind in OBJECTIVES:
        stage: Any = coverage(0.2, objective=kind)
        best = objective(stage, pool).best(pool.costs.tolist(), pool.capacity)
        told = stage(pool).optimality
        assert told is not None
        assert told.value >= (1.0 - 1.0 / math.e) * best - 1e-9


def _alike(chunk: Chunk) -> Chunk:
    return Chunk(chunk.content, chunk.score, id=chunk.id, tokens=10, embedding=chunk.embedding)


def topics(sizes: tuple[int, ...]) -> list[Chunk]:
    """Chunks of 10 tokens about as many topics, orthogonal ones, the first the most relevant."""
    return [
        Chunk(
            f"{topic} {number}",
            0.9 - 0.1 * topic - 0.001 * number,
            id=f"{topic}-{number}",
            tokens=10,
            embedding=np.eye(len(sizes))[topic] + 0.1 * np.eye(len(sizes))[topic - 1] * number,
        )
        for topic, size in enumerate(sizes)
        for number in range(size)
    ]


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_it_takes_one_of_each_topic_where_greedy_takes_all_of_the_first(kind: Any) -> None:
    chunks = topics((3, 3, 3, 1))
    assert {chunk.id[0] for chunk in pack(chunks, greedy, budget=30)} == {"0"}
    stage = coverage(0.3, objective=kind, saturation=1.0)
    assert sorted(chunk.id[0] for chunk in pack(chunks, stage, budget=30)) == ["0", "1", "2"]


def test_all_that_fits_is_proven() -> None:
    told = pack(topics((2, 2)), coverage(), budget=40).report.optimality
    assert told is not None
    assert (told.gap, told.proven) == (0.0, True)


def test_the_best_single_chunk_stands_for_the_guarantee() -> None:
    """By gain per token a free-riding crumb comes first, and then the chunk that is all does not fit."""
    crumb = Chunk("crumb", 0.1, id="crumb", tokens=1, embedding=[0.0, 1.0])
    whole = Chunk("whole", 1.0, id="whole", tokens=100, embedding=[1.0, 0.0])
    none = Chunk("none", 0.0, id="none", tokens=200, embedding=[0.0, 0.0])
    packed = pack([crumb, whole, none], coverage(cost_power=1.0), budget=100)
    assert [chunk.id for chunk in packed] == ["whole"]
    small = pack([crumb, whole, none], coverage(cost_power=1.0), budget=101)
    assert [chunk.id for chunk in small] == ["crumb", "whole"]


def test_scores_of_any_scale_choose_the_same() -> None:
    """Logits, BM25 and cosines alike."""
    rng = np.random.default_rng(2)
    scores, tokens = rng.random(40), rng.integers(20, 90, 40)
    vectors = rng.standard_normal((40, 8))
    packer = Packer(coverage(), budget=500)
    chosen = [
        packer.select(Pool.from_arrays(scaled, tokens, vectors)).rows.tolist()
        for scaled in (scores, 30.0 * scores, scores - 5.0)
    ]
    assert chosen[0] == chosen[1] == chosen[2]


def test_it_reads_back_and_refuses_what_is_out_of_range() -> None:
    policy = coverage(0.7, objective="saturated", saturation=2.0, cost_power=0.5, metric="jaccard")
    text = 'coverage(0.7, objective="saturated", saturation=2.0, cost_power=0.5, metric="jaccard")'
    assert str(policy) == text
    assert parse(text) == policy
    for wrong in ({"relevance": 1.5}, {"saturation": 0.0}, {"cost_power": -1}, {"objective": "x"}):
        with pytest.raises(PackError, match=next(iter(wrong))) as caught:
            coverage(**wrong)
        assert caught.value.code == "INVALID_PARAMETER"
    with pytest.raises(PackError) as caught:
        pack(
            [Chunk("a", 1.0, id="a"), Chunk("b", 0.5, id="b")],
            coverage(metric="cosine"),
            budget=9,
        )
    assert caught.value.code == "MISSING_EMBEDDINGS"


def fractional(values: Any, costs: Any, budget: int) -> float:
    """The best total of what fits by itself, of which the last that is taken may be a part."""
    fitting = [(much, cost) for much, cost in zip(values, costs, strict=True) if cost <= budget]
    total, left = 0.0, budget
    for much, cost in sorted(fitting, key=lambda one: -one[0] / one[1] if one[1] else -math.inf):
        total += much * min(1.0, left / cost) if cost else much
        left -= min(left, cost)
    return float(total)


@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("relevance", [0.0, 0.3, 0.9])
def test_it_is_the_algorithm_and_the_bound_that_it_says(
    kind: Any, power: float, relevance: float
) -> None:
    """Greedy by gain / cost ** power, or begun with the best single; the least of three bounds."""
    stage: Any = coverage(relevance, objective=kind, saturation=1.5, cost_power=power)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        vectors = rng.standard_normal((n, 3))
        tokens = rng.integers(0 if seed % 3 else 1, 10, n)
        pool = Pool.from_arrays(rng.random(n), tokens, vectors, budget=int(rng.integers(1, 30)))
        value, costs, budget = objective(stage, pool), pool.costs.tolist(), pool.budget
        whole = attrs.evolve(value, ceiling=None)  # a row by itself, however near it is to another
        alone = [whole.of([row]) for row in range(n)]
        rate = (np.maximum(pool.costs, 1) ** -power).tolist()
        runs = [
            naive.select(
                value, pool.scores.tolist(), rate, costs, budget, rules.free(n), [], lead=lead
            )
            for lead in (False, True)
        ]
        single = max((alone[row] for row in range(n) if costs[row] <= budget), default=0.0)
        leads = bool(power) and single > value.of(runs[0])
        worth = max(value.of(rows) for rows in runs[: 1 + leads])
        selection = stage(pool)
        assert selection.chosen.tolist() in [
            rows for rows in runs[: 1 + leads] if value.of(rows) > worth - 1e-9
        ]
        bounds = [fractional(value.worth, costs, budget) + 1.0 - relevance]
        bounds.append(fractional(alone, costs, budget))
        for rows in runs[: 1 + leads]:
            cover = value.cover(rows)
            more = [0.0 if row in rows else value.gain(row, cover) for row in range(n)]
            bounds.append(value.of(rows) + fractional(more, costs, budget))
        told = selection.optimality
        assert told.bound == pytest.approx(max(min(bounds), worth), abs=1e-9)
        assert told.proven == (told.gap <= 1e-12)
