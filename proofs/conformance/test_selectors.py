"""The walks of `proofs/smt` and of the twins are those of `greedy`, `prefix` and the knapsack."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from packer import Pool
from packer.kernels import knapsack as kernel
from packer.kernels.knapsack_core import merged
from packer.kernels.knapsack_rank import broken
from proofs.conformance.inputs import CASES, items, rankings
from proofs.crosshair import twins
from proofs.smt.dantzig_bounds_the_optimum import dantzig, dual
from proofs.smt.greedy_stays_within_budget import walk
from proofs.smt.half_of_the_optimum import prefix_or_break
from proofs.smt.knapsack_keeps_an_optimal_state import bounded, dominated, toggled_first
from proofs.smt.table_is_brute_force import brute_force, table
from strategies import greedy, knapsack, prefix
from strategies.knapsack import _scaled


def ranked_pool(scores: list[float], tokens: list[int], overhead: int, budget: int) -> Pool:
    """A pool whose rows stand in the order of the ranking."""
    order = np.argsort(-np.array(scores), kind="stable")
    columns = np.array(scores)[order], np.array(tokens, np.int64)[order]
    return Pool.from_arrays(*columns, overhead=overhead, budget=budget)


def test_greedy_is_the_walk() -> None:
    for scores, tokens, overhead, budget in rankings(9):
        pool = ranked_pool(scores, tokens, overhead, budget)
        assert greedy(pool).chosen.tolist() == walk(pool.costs.tolist(), budget)


def test_greedy_and_prefix_are_the_twins_of_three() -> None:
    for scores, tokens, overhead, budget in rankings(3):
        pool = ranked_pool(scores, tokens, overhead, budget)
        given: list[int] = pool.costs.tolist()
        c0, c1, c2 = given + [budget + 1] * (3 - len(given))
        taken = twins.filled(c0, c1, c2, budget)
        assert greedy(pool).chosen.tolist() == np.flatnonzero(taken).tolist()
        if len(pool) == 3:  # else the made-up cost ends the prefix in another place
            taken = twins.prefix_filled(c0, c1, c2, budget)
            assert prefix(pool).chosen.tolist() == np.flatnonzero(taken).tolist()


def test_reason_is_the_twin() -> None:
    for scores, tokens, overhead, budget in rankings(9):
        pool = ranked_pool(scores, tokens, overhead, budget)
        selection = pool.select(prefix(pool).chosen[::2])
        used = int(selection.costs.sum())
        cost = dict(zip(pool.table_rows.tolist(), pool.costs.tolist(), strict=True))
        for cut in selection.pool.cuts:
            for row in cut.rows.tolist():
                as_budget = twins.left_out_as_budget(cost[row], used, budget)
                assert cut.reason == ("budget" if as_budget else "strategy")


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
        assert 2 * prefix_or_break(*given) >= best
        assert best <= dantzig(*given)


def test_knapsack_of_three_is_the_twin() -> None:
    for values, weights, capacity in items(3, 3):
        v0, v1, v2 = values.tolist()
        w0, w1, w2 = weights.tolist()
        best = twins.best_total((v0, v1, v2), w0, w1, w2, capacity)
        chosen, bound, _ = kernel.solve(values, weights, capacity, kernel.WORK_LIMIT)
        assert int(values[chosen].sum()) == bound == best


def _front(rng: np.random.Generator) -> list[tuple[int, int]]:
    """States that rise strictly in value and in weight."""
    size = int(rng.integers(1, 9))
    values = np.sort(rng.choice(40, size, replace=False))
    weights = np.sort(rng.choice(40, size, replace=False))
    return list(zip(values.tolist(), weights.tolist(), strict=True))


def test_merge_of_the_kernel_drops_what_the_rules_of_the_model_drop() -> None:
    rng = np.random.default_rng(20_240_603)
    dropped = [0, 0]
    for _ in range(CASES):
        front = _front(rng)
        sign = int(rng.choice([-1, 1]))
        item = int(rng.integers(1, 9)) * sign, int(rng.integers(1, 9)) * sign
        room, best = int(rng.integers(0, 60)), int(rng.integers(0, 60))
        up, down = sorted(rng.integers(0, 9, 2) / 4)
        old = np.zeros((len(front) + 1, 3), np.int64)
        old[:-1, :2] = front
        old[-1, 1] = 3 << 61
        new = np.empty((2 * len(front) + 1, 3), np.int64)
        nodes = np.empty(2 * len(front) + 2, np.int64)
        toggle = (0, *item, sign)
        limits, rate = (room, 0, 0), (float(up), float(down), 0.0)
        kept = merged(old, len(front), new, nodes, 1, toggle, limits, (best, -1), rate)[0]

        expected, high, found = [], -1, best
        moved = [(p + item[0], w + item[1]) for p, w in front]
        while front or moved:
            first = bool(moved) and (not front or bool(toggled_first(front[0], moved[0])))
            p, w = (moved if first else front).pop(0)
            if dominated(p, high):
                dropped[0] += 1
                continue
            high = p
            if bounded(room - w, p, found, up, down):
                dropped[1] += 1
                continue
            expected.append((p, w))
            found = max(found, p) if w <= room else found
        assert [tuple(state) for state in new[:kept, :2].tolist()] == expected
        assert all(v < w and p < q for (p, v), (q, w) in pairwise(expected))
    assert min(dropped) > CASES


def test_scaled_scores_are_within_a_half_and_the_bound_covers_the_sum() -> None:
    rng = np.random.default_rng(20_240_604)
    for _ in range(CASES):
        n = int(rng.integers(1, 8))
        scores = rng.random(n) * 10.0 ** rng.integers(-3, 4)
        whole, shift = _scaled(scores)
        exact = [Fraction(score) * Fraction(2) ** shift for score in scores.tolist()]
        assert all(
            abs(number - score) <= Fraction(1, 2)
            for number, score in zip(whole.tolist(), exact, strict=True)
        )
        costs = rng.integers(1, 9, n)
        pool = Pool.from_arrays(scores, costs, budget=int(costs.max()) + 3)
        optimality = knapsack(pool).optimality
        assert optimality is not None
        best = brute_force(list(map(Fraction, scores.tolist())), costs.tolist(), pool.budget)
        assert float(best) <= optimality.bound  # a bound that is exact is rounded once
