"""Several policies on the same chunks: what one packs and another does not."""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, final

import attrs

from .budget import Budget
from .call import checked_call
from .errors import InvalidParameter, PackError, shown
from .facade import Packer
from .intake import ChunkLike, OnInvalid
from .numbers import is_int
from .records import Packed
from .sides import Group, groups
from .tokens import CountTokens, approximate

if TYPE_CHECKING:
    from .algebra import Policy
    from .template import Template

__all__ = ["Comparison", "compare"]

FEWEST: Final = 2
"""Policies that are a comparison."""


@final
@attrs.frozen(unsafe_hash=False)
class Comparison:
    """What each policy packs: `outcomes` in the order in which the policies were given."""

    outcomes: tuple[Packed, ...]

    __hash__ = None  # type: ignore[assignment]  # as the results in it

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[Packed]:
        return iter(self.outcomes)

    def __getitem__(self, place: int) -> Packed:
        return self.outcomes[place]

    @property
    def policies(self) -> tuple[str, ...]:
        """The texts of the policies."""
        return tuple(packed.report.policy for packed in self.outcomes)

    @property
    def packed(self) -> tuple[str, ...]:
        """The ids that some policy packs: in the order of the first, then what each adds."""
        return tuple(dict.fromkeys(chunk.id for packed in self.outcomes for chunk in packed))

    @property
    def shared(self) -> tuple[str, ...]:
        """The ids that every policy packs, in the order of the first."""
        each = [{chunk.id for chunk in packed} for packed in self.outcomes]
        return tuple(id_ for id_ in self.packed if all(id_ in ids for ids in each))

    def only(self, place: int) -> tuple[str, ...]:
        """The ids that this policy packs and no other does, in its order.

        Raises INVALID_PARAMETER for what is no policy's place, an int from 0 (or -1, from the end).
        """
        count = len(self)
        if not is_int(place) or not -count <= place < count:
            message = (
                f"place is {shown(place)}; give an int from 0 to {count - 1}, the policy's place"
            )
            raise InvalidParameter(message, details={"place": place, "policies": count})
        mine = self.outcomes[place]
        others = {chunk.id for packed in self.outcomes if packed is not mine for chunk in packed}
        return tuple(chunk.id for chunk in mine if chunk.id not in others)

    def groups(self) -> tuple[Group, ...]:
        """The chunks by who packs them: all, then one policy alone, then two of more, and so on.

        A group has `places` (the policies' numbers), `ids` and a `heading`, in which the policies
        are A, B, C ... in their order.  What no policy packs is in none.
        """
        return groups(self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        """`{"policies": [...], "shared": [...], "only": [[...], ...], "outcomes": [...]}` for JSON."""
        return {
            "policies": list(self.policies),
            "shared": list(self.shared),
            "only": [list(self.only(place)) for place in range(len(self))],
            "outcomes": [packed.to_dict() for packed in self.outcomes],
        }

    def to_html(self) -> str:
        """A page that shows the policies side by side: one file, self-contained."""
        from .page import comparison_page

        return comparison_page(self.outcomes)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for notebooks."""
        from .page import framed

        return framed(self.to_html())


def compare(
    *policies: "Policy",
    chunks: Iterable[ChunkLike],
    budget: int | Budget,
    overhead: int = 0,
    count_tokens: CountTokens = approximate,
    query: str | None = None,
    template: "Template | None" = None,
    on_invalid: OnInvalid = "raise",
    now: dt.datetime | str | float | None = None,
) -> Comparison:
    """Pack the same chunks by two policies or more, at the same moment and budget.

    The other arguments are those of `packer.pack`; the chunks are read and counted once.

    Raises INVALID_PARAMETER for fewer than two policies, and what `pack` raises, with a note on
    the policy.

    >>> from packer import Chunk, compare
    >>> from strategies import greedy, knapsack
    >>> chunks = [
    ...     Chunk("long", 1.0, id="long", tokens=51),
    ...     Chunk("one", 0.9, id="one", tokens=26),
    ...     Chunk("two", 0.9, id="two", tokens=26),
    ... ]
    >>> both = compare(greedy, knapsack, chunks=chunks, budget=52)
    >>> both.shared, both.only(0), both.only(1)
    ((), ('long',), ('one', 'two'))
    """
    if len(policies) < FEWEST:
        message = f"compare got {len(policies)} policies ({shown(policies)}); give two or more"
        raise InvalidParameter(message, details={"policies": policies})
    packers = [
        Packer(
            policy,
            budget=budget,
            overhead=overhead,
            count_tokens=count_tokens,
            template=template,
            on_invalid=on_invalid,
            query=query,
            now=now,
        )
        for policy in policies
    ]
    call = checked_call(budget, overhead, count_tokens, query, now, template)
    moment = dt.datetime.now(dt.UTC)
    pool = packers[0].pool(chunks, query=query, now=call.now or moment)
    outcomes = []
    for packer in packers:
        try:
            outcomes.append(packer.pack_within(pool, call.limit, moment))
        except PackError as error:
            error.add_note(f"by the policy {packer.policy!r}")
            raise
    return Comparison(tuple(outcomes))
