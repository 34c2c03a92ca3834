from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Pool, kernels
from packer.arrays import best_first, frozen
from packer.similarity import features
from strategies.greedy import fill
from tests.generators import chunk_lists
from tests.similarity_pools import only_texts

POOLS = st.lists(chunk_lists(max_size=8), min_size=1, max_size=4)
BUDGETS = st.integers(1, 60)


def joined(pools: Sequence[Pool]) -> list[Any]:
    """The columns of several pools, one after the other; similarities only within each."""
    offsets = np.concatenate([[0], np.cumsum([len(pool) for pool in pools])])
    found = [features(pool, "auto")[1] for pool in pools]
    width = max(one.unit.shape[1] for one in found)
    unit = np.zeros((offsets[-1], width), np.float32)
    indptr = [np.zeros(1, np.int64)]
    total = 0
    for begin, one in zip(offsets[:-1], found, strict=True):
        unit[begin : begin + len(one.unit), : one.unit.shape[1]] = one.unit
        indptr.append(one.indptr[1:] + total)
        total += len(one.grams)
    columns = (
        np.concatenate([pool.scores for pool in pools]),
        np.concatenate([pool.costs for pool in pools]),
        offsets,
        unit,
        np.concatenate([one.embedded for one in found]),
        np.concatenate(indptr),
        np.concatenate([one.grams for one in found]),
    )
    return [frozen(column) for column in columns]


@given(POOLS, BUDGETS)
def test_each_pool_is_filled_as_by_itself(given_: list[list[Chunk]], budget: int) -> None:
    pools = [Pool.from_chunks(chunks, budget=budget) for chunks in given_]
    _, costs, offsets, *_ = joined(pools)
    order = np.concatenate(
        [begin + best_first(pool.scores) for begin, pool in zip(offsets, pools, strict=False)]
    )
    budgets = frozen(np.full(len(pools), budget))
    taken, ends = kernels.batches.fill(frozen(order), costs, offsets, budgets, False)
    for at, pool in enumerate(pools):
        expected = fill(best_first(pool.scores), pool.costs, budget)
        assert (taken[ends[at] : ends[at + 1]] - offsets[at]).tolist() == expected.tolist()


def test_with_stop_a_pool_ends_at_the_first_that_does_not_fit() -> None:
    order = frozen(np.array([0, 1, 2, 3, 4]))
    costs = frozen(np.array([3, 9, 1, 4, 4]))
    offsets, budgets = frozen(np.array([0, 3, 5])), frozen(np.array([10, 8]))
    taken, ends = kernels.batches.fill(order, costs, offsets, budgets, True)
    assert (taken.tolist(), ends.tolist()) == ([0, 3, 4], [0, 1, 3])


@given(POOLS, BUDGETS, st.sampled_from((0.0, 0.3, 0.7, 1.0)))
def test_each_pool_has_the_choice_of_mmr_by_itself(
    given_: list[list[Chunk]], budget: int, lambda_: float
) -> None:
    pools = [Pool.from_chunks(chunks, budget=budget) for chunks in given_]
    scores, costs, offsets, *found = joined(pools)
    budgets = frozen(np.full(len(pools), budget))
    chosen, ends = kernels.batches.mmr(scores, costs, offsets, budgets, lambda_, *found)
    for at, pool in enumerate(pools):
        arrays = features(pool, "auto")[1].arrays
        expected = kernels.mmr.select(pool.scores, pool.costs, budget, lambda_, *arrays)
        assert (chosen[ends[at] : ends[at + 1]] - offsets[at]).tolist() == expected.tolist()


@given(POOLS, st.sampled_from((0.3, 0.85, 1.0)))
def test_each_pool_has_the_near_duplicates_that_it_has_by_itself(
    given_: list[list[Chunk]], threshold: float
) -> None:
    pools = [Pool.from_chunks(chunks) for chunks in given_]
    _, _, offsets, *found = joined(pools)
    order = np.concatenate(
        [begin + best_first(pool.scores) for begin, pool in zip(offsets, pools, strict=False)]
    )
    unit, embedded, indptr, grams = found
    survivor, similarity = kernels.batches.dedup(
        unit, embedded, indptr, grams, frozen(order), offsets, threshold
    )
    for begin, pool in zip(offsets, pools, strict=False):
        arrays = features(pool, "auto")[1].arrays
        kept, like = kernels.near_duplicates.dedup(
            *arrays, frozen(best_first(pool.scores)), threshold
        )
        mine = survivor[begin : begin + len(pool)]
        assert np.where(mine < 0, -1, mine - begin).tolist() == kept.tolist()
        assert similarity[begin : begin + len(pool)].tolist() == like.tolist()


def test_of_equally_similar_rows_the_one_kept_first_survives() -> None:
    """In each pool by itself: the second has the same rows in the other order."""
    up, down, between = [0.6, 0.8], [0.6, -0.8], [1.0, 0.0]
    unit = frozen(np.array([up, down, between, between, down, up], np.float32))
    order, offsets = frozen(np.array([1, 0, 2, 5, 4, 3])), frozen(np.array([0, 3, 6]))
    indptr, grams = frozen(np.zeros(7, np.int64)), frozen(np.zeros(0, np.int32))
    embedded = frozen(np.ones(6, np.bool_))
    survivor, similarity = kernels.batches.dedup(unit, embedded, indptr, grams, order, offsets, 0.5)
    assert survivor.tolist() == [-1, -1, 1, 5, -1, -1]
    assert similarity.tolist() == [0, 0, np.float32(0.6), np.float32(0.6), 0, 0]


def test_a_text_is_compared_with_all_that_were_kept_before() -> None:
    """The best of three, after others that are like it too, and none of another pool."""
    texts = ["abcdefgh", "abcdwxyz", "abcdefgx", "abcdefgh"]
    _, _, indptr, grams = only_texts(texts)
    unit, embedded = frozen(np.zeros((4, 0), np.float32)), frozen(np.zeros(4, np.bool_))
    order, offsets = frozen(np.array([1, 0, 2, 3])), frozen(np.array([0, 3, 4]))
    survivor, similarity = kernels.batches.dedup(unit, embedded, indptr, grams, order, offsets, 0.2)
    assert survivor.tolist() == [1, -1, 1, -1]
    assert similarity.tolist() == [2 / 10, 0, 2 / 10, 0]
    survivor, similarity = kernels.batches.dedup(
        unit, embedded, indptr, grams, order, offsets, 0.21
    )
    assert survivor.tolist() == [-1, -1, 0, -1]
    assert similarity.tolist() == [0, 0, 5 / 7, 0]


def test_what_went_drops_nothing_whoever_it_went_for() -> None:
    """The second goes for the first, which is row 0; the third is like the second alone."""
    unit = frozen(np.array([[1.0, 0.0], [0.8, 0.6], [0.28, 0.96]], np.float32))
    order, offsets = frozen(np.array([0, 1, 2])), frozen(np.array([0, 3]))
    indptr, grams = frozen(np.zeros(4, np.int64)), frozen(np.zeros(0, np.int32))
    embedded = frozen(np.ones(3, np.bool_))
    survivor, similarity = kernels.batches.dedup(unit, embedded, indptr, grams, order, offsets, 0.7)
    assert survivor.tolist() == [-1, 0, -1]
    assert similarity.tolist() == [0, np.float32(0.8), 0]


def test_the_ends_are_one_more_than_the_pools() -> None:
    """Of no pool, of an empty one, and of two."""
    costs, scores = frozen(np.array([2, 3])), frozen(np.array([0.5, 0.75]))
    found = (
        frozen(np.zeros((2, 0), np.float32)),
        frozen(np.zeros(2, np.bool_)),
        frozen(np.zeros(3, np.int64)),
        frozen(np.zeros(0, np.int32)),
    )
    for ends, budgets, expected, chosen in [
        ([0], [], [0], []),
        ([0, 0], [9], [0, 0], []),
        ([0, 0, 2], [9, 9], [0, 0, 2], [1, 0]),
        ([0, 1, 2], [1, 3], [0, 0, 1], [1]),
    ]:
        offsets, limits = frozen(np.array(ends)), frozen(np.array(budgets, np.int64))
        rows, mine = kernels.batches.mmr(scores, costs, offsets, limits, 1.0, *found)
        assert (rows.tolist(), mine.tolist()) == (chosen, expected)
        order = frozen(np.array([1, 0] if len(chosen) == 2 else [0, 1]))
        rows, mine = kernels.batches.fill(order, costs, offsets, limits, False)
        assert (rows.tolist(), mine.tolist()) == (chosen, expected)
