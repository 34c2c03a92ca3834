"""`threshold` applied twice is `threshold`, and two of them are the one with the higher floor.

Of one chunk, and so of any number: `threshold` looks at one score at a time.  Scores and floors
are 64-bit floats as the machine has them, rounding, signed zeros and infinities included;
what is no number is refused before (NaN would break the second law).
"""

from typing import Any, Final

import z3

from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "keeps"]


def keeps(score: Any, floor: Any) -> Any:
    """Whether `threshold(floor)` keeps a score."""
    return z3.fpGEQ(score, floor) if isinstance(score, z3.FPRef) else score >= floor


score, low, high = z3.FPs("score low high", z3.Float64())
larger: Final = z3.If(z3.fpGEQ(low, high), low, high)
twice: Final = z3.And(keeps(score, low), keeps(score, high))

NUMBERS: Final = {
    "the score is a number": z3.Not(z3.fpIsNaN(score)),
    "the floors are numbers": z3.Not(z3.Or(z3.fpIsNaN(low), z3.fpIsNaN(high))),
}

THEOREM: Final = Theorem(
    title="Threshold is idempotent, and two are the larger one",
    statement="threshold(a) | threshold(a) = threshold(a), threshold(a) | threshold(b) = "
    "threshold(max(a, b)), for all 64-bit floats.",
    steps=(
        Step(
            name="the same floor twice",
            given=NUMBERS,
            then=z3.And(keeps(score, low), keeps(score, low)) == keeps(score, low),
            mutants=[
                Mutant(
                    "the second has a strict floor",
                    conclusion=z3.And(keeps(score, low), z3.fpGT(score, low)) == keeps(score, low),
                )
            ],
        ),
        Step(
            name="two floors",
            given=NUMBERS,
            then=twice == keeps(score, larger),
            mutants=[
                Mutant("a floor that is no number", without=["the floors are numbers"]),
                Mutant(
                    "the smaller floor",
                    conclusion=twice == keeps(score, z3.If(z3.fpLEQ(low, high), low, high)),
                ),
            ],
        ),
        Step(
            name="their order is no matter",
            given=NUMBERS,
            then=twice == z3.And(keeps(score, high), keeps(score, low)),
            mutants=[
                Mutant("the first alone", conclusion=twice == keeps(score, low)),
            ],
        ),
    ),
)
