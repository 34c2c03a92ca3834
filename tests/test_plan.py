"""Sections share a window: it is split by minimum, share and priority, and the whole text fits."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer import (
    Budget,
    Chunk,
    PackError,
    Plan,
    Section,
    Template,
    approximate,
    pack,
    sections,
    tokenizer,
)
from packer.errors import Infeasible, OverBudget
from strategies import field, greedy, mmr, pin, threshold, top, trim, ushape
from tests.counters import COUNTERS
from tests.generators import NOW, QUERY, chunks_for, policies
from tests.test_rendering import TEMPLATES, made


@st.composite
def parts(draw: st.DrawFn, window: int, policy: Any = None) -> list[Section]:
    """Up to four sections whose minima fit and whose shares are at most 1."""
    found = []
    left, shares = window, 1.0
    for at in range(draw(st.integers(1, 4))):
        minimum = draw(st.just(0) | st.integers(0, left))
        left -= minimum
        share = draw(st.just(0.0) | st.floats(0.0, shares))
        shares = max(shares - share, 0.0)
        maximum = draw(st.none() | st.integers(minimum, window + 5))
        found.append(
            Section(
                f"s{at}",
                draw(st.just(greedy) if policy is None else policy),
                minimum=minimum,
                maximum=maximum,
                share=share,
            )
        )
    return found


# -- the split ------------------------------------------------------------------------------


@given(st.data(), st.integers(1, 200))
def test_the_split_adds_up_within_its_limits(data: st.DataObject, window: int) -> None:
    listed = data.draw(parts(window))
    demands = None
    if data.draw(st.booleans()):
        demands = {part.name: data.draw(st.integers(0, 250)) for part in listed}
    got = sections(window, listed, demands)
    assert list(got) == [part.name for part in listed]
    caps, goals = {}, {}
    for part in listed:
        most = window if part.maximum is None else min(part.maximum, window)
        caps[part.name] = min(most, (demands or {}).get(part.name, window))
        floor = min(part.minimum, caps[part.name])
        goals[part.name] = min(max(int(part.share * window), floor), caps[part.name])
        assert floor <= got[part.name] <= caps[part.name]
    assert sum(got.values()) == min(window, sum(caps.values()))
    for at, part in enumerate(listed):  # nobody has more than its share while one before lacks
        if got[part.name] > goals[part.name]:
            assert all(got[one.name] == caps[one.name] for one in listed[:at])
            assert all(got[one.name] >= goals[one.name] for one in listed)


def test_a_split_by_hand() -> None:
    listed = [
        Section("rules", greedy, minimum=50, maximum=100),
        Section("examples", greedy, share=0.3),
        Section("documents", greedy, minimum=300, share=0.5),
    ]
    assert sections(1000, listed) == {"rules": 100, "examples": 400, "documents": 500}
    assert sections(1000, listed, {"rules": 20, "examples": 100, "documents": 9000}) == {
        "rules": 20,
        "examples": 100,
        "documents": 880,
    }
    assert sections(Budget(1000, reserve=600), listed) == {
        "rules": 50,
        "examples": 50,
        "documents": 300,
    }


def test_minima_that_do_not_fit_are_refused_with_the_numbers() -> None:
    listed = [Section("a", greedy, minimum=60), Section("b", greedy, minimum=50)]
    for refused in (lambda: sections(100, listed), lambda: Plan(listed, budget=100)):
        with pytest.raises(PackError, match=r"a 60 \+ b 50") as caught:
            refused()
        assert caught.value.code == "INFEASIBLE"
        assert "110" in caught.value.message or "111" in caught.value.message
        assert caught.value.details == {"minima": {"a": 60, "b": 50}, "budget": 100}
    with pytest.raises(PackError, match="separators 1 = 111 tokens do not fit in a budget of 110"):
        Plan(listed, budget=110)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "name is ''"),
        ({"minimum": -1}, "minimum is -1"),
        ({"minimum": 2.0}, "minimum is 2.0"),
        ({"minimum": 5, "maximum": 4}, "maximum is 4; give an int of at least 5"),
        ({"share": 1.5}, "share is 1.5"),
        ({"share": float("nan")}, "share is nan"),
        ({"share": True}, "share is True"),
        ({"template": "{content}"}, "give a Template"),
        ({"policy": threshold(0.5)}, "is no policy"),
    ],
    ids=repr,
)
def test_a_section_is_checked_when_it_is_made(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PackError, match=message):
        Section(**{"name": "a", "policy": greedy, **arguments})


def test_names_and_shares_are_checked_together() -> None:
    a = Section("a", greedy, share=0.6)
    with pytest.raises(PackError, match="two sections are named 'a'"):
        sections(100, [a, a])
    with pytest.raises(PackError, match=r"a 0.6 \+ b 0.6 are 1.2 of the window"):
        Plan([a, attrs.evolve(a, name="b")], budget=100)
    for wrong in ([], None, "a", [a, "b"]):
        with pytest.raises(PackError, match="give a list of Section"):
            Plan(wrong, budget=100)
    with pytest.raises(PackError, match="no section 'aa'; did you mean 'a'"):
        sections(100, [a], {"aa": 3})
    with pytest.raises(PackError, match="demand is -3"):
        sections(100, [a], {"a": -3})


# -- the whole prompt -----------------------------------------------------------------------


@settings(max_examples=200)
@given(
    st.data(),
    st.integers(1, 150),
    st.sampled_from(COUNTERS),
    st.sampled_from(("", "\n\n", "\n=====\n")),
)
def test_the_whole_text_fits_whatever_the_counter(
    data: st.DataObject, window: int, count: Callable[[str], int], separator: str
) -> None:
    listed = [
        attrs.evolve(part, template=data.draw(TEMPLATES))
        for part in data.draw(parts(window, policies()))
    ]
    try:
        plan = Plan(listed, budget=window, separator=separator, count_tokens=count)
    except Infeasible:  # with what the separators cost
        return
    chunks = {
        part.name: made(data.draw(chunks_for(part.policy, max_size=6)))
        for part in listed
        if data.draw(st.booleans())
    }
    try:
        packed = plan.pack(chunks, query=QUERY, now=NOW)
    except (Infeasible, OverBudget):  # rules of a policy
        return
    text, report = packed.text(), packed.report
    assert text == separator.join(one.text() for one in packed.sections.values() if len(one))
    nonempty = any(len(one) for one in packed.sections.values())
    assert report.tokens_used == (count(text) if nonempty else 0) <= window
    assert report.tokens_used + report.tokens_remaining == report.budget == window
    used = sum(one.report.tokens_used for one in packed.sections.values())
    assert report.joins == report.tokens_used - used
    assert list(packed) == [part.name for part in listed]
    for part in listed:
        given_ = chunks.get(part.name, [])
        one = packed[part.name]
        assert one.report.selected_count + one.report.excluded_count == len(given_)
        assert one.report.tokens_used <= report.allotted[part.name]
        if part.maximum is not None:
            assert one.report.tokens_used <= part.maximum
    assert plan.pack(chunks, query=QUERY, now=NOW) == packed


def words(text: str) -> int:
    return len(text.split())


def chunks(name: str, *sizes: int) -> list[Chunk]:
    return [
        Chunk(" ".join([f"{name}{at}"] * size), 1 - at / 100, id=f"{name}{at}")
        for at, size in enumerate(sizes)
    ]


def plan(*listed: Section, budget: int, **more: Any) -> Plan:
    return Plan(listed, budget=budget, count_tokens=words, **more)


def used(packed: Any) -> Mapping[str, int]:
    return {name: one.report.tokens_used for name, one in packed.sections.items()}


def test_all_that_fits_is_in() -> None:
    found = plan(Section("a", greedy), Section("b", greedy), budget=30).pack(
        {"a": chunks("a", 10, 5), "b": chunks("b", 15)}
    )
    assert used(found) == {"a": 15, "b": 15}
    assert found.report.tokens_remaining == 0


def test_a_minimum_holds_against_a_greedy_neighbour() -> None:
    found = plan(Section("a", greedy), Section("b", greedy, minimum=20), budget=50).pack(
        {"a": chunks("a", *[10] * 9), "b": chunks("b", 10, 10, 10)}
    )
    assert used(found) == {"a": 30, "b": 20}


def test_what_one_leaves_flows_to_the_others_in_order() -> None:
    listed = [Section("a", greedy, share=0.5), Section("b", greedy, share=0.5)]
    much, little = chunks("x", *[10] * 9), chunks("y", 10)
    assert used(plan(*listed, budget=60).pack({"a": much, "b": little})) == {"a": 50, "b": 10}
    assert used(plan(*listed, budget=60).pack({"a": little, "b": much})) == {"a": 10, "b": 50}
    assert used(plan(*listed, budget=60).pack({"b": much})) == {"a": 0, "b": 60}
    # chunks of 10 leave 5 of each half; together the first can use them
    assert used(plan(*listed, budget=50).pack({"a": much, "b": much})) == {"a": 30, "b": 20}


def test_a_maximum_is_never_passed() -> None:
    listed = [Section("a", greedy, maximum=25), Section("b", greedy)]
    found = plan(*listed, budget=90).pack({"a": chunks("a", *[10] * 9), "b": chunks("b", 10)})
    assert used(found) == {"a": 20, "b": 10}


def test_the_separators_and_headers_are_charged() -> None:
    titled = Template("{content}", header="# Title\n")
    listed = [Section("a", greedy, template=titled), Section("b", greedy, template=titled)]
    found = plan(*listed, budget=15, separator="\n---\n").pack(
        {"a": chunks("a", 5), "b": chunks("b", 5)}
    )
    assert found.report.tokens_used == 2 + 5 + 1 + 2 + 5 == words(found.text())
    assert found.report.joins == 1
    tight = plan(*listed, budget=14, separator="\n---\n").pack(
        {"a": chunks("a", 5), "b": chunks("b", 5)}
    )
    assert tight.text() == "# Title\na0 a0 a0 a0 a0"  # no separator, no title alone


def test_a_section_of_nothing_leaves_no_trace_in_the_text() -> None:
    found = plan(Section("a", greedy), Section("b", greedy), budget=9).pack({"b": chunks("b", 3)})
    assert found.text() == "b0 b0 b0"
    assert plan(Section("a", greedy), budget=9).pack({}).text() == ""


def test_joins_that_cost_more_make_the_last_section_give_way() -> None:
    def dear(text: str) -> int:
        return words(text) + (20 if "a0" in text and "b0" in text else 0)

    listed = [Section("a", greedy), Section("b", greedy)]
    found = Plan(listed, budget=30, count_tokens=dear).pack(
        {"a": chunks("a", 5, 5), "b": chunks("b", 5, 5)}
    )
    assert found.text().split() == ["a0"] * 5 + ["a1"] * 5
    floored = [Section("a", greedy), Section("b", greedy, minimum=5)]
    found = Plan(floored, budget=30, count_tokens=dear).pack(
        {"a": chunks("a", 5, 5), "b": chunks("b", 5, 5)}
    )
    assert used(found) == {"a": 5, "b": 5}


def test_a_text_is_one_chunk_with_the_name_of_its_section() -> None:
    found = plan(Section("rules", greedy), budget=9).pack({"rules": "Answer in one line."})
    assert [one.id for one in found["rules"]] == ["rules"]
    assert found.why("rules").startswith("rules: rules is in at position 0 of 1")


def test_each_section_has_its_own_policy_and_report() -> None:
    listed = [
        Section("a", top(1) | greedy),
        Section("b", trim() | greedy | ushape, maximum=5),
    ]
    found = plan(*listed, budget=30).pack({"a": chunks("a", 3, 3), "b": chunks("b", 3, 9)})
    assert used(found) == {"a": 3, "b": 5}
    assert found["a"].report.policy == "top(1) | greedy"
    assert found.why("a1") == "a: a1 is out, max-candidates, by top(1): rank 2 by score, limit 1"
    assert (found.report.selected_count, found.report.excluded_count) == (3, 1)
    with pytest.raises(PackError, match="no chunk of any section has the id 'x'"):
        found.why("x")


def test_examples_are_chosen_by_likeness_to_the_request_and_by_diversity() -> None:
    examples = [
        Chunk("Q: refund? A: 5 days", 0.9, id="refund-1", embedding=[1, 0]),
        Chunk("Q: refunds? A: 5 days", 0.89, id="refund-2", embedding=[1, 0.01]),
        Chunk("Q: shipping? A: Monday", 0.6, id="shipping", embedding=[0, 1]),
    ]
    found = plan(Section("examples", mmr(0.5)), budget=10).pack({"examples": examples})
    assert [one.id for one in found["examples"]] == ["refund-1", "shipping"]


@pytest.mark.parametrize("wrong", [{"c": []}, None, [("a", [])], "a"], ids=repr)
def test_chunks_come_by_the_names_of_sections(wrong: Any) -> None:
    with pytest.raises(PackError, match=r"names of sections \(a, b\)"):
        plan(Section("a", greedy), Section("b", greedy), budget=9).pack(wrong)


def test_bad_chunks_are_refused_or_set_aside_as_in_pack() -> None:
    bad: Sequence[Any] = [Chunk("x", float("nan"), id="x"), Chunk("y", 0.5, id="y")]
    with pytest.raises(PackError, match="score is nan"):
        plan(Section("a", greedy), budget=9).pack({"a": bad})
    found = plan(Section("a", greedy), budget=9, on_invalid="exclude").pack({"a": bad})
    assert [one.id for one in found["a"]] == ["y"]


def test_a_counter_is_asked_once_for_each_text() -> None:
    asked: list[str] = []

    def watch(text: str) -> int:
        asked.append(text)
        return words(text)

    listed = [Section(name, greedy) for name in "abc"]
    given_ = {name: chunks(name, *[7] * 20) for name in "abc"}
    made_ = Plan(listed, budget=100, count_tokens=watch)
    asked.clear()
    made_.pack(given_)
    assert len(asked) <= len(set(asked)) + 4  # a packer counts its separator with the caller's


def test_a_plan_says_what_counted() -> None:
    given_ = {"a": chunks("a", 3)}
    assert Plan([Section("a", greedy)], budget=90).pack(given_).report.estimated
    pytest.importorskip("quicktok")
    exact = Plan([Section("a", greedy)], budget=90, count_tokens=tokenizer("o200k_base"))
    report = exact.pack(given_).report
    assert (report.counter, report.estimated) == ("o200k_base", False)


def test_a_plan_of_one_section_is_a_pack_with_a_template() -> None:
    template = Template("[{position}] {content}", header="Sources\n")
    given_ = chunks("a", *range(1, 20))
    one = Plan(
        [Section("a", mmr(0.7) | ushape, template=template)], budget=60, count_tokens=words
    ).pack({"a": given_}, now=NOW)
    other = pack(
        given_, mmr(0.7) | ushape, budget=60, count_tokens=words, template=template, now=NOW
    )
    assert one.text() == other.text()
    assert one["a"].chunks == other.chunks


def test_the_outcome_is_json() -> None:
    found = plan(Section("a", greedy), budget=Budget(19, reserve=10).available).pack(
        {"a": chunks("a", 3)}
    )
    read = json.loads(found.to_json())
    assert read["report"]["budget"] == 9
    assert read["report"]["sections"]["a"]["tokens_used"] == 3
    assert read["sections"]["a"]["chunks"][0]["id"] == "a0"
    assert read["text"] == found.text()


def test_the_json_of_an_outcome_with_lone_surrogates_can_be_encoded() -> None:
    lone = "a lone \ud800 surrogate"
    found = plan(Section("a", greedy), budget=9).pack({"a": [Chunk(lone, 0.5, id="\udfff")]})
    read = json.loads(found.to_json().encode())
    assert read["text"] == lone
    assert read["sections"]["a"]["chunks"][0]["id"] == "\udfff"
    assert json.loads(found.to_json(indent=1).encode()) == read == found.to_dict()


def test_a_plan_checks_its_call() -> None:
    part: list[Section] = [Section("a", greedy)]
    for arguments, message in (
        ({"budget": 0}, "budget is 0"),
        ({"budget": 9, "separator": 3}, "separator is 3"),
        ({"budget": 9, "count_tokens": None}, "count_tokens is None"),
    ):
        with pytest.raises(PackError, match=message):
            Plan(part, **arguments)
    with pytest.raises(PackError, match="query is 3"):
        Plan(part, budget=9).pack({}, query=3)  # type: ignore[arg-type]
    assert Plan(part, budget=9).count_tokens is approximate


# -- rules of a section ---------------------------------------------------------------------


def dear_joins(text: str) -> int:
    return len(text.split()) + 2 * text.count("\n\n")


def worded(name: str, count_: int) -> list[Chunk]:
    return [
        Chunk(f"{name}{at} word word word", 0.9 - at / 10, id=f"{name}{at}", metadata={"of": name})
        for at in range(count_)
    ]


def pinned_section(name: str) -> Section:
    return Section(name, pin(field("of") == name) | greedy)


@pytest.mark.parametrize(
    ("budget", "of_b", "used"),
    [(14, [], 10), (16, ["b0"], 16), (22, ["b0", "b1"], 22)],
)
def test_a_section_whose_rules_hold_it_lets_the_other_give_way(
    budget: int, of_b: list[str], used: int
) -> None:
    parts_ = [pinned_section("a"), Section("b", greedy)]
    for listed in (parts_, parts_[::-1]):
        packed = Plan(listed, budget=budget, count_tokens=dear_joins).pack(
            {"a": worded("a", 2), "b": worded("b", 4)}
        )
        assert [one.id for one in packed["a"]] == ["a0", "a1"]
        assert [one.id for one in packed["b"]] == of_b
        assert packed.report.tokens_used == used


def test_what_must_be_in_and_does_not_fit_names_its_sections() -> None:
    with pytest.raises(OverBudget) as caught:
        Plan([pinned_section("a")], budget=8, count_tokens=dear_joins).pack({"a": worded("a", 2)})
    assert caught.value.message.startswith("section 'a': what must be in ('a0', 'a1') costs 10")
    assert caught.value.details["section"] == "a"
    both = Plan([pinned_section("a"), pinned_section("b")], budget=14, count_tokens=dear_joins)
    with pytest.raises(OverBudget) as caught:
        both.pack({"a": worded("a", 2), "b": worded("b", 2)})
    assert caught.value.message == (
        "what must be in the sections a 10 + b 10 + separators 2 = 22 tokens does not fit in a "
        "budget of 14; raise the budget, or pin less"
    )


def test_the_separator_of_an_empty_section_is_not_kept_back() -> None:
    listed = [
        Section("a", greedy),
        Section("b", greedy, maximum=3),
        Section("c", greedy, maximum=3),
    ]
    packed = Plan(listed, budget=10, count_tokens=dear_joins).pack(
        {name: worded(name, 2) for name in "abc"}
    )
    assert [one.id for one in packed["a"]] == ["a0", "a1"]  # 10 with their own join
    minima = [
        Section("a", greedy, minimum=5),
        Section("b", greedy, minimum=5),
        Section("c", greedy),
    ]
    packed = Plan(minima, budget=12, count_tokens=dear_joins).pack(
        {name: worded(name, 2) for name in "abc"}
    )
    assert {name: len(packed[name]) for name in packed} == {"a": 1, "b": 1, "c": 0}
