"""A greedy walk never spends more than the budget, nor less than nothing, for any n.

A walk goes down a ranking and takes each chunk that still fits.  A chunk costs its tokens and the
overhead; of the budget a reserve may be kept free.  Then 0 <= used <= budget - reserve before
the first chunk, and one more chunk keeps that, whatever it costs; so it holds after any number.

The shipped walk counts what is *left*, and at the first chunk that does not fit it forgets all
that do not fit either.  The second step shows that it is the same walk; the third that
what was forgotten would never have come in, since what is left only falls.
"""

from typing import Any, Final

import z3

from .either import when
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "after", "fits", "walk"]


def fits(used: Any, cost: Any, limit: Any) -> Any:
    """Whether a chunk of this cost (tokens + overhead) still fits."""
    return used + cost <= limit


def after(used: Any, cost: Any, limit: Any) -> Any:
    """What is used after a chunk of this cost was looked at."""
    return when(fits(used, cost, limit), used + cost, used)


def walk(costs: list[int], limit: int) -> list[int]:
    """The places in the ranking that a walk takes."""
    used, taken = 0, []
    for place, cost in enumerate(costs):
        if fits(used, cost, limit):
            taken.append(place)
        used = after(used, cost, limit)
    return taken


budget, reserve, overhead, tokens, used, left, later = z3.Ints(
    "budget reserve overhead tokens used left later"
)
limit: Final = budget - reserve
cost: Final = tokens + overhead
next_used: Final = after(used, cost, limit)
next_left: Final = z3.If(cost <= left, left - cost, left)

COSTS: Final = {
    "no overhead is negative": overhead >= 0,
    "no chunk has negative tokens": tokens >= 0,
}
within: Final = z3.And(used >= 0, used + reserve <= budget)
WITHIN: Final = {"used so far is within": within}

THEOREM: Final = Theorem(
    title="A greedy walk stays within the budget",
    statement="0 <= used and used + reserve <= budget after any number of chunks, of any cost.",
    steps=(
        Step(
            name="nothing is used at the start",
            given={
                "the reserve is a part of the budget": reserve <= budget,
                "nothing is used": used == 0,
            },
            then=within,
        ),
        Step(
            name="one more chunk",
            given={**COSTS, **WITHIN},
            then=z3.And(next_used >= 0, next_used + reserve <= budget, next_used >= used),
            mutants=[
                Mutant(
                    "the overhead is forgotten in the test",
                    conclusion=z3.If(used + tokens <= limit, used + cost, used) + reserve <= budget,
                ),
                Mutant("the reserve is forgotten", conclusion=after(used, cost, budget) <= limit),
            ],
        ),
        Step(
            name="counting down what is left is the same walk",
            given={**WITHIN, "left is the rest": left == limit - used},
            then=z3.And(next_left == limit - next_used, next_left >= 0),
            mutants=[
                Mutant(
                    "a strict test",
                    conclusion=z3.If(cost < left, left - cost, left) == limit - next_used,
                ),
            ],
        ),
        Step(
            name="what does not fit now never will",
            given={**COSTS, "a later chunk does not fit now": later > left},
            then=later > next_left,
        ),
    ),
)
