"""The bound that `knapsack` reports covers the rounding of scores to whole numbers, for any n.

Scores are scaled and rounded: each whole number is within 1/2 of what it stands for.  Over n
items, of which any subset is taken, the sums of the subset differ by at most n / 2, by induction.
So where no subset's whole numbers sum to more than `most`, no subset's scores sum to more than
most + n / 2, which is what is reported.
"""

from typing import Any, Final

import z3

from .either import all_of
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "reported", "within"]


def within(exact: Any, whole: Any, n: Any) -> Any:
    """Whether two sums over n items differ by n / 2 at most; of n = 1, whether it was rounded."""
    return all_of(2 * (exact - whole) <= n, 2 * (whole - exact) <= n)


def reported(most: Any, n: Any) -> Any:
    """The bound on what is exact, where `most` is one on the whole numbers."""
    return most + n / 2


exact, whole, score, number, most, n = z3.Reals("exact whole score number most n")
taken = z3.Bool("taken")

SO_FAR: Final = {"so far the sums differ by n / 2 at most": within(exact, whole, n)}
next_exact: Final = z3.If(taken, exact + score, exact)
next_whole: Final = z3.If(taken, whole + number, whole)

THEOREM: Final = Theorem(
    title="The reported bound covers the rounding",
    statement="The exact total of any subset of n items is at most most + n / 2.",
    steps=(
        Step(
            name="no items",
            given={
                "nothing is taken": z3.And(exact == 0, whole == 0),
                "there are none": n == 0,
            },
            then=within(exact, whole, n),
        ),
        Step(
            name="one more item, taken or not",
            given={**SO_FAR, "its number is within 1 / 2": within(score, number, 1)},
            then=within(next_exact, next_whole, n + 1),
            mutants=[Mutant("it counts for nothing", conclusion=within(next_exact, next_whole, n))],
        ),
        Step(
            name="so no total is above the bound",
            given={**SO_FAR, "no sum of whole numbers is above most": whole <= most},
            then=exact <= reported(most, n),
            mutants=[Mutant("the rounding is forgotten", conclusion=exact <= most)],
        ),
    ),
)
