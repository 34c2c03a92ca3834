"""`threshold` and `dedup` commute on pools that `dedup` looks at by falling score, for any n.

`dedup` keeps a row when no earlier row that it kept is similar.  Once a row reaches the floor, so
do all earlier rows, since they score at least as high: the threshold hides from it only rows that
come later, and these never block it.  By induction over the rows: a row is kept of the rows that
reach the floor exactly when it is kept of all and reaches the floor.

Where rows come in another order that is false, as the counterexample without `SORTED` shows: an
earlier row with a lower score blocks a similar one, and is then below the floor itself.  `dedup`
by containment looks at the longest text first, so it does not commute.
"""

from typing import Any, Final

import z3

from .deduplication import step_holds
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM"]

score = z3.Function("score", z3.IntSort(), z3.RealSort())
floor = z3.Real("floor")
all_rows = z3.Function("kept_of_all", z3.IntSort(), z3.BoolSort())
some_rows = z3.Function("kept_of_some", z3.IntSort(), z3.BoolSort())
row, _k = z3.Ints("row k")


def _reaches(at: Any) -> Any:
    return score(at) >= floor


SORTED: Final = "earlier rows score at least as high"
WALKS: Final = {
    "one walk is dedup of all": step_holds(all_rows, row, z3.BoolVal(True)),
    "the other is dedup of those that reach the floor": step_holds(some_rows, row, _reaches(row)),
}
EARLIER: Final = {
    SORTED: z3.ForAll([_k], z3.Implies(z3.And(_k >= 0, _k < row), score(_k) >= score(row))),
    "it holds of the earlier rows": z3.ForAll(
        [_k],
        z3.Implies(
            z3.And(_k >= 0, _k < row),
            some_rows(_k) == z3.And(all_rows(_k), _reaches(_k)),
        ),
    ),
}
THEN: Final = some_rows(row) == z3.And(all_rows(row), _reaches(row))

THEOREM: Final = Theorem(
    title="Threshold and dedup commute on sorted pools",
    statement="threshold(t) | dedup(s) keeps what dedup(s) | threshold(t) keeps, for any n.",
    steps=(
        Step(
            name="the first row",
            given={**WALKS, "it is the first": row == 0},
            then=THEN,
            mutants=[
                Mutant("the threshold is forgotten", conclusion=some_rows(row) == all_rows(row))
            ],
        ),
        Step(
            name="one more row",
            given={**WALKS, **EARLIER},
            then=THEN,
            example=[row == 1],
        ),
    ),
)
