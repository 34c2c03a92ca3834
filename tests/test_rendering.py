"""The text that is sent fits, whatever the counter."""

import collections
import json
import random
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer import (
    Chunk,
    Packed,
    Packer,
    PackError,
    Pool,
    Reason,
    Selection,
    Selector,
    Template,
    approximate,
    pack,
    tokenizer,
)
from packer.algebra import Policy, steps_of
from packer.errors import Infeasible, OverBudget
from strategies import custom, greedy, knapsack, mmr, prefix, reverse, threshold, top, ushape
from tests.counters import ADDITIVE, COUNTERS
from tests.generators import BUDGETS, NOW, OVERHEADS, QUERY, chunks_for, policies

TEMPLATES = st.builds(
    Template,
    st.sampled_from(
        (
            "{content}",
            "[{position}] {content}",
            "[{position}] {id} ({score}, {tokens})\n{content}\n",
            "{{}} {metadata[made]}: {content}",
            "<|endoftext|>{content}",
            "",
        )
    ),
    separator=st.sampled_from(("", "\n\n", "\n---\n", " ")),
    header=st.sampled_from(("", "", "Sources:\n", "# A header of some length\n")),
    footer=st.sampled_from(("", "", "\nEnd.", "\n")),
)
PLAIN = Template("{content}", separator="\n")


def made(chunks: list[Chunk]) -> list[Chunk]:
    return [
        attrs.evolve(one, metadata={**one.metadata, "made": at}) for at, one in enumerate(chunks)
    ]


def chunk(id_: str, score: float, content: str, **more: Any) -> Chunk:
    return Chunk(content, score, id=id_, **more)


def ids(packed: Packed) -> list[str]:
    return [one.id for one in packed]


def check(
    packed: Packed, chunks: list[Chunk], count: Callable[[str], int], overhead: int = 0
) -> None:
    report, text = packed.report, packed.text()
    assert (count(text) if text or len(packed) else 0) == report.rendered_tokens
    assert report.tokens_used == report.rendered_tokens + overhead * len(packed) <= report.budget
    assert report.tokens_used + report.tokens_remaining == report.budget
    assert report.selected_count + report.excluded_count == len(chunks)
    went = collections.Counter([*ids(packed), *(out.id for out in report.excluded)])
    assert went == collections.Counter(one.id for one in chunks)
    assert report.stages[-1].chunks_out == len(packed)
    assert report.stages[-1].tokens_out == report.tokens_used
    assert " | ".join(trace.stage for trace in report.stages) == report.policy


# -- the promise ----------------------------------------------------------------------------


@settings(max_examples=400)
@given(st.data(), policies(), TEMPLATES, st.sampled_from(COUNTERS), BUDGETS, OVERHEADS)
def test_the_text_fits_whatever_the_counter(
    data: st.DataObject,
    policy: Policy,
    template: Template,
    count: Callable[[str], int],
    budget: int,
    overhead: int,
) -> None:
    chunks = made(data.draw(chunks_for(policy)))
    try:
        packed = pack(
            chunks,
            policy,
            budget=budget,
            overhead=overhead,
            count_tokens=count,
            template=template,
            query=QUERY,
            now=NOW,
        )
    except (Infeasible, OverBudget):  # rules of the policy
        return
    check(packed, chunks, count, overhead)
    written = [
        template.form(
            position=one.position + 1,
            id=one.id,
            content=one.content,
            score=one.score,
            tokens=one.tokens,
            metadata=one.metadata,
        )
        for one in packed
    ]
    if "overlap" not in [step.name for step in steps_of(policy)]:  # under it nothing stands twice
        assert packed.text() == template.joined(written)


@given(st.data(), TEMPLATES, st.sampled_from(ADDITIVE), BUDGETS)
def test_with_an_additive_counter_what_greedy_leaves_out_would_not_have_fitted(
    data: st.DataObject, template: Template, count: Callable[[str], int], budget: int
) -> None:
    template = attrs.evolve(template, chunk="[{content}]")  # no form depends on its place
    chunks = made(data.draw(chunks_for(greedy)))
    packed = pack(chunks, greedy, budget=budget, count_tokens=count, template=template)
    expected: list[str] = []
    taken: list[str] = []
    for one in sorted(chunks, key=lambda one: -one.score):
        if count(template.joined([*taken, f"[{one.content}]"])) <= budget:
            taken.append(f"[{one.content}]")
            expected.append(str(one.id))
    assert ids(packed) == expected


@pytest.mark.parametrize(
    "policy", [greedy, mmr(0.7) | ushape, knapsack, prefix | reverse], ids=repr
)
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_a_real_tokenizer_fits_and_fills(policy: Policy, name: str) -> None:
    pytest.importorskip("quicktok")
    count, random_ = tokenizer(name), random.Random(7)
    words = ["refunds", "parcel", "[1]", "\n\n", "<|endoftext|>", "返品", "gift-card", "12.50", "a"]
    chunks = [
        chunk(
            f"c{at}",
            random_.random(),
            " ".join(random_.choices(words, k=30)),
            metadata={"source": "kb"},
        )
        for at in range(40)
    ]
    packed = pack(
        chunks, policy, budget=700, count_tokens=count, template=Template(header="Sources\n")
    )
    check(packed, chunks, count)
    assert packed.report.utilization > 0.85
    assert packed.report.counter == name
    assert not packed.report.estimated


def test_joins_that_cost_more_push_the_least_valuable_out() -> None:
    def dear(text: str) -> int:
        return len(text) + 10 * max(text.count("#") - 1, 0)

    chunks = [chunk(f"c{at}", 0.9 - at / 10, "#" + "x" * 9) for at in range(4)]
    packed = pack(chunks, greedy | reverse, budget=43, count_tokens=dear, template=PLAIN)
    assert ids(packed) == ["c1", "c0"]  # 21 + 10, a third one makes 32 + 20
    out = {one.id: one for one in packed.report.excluded}
    assert set(out) == {"c2", "c3"}
    assert {one.reason for one in out.values()} == {Reason.BUDGET}
    assert {one.stage for one in out.values()} == {"greedy"}
    assert out["c3"].detail == "rendered text: 73 tokens with it, budget 43"
    check(packed, chunks, dear)


def test_what_is_gained_at_joins_is_filled() -> None:
    def merges(text: str) -> int:
        return len(text) - 4 * max(text.count("#") - 1, 0)

    chunks = [chunk(f"c{at}", 0.9 - at / 10, "#" + "x" * 9) for at in range(4)]
    packed = pack(chunks, greedy, budget=31, count_tokens=merges, template=PLAIN)
    assert ids(packed) == ["c0", "c1", "c2", "c3"]  # 43 characters, 12 of them merged: 31
    check(packed, chunks, merges)


def test_one_separator_fewer_than_chunks_is_charged() -> None:
    chunks = [chunk("a", 0.9, "aaaaa"), chunk("b", 0.8, "bbbbb")]
    packed = pack(chunks, greedy, budget=11, count_tokens=len, template=PLAIN)
    assert packed.text() == "aaaaa\nbbbbb"
    assert packed.report.tokens_used == 11


def test_ten_chunks_with_headings_and_rules_fit() -> None:
    chunks = [chunk(f"c{at}", 1 - at / 100, "x" * 10) for at in range(10)]
    template = Template("[{position}] {content}", separator="\n---\n")
    packed = pack(chunks, greedy, budget=100, count_tokens=len, template=template)
    assert len(packed) == 5
    assert len(packed.text()) == packed.report.rendered_tokens == 5 * 14 + 4 * 5


def test_overhead_is_charged_beside_the_text() -> None:
    chunks = [chunk("a", 0.9, "aaaaa"), chunk("b", 0.8, "bbbbb")]
    packed = pack(chunks, greedy, budget=14, overhead=2, count_tokens=len, template=PLAIN)
    assert ids(packed) == ["a"]
    assert (packed.report.tokens_used, packed.report.rendered_tokens) == (7, 5)


# -- header and footer ----------------------------------------------------------------------


def test_nothing_packed_is_an_empty_text_and_never_a_header_alone() -> None:
    template = Template("{content}", header="Sources:\n", footer="\nEnd")
    for chunks in ([], [chunk("a", 0.9, "x" * 80)], [Chunk(" \n", 0.5)]):
        packed = pack(chunks, greedy, budget=50, count_tokens=len, template=template)
        assert packed.text() == ""
        assert (packed.report.rendered_tokens, packed.report.tokens_used) == (0, 0)


def test_a_chunk_that_the_header_leaves_no_room_for_says_so() -> None:
    template = Template("{content}", header="h" * 30)
    packed = pack(
        [chunk("a", 0.9, "x" * 80)], greedy, budget=100, count_tokens=len, template=template
    )
    assert packed.why("a") == (
        "a is out, budget, by greedy: needs 10 more tokens, header and footer cost 30".replace(
            ", header", "; header"
        )
    )


def test_a_header_beyond_the_budget_puts_every_chunk_out() -> None:
    template = Template("{content}", header="h" * 70, footer="f" * 40)
    chunks = [chunk("a", 0.9, "x"), chunk("b", 0.8, "y")]
    packed = pack(chunks, mmr() | ushape, budget=100, count_tokens=len, template=template)
    assert not len(packed)
    assert {out.detail for out in packed.report.excluded} == {
        "header and footer alone cost 110 tokens of a budget of 100"
    }
    check(packed, chunks, len)


@pytest.mark.parametrize("policy", [greedy, mmr(), knapsack, prefix], ids=repr)
def test_a_header_of_the_whole_budget_leaves_room_for_nothing(policy: Policy) -> None:
    chunks = [chunk("a", 0.9, "x"), chunk("b", 0.8, "y")]
    template = Template("{content}", separator="", header="h" * 10)
    packed = pack(chunks, policy, budget=10, count_tokens=len, template=template)
    assert not len(packed)
    check(packed, chunks, len)


# -- what is written ------------------------------------------------------------------------


def test_positions_are_those_of_the_output() -> None:
    chunks = [chunk("a", 0.9, "first"), chunk("b", 0.8, "second")]
    packed = pack(chunks, greedy | reverse, budget=99, template=Template("[{position}] {content}"))
    assert packed.text() == "[1] second\n\n[2] first"


def test_braces_and_special_tokens_in_a_chunk_are_text() -> None:
    text = "{position} {0} {{x}} %s <|endoftext|> {metadata[source]}"
    packed = pack([chunk("a", 0.9, text)], greedy, budget=99, template=Template("<{content}>"))
    assert packed.text() == f"<{text}>"


def test_the_tokens_that_a_chunk_came_with_are_not_what_is_charged() -> None:
    liar = chunk("a", 0.9, "x" * 4000, tokens=1)
    assert ids(pack([liar], greedy, budget=10)) == ["a"]  # trusted without a template
    packed = pack([liar], greedy, budget=10, template=PLAIN)
    assert not len(packed)
    modest = pack([chunk("a", 0.9, "x", tokens=5000)], greedy, budget=10, template=PLAIN)
    assert [(one.tokens, modest.report.tokens_used) for one in modest] == [(5000, 1)]


def test_the_score_that_is_written_is_the_one_that_came_in() -> None:
    from strategies import normalize

    given_ = [chunk("a", 8.0, "x"), chunk("b", 2.0, "y")]
    packed = pack(given_, normalize() | greedy, budget=99, template=Template("{score} {content}"))
    assert packed.text() == "8 x\n\n2 y"


# -- missing fields -------------------------------------------------------------------------


def test_a_chunk_without_a_field_is_refused_by_name() -> None:
    chunks = [
        chunk("a", 0.9, "x", metadata={"source": "kb"}),
        chunk("b", 0.1, "y"),
        chunk("c", 0.2, "z", metadata={"source": None}),
    ]
    with pytest.raises(PackError) as caught:
        pack(chunks, threshold(0.5) | greedy, budget=99, template=Template())
    assert caught.value.code == "INVALID_CHUNK"
    assert "'b' at 1: it has no {metadata[source]}" in caught.value.message
    assert [one["id"] for one in caught.value.details["chunks"]] == ["b", "c"]  # type: ignore[attr-defined]


def test_chunks_without_a_field_are_set_aside_where_that_is_asked_for() -> None:
    chunks = [chunk("a", 0.9, "x", metadata={"source": "kb"}), chunk("b", 0.1, "y")]
    packed = pack(chunks, greedy, budget=99, template=Template(), on_invalid="exclude")
    assert packed.text() == "[1] kb\nx"
    assert packed.why("b") == (
        "b is out, invalid, by pack: it has no {metadata[source]}, which the template writes"
    )


def test_what_is_blank_or_repeated_needs_no_field() -> None:
    chunks = [
        chunk("a", 0.9, "x", metadata={"source": "kb"}),
        chunk("a", 0.1, "y"),
        chunk("b", 0.5, "  "),
    ]
    assert pack(chunks, greedy, budget=99, template=Template()).text() == "[1] kb\nx"


# -- around it ------------------------------------------------------------------------------


def test_a_separator_beside_a_template_is_refused() -> None:
    packed = pack([chunk("a", 0.9, "x")], greedy, budget=99, template=PLAIN)
    with pytest.raises(PackError, match="give its separator as Template"):
        packed.text("\n")
    plain = pack([chunk("a", 0.9, "x"), chunk("b", 0.8, "y")], greedy, budget=99)
    assert (plain.text(), plain.text("-"), plain.text(separator="")) == ("x\n\ny", "x-y", "xy")
    assert plain.report.rendered_tokens is None


@pytest.mark.parametrize("wrong", ["{content}", 3, {}, Template], ids=repr)
def test_what_is_no_template_is_refused(wrong: Any) -> None:
    with pytest.raises(PackError, match="give a Template") as caught:
        pack([], greedy, budget=9, template=wrong)
    assert caught.value.code == "INVALID_PARAMETER"


def test_estimates_are_named_where_forms_are_counted_by_one() -> None:
    chunks = [chunk("a", 0.9, "x", tokens=1)]
    assert not pack(chunks, greedy, budget=9, count_tokens=approximate).report.estimated
    report = pack(chunks, greedy, budget=9, template=PLAIN).report
    assert report.estimated
    assert [warning.code for warning in report.warnings] == ["estimated-tokens"]


def test_optimality_is_of_what_was_charged_and_none_after_a_repair() -> None:
    def dear(text: str) -> int:
        return len(text) + 10 * max(text.count("#") - 1, 0)

    chunks = [chunk(f"c{at}", 0.9 - at / 10, "#" + "x" * 9) for at in range(4)]
    assert (
        pack(chunks, knapsack, budget=43, count_tokens=dear, template=PLAIN).report.optimality
        is None
    )
    found = pack(chunks, knapsack, budget=43, count_tokens=len, template=PLAIN).report.optimality
    assert found is not None
    assert found.proven


def test_a_selector_chooses_again_a_few_times_at_most() -> None:
    asked: list[int] = []

    def watch(chunks: Any, context: Any) -> Any:
        asked.append(context.budget)
        return chunks

    def merges(text: str) -> int:
        return len(text) - 9 * max(text.count("#") - 1, 0)

    chunks = [chunk(f"c{at}", 0.9, "#" + "x" * 9) for at in range(90)]
    packed = pack(chunks, custom(watch), budget=50, count_tokens=merges, template=PLAIN)
    assert 2 <= len(asked) <= 7
    assert len(packed) > 9  # charged 11 each, and worth 2
    check(packed, chunks, merges)


def test_select_over_arrays_renders_too() -> None:
    texts = ["#" + "x" * 9, "#" + "y" * 9, "#" + "z" * 30]
    packer = Packer(greedy | reverse, budget=21, count_tokens=len, template=PLAIN)
    pool = Pool.from_arrays([0.9, 0.8, 0.95], [1, 1, 1], texts=texts)
    assert packer.select(pool).ids == ["chunk-1", "chunk-0"]
    with pytest.raises(PackError, match="made from arrays without `texts`"):
        packer.select(Pool.from_arrays([0.9], [1]))


def test_a_rendered_result_is_equal_to_its_like_and_is_json() -> None:
    chunks = [chunk(f"c{at}", 0.9 - at / 10, "x" * 9) for at in range(4)]
    one, two = (pack(chunks, top(3) | greedy, budget=40, template=PLAIN) for _ in range(2))
    assert one == two
    report = json.loads(one.to_json())["report"]
    assert report["rendered_tokens"] == report["tokens_used"] == one.report.rendered_tokens


# -- where rules bind the selection ----------------------------------------------------------


@attrs.frozen(repr=False)
class Keeping(Selector):
    """Greedy, but for one chunk that must be in."""

    name = "keeping"
    kept: str

    def __call__(self, pool: Pool, /) -> Selection:
        rows = [row for row, id_ in enumerate(pool.ids) if id_ == self.kept]
        if not rows or pool.costs[rows].sum() > pool.budget:
            raise OverBudget(f"{self.kept} must be in")
        left = pool.budget - int(pool.costs[rows].sum())
        for row in np.argsort(-pool.scores, kind="stable").tolist():
            if row not in rows and pool.costs[row] <= left:
                rows.append(row)
                left -= int(pool.costs[row])
        return pool.select(rows)


def dear_together(text: str) -> int:
    return len(text) + 10 * max(text.count("#") - 1, 0)


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pool, "bound", property(lambda _: True))


@pytest.mark.usefixtures("bound")
@pytest.mark.parametrize("kept", ["c0", "c1", "c2"])
def test_what_must_be_in_stays_when_the_text_is_too_long(kept: str) -> None:
    chunks = [chunk(f"c{at}", 0.9 - at / 10, "#" + "x" * 9) for at in range(3)]
    packed = pack(chunks, Keeping(kept), budget=33, count_tokens=dear_together, template=PLAIN)
    others = [id_ for id_ in ("c0", "c1", "c2") if id_ != kept]
    assert ids(packed) == [kept, others[0]]
    [out] = packed.report.excluded
    assert (out.id, out.reason, out.stage) == (others[1], "budget", 'keeping("' + kept + '")')
    assert out.detail == "rendered text: 52 tokens with it, budget 33"
    check(packed, chunks, dear_together)


@pytest.mark.usefixtures("bound")
def test_what_must_be_in_and_does_not_fit_as_text_is_refused() -> None:
    def dear(text: str) -> int:
        return len(text) + 10 * (text.startswith("[1]"))

    chunks = [chunk(f"c{at}", 0.9 - at / 10, "#" + "x" * 9) for at in range(3)]
    with pytest.raises(PackError, match="costs 24 tokens as it is written, of a budget of 20") as e:
        pack(
            chunks,
            Keeping("c1"),
            budget=20,
            count_tokens=dear,
            template=Template("[{position}] {content}", separator="\n"),
        )
    assert e.value.code == "OVER_BUDGET"
