"""The knapsack's rules never drop every state that leads to an optimum, for any number of items.

A *state* is what was made of the items near the break item: a value p and a weight w.  The items
outside may still be toggled: those after the core put in, those before it taken out.  A
*completion* is what such toggles add: a value and a weight, of either sign.  A state leads to
p + value where w + weight <= room.

*The bound.*  What is put in adds at most `up` a token, the most that weight after the core is worth;
what is taken out costs at least `down` a token, the least that weight before it is.  By
induction over the items outside, a state leads to at most `highest`: its value and the gap, what
is left of the room, at `up` where the gap is not negative, and else at `down`.  `ceiling` reports the
most of that over all states, and `best`.  Values are whole numbers, so where `highest` is below
best + 1, the state leads to nothing above `best` (*bounded*).

*A surrogate.*  No better subset has more items than `count` (or none has fewer), so
weight + shift * size <= room + shift * count holds of it too, and the same bound holds with the
gap of the surrogate.

*Dominance.*  Both lists rise in weight, and the merge takes the lighter of their first, so all that
came before are no heavier.  What completes a state completes a lighter one, and to as much where that
is at least as valuable (*dominated*).  That also holds where the other was itself bounded and dropped: then neither leads
above `best`.  (A subset above `best` meets the limit on items whichever state it came from.)

*The toggles.*  At the start the break solution leads to the optimum, when all items may be toggled.
With one more item a state leads to what it and its toggled copy lead to without that item, and each
of the two is kept, or leads to nothing above `best`, or to no more than another that is one of
these.  So `best` is the optimum or a state that is kept leads to it, after any number of items; when
no item or no state is left it is `best`.  An item that `reduction_keeps_better_subsets` fixes is one
that no better subset toggles.
"""

from typing import Any, Final

import z3

from .either import all_of, any_of, larger, when
from .theorem import Mutant, Step, Theorem

__all__ = [
    "THEOREM",
    "bounded",
    "dominated",
    "highest",
    "surrogate_gap",
    "toggled_first",
]


def dominated(value: Any, most: Any) -> Any:
    """Whether a state is dominated, where `most` is the value of the best no heavier."""
    return value <= most


def toggled_first(old: tuple[Any, Any], toggled: tuple[Any, Any]) -> Any:
    """Whether the toggled state goes first: by weight, then by falling value."""
    (p, w), (q, v) = old, toggled
    return any_of(v < w, all_of(v == w, q > p))


def surrogate_gap(room: Any, weight: Any, shift: Any, count: Any, size: Any) -> Any:
    """What is left of the room for a state of so many items, in shifted weights."""
    return room - weight + shift * (count - size)


def highest(gap: Any, value: Any, up: Any, down: Any) -> Any:
    """The most that a state with this gap can lead to."""
    return value + gap * when(gap >= 0, up, down)


def bounded(gap: Any, value: Any, best: Any, up: Any, down: Any) -> Any:
    """Whether nothing above `best` can come of a state with this gap."""
    return highest(gap, value, up, down) < best + 1


p, w, q, v, room, best = z3.Ints("p w q v room best")
more, heavier = z3.Ints("more heavier")  # a completion
up, down = z3.Reals("up down")
put_value, put_weight, out_value, out_weight = z3.Ints("put_v put_w out_v out_w")
item_value, item_weight = z3.Ints("item_v item_w")
shift, count, size, total, size_more = z3.Ints("shift count size total size_more")
gap = z3.Int("gap")
reached, optimum, kept, here, there, other = z3.Ints("reached optimum kept here there other")
RATES: Final = {"what is before the core is worth more": z3.And(up >= 0, down >= up)}
PUT: Final = {"what is put in adds at most up * weight": put_value <= up * put_weight}
OUT: Final = {"what is taken out costs at least down * weight": out_value >= down * out_weight}
WEIGHTS: Final = {"weights are not negative": z3.And(put_weight >= 0, out_weight >= 0)}
leads_to: Final = p + put_value - out_value


def _covered(leads: Any) -> Any:
    """That a state was kept, or was dropped and leads to no more than `best` or what is kept."""
    return z3.Or(leads <= best, leads <= kept)


BOUND: Final = (
    Step(
        name="nothing is put in or taken out",
        given={
            "nothing is put in": z3.And(put_value == 0, put_weight == 0),
            "nothing is taken out": z3.And(out_value == 0, out_weight == 0),
        },
        then=z3.And(put_value <= up * put_weight, out_value >= down * out_weight),
    ),
    Step(
        name="one more item after the core, put in",
        given={**PUT, "it is worth at most up": item_value <= up * item_weight},
        then=put_value + item_value <= up * (put_weight + item_weight),
    ),
    Step(
        name="one more item before the core, taken out",
        given={**OUT, "it is worth at least down": item_value >= down * item_weight},
        then=out_value + item_value >= down * (out_weight + item_weight),
    ),
    Step(
        name="a state leads to at most the highest",
        given={
            **RATES,
            **PUT,
            **OUT,
            **WEIGHTS,
            "the completion fits": put_weight - out_weight <= gap,
        },
        then=leads_to <= highest(gap, p, up, down),
        mutants=[
            Mutant("half of up", conclusion=leads_to <= highest(gap, p, up / 2, down)),
            Mutant("twice down", conclusion=leads_to <= highest(gap, p, up, 2 * down)),
        ],
    ),
    Step(
        name="a bounded state leads to nothing above the best",
        given={
            "it leads to at most the highest": reached <= highest(gap, p, up, down),
            "it is bounded": bounded(gap, p, best, up, down),
        },
        then=reached <= best,
        mutants=[
            Mutant(
                "it may reach one more",
                instead={"it is bounded": bounded(gap, p, best + 1, up, down)},
            )
        ],
    ),
    Step(
        name="the ceiling, the most of the highest and the best, bounds one more state",
        given={
            "so far what is reached is at most the bound": reached <= other,
            "this one leads to at most the highest": here <= highest(gap, p, up, down),
        },
        then=larger(reached, here) <= larger(other, z3.ToInt(highest(gap, p, up, down))),
        mutants=[
            Mutant(
                "one below the highest",
                conclusion=larger(reached, here)
                <= larger(other, z3.ToInt(highest(gap, p, up, down)) - 1),
            )
        ],
    ),
    Step(
        name="a limit on the number of items makes a surrogate",
        given={
            "the subset fits": total <= room,
            "the limit goes the way of the shift": z3.Or(
                z3.And(shift >= 0, size <= count), z3.And(shift <= 0, size >= count)
            ),
        },
        then=total + shift * size <= room + shift * count,
    ),
    Step(
        name="so the gap of the surrogate bounds what is added",
        given={
            "the surrogate holds of the whole": (w + heavier) + shift * (size + size_more)
            <= room + shift * count,
        },
        then=heavier + shift * size_more <= surrogate_gap(room, w, shift, count, size),
        mutants=[
            Mutant(
                "the gap forgets the items so far",
                conclusion=heavier + shift * size_more <= surrogate_gap(room, w, shift, count, 0),
            )
        ],
    ),
)

DOMINANCE: Final = (
    Step(
        name="where the toggled one goes first it is no heavier",
        given={"the toggled one goes first": toggled_first((p, w), (q, v))},
        then=v <= w,
    ),
    Step(
        name="where the old one goes first it is no heavier",
        given={"the old one goes first": z3.Not(toggled_first((p, w), (q, v)))},
        then=w <= v,
    ),
    Step(
        name="a dominated state leads to no more than the other",
        given={
            "the other is no heavier": v <= w,
            "and at least as valuable": dominated(p, q),
            "a completion fits": w + heavier <= room,
        },
        then=z3.And(v + heavier <= room, q + more >= p + more),
    ),
    Step(
        name="a state dominated by one that was bounded leads to nothing above the best",
        given={
            "the other is no heavier": v <= w,
            "and at least as valuable": dominated(p, q),
            "the other leads to nothing above the best": z3.Implies(
                v + heavier <= room, q + more <= best
            ),
            "a completion fits": w + heavier <= room,
        },
        then=p + more <= best,
    ),
)

TOGGLES: Final = (
    Step(
        name="a dominated state is covered when the other is",
        given={"it leads to no more than the other": here <= other, "that is": _covered(other)},
        then=_covered(here),
    ),
    Step(
        name="one more item, toggled or not",
        given={
            "the best or a state still leads to the optimum": z3.Or(
                optimum <= best, optimum <= reached
            ),
            "this state leads there with the item toggled or not": z3.Or(
                reached <= here, reached <= there
            ),
            "the state is covered": _covered(here),
            "and so is its toggled copy": _covered(there),
        },
        then=z3.Or(optimum <= best, optimum <= kept),
    ),
)

THEOREM: Final = Theorem(
    title="The knapsack's rules keep an optimal state",
    statement="What dominance or the bound drops leads to nothing better than what is kept, and "
    "nothing is above the ceiling.",
    steps=(*BOUND, *DOMINANCE, *TOGGLES),
)
