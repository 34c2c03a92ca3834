"""Right programs: under `mypy --strict` each has the type that is stated, and it runs."""

from collections.abc import Sequence
from typing import assert_type

import attrs

from packer import (
    Budget,
    Chunk,
    Filter,
    Layout,
    Order,
    Packed,
    PackedChunk,
    PackedPlan,
    Packer,
    Plan,
    Policy,
    Pool,
    Scoring,
    Section,
    Selection,
    Selector,
    Stage,
    Template,
    pack,
    sections,
)
from strategies import (
    Context,
    blend,
    chronological,
    custom,
    dedup,
    density,
    field,
    from_options,
    greedy,
    knapsack,
    lexical,
    mmr,
    parse,
    prefix,
    recommended,
    shrink,
    threshold,
    trim,
    ushape,
    where,
)

assert_type(threshold(0.6), Filter)
assert_type(where(field("year") >= 2023, ~field("draft").is_none()), Filter)
assert_type(lexical(0.5, language="german"), Scoring)
assert_type(blend(dense=0.5, rerank=2, scale="rank"), Scoring)
assert_type(recommended(), Stage[Pool, Selection])
assert_type(recommended(query=False) | ushape, Stage[Pool, Layout])
assert_type(greedy, Selector)
assert_type(mmr(0.7, metric="cosine"), Selector)
assert_type(ushape, Order)
assert_type(chronological(newest_first=True), Order)

narrowed = threshold(0.6) | dedup(0.85)
assert_type(narrowed, Stage[Pool, Pool])
chosen = narrowed | mmr(0.7)
assert_type(chosen, Stage[Pool, Selection])
shown = chosen | ushape
assert_type(shown, Stage[Pool, Layout])
assert_type(narrowed | (mmr(0.7) | ushape), Stage[Pool, Layout])
assert_type(mmr(0.7) | ushape, Stage[Pool, Layout])

one: Policy = greedy
two: Policy = shown
assert_type(parse("greedy | ushape"), Policy)
assert_type(from_options(strategy="mmr"), Policy)
several: list[Policy] = [greedy, prefix, density, knapsack, chosen, shown]

chunks = [Chunk("Refunds take 5 days.", 0.9), Chunk("We ship.", 0.4)]
mappings = [{"content": "Refunds take 5 days.", "score": 0.9}, {"content": "We ship.", "score": 0}]
packed = pack(chunks, shown, budget=100)
assert_type(pack(mappings, shown, budget=100), Packed)
assert_type(pack([chunks[0], mappings[1]], shown, budget=100), Packed)
assert_type(packed, Packed)
assert_type([chunk for chunk in packed], list[PackedChunk])  # noqa: C416  # the loop is the point
assert_type(Packer(one, budget=100)(chunks), Packed)
assert_type(Packer(two, budget=100).select(Pool.from_arrays([0.5], [3])), Layout)
assert_type(shrink(0.5) | trim(20) | greedy, Stage[Pool, Selection])
window = Budget(1000, reserve=200)
assert_type(pack(chunks, one, budget=window, template=Template("{content}")), Packed)
parts = [Section("rules", one, minimum=10), Section("documents", two, share=0.5)]
assert_type(sections(window, parts), dict[str, int])
prompt = Plan(parts, budget=window).pack({"rules": "Be brief.", "documents": chunks})
assert_type(prompt, PackedPlan)
assert_type(prompt["documents"], Packed)


def longest(chunks: Sequence[Chunk], context: Context) -> list[Chunk]:
    """A function of the caller's own."""
    del context
    return sorted(chunks, key=lambda chunk: -len(chunk.content))


assert_type(custom(longest) | ushape, Stage[Pool, Layout])


@attrs.frozen(repr=False)
class Cheap(Filter):
    """A stage of the caller's own."""

    most: int

    def __call__(self, pool: Pool, /) -> Pool:
        """Drop what costs more than `most`."""
        return pool.keep(pool.tokens <= self.most, reason="metadata", detail="too long")


assert_type(Cheap(10) | greedy | ushape, Stage[Pool, Layout])
