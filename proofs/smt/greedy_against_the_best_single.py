"""Cost-scaled greedy against the best single element reaches its factor, n <= 4, any costs above 0.

The value of sets may be any monotone submodular one; costs and budget may be any numbers above 0.  A
walk always adds what gains most per cost among what still fits; the best element alone comes
instead where it is worth more.  For any n the better of the two is worth at least 0.405 of the best
set (Tang et al. 2021; Lin and Bilmes 2010 say 1 - 1/sqrt(e) = 0.393).  Here that is proved for up to
four elements, of which z3 may choose the values of all sixteen sets, the costs and the budget.

Elements are numbered as the walk takes them, so every walk takes the first m of them (renaming
changes no value) and ends where none of the others fits.  A best set that is a part of what was taken
is worth no more, and one that holds all of it and more does not fit.  One of k elements has
one that is worth a k-th of it alone, so up to two elements there is nothing more to show; the best
sets of three are the steps below.

Six steps are for any n, about a walk up to the first element of the best set that no longer fits:
until then the best rate is at least that of each element of the best set.  What is missing to the best set is
at most what its elements would add one by one, so at most the budget at the rate of the walk's next
element, and this takes cost / budget of what is missing.  How the factor follows from that, and
from the element that did not fit, is in the papers and not proved here.

A walk by gain alone, as the default ``cost_power=0.0`` of `coverage` has it, has no such factor where
costs differ.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

import z3

from .theorem import Mutant, Step, Theorem

__all__ = ["FACTOR", "THEOREM", "best_single", "goes_before", "walk"]

FACTOR: Final = 0.405
"""What the walk, or the best element alone, reaches of the best set."""

Set = frozenset[int]

EMPTY: Final = "the empty set is worth nothing"
MONOTONE: Final = "the value is monotone"
SUBMODULAR: Final = "the value is submodular"


def goes_before(gain: Any, cost: Any, other_gain: Any, other_cost: Any) -> Any:
    """Whether an element gains at least as much per cost as another."""
    return gain * other_cost >= other_gain * cost


def walk(
    value: Callable[[Set], float], costs: Sequence[int], budget: int, start: Sequence[int] = ()
) -> list[int]:
    """The walk by gain per cost on numbers, the earlier of equals, from these elements on."""
    chosen = list(start)
    left = budget - sum(costs[at] for at in chosen)
    while True:
        have = frozenset(chosen)
        gains = {
            at: value(have | {at}) - value(have)
            for at, cost in enumerate(costs)
            if at not in have and cost <= left
        }
        if not gains:
            return chosen
        best = min(gains)
        for at, gain in gains.items():
            if not goes_before(gains[best], costs[best], gain, costs[at]):
                best = at
        chosen.append(best)
        left -= costs[best]


def best_single(value: Callable[[Set], float], costs: Sequence[int], budget: int) -> list[int]:
    """The element that is worth most alone of those that fit, the earlier of equals, if any."""
    fits = [at for at, cost in enumerate(costs) if cost <= budget]
    return sorted(fits, key=lambda at: (-value(frozenset({at})), at))[:1]


def _sets(n: int) -> list[Set]:
    return [frozenset(found) for size in range(n + 1) for found in combinations(range(n), size)]


def _named(found: Set) -> str:
    return "f" + "".join(map(str, sorted(found)))


def _problem(n: int, taken: int) -> tuple[dict[str, Any], dict[Set, Any], list[Any], Any]:
    """The hypotheses of a walk that takes elements 0, 1, ... in turn; values, costs, budget."""
    value: dict[Set, Any] = {found: z3.Real(_named(found)) for found in _sets(n)}
    cost = [z3.Real(f"c{at}") for at in range(n)]
    budget = z3.Real("budget")
    marginal = [
        value[one | {x}] - value[one] >= value[one | {x, y}] - value[one | {y}]
        for one in value
        for x in range(n)
        for y in range(n)
        if len(one | {x, y}) == len(one) + 2
    ]
    monotone = [value[one | {x}] >= value[one] for one in value for x in range(n) if x not in one]
    steps, left = [], budget
    for at in range(taken):
        have = frozenset(range(at))
        steps.append(cost[at] <= left)
        gain = value[have | {at}] - value[have]
        for other in range(at + 1, n):
            more = value[have | {other}] - value[have]
            before = goes_before(gain, cost[at], more, cost[other])
            steps.append(z3.Or(cost[other] > left, before))
        left = left - cost[at]
    given = {
        EMPTY: value[frozenset()] == 0,
        MONOTONE: z3.And(*monotone, True),
        SUBMODULAR: z3.And(*marginal, True),
        "the walk goes by gain per cost": z3.And(*steps, True),
        "it ends where nothing fits": z3.And(*[c > left for c in cost[taken:]], True),
    }
    return given, value, cost, budget


def _reached(share: Any, best: Any, found: Sequence[Any]) -> Any:
    return z3.Or(*[one >= share * best for one in found])


def _step(taken: int, best: Set) -> Step:
    n = 4
    given, value, cost, budget = _problem(n, taken)
    # Of the elements alone only those of the best set: these fit.
    walked = value[frozenset(range(taken))]
    singles = [value[frozenset({at})] for at in best]
    given["the best set fits"] = sum(cost[at] for at in best) <= budget
    idle = {MONOTONE} if taken == 1 or 0 in best else set()
    if taken == 3:  # two of the best set are taken, which is enough
        idle = set(given) - {EMPTY, MONOTONE, SUBMODULAR}
    return Step(
        name=f"{taken} of {n} taken, against {sorted(best)}",
        given={name: formula for name, formula in given.items() if name not in idle},
        then=_reached(z3.Q(405, 1000), value[best], [walked, *singles]),
    )


one, two, both = z3.Reals("f0 f1 f01")
have, union, next_union, alone, best = z3.Reals("have union next_union alone best")
gains, gain, missing, spent, rate, cost, budget = z3.Reals(
    "gains gain missing spent rate cost budget"
)

FOR_ANY_N: Final = (
    Step(
        name="no element of the best set",
        given={
            "the union is what the walk has": union == have,
            "nothing is added": z3.And(gains == 0, spent == 0),
        },
        then=z3.And(union - have <= gains, gains <= rate * spent),
    ),
    Step(
        name="with one more element the union exceeds what the walk has by the gains at most",
        given={
            "so far it does": union - have <= gains,
            SUBMODULAR: next_union - union <= alone - have,
        },
        then=next_union - have <= gains + (alone - have),
    ),
    Step(
        name="so what is missing is at most the gains",
        given={
            "the union exceeds what the walk has by the gains at most": union - have <= gains,
            MONOTONE: best <= union,
        },
        then=best - have <= gains,
    ),
    Step(
        name="while one more element fits, the gains are at most the rate times the costs",
        given={
            "so far they are": gains <= rate * spent,
            "the walk's next element goes before it": goes_before(rate, 1, gain, cost),
        },
        then=gains + gain <= rate * (spent + cost),
    ),
    Step(
        name="what is missing is at most the budget at that rate",
        given={
            "the gains bound what is missing": missing <= rate * spent,
            "the best set fits": spent <= budget,
            "gains are not negative": rate >= 0,
        },
        then=missing <= rate * budget,
    ),
    Step(
        name="the walk's next element takes cost / budget of what is missing",
        given={
            "what is missing is at most the budget at its rate": missing <= rate * budget,
            "its gain is its rate times its cost": gain == rate * cost,
            "its cost is not negative": cost >= 0,
        },
        then=(missing - gain) * budget <= missing * (budget - cost),
    ),
)

THEOREM: Final = Theorem(
    title="Cost-scaled greedy or the best single reaches its factor",
    statement="max(walk, best element) >= 0.405 * best set, for monotone submodular values, n <= 4.",
    steps=(
        *FOR_ANY_N,
        Step(
            name="a best set of two",
            given={"the value is submodular": both <= one + two},
            then=z3.Or(one >= both / 2, two >= both / 2),
            mutants=[
                Mutant("the first alone", conclusion=one >= both / 2),
            ],
        ),
        *(
            _step(taken, best)
            for taken in (1, 2, 3)
            for best in _sets(4)
            if len(best) == 3 and not best <= set(range(taken)) and not best > set(range(taken))
        ),
    ),
)
