"""What bounds the rest under rules: cliques, keys, the greedy choice among them, and prices."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import prices, relaxation, rules
from packer.kernels.branch_and_bound import slots_of
from packer.kernels.prices import Constraints
from packer.kernels.relaxation import Layout
from packer.kernels.rules import Ints, Rules

from . import naive_relaxation as naive
from .naive_rules import best, satisfied
from .test_kernel_rules import a_large_pool, bound_pools, ints, rules_of

Pool = tuple[Ints, Ints, int, Rules]


def cliques_of(order: Ints, bound: Rules) -> list[list[int]]:
    at, members = relaxation.cover(np.array(order), bound)
    assert at[0] == 0
    assert at[-1] == members.size
    return [members[start:stop].tolist() for start, stop in pairwise(at.tolist())]


@given(st.data())
def test_cliques_hold_each_pair_of_rivals(data: st.DataObject) -> None:
    """Of the rows of the order, greedily by it."""
    n = data.draw(st.integers(2, 9))
    pairs = st.tuples(*[st.integers(0, n - 1)] * 2).filter(lambda pair: pair[0] < pair[1])
    bound = rules_of(n, rivals=data.draw(st.sets(pairs, max_size=30)))
    order = data.draw(st.permutations(range(n)))[: data.draw(st.integers(0, n))]
    assert cliques_of(ints(order), bound) == naive.cover(order, bound)


def test_cliques_that_overlap_much_need_more_room_than_the_pairs() -> None:
    """All of 24 rows but the other of its couple are rivals of a row."""
    n = 24
    pairs = {(i, j) for i in range(n) for j in range(i) if i // 2 != j // 2}
    found = cliques_of(ints(range(n)), rules_of(n, rivals=pairs))
    assert sum(map(len, found)) > 2 * len(pairs) + 2
    assert found == naive.cover(range(n), rules_of(n, rivals=pairs))


def test_rivals_in_a_row_are_cliques_of_two() -> None:
    pairs = {(i, i + 1) for i in range(9)}
    assert cliques_of(ints(range(10)), rules_of(10, rivals=pairs)) == [
        list(p) for p in sorted(pairs)
    ]


class Setting(NamedTuple):
    """What `branch_and_bound.solve` has made of a pool before it searches."""

    chosen: set[int]
    rows: Ints
    cliques: tuple[Ints, Ints]
    layout: Layout
    quotas: tuple[int, int]
    grain: Ints
    slots: Ints
    bounds: Constraints


def setting(pool: Pool) -> Setting | None:
    """None when the pins cannot be in."""
    _, costs, capacity, bound = pool
    pins = np.flatnonzero(bound[0])
    start = rules.walk(pins, costs, capacity, bound, pins[:0], False)
    chosen = np.zeros(costs.size, np.bool_)
    chosen[start] = True
    if not chosen[pins].all():
        return None
    rest = np.flatnonzero(~chosen)
    rows = rest[rules.reasons(rest, chosen, costs, capacity, bound) == 0]
    cliques = relaxation.cover(rows, bound)
    layout, kept, exclusive, grain = relaxation.layout_of(rows, bound, cliques)
    quotas = kept, exclusive
    bounds = prices.constraints(rows, chosen, bound, layout, quotas, cliques)
    slots = slots_of(start, bound, kept, grain)
    return Setting(set(start.tolist()), rows, cliques, layout, quotas, grain, slots, bounds)


@given(bound_pools())
def test_the_layout_nests_cliques_in_keys(pool: Pool) -> None:
    """Rows by key and clique; a clique is named by its first row, and lies under one key."""
    found = setting(pool)
    if found is None:
        return
    bound, rows = pool[3], found.rows.tolist()
    order, key, clique, width = found.layout
    kept, exclusive = naive.quotas_of(rows, bound)
    assert found.quotas == (kept, exclusive)
    assert order.tolist() == sorted(rows, key=lambda row: (key[row], clique[row]))
    assert (clique[np.setdiff1d(np.arange(clique.size), rows)] == -1).all()
    last = found.grain.size - 1
    if kept >= 0:
        assert last == bound[1][kept].max() + 1
        for row in rows:
            own = bound[1][kept, row]
            assert key[row] == (own if own >= 0 else last)
    else:
        assert not key.any()
        assert found.grain.tolist() == [0]
    for k in range(last if kept >= 0 else 0):
        amounts = [int(bound[2][kept, row]) for row in rows if key[row] == k]
        assert found.grain[k] == min(amounts, default=2**62)
    together: dict[tuple[object, ...], list[int]] = {}
    cover = naive.cover(rows, bound)
    for row in rows:
        of_quota = exclusive >= 0 and bound[1][exclusive, row] >= 0
        first = next((i for i, some in enumerate(cover) if row in some), -1)
        name: tuple[object, ...] = ("alone", row)
        if of_quota:
            name = ("quota", bound[1][exclusive, row])
        elif first >= 0:
            name = ("rivals", first)
        together.setdefault((*name, key[row]), []).append(row)
    for some in together.values():
        assert clique[some].tolist() == [some[0]] * len(some)
    assert width.tolist() == [
        sum(key[some[0]] == k for some in together.values()) for k in range(last + 1)
    ]


def test_a_row_that_the_exclusive_quota_leaves_free_is_a_clique_of_its_own() -> None:
    """Whatever its number: the names that cliques have at first must not be those of rows."""
    for n in range(3, 7):
        bound = rules_of(n, quotas=[([0, 0, *[-1] * (n - 2)], [1] * n, 0, 1)])
        rows = np.arange(n)
        (_, _, clique, _), _, exclusive, _ = relaxation.layout_of(
            rows, bound, relaxation.cover(rows, bound)
        )
        assert exclusive == 0
        assert clique.tolist() == [0, 0, *range(2, n)]


def test_the_quota_with_most_rows_beyond_it_gives_the_keys() -> None:
    """Worked out by hand: two of four rows are beyond the second, one is beyond the others."""
    first = ([0, 0, 1, 1, 1], [1] * 5, 0, 2)
    second = ([0, 0, 0, 0, -1], [3, 4, 5, 6, 9], 0, 8)
    third = ([0, 0, 0, 0, 0], [1] * 5, 0, 4)
    only_one = ([0, 0, 1, 1, -1], [1] * 5, 0, 1)
    rows = np.arange(5)
    for quotas, kept, exclusive in (
        ([first, second, third, only_one], 1, 3),
        ([only_one, second, first], 1, 0),
        ([only_one, first], 1, 0),
        ([first, third], 0, -1),
        ([([-1] * 5, [1] * 5, 0, 1), first, only_one], 1, 2),
        ([third, first], 0, -1),
        ([only_one, only_one], 1, 0),
        ([([0] * 5, [1] * 5, 0, 5)], -1, -1),
        ([([0] * 5, [0, 1, 1, 1, 1], 0, 2)], -1, -1),
        ([([-1] * 5, [1] * 5, 0, 1)], -1, -1),
    ):
        bound = rules_of(5, quotas=quotas)
        found = relaxation.layout_of(rows, bound, relaxation.cover(rows, bound))
        assert found[1:3] == (kept, exclusive)
    bound = rules_of(5, quotas=[first, second, third, only_one])
    (order, key, clique, width), _, _, grain = relaxation.layout_of(
        rows, bound, relaxation.cover(rows, bound)
    )
    assert order.tolist() == [0, 1, 2, 3, 4]
    assert key.tolist() == [0, 0, 0, 0, 1]
    assert clique.tolist() == [0, 0, 2, 2, 4]
    assert width.tolist() == [2, 1]
    assert grain.tolist() == [3, 2**62]


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Layout, Ints, list[int]]:
    """(layout, slots, open rows) of at most 7 rows."""
    n = draw(st.integers(1, 7))
    key = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    apart = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    names = [(key[i], apart[i]) for i in range(n)]
    clique = ints([names.index(name) for name in names])
    order = ints(sorted(range(n), key=lambda row: (key[row], clique[row])))
    width = ints([len({name for name in names if name[0] == k}) for k in range(3)])
    slots = ints(draw(st.lists(st.integers(0, 3), min_size=3, max_size=3)))
    return (order, ints(key), clique, width), slots, draw(st.permutations(range(n)))


def opened(rows: list[int], count: int) -> Ints:
    """The place of each row, of which the first `count` are open."""
    place = np.empty(len(rows), np.int64)
    place[rows] = np.arange(len(rows))
    assert count <= len(rows)
    return place


@given(layouts(), st.sampled_from([0.0, 0.5, 2.0]), st.data())
def test_the_relaxation_is_the_best_that_the_layout_lets_in(
    drawn: tuple[Layout, Ints, list[int]], price: float, data: st.DataObject
) -> None:
    """And `loss` tells what it falls by when a row must be in."""
    layout, slots, rows = drawn
    _, key, clique, width = layout
    n = len(rows)
    profit = [float(g) for g in data.draw(st.lists(st.integers(-4, 12), min_size=n, max_size=n))]
    costs = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    count = data.draw(st.integers(0, n))
    scratch = np.full(n, np.nan), np.full(3, np.nan), np.full(n, -7), np.full(n, -7)
    more, used, terms = relaxation.relaxed(
        price, np.array(profit), ints(costs), layout, slots, opened(rows, count), count, scratch
    )
    gain = [g - price * cost for g, cost in zip(profit, costs, strict=True)]
    taken = naive.greedy(gain, rows[:count], layout, slots)
    assert naive.fits(set(taken), layout, slots.tolist())
    assert more == sum(gain[row] for row in taken)
    assert used == sum(costs[row] for row in taken)
    assert terms == sum(abs(profit[row]) + price * costs[row] for row in taken)
    heads = {int(clique[row]): row for row in taken}
    for own in set(clique.tolist()):
        assert scratch[2][own] == heads.get(own, -1)
    for k in set(key.tolist()):
        inside = [gain[row] for row in taken if key[row] == k]
        full = slots[k] < width[k] and 0 < len(inside) == slots[k]
        assert scratch[1][k] == (min(inside) if full else 0.0)
    found = {
        frozenset(some): sum(gain[row] for row in some)
        for some in naive.subsets(rows[:count])
        if naive.fits(some, layout, slots.tolist())
    }
    assert more == max(found.values())
    for row in rows[:count]:
        if slots[key[row]] > 0:
            within = max(worth for some, worth in found.items() if row in some)
            assert relaxation.loss(row, key, clique, scratch) == more - within


@given(bound_pools())
def test_what_the_layout_leaves_out_is_in_the_constraints(pool: Pool) -> None:
    """Together they are the rules, and no constraint stands for what the layout says already."""
    found = setting(pool)
    if found is None:
        return
    bound, rows = pool[3], found.rows.tolist()
    bounds = naive.constraints_in(found.bounds)
    expected = naive.constraints(
        rows, found.chosen, bound, found.layout, found.quotas, naive.cover(rows, bound)
    )
    assert len(bounds) == len(expected)
    for (coefs, limit), (others, at_most) in zip(bounds, naive.scaled(expected), strict=True):
        assert coefs == pytest.approx(others)
        assert limit == pytest.approx(at_most)
    for some in naive.subsets(rows[:6]):
        held = naive.fits(some, found.layout, found.slots.tolist()) and naive.kept_by(bounds, some)
        assert held == satisfied(bound, found.chosen | some)


def test_constraints_worked_out_by_hand() -> None:
    """Row 0 is in and needs nothing; 1 needs 2; of 3 and 4 at least 5 tokens, and of all 10."""
    bound = rules_of(
        5,
        pins={0},
        quotas=[
            ([0, 0, 0, 0, 0], [3, 3, 4, 6, 8], 0, 13),
            ([-1, -1, -1, 0, 0], [1, 1, 1, 6, 8], 5, 20),
        ],
        needs={(1, 2), (3, 0)},
    )
    found = setting((ints([1] * 5), ints([1] * 5), 5, bound))
    assert found is not None
    assert found.quotas == (-1, -1)
    total, least, needs = naive.constraints_in(found.bounds)
    norm = np.sqrt((9 + 16 + 36 + 64) / 4)
    assert total[0] == pytest.approx({1: 3 / norm, 2: 4 / norm, 3: 6 / norm, 4: 8 / norm})
    assert total[1] == pytest.approx(10 / norm)
    norm = np.sqrt((36 + 64) / 2)
    assert least[0] == pytest.approx({3: -6 / norm, 4: -8 / norm})
    assert least[1] == pytest.approx(-5 / norm)
    assert needs == ({1: 1.0, 2: -1.0}, 0.0)


def priced_both(
    pool: Pool, goal: int, price: float, theta: float, rounds: int, starts: list[float]
) -> tuple[float, Setting] | None:
    """The bound of `priced`, when all that it tells is as its twin says; None: nothing to do."""
    values, costs, capacity, _ = pool
    found = setting(pool)
    if found is None or not found.rows.size:
        return None
    n, rows = values.size, found.rows.tolist()
    inside = np.zeros(n, np.bool_)
    inside[list(found.chosen)] = True
    place = np.full(n, n)
    place[rows] = np.arange(len(rows))
    paid = np.resize(np.array(starts), found.bounds[3].size)
    left = capacity - int(costs[inside].sum())
    scratch = np.empty(n), np.empty(found.slots.size), np.empty(n, np.int64), np.empty(n, np.int64)
    share = np.full(n, -7)
    expected = naive.priced(
        values.tolist(),
        costs.tolist(),
        left,
        found.chosen,
        found.layout,
        found.slots,
        rows,
        naive.constraints_in(found.bounds),
        goal,
        price,
        paid.tolist(),
        theta,
        rounds,
    )
    profit, constant, at, lowest = prices.priced(
        values,
        costs,
        left,
        inside,
        found.layout,
        found.slots,
        place,
        len(rows),
        scratch,
        found.bounds,
        goal,
        price,
        paid,
        theta,
        rounds,
        share,
    )
    assert profit == pytest.approx(expected[0], abs=1e-6)
    assert (constant, at, lowest) == pytest.approx(expected[1:4], abs=1e-6)
    assert paid == pytest.approx(expected[4], abs=1e-6)
    assert share.tolist() == expected[5]
    return float(lowest), found


@given(
    bound_pools(),
    st.sampled_from([0, 5, 20, -1]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1.0, 0.7, 0.002, 0.001]),
    st.sampled_from([0, 1, 10, 40]),
    st.sampled_from([[0.0], [0.5, 0.0, 2.0]]),
)
def test_prices_are_those_of_polyaks_steps_and_their_bound_holds(
    pool: Pool, goal: int, price: float, theta: float, rounds: int, starts: list[float]
) -> None:
    """No selection is worth more."""
    found = priced_both(pool, goal, price, theta, rounds, starts)
    if found is not None and rounds and theta >= 1e-3:
        values, costs, capacity, bound = pool
        optimum = best(values.tolist(), costs.tolist(), capacity, bound)
        assert optimum is None or optimum <= found[0] + 1e-6


@pytest.mark.parametrize("bits", [10, 20, 34])
@pytest.mark.parametrize("seed", range(3))
def test_prices_make_the_bound_low(seed: int, bits: int) -> None:
    """Thirty rows under all rules: the steps lower the bound, and end where it meets a goal."""
    values, costs, bound = a_large_pool(30, seed)
    pool = ints(values >> bits), costs, 3000, bound
    first = priced_both(pool, 0, 0.0, 1.0, 1, [0.0])
    last = priced_both(pool, 0, 0.0, 1.0, 150, [0.0])
    assert first is not None
    assert last is not None
    assert last[0] < 0.95 * first[0]
    goal = int(last[0] * 1.001)
    met = priced_both(pool, goal, 0.0, 1.0, 150, [0.0])
    assert met is not None
    assert met[0] < goal + 1


def test_a_goal_that_is_met_ends_the_steps() -> None:
    """At a bound of 12 one of 12 is met, and one of 11 still beaten by 12."""
    bound = rules_of(3, quotas=[([0, 0, 0], [2, 3, 4], 0, 6)])
    pool = ints([5, 4, 3]), ints([1, 1, 1]), 3, bound
    for goal in (10, 11, 12):
        priced_both(pool, goal, 0.0, 1.0, 30, [0.0])
