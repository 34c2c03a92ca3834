"""One trial of a stage: the chunks, the call, the rules that bind it, and the code of all that."""

import functools
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Final, TypeVar, final

import attrs
from hypothesis import strategies as st

from packer.algebra import Constraint, Policy, Step, steps_of
from packer.conditions import field
from packer.pool import Pool
from packer.records import Chunk, Packed
from packer.selection import Selection
from strategies import cap, greedy, overlap, pin

from .calls import OVERHEADS, Request, budgets_for, costs_of, options_for
from .chunk_lists import PROFILES, Profile, chunks
from .keys_read import keys_read
from .material import HOSTILE_VALUES, NOW, QUERY
from .pasting import chunks_source

__all__ = ["PINNED", "Case", "State", "cases", "completed"]

T = TypeVar("T")

PINNED: Final = "pinned"
"""The metadata key of the chunks that a case pins."""

USUAL: Final = 8
LONG: Final = 40
"""The most chunks of most lists, and of some lists of twins.

A sort that is not stable shows it on more than 16 (numpy's sorts fewer by insertion).
"""

_TWIN_SIZES: Final = st.sampled_from(((4, USUAL), (4, USUAL), (LONG // 2, LONG)))
"""The least and the most chunks of a list of twins: fewer seldom are a group that a budget cuts."""

_TRIED: Final = (*PROFILES, "twins", "twins", "twins")

_PIN: Final = pin(field(PINNED) == True)  # noqa: E712  # a condition, no comparison


class State(StrEnum):
    """What a law is tried on: a state that a stage takes, or a call of `pack`; with rules or none."""

    POOL = "pool"
    RULED_POOL = "ruled pool"
    SELECTION = "selection"
    CALL = "call"
    RULED_CALL = "ruled call"

    @property
    def is_call(self) -> bool:
        """Whether the stage is tried in a call of `pack`."""
        return self in {State.CALL, State.RULED_CALL}

    @property
    def is_ruled(self) -> bool:
        """Whether the rules of the case bind it."""
        return self in {State.RULED_POOL, State.RULED_CALL}


@final
@attrs.frozen
class Case:
    """A stage (or policy) and what it is tried on.

    `rules`: constraints that bind the pool.  `places`: the rows that an order is given, in the
    order of their selection.
    """

    stage: Any
    chunks: Sequence[Chunk]
    budget: int
    overhead: int
    rules: Sequence[Constraint] = ()
    places: Sequence[int] = ()
    _made: dict[str, Any] = attrs.field(factory=dict, init=False, repr=False, eq=False)

    def pool(self) -> Pool:
        """The pool of the chunks, without rules."""
        return self._once("pool", self._new_pool)

    def _new_pool(self) -> Pool:
        return Pool.from_chunks(
            self.chunks, budget=self.budget, overhead=self.overhead, query=QUERY, now=NOW
        )

    def ruled_pool(self) -> Pool:
        """The pool of the chunks under the rules."""
        pool = self.pool()
        for rule in self.rules:
            pool = rule(pool)
        return pool

    def selection(self) -> Selection:
        """The selection of the places, whatever it costs."""
        pool = Pool.from_chunks(self.chunks, overhead=self.overhead, query=QUERY, now=NOW)
        return pool.select([place for place in self.places if place < len(pool)])

    def request(self, *, ruled: bool = False) -> Request:
        """The call of `pack` that has the stage in it, beside `greedy` where it needs a selector."""
        policy = completed(self.stage)
        if ruled:
            for rule in self.rules:
                policy = rule | policy
        return Request(self.chunks, policy, self.budget, self.overhead, QUERY)

    def packed(self) -> Packed:
        """What the call of the stage gives, run once; `request().packed()` runs it anew."""
        return self._once("packed", self.request().packed)

    def _once(self, name: str, make: Callable[[], T]) -> T:
        if name not in self._made:
            self._made[name] = make()
        found: T = self._made[name]
        return found

    def code(self, state: State) -> str:
        """The case as Python: the chunks, and the pool, selection or call.

        The stage itself stands there as its text.
        """
        given = chunks_source(self.chunks)
        ruled = state.is_ruled and self.rules
        names = ["Chunk", "pack" if state.is_call else "Pool"]
        lines = ["import datetime", ""] if "datetime." in given else []
        lines.append(f"from packer import {', '.join(names)}")
        if ruled:
            lines.append(f"from strategies import {', '.join(sorted(_words(self.rules)))}")
        lines += ["", given]
        limit = f"budget={self.budget}, " if state is not State.SELECTION else ""
        call = f'{limit}overhead={self.overhead}, query="{QUERY}", now="{NOW.isoformat()}"'
        rules = [_in_code(rule) for rule in self.rules] if ruled else []
        if state.is_call:
            lines.append(f"policy = {' | '.join([*rules, '...'])}  # {completed(self.stage)!r}")
            lines.append(f"packed = pack(chunks, policy, {call})")
            return "\n".join(lines)
        lines.append(f"pool = Pool.from_chunks(chunks, {call})")
        lines += [f"pool = {rule}(pool)" for rule in rules]
        if state is State.SELECTION:
            lines.append(f"selection = pool.select({self.selection().chosen.tolist()})")
        lines.append(
            f"# {self.stage!r} on this {'selection' if state is State.SELECTION else 'pool'}"
        )
        return "\n".join(lines)


def _words(rules: Sequence[Constraint]) -> set[str]:
    words = {rule.name for rule in rules}
    return words | {"field"} if "pin" in words else words


def _in_code(rule: Constraint) -> str:
    return f'pin(field("{PINNED}") == True)' if rule == _PIN else repr(rule)


def completed(stage: Any) -> Policy:
    """The stage as a policy: with `greedy` where it selects nothing itself."""
    steps: tuple[Step[Any, Any], ...] = steps_of(stage)
    if steps[0].takes is Selection:
        return greedy | stage  # type: ignore[no-any-return]
    if steps[-1].gives is Pool:
        return stage | greedy  # type: ignore[no-any-return]
    return stage  # type: ignore[no-any-return]


@st.composite
def cases(
    draw: st.DrawFn,
    stages: st.SearchStrategy[Any],
    profile: Profile = "mixed",
    chunk_lists: st.SearchStrategy[list[Chunk]] | None = None,
) -> Case:
    """Cases of stages over these chunks, those of the profile when left out."""
    stage = draw(stages)
    own, one = chunk_lists is None, profile
    shares = getattr(stage, "counts_overlap", False)
    if chunk_lists is None:
        if one == "mixed":
            one = draw(
                st.sampled_from((*_TRIED, "overlapping", "overlapping") if shares else _TRIED)
            )
        named = draw(st.sampled_from((True, True, True, False)))
        least, most = draw(_TWIN_SIZES) if one == "twins" else (0, USUAL)
        chunk_lists = _lists(
            named=named, profile=one, min_size=least, max_size=most, **options_for(stage)
        )
    given = draw(chunk_lists)
    keys = keys_read(stage) if own and one == "hostile-metadata" else ()
    if keys:
        more = st.dictionaries(st.sampled_from(keys), HOSTILE_VALUES, max_size=3)
        given = [attrs.evolve(chunk, metadata={**chunk.metadata, **draw(more)}) for chunk in given]
    overhead = draw(OVERHEADS)
    rules: list[Constraint] = []
    pinned: list[Chunk] = []
    if draw(st.booleans()) and given:
        rules.append(_PIN)
        given, pinned = _with_pins(given, draw(st.sampled_from((0, 0, 1, 2))))
    budget = draw(budgets_for(given, overhead))
    if len(pinned) > 0 and draw(st.booleans()):  # room for them alone, which others would take
        budget = max(sum(costs_of(pinned, overhead)) + draw(st.sampled_from((0, 1))), 1)
    if draw(st.sampled_from((False, True, True))):
        most = draw(st.integers(1, 2))
        rules.append(cap(most, by="source"))
        if own and not pinned and draw(st.sampled_from((False, True, True))):
            # room for all, which are of one source; all, so that twins stay twins
            given = [_of_one_source(chunk) for chunk in given]
            budget = max(sum(costs_of(given, overhead)) + draw(st.sampled_from((0, 1, -1))), 1)
    if shares and (one == "overlapping" or draw(st.booleans())):
        rules.append(overlap())
    return Case(
        stage=stage,
        chunks=given,
        budget=budget,
        overhead=overhead,
        rules=rules,
        places=_places(draw, len(given)) if steps_of(stage)[0].takes is Selection else (),
    )


def _of_one_source(chunk: Chunk) -> Chunk:
    return attrs.evolve(chunk, metadata={**chunk.metadata, "source": "kb"})


@functools.cache
def _lists(**options: Any) -> st.SearchStrategy[list[Chunk]]:
    """The lists of these options; a strategy is slow to make, so each is made once."""
    return chunks(**options)


def _with_pins(given: Sequence[Chunk], rank: int) -> tuple[list[Chunk], list[Chunk]]:
    """The chunks with the `rank`-worst of them pinned, and what is pinned.

    A bad one, since a stage that ignores the pin would mostly pack a good one anyway.  Its twins
    are pinned with it, or they would be twins no more.
    """
    worst = sorted(given, key=lambda chunk: chunk.score)[min(rank, len(given) - 1)]
    found = [
        attrs.evolve(chunk, metadata={**chunk.metadata, PINNED: True})
        if (chunk.content, chunk.score) == (worst.content, worst.score)
        else chunk
        for chunk in given
    ]
    return found, [chunk for chunk in found if PINNED in chunk.metadata]


def _places(draw: st.DrawFn, size: int) -> list[int]:
    """Some of 0..size-1 in any order, mostly all."""
    places = draw(st.permutations(range(size)))
    return places[draw(st.just(0) | st.integers(0, size)) :]
