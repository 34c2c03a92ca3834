"""`dedup` applied twice is `dedup`, and so is `distinct`, for any n.

No two rows that `dedup` keeps are similar, so a second walk over them finds none to drop.  By
induction over the rows: a row that was kept is not similar to an earlier one that was kept, and the
second walk keeps no others.

`distinct(t)` drops nothing: it forbids the pairs that are at least t similar.  Binding it twice
forbids the same pairs, and two of them forbid what the lower threshold forbids.
"""

from typing import Final

import z3

from .deduplication import step_holds
from .either import smaller
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM"]

once = z3.Function("kept_once", z3.IntSort(), z3.BoolSort())
twice = z3.Function("kept_twice", z3.IntSort(), z3.BoolSort())
row, _k = z3.Ints("row k")
similarity, one, other = z3.Reals("similarity one other")

GIVEN: Final = {
    "row is a row": row >= 0,
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
            mutants=[
                Mutant("the first walk keeps any", without=["the first walk"]),
                Mutant(
                    "nothing is known of earlier rows",
                    without=["the same rows were kept before it"],
                ),
            ],
        ),
        Step(
            name="distinct twice forbids the same pairs",
            given={"thresholds are above 0": z3.And(one > 0, other > 0)},
            then=z3.Or(similarity >= one, similarity >= one) == (similarity >= one),
            mutants=[
                Mutant(
                    "the second is strict",
                    conclusion=z3.And(similarity >= one, similarity > one) == (similarity >= one),
                )
            ],
        ),
        Step(
            name="two of them forbid what the lower one forbids",
            given={"thresholds are above 0": z3.And(one > 0, other > 0)},
            then=z3.Or(similarity >= one, similarity >= other)
            == (similarity >= smaller(one, other)),
            mutants=[
                Mutant(
                    "the higher one",
                    conclusion=z3.Or(similarity >= one, similarity >= other)
                    == (similarity >= z3.If(one >= other, one, other)),
                )
            ],
        ),
    ),
)
