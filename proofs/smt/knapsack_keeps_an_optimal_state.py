"""The knapsack's dominance and bounding rules never drop every state that leads to an optimum.

A *state* is what was made of the items near the break item: a value p and a weight w.  The items
outside may still be toggled: those after the core put in, those before it taken out.  A
*completion* is what such toggles add: a value and a weight, of either sign.  A state leads to
p + value where w + weight <= room.  The search drops a state

- *dominated*: when another is no heavier and at least as valuable.  Each completion that fits the
  one fits the other, and leads to as much: the optimum stays within reach.
- *bounded*: when gap * rate < best + 1 - p, where gap = room - w, and rate is `up`, the most that
  weight after the core can add, where the gap is not negative, and else `down`, the least that
  weight before it is worth.  Then no completion leads above `best`: values are whole
  numbers.

For any number of items outside: the first two steps are the induction, what is put in adds at most
up * weight and what is taken out costs at least down * weight.

Beyond that the search may use a *surrogate*: no better subset has more items than `count` (or none
has fewer), so weight + shift * size <= room + shift * count is a valid constraint too, and the
same bound holds with the gap room - w + shift * (count - size).
"""

from typing import Any, Final

import z3

from .either import all_of, any_of, when
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "bounded", "dominated", "toggled_first"]


def dominated(value: Any, highest: Any) -> Any:
    """Whether a state is dominated, where `highest` is the most of those no heavier."""
    return value <= highest


def toggled_first(old: tuple[Any, Any], toggled: tuple[Any, Any]) -> Any:
    """Whether the toggled state goes first: by weight, then by falling value."""
    (p, w), (q, v) = old, toggled
    return any_of(v < w, all_of(v == w, q > p))


def bounded(gap: Any, value: Any, best: Any, up: Any, down: Any) -> Any:
    """Whether nothing above `best` can come of a state with so much room left."""
    return gap * when(gap >= 0, up, down) < best + 1 - value


p, w, q, v, room, best = z3.Ints("p w q v room best")
more, heavier = z3.Ints("more heavier")  # a completion
up, down = z3.Reals("up down")
put_value, put_weight, out_value, out_weight = z3.Ints("put_v put_w out_v out_w")
item_value, item_weight = z3.Ints("item_v item_w")
shift, count, size, total, size_more = z3.Ints("shift count size total size_more")

RATES: Final = {"what is before the core is worth more": z3.And(up >= 0, down >= up)}
PUT: Final = {"what is put in adds at most up * weight": put_value <= up * put_weight}
OUT: Final = {"what is taken out costs at least down * weight": out_value >= down * out_weight}
WEIGHTS: Final = {"weights are not negative": z3.And(put_weight >= 0, out_weight >= 0)}
gap: Final = room - w
fits: Final = put_weight - out_weight <= gap
leads_to: Final = p + put_value - out_value

THEOREM: Final = Theorem(
    title="The knapsack's rules keep an optimal state",
    statement="What dominance or the bound drops leads to nothing better than what is kept.",
    steps=(
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
            name="a dominated state is not missed",
            given={
                "the other is no heavier": v <= w,
                "and at least as valuable": dominated(p, q),
                "a completion fits": w + heavier <= room,
            },
            then=z3.And(v + heavier <= room, q + more >= p + more),
        ),
        Step(
            name="in the order of the merge all before are no heavier",
            given={"the toggled one goes first": toggled_first((p, w), (q, v))},
            then=v <= w,
        ),
        Step(
            name="a bounded state leads to nothing above the best",
            given={
                **RATES,
                **PUT,
                **OUT,
                **WEIGHTS,
                "the completion fits": fits,
                "the state is bounded": bounded(gap, p, best, up, down),
            },
            then=leads_to <= best,
            mutants=[
                Mutant(
                    "half of up",
                    instead={"the state is bounded": bounded(gap, p, best, up / 2, down)},
                ),
                Mutant(
                    "twice down",
                    instead={"the state is bounded": bounded(gap, p, best, up, 2 * down)},
                ),
                Mutant(
                    "it may reach two more",
                    instead={"the state is bounded": bounded(gap, p, best + 1, up, down)},
                ),
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
            then=heavier + shift * size_more <= room - w + shift * (count - size),
        ),
    ),
)
