"""The knapsack table gives what trying all subsets gives, for any weights and values, n <= 4.

The table is the recursion best(n, room) = the larger of best(n - 1, room) and, where item n fits,
value n + best(n - 1, room - weight n).  Values, weights and the capacity are real numbers that z3
may choose; the recursion is unrolled, the subsets are all listed.  The tests' oracle for the knapsack
is `by_table`, which fills this table over whole capacities; `proofs/conformance` compares the two.
"""

from collections.abc import Sequence
from itertools import compress, product
from typing import Any, Final

import z3

from .either import larger, when
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "brute_force", "table"]


def table(values: Sequence[Any], weights: Sequence[Any], room: Any) -> Any:
    """The best total by the recursion."""
    if not values:
        return 0
    without = table(values[:-1], weights[:-1], room)
    weight = weights[-1]
    if not isinstance(weight, z3.ExprRef) and not isinstance(room, z3.ExprRef) and weight > room:
        return without
    within = values[-1] + table(values[:-1], weights[:-1], room - weight)
    return when(weight <= room, larger(without, within), without)


def brute_force(values: Sequence[Any], weights: Sequence[Any], room: Any) -> Any:
    """The best total of all subsets that fit; 0 of the empty one."""
    best: Any = 0
    for flags in product((False, True), repeat=len(values)):
        total, weight = sum(compress(values, flags)), sum(compress(weights, flags))
        best = when(weight <= room, larger(best, total), best)
    return best


def _strict(values: Sequence[Any], weights: Sequence[Any], room: Any) -> Any:
    """A wrong table: an item must leave some room."""
    if not values:
        return 0
    without = _strict(values[:-1], weights[:-1], room)
    within = values[-1] + _strict(values[:-1], weights[:-1], room - weights[-1])
    return z3.If(weights[-1] < room, larger(without, within), without)


def _reused(values: Sequence[Any], weights: Sequence[Any], room: Any) -> Any:
    """A wrong table: an item may come twice."""
    once = table(values, weights, room - weights[-1]) + values[-1]
    return z3.If(weights[-1] <= room, larger(table(values, weights, room), once), 0)


room = z3.Real("room")


def _step(n: int) -> Step:
    values, weights = _reals("v", n), _reals("w", n)
    best = brute_force(values, weights, room)
    positive = z3.And(*[weight >= 0 for weight in weights])
    return Step(
        name=f"{n} items",
        given={"weights are not negative": positive} if n > 1 else {},
        then=table(values, weights, room) == best,
        mutants=[
            Mutant("an item must leave room", conclusion=_strict(values, weights, room) == best),
            Mutant("an item comes twice", conclusion=_reused(values, weights, room) == best),
        ],
    )


def _reals(name: str, n: int) -> list[Any]:
    return [z3.Real(f"{name}{at}") for at in range(n)]


THEOREM: Final = Theorem(
    title="The knapsack table is brute force",
    statement="For any weights >= 0, any values and any capacity, at n = 1, 2, 3, 4.",
    steps=tuple(map(_step, range(1, 5))),
)
