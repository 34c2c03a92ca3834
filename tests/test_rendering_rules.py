"""Rules hold for the text that is sent: after a repair, after a cut, with what joins gained."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer import Chunk, PackError, Template, pack
from packer.errors import Infeasible, OverBudget
from strategies import (
    cap,
    density,
    exclusive,
    field,
    greedy,
    knapsack,
    mmr,
    needs,
    pin,
    prefix,
    trim,
)
from tests.counters import COUNTERS

RULES = st.lists(
    st.sampled_from((pin(field("made") == 0), cap(1), cap(2), exclusive(), needs())),
    min_size=1,
    max_size=3,
    unique_by=repr,
)
SELECTORS = st.sampled_from((greedy, prefix, density, knapsack, mmr(0.5)))
TEXTS = st.lists(st.sampled_from(("aa", "bb.", "C", "é", "#")), min_size=1, max_size=12)


@st.composite
def chunk_lists(draw: st.DrawFn) -> list[Chunk]:
    found = []
    for at in range(draw(st.integers(1, 8))):
        metadata = {
            "source": draw(st.sampled_from("xyz")),
            "group": draw(st.sampled_from(("g", "h", None))),
            "parent": draw(st.sampled_from((None, None, "c0", "c1"))),
            "made": at,
        }
        score = draw(st.floats(0.0, 1.0))
        found.append(Chunk(" ".join(draw(TEXTS)), score, id=f"c{at}", metadata=metadata))
    return found


def broken(rules: list[Any], packed: list[dict[str, Any]], ids: set[str]) -> list[str]:
    """The rules that do not hold."""
    faults = []
    for rule in map(repr, rules):
        sources = [one["source"] for one in packed]
        groups = [one["group"] for one in packed if one["group"] is not None]
        if rule.startswith("pin") and "c0" not in ids:
            faults.append(rule)
        if rule.startswith("cap") and any(sources.count(key) > int(rule[4]) for key in sources):
            faults.append(rule)
        if rule.startswith("exclusive") and len(set(groups)) < len(groups):
            faults.append(rule)
        if rule.startswith("needs") and not {one["parent"] for one in packed} <= {*ids, None}:
            faults.append(rule)
    return faults


@settings(max_examples=400)
@given(
    chunk_lists(),
    RULES,
    SELECTORS,
    st.none() | st.integers(1, 5),
    st.sampled_from(COUNTERS),
    st.integers(5, 120),
    st.none() | st.just(Template("[{position}] {content}")),
)
def test_rules_hold_for_the_text_that_is_sent(
    chunks: list[Chunk],
    rules: list[Any],
    selector: Any,
    least: int | None,
    count: Callable[[str], int],
    budget: int,
    template: Template | None,
) -> None:
    cut = [] if least is None else [trim(least)]
    policy: Any = reduce(lambda left, right: left | right, [*rules, *cut, selector])
    try:
        packed = pack(chunks, policy, budget=budget, count_tokens=count, template=template)
    except (Infeasible, OverBudget):
        return
    if template is not None:
        assert (count(packed.text()) if len(packed) else 0) <= budget
    ids = {one.id for one in packed}
    assert not broken(rules, [dict(one.metadata) for one in packed], ids)
    out = [one.id for one in packed.report.excluded]
    assert sorted([*ids, *out]) == [one.id for one in chunks]


def test_a_pinned_chunk_stays_when_the_text_is_too_long() -> None:
    def dear(text: str) -> int:
        return len(text) + 10 * max(text.count("#") - 1, 0)

    chunks = [
        Chunk("#" + "x" * 9, 0.9 - at / 10, id=f"c{at}", metadata={"pinned": at == 2})
        for at in range(3)
    ]
    policy = pin(field("pinned") == True) | greedy  # noqa: E712  # it builds a condition
    packed = pack(
        chunks, policy, budget=33, count_tokens=dear, template=Template("{content}", separator="\n")
    )
    assert {one.id for one in packed} == {"c0", "c2"}
    assert packed.report.excluded[0].detail == "rendered text: 52 tokens with it, budget 33"


def test_pins_that_do_not_fit_as_text_are_refused() -> None:
    def dear(text: str) -> int:
        return len(text) + 10 * max(text.count("#") - 1, 0)

    chunks = [Chunk("#" + "x" * 9, 0.9, id=f"c{at}", metadata={"p": 1}) for at in range(2)]
    with pytest.raises(PackError, match="31 tokens as it is written, of a budget of 25") as caught:
        pack(
            chunks,
            pin(field("p") == 1) | greedy,
            budget=25,
            count_tokens=dear,
            template=Template("{content}", separator="\n"),
        )
    assert caught.value.code == "OVER_BUDGET"


LINES = Template("{content}", separator="\n")


def dear_marks(text: str) -> int:
    """One per character, and ten for each # after the first."""
    return len(text) + 10 * max(text.count("#") - 1, 0)


def family() -> list[Chunk]:
    return [
        Chunk("#child", 0.9, id="child", metadata={"parent": "head"}),
        Chunk("#head", 0.1, id="head"),
        Chunk("#other", 0.5, id="other"),
        Chunk("#kid", 0.2, id="kid", metadata={"parent": "head"}),
    ]


@pytest.mark.parametrize(
    ("budget", "wanted", "gone"),
    [
        (60, {"head", "child", "other", "kid"}, {}),
        (50, {"head", "child", "other"}, {"kid": "rendered text: 54 tokens with it, budget 50"}),
        (
            35,
            {"head", "child"},
            {
                "kid": "rendered text: 54 tokens with it, budget 35",
                "other": "rendered text: 39 tokens with it, budget 35",
            },
        ),
        (
            20,  # head and child are 22, so the one that is worth more than the head alone is in
            {"other"},
            {
                "child": "rendered text: 22 tokens with it, budget 20",
                "head": "its room went to 'other', which is worth more",
            },
        ),
    ],
)
def test_a_repair_takes_what_is_worth_least_with_all_that_needs_it(
    budget: int, wanted: set[str], gone: dict[str, str]
) -> None:
    packed = pack(
        family(), needs() | greedy, budget=budget, count_tokens=dear_marks, template=LINES
    )
    assert {one.id for one in packed} == wanted
    told = {out.id: out.detail for out in packed.report.excluded}
    assert {id_: told[id_] for id_ in gone} == gone
    assert all(out.reason == "budget" for out in packed.report.excluded)


def test_pins_are_in_where_their_text_fits_though_their_charges_do_not() -> None:
    def free_breaks(text: str) -> int:
        return len(text.replace("\n", "")) + 1

    chunks = [Chunk(letter * 4, 0.5, id=letter, metadata={"p": letter != "c"}) for letter in "abc"]
    policy = pin(field("p") == True) | greedy  # noqa: E712
    for budget in range(9, 13):  # each is charged 5
        packed = pack(chunks, policy, budget=budget, count_tokens=free_breaks, template=LINES)
        assert [one.id for one in packed] == ["a", "b"]
        assert packed.report.tokens_used == 9
    packed = pack(chunks, policy, budget=14, count_tokens=free_breaks, template=LINES)
    assert [one.id for one in packed] == ["a", "b", "c"]
    with pytest.raises(OverBudget) as caught:
        pack(chunks, policy, budget=8, count_tokens=free_breaks, template=LINES)
    assert caught.value.message == (
        "what must be in ('a', 'b') costs 9 tokens as it is written, of a budget of 8; "
        "raise the budget, or ask for less"
    )
    assert caught.value.details == {"ids": ("a", "b"), "tokens": 9, "budget": 8}


def test_a_pin_is_not_refused_for_the_widest_position() -> None:
    chunks = [Chunk("x", 0.1 + at / 1000, id=f"c{at}", metadata={"at": at}) for at in range(100)]
    packed = pack(
        chunks,
        pin(field("at") == 0) | greedy,
        budget=4,  # "[1]x", but "[100]x" is charged
        count_tokens=len,
        template=Template("[{position}]{content}", separator=""),
    )
    assert packed.text() == "[1]x"


def test_nothing_must_be_in_where_no_rule_wants_it() -> None:
    def dear(text: str) -> int:
        return 100 * len(text)

    chunks = [Chunk(letter, 0.5, id=letter, metadata={"source": "s"}) for letter in "ab"]
    packed = pack(chunks, cap(1) | greedy, budget=50, count_tokens=dear, template=LINES)
    assert (len(packed), packed.report.tokens_used) == (0, 0)
