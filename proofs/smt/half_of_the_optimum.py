"""The better of the greedy prefix and the break item is at least half of the optimum.

The optimum is at most Dantzig's bound: the value of the prefix and the part of the break item that
fits (`dantzig_bounds_the_optimum`).  The break item does not fit in the room, so that part is less
than the whole: optimum <= prefix + break item.  The larger of two numbers is at least half their
sum.  Both are subsets that fit: items heavier than the capacity are no candidates.

It is a theorem about the problem: no stage chooses so.  `proofs/conformance` compares it with the
optimum that the kernel finds.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import z3

from .dantzig_bounds_the_optimum import priced
from .either import larger
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "prefix_or_break"]


def prefix_or_break(values: Sequence[int], weights: Sequence[int], capacity: int) -> int:
    """The larger of the values of the prefix and of the break item, of items that fit alone."""
    items = [(v, w) for v, w in zip(values, weights, strict=True) if w <= capacity]
    total = 0
    for value, weight in sorted(items, key=lambda item: -Fraction(*item)):
        if weight > capacity:
            found: int = larger(total, value)
            return found
        total, capacity = total + value, capacity - weight
    return total


optimum, prefix, value, weight, room, price = z3.Reals("optimum prefix value weight room price")

GIVEN: Final = {
    "Dantzig's bound holds": optimum <= priced(prefix, price, room),
    "the price is that of the break item": z3.And(weight > 0, price * weight == value),
    "its value is not negative": value >= 0,
    "it does not fit in the room": z3.And(room >= 0, room < weight),
}

THEOREM: Final = Theorem(
    title="The better of prefix and break item is half of the optimum",
    statement="max(prefix, break item) >= optimum / 2.",
    steps=(
        Step(
            name="the optimum is at most the sum of the two",
            given=GIVEN,
            then=optimum <= prefix + value,
        ),
        Step(
            name="the larger is at least half",
            given={"the sum of the two bounds it": optimum <= prefix + value},
            then=2 * larger(prefix, value) >= optimum,
            mutants=[
                Mutant("the prefix alone", conclusion=2 * prefix >= optimum),
                Mutant("more than half", conclusion=2 * larger(prefix, value) > optimum),
            ],
        ),
    ),
)
