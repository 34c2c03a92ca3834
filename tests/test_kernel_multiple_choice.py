"""Each part of the multiple-choice knapsack, against what its definition says."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import multiple_choice as mc
from packer.kernels.relaxation import Floats
from packer.kernels.rules import Ints

from .naive_rules import multiple_choice as best_of_all

END = 3 << 61
Row = tuple[int, int, int]


def ints(numbers: object) -> Ints:
    return np.array(numbers, np.int64)


@st.composite
def rows_by_class(draw: st.DrawFn, most: int = 6) -> tuple[Ints, Ints, Ints, Ints]:
    """(order, values, costs, classes): the order by class, cost and falling value."""
    n = draw(st.integers(1, 10))
    numbers = st.lists(st.integers(0, most), min_size=n, max_size=n)
    values, costs = ints(draw(numbers)), ints(draw(numbers))
    classes = ints(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    return ints(np.lexsort((-values, costs, classes))), values, costs, classes


@given(rows_by_class())
def test_efficient_rows_are_those_that_no_other_choice_dominates(
    pool: tuple[Ints, Ints, Ints, Ints],
) -> None:
    """None counts as a choice that is free and worth nothing."""
    order, values, costs, classes = pool
    rows, at = mc.efficient(order, values, costs, classes)
    assert at[0] == 0
    expected = []
    for own in sorted(set(classes.tolist())):
        first = {(0, 0): -1}
        for row in order[classes[order] == own].tolist():
            first.setdefault((int(costs[row]), int(values[row])), row)
        expected.append([row for point, row in first.items() if not dominated(point, set(first))])
    found = [rows[start:stop].tolist() for start, stop in pairwise(at.tolist())]
    assert found == expected


def dominated(point: tuple[int, int], points: set[tuple[int, int]]) -> bool:
    """Whether another (cost, value) is no dearer and worth no less."""
    return any(cost <= point[0] and value >= point[1] for cost, value in points - {point})


def hull(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """From the first point always on to where it is steepest, of equals to the farthest."""
    at, found = 0, []
    while at < len(points) - 1:

        def slope(i: int, at: int = at) -> tuple[Fraction, int]:
            (cost, value), (here, worth) = points[i], points[at]
            return Fraction(value - worth, cost - here), i

        best = max(range(at + 1, len(points)), key=slope)
        found.append((at, best))
        at = best
    return found


@given(st.lists(st.sets(st.tuples(*[st.integers(0, 12)] * 2), min_size=1, max_size=8), max_size=3))
def test_steps_go_up_the_hull_of_each_class(drawn: list[set[tuple[int, int]]]) -> None:
    classes = []
    for points in drawn:
        rising: list[tuple[int, int]] = []
        for cost, value in sorted(points):
            if not rising or (cost > rising[-1][0] and value > rising[-1][1]):
                rising.append((cost, value))
        classes.append(rising)
    at = np.cumsum([0, *map(len, classes)])
    values = ints([value for points in classes for _, value in points])
    costs = ints([cost for points in classes for cost, _ in points])
    source, target, slope = mc.steps(values, costs, ints(at))
    expected = [
        (start + a, start + b)
        for start, points in zip(at.tolist(), classes, strict=False)
        for a, b in hull(points)
    ]
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == expected
    gains = (values[target] - values[source]) / (costs[target] - costs[source])
    assert slope.tolist() == gains.tolist()


@given(st.data())
def test_what_a_change_costs_is_rounded_downwards(data: st.DataObject) -> None:
    """At any slope, also where values and costs are large."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    at, n = np.cumsum([0, *sizes]), sum(sizes)
    column = st.lists(st.integers(0, 2**50), min_size=n, max_size=n)
    values, costs = data.draw(column), data.draw(column)
    slope = data.draw(st.floats(1e-6, 1e6))
    base = [
        start + data.draw(st.integers(0, size - 1)) for start, size in zip(at, sizes, strict=False)
    ]
    loss, least = mc.changes(ints(values), ints(costs), ints(at), ints(base), slope)
    for k, b in enumerate(base):
        others = [i for i in range(at[k], at[k + 1]) if i != b]
        assert loss[b] == 0.0
        assert least[k] == min((loss[i] for i in others), default=np.inf)
        for i in others:
            more, paid = values[b] - values[i], Fraction(slope) * (costs[b] - costs[i])
            assert Fraction(loss[i]) <= more - paid
            assert float(more - paid - Fraction(loss[i])) <= (abs(more) + abs(paid)) * 2.0**-48


def test_the_rounding_of_what_a_change_costs_is_needed() -> None:
    """Of a thousand differences many would come out too high."""
    rng = np.random.default_rng(0)
    values, costs = rng.integers(0, 2**50, 1000), rng.integers(0, 2**50, 1000)
    slope = 1 / 3
    loss, _ = mc.changes(ints(values), ints(costs), ints([0, 1000]), ints([0]), slope)
    for i in range(1, 1000):
        exact = int(values[0] - values[i]) - Fraction(slope) * int(costs[0] - costs[i])
        assert Fraction(loss[i]) <= exact


def test_filling_goes_up_the_steps_that_fit() -> None:
    """A step that does not fit keeps the later ones of its class out, not those of others."""
    costs = ints([0, 4, 6, 0, 3, 8, 0, 2])
    where = ints([0, 0, 0, 1, 1, 1, 2, 2])
    source, target = ints([0, 1, 3, 4, 6]), ints([1, 2, 4, 5, 7])
    for order, left, expected in (
        ([0, 1, 2, 3, 4], 11, [2, 4, 7]),
        ([0, 1, 2, 3, 4], 10, [2, 4, 6]),
        ([0, 1, 2, 3, 4], 5, [1, 3, 6]),
        ([0, 1, 2, 3, 4], 3, [0, 4, 6]),
        ([2, 3, 0, 4], 9, [0, 5, 6]),
        ([1, 3, 4], 20, [0, 3, 7]),
        ([2, 0], 7, [1, 4, 6]),
    ):
        base = np.array([0, 3, 6])
        mc.filled(source, target, ints(order), costs, base, where, left)
        assert base.tolist() == expected


def merged_one_by_one(
    kept: list[Row],
    old: list[Row],
    change: Row,
    room: int,
    best: tuple[int, int],
    rate: tuple[float, float],
    used: int,
) -> tuple[list[Row], dict[int, tuple[int, int]], tuple[int, int]]:
    """(states, new nodes, best): all states by cost, of equals the most valuable, then the kept."""
    choice, more, paid = change
    both = [(w, -v, 0, tag) for v, w, tag in kept]
    both += [(w + paid, -v - more, 1, tag) for v, w, tag in old]
    found: list[Row] = []
    nodes: dict[int, tuple[int, int]] = {}
    high = -1
    for cost, negative, changed, before in sorted(both):
        value, gap, tag = -negative, room - cost, before
        if value <= high:
            continue
        high = value
        if value + gap * rate[gap < 0] < best[0] + 1:
            continue
        if changed and choice >= 0:
            nodes[used + len(nodes)] = before, choice
            tag = used + len(nodes) - 1
        if gap >= 0 and value > best[0]:
            best = value, tag
        found.append((value, cost, tag))
    return found, nodes, best


@st.composite
def states(draw: st.DrawFn) -> list[Row]:
    """Rows that rise in value and in cost."""
    values = sorted(draw(st.sets(st.integers(0, 20), max_size=6)))
    costs = sorted(draw(st.sets(st.integers(0, 20), min_size=len(values), max_size=len(values))))
    return [(v, w, draw(st.integers(0, 9))) for v, w in zip(values, costs, strict=True)]


@given(
    states(),
    states(),
    st.tuples(st.integers(-1, 3), st.integers(-5, 5), st.integers(-5, 5)),
    st.integers(0, 25),
    st.tuples(st.integers(0, 15), st.integers(0, 9)),
    st.tuples(st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([0.0, 0.5, 2.0, np.inf])),
)
def test_merged_states_are_those_that_may_still_win(
    kept: list[Row],
    old: list[Row],
    change: Row,
    room: int,
    best: tuple[int, int],
    rate: tuple[float, float],
) -> None:
    """Neither dominated nor bounded, by cost; each that changes a choice has a node."""
    end = (0, END, -7)
    new = np.full((len(kept) + len(old) + 1, 3), -7)
    nodes = np.full((10 + len(old), 2), -7)
    size, used, value, node = mc.merged(
        ints([*kept, end]), ints([*old, end]), new, nodes, 10, change, room, best, rate
    )
    found, more, winner = merged_one_by_one(kept, old, change, room, best, rate, 10)
    assert [tuple(row) for row in new[:size].tolist()] == found
    assert new[size, 1] == END
    assert {i: tuple(nodes[i].tolist()) for i in range(10, used)} == more
    assert (value, node) == winner


Prepared = tuple[Ints, Ints, Ints, Ints, Ints, Floats, Floats, float]


def prepared(values: Ints, costs: Ints, classes: Ints, fit: int) -> Prepared:
    """The arguments of `search`, from `values` to `slope`, when so many steps are taken."""
    order = ints(np.lexsort((-values, costs, classes)))
    rows, at = mc.efficient(order, values, costs, classes)
    worth, paid = np.where(rows < 0, 0, values[rows]), np.where(rows < 0, 0, costs[rows])
    _, target, slopes = mc.steps(worth, paid, at)
    by_slope = np.argsort(-slopes, kind="stable")
    base = at[:-1].copy()
    for step in by_slope[:fit]:
        base[np.searchsorted(at, target[step], side="right") - 1] = target[step]
    slope = float(slopes[by_slope[fit]])
    loss, least = mc.changes(worth, paid, at, base, slope)
    return worth, paid, at, base, np.argsort(least, kind="stable"), loss, least, slope


def broken_at(values: Ints, costs: Ints, classes: Ints, room: int) -> int:
    """How many steps by falling slope fit, one after the other."""
    order = ints(np.lexsort((-values, costs, classes)))
    rows, at = mc.efficient(order, values, costs, classes)
    worth, paid = np.where(rows < 0, 0, values[rows]), np.where(rows < 0, 0, costs[rows])
    source, target, slopes = mc.steps(worth, paid, at)
    spent = np.cumsum((paid[target] - paid[source])[np.argsort(-slopes, kind="stable")])
    return int((spent <= room).sum())


def variants(texts: int, seed: int, bits: int = 40) -> tuple[Ints, Ints, Ints]:
    """Values, costs and classes of texts that come full, as an excerpt and as a summary."""
    rng = np.random.default_rng(seed)
    full = np.maximum(rng.lognormal(np.log(400), 0.6, texts), 8)
    costs = np.ceil(np.outer(full, [1.0, 0.4, 0.15])).astype(np.int64)
    worth = np.outer(rng.random(texts), [1.0, 0.8, 0.5]) * rng.uniform(0.9, 1.1, (texts, 3))
    values = np.rint(worth * 2**bits).astype(np.int64)
    return ints(values.ravel()), ints(costs.ravel()), ints(np.repeat(np.arange(texts), 3))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [-1, 0, 50, 400, 10**6])
def test_the_search_is_honest_at_every_limit(seed: int, limit: int) -> None:
    """The changes give the value that it tells, and no choice is above its bound."""
    values, costs, classes = variants(20, seed, bits=12)
    room = int(costs.sum()) // 8
    optimum = best_of_all(values.tolist(), costs.tolist(), room, classes.tolist())
    fit = broken_at(values, costs, classes, room)
    worth, paid, at, base, order, loss, least, slope = prepared(values, costs, classes, fit)
    start = int(worth[base].sum())
    linear = start + (room - int(paid[base].sum())) * slope
    for best in (0, start, optimum - 1, optimum):
        value, bound, work, changes = mc.search(
            worth, paid, at, base, order, loss, least, slope, room, best, limit
        )
        assert max(best, start) <= value <= optimum <= bound <= max(best, int(linear + 1e-6))
        assert (bound == value == optimum) if limit == 10**6 else work <= limit + 500
        assert (changes.size > 0) == (value > best)
        if changes.size:
            assert changes[-1] == -1
            picked = base.copy()
            where = np.searchsorted(at, changes[:-1], side="right") - 1
            assert np.unique(where).size == where.size
            picked[where] = changes[:-1]
            assert worth[picked].sum() == value
            assert paid[picked].sum() <= room


def test_classes_that_cannot_win_are_not_met() -> None:
    """The states that are merged, for pools of a hundred texts: a weaker bound merges more."""
    works = []
    for seed in range(6):
        values, costs, classes = variants(100, seed)
        room = int(costs.sum()) // 10
        fit = broken_at(values, costs, classes, room)
        *_, work, _ = mc.search(*prepared(values, costs, classes, fit), room, 0, 10**6)
        works.append(work)
    assert works == [1359, 1593, 21, 6, 142, 222]


@given(st.data())
def test_a_bound_that_is_met_to_the_last_token_is_not_rounded_away(data: st.DataObject) -> None:
    """Values that are nearly a multiple of the costs, where both are large."""
    n = data.draw(st.integers(2, 8))
    costs = data.draw(st.lists(st.integers(1, 2**24), min_size=n, max_size=n))
    times = data.draw(st.integers(1, 2**24))
    off = data.draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    values = [cost * times + more for cost, more in zip(costs, off, strict=True)]
    classes = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    room = data.draw(st.integers(0, sum(costs)))
    best = best_of_all(values, costs, room, classes)
    chosen, bound, proven = mc.solve(ints(values), ints(costs), room, ints(classes), 10**6)
    assert proven
    assert ints(values)[chosen].sum() == bound == best


@pytest.mark.parametrize("kind", ["free", "equal", "twice", "few"])
def test_many_small_pools_are_solved(kind: str) -> None:
    """As a table over what can be spent says, and honestly where the search is cut off."""
    rng = np.random.default_rng(len(kind))
    for _ in range(60):
        n = int(rng.integers(4, 15))
        costs = rng.integers(0, 30, n)
        values = {
            "free": rng.integers(0, 30, n),
            "equal": costs,
            "twice": 2 * costs + rng.integers(-1, 2, n).clip(-costs),
            "few": rng.integers(0, 4, n),
        }[kind]
        classes = rng.integers(0, n // 2, n)
        room = int(rng.integers(0, costs.sum() // 2 + 1))
        best = best_of_all(values.tolist(), costs.tolist(), room, classes.tolist())
        for limit in (10**6, 20, 5, 0, -1):
            chosen, bound, proven = mc.solve(values, costs, room, classes, limit)
            value = values[chosen].sum()
            assert costs[chosen].sum() <= room
            assert np.unique(classes[chosen]).size == chosen.sum()
            assert value <= best <= bound
            assert proven == (value == bound)
            assert proven or limit < 10**6


def test_values_like_their_costs_take_thousands_of_states() -> None:
    """The linear bound tells nothing there; what the search finds beats what it began with."""
    rng = np.random.default_rng(2)
    costs, classes = ints(rng.integers(1, 1000, 64)), ints(np.repeat(np.arange(16), 4))
    room = int(costs.sum()) // 7
    best = best_of_all(costs.tolist(), costs.tolist(), room, classes.tolist())
    chosen, bound, proven = mc.solve(costs, costs, room, classes, 10**6)
    assert proven
    assert costs[chosen].sum() == bound == best
    assert np.unique(classes[chosen]).size == chosen.sum()
    assert not mc.solve(costs, costs, room, classes, 10_000)[2]


def test_without_a_search_the_steps_that_fit_are_taken() -> None:
    """The base, and what fits on top of it; the bound is the linear one, cut to an integer."""
    values, costs = ints([9, 7, 8, 5, 2]), ints([8, 3, 7, 3, 2])
    classes = ints([0, 0, 1, 1, 2])
    chosen, bound, proven = mc.solve(values, costs, 10, classes, -1)
    assert chosen.tolist() == [False, True, False, True, True]
    assert (bound, proven) == (15, False)
    for room, expected in (
        (17, [True, False, True, False, True]),
        (8, [False, True, False, True, True]),
    ):
        chosen, bound, proven = mc.solve(values, costs, room, classes, -1)
        assert chosen.tolist() == expected
        assert bound == values[chosen].sum()
        assert proven
