"""The Dantzig bound of a knapsack is at least its optimum, for any n, by LP duality.

Put a price on a token.  Whatever is chosen, an item's value is at most the price of its weight and
its *surplus*, max(value - price * weight, 0).  Summed over the items: the value of any subset is at
most price * (its weight) + (the surplus of all items), and so, if it fits, at most
price * capacity + surplus.  That is weak duality; it holds for any price >= 0.

Rank the items by value per weight and take them while they fit.  The first that does not is the
*break item*; let the price be its value per weight.  Of those before it the surplus is
value - price * weight, of those from it on it is 0.  So the bound is the value of the
prefix and the price of the room that is left: Dantzig's bound.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import z3

from .either import larger
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "dantzig", "dual", "priced", "surplus"]


def surplus(value: Any, weight: Any, price: Any) -> Any:
    """What an item is worth beyond the price of its weight."""
    return larger(value - price * weight, 0)


def priced(total: Any, price: Any, room: Any) -> Any:
    """A total and the price of the room that is left."""
    return total + price * room


def dual(values: Sequence[int], weights: Sequence[int], capacity: int, price: Fraction) -> Fraction:
    """The bound of a price."""
    more = (surplus(v, w, price) for v, w in zip(values, weights, strict=True))
    bound: Fraction = priced(sum(more, Fraction(0)), price, capacity)
    return bound


def dantzig(values: Sequence[int], weights: Sequence[int], capacity: int) -> Fraction:
    """The value of the prefix of the ranking, and of the part of the break item that fits."""
    items = zip(values, weights, strict=True)
    total = Fraction(0)
    for value, weight in sorted(items, key=lambda item: -Fraction(*item)):
        if weight > capacity:
            bound: Fraction = priced(total, Fraction(value, weight), capacity)
            return bound
        total, capacity = total + value, capacity - weight
    return total


price, value, weight, capacity = z3.Reals("price value weight capacity")
total, heavy, more = z3.Reals("total heavy more")  # of the items so far
taken = z3.Bool("taken")
sum_value, sum_weight = z3.Reals("prefix_value prefix_weight")  # of the prefix
part: Final = surplus(value, weight, price)
next_total: Final = z3.If(taken, total + value, total)
next_heavy: Final = z3.If(taken, heavy + weight, heavy)

PRICE: Final = {"the price is not negative": price >= 0}
BOUND: Final = {"the bound holds so far": total <= price * heavy + more}
PREFIX: Final = {"so far the surplus is that of the prefix": more == sum_value - price * sum_weight}

THEOREM: Final = Theorem(
    title="The Dantzig bound is at least the optimum",
    statement="No subset within the capacity is worth more than the prefix and the priced room.",
    steps=(
        Step(
            name="no items",
            given={"nothing": z3.And(total == 0, heavy == 0, more == 0)},
            then=total <= price * heavy + more,
            mutants=[
                Mutant("a start above 0", instead={"nothing": z3.And(total == 1, heavy == 0)})
            ],
        ),
        Step(
            name="one more item, taken or not",
            given=BOUND,
            then=next_total <= price * next_heavy + (more + part),
            mutants=[
                Mutant(
                    "only what is left out has a surplus",
                    conclusion=next_total <= price * next_heavy + z3.If(taken, more, more + part),
                ),
            ],
        ),
        Step(
            name="what fits is at most the priced capacity and the surplus",
            given={**PRICE, **BOUND, "it fits": heavy <= capacity},
            then=total <= priced(more, price, capacity),
        ),
        Step(
            name="an item before the break item adds its value less its price",
            given={**PREFIX, "it ranks before": value >= price * weight},
            then=more + part == (sum_value + value) - price * (sum_weight + weight),
        ),
        Step(
            name="an item from the break item on adds nothing",
            given={**PREFIX, "it ranks after": value <= price * weight},
            then=more + part == sum_value - price * sum_weight,
        ),
        Step(
            name="so the bound of this price is Dantzig's",
            given=PREFIX,
            then=priced(more, price, capacity) == priced(sum_value, price, capacity - sum_weight),
        ),
    ),
)
