"""Several policies on the same chunks."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Comparison, PackError, compare, pack
from packer.errors import Infeasible, OverBudget
from strategies import field, fresh, greedy, knapsack, pin, ushape
from tests.generators import NOW, QUERY, Request, policies, requests

CHUNKS = [
    Chunk("long", 1.0, id="long", tokens=51),
    Chunk("one", 0.9, id="one", tokens=26),
    Chunk("two", 0.9, id="two", tokens=26),
    Chunk("small", 0.1, id="small", tokens=1),
]


@given(requests(embedded=True), st.lists(policies(), min_size=1, max_size=2))
def test_each_outcome_is_what_a_call_of_its_own_gives(request_: Request, others: Any) -> None:
    every = [request_.policy, *others]
    chunks = [chunk for chunk in request_.chunks if chunk.score >= 0]
    options: Any = {
        "budget": request_.budget,
        "overhead": request_.overhead,
        "query": QUERY,
        "now": NOW,
    }
    try:
        alone = [pack(chunks, policy, **options) for policy in every]
    except (Infeasible, OverBudget) as error:
        with pytest.raises(type(error)):
            compare(*every, chunks=chunks, **options)
        return
    found = compare(*every, chunks=iter(chunks), **options)
    assert list(found) == alone
    packed = [{chunk.id for chunk in one} for one in alone]
    assert set(found.packed) == set().union(*packed)
    assert set(found.shared) == set.intersection(*packed)
    for place, ids in enumerate(packed):
        rest = set().union(*(other for at, other in enumerate(packed) if at != place))
        assert set(found.only(place)) == ids - rest


def test_what_only_one_packs_and_what_both_pack() -> None:
    found = compare(greedy, knapsack, chunks=CHUNKS, budget=53)
    assert found.policies == ("greedy", "knapsack")
    assert found.packed == ("long", "small", "one", "two")
    assert (found.shared, found.only(0), found.only(1)) == (("small",), ("long",), ("one", "two"))
    assert [packed.report.tokens_used for packed in found] == [52, 53]
    assert (len(found), found[1].report.strategy) == (2, "knapsack")


@pytest.mark.parametrize("place", [2, 9, -3, "0", None, 0.0, True])
def test_a_place_without_a_policy_is_refused(place: Any) -> None:
    found = compare(greedy, knapsack, chunks=CHUNKS, budget=53)
    assert found.only(-1) == found.only(1)
    with pytest.raises(PackError) as caught:
        found.only(place)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.message == (
        f"place is {place!r}; give an int from 0 to 1, the policy's place"
    )


def test_of_three_the_shared_are_in_all() -> None:
    found = compare(greedy, knapsack, greedy | ushape, chunks=CHUNKS, budget=53)
    assert found.shared == ("small",)
    assert [found.only(place) for place in range(3)] == [(), ("one", "two"), ()]


def test_groups_are_what_all_pack_then_one_alone_then_more() -> None:
    found = compare(greedy, knapsack, greedy | ushape, chunks=CHUNKS, budget=53)
    assert [(group.heading, group.places, group.ids) for group in found.groups()] == [
        ("In all: 1", (0, 1, 2), ("small",)),
        ("Only in B: 2", (1,), ("one", "two")),
        ("Only in A and C: 1", (0, 2), ("long",)),
    ]
    two = compare(greedy, knapsack, chunks=CHUNKS, budget=53).groups()
    assert [group.heading for group in two] == ["In both: 1", "Only in A: 1", "Only in B: 2"]


@given(requests(embedded=True), policies())
def test_the_groups_part_what_is_packed(request_: Request, other: Any) -> None:
    options: Any = {"budget": request_.budget, "overhead": request_.overhead, "query": QUERY}
    try:
        found = compare(request_.policy, other, greedy, chunks=request_.chunks, now=NOW, **options)
    except PackError:
        return
    groups = found.groups()
    assert sorted(id_ for group in groups for id_ in group.ids) == sorted(found.packed)
    assert len({group.places for group in groups}) == len(groups)
    for group in groups:
        for place, packed in enumerate(found):
            taken = {chunk.id for chunk in packed}
            assert (
                taken.issuperset(group.ids)
                if place in group.places
                else taken.isdisjoint(group.ids)
            )
    alone = {group.places: group.ids for group in groups}
    assert [alone.get((place,), ()) for place in range(3)] == [found.only(at) for at in range(3)]
    assert alone.get((0, 1, 2), ()) == found.shared


def test_the_same_policy_twice_packs_nothing_alone() -> None:
    found = compare(greedy, greedy, chunks=CHUNKS, budget=53)
    assert (found.only(0), found.only(1)) == ((), ())


def test_each_text_is_counted_once_and_the_moment_is_one() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    chunks = [Chunk("abc", 0.5, metadata={"timestamp": "2020-01-02"})]
    policy = fresh("2d") | greedy
    early, late = (
        compare(policy, greedy, chunks=chunks, budget=9, count_tokens=count, now=now)
        for now in ("2020-01-03", "2020-02-01")
    )
    assert counted == ["abc", "abc"]
    assert [len(packed) for packed in early] == [1, 1]
    assert [len(packed) for packed in late] == [0, 1]


def test_it_is_plain_as_a_dict_and_can_be_pickled() -> None:
    found = compare(greedy, knapsack, chunks=CHUNKS, budget=53)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["policies"] == ["greedy", "knapsack"]
    assert plain["shared"] == ["small"]
    assert plain["only"] == [["long"], ["one", "two"]]
    assert plain["outcomes"][0] == json.loads(found[0].to_json())
    assert pickle.loads(pickle.dumps(found)) == found
    assert isinstance(found, Comparison)
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


@pytest.mark.parametrize("given_policies", [(), (greedy,)])
def test_fewer_than_two_policies_are_refused(given_policies: Any) -> None:
    with pytest.raises(PackError, match="give two or more") as caught:
        compare(*given_policies, chunks=CHUNKS, budget=53)
    assert caught.value.code == "INVALID_PARAMETER"


def test_an_error_says_which_policy_it_is_of() -> None:
    pinned = pin(field("status") == "house") | greedy
    chunks = [Chunk("rule", 0.1, id="rule", tokens=99, metadata={"status": "house"})]
    with pytest.raises(PackError) as caught:
        compare(greedy, pinned, chunks=chunks, budget=53)
    assert caught.value.code == "OVER_BUDGET"
    assert caught.value.__notes__ == [f"by the policy {pinned!r}"]


def test_what_no_policy_is_is_refused_as_by_pack() -> None:
    wrong: Any = "greedy"
    with pytest.raises(PackError, match=r"by strategies\.parse\(text\)") as caught:
        compare(greedy, wrong, chunks=CHUNKS, budget=53)
    assert caught.value.code == "INVALID_POLICY"
