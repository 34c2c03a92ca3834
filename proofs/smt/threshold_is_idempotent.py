"""`threshold` applied twice is `threshold`, and two of them are the one with the higher floor.

Of one chunk, and so of any number: `threshold` looks at one score at a time.  Scores and floors
are 64-bit floats as the machine has them, rounding, signed zeros and infinities included;
what is no number is refused before (a floor of NaN would break the law).  That it is idempotent is the
case of two equal floors.
"""

from typing import Any, Final

import z3

from .either import larger, smaller
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "keeps"]


def keeps(score: Any, floor: Any) -> Any:
    """Whether `threshold(floor)` keeps a score."""
    return score >= floor


score, low, high = z3.FPs("score low high", z3.Float64())
twice: Final = z3.And(keeps(score, low), keeps(score, high))

THEOREM: Final = Theorem(
    title="Threshold is idempotent, and two are the larger one",
    statement="threshold(a) | threshold(a) = threshold(a), threshold(a) | threshold(b) = "
    "threshold(max(a, b)), for all 64-bit floats.",
    steps=(
        Step(
            name="two floors",
            given={"the floors are numbers": z3.Not(z3.Or(z3.fpIsNaN(low), z3.fpIsNaN(high)))},
            then=twice == keeps(score, larger(low, high)),
            mutants=[
                Mutant("the smaller floor", conclusion=twice == keeps(score, smaller(low, high))),
                Mutant(
                    "the second is strict",
                    conclusion=z3.And(keeps(score, low), score > high)
                    == keeps(score, larger(low, high)),
                ),
            ],
        ),
    ),
)
