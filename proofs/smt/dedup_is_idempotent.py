"""`dedup` applied twice is `dedup`, and so is `distinct`, for any n.

No two rows that `dedup` keeps are similar, so a second walk over them finds none to drop.  By
induction over the rows: a row that was kept is not similar to an earlier one that was kept, and the
second walk keeps no others.

`distinct(t)` drops nothing: it forbids the pairs that are at least t similar.  So two of them forbid
what the lower threshold forbids, and twice the same is the case of two equal ones.
"""

from typing import Final

import z3

from .deduplication import step_holds
from .either import larger, smaller
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM"]

once = z3.Function("kept_once", z3.IntSort(), z3.BoolSort())
twice = z3.Function("kept_twice", z3.IntSort(), z3.BoolSort())
row, _k = z3.Ints("row k")
similarity, one, other = z3.Reals("similarity one other")
twice_forbidden: Final = z3.Or(similarity >= one, similarity >= other)

GIVEN: Final = {
    "the same rows were kept before it": z3.ForAll(
        [_k], z3.Implies(z3.And(_k >= 0, _k < row), twice(_k) == once(_k))
    ),
    "the first walk": step_holds(once, row, z3.BoolVal(True)),
    "the second walk, over what was kept": step_holds(twice, row, once(row)),
}

THEOREM: Final = Theorem(
    title="Dedup and distinct are idempotent",
    statement="dedup(t) | dedup(t) = dedup(t); distinct(a) | distinct(b) = distinct(min(a, b)).",
    steps=(
        Step(
            name="one more row",
            given=GIVEN,
            then=twice(row) == once(row),
            example=[row <= 1],
        ),
        Step(
            name="two distincts forbid what the lower one forbids",
            given={},
            then=twice_forbidden == (similarity >= smaller(one, other)),
            mutants=[
                Mutant(
                    "the higher one",
                    conclusion=twice_forbidden == (similarity >= larger(one, other)),
                )
            ],
        ),
    ),
)
