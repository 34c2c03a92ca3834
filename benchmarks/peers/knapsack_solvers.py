"""OR-tools' branch and bound, and HiGHS, on the same integers, each asked for a proof."""

from collections.abc import Callable
from typing import Final

import numpy as np

from benchmarks.harness import installed
from benchmarks.inputs import Items

__all__ = ["LIMIT", "Solved", "highs", "ortools"]

LIMIT: Final = 2.0
"""Seconds after which a solver gives what it has."""

Solved = tuple[int, bool]
"""The total, and whether it is proven to be the best."""


def ortools(items: Items) -> Callable[[], Solved]:
    """KnapsackSolver, KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER, fed with lists."""
    module = installed("ortools.algorithms.python.knapsack_solver", "ortools")
    kind = module.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
    values, weights = items.values.tolist(), [items.weights.tolist()]

    def call() -> Solved:
        solver = module.KnapsackSolver(kind, "knapsack")
        solver.init(values, weights, [items.budget])
        solver.set_time_limit(LIMIT)
        total = solver.solve()
        return int(total), bool(solver.is_solution_optimal())

    return call


def highs(items: Items) -> Callable[[], Solved]:
    """A mixed-integer program of one row; gaps at 0, so that it proves what it gives."""
    highspy = installed("highspy", "highspy")
    n = len(items.values)

    def call() -> Solved:
        solver = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("time_limit", LIMIT),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 0.5),
        ):
            solver.setOptionValue(option, value)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = n, 1
        program.sense_ = highspy.ObjSense.kMaximize
        program.col_cost_ = items.values.astype(np.float64)
        program.col_lower_, program.col_upper_ = np.zeros(n), np.ones(n)
        program.row_lower_, program.row_upper_ = np.zeros(1), np.array([float(items.budget)])
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.array([0, n], np.int32)
        program.a_matrix_.index_ = np.arange(n, dtype=np.int32)
        program.a_matrix_.value_ = items.weights.astype(np.float64)
        program.integrality_ = [highspy.HighsVarType.kInteger] * n
        solver.passModel(program)
        solver.run()
        proven = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        picked = np.array(solver.getSolution().col_value) > 0.5
        return int(items.values[picked].sum()) if len(picked) else 0, proven

    return call
