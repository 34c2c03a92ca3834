"""The knapsack kernel: optimal where it says so, and an honest bound where it does not."""

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer.kernels import knapsack, knapsack_core, knapsack_rank
from packer.kernels.knapsack_core import ceiling, merged, paired, rates
from packer.kernels.knapsack_rank import broken, line, narrowed, ranked, reach, sign_of, widened
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


def spread_out(count: int, most: int) -> Ints:
    """Numbers from 1 to `most` that look random and are the same with every numpy."""
    numbers = [1]
    while len(numbers) < count:
        numbers.append(numbers[-1] * 48_271 % (2**31 - 1))
    return 1 + np.array(numbers, dtype=np.int64) % most


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


def test_second_search_of_weights_too_large_for_fine_steps() -> None:
    """A sum of 2**55 and more is left as it is, and the bound is still below the linear one."""
    weights = 2**44 - spread_out(2200, 2**30)
    values = (weights >> 4) + 2**31
    assert weights.sum() >= 2**55
    room = int(weights.sum()) // 2
    rank, _, _, order, s, value, weight, _ = broken(values, weights, room, 0, 0)
    chosen = np.zeros(2200, dtype=np.bool_)
    best, bound, work = knapsack.searched_on(values, weights, room, value, chosen, 0)
    assert work == 0
    assert value <= best <= bound < value + 0.999 * (room - weight) * rank[order[s]]


@pytest.mark.parametrize(
    ("weights", "room", "best", "size", "furthest"),
    [
        ([5] * 8, 20, 0, 8, 64 * 5),  # more than the most that fit
        ([2**46] * 4200, 2**50, 0, 4200, 2**61 // 4200),  # sums stay within the integers
        ([9] * 8, 20, 29, 0, 8),  # fewer than the 3 it takes; weights stay above zero
        ([9] * 8, 50, 29, 0, 4),  # (72 - 50 - 1) // 5: and their sum above the capacity
        ([9] * 8, 51, 29, 0, 4),
        ([9] * 8, 52, 29, 0, 3),
    ],
)
def test_shifts_are_tried_as_far_as_they_are_allowed(
    weights: list[int],
    room: int,
    best: int,
    size: int,
    furthest: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where each is better than the one before; values of 10 each."""
    tried = []

    def always_better(_values: Ints, _weights: Ints, _room: int, shift: int, _count: int) -> Any:
        tried.append(abs(shift))
        return np.ones(1), 0.0, 0.0, np.zeros(1, dtype=np.int64), 0, -abs(shift), room, size

    monkeypatch.setattr(knapsack, "broken", always_better)
    knapsack.surrogate(np.full(len(weights), 10), column(weights), room, best)
    assert max(tried) == furthest
    assert min(tried) == 0


@pytest.mark.parametrize("limit", [3200, 3199])
def test_the_first_search_takes_a_part_of_the_limit(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in 32, from no value at all; the second has what is left."""
    weights = spread_out(100, 10**6)
    calls: list[tuple[int, int]] = []

    def counted(*args: Any) -> tuple[int, int, int]:
        calls.append((args[3], args[5]))
        return knapsack_core.search(*args)

    monkeypatch.setattr(knapsack, "search", counted)
    knapsack.counted(weights + 500, weights, int(weights.sum()) // 2, limit)
    assert calls[0] == (0, limit // 32)
    assert limit - limit // 32 <= calls[1][1] < limit


@pytest.mark.parametrize(("n", "largest", "total"), [(30, 46, 50), (1500, 45, 55)])
def test_second_search_takes_fine_steps(
    n: int, largest: int, total: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights go up to 46 bits, or their sum to 55, and the room with them."""
    weights = 999 + spread_out(n, 25)
    room = int(weights[::3].sum())
    values = weights + 10**6
    calls: list[Any] = []

    def stopped(*args: Any) -> tuple[int, int, int]:
        calls.append(args)
        return args[3], args[3], 0

    monkeypatch.setattr(knapsack, "search", stopped)
    chosen = np.zeros(n, dtype=np.bool_)
    knapsack.searched_on(values, weights, room, 1, chosen, 10)
    fine, fine_room = calls[0][1], calls[0][2][0]
    assert int(fine.max()).bit_length() == largest
    assert int(fine.sum()).bit_length() == total
    assert fine.tolist() == (weights * (int(fine[0]) // int(weights[0]))).tolist()
    assert int(fine_room) * int(weights[0]) == room * int(fine[0])


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
        if rng.random() < 0.3:
            weights[:] = 1  # what ranks above a pivot often fills the room
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


def test_divisor_reads_no_more_once_it_is_one() -> None:
    numbers = iter([12, 8, 6, 9, 5, 7])
    interpreted = getattr(knapsack.divisor, "py_func", knapsack.divisor)
    assert interpreted(numbers) == 1  # type: ignore[arg-type]
    assert list(numbers) == [5, 7]


STEPS = [
    ("free", 40, 50, 2, 300, (762, 762, 72)),
    ("free", 60, 50, 5, 100, (697, 702, 78)),
    ("free", 100, 1000, 3, 100, (31_039, 31_093, 100)),
    ("free", 200, 1_000_000, 2, 300, (78_437_695, 78_470_214, 262)),
    ("free", 200, 1_000_000, 2, 60_000, (78_437_695, 78_437_695, 1486)),
    ("free", 2000, 1_000_000, 3, 60_000, (675_604_240, 675_604_240, 406)),
    ("free", 90, 100_000, 20, 100, (1_098_122, 1_098_122, 14)),
    ("equal", 60, 50, 5, 60_000, (335, 335, 1630)),
    ("equal", 200, 1_000_000, 2, 20_000, (51_209_005, 51_209_005, 16_892)),
    ("plus", 60, 50, 5, 100, (735, 735, 32)),
    ("plus", 100, 1000, 3, 3000, (36_637, 36_637, 1656)),
    ("plus", 100, 1000, 30, 60_000, (7127, 7127, 1796)),
    ("plus", 2000, 1_000_000, 3, 3000, (714_207_672, 714_207_672, 1996)),
    ("minus", 60, 50, 5, 3000, (223, 223, 12)),
    ("minus", 100, 1000, 30, 3000, (1132, 1172, 2350)),
    ("minus", 90, 100_000, 20, 20_000, (129_914, 140_371, 19_754)),
    ("rounded", 100, 1000, 3, 3000, (23_061_751_375, 23_061_751_375, 1486)),
    ("rounded", 100, 1000, 30, 3000, (4_487_276_128, 4_487_276_129, 1888)),
    ("rounded", 2000, 1_000_000, 3, 20_000, (449_340_855_706_791, 449_340_855_706_791, 16_844)),
    ("noise", 40, 50, 2, 300, (607_760, 607_760, 100)),
    ("noise", 60, 50, 5, 3000, (335_697, 335_697, 1546)),
    ("noise", 100, 1000, 3, 60_000, (18_023_091, 18_023_091, 51_826)),
    ("noise", 90, 100_000, 20, 3000, (221_030_923, 221_033_241, 2108)),
    ("free", 3000, 1_000_000, 100, 1000, (176_491_293, 176_491_293, 592)),
    ("free", 3000, 100_000, 10, 100, (55_943_014, 55_944_807, 64)),
    ("plus", 400, 1_000_000, 50, 20_000, (25_014_908, 25_014_910, 16_864)),
    ("rounded", 400, 1000, 50, 1000, (14_343_051_649, 14_343_051_649, 994)),
    ("minus", 400, 1000, 50, 1000, (2656, 2749, 736)),
    ("noise", 3000, 1_000_000, 100, 1000, (14_925_507_947, 14_925_862_963, 540)),
    ("noise", 400, 1000, 50, 20_000, (4_161_838, 4_161_838, 1010)),
    ("free", 400, 1_000_000, 50, 20_000, (35_957_473, 35_957_473, 164)),
]


@pytest.mark.parametrize(("kind", "n", "most", "part", "limit", "expected"), STEPS)
def test_fixed_pools_take_the_steps_they_took(
    kind: str, n: int, most: int, part: int, limit: int, expected: tuple[int, int, int]
) -> None:
    """The total, the bound and the work depend on nothing but the arguments."""
    numbers = spread_out(2 * n, most)
    weights, others = numbers[:n], numbers[n:]
    values = {
        "free": others,
        "equal": weights,
        "plus": weights + most // 3,
        "minus": np.maximum(1, weights - most // 3),
        "rounded": (weights * 3 + most) * 2**20 // 5,
        "noise": weights * 1000 + others % 1000,
    }[kind]
    capacity = int(weights.sum()) // part | 1
    fits = weights <= capacity
    total, bound, _, work = solved(column(values[fits]), column(weights[fits]), capacity, limit)
    assert (total, bound, work) == expected


def linear_bounds(
    values: Ints, weights: Ints, room: int, shifts: list[int], count: int
) -> npt.NDArray[np.float64]:
    """For each shift the linear optimum of the weights + it under `room` + it * `count`."""
    wide = weights + np.array(shifts)[:, None]
    order = np.argsort(-values / wide, axis=1)
    wide = np.take_along_axis(wide, order, axis=1)
    left = room + count * np.array(shifts)[:, None] - (np.cumsum(wide, axis=1) - wide)
    bounds: npt.NDArray[np.float64] = (values[order] * np.clip(left / wide, 0, 1)).sum(axis=1)
    return bounds


def counts_of(values: Ints, weights: Ints, room: int, best: int) -> tuple[int, int]:
    """(How many items fit at most, how many it takes at least to beat `best`)."""
    most = sum(int(np.sort(weights)[: k + 1].sum()) <= room for k in range(values.size))
    least = 1 + sum(int(np.sort(values)[::-1][: k + 1].sum()) <= best for k in range(values.size))
    return most, least


def test_surrogate_is_the_shift_with_the_lowest_bound() -> None:
    """Among all that keep the shifted weights positive and their sum above the capacity."""
    rng = np.random.default_rng(7)
    signs = {-1: 0, 0: 0, 1: 0}
    for _ in range(300):
        n, high = int(rng.integers(2, 9)), int(rng.choice([2, 6]))
        weights = rng.integers(1, high + 1, n) + int(rng.choice([0, 3, 30]))
        values = np.maximum(1, weights + int(rng.integers(-3, 4))) + rng.integers(0, 2, n)
        room = int(rng.integers(0, weights.sum()))
        if rng.random() < 0.3:
            room = max(0, int(weights.sum()) - int(rng.integers(1, 9)))
        optimum = by_table(values, weights, room)
        best = max(0, optimum - int(rng.integers(0, 3)))
        if rng.random() < 0.3:
            best = int(rng.integers(best, values.sum() + 2))  # as where others are in for certain
        most, least = counts_of(values, weights, room, best)
        taken, _ = break_solution(values / weights, weights, room)
        shift, count = knapsack.surrogate(values, weights, room, best)
        allowed = [0]
        if len(taken) >= most:
            assert count == most
            allowed = list(range(64 * int(weights.max()) + 1))
        elif len(taken) < least < n:
            assert count == least
            allowed = [-s for s in range(int(weights.min()))]
            allowed = [s for s in allowed if (weights + s).sum() > room + s * least]
        else:
            assert (shift, count) == (0, 0)
        assert shift in allowed
        bounds = linear_bounds(values, weights, room, allowed, count)
        assert bounds[allowed.index(shift)] == pytest.approx(bounds.min(), rel=1e-12)
        signs[int(np.sign(shift))] += 1
    assert min(signs.values()) > 5


@pytest.mark.parametrize("shift", [-2, 0, 3])
def test_search_without_work_looks_one_toggle_away(shift: int) -> None:
    """The best of the break solution and of those with one more item or one less."""
    rng = np.random.default_rng(shift + 13)
    found = 0
    for _ in range(100):
        n = int(rng.integers(2, 20))
        values, weights = rng.integers(1, 30, n), rng.integers(3, 12, n)
        count = int(rng.integers(0, n + 1))
        room = int(rng.integers(0, weights.sum()))
        known = int(rng.integers(0, values.sum()))
        if not 0 <= room + shift * count < (weights + shift).sum():
            continue
        order, s = broken(values, weights, room, shift, count)[3:5]
        base = np.zeros(n, dtype=np.bool_)
        base[order[:s]] = True
        near = [base ^ flipped for flipped in np.eye(n, n, dtype=np.bool_)] + [base]
        fitting = [int(values[some].sum()) for some in near if weights[some].sum() <= room]
        chosen = np.arange(n) % 2 == 0
        before = chosen.copy()
        best, bound, work = knapsack_core.search(
            values, weights, (room, shift, count), known, chosen, 0
        )
        assert work == 0
        assert best == max([known, *fitting]) <= bound
        if best == known:
            assert chosen.tolist() == before.tolist()
        else:
            assert values[chosen].sum() == best
            assert weights[chosen].sum() <= room
            found += 1
    assert found > 5


@pytest.mark.parametrize("sign", [-1, 1])
def test_merge_keeps_what_its_rules_keep(sign: int) -> None:
    """With the count as a surrogate, sizes, and nodes that lead back to the toggles."""
    rng = np.random.default_rng(8 + sign)
    for _ in range(150):
        states = int(rng.integers(1, 9))
        old = np.zeros((states + 1, 3), dtype=np.int64)
        old[:-1, 0] = np.sort(rng.choice(40, states, replace=False))
        old[:-1, 1] = np.sort(rng.choice(40, states, replace=False))
        sizes, parents = rng.integers(0, 9, states), rng.permutation(states)
        old[:-1, 2] = (sizes << 32) | parents
        old[-1] = 0, 3 << 61, 0
        item, value, weight = 77, *(int(number) for number in rng.integers(1, 9, 2))
        room, shift = int(rng.integers(0, 60)), int(rng.integers(-3, 4))
        count, best = int(rng.integers(0, 9)), int(rng.integers(0, 60))
        up, down, slack = float(rng.integers(0, 4)) / 2, float(rng.integers(2, 9)) / 2, 0.25
        new = np.empty((2 * states + 1, 3), dtype=np.int64)
        nodes = np.full(2 * states + 20, -1, dtype=np.int64)
        toggle = (item, sign * value, sign * weight, sign)
        limits, rate = (room, shift, count), (up, down, slack)
        result = merged(old, states, new, nodes, 10, toggle, limits, (best, 5), rate)

        both = [
            (w, -p, 0, size, node)
            for p, w, size, node in zip(
                old[:-1, 0].tolist(),
                old[:-1, 1].tolist(),
                sizes.tolist(),
                parents.tolist(),
                strict=True,
            )
        ]
        both += [
            (w + sign * weight, p - sign * value, 1, size + sign, node)
            for w, p, _, size, node in both
        ]
        expected: list[list[int]] = []
        made: list[tuple[int, int]] = []
        high, node_of_best = -1, 5
        for w, minus_p, toggled, size, node in sorted(both):
            p = -minus_p
            gap = room - w + shift * (count - size)
            if p <= high:
                continue
            high = p
            if p + gap * (up if gap >= 0 else down) + slack < best + 1:
                continue
            here = node
            if toggled:
                here = 10 + len(made)
                made.append((node, item))
            if p > best and w <= room:
                best, node_of_best = p, here
            expected.append([p, w, size, here])
        kept = new[: result[0]]
        tags = kept[:, 2]
        columns = kept[:, 0], kept[:, 1], tags >> 32, tags & 0xFFFFFFFF
        assert np.stack(columns, axis=1).tolist() == expected
        assert new[result[0], :2].tolist() == [0, 3 << 61]
        assert result[1:] == (10 + len(made), best, node_of_best)
        assert [(number >> 32, number & 0xFFFFFFFF) for number in nodes[10 : result[1]]] == made
        assert set(nodes[:10]) | set(nodes[result[1] :]) == {-1}


def test_rates_are_those_of_the_next_items_rounded_outwards() -> None:
    """By two parts in 2**51; beyond the order, what its ends are given as."""
    rank, order = np.array([1.0, 4.0, 2.0]), np.array([1, 2, 0])
    out, ends = 2.0**-50, (0.125, 8.0)
    assert rates(rank, order, 0, 0, ends) == (4 + 4 * out, 8.0)
    assert rates(rank, order, 1, 1, ends) == (2 + 2 * out, 4 - 4 * out)
    assert rates(rank, order, 1, 2, ends) == (1 + out, 4 - 4 * out)
    assert rates(rank, order, 3, 3, ends) == (0.125, 1 - out)


@pytest.mark.parametrize("sign", [-1, 1])
def test_pairing_finds_the_best_of_one_more_toggle(sign: int) -> None:
    """Of every state with every item, if above the best, with a node that leads back to both."""
    rng = np.random.default_rng(10 + sign)
    for _ in range(150):
        states, n = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        front = np.full((states + 2, 3), 10**6, dtype=np.int64)  # what stands after the states
        front[:states, 0] = np.sort(rng.choice(40, states, replace=False))
        front[:states, 1] = np.sort(rng.choice(40, states, replace=False))
        front[:states, 2] = (rng.integers(0, 9, states) << 32) | rng.permutation(states)
        front[-1, 1] = 0
        values, weights = rng.integers(1, 20, n), rng.integers(1, 20, n)
        items = rng.permutation(n)[: int(rng.integers(0, n + 1))]
        room, best = int(rng.integers(-9, 60)), int(rng.integers(0, 40))
        nodes = np.full(9, -1, dtype=np.int64)
        found, node = paired(front, states, nodes, 7, items, values, weights, sign, room, (best, 3))
        reached = {
            (p + sign * int(values[item]), tag & 0xFFFFFFFF, item)
            for p, w, tag in front[:states].tolist()
            for item in items.tolist()
            if w + sign * weights[item] <= room
        }
        assert found == max([best, *(p for p, _, _ in reached)])
        if found == best:
            assert node == 3
            assert set(nodes) == {-1}
        else:
            assert node == 7
            assert (found, nodes[7] >> 32, nodes[7] & 0xFFFFFFFF) in reached
            assert set(nodes[[0, 1, 2, 3, 4, 5, 6, 8]]) == {-1}


def test_ceiling_is_the_highest_linear_bound_of_a_state() -> None:
    """Rounded outwards to the whole number: gains where there is room, costs where there is not."""
    front = np.array([[10, 4, 2 << 32], [14, 8, 3 << 32], [99, 0, 0]], dtype=np.int64)
    exact = (2.0, 3.0, 0.0)
    assert ceiling(front, 2, (6, 0, 0), 0, exact) == 14  # 10 + 2 * 2 and 14 - 2 * 3
    assert ceiling(front, 2, (7, 0, 0), 0, exact) == 16  # 10 + 3 * 2 and 14 - 1 * 3
    assert ceiling(front, 1, (4, 0, 0), 0, exact) == 10
    assert ceiling(front, 1, (3, 0, 0), 0, (2.0, 4.0, 0.0)) == 6
    assert ceiling(front, 2, (8, 0, 0), 0, (0.25, 3.0, 0.0)) == 14
    assert ceiling(front, 2, (8, 0, 0), 14, (0.25, 3.0, 0.75)) == 14
    assert ceiling(front, 2, (8, 0, 0), 14, (0.25, 3.0, 1.0)) == 15
    assert ceiling(front, 2, (6, 0, 0), 15, exact) == 15  # never below the best
    assert ceiling(front, 2, (6, 3, 4), 0, exact) == 26  # 10 + (2 + 3 * 2) * 2
    assert ceiling(front, 2, (6, -1, 4), 0, exact) == 10  # 10 + (2 - 2) * 2, 14 - 3 * 3
    assert ceiling(front, 1, (6, 0, 0), 0, (2.0**60, 3.0, 0.0)) == 10 + 2**53
    third = 1 / 3  # is below a third
    assert ceiling(front, 1, (7, 0, 0), 0, (third, 3.0, 0.0)) == 11
    assert ceiling(front[1:], 1, (5, 0, 0), 0, (1.0, float(np.nextafter(third, 1)), 0.0)) == 13


def test_line_and_reach() -> None:
    """The linear optimum beside the break item, and how far from it an item may be open."""
    values, rank = np.array([6, 9, 3, 8]), np.array([2.0, 3.0, 1.0, 2.0])
    linear = line(values, rank, np.array([1, 0, 3, 2]), 2, 5)
    assert linear == (2.0, 10.0, 8.0, 14 * 2.0**-50)  # two of rank 2, together worth 14
    assert line(values, rank, np.array([1, 0, 3, 2]), 3, 5) == (1.0, 5.0, 3.0, 3 * 2.0**-50)
    assert reach((2.0, 10.0, 8.0, 0.5), 4) == 6.5 + 12 * 2.0**-48
    assert reach((2.0, 10.0, 8.0, 0.5), -4) == 14.5 + 12 * 2.0**-48
    assert [int(sign_of(shift)) for shift in (-5, -1, 0, 1, 5)] == [-1, -1, 0, 1, 1]


@pytest.mark.parametrize("shift", [-3, 0, 40])
def test_widening_adds_what_the_line_leaves_open(shift: int) -> None:
    """On both sides of an order that stays as it is, best first; what is exactly that far too."""
    rng = np.random.default_rng(shift + 11)
    sides = [0, 0]
    for _ in range(30):
        n = int(rng.integers(60, 200))
        values, weights = rng.integers(1, 40, n), rng.integers(4, 40, n)
        count = int(rng.integers(0, n // 2))
        room = int(rng.integers(0, weights.sum() // 2))
        rank, low, high, order, *_ = broken(values, weights, room, shift, count)
        slope = float(rng.integers(1, 9)) / 4
        far = float(rng.integers(0, 60)) / 4
        wide, added = widened(values, weights, shift, rank, (low, high), order, slope, far)
        near = np.abs(values - slope * (weights + shift)) <= far
        inside = (low <= rank) & (rank <= high)
        assert set(wide.tolist()) == set(np.flatnonzero(near | inside).tolist())
        assert wide.size == np.count_nonzero(near | inside)
        assert added == np.count_nonzero(near & (rank > high))
        assert wide[added : added + order.size].tolist() == order.tolist()
        keys = [(-rank[i], np.sign(shift) * weights[i]) for i in wide]
        assert keys == sorted(keys)
        sides[0] += added > 0
        sides[1] += wide.size > added + order.size
    assert min(sides) > 3


@pytest.mark.parametrize(
    ("n", "levels", "part", "sizes"),
    [
        (48, 10**6, 2, [48]),
        (49, 10**6, 2, [49, 11]),
        (3000, 10**6, 1.02, [3000, 372, 91, 22]),
        (3000, 10**6, 2, [3000, 567, 99, 17]),
        (3000, 10**6, 10, [3000, 593, 48]),
        (3000, 10**6, 100, [3000, 388, 4]),
        (3000, 40, 2, [3000, 874, 304, 155, 155, 86, 86]),
        (3000, 7, 3, [3000, 1307, 448, 448, 448]),
        (1000, 2, 2, [1000, 1000, 522, 522]),
    ],
)
def test_a_pass_leaves_about_a_fifth(
    n: int, levels: int, part: float, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many after each, and the last leaves a few dozen, or it has left those of one rank."""
    numbers = spread_out(2 * n, 10**6)
    rank, weights = (numbers[:n] % levels + 1) / 8, numbers[n:] // 3 + 1
    room = int(int(weights.sum()) / part)
    interpreted = getattr(narrowed, "py_func", narrowed)  # compiled code keeps the constant
    for passes, size in enumerate(sizes):
        monkeypatch.setattr(knapsack_rank, "_PASSES", passes)
        assert interpreted(rank, weights, room)[2].size == size
    samples: list[Ints] = []

    def counted(sample: Ints, *args: Any) -> Ints:
        samples.append(sample)
        return ranked(sample, *args)

    monkeypatch.setattr(knapsack_rank, "_PASSES", 64)
    monkeypatch.setattr(knapsack_rank, "ranked", counted)
    interpreted(rank, weights, room)
    assert [sample.size for sample in samples] == [63] * (len(sizes) - 1)
