"""What the knapsack's reduction fixes is placed so in every better subset, for any n.

The break solution takes the items by value per weight while they fit; let the price of a token be the
break item's value per weight.  An item is *placed by the line* when it is in where it is worth more
than its price and out where it is worth less, as the break solution has it.

By weak duality (`dantzig_bounds_the_optimum`, over the other items) no subset is above the linear
optimum, which is the break solution and what is *spare*: the price of the room that it leaves.  One
that places an item otherwise is the item's distance from the line below that.  So where the
distance is more than spare - short, `short` being what the break solution needs to beat the best
subset known, no better subset places the item so: it need not be looked at (Ingargiola & Korsh,
A reduction algorithm for zero-one single knapsack problems, Management Science 20(4), 1973).

Under a surrogate the same holds of its weights and its capacity.
"""

from typing import Any, Final

import z3

from .dantzig_bounds_the_optimum import surplus
from .either import larger
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "distance", "fixed"]


def distance(value: Any, weight: Any, price: Any) -> Any:
    """How far an item is from the line of the price."""
    return larger(value - price * weight, price * weight - value)


def fixed(far: Any, spare: Any, short: Any) -> Any:
    """Whether an item so far from the line is placed by it in every better subset."""
    return far > spare - short


price, value, weight, capacity = z3.Reals("price value weight capacity")
sum_value, sum_weight, more = z3.Reals("sum_value sum_weight more")  # of the items so far
break_value, break_weight, best = z3.Reals("break_value break_weight best")
taken = z3.Bool("taken")

far: Final = distance(value, weight, price)
next_value: Final = z3.If(taken, sum_value + value, sum_value)
next_weight: Final = z3.If(taken, sum_weight + weight, sum_weight)
next_more: Final = more + surplus(value, weight, price)
spare: Final = price * (capacity - break_weight)
short: Final = best + 1 - break_value

THEOREM: Final = Theorem(
    title="The reduction keeps every better subset",
    statement="No subset of a value of best + 1 or more places a fixed item otherwise than the line.",
    steps=(
        Step(
            name="an item that is placed otherwise costs its distance from the line",
            given={
                "so far the line bounds the value": sum_value <= price * sum_weight + more,
                "it is placed otherwise": taken != (value >= price * weight),
            },
            then=next_value <= price * next_weight + next_more - far,
            mutants=[
                Mutant(
                    "twice its distance",
                    conclusion=next_value <= price * next_weight + next_more - 2 * far,
                )
            ],
        ),
        Step(
            name="so no better subset places one otherwise that is farther than what is spare",
            given={
                "the price is not negative": price >= 0,
                "the line less the distance bounds the value": sum_value
                <= price * sum_weight + more - far,
                "the subset fits": sum_weight <= capacity,
                "the surplus is that of the break solution": more
                == break_value - price * break_weight,
                "the item is fixed": fixed(far, spare, short),
            },
            then=sum_value < best + 1,
            mutants=[
                Mutant(
                    "what is as far as that is fixed too",
                    instead={"the item is fixed": far >= spare - short},
                )
            ],
        ),
    ),
)
