"""The walks of `proofs/smt` and of the twins are those of `greedy` and `prefix`."""

import numpy as np

from packer import Pool
from proofs.conformance.inputs import rankings
from proofs.crosshair import twins
from proofs.smt.greedy_stays_within_budget import walk
from strategies import greedy, prefix


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
