"""The bound that `knapsack` reports covers the rounding of scores to whole numbers, for any n.

Scores are scaled and rounded: each whole number is within 1/2 of what it stands for.  Over n
items the sums differ by at most n / 2, by induction.  So where no subset's whole numbers
sum to more than `most`, no subset's scores sum to more than most + n / 2, which is what is reported.
"""

from typing import Final

import z3

from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM"]

exact, whole, score, number, most = z3.Reals("exact whole score number most")
n = z3.Int("n")
half: Final = z3.Q(1, 2)

SO_FAR: Final = {
    "so far the sums differ by n / 2 at most": z3.And(
        exact - whole <= half * z3.ToReal(n), whole - exact <= half * z3.ToReal(n), n >= 0
    )
}
ROUNDED: Final = {
    "a number is within 1 / 2": z3.And(score - number <= half, number - score <= half)
}
more: Final = half * z3.ToReal(n + 1)

THEOREM: Final = Theorem(
    title="The reported bound covers the rounding",
    statement="The exact total of any subset of n items is at most most + n / 2.",
    steps=(
        Step(
            name="one more item",
            given={**SO_FAR, **ROUNDED},
            then=z3.And(
                (exact + score) - (whole + number) <= more,
                (whole + number) - (exact + score) <= more,
            ),
        ),
        Step(
            name="so no total is above the bound",
            given={**SO_FAR, "no sum of whole numbers is above most": whole <= most},
            then=exact <= most + half * z3.ToReal(n),
            mutants=[
                Mutant("the rounding is forgotten", conclusion=exact <= most),
            ],
        ),
    ),
)
