"""Rules hold inside every selector, with back-fill."""

import math
from functools import reduce
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import (
    Chunk,
    Filter,
    Packed,
    PackError,
    Policy,
    Pool,
    Reason,
    Selection,
    Selector,
    Template,
    pack,
)
from strategies import (
    CATALOG,
    cap,
    coverage,
    custom,
    dedup,
    density,
    distinct,
    dpp,
    exclusive,
    field,
    greedy,
    knapsack,
    mmr,
    needs,
    parse,
    pin,
    prefix,
    quota,
    threshold,
)
from tests.naive_constraints import allowed, allows

TEXTS = [
    "refunds take five days",
    "refunds take five days!",
    "refunds take seven days",
    "we ship on every working day",
    "we ship on each working day",
    "gift cards cannot be returned",
]
SELECTORS: list[Selector] = [
    greedy,
    density,
    prefix,
    mmr(0.6),
    coverage(0.4, cost_power=1.0),
    dpp(0.4),
    knapsack,
    custom(lambda chunks, _: chunks[::-1]),
]


@st.composite
def pools(draw: st.DrawFn, most: int = 9) -> list[Chunk]:
    size = draw(st.integers(1, most))
    names = [f"c{i}" for i in range(size)]
    optional = st.none() | st.sampled_from(["a", "b"])
    return [
        Chunk(
            draw(st.sampled_from(TEXTS)),
            draw(st.integers(1, 20)) / 20,
            id=name,
            tokens=draw(st.integers(0, 12)),
            metadata={
                "source": draw(optional),
                "group": draw(optional),
                "parent": draw(st.none() | st.none() | st.sampled_from([*names, "gone"])),
                "also": draw(st.none() | st.none() | st.sampled_from(names)),
                "must": draw(st.integers(0, 7)) == 0,
            },
        )
        for name in names
    ]


RULES = st.one_of(
    st.just(pin(field("must") == True)),  # noqa: E712 (a condition)
    st.builds(cap, st.integers(0, 3), by=st.sampled_from(["source", "group"])),
    st.builds(exclusive, st.sampled_from(["source", "group"])),
    st.builds(distinct, st.sampled_from([0.5, 0.8, 1.0])),
    st.just(needs()),
    st.just(needs("also")),
    st.builds(
        quota,
        min=st.none() | st.integers(0, 6),
        max=st.none() | st.integers(6, 20),
        by=st.sampled_from(["source", "group"]),
        unit=st.sampled_from(["tokens", "chunks"]),
    ),
)
SETS = st.lists(RULES, min_size=1, max_size=4)


def policy(rules: list[Filter], selector: Selector) -> Policy:
    return reduce(lambda after, rule: rule | after, reversed(rules), selector)


def ids(packed: Packed) -> list[str]:
    return [chunk.id for chunk in packed]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: selector.name)
@given(chunks=pools(), rules=SETS, budget=st.integers(1, 60))
def test_every_selector_obeys_every_rule(
    selector: Selector, chunks: list[Chunk], rules: list[Filter], budget: int
) -> None:
    possible = allowed(rules, chunks, budget)
    try:
        packed = pack(chunks, policy(rules, selector), budget=budget)
    except PackError as error:
        assert error.code in {"OVER_BUDGET", "INFEASIBLE"}  # noqa: PT017  # either may happen
        assert not possible
        return
    assert possible
    chosen = [chunk for chunk in chunks if chunk.id in ids(packed)]
    assert sum(chunk.tokens or 0 for chunk in chosen) <= budget
    for rule in rules:
        assert allows(rule, chunks, chosen), rule
    excluded = [out.id for out in packed.report.excluded]
    assert sorted(ids(packed) + excluded) == sorted(chunk.id or "" for chunk in chunks)


@given(chunks=pools(), rules=SETS, budget=st.integers(1, 60))
def test_the_knapsack_is_optimal_under_rules(
    chunks: list[Chunk], rules: list[Filter], budget: int
) -> None:
    possible = allowed(rules, chunks, budget)
    if not possible:
        with pytest.raises(PackError):
            pack(chunks, policy(rules, knapsack), budget=budget)
        return
    best = max(math.fsum(chunk.score for chunk in some) for some in possible)
    report = pack(chunks, policy(rules, knapsack), budget=budget).report
    assert report.optimality is not None
    assert report.optimality.proven
    assert report.optimality.value == pytest.approx(best, abs=1e-9)
    assert report.optimality.bound >= best - 1e-12


@given(chunks=pools(6), rules=st.lists(RULES, min_size=2, max_size=3), budget=st.integers(1, 40))
def test_rules_compose_in_any_order(chunks: list[Chunk], rules: list[Filter], budget: int) -> None:
    def outcome(some: tuple[Filter, ...]) -> Any:
        try:
            packed = pack(chunks, policy(list(some), greedy), budget=budget)
        except PackError as error:
            return error.code, error.message
        return ids(packed), packed.report.excluded

    outcomes = [outcome(some) for some in permutations(rules)]
    assert all(one == outcomes[0] for one in outcomes)


def chunk(id: str, score: float, tokens: int, text: str = "", **metadata: object) -> Chunk:  # noqa: A002
    return Chunk(text or f"text of {id}", score, id=id, tokens=tokens, metadata=metadata)


def reasons(packed: Packed) -> dict[str, tuple[str, str, str | None]]:
    return {out.id: (str(out.reason), out.stage, out.detail) for out in packed.report.excluded}


def test_a_cap_gives_its_room_to_the_next_of_other_keys() -> None:
    chunks = [
        chunk("a1", 0.9, 10, source="a"),
        chunk("a2", 0.8, 10, source="a"),
        chunk("b1", 0.7, 10, source="b"),
        chunk("free", 0.6, 10),
    ]
    packed = pack(chunks, cap(1) | greedy, budget=30)
    assert ids(packed) == ["a1", "b1", "free"]
    assert reasons(packed) == {"a2": ("quota", "cap(1)", "source 'a' has all of its 1 chunks")}


def test_a_cheaper_copy_comes_in_when_the_better_does_not_fit() -> None:
    chunks = [
        chunk("long", 0.9, 100, "refunds take five days"),
        chunk("short", 0.8, 10, "refunds take five days"),
    ]
    assert ids(pack(chunks, distinct(0.85) | greedy, budget=20)) == ["short"]
    assert ids(pack(chunks, dedup(0.85) | greedy, budget=20)) == []
    packed = pack(chunks, distinct(0.85) | greedy, budget=110)
    assert ids(packed) == ["long"]
    [out] = packed.report.excluded
    assert (out.reason, out.redundant_with, out.similarity) == (Reason.REDUNDANT, "long", 1.0)


def test_of_variants_the_knapsack_takes_the_best_mix() -> None:
    chunks = [
        chunk("a full", 1.0, 100, group="a"),
        chunk("a short", 0.8, 40, group="a"),
        chunk("b full", 0.9, 100, group="b"),
        chunk("b short", 0.7, 30, group="b"),
    ]
    packed = pack(chunks, exclusive() | knapsack, budget=140)
    assert sorted(ids(packed)) == ["a full", "b short"]
    assert packed.report.optimality is not None
    assert packed.report.optimality.value == pytest.approx(1.7)
    assert reasons(packed)["a short"][:2] == ("exclusive", 'exclusive("group")')


def test_a_chunk_brings_what_it_needs() -> None:
    chunks = [
        chunk("row", 0.9, 10, parent="table"),
        chunk("table", 0.1, 10),
        chunk("other", 0.8, 15),
        chunk("lost", 0.7, 1, parent="gone"),
    ]
    packed = pack(chunks, needs() | greedy, budget=20)
    assert ids(packed) == ["table", "row"]
    assert reasons(packed)["lost"] == (
        "needs",
        'needs("parent")',
        "needs 'gone', which is no candidate",
    )
    packed = pack(chunks, needs() | greedy, budget=15)
    assert ids(packed) == ["other"]
    assert reasons(packed)["row"][0] == "budget"


def test_pins_are_charged_first_and_no_filter_drops_them() -> None:
    chunks = [
        chunk("rule", 0.1, 60, kind="system"),
        chunk("best", 0.9, 60),
        chunk("small", 0.5, 30),
    ]
    packed = pack(chunks, pin(field("kind") == "system") | threshold(0.4) | greedy, budget=100)
    assert ids(packed) == ["rule", "small"]


def test_a_minimum_is_met_before_the_rest_is_filled() -> None:
    chunks = [chunk(f"a{i}", 0.9 - i / 100, 10, source="a") for i in range(5)]
    chunks += [chunk(f"b{i}", 0.3 - i / 100, 10, source="b") for i in range(3)]
    packed = pack(chunks, quota(min=20) | greedy, budget=50)
    assert sorted(ids(packed)) == ["a0", "a1", "a2", "b0", "b1"]
    packed = pack(chunks, quota(min=2, max=2, unit="chunks") | knapsack, budget=50)
    assert sorted(ids(packed)) == ["a0", "a1", "b0", "b1"]


@pytest.mark.parametrize(
    ("rules", "budget", "code", "words"),
    [
        (pin(field("kind") == "pin"), 100, "OVER_BUDGET", "pins a and b need 120 of 100 tokens"),
        (pin(field("only") == 1), 50, "OVER_BUDGET", "pin a needs 60 of 50 tokens"),
        (
            pin(field("kind") == "pin") | cap(0),
            200,
            "INFEASIBLE",
            "a is pinned, which cap(0) forbids",
        ),
        (
            pin(field("only") == 1) | needs() | cap(0, by="top"),
            200,
            "INFEASIBLE",
            'a is pinned and needs b, which cap(0, by="top") forbids',
        ),
        (
            quota(min=500),
            200,
            "INFEASIBLE",
            "quota(min=500) asks for 500 tokens of source 's', whose candidates have 60",
        ),
        (
            pin(field("kind") == "pin") | distinct(0.5),
            200,
            "INFEASIBLE",
            "a and b must both be in, and distinct(0.5) allows one",
        ),
    ],
)
def test_rules_that_cannot_hold_are_refused_by_name(
    rules: Any, budget: int, code: str, words: str
) -> None:
    chunks = [
        chunk("a", 0.9, 60, "the same text", kind="pin", only=1, parent="b", source="s"),
        chunk("b", 0.8, 60, "the same text", kind="pin", top=1),
    ]
    for selector in SELECTORS:
        with pytest.raises(PackError) as caught:
            pack(chunks, rules | selector, budget=budget)
        assert caught.value.code == code
        assert words in caught.value.message


def test_the_fewest_rules_that_conflict_are_named() -> None:
    chunks = [chunk(f"a{i}", 0.5, 30, source="a", group=f"g{i}") for i in range(3)]
    rules = quota(min=60) | cap(2, by="group") | quota(max=1, by="source", unit="chunks")
    with pytest.raises(PackError) as caught:
        pack(chunks, rules | greedy, budget=500)
    assert caught.value.details["rules"] == ('quota(max=1, unit="chunks")', "quota(min=60)")


class Reversed(Selector):
    name = "reversed"

    def __call__(self, pool: Pool, /) -> Selection:
        return pool.select(np.arange(len(pool))[::-1])


def test_a_selector_that_knows_no_rules_is_cut_to_them() -> None:
    chunks = [chunk("a1", 0.9, 10, source="a"), chunk("a2", 0.8, 10, source="a")]
    packed = pack(chunks, cap(1) | Reversed(), budget=100)
    assert ids(packed) == ["a2"]
    assert reasons(packed)["a1"][0] == "quota"


def test_two_chunks_just_above_twenty_thousand_tokens_both_fit() -> None:
    chunks = [chunk("a", 0.9, 20_001, group="a"), chunk("b", 0.8, 19_999, group="b")]
    packed = pack(chunks, exclusive() | knapsack, budget=40_000)
    assert ids(packed) == ["a", "b"]


@pytest.mark.parametrize("word", ["pin", "cap", "exclusive", "distinct", "needs", "quota"])
def test_constraints_are_words_of_the_policy_text(word: str) -> None:
    text = {
        "pin": 'pin(kind == "system")',
        "cap": 'cap(2, by="group")',
        "exclusive": 'exclusive("group")',
        "distinct": "distinct(0.9)",
        "needs": 'needs("parent")',
        "quota": "quota(min=10, max=500)",
    }[word]
    assert word in CATALOG
    assert repr(parse(f"{text} | greedy")) == f"{text} | greedy"


@pytest.mark.parametrize(
    "make",
    [lambda: quota(min=5, max=4), lambda: quota(min=-1), lambda: cap(-1), lambda: quota(min=True)],
)
def test_bad_amounts_are_refused(make: Any) -> None:
    with pytest.raises(PackError) as caught:
        make()
    assert caught.value.code == "INVALID_PARAMETER"


def test_near_duplicates_by_two_rules_are_one_pair() -> None:
    chunks = [
        Chunk("a", 0.7, id="a", tokens=0, embedding=[1, 1, 1]),
        Chunk("b", 0.7, id="b", tokens=10, embedding=[0, 1, 2]),
        Chunk("c", 0.2, id="c", tokens=10, embedding=[1, 0, 1]),
    ]
    for rules in (distinct(0.7), distinct(0.7) | distinct(0.75), distinct(0.7) | distinct(0.7)):
        packed = pack(chunks, rules | knapsack, budget=45)
        assert ids(packed) == ["b", "c"]
        assert packed.report.optimality is not None
        assert packed.report.optimality.proven


def test_what_cannot_come_does_not_stop_a_prefix() -> None:
    chunks = [chunk("a", 0.9, 10, parent="gone"), chunk("b", 0.8, 10)]
    packed = pack(chunks, needs() | prefix, budget=100)
    assert ids(packed) == ["b"]


def test_two_needs_bring_in_what_they_name_in_one_order() -> None:
    chunks = [
        chunk("row", 0.9, 10, head="z", legend="a"),
        chunk("a", 0.1, 10),
        chunk("z", 0.2, 10),
    ]
    one, other = needs("head"), needs("legend")
    packed = pack(chunks, one | other | greedy, budget=100)
    assert ids(packed) == ids(pack(chunks, other | one | greedy, budget=100)) == ["z", "a", "row"]


def test_what_breaks_several_rules_has_one_reason() -> None:
    chunks = [
        chunk("a", 0.9, 10, "the same text here", source="s", group="g"),
        chunk("b", 0.8, 10, "the same text here", source="s", group="g"),
    ]
    for rules in permutations([cap(1), exclusive(), distinct(0.5), distinct(0.9)]):
        packed = pack(chunks, policy(list(rules), greedy), budget=100)
        assert reasons(packed) == {"b": ("quota", "cap(1)", "source 's' has all of its 1 chunks")}


def test_the_rule_that_is_broken_is_named() -> None:
    chunks = [
        chunk("a", 0.9, 10, "refunds take five days", head="gone"),
        chunk("b", 0.8, 10, "refunds take five days"),
        chunk("c", 0.7, 10, "refunds take seven days"),
    ]
    packed = pack(chunks, distinct(0.3, metric="jaccard") | distinct(0.4) | greedy, budget=100)
    assert {out.stage for out in packed.report.excluded} == {'distinct(0.3, metric="jaccard")'}
    packed = pack(chunks, distinct(1.0) | distinct(0.4) | greedy, budget=100)
    stages = {out.id: out.stage for out in packed.report.excluded}
    assert stages == {
        "b": "distinct(0.4)",
        "c": "distinct(0.4)",
    }  # both forbid b: the first by text
    packed = pack(chunks, distinct(1.0) | distinct(0.9) | greedy, budget=100)
    assert ids(packed) == ["a", "c"]
    packed = pack(chunks[:1], needs() | needs("head") | greedy, budget=100)
    assert reasons(packed)["a"][:2] == ("needs", 'needs("head")')


def test_a_pinned_copy_stays_and_the_better_one_goes() -> None:
    chunks = [
        chunk("copy", 0.9, 10, "refunds take five days"),
        chunk("pinned", 0.2, 10, "refunds take five days", kind="p"),
    ]
    for metric in ("auto", "containment"):
        rules = pin(field("kind") == "p") | dedup(0.9, metric=metric)
        packed = pack(chunks, rules | greedy, budget=100)
        assert ids(packed) == ["pinned"]
        assert packed.chunks[0].merged_from == ("copy",)
        [out] = packed.report.excluded
        assert (out.reason, out.redundant_with) == (Reason.REDUNDANT, "pinned")


def test_a_pin_of_what_was_set_aside_is_told() -> None:
    chunks: list[Any] = [
        {"content": " ", "score": 0.9, "id": "blank", "tokens": 1, "metadata": {"k": 1}},
        {"content": "x", "score": math.nan, "id": "nan", "tokens": 1, "metadata": {"k": 1}},
        {"content": "y", "score": 0.5, "id": "twice", "tokens": 1, "metadata": {"k": 1}},
        {"content": "y", "score": 0.6, "id": "twice", "tokens": 1},
        {"content": "z", "score": 0.7, "id": "good", "tokens": 1, "metadata": {"k": 1}},
    ]
    rule = pin(field("k") == 1)
    for given_ in (chunks, chunks[:4]):  # another may match or not
        packed = pack(given_, rule | greedy, budget=100, on_invalid="exclude")
        [told] = packed.report.warnings
        assert (told.code, set(told.ids)) == ("unmatched-pin", {"blank", "nan", "twice"})
        assert "'blank' (invalid: its text is blank)" in told.message
        assert "'twice' (duplicate: same id as the chunk at 3" in told.message
    packed = pack(chunks[4:], threshold(0.8) | rule | greedy, budget=100)
    [told] = packed.report.warnings
    assert told.message == (
        "pin(k == 1) wants in what is out before it: 'good' (below-threshold: score 0.7, floor 0.8)"
    )


def test_a_pin_that_no_chunk_meets_is_told() -> None:
    packed = pack([chunk("a", 0.9, 10)], pin(field("kind") == "sytem") | greedy, budget=100)
    assert [(told.code, told.message) for told in packed.report.warnings] == [
        ("unmatched-pin", 'no chunk meets pin(kind == "sytem")')
    ]


@pytest.mark.parametrize("rule", [pin(field("k") == "p"), quota(min=1, by="k", unit="chunks")])
def test_rules_hold_where_header_and_footer_leave_no_room(rule: Filter) -> None:
    one = chunk("a", 0.9, 5, "alpha", k="p")
    template = Template("{content}", header="Sources:\n")
    for selector in (*SELECTORS, coverage(), dpp()):
        with pytest.raises(PackError) as caught:
            pack([one], rule | selector, budget=5, count_tokens=len, template=template)
        assert caught.value.code == "OVER_BUDGET"
        assert caught.value.details["ids"] == ("a",)


def test_a_minimum_holds_through_the_repair_of_a_text() -> None:
    def dear(text: str) -> int:
        return len(text.split()) + 10 * max(text.count("[") - 1, 0)

    chunks = [
        chunk("a", 0.9, 2, "aa bb", source="x"),
        chunk("b", 0.5, 2, "cc dd", source="x"),
        chunk("c", 0.1, 1, "ee", source="y"),
    ]
    rules = quota(min=1, unit="chunks")
    for budget in range(1, 30):
        try:
            packed = pack(
                chunks,
                rules | greedy,
                budget=budget,
                count_tokens=dear,
                template=Template("[{position}] {content}"),
            )
        except PackError as error:
            assert error.code in {"OVER_BUDGET", "INFEASIBLE"}  # noqa: PT017  # both are refusals
            continue
        assert {chunk.metadata["source"] for chunk in packed} == {"x", "y"}
        assert dear(packed.text()) <= budget


@pytest.mark.parametrize("high", [1e17, 1e12, 1e300])
@pytest.mark.parametrize(
    "policy",
    [
        cap(9) | knapsack,
        quota(min=2, max=4) | knapsack,
        quota(max=5, by="k") | knapsack,
        pin(field("pin") == 1) | exclusive("k") | knapsack,
    ],
    ids=str,
)
def test_a_chunk_that_cannot_come_in_does_not_blur_what_knapsack_says(
    policy: Policy, high: float
) -> None:
    chunks = [
        Chunk("w", 0.0, id="w", tokens=0, metadata={"k": 2, "pin": 1}),
        Chunk("x", high, id="big", tokens=100, metadata={"k": 2}),
        *(
            [Chunk("y", high, id="rival", tokens=4, metadata={"k": 2})]
            if "pin" in str(policy)
            else []
        ),
        Chunk("a", 0.5, id="a", tokens=5),
        Chunk("b", 0.4, id="b", tokens=2),
        Chunk("c", 0.4, id="c", tokens=3),
    ]
    packed = pack(chunks, policy, budget=5)
    assert {chunk.id for chunk in packed} >= {"b", "c"}
    optimality = packed.report.optimality
    assert optimality is not None
    assert optimality.proven
    assert optimality.value == 0.8
    assert optimality.bound == pytest.approx(0.8, abs=1e-12)
    assert optimality.gap < 1e-12


def test_the_budget_is_named_only_where_another_would_do() -> None:
    chunks = [chunk(f"c{n}", 0.5, 10, source="ab"[n % 2]) for n in range(6)]

    def refused(rules: Policy) -> str:
        with pytest.raises(PackError) as caught:
            pack(chunks, rules, budget=15)
        assert caught.value.code == "INFEASIBLE"
        return caught.value.message

    assert refused(cap(1) | quota(min=16) | greedy) == (
        "no selection satisfies cap(1) and quota(min=16); loosen one"
    )
    assert refused(cap(2) | quota(min=16) | greedy) == (
        "no selection within 15 tokens satisfies quota(min=16); raise the budget, or loosen one"
    )
    pack(chunks, cap(2) | quota(min=16) | greedy, budget=40)


@pytest.mark.parametrize(
    ("call", "limit"),
    [
        (lambda: cap(2**63), r"n is 9223372036854775808; give an int of .* \(below 2\*\*63\)"),
        (lambda: quota(max=2**70), r"an int of 0 or more \(below 2\*\*63\), or None"),
        (
            lambda: pack([Chunk("a", 1.0)], greedy, budget=5, overhead=2**62),
            r"an int of 0 or more \(at most 2\*\*43\), in tokens per chunk",
        ),
        (
            lambda: pack([Chunk("a", 1.0)], greedy, budget=5, count_tokens=lambda _: 2**44),
            r"an int of 0 or more \(at most 2\*\*43\)",
        ),
    ],
)
def test_a_number_above_a_limit_is_told_the_limit(call: Any, limit: str) -> None:
    with pytest.raises(PackError, match=limit):
        call()


def test_a_list_under_the_key_changes_nothing_for_the_others() -> None:
    tags: list[Any] = [1, 1.0, True, "[2]", [2], np.array([2]), ([2], 3), ([2], 3), None, None]
    chunks = [chunk(f"c{at}", 1.0 - at / 100, 1, source=tag) for at, tag in enumerate(tags)]
    packed = pack(chunks, cap(1) | greedy, budget=100)
    assert ids(packed) == ["c0", "c3", "c4", "c6", "c8", "c9"]
    assert packed.why("c5") == ("c5 is out, quota, by cap(1): source '[2]' has all of its 1 chunks")
    assert ids(pack(chunks[:4], cap(1) | greedy, budget=100)) == ["c0", "c3"]


@pytest.mark.parametrize(
    ("n", "ending"), [(5, "'c4' (below-threshold: score 0.4, floor 0.9)"), (6, " and 1 more")]
)
def test_a_pin_names_five_of_those_that_are_out_before_it(n: int, ending: str) -> None:
    chunks = [chunk(f"c{at}", 0.1 * at, 1, k=1) for at in range(n)]
    packed = pack(chunks, threshold(0.9) | (pin(field("k") == 1) | greedy), budget=9)
    [warning] = packed.report.warnings
    assert warning.code == "unmatched-pin"
    assert warning.ids == tuple(f"c{at}" for at in range(n))
    assert warning.message.startswith("pin(k == 1) wants in what is out before it: 'c0' (below")
    assert warning.message.endswith(ending)
    assert warning.message.count("below-threshold") == 5


def test_a_pin_does_not_name_what_is_out_and_does_not_meet_it() -> None:
    chunks = [chunk("weak", 0.1, 1, k=1), chunk("other", 0.1, 1, k=2), chunk("in", 0.95, 1, k=2)]
    packed = pack(chunks, threshold(0.9) | (pin(field("k") == 1) | greedy), budget=9)
    assert [warning.ids for warning in packed.report.warnings] == [("weak",)]


def test_a_pin_of_no_chunks_at_all_does_not_warn() -> None:
    assert pack([], pin(field("k") == 1) | greedy, budget=9).report.warnings == ()
    [warning] = pack([chunk("a", 0.5, 1)], pin(field("k") == 1) | greedy, budget=9).report.warnings
    assert warning.message == "no chunk meets pin(k == 1)"


def test_a_most_asks_for_nothing_by_itself() -> None:
    """Where a source has no room none of it is in, and nobody says that the rules cannot be met."""
    chunks = [chunk("a", 0.9, 5, source="x", group="x"), chunk("b", 0.8, 50, source="y", group="y")]
    for rule in (cap(1), exclusive(), quota(max=9), quota(max=9, unit="chunks")):
        assert [one.id for one in pack(chunks, rule | greedy, budget=9)] == ["a"]
    assert quota(min=2, max=2) == quota(max=2, min=2)
    with pytest.raises(PackError, match="at most max, which is 2"):
        quota(min=3, max=2)


def test_the_knapsack_adds_under_rules_what_its_scale_is_too_coarse_for() -> None:
    """And nothing that has no score."""
    chunks = [
        chunk("big", 1.0, 10, source="a"),
        chunk("tiny", 1e-30, 10, source="b"),
        chunk("nothing", 0.0, 10, source="c"),
        chunk("below", -0.5, 10, source="d"),
    ]
    packed = pack(chunks, cap(1) | knapsack, budget=100)
    assert ids(packed) == ["big", "tiny"]
