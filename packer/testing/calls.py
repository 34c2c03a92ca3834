"""Calls of `pack`, pools and selections, with budgets at the edge of what fits."""

from collections.abc import Sequence
from typing import Any, Final, final

import attrs
from hypothesis import reject
from hypothesis import strategies as st

from packer.algebra import Constraint, Policy, steps_of
from packer.errors import Infeasible, OverBudget
from packer.facade import pack
from packer.pool import Pool
from packer.records import Chunk, Packed
from packer.selection import Selection
from packer.template import Template
from packer.tokens import approximate

from .chunk_lists import Profile, chunks
from .material import NOW, POSITIVE, QUERY, Values
from .vocabulary import policies

__all__ = [
    "BUDGETS",
    "OVERHEADS",
    "Request",
    "budgets_for",
    "chunks_for",
    "costs_of",
    "options_for",
    "pools",
    "requests",
    "selections",
    "shuffled_pools",
]

BUDGETS: Final = st.integers(1, 120) | st.sampled_from((1, 10, 10_000, 2**70))
OVERHEADS: Final = st.sampled_from((0, 0, 1, 7))


@final
@attrs.frozen
class Request:
    """A call of `pack`, at a fixed moment."""

    chunks: Sequence[Chunk]
    policy: Policy
    budget: int
    overhead: int
    query: str | None = QUERY

    def over(self, chunks: Sequence[Chunk]) -> "Request":
        """The same call over other chunks."""
        return attrs.evolve(self, chunks=chunks)

    def packed(self, template: Template | None = None) -> Packed:
        """What the call gives."""
        return pack(
            self.chunks,
            self.policy,
            budget=self.budget,
            overhead=self.overhead,
            query=self.query,
            template=template,
            now=NOW,
        )


@st.composite
def budgets_for(draw: st.DrawFn, given: Sequence[Chunk], overhead: int) -> int:
    """Budgets for these chunks: any, and what the best of them or one of them cost, give or take 1."""
    if not given or draw(st.booleans()):
        return draw(BUDGETS)
    costs = costs_of(sorted(given, key=lambda chunk: -chunk.score), overhead)
    start = draw(st.integers(0, len(costs) - 1))
    end = draw(st.integers(start + 1, len(costs)))
    return max(1, sum(costs[start:end]) + draw(st.sampled_from((0, -1, 1))))


def costs_of(given: Sequence[Chunk], overhead: int) -> list[int]:
    """What each of these chunks costs in a call without a template."""
    return [
        overhead + (approximate(chunk.content) if chunk.tokens is None else chunk.tokens)
        for chunk in given
    ]


def chunks_for(
    stage: Any, profile: Profile = "ordinary", **options: Any
) -> st.SearchStrategy[list[Chunk]]:
    """Lists of chunks that the stage (or policy) does not refuse; `options` as for `chunks`."""
    needed = options_for(stage)
    if "scores" in needed and "scores" in options:
        needed["scores"] = options["scores"].filter(lambda score: score >= 0)
    options = {**options, **needed}
    found = chunks(profile, **options)
    if profile == "ordinary" and any(step.reads_spans for step in steps_of(stage)):
        found |= chunks("overlapping", **options)
    return found


def options_for(stage: Any) -> dict[str, Any]:
    """The options of `chunks` under which the stage (or policy) refuses none of them."""
    options: dict[str, Any] = {}
    steps = steps_of(stage)
    if any(getattr(step, "metric", None) == "cosine" for step in steps):
        options["embedded"] = True
    if any(step.refuses_negative for step in steps):
        options["scores"] = POSITIVE
    return options


@st.composite
def requests(
    draw: st.DrawFn, /, policy: st.SearchStrategy[Policy] | None = None, **options: Any
) -> Request:
    """Calls of `pack` that are not refused; `options` as for `chunks`."""
    chosen = draw(policies() if policy is None else policy)
    request = Request(
        chunks=draw(chunks_for(chosen, **options)),
        policy=chosen,
        budget=draw(BUDGETS),
        overhead=draw(OVERHEADS),
    )
    if any(isinstance(step, Constraint) for step in steps_of(chosen)):
        try:
            request.packed()
        except (Infeasible, OverBudget):
            reject()
    return request


@st.composite
def pools(
    draw: st.DrawFn,
    given: st.SearchStrategy[list[Chunk]] | None = None,
    *,
    profile: Profile = "ordinary",
    budgets: Values = BUDGETS,
    overheads: Values = OVERHEADS,
) -> Pool:
    """Pools with a budget, an overhead and a moment, as a Hypothesis strategy.

    `given`: the lists of chunks that they are made of, `chunks(profile)` when left out.
    `budgets`, `overheads`: strategies for ints, in tokens.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(pools(profile="adversarial-length"))
    ... def test(pool):
    ...     assert len(pool) <= 12
    >>> test()
    """
    found = draw(chunks(profile) if given is None else given)
    return Pool.from_chunks(
        found, budget=draw(budgets), overhead=draw(overheads), query=QUERY, now=NOW
    )


@st.composite
def shuffled_pools(draw: st.DrawFn, given: st.SearchStrategy[list[Chunk]]) -> tuple[Pool, Pool]:
    """A pool, and the same chunks in another order."""
    pool = draw(pools(given))
    found = [pool.chunk(row) for row in draw(st.permutations(range(len(pool))))]
    return pool, Pool.from_chunks(
        found, budget=pool.budget, overhead=pool.call.overhead, query=QUERY, now=NOW
    )


@st.composite
def selections(draw: st.DrawFn, given: st.SearchStrategy[list[Chunk]] | None = None) -> Selection:
    """Selections of any rows in any order, within an ample budget."""
    found = draw(chunks("ordinary") if given is None else given)
    pool = Pool.from_chunks(found, overhead=draw(OVERHEADS), now=NOW)
    rows = draw(st.permutations(range(len(pool))))
    return pool.select(rows[: draw(st.just(len(rows)) | st.integers(0, len(rows)))])
