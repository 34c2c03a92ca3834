"""The knapsack kernel: optimal where it says so, and an honest bound where it does not."""

import os

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer.kernels import knapsack, knapsack_core, knapsack_rank
from tests.naive_knapsack import break_solution, by_subsets, by_table

Ints = npt.NDArray[np.int64]

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in {"", "0"}
POOLS = 2000 if COMPILED else 350
KINDS = ("free", "equal", "plus", "minus", "multiple", "constant", "rounded")


def column(numbers: object) -> Ints:
    """A read-only column, as the library passes them."""
    result = np.array(numbers, dtype=np.int64)
    result.flags.writeable = False
    return result


def drawn(kind: str, n: int, spread: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Values and weights of a kind that is hard for one bound or another."""
    weights = rng.integers(1, spread + 1, n)
    values = {
        "free": rng.integers(1, spread + 1, n),
        "equal": weights,
        "plus": weights + spread // 3 + 1,
        "minus": np.maximum(1, weights - spread // 3),
        "multiple": weights * int(rng.integers(1, 2**38)),
        "constant": np.full(n, 7),
        "rounded": np.round((weights + spread / 3) * 2.0**40 / 1.7).astype(np.int64),
    }[kind]
    return column(values), column(weights)


def lengths(rng: np.random.Generator, n: int) -> Ints:
    """Token counts as chunks have them: lognormal around 250."""
    return column(np.maximum(1, np.round(rng.lognormal(np.log(250), 0.6, n))))


def solved(values: Ints, weights: Ints, capacity: int, limit: int) -> tuple[int, int, bool, int]:
    """(total, bound, proven, work) of a result whose promises have been checked."""
    chosen, bound, proven, work = knapsack.counted(values, weights, capacity, limit)
    assert chosen.dtype == np.bool_
    assert chosen.shape == values.shape
    total = int(values[chosen].sum())
    assert int(weights[chosen].sum()) <= capacity
    assert total <= bound <= int(values.sum())
    assert proven == (bound == total)
    assert 0 <= work <= limit
    return total, bound, proven, work


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_table(kind: str) -> None:
    """Proven and optimal on random pools of up to 60 items, whatever the capacity."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(POOLS // len(KINDS) + 1):
        n, spread = int(rng.integers(0, 61)), int(rng.choice([2, 5, 30, 300]))
        values, weights = drawn(kind, n, spread, rng)
        capacity = int(rng.integers(0, weights.sum() + 2)) // int(rng.choice([1, 1, 2, 10]))
        fits = weights <= capacity
        values, weights = column(values[fits]), column(weights[fits])
        total, _, proven, _ = solved(values, weights, capacity, knapsack.WORK_LIMIT)
        assert proven
        assert total == by_table(values, weights, capacity)


@pytest.mark.parametrize("kind", KINDS)
def test_bound_is_true_at_every_limit(kind: str) -> None:
    """However early the search stops, no subset is above the bound."""
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(POOLS // 20):
        values, weights = drawn(kind, int(rng.integers(1, 40)), 50, rng)
        capacity = int(rng.integers(50, weights.sum() + 50))
        optimum = by_table(values, weights, capacity)
        for limit in (0, 1, 10, 100, 1000):
            total, bound, _, _ = solved(values, weights, capacity, limit)
            assert total <= optimum <= bound


@pytest.mark.parametrize("kind", KINDS)
def test_second_search_equals_the_table(kind: str) -> None:
    """With the count as a surrogate, from any best subset known, the optimum is the same."""
    rng = np.random.default_rng(200 + KINDS.index(kind))
    for _ in range(POOLS // 20):
        values, weights = drawn(kind, int(rng.integers(2, 40)), 50, rng)
        capacity = int(rng.integers(0, weights.sum()))
        optimum = by_table(values, weights, capacity)
        chosen = np.zeros(values.size, dtype=np.bool_)
        v, w = values.copy(), weights.copy()
        best, _, _ = knapsack_core.search(v, w, (capacity, 0, 0), 0, chosen, 0)
        best, bound, _ = knapsack.searched_on(v, w, capacity, best, chosen, knapsack.WORK_LIMIT)
        assert best == bound == optimum
        assert values[chosen].sum() == optimum
        assert weights[chosen].sum() <= capacity


def test_second_search_knows_when_nothing_can_be_better() -> None:
    """A best value at the linear bound ends it at once."""
    values, weights = np.array([9, 8, 7]), np.array([3, 3, 3])
    chosen = np.array([True, True, False])
    assert knapsack.searched_on(values, weights, 6, 17, chosen, 100) == (17, 17, 0)
    assert chosen.tolist() == [True, True, False]


ITEM = st.tuples(st.integers(1, 2**49), st.integers(1, 2**43))
NEAR = st.builds(
    lambda ratio, weight, off: (max(1, weight * ratio + off), weight),
    st.sampled_from([1, 2, 1023]),
    st.integers(2**38, 2**39),
    st.integers(-2, 2),
)


@settings(max_examples=200 if COMPILED else 30, deadline=None)
@given(
    items=st.lists(ITEM, max_size=10) | st.lists(NEAR, max_size=10),
    share=st.floats(0, 1),
    limit=st.sampled_from([0, 20, 10**6]),
)
def test_huge_numbers(items: list[tuple[int, int]], share: float, limit: int) -> None:
    """Products far beyond 64 bits and ratios that round alike do not bend a bound."""
    capacity = int(share * sum(w for _, w in items))
    items = [item for item in items if item[1] <= capacity]
    values, weights = column([p for p, _ in items]), column([w for _, w in items])
    total, bound, proven, _ = solved(values, weights, capacity, limit)
    optimum = by_subsets(values.tolist(), weights.tolist(), capacity)
    assert total <= optimum <= bound
    assert proven or limit < 10**6
    assert not proven or total == optimum


@settings(max_examples=100 if COMPILED else 20, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 11), ratio=st.integers(2**43, 2**45))
def test_equal_ratios_at_the_edge_of_float64(seed: int, n: int, ratio: int) -> None:
    """A tie in rank whose order is unknown costs slack, and never the optimum."""
    rng = np.random.default_rng(seed)
    weights = column(rng.integers(2, 17, n))
    values = column(weights * ratio + rng.integers(-1, 2, n))
    capacity = int(rng.integers(16, weights.sum() + 16))
    total, bound, _, _ = solved(values, weights, capacity, 10**6)
    optimum = by_subsets(values.tolist(), weights.tolist(), capacity)
    assert total <= optimum <= bound


def test_nothing_and_everything() -> None:
    """No items, or items that all fit, need no search."""
    nothing = column([])
    assert solved(nothing, nothing, 5, 0) == (0, 0, True, 0)
    assert solved(column([3, 4]), column([2, 3]), 5, 0) == (7, 7, True, 0)


def test_single_item_choices() -> None:
    """Capacities that let exactly one of the items in."""
    assert solved(column([1, 2]), column([2, 2]), 2, 100)[:3] == (2, 2, True)
    assert solved(column([2, 1]), column([1, 1]), 1, 100)[:3] == (2, 2, True)


def test_constant_weights_take_the_best_scores() -> None:
    """At one length for all, the best scores are the optimum, with next to no search."""
    rng = np.random.default_rng(1)
    values = column(rng.integers(1, 2**42, 1000))
    total, _, proven, work = solved(values, column(np.full(1000, 512)), 128_000, 10_000)
    assert proven
    assert total == np.sort(values)[-250:].sum()
    assert work < 1000


def test_even_weights_and_an_odd_capacity() -> None:
    """The last unit of capacity can never be used; the common divisor says so."""
    rng = np.random.default_rng(2)
    weights = column(2 * rng.integers(50, 500, 1000))
    total, _, proven, _ = solved(weights, weights, 128_001, knapsack.WORK_LIMIT)
    assert proven
    assert total == 128_000


def test_one_odd_weight_is_within_half_a_percent() -> None:
    """The classical worst case may go unproven, with a small and honest gap."""
    rng = np.random.default_rng(3)
    weights = 2 * rng.integers(2**40, 2**42, 100)
    weights[17] += 1
    capacity = int(weights.sum() // 2) | 1
    limit = 60_000
    total, bound, proven, work = solved(column(weights), column(weights), capacity, limit)
    assert not proven
    assert work > limit // 4
    assert bound - total <= 0.005 * total


def test_work_is_far_below_a_table() -> None:
    """Random scores need some thousand states, where a table would have 10^10 entries."""
    rng = np.random.default_rng(4)
    weights = lengths(rng, 10_000)
    values = column(rng.random(10_000) * 2**39 + 1)
    _, _, proven, work = solved(values, weights, 1_000_000, knapsack.WORK_LIMIT)
    assert proven
    assert work < 200_000


@pytest.mark.skipif(not COMPILED, reason="some million interpreted steps")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["plus", "rounded", "minus", "noise", "equal", "one odd"])
def test_correlated_scores_are_proven(kind: str, seed: int) -> None:
    """Scores that are an affine function of the length, up to rounding or noise."""
    rng = np.random.default_rng(seed)
    weights = lengths(rng, 1000)
    odd = weights * 2 + (np.arange(1000) == 500)
    values = {
        "plus": weights + 100,
        "rounded": np.round((0.001 * weights + 0.3) * 2.0**40),
        "minus": np.maximum(1, weights - 30),
        "noise": np.round((0.001 * weights + 0.001 * rng.random(1000)) * 2.0**40),
        "equal": weights,
        "one odd": odd + 100,
    }[kind]
    if kind == "one odd":
        weights = column(odd)
    capacity = 128_001
    _, _, proven, work = solved(column(values), weights, capacity, knapsack.WORK_LIMIT)
    assert proven
    assert work < weights.size * capacity / 64


def test_inputs_of_any_layout_stay_as_they_are() -> None:
    """Strided and read-only columns give what a plain one gives, twice the same."""
    rng = np.random.default_rng(5)
    values, weights = rng.integers(1, 99, 200), rng.integers(1, 99, 200)
    before = values.copy(), weights.copy()
    results = [
        knapsack.solve(v, w, 2000, 10_000)
        for v, w in [
            (values[::2], weights[::2]),
            (column(values[::2]), column(weights[::2])),
            (column(values[::2]), column(weights[::2])),
        ]
    ]
    for chosen, bound, proven in results[1:]:
        assert np.array_equal(chosen, results[0][0])
        assert (bound, proven) == results[0][1:]
        assert type(bound) is int
        assert type(proven) is bool
    assert np.array_equal(values, before[0])
    assert np.array_equal(weights, before[1])


@pytest.mark.parametrize("levels", [1, 2, 50, 10**9])
@pytest.mark.parametrize("n", [1, 5, 60, 700])
def test_narrowing_keeps_the_break_item(n: int, levels: int) -> None:
    """The ranks that remain hold the break item, and all others stand clear of them."""
    rng = np.random.default_rng(n + levels)
    for _ in range(20):
        rank = rng.integers(1, levels + 1, n) / 7
        weights = np.minimum(10**9, np.exp(rng.normal(3, 3, n)).astype(np.int64) + 1)
        room = int(rng.integers(0, weights.sum()))
        low, high, items = knapsack_rank.narrowed(rank, weights, room)
        _, item = break_solution(rank, weights, room)
        assert low <= rank[item] <= high
        assert items.tolist() == np.flatnonzero((low <= rank) & (rank <= high)).tolist()
        assert items.size <= 48 or len(set(rank[items])) == 1


@pytest.mark.parametrize("shift", [-3, 0, 40])
def test_break_solution(shift: int) -> None:
    """It is what taking items from the top gives, for the shifted weights too."""
    rng = np.random.default_rng(shift + 3)
    for _ in range(50):
        n = int(rng.integers(1, 300))
        values, weights = rng.integers(1, 2**40, n), rng.integers(4, 500, n)
        count = int(rng.integers(0, n))
        room = int(rng.integers(0, weights.sum()))
        wide, wide_room = weights + shift, room + shift * count
        if not 0 <= wide_room < wide.sum():
            continue
        rank, _, high, order, s, value, weight, size = knapsack_rank.broken(
            values, weights, room, shift, count
        )
        taken, item = break_solution(rank, wide, wide_room)
        assert set(np.flatnonzero(rank > high).tolist()) | set(order[:s].tolist()) == taken
        assert order[s] == item
        assert (value, weight, size) == (
            sum(int(values[i]) for i in taken),
            sum(int(weights[i]) for i in taken),
            len(taken),
        )


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), max_size=40),
    st.sampled_from((-1, 0, 1)),
)
def test_ranked_is_a_stable_sort(pairs: list[tuple[int, int]], sign: int) -> None:
    """By falling rank, then by the signed weight, then as the items stood."""
    rank = np.array([float(r) for r, _ in pairs])
    weights = np.array([w for _, w in pairs], dtype=np.int64)
    items = np.arange(len(pairs), dtype=np.int64)[::-1].copy()
    expected = sorted(items.tolist(), key=lambda i: (-rank[i], sign * weights[i]))
    assert knapsack_rank.ranked(items, rank, weights, sign).tolist() == expected


def test_divisor_is_the_greatest() -> None:
    """As numpy has it."""
    rng = np.random.default_rng(6)
    for factor in (1, 2, 12, 2**20):
        numbers = rng.integers(1, 30, 5) * factor
        assert knapsack.divisor(numbers) == np.gcd.reduce(numbers)
