"""Cost-scaled greedy against the best single element reaches its factor, n <= 4, for any costs.

The value of sets may be any monotone submodular one; costs and budget may be any positive
numbers.  A walk always adds what gains most per cost among what still fits; the best element alone
comes instead where it is worth more.  For any n the better of the two is worth at least 0.405 of the
best set (Tang et al. 2021; Lin and Bilmes 2010 say 1 - 1/sqrt(e) = 0.393).  Here that is proved for up
to four elements, of which z3 may choose the values of all sixteen sets, the costs and the budget.

Elements are numbered as the walk takes them, so every walk takes the first m of them (renaming
changes no value) and ends where none of the others fits.  A best set that is a part of what was taken
is worth no more, and one that holds all of it and more does not fit.  One of k elements has
one that is worth a k-th of it alone, so up to two elements there is nothing more to show; the best
sets of three are the steps below.

The first two steps are for any n, and what the proof for any n rests on: what is missing to the best
set is at most the budget times the gain per cost of the walk's next element.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

import z3

from .theorem import Mutant, Step, Theorem

__all__ = ["FACTOR", "THEOREM", "walk_or_single"]

FACTOR: Final = 0.405
"""What the walk, or the best element alone, reaches of the best set."""

Set = frozenset[int]

EMPTY: Final = "the empty set is worth nothing"
MONOTONE: Final = "the value is monotone"
SUBMODULAR: Final = "the value is submodular"


def walk_or_single(
    value: Callable[[Set], float], costs: Sequence[int], budget: int
) -> tuple[list[int], float]:
    """The walk by gain per cost on numbers, the earlier of equals, or the best element alone."""
    chosen: list[int] = []
    left = budget
    while True:
        have = frozenset(chosen)
        fits = [at for at, cost in enumerate(costs) if at not in have and cost <= left]
        if not fits:
            break
        best = max(fits, key=lambda at: ((value(have | {at}) - value(have)) / costs[at], -at))
        chosen.append(best)
        left -= costs[best]
    alone = [at for at, cost in enumerate(costs) if cost <= budget]
    single = max(alone, key=lambda at: (value(frozenset({at})), -at), default=None)
    if single is not None and value(frozenset({single})) > value(frozenset(chosen)):
        chosen = [single]
    return chosen, value(frozenset(chosen))


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
            steps.append(z3.Or(cost[other] > left, gain * cost[other] >= more * cost[at]))
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
    walk = value[frozenset(range(taken))]
    singles = [value[frozenset({at})] for at in best]
    given["the best set fits"] = sum(cost[at] for at in best) <= budget
    idle = {MONOTONE} if taken == 1 or 0 in best else set()
    if taken == 3:  # two of the best set are taken, which is enough
        idle = set(given) - {EMPTY, MONOTONE, SUBMODULAR}
    return Step(
        name=f"{taken} of {n} taken, against {sorted(best)}",
        given={name: formula for name, formula in given.items() if name not in idle},
        then=_reached(z3.Q(405, 1000), value[best], [walk, *singles]),
    )


one, two, both = z3.Reals("f0 f1 f01")
missing, gain, spent, rate, cost, budget = z3.Reals("missing gain spent rate cost budget")

THEOREM: Final = Theorem(
    title="Cost-scaled greedy or the best single reaches its factor",
    statement="max(walk, best element) >= 0.405 * best set, for monotone submodular values, n <= 4.",
    steps=(
        Step(
            name="one more element of the best set, for any n",
            given={
                "so far the gains are at most the rate times the costs": missing <= rate * spent,
                "the walk's next element has the best rate": gain <= rate * cost,
            },
            then=missing + gain <= rate * (spent + cost),
        ),
        Step(
            name="what is missing is at most the budget at that rate, for any n",
            given={
                "the gains bound what is missing": missing <= rate * spent,
                "the best set fits": z3.And(spent >= 0, spent <= budget),
                "gains are not negative": rate >= 0,
            },
            then=missing <= rate * budget,
        ),
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
