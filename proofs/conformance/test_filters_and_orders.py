"""The walk of `dedup`, `threshold` and the u-shape are those of the models and twins."""

import math
from functools import reduce

import numpy as np
import pytest

from packer import Chunk, Pool, pack
from proofs.conformance.inputs import CASES, rankings, unit_vectors
from proofs.crosshair import twins
from proofs.smt.deduplication import kept
from proofs.smt.threshold_is_idempotent import keeps
from proofs.smt.ushape_is_a_bijection import place, rank_at
from strategies import dedup, distinct, greedy, threshold, ushape

EXTREMES = [-math.inf, -1e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 0.5, math.nextafter(0.5, 1), 1e308]


def test_threshold_is_the_comparison_of_the_model_at_the_ends_of_floats() -> None:
    scores = EXTREMES[1:]
    pool = Pool.from_arrays(scores, np.ones(len(scores), np.int64))
    for floor in scores:
        expected = [score for score in scores if keeps(score, floor)]
        assert threshold(floor)(pool).scores.tolist() == expected
        assert (threshold(floor) | threshold(floor))(pool).scores.tolist() == expected
        for other in scores:
            twice = (threshold(floor) | threshold(other))(pool)
            assert twice.ids == threshold(max(floor, other))(pool).ids


def test_two_thresholds_are_the_twin() -> None:
    rng = np.random.default_rng(20_240_605)
    for _ in range(CASES):
        s0, s1, s2, low, high = rng.integers(-3, 4, 5).tolist()
        pool = Pool.from_arrays([s0, s1, s2], [1, 1, 1])
        shown = (threshold(low) | threshold(high))(pool).table_rows.tolist()
        assert shown == np.flatnonzero(twins.thresholded(s0, s1, s2, low, high)).tolist()


@pytest.mark.parametrize("n", range(80))
def test_ushape_is_the_permutation_of_the_model(n: int) -> None:
    pool = Pool.from_arrays(np.linspace(1.0, 0.0, n), np.ones(n, np.int64))
    shown = ushape(pool.select(range(n))).pool_rows.tolist()
    assert [shown.index(rank) for rank in range(n)] == [place(rank, n) for rank in range(n)]
    assert shown == [rank_at(at, n) for at in range(n)]
    if n <= 3:
        assert [twins.place_of_rank(rank, n) for rank in range(n)] == [
            place(rank, n) for rank in range(n)
        ]


def pools_with_copies(most: int) -> list[tuple[Pool, float]]:
    """Pools of embedded rows, best first, many of which are alike, and a threshold."""
    rng = np.random.default_rng(20_240_606)
    found = []
    for _ in range(CASES):
        n = int(rng.integers(0, most + 1))
        scores = np.sort(rng.integers(0, 5, n) / 4)[::-1]
        vectors = unit_vectors(n, rng) if n else None
        pool = Pool.from_arrays(scores, np.ones(n, np.int64), vectors)
        found.append((pool, float(rng.choice([0.5, 0.85]))))
    return found


def alike(pool: Pool, limit: float) -> list[list[bool]]:
    vectors = pool.embeddings
    if vectors is None:
        return []
    exact = vectors.astype(np.float64)
    near: list[list[bool]] = (exact @ exact.T >= limit).tolist()
    return near


def test_dedup_is_the_walk_of_the_model() -> None:
    for pool, limit in pools_with_copies(9):
        near = alike(pool, limit)
        expected = kept([True] * len(pool), lambda row, other: near[row][other])  # noqa: B023
        after = dedup(limit)(pool)
        assert after.table_rows.tolist() == np.flatnonzero(expected).tolist()
        assert dedup(limit)(after).ids == after.ids


def test_dedup_of_three_is_the_twin() -> None:
    seen = set()
    for pool, limit in pools_with_copies(3):
        if len(pool) < 3:
            continue
        near = alike(pool, limit)
        pairs = near[0][1], near[0][2], near[1][2]
        seen.add(pairs)
        expected = twins.deduplicated(*pairs)
        assert dedup(limit)(pool).table_rows.tolist() == np.flatnonzero(expected).tolist()
    assert len(seen) >= 5


def test_threshold_and_dedup_commute_on_any_pool_as_dedup_goes_by_score() -> None:
    rng = np.random.default_rng(20_240_607)
    for pool, limit in pools_with_copies(9):
        rows = rng.permutation(len(pool))
        vectors = None if pool.embeddings is None else pool.embeddings[rows]
        mixed = Pool.from_arrays(pool.scores[rows], pool.costs[rows], vectors)
        floor = float(rng.choice([0.25, 0.5, 0.75]))
        before = (threshold(floor) | dedup(limit))(mixed)
        assert before.ids == (dedup(limit) | threshold(floor))(mixed).ids


def test_dedup_by_containment_goes_by_length_and_does_not_commute() -> None:
    chunks = [
        Chunk("Refunds take five days.", 0.9, id="short"),
        Chunk("Refunds take five days. Gift cards cannot be returned.", 0.2, id="long"),
    ]
    inside = dedup(0.9, metric="containment")
    one = pack(chunks, threshold(0.5) | inside | greedy, budget=100)
    other = pack(chunks, inside | threshold(0.5) | greedy, budget=100)
    assert [chunk.id for chunk in one] == ["short"]
    assert [chunk.id for chunk in other] == ["long"]  # it took the score of what it holds


def test_two_distincts_are_the_lower_one() -> None:
    rng = np.random.default_rng(20_240_608)
    for pool, _ in pools_with_copies(6)[: CASES // 3]:
        one, other = rng.choice([0.5, 0.85, 0.97], 2).tolist()
        both = reduce(lambda state, rule: rule(state), (distinct(one), distinct(other)), pool)
        lower = distinct(min(one, other))(pool)
        twice = distinct(one)(distinct(one)(pool))
        assert greedy(both).chosen.tolist() == greedy(lower).chosen.tolist()
        assert greedy(twice).chosen.tolist() == greedy(distinct(one)(pool)).chosen.tolist()


def test_inputs_reach_the_edge_of_the_budget() -> None:
    """The comparisons see walks that end with nothing left, and that miss by one."""
    left = [
        budget - sum(cost for cost, used in zip(costs, taken, strict=True) if used)
        for scores, tokens, overhead, budget in rankings(9)
        for costs in ([token + overhead for token in tokens],)
        for taken in ([True] * len(costs),)
    ]
    assert {-1, 0, 1} <= set(left)
