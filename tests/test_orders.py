import datetime as dt
import math
from typing import Any

import numpy as np
import pytest

from packer import Chunk, Packed, PackError, Policy, pack
from strategies import (
    by_score,
    chronological,
    document,
    greedy,
    knapsack,
    mmr,
    natural,
    reverse,
    sorted_by,
    stable,
    ushape,
)


def chunk(id_: str, score: float, **metadata: object) -> Chunk:
    return Chunk(f"text {id_}", score, id=id_, tokens=1, metadata=metadata)


def run(policy: Policy, *chunks: Chunk) -> Packed:
    return pack(chunks, policy, budget=99)


def ids(policy: Policy, *chunks: Chunk) -> str:
    return " ".join(one.id for one in run(policy, *chunks))


DIVERSE = [
    Chunk("abcdef", 0.9, id="a", tokens=1),
    Chunk("abcdef", 0.8, id="b", tokens=1),
    Chunk("uvwxyz", 0.5, id="c", tokens=1),
]

ORDERS = [natural, by_score, ushape, reverse, chronological(), document, stable(["x"])]


@pytest.mark.parametrize("order", [*ORDERS, sorted_by(str)], ids=repr)
def test_an_order_over_nothing_is_nothing(order: Any) -> None:
    assert len(run(greedy | order)) == 0


@pytest.mark.parametrize("order", ORDERS, ids=repr)
def test_an_order_over_one_chunk_shows_it(order: Any) -> None:
    assert ids(greedy | order, chunk("a", 0.5)) == "a"


def test_natural_is_selection_order_and_what_no_order_does() -> None:
    assert ids(mmr(0.5) | natural, *DIVERSE) == ids(mmr(0.5), *DIVERSE) == "a c b"
    assert run(mmr(0.5), *DIVERSE).report.ordering == "natural"


def test_by_score_puts_the_best_first_and_equals_in_input_order() -> None:
    assert ids(mmr(0.5) | by_score, *DIVERSE) == "a b c"
    tied = [chunk("a", 0.5), chunk("b", 0.9), chunk("c", 0.5), chunk("d", 0.9)]
    assert ids(greedy | reverse, *tied) == "c a d b"
    assert ids(greedy | by_score, *tied) == "b d a c"
    assert ids(knapsack | by_score, *tied) == "b d a c"


def test_reverse_puts_the_first_chosen_last() -> None:
    assert ids(mmr(0.5) | reverse, *DIVERSE) == "b c a"


def test_ushape_goes_by_score_whatever_the_selection_order() -> None:
    assert ids(mmr(0.5) | ushape, *DIVERSE) == "a c b"
    chunks = [chunk(str(n), 1 - n / 10) for n in range(7)]
    assert ids(greedy | ushape, *chunks) == "0 2 4 6 5 3 1"
    assert ids(greedy | ushape, *[chunk(str(n), 0.5) for n in range(4)]) == "0 2 3 1"


# -- chronological --------------------------------------------------------------------------

DATED = [
    chunk("may", 0.1, timestamp="2024-05-01"),
    chunk("none-low", 0.2),
    chunk("jan", 0.3, timestamp=1_704_067_200),
    chunk("none-high", 0.9, timestamp=None),
    chunk("1960", 0.5, timestamp=dt.date(1960, 1, 1)),
    chunk("jan-better", 0.4, timestamp=1_704_067_200_000),
]


def test_chronological_is_the_oldest_first_with_the_undated_last_by_score() -> None:
    packed = run(greedy | chronological(), *DATED)
    assert [one.id for one in packed] == [
        "1960",
        "jan-better",
        "jan",
        "may",
        "none-high",
        "none-low",
    ]
    (warning,) = packed.report.warnings
    assert warning.code == "undated"
    assert warning.message == "2 packed chunks have no timestamp and stand last"
    assert sorted(warning.ids) == ["none-high", "none-low"]


def test_the_newest_first_leaves_the_undated_last_and_the_better_first() -> None:
    assert ids(greedy | chronological(newest_first=True), *DATED) == (
        "may jan-better jan 1960 none-high none-low"
    )


def test_chronological_reads_the_key_that_it_is_told() -> None:
    chunks = [chunk("b", 0.9, seen=2), chunk("a", 0.5, seen=1)]
    assert ids(greedy | chronological(at="seen"), *chunks) == "a b"
    assert repr(chronological(newest_first=True, at="seen")) == (
        'chronological(newest_first=True, at="seen")'
    )


def test_a_date_that_cannot_be_read_is_an_error_with_the_packed_ids() -> None:
    with pytest.raises(PackError, match="'bad' has 'soon'") as caught:
        run(greedy | chronological(), chunk("bad", 0.5, timestamp="soon"))
    assert caught.value.code == "INVALID_TIMESTAMP"
    assert caught.value.details["ids"] == ("bad",)
    # what is not packed is not read
    chunks = [chunk("a", 0.9), Chunk("b", 0.5, tokens=999, metadata={"timestamp": "soon"})]
    assert ids(greedy | chronological(), *chunks) == "a"


@pytest.mark.parametrize("flag", [1, 0, "yes", None])
def test_newest_first_is_true_or_false(flag: Any) -> None:
    with pytest.raises(PackError, match=r"newest_first is .*; give True or False"):
        chronological(newest_first=flag)
    assert chronological(newest_first=bool(np.True_)) == chronological(newest_first=True)


# -- document -------------------------------------------------------------------------------


def test_document_is_by_source_and_position() -> None:
    chunks = [
        chunk("bare-low", 0.1),
        chunk("faq-2", 0.9, source="faq", position=2),
        chunk("faq-10", 0.8, source="faq", position=10),
        chunk("faq-1.5", 0.2, source="faq", position=np.float64(1.5)),
        chunk("faq-none", 0.99, source="faq"),
        chunk("faq-nan", 0.05, source="faq", position=math.nan),
        chunk("blog-3", 0.3, source="blog", position=3),
        chunk("bare-high", 0.7),
        chunk("number", 0.4, source=7, position=1),
    ]
    assert ids(greedy | document, *chunks) == (
        "number blog-3 faq-1.5 faq-2 faq-10 faq-none faq-nan bare-high bare-low"
    )


@pytest.mark.parametrize("huge", [10**30, 10**400], ids=["10**30", "10**400"])
def test_a_huge_position_is_no_crash(huge: int) -> None:
    chunks = [
        chunk("huge", 0.9, source="s", position=huge),
        chunk("one", 0.1, source="s", position=1),
    ]
    assert ids(greedy | document, *chunks) == "one huge"


def test_equal_positions_go_by_score() -> None:
    chunks = [chunk("low", 0.1, source="s", position=1), chunk("high", 0.9, source="s", position=1)]
    assert ids(greedy | document, *chunks) == "high low"


# -- sorted_by ------------------------------------------------------------------------------


def test_sorted_by_takes_a_function_of_a_chunk() -> None:
    chunks = [chunk("b", 0.9, page=2), chunk("a", 0.8, page=1), chunk("c", 0.7, page=2)]
    assert ids(greedy | sorted_by(lambda one: one.metadata["page"]), *chunks) == "a b c"
    assert ids(greedy | sorted_by(lambda one: one.id), *chunks) == "a b c"


def test_keys_that_do_not_compare_are_an_error() -> None:
    def page(one: Chunk) -> Any:
        return one.metadata.get("page")

    with pytest.raises(PackError, match="its keys do not compare") as caught:
        run(greedy | sorted_by(page), chunk("a", 0.9, page=1), chunk("b", 0.8))
    assert caught.value.code == "INVALID_PARAMETER"
    assert "sorted_by(" in caught.value.message
    with pytest.raises(PackError, match=r"^sorted_by: key is 3; give a function$"):
        sorted_by(3)  # type: ignore[arg-type]


# -- stable ---------------------------------------------------------------------------------


def test_stable_keeps_the_previous_order_and_appends_what_is_new() -> None:
    chunks = [
        chunk(name, score) for name, score in zip("abcde", [0.1, 0.2, 0.3, 0.4, 0.5], strict=True)
    ]
    assert ids(greedy | stable(["c", "x", "a"]), *chunks) == "c a e d b"
    assert ids(greedy | stable([]), *chunks) == "e d c b a"
    assert ids(greedy | stable(("a", "b", "a")), *chunks) == "a b e d c"


@pytest.mark.parametrize("previous", ["abc", [1], ["a", None], None, 3, {"a", "b"}, b"ab"])
def test_stable_takes_a_list_of_ids(previous: Any) -> None:
    with pytest.raises(PackError, match="give a list of the ids of the previous prompt") as caught:
        stable(previous)
    assert caught.value.code == "INVALID_PARAMETER"


def test_stable_prints_as_text() -> None:
    assert repr(stable(("a", 'b"'))) == 'stable(["a", "b\\""])'
    assert stable(["a"]) == stable(("a",))
