"""Shorter texts: sentences of the chunk in their order, as many as the ratio allows."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer import Chunk, Packed, Packer, PackError, Pool, Template, pack
from packer.algebra import Policy
from packer.boundaries import sentences
from strategies import (
    dedup,
    exclusive,
    greedy,
    knapsack,
    mmr,
    parse,
    shrink,
    threshold,
    trim,
    variants,
)
from tests.counters import COUNTERS, characters, utf8_bytes
from tests.generators import BUDGETS, NOW, OVERHEADS, SELECTORS, TEXTS, chunk_lists, some_stage
from tests.test_rendering import TEMPLATES, check, made

RATIOS = st.floats(0.01, 0.99)
PROSE = (
    "We are a family shop. Refunds take five days. Refunds take five working days. "
    "Parcels leave on Monday. We like cats."
)


def chunk(id_: str, content: str, score: float = 0.9, **more: Any) -> Chunk:
    return Chunk(content, score, id=id_, **more)


def word_count(text: str) -> int:
    return len(text.split())


def shrunk(text: str, ratio: float, query: str | None = None, **more: Any) -> str:
    given_ = [chunk("a", text, **more)]
    packed = pack(given_, shrink(ratio) | greedy, budget=999, query=query, count_tokens=word_count)
    return packed.chunks[0].content


def is_of(left: str, parts: list[str]) -> bool:
    """Whether some of the parts, in their order, are what is left."""
    some = (
        "".join(part for part, taken in zip(parts, mask, strict=True) if taken).strip()
        for mask in itertools.product((False, True), repeat=len(parts))
    )
    return left in some


# -- properties -----------------------------------------------------------------------------

JOINED = st.lists(st.sampled_from((*TEXTS, *sentences(PROSE))), min_size=1, max_size=6).map(
    " ".join
)


@given(JOINED, RATIOS, st.none() | st.sampled_from(("refunds", "ship on monday", "返品", "xyz")))
def test_what_is_left_are_sentences_of_the_text_in_their_order(
    text: str, ratio: float, query: str | None
) -> None:
    left = shrunk(text, ratio, query)
    whole = sentences(text)
    assert left.strip()
    assert left == text or is_of(left, whole)
    if left != text:
        tokens = word_count(text)
        shortest = min(word_count(part) for part in whole)
        assert word_count(left) <= max(int(ratio * tokens), shortest) < tokens


@given(JOINED, st.sampled_from(("refunds", "ship on monday", "返品", "xyz", "")))
def test_a_higher_ratio_leaves_no_fewer_tokens_than_a_sentence_less(text: str, query: str) -> None:
    sizes = [word_count(shrunk(text, ratio, query)) for ratio in (0.2, 0.5, 0.8)]
    longest = max(word_count(part) for part in sentences(text))
    assert all(one <= other + longest for one, other in itertools.pairwise(sizes))


@settings(max_examples=200)
@given(
    some_stage(SELECTORS),
    st.data(),
    RATIOS,
    st.booleans().map(lambda trims: (trims,)),
    st.sampled_from(COUNTERS),
    BUDGETS,
    OVERHEADS,
    st.none() | TEMPLATES,
)
def test_under_every_selector_the_budget_holds_and_nothing_is_lost(
    selector: Any,
    data: st.DataObject,
    ratio: float,
    trims: tuple[bool],
    count: Callable[[str], int],
    budget: int,
    overhead: int,
    template: Template | None,
) -> None:
    embedded = True if getattr(selector, "metric", None) == "cosine" else None
    chunks = made(data.draw(chunk_lists(embedded=embedded)))
    policy: Policy = shrink(ratio) | selector
    if trims[0]:
        policy = shrink(ratio) | (trim() | selector)
    packed = pack(
        chunks,
        policy,
        budget=budget,
        overhead=overhead,
        count_tokens=count,
        template=template,
        query="refunds in days",
        now=NOW,
    )
    whole = {one.id: one for one in chunks}
    if template is not None:
        check(packed, chunks, count, overhead)
    else:
        assert sum(one.tokens + overhead for one in packed) <= budget
    ids = sorted([*(one.id for one in packed), *(out.id for out in packed.report.excluded)])
    assert ids == sorted(str(id_) for id_ in whole)
    for one in packed:
        if one.original_tokens is None:
            assert one.content == whole[one.id].content
        else:
            assert one.tokens == count(one.content)
            assert one.tokens < one.original_tokens or trims[0]
            assert len(one.content) < len(whole[one.id].content)
    for out in packed.report.excluded:
        assert out.content == whole[out.id].content


@given(JOINED, RATIOS, st.sampled_from((characters, utf8_bytes)))
def test_original_and_new_counts_are_reported(
    text: str, ratio: float, count: Callable[[str], int]
) -> None:
    packed = pack([chunk("a", text)], shrink(ratio) | greedy, budget=9999, count_tokens=count)
    [one] = packed
    if one.content != text:
        assert (one.tokens, one.original_tokens) == (count(one.content), count(text))
        assert packed.report.stages[0].tokens_out == one.tokens
    else:
        assert one.original_tokens is None


# -- by hand --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "query", "left"),
    [
        (0.25, "How long do refunds take?", "Refunds take five days."),
        (0.25, "When do parcels leave?", "Parcels leave on Monday."),
        (0.45, "parcels and refunds", "Refunds take five days. Parcels leave on Monday."),
        (
            0.45,
            "do refunds take working days?",
            "Refunds take five days. Refunds take five working days.",
        ),
        (0.99, "refunds", PROSE.replace(" We like cats.", "")),
    ],
)
def test_the_query_decides(ratio: float, query: str, left: str) -> None:
    assert shrunk(PROSE, ratio, query) == left


def test_of_two_that_say_the_same_one_is_left() -> None:
    left = shrunk(PROSE, 0.5, "refunds and parcels")
    assert ("five days" in left) != ("five working days" in left)


def test_without_a_query_the_central_sentence_is_left() -> None:
    assert shrunk(PROSE, 0.25) == "Refunds take five days."
    assert shrunk(PROSE, 0.25, "zebra") == "Refunds take five days."


def test_rare_terms_weigh_more() -> None:
    common = [chunk(f"c{at}", "The shop is open today.", 0.1) for at in range(5)]
    text = "The shop is in town today. A zebra came once."
    given_ = [chunk("a", text), *common]
    packed = pack(
        given_,
        shrink(0.6) | threshold(0.5) | greedy,
        budget=99,
        query="shop zebra",
        count_tokens=word_count,
    )
    assert [one.content for one in packed] == ["A zebra came once."]


def test_parts_without_words_are_like_nothing() -> None:
    assert shrunk("* * *. * * *. Refunds take five days.", 0.5) == "Refunds take five days."


def test_one_sentence_stays() -> None:
    assert shrunk("Only one sentence here, and it is long.", 0.1) == (
        "Only one sentence here, and it is long."
    )
    assert shrunk("One here. Another of them there.", 0.1) == "One here."


def test_what_does_not_get_shorter_stays() -> None:
    packed = pack([chunk("a", "One here. Two there.", tokens=1)], shrink(0.5) | greedy, budget=9)
    assert [(one.content, one.tokens, one.original_tokens) for one in packed] == [
        ("One here. Two there.", 1, None)
    ]


def test_shorter_chunks_let_more_in() -> None:
    given_ = [chunk(f"c{at}", PROSE, 0.9 - at / 10) for at in range(4)]

    def ids(packed: Packed) -> list[str]:
        return [one.id for one in packed]

    assert ids(pack(given_, greedy, budget=40)) == ["c0"]
    packed = pack(given_, shrink(0.3) | greedy, budget=40, query="refunds")
    assert ids(packed) == ["c0", "c1", "c2", "c3"]


def test_a_chunk_that_is_out_has_its_whole_text() -> None:
    packed = pack([chunk("a", PROSE)], shrink(0.5) | greedy, budget=3, count_tokens=word_count)
    [out] = packed.report.excluded
    assert (out.content, out.tokens) == (PROSE, 21)
    assert out.detail == "needs 6 more tokens; shortened to 9 of 21 tokens"


def test_later_stages_see_the_shorter_texts() -> None:
    one = "Refunds take five days. We like cats."
    two = "Refunds take five days. Dogs may visit us on Sunday."
    given_ = [chunk("a", one, 0.9), chunk("b", two, 0.8)]
    packed = pack(
        given_, dedup(1.0) | shrink(0.6) | dedup(1.0) | mmr(), budget=99, query="refunds days"
    )
    assert [one.content for one in packed] == ["Refunds take five days."]
    assert packed.report.excluded[0].content == two


def test_trim_after_shrink_reports_the_first_count() -> None:
    packed = pack(
        [chunk("a", PROSE)],
        shrink(0.5) | trim() | greedy,
        budget=3,
        query="refunds",
        count_tokens=word_count,
    )
    [one] = packed
    assert (one.content, one.tokens, one.original_tokens) == ("Refunds take five", 3, 21)


def test_it_is_text_of_a_policy() -> None:
    assert parse("shrink(0.4) | greedy") == shrink(0.4) | greedy
    assert repr(shrink(ratio=0.5)) == "shrink(0.5)"


@pytest.mark.parametrize("wrong", [0, 1, 1.0, -0.5, 2, math.nan, math.inf, "0.5", True, None])
def test_ratios_are_between_0_and_1(wrong: Any) -> None:
    with pytest.raises(PackError, match=r"shrink: ratio is .*; give a number above 0 and below 1"):
        shrink(wrong)


def test_arrays_without_texts_are_refused() -> None:
    with pytest.raises(PackError, match="made from arrays without `texts`"):
        Packer(shrink(0.5) | greedy, budget=10).select(Pool.from_arrays([0.9], [100]))


# -- variants -------------------------------------------------------------------------------


@given(chunk_lists(named=False), RATIOS, st.none() | st.just("refunds in days"))
def test_variants_are_the_chunks_and_what_shrink_makes_of_them(
    chunks: list[Chunk], ratio: float, query: str | None
) -> None:
    both = variants(chunks, ratio, query=query)
    whole = [one for one in both if not str(one.id).endswith("#shrunk")]
    assert [(one.content, one.score) for one in whole] == [(c.content, c.score) for c in chunks]
    assert [one.id for one, c in zip(whole, chunks, strict=True) if c.id is not None] == [
        c.id for c in chunks if c.id is not None
    ]
    pool = shrink(ratio)(Pool.from_chunks(whole, query=query))
    made_shorter = {
        f"{pool.ids[at]}#shrunk": text
        for at, text in enumerate(pool.texts)
        if int(pool.table_rows[at]) in pool.candidates.originals
    }
    assert {one.id: one.content for one in both if one not in whole} == made_shorter


def test_a_variant_has_its_tokens_its_worth_and_the_group() -> None:
    given_ = [
        chunk("a", PROSE, 0.8, tokens=30, embedding=[1, 0], metadata={"source": "kb"}),
        chunk("b", PROSE, -1.0, metadata={"group": "g"}),
        chunk("c", "One sentence.", 0.5),
    ]
    both = variants(given_, 0.3, query="refunds", worth=0.5, count_tokens=word_count)
    assert [one.id for one in both] == ["a", "a#shrunk", "b", "b#shrunk", "c"]
    assert both[1] == Chunk(
        "Refunds take five days. Refunds take five working days.",
        0.4,
        id="a#shrunk",
        tokens=9,
        embedding=[1, 0],
        metadata={"source": "kb", "group": "a"},
    )
    assert both[0].metadata == {"source": "kb", "group": "a"}
    assert (both[3].score, both[3].metadata["group"]) == (-1.5, "g")
    assert "group" not in both[4].metadata


@pytest.mark.parametrize(("budget", "left"), [(40, "a"), (9, "a#shrunk"), (3, None)])
@pytest.mark.parametrize("selector", [greedy, knapsack, mmr()], ids=repr)
def test_under_exclusive_the_selector_chooses_between_both(
    selector: Any, budget: int, left: str | None
) -> None:
    both = variants([chunk("a", PROSE)], 0.5, query="refunds", count_tokens=word_count)
    packed = pack(both, exclusive() | selector, budget=budget, count_tokens=word_count)
    assert [one.id for one in packed] == ([] if left is None else [left])
    assert packed.report.excluded_count == 2 - len(packed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ratio": 1.0}, "ratio is 1.0"),
        ({"ratio": 0.5, "worth": 1.5}, "variants: worth is 1.5"),
        ({"ratio": 0.5, "chunks": [3]}, "1 chunk is invalid"),
    ],
)
def test_variants_are_refused_as_shrink_and_pack_refuse(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(PackError, match=message):
        variants(**{"chunks": [chunk("a", PROSE)], **arguments})


def test_a_variant_never_takes_the_id_of_another_chunk() -> None:
    text = "Refunds take 5 days. We like cats. We are a family shop."
    given_ = [
        Chunk(text, 1.0, id="x"),
        Chunk("b", 0.5, id="x#shrunk"),
        Chunk("c", 0.5, id="x#shrunk-2"),
    ]
    found = [chunk.id for chunk in variants(given_, 0.5)]
    assert found == ["x", "x#shrunk-3", "x#shrunk", "x#shrunk-2"]
    found = [chunk.id for chunk in variants(given_[:2], 0.5)]
    assert found == ["x", "x#shrunk-2", "x#shrunk"]
