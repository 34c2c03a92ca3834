"""What would be packed at other budgets: `Packed.within`, `Packed.frontier`."""

import copy
import itertools
import json
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Filter, Frontier, Packed, PackError, Pool, Template, frontier, pack
from packer.errors import Infeasible, OverBudget
from packer.frontier import GRID, MOST
from packer.records import Deferred
from strategies import field, greedy, knapsack, mmr, pin, threshold, trim
from tests.generators import Request, requests

ONE_LONG = [
    Chunk("long", 1.0, id="long", tokens=51),
    Chunk("one", 0.9, id="one", tokens=26),
    Chunk("two", 0.9, id="two", tokens=26),
]


def outcome(packed: Packed) -> dict[str, Any]:
    """All of a result but its times."""
    plain = packed.to_dict()
    del plain["report"]["timestamp"], plain["report"]["duration_ms"]
    for stage in plain["report"]["stages"]:
        del stage["microseconds"]
    return plain


def fresh(request: Request, budget: int) -> dict[str, Any] | str:
    """What a call of its own gives within the budget, or how it is refused."""
    try:
        packed = attrs.evolve(request, budget=budget).packed()
    except (Infeasible, OverBudget) as error:
        return str(error)
    return outcome(packed)


@given(requests(), st.integers(1, 150))
def test_a_result_within_another_budget_is_what_a_call_of_its_own_gives(
    request_: Request, budget: int
) -> None:
    try:
        found: dict[str, Any] | str = outcome(request_.packed().within(budget))
    except (Infeasible, OverBudget) as error:
        found = str(error)
    assert found == fresh(request_, budget)


@given(requests(), st.lists(st.integers(1, 150), max_size=5))
def test_every_point_is_what_a_call_of_its_own_packs(request_: Request, budgets: list[int]) -> None:
    found = request_.packed().frontier(budgets)
    assert [point.budget for point in found] == sorted(set(budgets))
    for point in found:
        alone = fresh(request_, point.budget)
        if isinstance(alone, str):
            assert point.refused == alone
            assert (point.chunks, point.tokens_used, point.value) == ((), 0, 0.0)
            continue
        chunks = alone["chunks"]
        assert point.refused is None
        assert list(point.chunks) == [chunk["id"] for chunk in chunks]
        assert list(point.tokens) == [
            chunk["tokens"] if chunk["new_tokens"] is None else chunk["new_tokens"]
            for chunk in chunks
        ]
        assert point.tokens_used == alone["report"]["tokens_used"] <= point.budget
        assert point.value == pytest.approx(sum(chunk["score"] for chunk in chunks), abs=1e-12)


@given(requests())
def test_what_enters_and_leaves_leads_from_each_point_to_the_next(request_: Request) -> None:
    packed = request_.packed()
    found = packed.frontier()
    before: set[str] = set()
    for point in found:
        assert not before & set(point.entered)
        assert set(point.left) <= before
        before = (before | set(point.entered)) - set(point.left)
        assert before == set(point.chunks)
    assert len(found) <= MOST
    assert packed.report.budget in [point.budget for point in found]
    own = next(point for point in found if point.budget == packed.report.budget)
    assert own.chunks == tuple(chunk.id for chunk in packed)


@given(requests())
def test_left_to_itself_it_has_only_points_at_which_the_pack_changes(request_: Request) -> None:
    points = request_.packed().frontier().points
    for before, after in itertools.pairwise(points):
        if after.budget != request_.budget:
            changed = (before.chunks, before.tokens, before.refused is None)
            assert changed != (after.chunks, after.tokens, after.refused is None)


def test_the_frontier_of_three_chunks() -> None:
    found = pack(ONE_LONG, knapsack, budget=52).frontier([25, 26, 51, 52, 103])
    told = [(p.budget, p.tokens_used, p.chunks, p.entered, p.left) for p in found]
    assert told == [
        (25, 0, (), (), ()),
        (26, 26, ("one",), ("one",), ()),
        (51, 51, ("long",), ("long",), ("one",)),
        (52, 52, ("one", "two"), ("one", "two"), ("long",)),
        (103, 103, ("long", "one", "two"), ("long",), ()),
    ]
    assert [point.value for point in found] == [0.0, 0.9, 1.0, 1.8, 2.8]
    assert (len(found), found[1].budget, found.budget) == (5, 26, 52)


def test_left_to_itself_it_finds_where_the_pack_changes_to_the_token() -> None:
    found = pack(ONE_LONG, knapsack, budget=60).frontier()
    assert [point.budget for point in found] == [26, 51, 52, 60, 77, 103]


def test_of_many_chunks_fewer_budgets_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [Chunk(f"text {at}", 1.0, id=f"c{at}", tokens=9) for at in range(200)]
    packed = pack(chunks, greedy, budget=1000)
    assert len(packed.frontier()) == MOST
    monkeypatch.setattr(frontier, "MOST_RUNS_OF", 100)
    assert len(packed.frontier()) == MOST // 2
    monkeypatch.setattr(frontier, "MOST_RUNS_OF", 1)
    assert GRID <= len(packed.frontier()) <= GRID + 1


def test_a_budget_beyond_all_chunks_is_looked_at_no_further() -> None:
    chunks = [Chunk("a", 0.9, id="a", tokens=10)]
    found = pack(chunks, greedy, budget=10**9).frontier()
    assert [(point.budget, point.chunks) for point in found] == [(10, ("a",)), (10**9, ("a",))]


def test_an_empty_result_has_one_point() -> None:
    assert [point.budget for point in pack([], greedy, budget=7).frontier()] == [7]


def test_no_text_is_counted_again_for_other_budgets() -> None:
    runs: list[int] = []

    def counted(text: str) -> int:
        runs.append(1)
        return len(text)

    chunks = [Chunk("x" * (7 + at), 1.0 - at / 99, id=f"c{at}") for at in range(40)]
    packed = pack(chunks, greedy, budget=300, count_tokens=counted)
    counts = len(runs)
    found = packed.frontier()
    assert GRID < len(found) <= MOST
    assert len(runs) == counts == 40  # no text is counted again


@attrs.frozen(repr=False)
class Affordable(Filter):
    """A filter that looks at the budget, by any of the ways there are."""

    look: Callable[[Pool], int]

    def __call__(self, pool: Pool, /) -> Pool:
        return pool.keep(pool.costs * 2 <= self.look(pool), reason="metadata", detail="dear")


@attrs.frozen(repr=False)
class Seen(Filter):
    """A filter that notes when it runs."""

    runs: list[int] = attrs.field(factory=list)

    def __call__(self, pool: Pool, /) -> Pool:
        self.runs.append(len(pool))
        return pool


@pytest.mark.parametrize(
    "look",
    [
        lambda pool: pool.budget,
        lambda pool: pool.capacity,
        lambda pool: pool.call.limit,
        lambda pool: pool.limited(pool.call.limit).budget,
    ],
)
def test_a_filter_that_looks_at_the_budget_is_asked_at_each(look: Callable[[Pool], int]) -> None:
    policy = Affordable(look) | greedy
    found = pack(ONE_LONG, policy, budget=60).frontier([26, 52, 102, 103])
    told = [point.chunks for point in found]
    alone = [pack(ONE_LONG, policy, budget=point.budget) for point in found]
    assert told == [tuple(chunk.id for chunk in packed) for packed in alone]


def test_other_filters_run_once_for_all_budgets() -> None:
    seen = Seen()
    packed = pack(ONE_LONG, seen | greedy, budget=60)
    assert seen.runs == [3]
    assert len(packed.frontier(range(1, 104))) == 103
    assert len(packed.frontier()) > 3
    assert seen.runs == [3, 3]
    assert packed.within(103).report.stages[0].stage.startswith("Seen(")
    assert seen.runs == [3, 3, 3]


def test_a_point_says_what_the_policy_refuses() -> None:
    policy = pin(field("status") == "house") | greedy
    chunks = [
        Chunk("rule", 0.1, id="rule", tokens=50, metadata={"status": "house"}),
        Chunk("a", 0.9, id="a", tokens=20),
    ]
    small, large = pack(chunks, policy, budget=70).frontier([40, 60])
    assert small.refused is not None
    assert "rule" in small.refused
    assert (small.chunks, large.refused, large.chunks) == ((), None, ("rule",))
    assert large.entered == ("rule",)


def test_a_shortened_chunk_has_the_tokens_that_it_has_there() -> None:
    words = [Chunk("One two. Three four. Five six.", 0.9, id="a", tokens=8)]
    found = pack(words, trim(1) | greedy, budget=8).frontier([3, 8])
    assert [(point.chunks, point.tokens) for point in found] == [(("a",), (2,)), (("a",), (8,))]


def test_scores_beyond_all_floats_add_up_to_infinity() -> None:
    chunks = [Chunk("a", 1.7e308, tokens=1), Chunk("b", 1.7e308, tokens=1)]
    assert pack(chunks, greedy, budget=2).frontier([2])[0].value == float("inf")


def test_a_frontier_as_a_dict_is_plain() -> None:
    found = pack(ONE_LONG[:1], greedy, budget=60).frontier([60])
    assert json.loads(json.dumps(found.to_dict())) == {
        "budget": 60,
        "points": [
            {
                "budget": 60,
                "tokens_used": 51,
                "value": 1.0,
                "chunks": ["long"],
                "tokens": [51],
                "entered": ["long"],
                "left": [],
                "refused": None,
            }
        ],
    }
    assert pickle.loads(pickle.dumps(found)) == found
    assert isinstance(found, Frontier)


@pytest.mark.parametrize("budgets", [7, "7", int])
def test_budgets_that_are_no_list_are_refused(budgets: Any) -> None:
    with pytest.raises(PackError, match=r"budgets is .*; give a list of ints above 0"):
        pack(ONE_LONG, greedy, budget=60).frontier(budgets)


@pytest.mark.parametrize("budget", [0, -1, 2.5, True, "9", None])
def test_a_budget_that_is_none_is_refused(budget: Any) -> None:
    packed = pack(ONE_LONG, greedy, budget=60)
    with pytest.raises(PackError, match="budget is ") as caught:
        packed.within(budget)
    assert caught.value.code == "INVALID_BUDGET"
    with pytest.raises(PackError, match="budget is "):
        packed.frontier([5, budget])


# -- packing again --------------------------------------------------------------------------


def test_what_was_packed_again_can_be_packed_again() -> None:
    packed = pack(ONE_LONG, threshold(0.5) | mmr(0.7), budget=103)
    assert packed.within(1).within(103) == packed
    assert packed.within(103).report == packed.report


def test_a_generator_and_the_moment_of_the_call_are_kept() -> None:
    packed = pack((chunk for chunk in ONE_LONG), greedy, budget=51)
    assert [chunk.id for chunk in packed.within(103)] == ["long", "one", "two"]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_can_be_packed_again(copied: Any) -> None:
    packed = pack(ONE_LONG, greedy, budget=51)
    twin = copied(packed)
    assert twin == packed
    assert twin.within(26) == packed.within(26)


def test_a_pickled_result_says_that_it_cannot_be_packed_again() -> None:
    packed = pack(ONE_LONG, greedy, budget=51)
    twin = pickle.loads(pickle.dumps(packed))
    assert twin == packed
    assert (packed.replayable, twin.replayable) == (True, False)
    for ask in (lambda: twin.within(9), twin.frontier, lambda: twin.frontier([9])):
        with pytest.raises(PackError, match="cannot be packed again: it was pickled") as caught:
            ask()
        assert caught.value.code == "INVALID_PARAMETER"


def test_a_result_made_by_hand_cannot_be_packed_again() -> None:
    packed = pack(ONE_LONG, greedy, budget=51)
    assert not Packed(Deferred(tuple), packed.report).replayable


def test_with_a_template_the_text_is_made_to_fit_again() -> None:
    template = Template("- {content}", separator="\n", header="Sources:\n")
    packed = pack(ONE_LONG, greedy, budget=30, count_tokens=len, template=template)
    assert packed.text() == "Sources:\n- long\n- one\n- two"
    assert packed.within(21).text() == "Sources:\n- long\n- one"
    assert packed.within(3).text() == ""
    assert packed.within(3).within(30) == packed


def test_a_template_whose_ends_do_not_fit_left_no_candidates() -> None:
    template = Template("{content}", header="a long header\n")
    packed = pack(ONE_LONG, greedy, budget=5, count_tokens=len, template=template)
    assert not packed.replayable
    with pytest.raises(PackError, match="header and footer alone were over the budget"):
        packed.within(50)
