"""The u-shape shows every chunk once, and rank r stands r // 2 places from an edge, for any n.

Ranks count from 0.  Even ranks go to the front, odd ones to the back: the place of rank r is
r // 2, or n - 1 - r // 2.  Places are within 0..n-1, no two ranks have one place, and every place
has a rank, which `rank_at` gives.
"""

from typing import Any, Final

import z3

from .either import smaller, when
from .theorem import Mutant, Step, Theorem

__all__ = ["THEOREM", "place", "rank_at"]


def _half(number: Any) -> Any:
    return number / 2 if isinstance(number, z3.ExprRef) else number // 2  # z3's / is floor here


def place(rank: Any, n: Any) -> Any:
    """Where the u-shape of n chunks shows a rank."""
    return when(rank % 2 == 0, _half(rank), n - 1 - _half(rank))


def rank_at(at: Any, n: Any) -> Any:
    """The rank that the u-shape of n chunks shows at a place."""
    return when(2 * at < n, 2 * at, 2 * (n - 1 - at) + 1)


n, r, s, at = z3.Ints("n r s at")
here: Final = place(r, n)

RANK: Final = {"r is a rank": z3.And(r >= 0, r < n)}
OTHER: Final = {"s is another": z3.And(s >= 0, s < n, s != r)}
PLACE: Final = {"at is a place": z3.And(at >= 0, at < n)}

THEOREM: Final = Theorem(
    title="The u-shape is a bijection, best at the edges",
    statement="Rank r stands at a place of its own, r // 2 from the nearer edge, for any n.",
    steps=(
        Step(
            name="a rank has a place",
            given=RANK,
            then=z3.And(here >= 0, here < n),
            mutants=[
                Mutant("beside the back", conclusion=when(r % 2 == 0, r / 2, n - r / 2) < n),
            ],
        ),
        Step(
            name="no two ranks have one place",
            given={**RANK, **OTHER},
            then=here != place(s, n),
            mutants=[Mutant("the same rank", instead={"s is another": z3.And(s >= 0, s < n)})],
        ),
        Step(
            name="every place has a rank",
            given=PLACE,
            then=z3.And(rank_at(at, n) >= 0, rank_at(at, n) < n, place(rank_at(at, n), n) == at),
        ),
        Step(
            name="rank r stands r // 2 from the nearer edge",
            given=RANK,
            then=smaller(here, n - 1 - here) == r / 2,
            mutants=[Mutant("r from the front", conclusion=here == r)],
        ),
        Step(
            name="a better rank is no farther from an edge",
            given={"s ranks after": z3.And(s > r, s < n)},
            then=smaller(here, n - 1 - here) <= smaller(place(s, n), n - 1 - place(s, n)),
            mutants=[Mutant("s ranks before", instead={"s ranks after": z3.And(s >= 0, s < n)})],
        ),
    ),
)
