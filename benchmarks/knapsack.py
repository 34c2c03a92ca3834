"""The knapsack: five families, three n, four budgets; proofs asked of everyone."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from packer import Pool, kernels
from packer.arrays import frozen
from strategies import knapsack

from . import inputs
from .harness import Contender, Effort, MissingError, Row, absent, left_out, measure
from .peers import context_packer, knapsack_solvers, knapsack_table

__all__ = ["rows"]

BUDGETS = (4_000, 32_000, 128_000, 1_000_000)
KERNEL = "ours, the kernel alone"
TABLE = "table (numba)"
ORTOOLS = "OR-tools"
HIGHS = "HiGHS"
SORT = "numpy argsort alone"


def rows(effort: Effort) -> Iterator[Row]:
    """The families, each at every n and budget at which not all fits."""
    for family in inputs.FAMILIES:
        for n in (100, 1_000) if effort.quick else (100, 1_000, 10_000):
            for budget in BUDGETS:
                given = inputs.items(family, n, budget)
                if given.weights.sum() > given.budget:  # else all fit, and there is no problem
                    yield _row(family, n, given, effort)


def _pool(given: inputs.Items) -> Pool:
    return Pool.from_arrays(given.scores, given.weights, budget=given.budget)


def _row(family: str, n: int, given: inputs.Items, effort: Effort) -> Row:
    pool = _pool(given)
    others = [
        Contender(
            KERNEL,
            lambda: _kernel(given),
            agreement=lambda ours, total: _compared(_value(ours), total),
        ),
        _table(given, effort),
        _solver(ORTOOLS, given),
        _solver(HIGHS, given),
        Contender(SORT, lambda: np.argsort(-given.values / given.weights), note="sorts only"),
        _typescript(given),
    ]

    def facts(selection: Any) -> dict[str, bool | int | float]:
        found = selection.optimality
        told = {"picked": len(selection), "proven": found.proven, "gap": found.gap}
        return told if family != "correlated" or n != 1_000 else told | _spread(family, n, given)

    return measure(
        f"knapsack/{family}/{n}/{given.budget // 1000 * 1000}",
        f"{inputs.FAMILIES[family]}; n = {n:,}, budget {given.budget:,}",
        Contender("ours", lambda: knapsack(pool)),
        others,
        effort,
        sizes={"n": n, "budget": given.budget},
        facts=facts,
    )


def _kernel(given: inputs.Items) -> int:
    fits = given.weights <= given.budget
    values, weights = given.values[fits], given.weights[fits]
    chosen, _, _ = kernels.knapsack.solve(
        frozen(values), frozen(weights), given.budget, kernels.knapsack.WORK_LIMIT
    )
    return int(values[chosen].sum())


def _value(selection: Any) -> int:
    """Our total in the peers' integers."""
    total: float = selection.optimality.value
    return round(total / inputs.UNIT)


def _compared(ours: int, theirs: int) -> str:
    if ours == theirs:
        return "same total"
    return f"its total is {100 * (theirs - ours) / ours:+.4f} %"


def _table(given: inputs.Items, effort: Effort) -> Contender:
    cells = len(given.values) * (given.budget + 1)
    if cells > (200_000_000 if effort.quick else knapsack_table.MOST_CELLS):
        return left_out(TABLE, f"its table has {cells / 1e9:.1f} billion cells")
    return Contender(
        TABLE,
        lambda: knapsack_table.total(given.values, given.weights, given.budget),
        agreement=lambda ours, theirs: _compared(_value(ours), theirs),
    )


def _solver(name: str, given: inputs.Items) -> Contender:
    make = knapsack_solvers.ortools if name == ORTOOLS else knapsack_solvers.highs
    try:
        call = make(given)
    except MissingError as error:
        return absent(name, error)

    def agreement(ours: Any, solved: knapsack_solvers.Solved) -> str:
        total, proven = solved
        words = _compared(_value(ours), total)
        return words if proven else f"not proven in {knapsack_solvers.LIMIT:g} s; {words}"

    return Contender(name, call, agreement=agreement, unfinished=lambda solved: not solved[1])


def _typescript(given: inputs.Items) -> Contender:
    if given.budget > 5_000 or len(given.values) * given.budget > 500_000:
        return left_out(context_packer.NAME, "it falls back to greedy here, without a word")
    chunks = [
        {"id": str(row), "content": "x", "score": score, "tokens": tokens}
        for row, (score, tokens) in enumerate(
            zip(given.scores.tolist(), given.weights.tolist(), strict=True)
        )
    ]

    def agreement(ours: Any, ids: list[str]) -> str:
        return _compared(_value(ours), int(given.values[[int(name) for name in ids]].sum()))

    try:
        return context_packer.contender(
            "pack",
            chunks,
            {"budget": given.budget, "strategy": "knapsack"},
            agreement,
            note="its whole call",
        )
    except MissingError as error:
        return absent(context_packer.NAME, error)


def _spread(family: str, n: int, given: inputs.Items) -> dict[str, bool | int | float]:
    """The 95th percentile over twenty pools of the family, each the best of three calls."""
    taken, proven = [], 0
    for seed in range(20):
        pool = _pool(inputs.items(family, n, given.budget, seed))
        best = np.inf
        for _ in range(3):
            began = time.perf_counter()
            found = knapsack(pool).optimality
            best = min(best, time.perf_counter() - began)
        taken.append(best)
        proven += found is not None and found.proven
    return {"p95 of 20 pools, ms": float(np.quantile(taken, 0.95)) * 1e3, "proven of 20": proven}
