"""The tree of decisions, and the small changes of an order that give it a first subset."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import knapsack, local_search, tree_search
from packer.kernels.rules import Flags, Rules

from . import naive_rules as naive
from .test_kernel_relaxation import Pool, setting
from .test_kernel_rules import NO_LIMIT, a_large_pool, bound_pools, ints, rules_of


@given(st.permutations(range(6)), st.data())
def test_what_is_dropped_stands_behind_what_is_open(
    rows: Sequence[int], data: st.DataObject
) -> None:
    opened, place, count = np.array(rows), np.argsort(rows), 6
    left = set(rows)
    for row in data.draw(st.permutations(rows)):
        count = tree_search.dropped(row, opened, place, count)
        left -= {row}
        assert set(opened[:count].tolist()) == left
        assert opened[count] == row
        assert place[opened].tolist() == list(range(6))


@given(st.lists(st.integers(0, 4) | st.none(), max_size=24))
def test_nodes_come_back_by_bound_and_of_equals_the_latest_first(
    turns: list[int | None],
) -> None:
    """Pushed in any order with pops in between (None)."""
    bounds = [turn for turn in turns if turn is not None]
    nodes = np.array([[0, 0, bound] for bound in [*bounds, 0]])
    heap, size, made = np.full(len(nodes), -7), 0, 0
    waiting: list[int] = []
    for turn in [*turns, *[None] * len(turns)]:
        if turn is not None:
            size = tree_search.pushed(made, heap, size, nodes)
            waiting.append(made)
            made += 1
        elif waiting:
            first = max(waiting, key=lambda node: (nodes[node, 2], node))
            assert heap[0] == first
            waiting.remove(first)
            size = tree_search.popped(heap, size, nodes)
        assert size == len(waiting)
        assert set(heap[:size].tolist()) == set(waiting)


@given(
    st.lists(st.tuples(st.integers(-3, 20), st.integers(0, 9)), min_size=1, max_size=5), st.data()
)
def test_at_the_first_price_no_open_row_is_worth_its_cost(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    """But for those that are free; and it is hardly higher than that."""
    count = data.draw(st.integers(0, len(rows)))
    opened = data.draw(st.permutations(range(len(rows))))
    profit, costs = np.array([float(g) for g, _ in rows]), ints([cost for _, cost in rows])
    price = tree_search.first_price(profit, costs, np.array(opened), count)
    rates = [profit[i] / costs[i] for i in opened[:count] if costs[i]]
    highest = max(0.0, *rates, 0.0)
    assert highest * (1 + 2.0**-41) + 2.0**-21 < price <= highest * (1 + 2.0**-39) + 2.0**-19


def searched(
    pool: Pool, best: int, chosen: Flags, work_limit: int, price: float = 0.0, paid: float = 0.0
) -> tuple[int, int, int]:
    """`search` from nothing but this price of a token and of the constraints."""
    values, costs, capacity, bound = pool
    found = setting(pool)
    assert found is not None
    at_prices = np.full(found.bounds[3].size, paid)
    kept, grain = found.quotas[0], found.grain
    best, highest, work = tree_search.search(
        values,
        costs,
        capacity,
        bound,
        found.layout,
        kept,
        grain,
        found.bounds,
        at_prices,
        price,
        best,
        chosen,
        work_limit,
    )
    return int(best), int(highest), int(work)


@given(
    bound_pools(),
    st.sampled_from([0, 30, 100, 10**7]),
    st.sampled_from([0.0, 0.5, 3.0]),
    st.sampled_from([0.0, 0.5]),
    st.integers(-1, 1),
)
def test_the_search_finds_what_is_better_than_the_best_known(
    pool: Pool, work_limit: int, price: float, paid: float, short: int
) -> None:
    """From any prices, and from the optimum, one less or nothing known; its bound holds."""
    values, costs, capacity, bound = pool
    if setting(pool) is None:
        return
    optimum = naive.best(values.tolist(), costs.tolist(), capacity, bound)
    known = -1 if optimum is None or short < 0 else optimum - short
    marked = np.ones(values.size, np.bool_)
    chosen = marked.copy()
    best, highest, _ = searched(pool, known, chosen, work_limit, price, paid)
    if work_limit == 10**7:
        assert best == highest == (-1 if optimum is None else optimum)
    assert known <= best <= highest
    assert optimum is None or best <= optimum <= highest
    if best > known:
        assert values[chosen].sum() == best
        assert costs[chosen].sum() <= capacity
        assert naive.satisfied(bound, set(np.flatnonzero(chosen).tolist()))
    else:
        assert (chosen == marked).all()


def test_pins_that_cannot_be_in_end_the_search() -> None:
    """At what is known, as the bound too."""
    values, costs = ints([3, 4]), ints([5, 5])
    bound, other = rules_of(2, pins={0, 1}), rules_of(2)
    found = setting((values, costs, 9, other))
    assert found is not None
    chosen = np.zeros(2, np.bool_)
    result = tree_search.search(
        values,
        costs,
        9,
        bound,
        found.layout,
        -1,
        found.grain,
        found.bounds,
        np.zeros(0),
        0.0,
        -1,
        chosen,
        100,
    )
    assert result == (-1, -1, 2)
    assert not chosen.any()


def pool_of(n: int, seed: int, kind: str) -> Pool:
    """Rows with values that differ, under one kind of rule or all; some rows are not bound."""
    values, costs, bound = a_large_pool(n, seed)
    none = rules_of(n)
    group = np.where(np.arange(n) % 4 > 0, bound[1][0], -1)
    capped = rules_of(n, quotas=[(group.tolist(), [1] * n, 0, 3)])
    amounts = np.where(np.arange(n) % 9 > 0, costs, 0)
    by_tokens = rules_of(n, quotas=[(bound[1][0].tolist(), amounts.tolist(), 300, 900)])
    least = rules_of(n, quotas=[(np.minimum(group, 2).tolist(), [1] * n, 2, NO_LIMIT)])
    pinned = rules_of(
        n, pins={1, n - 2}, quotas=[(group.tolist(), [1] * n, 0, 3)], needs={(1, 0), (3, 2)}
    )
    some = {
        "capacity": none,
        "cap": capped,
        "tokens": by_tokens,
        "least": least,
        "pinned": pinned,
        "rivals": (*none[:5], *bound[5:7], *none[7:]),
        "needs": (*none[:7], *bound[7:]),
        "all": bound,
    }
    return values, costs, int(costs.sum()) // 4, some[kind]


VISITS = {
    "capacity": [1252, 1150, 1041, 3674, 3117, 1451],
    "cap": [1200, 945, 1095, 1858, 1576, 1211],
    "tokens": [40700, 58317, 12562, 43443, 24198, 4688],
    "least": [16972, 18505, 1332, 36975, 21404, 3113],
    "pinned": [245, 292, 128, 660, 486, 685],
    "rivals": [189, 160, 112, 2114, 2030, 1498],
    "needs": [19281, 11022, 1018, 35232, 41584, 6140],
    "all": [4194, 3366, 2059, 20026, 21704, 16574],
}


@pytest.mark.parametrize("kind", VISITS)
def test_the_visits_of_a_search(kind: str) -> None:
    """Exactly: a weaker bound takes more, and another order of the branches takes others.

    From nothing, from a value that is good, and from one just below at a price far off.
    """
    works = []
    for seed in range(2):
        pool = pool_of(20, seed, kind)
        chosen = np.zeros(20, np.bool_)
        best, highest, work = searched(pool, -1, chosen, 10**7)
        assert best == highest == pool[0][chosen].sum()
        works.append(work)
        for known, price in ((best * 9 // 10, 0.0), (best - 1, 1e-3)):
            again = np.zeros(20, np.bool_)
            *found, work = searched(pool, known, again, 10**7, price)
            assert found == [best, best]
            assert (again == chosen).all()
            works.append(work)
    assert works == VISITS[kind]


@pytest.mark.parametrize("kind", VISITS)
def test_a_search_that_is_cut_off_tells_a_bound_that_gets_lower(kind: str) -> None:
    """As visits go on; the best gets better."""
    pool = pool_of(20, 7, kind)
    optimum, _, work = searched(pool, -1, np.zeros(20, np.bool_), 10**7)
    before = -1, NO_LIMIT
    for limit in (0, *(work * part // 16 for part in range(1, 16)), 10**7):
        best, highest, _ = searched(pool, -1, np.zeros(20, np.bool_), limit)
        assert before[0] <= best <= optimum <= highest <= before[1]
        before = best, highest
    assert before == (optimum, optimum)


def test_a_search_with_many_nodes_that_wait() -> None:
    """Values like the costs: at one time 155 nodes wait, of 474."""
    rng = np.random.default_rng(2)
    costs = rng.integers(10_000, 20_000, 25)
    values, capacity = costs + rng.integers(0, 2000, 25), int(costs.sum()) // 2
    chosen = np.zeros(25, np.bool_)
    best, highest, work = searched(
        (ints(values), ints(costs), capacity, rules_of(25)), -1, chosen, 10**7
    )
    optimum, _, proven = knapsack.solve(values, costs, capacity, knapsack.WORK_LIMIT)
    assert proven
    assert best == highest == values[chosen].sum() == values[optimum].sum()
    assert work == 52745


def improved_one_by_one(
    order: list[int], values: list[int], costs: list[int], capacity: int, bound: Rules, tries: int
) -> tuple[int, set[int]]:
    """The best that `base` and `walk` make of the order and its small changes."""
    now = order
    best, inside = -1, set[int]()
    failures, turn = 0, -1
    for _ in range(tries):
        new = now
        if turn >= 0:
            row = order[turn]
            rest = [other for other in now if other != row]
            new = [*rest, row] if row in inside else [row, *rest]
        turn = (turn + 1) % len(order)
        met, fine = naive.base(new, costs, capacity, bound)
        failures += 1
        if fine:
            rows = met + naive.walk(new, costs, capacity, bound, met)
            value = sum(values[row] for row in rows)
            if value > best:
                best, inside, failures = value, set(rows), 0
                now = rows + [row for row in order if row not in inside]
        if failures > len(order):
            break
    return best, inside


def test_every_row_is_tried_when_the_order_as_it_is_does_not_do() -> None:
    """Of three rows one must be in, and the last of them by another rule."""
    some, last = ([0, 0, 0], [1] * 3, 1, 1), ([-1, -1, 0], [1] * 3, 1, 1)
    chosen = np.zeros(3, np.bool_)
    arguments = np.arange(3), ints([9, 9, 4]), ints([1] * 3), 3, rules_of(3, quotas=[some, last])
    assert local_search.improved(*arguments, -1, chosen, 2 * 3) == -1
    assert local_search.improved(*arguments, -1, chosen, 3 * 3) == 4
    assert chosen.tolist() == [False, False, True]


def test_an_order_that_gives_as_much_changes_nothing() -> None:
    """Of two equal rows, one fits: the first stays in when it was moved to the end."""
    chosen = np.zeros(2, np.bool_)
    arguments = np.arange(2), ints([5, 5]), ints([1, 1]), 1, rules_of(2)
    assert local_search.improved(*arguments, -1, chosen, 2) == 5
    assert chosen.tolist() == [True, False]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tries", [0, 1, 2, 4, 9, 15, 1000])
def test_small_changes_of_a_poor_order(seed: int, tries: int) -> None:
    """From the worst row to the best, under all rules."""
    values, costs, bound = a_large_pool(10, seed)
    order = np.argsort(values, kind="stable")
    chosen = np.zeros(10, np.bool_)
    capacity = int(costs.sum()) // 3
    found = local_search.improved(order, values, costs, capacity, bound, -1, chosen, tries * 10)
    best, inside = improved_one_by_one(
        order.tolist(), values.tolist(), costs.tolist(), capacity, bound, tries + 1
    )
    assert found == best
    assert set(np.flatnonzero(chosen).tolist()) == inside


@given(bound_pools(), st.integers(-1, 30), st.sampled_from([0, 1, 2, 5, 1000]), st.data())
def test_a_better_subset_comes_from_small_changes_of_the_order(
    pool: Pool, known: int, tries: int, data: st.DataObject
) -> None:
    """One try more than the limit has room for, and the known subset stays where it is better."""
    values, costs, capacity, bound = pool
    n = values.size
    order = data.draw(st.permutations(range(n)))
    marked = np.ones(n, np.bool_)
    chosen = marked.copy()
    found = local_search.improved(
        np.array(order), values, costs, capacity, bound, known, chosen, tries * n
    )
    best, inside = improved_one_by_one(
        order, values.tolist(), costs.tolist(), capacity, bound, tries + 1
    )
    assert found == max(best, known)
    expected = np.isin(np.arange(n), list(inside)) if best > known else marked
    assert chosen.tolist() == expected.tolist()
