"""Walks, branch and bound and MMR under rules, against twins that check one chunk at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import branch_and_bound, mmr, multiple_choice, rules
from packer.kernels.rules import Ints, Rules

from . import naive_rules as naive
from .naive_similarity import Features
from .similarity_pools import frozen, kernel_matrix, mixed

NO_LIMIT = 2**62
Pairs = set[tuple[int, int]]


def ints(numbers: object) -> Ints:
    return frozen(np.array(numbers, np.int64))


def rows_of_pairs(n: int, pairs: Pairs) -> tuple[Ints, Ints]:
    """The pairs as compressed rows."""
    counts = np.zeros(n + 1, np.int64)
    for left, _ in pairs:
        counts[left + 1] += 1
    return ints(np.cumsum(counts)), ints([right for _, right in sorted(pairs)])


def rules_of(
    n: int,
    *,
    pins: set[int] = frozenset(),  # type: ignore[assignment]
    quotas: list[tuple[list[int], list[int], int, int]] | None = None,
    rivals: Pairs = frozenset(),  # type: ignore[assignment]
    needs: Pairs = frozenset(),  # type: ignore[assignment]
) -> Rules:
    """Rules from lists: quotas are (key of each row, amount of each row, least, most)."""
    quotas = quotas or []
    both = rivals | {(right, left) for left, right in rivals}
    return (
        frozen(np.array([row in pins for row in range(n)], np.bool_)),
        frozen(np.array([group for group, _, _, _ in quotas], np.int64).reshape(-1, n)),
        frozen(np.array([amount for _, amount, _, _ in quotas], np.int64).reshape(-1, n)),
        ints([least for _, _, least, _ in quotas]),
        ints([most for _, _, _, most in quotas]),
        *rows_of_pairs(n, both),
        *rows_of_pairs(n, needs),
    )


@st.composite
def bound_pools(draw: st.DrawFn, n: int | None = None) -> tuple[Ints, Ints, int, Rules]:
    """(values, costs, capacity, rules) of at most 8 rows: every kind of rule, often several."""
    n = draw(st.integers(1, 8)) if n is None else n
    numbers = st.lists(st.integers(0, 9), min_size=n, max_size=n)
    costs = draw(numbers)
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = st.sets(pair, max_size=n) if n > 1 else st.just(set())
    quotas = []
    for _ in range(draw(st.integers(0, 3))):
        group = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
        in_chunks = draw(st.booleans())
        least = draw(st.sampled_from([0, 0, 0, 1, 2] if in_chunks else [0, 0, 4]))
        most = draw(st.sampled_from([0, 1, 1, 2, NO_LIMIT] if in_chunks else [6, 15, NO_LIMIT]))
        quotas.append((group, [1] * n if in_chunks else costs, least, most))
    found = rules_of(
        n,
        pins=draw(st.sets(st.integers(0, n - 1), max_size=1)),
        quotas=quotas,
        rivals=draw(pairs),
        needs=draw(pairs),
    )
    return ints(draw(numbers)), ints(costs), draw(st.integers(0, 5 * n)), found


@pytest.mark.parametrize("stop", [False, True])
@given(bound_pools(), st.data())
def test_walks_add_what_a_check_of_each_rule_lets_in(
    stop: object, pool: tuple[Ints, Ints, int, Rules], data: st.DataObject
) -> None:
    """`base` and then `walk`, on any order of some rows, with and without a stop."""
    _, costs, capacity, bound = pool
    order = ints(data.draw(st.permutations(range(len(costs)))))[data.draw(st.integers(0, 2)) :]
    rows, met = rules.base(order, costs, capacity, bound)
    expected = naive.base(order.tolist(), costs.tolist(), capacity, bound)
    assert (rows.tolist(), met) == expected
    added = rules.walk(order, costs, capacity, bound, frozen(rows), bool(stop))
    assert added.tolist() == naive.walk(
        order.tolist(), costs.tolist(), capacity, bound, rows.tolist(), stop=bool(stop)
    )


@given(bound_pools(), st.data())
def test_reasons_name_the_rule_that_keeps_a_row_out(
    pool: tuple[Ints, Ints, int, Rules], data: st.DataObject
) -> None:
    """After any walk."""
    _, costs, capacity, bound = pool
    order = ints(data.draw(st.permutations(range(len(costs)))))
    chosen = np.zeros(len(costs), np.bool_)
    chosen[rules.walk(order, costs, capacity, bound, order[:0], False)] = True
    inside = set(np.flatnonzero(chosen).tolist())
    for row in np.flatnonzero(~chosen).tolist():
        why = rules.broken(chosen, costs, capacity, bound, row)
        assert why == naive.broken(bound, costs.tolist(), capacity, inside, row)


def test_free_rows_have_columns_that_bind_nothing() -> None:
    """As from no rules at all; read-only, since they may be shared."""
    for column, expected in zip(rules.free(4), rules_of(4), strict=True):
        assert column.dtype == expected.dtype
        assert column.tolist() == expected.tolist()
        assert column.shape == expected.shape
        assert not column.flags.writeable


@given(bound_pools())
def test_an_empty_selection_has_a_floor_for_each_key_in_use(
    pool: tuple[Ints, Ints, int, Rules],
) -> None:
    """And for the keys below one in use; beyond them nothing is asked for."""
    bound = pool[3]
    n, quotas = bound[0].size, range(bound[3].size)
    state = rules.nothing_chosen(n, bound)
    chosen, total, floor, *room = state
    keys = max((len(naive.keys_of(bound, j)) for j in quotas), default=0)
    assert chosen.tolist() == [False] * n
    assert total.tolist() == [[0] * keys] * len(quotas)
    assert floor.tolist() == [
        [int(bound[3][j]) if key in naive.keys_of(bound, j) else 0 for key in range(keys)]
        for j in quotas
    ]
    assert rules.unmet(state) == bool((floor > 0).any())
    assert [column.size for column in room] == ([n] * 3 if bound[8].size else [1, 1, 0])
    assert (room[2] == -1).all()


@given(bound_pools(), st.data())
def test_rows_come_and_go_with_their_closure(
    pool: tuple[Ints, Ints, int, Rules], data: st.DataObject
) -> None:
    """After each try the state is that of the chosen rows; a probe changes none of it."""
    _, costs, capacity, bound = pool
    n = costs.size
    state = rules.nothing_chosen(n, bound)
    inside: set[int] = set()
    left = capacity
    for row in data.draw(st.permutations(range(n))):
        if row in inside:
            continue
        why = naive.broken(bound, costs.tolist(), capacity, inside, row)
        closure = naive.ancestors(bound, row, inside)
        for keep in (rules.PROBE, rules.KEEP):
            reason, size, cost = rules.admit(row, costs, left, bound, state, keep)
            assert reason == why
            if rules.QUOTA <= reason <= rules.RIVAL:
                assert (size, cost) == (0, 0)
            if reason == rules.ADDABLE:
                assert state[3][:size].tolist() == closure
                assert cost == costs[closure].sum()
            if keep and reason == rules.ADDABLE:
                inside |= set(closure)
                left -= cost
            assert set(np.flatnonzero(state[0]).tolist()) == inside
            assert (state[5] == -1).all()
            for j in range(bound[3].size):
                for key in range(state[1].shape[1]):
                    assert state[1][j, key] == naive.total(bound, inside, j, key)
            below = state[1] < state[2]
            assert rules.unmet(state) == below.any()


@given(bound_pools(), st.sampled_from([0, 50, 10**7]))
def test_the_solution_is_the_best_of_all_subsets(
    pool: tuple[Ints, Ints, int, Rules], work_limit: int
) -> None:
    """Or, at its limit, one that keeps the rules, with a bound that holds."""
    values, costs, capacity, bound = pool
    best = naive.best(values.tolist(), costs.tolist(), capacity, bound)
    chosen, limit, proven, feasible = branch_and_bound.solve(
        values, costs, capacity, bound, work_limit
    )
    value = int(values[chosen].sum())
    if feasible:
        assert naive.satisfied(bound, set(np.flatnonzero(chosen).tolist()))
        assert costs[chosen].sum() <= capacity
    else:
        assert not chosen.any()
    if proven:
        assert feasible == (best is not None)
        assert value == limit == (best or 0)
    else:
        assert work_limit < 10**7
        assert best is None or value <= best <= limit


@given(st.data())
def test_multiple_choice_is_the_best_of_a_table(data: st.DataObject) -> None:
    """Any classes, free rows, worthless rows and rows that do not fit."""
    n = data.draw(st.integers(1, 14))
    column = st.lists(st.integers(0, 30), min_size=n, max_size=n)
    values, costs = ints(data.draw(column)), ints(data.draw(column))
    classes = ints(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    capacity = data.draw(st.integers(0, 120))
    best = naive.multiple_choice(values.tolist(), costs.tolist(), capacity, classes.tolist())
    for work_limit in (3, 10**6):
        chosen, bound, proven = multiple_choice.solve(values, costs, capacity, classes, work_limit)
        assert costs[chosen].sum() <= capacity
        assert np.unique(classes[chosen]).size == chosen.sum()
        assert bound >= best
        assert (values[chosen].sum() == best == bound) if proven else work_limit == 3


def variants(texts: int, seed: int) -> tuple[Ints, Ints, Rules]:
    """Values, costs and the rule of texts that come full, as an excerpt and as a summary."""
    rng = np.random.default_rng(seed)
    full = np.maximum(rng.lognormal(np.log(400), 0.6, texts), 8)
    costs = np.ceil(np.outer(full, [1.0, 0.4, 0.15])).astype(np.int64).ravel()
    worth = np.outer(rng.random(texts), [1.0, 0.8, 0.5]) * rng.uniform(0.9, 1.1, (texts, 3))
    n = 3 * texts
    rule = rules_of(n, quotas=[(np.repeat(np.arange(texts), 3).tolist(), [1] * n, 0, 1)])
    return ints(np.rint(worth.ravel() * 2**40)), ints(costs), rule


@pytest.mark.parametrize("seed", range(3))
def test_variants_of_five_hundred_texts_are_solved(seed: int) -> None:
    """The size that the issue names: proven, and equal to the table over the capacity."""
    values, costs, rule = variants(500, seed)
    chosen, bound, proven, feasible = branch_and_bound.solve(values, costs, 64_000, rule, 10**7)
    assert proven
    assert feasible
    assert costs[chosen].sum() <= 64_000
    assert values[chosen].sum() == bound
    table = np.zeros(64_001, np.int64)
    for text in range(500):
        before = table.copy()
        for row in range(3 * text, 3 * text + 3):
            cost = int(costs[row])
            table[cost:] = np.maximum(table[cost:], before[: 64_001 - cost] + values[row])
    assert table[-1] == bound


def test_costs_are_not_rounded() -> None:
    """Two chunks of 20,001 and 19,999 tokens fill 40,000."""
    values, costs = ints([5, 5, 9]), ints([20_001, 19_999, 39_999])
    rule = rules_of(3, quotas=[([0, 1, 0], [1, 1, 1], 0, 1)])
    chosen = branch_and_bound.solve(values, costs, 40_000, rule, 1000)[0]
    assert chosen.tolist() == [True, True, False]


def test_rules_that_nothing_satisfies() -> None:
    """Pins that exclude each other, and a least that does not fit: certainly infeasible."""
    values, costs = ints([1, 1]), ints([5, 5])
    for rule in (
        rules_of(2, pins={0, 1}, rivals={(0, 1)}),
        rules_of(2, pins={0, 1}, quotas=[([0, 0], [1, 1], 0, 1)]),
        rules_of(2, quotas=[([0, 0], [1, 1], 2, NO_LIMIT)]),
        rules_of(2, pins={1}, needs={(1, 0)}),
    ):
        chosen, bound, proven, feasible = branch_and_bound.solve(values, costs, 8, rule, 1000)
        assert not chosen.any()
        assert (bound, proven, feasible) == (0, True, False)


@given(bound_pools())
def test_what_is_worth_nothing_stays_out(pool: tuple[Ints, Ints, int, Rules]) -> None:
    """Unless it is pinned, or needed by what is not, or counts for a least."""
    values, costs, capacity, bound = pool
    chosen = branch_and_bound.solve(values, costs, capacity, bound, 10**7)[0]
    inside = set(np.flatnonzero(chosen).tolist())
    idle = {row for row in inside if values[row] == 0}
    if idle and not bound[3].any():
        for row in idle:
            assert not naive.satisfied(bound, inside - {row})


def test_what_is_worth_nothing_comes_where_a_rule_asks_for_it() -> None:
    """A heading that is needed, and a source of which one must be in; not the others."""
    values, costs = ints([5, 0, 0, 0, 4]), ints([1, 1, 1, 1, 1])
    two, one = ([0, 0, 0, 0, 0], [1] * 5, 0, 4), ([-1, -1, 0, 0, -1], [1] * 5, 1, 2)
    for quotas, expected in (([two], [0, 1, 4]), ([two, one], [0, 1, 2, 4])):
        rule = rules_of(5, quotas=quotas, needs={(0, 1)})
        chosen, bound, proven, _ = branch_and_bound.solve(values, costs, 5, rule, 10**6)
        assert np.flatnonzero(chosen).tolist() == expected
        assert proven
        assert bound == 9


def test_what_two_rows_need_comes_once() -> None:
    """Also the first row of the pool, which needs nothing itself."""
    rule = rules_of(3, needs={(2, 0), (2, 1), (1, 0)})
    walk = rules.walk(ints([2]), ints([1, 1, 1]), 3, rule, ints([]), False)
    assert walk.tolist() == [0, 1, 2]


def test_a_minimum_is_met_by_what_fits() -> None:
    """Row 0 does not, row 1 is let in instead; a pin that the order lacks goes in first."""
    rule = rules_of(4, quotas=[([0, 0, 1, 1], [1] * 4, 1, 2)], pins={3})
    rows, met = rules.base(ints([0, 1, 2]), ints([9, 2, 1, 1]), 4, rule)
    assert rows.tolist() == [3, 1]
    assert met


def test_rows_that_need_each_other_come_together() -> None:
    """A cycle, and a row that needs it; the ancestors stand first."""
    rule = rules_of(3, needs={(0, 1), (1, 0), (2, 0)})
    walk = rules.walk(ints([2, 1, 0]), ints([1, 1, 1]), 3, rule, ints([]), False)
    assert walk.tolist() == [1, 0, 2]
    assert rules.walk(ints([2, 1, 0]), ints([1, 1, 1]), 1, rule, ints([]), False).size == 0


@given(mixed(), st.sampled_from([0.0, 0.3, 0.7, 1.0]), st.data())
def test_lazy_mmr_under_rules_is_eager_mmr(
    pool: tuple[Features, list[set[str]]], lambda_: float, data: st.DataObject
) -> None:
    """The same rows in the same order, from what the rules ask for or from nothing."""
    found, _ = pool
    n = len(found[1])
    if n == 0:
        return
    _, costs, capacity, bound = data.draw(bound_pools(n))
    scores = data.draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=n, max_size=n))
    start = ints([])
    if data.draw(st.booleans()):
        start = frozen(rules.base(ints(np.arange(n)), costs, capacity, bound)[0])
    chosen = mmr.select(frozen(np.array(scores)), costs, capacity, lambda_, *found, bound, start)
    assert chosen.tolist() == naive.mmr(
        kernel_matrix(found), scores, costs.tolist(), capacity, lambda_, bound, start.tolist()
    )


def a_large_pool(n: int, seed: int) -> tuple[Ints, Ints, Rules]:
    """Twenty sources with at most three each, clusters of rivals, and headings."""
    rng = np.random.default_rng(seed)
    source, cluster = rng.integers(0, n // 10, n), rng.integers(0, n // 3, n)
    pairs = {(i, j) for i in range(n) for j in range(i) if cluster[i] == cluster[j]}
    heads = np.searchsorted(source, np.arange(n // 10), sorter=(by := np.argsort(source)))
    head = by[np.minimum(heads, n - 1)]
    needs = {(i, int(head[source[i]])) for i in range(n) if i % 2 and head[source[i]] != i}
    rule = rules_of(n, quotas=[(source.tolist(), [1] * n, 0, 3)], rivals=pairs, needs=needs - pairs)
    costs = np.maximum(rng.lognormal(np.log(300), 0.7, n), 8).astype(np.int64)
    return ints(np.rint(rng.beta(2, 3, n) * 2**40)), ints(costs), rule


@pytest.mark.parametrize("seed", range(2))
def test_a_large_pool_under_all_rules_is_nearly_optimal(seed: int) -> None:
    """Within a short limit: rules kept, and a gap of some percent to a bound."""
    values, costs, rule = a_large_pool(200, seed)
    chosen, bound, _, feasible = branch_and_bound.solve(values, costs, 12_000, rule, 3 * 10**6)
    assert feasible
    assert costs[chosen].sum() <= 12_000
    assert naive.satisfied(rule, set(np.flatnonzero(chosen).tolist()))
    assert 0.9 * bound <= values[chosen].sum() <= bound
