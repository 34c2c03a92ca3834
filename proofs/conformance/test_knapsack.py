"""The models of the knapsack are its kernel and its selector: rules, bounds, tables, rounding."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import compress, pairwise
from math import floor, ldexp

import numpy as np
import pytest

from packer import Pool
from packer.kernels import knapsack as kernel
from packer.kernels.knapsack_core import ceiling, merged
from packer.kernels.knapsack_rank import broken, line, reach, widened
from proofs.conformance.inputs import CASES, Ints, items
from proofs.crosshair import twins
from proofs.smt.dantzig_bounds_the_optimum import dantzig, dual
from proofs.smt.half_of_the_optimum import prefix_or_break
from proofs.smt.knapsack_keeps_an_optimal_state import (
    bounded,
    dominated,
    highest,
    surrogate_gap,
    toggled_first,
)
from proofs.smt.reduction_keeps_better_subsets import distance, fixed
from proofs.smt.rounding_is_within_the_bound import reported, within
from proofs.smt.table_is_brute_force import brute_force, table
from strategies import knapsack
from strategies.knapsack import _scaled
from tests.naive_knapsack import by_table


def test_break_solution_of_the_kernel_has_the_bound_of_the_model() -> None:
    for values, weights, capacity in items(2, 12):
        if int(weights.sum()) <= capacity:
            continue
        rank, _, _, order, s, value, weight, _ = broken(values, weights, capacity, 0, 0)
        bound = float(value + (capacity - weight) * rank[order[s]])
        exact = dantzig(values.tolist(), weights.tolist(), capacity)
        assert bound == pytest.approx(float(exact), rel=1e-12)
        price = Fraction(int(values[order[s]]), int(weights[order[s]]))
        assert dual(values.tolist(), weights.tolist(), capacity, price) == exact


def test_knapsack_is_the_table_and_lies_between_the_bounds() -> None:
    for values, weights, capacity in items(1, 7):
        given = values.tolist(), weights.tolist(), capacity
        chosen, bound, proven = kernel.solve(values, weights, capacity, kernel.WORK_LIMIT)
        best = table(*given)
        assert proven
        assert int(values[chosen].sum()) == bound == best == brute_force(*given)
        assert by_table(values, weights, capacity) == best  # the oracle of the tests
        assert 2 * prefix_or_break(*given) >= best
        assert best <= dantzig(*given)


def test_knapsack_of_three_is_the_twin() -> None:
    for values, weights, capacity in items(3, 3):
        v0, v1, v2 = values.tolist()
        w0, w1, w2 = weights.tolist()
        best = twins.best_total((v0, v1, v2), w0, w1, w2, capacity)
        chosen, bound, _ = kernel.solve(values, weights, capacity, kernel.WORK_LIMIT)
        assert int(values[chosen].sum()) == bound == best


State = tuple[int, int, int]
"""A value, a weight, and how many items."""


def _front(rng: np.random.Generator) -> list[State]:
    """States that rise strictly in value and in weight."""
    size = int(rng.integers(1, 9))
    values = np.sort(rng.choice(40, size, replace=False))
    weights = np.sort(rng.choice(40, size, replace=False))
    sizes = rng.integers(1, 9, size)
    return list(zip(values.tolist(), weights.tolist(), sizes.tolist(), strict=True))


def _rows(front: list[State]) -> Ints:
    """The states as the kernel has them."""
    rows = np.zeros((len(front) + 1, 3), np.int64)
    rows[:-1] = [(p, w, size << 32) for p, w, size in front]
    rows[-1, 1] = 3 << 61
    return rows


def _call(rng: np.random.Generator) -> tuple[State, int, tuple[float, float, float]]:
    """The limits (room, shift, count), the best value, the rates (up, down, slack)."""
    room, best = int(rng.integers(0, 60)), int(rng.integers(0, 60))
    shift, count = int(rng.integers(-3, 4)), int(rng.integers(1, 9))
    up, down = (np.sort(rng.integers(0, 9, 2)) / 4).tolist()
    return (room, shift, count), best, (up, down, float(rng.choice([0.0, 0.75])))


def test_merge_of_the_kernel_drops_what_the_rules_of_the_model_drop() -> None:
    rng = np.random.default_rng(20_240_603)
    dropped = [0, 0]
    for _ in range(CASES):
        front = _front(rng)
        sign = int(rng.choice([-1, 1]))
        item = int(rng.integers(1, 9)) * sign, int(rng.integers(1, 9)) * sign
        limits, best, rates = _call(rng)
        (room, shift, count), (up, down, slack) = limits, rates
        new = np.empty((2 * len(front) + 1, 3), np.int64)
        nodes = np.empty(2 * len(front) + 2, np.int64)
        old, toggle = _rows(front), (0, *item, sign)
        left = merged(old, len(front), new, nodes, 1, toggle, limits, (best, -1), rates)[0]

        expected, most, found = [], -1, best
        moved = [(p + item[0], w + item[1], size + sign) for p, w, size in front]
        while front or moved:
            first = bool(moved) and (not front or bool(toggled_first(front[0][:2], moved[0][:2])))
            p, w, size = (moved if first else front).pop(0)
            if dominated(p, most):
                dropped[0] += 1
                continue
            most = p
            gap = surrogate_gap(room, w, shift, count, size)
            if bounded(gap, p + slack, found, up, down):
                dropped[1] += 1
                continue
            expected.append((p, w, size))
            found = max(found, p) if w <= room else found
        assert [(p, w, tag >> 32) for p, w, tag in new[:left].tolist()] == expected
        assert all(v < w and p < q for (p, v, _), (q, w, _) in pairwise(expected))
    assert min(dropped) > CASES


def test_ceiling_of_the_kernel_is_the_most_of_the_highest() -> None:
    rng = np.random.default_rng(20_240_610)
    above = 0
    for _ in range(CASES):
        front = _front(rng)
        limits, best, rates = _call(rng)
        (room, shift, count), (up, down, slack) = limits, rates
        tops = [
            highest(surrogate_gap(room, w, shift, count, size), p + slack, up, down)
            for p, w, size in front
        ]
        expected = max(best, *map(floor, tops))
        assert ceiling(_rows(front), len(front), limits, best, rates) == expected
        above += expected > best
    assert CASES / 4 < above < CASES


def _many_ties(cases: int) -> Iterator[tuple[Ints, Ints, int]]:
    """(values, weights, capacity) of some hundred items of few kinds, so that not all are sorted."""
    rng = np.random.default_rng(20_240_611)
    for case in range(cases):
        n = int(rng.integers(60, 140))
        weights = rng.integers(1, 30, n)
        values = [rng.integers(1, 8, n), weights + 5, weights + rng.integers(0, 3, n)][case % 3]
        share = rng.choice([0.1, 0.5, 0.9])
        yield values, weights, max(int(weights.max()), int(weights.sum() * share))


def test_reduction_of_the_kernel_fixes_only_what_the_model_fixes() -> None:
    rng = np.random.default_rng(20_240_612)
    beyond = forced = 0
    for values, weights, capacity in _many_ties(CASES // 10):
        shift = int(rng.integers(0, 3))
        count = int(np.searchsorted(np.cumsum(np.sort(weights)), capacity, side="right"))
        optimum = by_table(values, weights, capacity)
        best = optimum - int(rng.integers(0, 3))
        rank, low, high, order, s, value, weight, size = broken(
            values, weights, capacity, shift, count
        )
        gap = surrogate_gap(capacity, weight, shift, count, size)
        linear = line(values, rank, order, s, gap)
        far, short = reach(linear, best + 1 - value), best + 1 - value
        ends, slope = (low, high), linear[0]
        order_now, _ = widened(values, weights, shift, rank, ends, order, slope, far)

        wide = weights + shift
        price = Fraction(int(values[order[s]]), int(wide[order[s]]))
        kinds = list(zip(values.tolist(), wide.tolist(), strict=True))
        aside = [
            item
            for item, kind in enumerate(kinds)
            if fixed(distance(*kind, price), price * gap, short)
        ]
        left_out = set(range(len(values))) - set(order_now.tolist())
        assert left_out == set(aside) - set(order.tolist())
        beyond += len(left_out)
        for item in rng.choice(aside, min(3, len(aside)), replace=False).tolist():
            others = np.delete(values, item), np.delete(weights, item)
            if kinds[item][0] >= price * kinds[item][1]:  # the line places it in
                otherwise = by_table(*others, capacity)
            else:
                room = capacity - int(weights[item])
                otherwise = int(values[item]) + by_table(*others, room)
            assert otherwise <= best
            forced += 1
    assert min(beyond, forced) > CASES / 10


@pytest.mark.parametrize(
    ("limit", "least_unproven", "least_twice"),
    [(64, 5, 100), (6400, 0, 25), (kernel.WORK_LIMIT, 0, 0)],
)
def test_knapsack_of_many_ties_is_the_table_or_has_a_bound(
    limit: int, least_unproven: int, least_twice: int
) -> None:
    unproven = twice = 0
    for values, weights, capacity in _many_ties(CASES // 10):
        best = by_table(values, weights, capacity)
        chosen, bound, proven, work = kernel.counted(values, weights, capacity, limit)
        found = int(values[chosen].sum())
        assert int(weights[chosen].sum()) <= capacity
        assert found <= best <= bound
        assert proven == (found == bound)
        unproven += not proven  # its bound is a ceiling
        twice += work > limit // 32  # the first search came to its limit
    assert unproven >= least_unproven
    assert unproven == 0 or limit == 64
    assert twice >= least_twice


def test_scaled_scores_are_rounded_and_the_bound_covers_any_subset() -> None:
    rng = np.random.default_rng(20_240_604)
    vanished = 0
    for _ in range(CASES):
        n = int(rng.integers(1, 8))
        # Of one magnitude or of many: beside the highest the lowest is then no unit of the scale.
        magnitudes = rng.integers(-20, 4, n) if rng.random() < 0.5 else rng.integers(-3, 4)
        scores = rng.random(n) * 10.0**magnitudes
        whole, shift = _scaled(scores)
        vanished += int((whole == 0).sum())
        scaled = [Fraction(score) * Fraction(2) ** shift for score in scores.tolist()]
        assert all(map(within, scaled, whole.tolist(), [1] * n))
        taken = rng.random(n) < 0.5
        assert within(sum(compress(scaled, taken)), int(whole[taken].sum()), n)

        costs = rng.integers(1, 9, n)
        pool = Pool.from_arrays(scores, costs, budget=int(costs.max()) + 3)
        optimality = knapsack(pool).optimality
        assert optimality is not None
        best = brute_force(list(map(Fraction, scores.tolist())), costs.tolist(), pool.budget)
        assert float(best) <= optimality.bound  # a bound that is exact is rounded once
        if int(costs.sum()) > pool.budget and whole.all():
            most = brute_force(whole.tolist(), costs.tolist(), pool.budget)
            rounded = any(score.denominator > 1 for score in scaled)
            told = reported(most, n) if rounded else most
            assert optimality.bound == ldexp(told, -shift)
    assert vanished > CASES / 4
