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
