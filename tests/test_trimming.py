"""What remains of the budget is filled with the beginning of the next chunk."""

import collections
from collections.abc import Callable
from typing import Any

import attrs
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from packer import Chunk, Packed, Packer, PackError, Pool, Template, pack
from packer.algebra import Policy
from packer.boundaries import ends, longest_prefix, sentences
from strategies import custom, density, greedy, knapsack, mmr, parse, prefix, trim, ushape
from tests.counters import COUNTERS, characters, quarters, utf8_bytes, words
from tests.generators import (
    BUDGETS,
    NOW,
    OVERHEADS,
    SELECTORS,
    TEXTS,
    chunk_lists,
    everything,
    some_stage,
)
from tests.test_rendering import TEMPLATES, check, made

PROSE = "Refunds take five days. We ship on Monday, e.g. by post. Is 3.5 kg too much? Ask us!"
ODD = "👩‍👩‍👧 🏳️‍🌈 e\u0301e\u0301 \r\n\r\n한국어 नमस्ते กำ 返品は三十日。以内に限ります。 a\u200db"
ALL_TEXTS = st.sampled_from((*TEXTS, PROSE, ODD)) | st.text(min_size=1, max_size=40).filter(
    lambda text: not text.isspace()
)


def chunk(id_: str, score: float, content: str, **more: Any) -> Chunk:
    return Chunk(content, score, id=id_, **more)


def told(packed: Packed) -> list[tuple[str, str, int, int | None]]:
    return [(one.id, one.content, one.tokens, one.original_tokens) for one in packed]


# -- boundaries -----------------------------------------------------------------------------


@given(ALL_TEXTS)
def test_every_end_is_after_something_seen_and_never_inside_a_grapheme(text: str) -> None:
    graphemes = {found.end() for found in regex.finditer(r"\X", text)}
    for places in ends(text):
        assert places == sorted(set(places))
        for place in places:
            assert place in graphemes
            assert text[:place].strip()
            assert text[:place] == text[:place].rstrip() != text.rstrip()


@given(ALL_TEXTS)
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text
    assert all(part.strip() for part in sentences(text))


def test_sentences_end_where_readers_see_an_end() -> None:
    assert sentences(PROSE) == [
        "Refunds take five days. ",
        "We ship on Monday, e.g. by post. ",
        "Is 3.5 kg too much? ",
        "Ask us!",
    ]
    assert sentences("返品は三十日。以内に。") == ["返品は三十日。", "以内に。"]
    assert sentences('"Why?" he asked. "So!" No') == ['"Why?" he asked. ', '"So!" ', "No"]
    assert sentences("Heading\n\nText\nmore") == ["Heading\n\n", "Text\n", "more"]


def test_a_long_run_of_blanks_or_points_takes_no_time() -> None:
    for text in ("a" + " " * 20_000 + "b", "." * 20_000 + "x", "a.\n" * 5_000):
        assert len(list(ends(text))) == 3


@given(ALL_TEXTS, st.integers(0, 40), st.sampled_from((characters, utf8_bytes, quarters)))
def test_with_a_monotone_counter_no_longer_prefix_would_do(
    text: str, room: int, count: Callable[[str], int]
) -> None:
    found = longest_prefix(text, lambda part: count(part) <= room)
    for places in ends(text):
        fitting = [place for place in places if count(text[:place]) <= room]
        if fitting:
            assert found == text[: fitting[-1]]
            return
    assert found is None


@given(ALL_TEXTS, st.sampled_from(COUNTERS), st.integers(0, 40), st.integers(0, 10))
def test_what_is_found_was_checked_and_few_were_tried(
    text: str, count: Callable[[str], int], room: int, least: int
) -> None:
    tried: list[str] = []

    def fits(part: str) -> bool | None:
        tried.append(part)
        tokens = count(part)
        return False if tokens > room else True if tokens >= least else None

    found = longest_prefix(text, fits)
    assert found is None or (found in tried and least <= count(found) <= room)
    assert len(tried) <= 3 * (len(text).bit_length() + 9)


# -- the stage ------------------------------------------------------------------------------


@settings(max_examples=300)
@given(
    some_stage(SELECTORS),
    st.data(),
    st.sampled_from(COUNTERS),
    st.integers(0, 12),
    BUDGETS,
    OVERHEADS,
    st.none() | TEMPLATES,
)
def test_under_every_selector_one_chunk_is_cut_within_the_budget(
    selector: Any,
    data: st.DataObject,
    count: Callable[[str], int],
    least: int,
    budget: int,
    overhead: int,
    template: Template | None,
) -> None:
    embedded = True if getattr(selector, "metric", None) == "cosine" else None
    chunks = made(data.draw(chunk_lists(embedded=embedded)))
    whole = {one.id: one for one in chunks}
    policy: Policy = trim(least) | selector
    packed = pack(
        chunks,
        policy,
        budget=budget,
        overhead=overhead,
        count_tokens=count,
        template=template,
        now=NOW,
    )
    if template is not None:
        check(packed, chunks, count, overhead)
    assert sum(one.tokens + overhead for one in packed) <= budget or template is not None
    went = collections.Counter(one.id for one in packed)
    went.update(out.id for out in packed.report.excluded)
    assert went == collections.Counter(list(whole))
    cut = [one for one in packed if one.original_tokens is not None]
    assert len(cut) <= 1
    for one in packed:
        content = whole[one.id].content
        if one.original_tokens is None:
            assert one.content == content
        else:
            assert content.startswith(one.content)
            assert one.content.strip()
            assert len(one.content) < len(content)
            assert one.tokens == count(one.content) >= least
            assert f"{one.tokens} of {one.original_tokens} tokens" in packed.why(one.id)
    for out in packed.report.excluded:
        assert out.content == whole[out.id].content
    plain = {
        one.id
        for one in pack(
            chunks, selector, budget=budget, overhead=overhead, count_tokens=count, now=NOW
        )
    }
    if template is None:
        assert {one.id for one in packed} - plain == {one.id for one in cut}


@pytest.mark.parametrize(
    ("budget", "content"),
    [
        (23, "Refunds take five days."),
        (22, "Refunds take five days"),
        (21, "Refunds take five"),
        (60, "Refunds take five days. We ship on Monday, e.g. by post."),
        (6, "Refund"),
        (1, "R"),
    ],
)
def test_it_is_cut_at_a_sentence_else_a_word_else_a_character(budget: int, content: str) -> None:
    packed = pack([chunk("a", 0.9, PROSE)], trim() | greedy, budget=budget, count_tokens=len)
    assert told(packed) == [("a", content, len(content), len(PROSE))]


def test_a_family_is_never_parted() -> None:
    family = "👩‍👩‍👧"
    text = family * 3
    packed = pack([chunk("a", 0.9, text)], trim() | greedy, budget=40, count_tokens=utf8_bytes)
    assert [one.content for one in packed] == [family * 2]
    small = pack([chunk("a", 0.9, text)], trim() | greedy, budget=17, count_tokens=utf8_bytes)
    assert not len(small)
    assert small.why("a") == "a is out, budget, by greedy: needs 37 more tokens"


def test_only_the_first_that_does_not_fit_is_cut() -> None:
    chunks = [
        chunk("a", 0.9, "one two three"),
        chunk("b", 0.8, "four five six seven"),
        chunk("c", 0.7, "eight nine ten eleven twelve"),
        chunk("d", 0.1, "x"),
    ]
    packed = pack(chunks, trim() | greedy | ushape, budget=6, count_tokens=words)
    assert sorted(told(packed)) == [
        ("a", "one two three", 3, None),
        ("b", "four five", 2, 4),
        ("d", "x", 1, None),
    ]
    assert packed.report.tokens_used == 6
    assert packed.why(
        "b"
    ) == "b is in at position 2 of 3: score 0.8, 2 of 4 tokens, chosen by greedy".replace(
        "position 2", f"position {[one.id for one in packed].index('b')}"
    )
    assert packed.why("c") == "c is out, budget, by greedy: needs 5 more tokens"


def test_what_is_left_must_be_worth_it() -> None:
    chunks = [chunk("a", 0.9, "one two three"), chunk("b", 0.8, "four five six seven")]
    for least, cut in ((2, True), (3, False)):
        packed = pack(chunks, trim(least) | greedy, budget=5, count_tokens=words)
        assert len(packed) == 1 + cut


def test_overhead_is_charged_for_the_cut_chunk_too() -> None:
    chunks = [chunk("a", 0.9, "one two three"), chunk("b", 0.8, "four five six seven")]
    packed = pack(chunks, trim() | greedy, budget=9, overhead=2, count_tokens=words)
    assert told(packed)[1] == ("b", "four five", 2, 4)
    assert packed.report.tokens_used == 9


@pytest.mark.parametrize("selector", [greedy, prefix, density, knapsack, mmr(), custom(everything)])
def test_every_selector_fills_the_rest(selector: Any) -> None:
    chunks = [chunk("a", 0.9, "one two three"), chunk("b", 0.5, "four five six seven eight")]
    packed = pack(chunks, trim() | selector, budget=5, count_tokens=words)
    assert told(packed) == [("a", "one two three", 3, None), ("b", "four five", 2, 5)]


def test_a_selector_that_does_not_want_the_rest_gets_none() -> None:
    chunks = [chunk("a", 0.9, "one two three"), chunk("b", -0.5, "four five six seven eight")]
    assert len(pack(chunks, trim() | greedy, budget=5, count_tokens=words)) == 2
    assert len(pack(chunks, trim() | knapsack, budget=5, count_tokens=words)) == 1

    def first(given_: Any, _: Any) -> Any:
        return given_[:1]

    assert len(pack(chunks, trim() | custom(first), budget=5, count_tokens=words)) == 1


def test_the_trace_and_the_report_have_the_cut_chunk() -> None:
    chunks = [chunk("a", 0.9, "one two three"), chunk("b", 0.5, "four five six seven eight")]
    packed = pack(chunks, trim() | greedy, budget=5, count_tokens=words)
    assert packed.report.stages[-1].chunks_out == 2
    assert packed.report.stages[-1].tokens_out == 5
    assert packed.to_dict()["chunks"][1]["original_tokens"] == 5


def test_a_cut_that_joins_make_too_long_is_cut_shorter() -> None:
    def dear(text: str) -> int:
        return len(text.split()) + 2 * max(text.count("#") - 1, 0)

    chunks = [chunk("a", 0.9, "# one two"), chunk("b", 0.8, "# three four five six seven")]
    template = Template("{content}", separator="\n")
    packed = pack(chunks, trim() | greedy, budget=8, count_tokens=dear, template=template)
    assert told(packed) == [("a", "# one two", 3, None), ("b", "# three four", 3, 6)]
    assert packed.report.tokens_used == 8


def test_the_policy_itself_cuts_too() -> None:
    pool = Pool.from_chunks([chunk("a", 0.9, "one two three")], budget=2, count_tokens=words)
    selection = (trim() | greedy)(pool)
    assert selection.texts == ["one two"]
    assert pool.texts == ["one two three"]


def test_it_is_text_of_a_policy() -> None:
    assert parse("trim(40) | greedy") == trim(40) | greedy
    assert str(trim()) == "trim(1)"
    with pytest.raises(PackError, match="trim: min_tokens is -1"):
        trim(-1)


def test_arrays_without_texts_are_refused() -> None:
    pool = Pool.from_arrays([0.9], [100])
    with pytest.raises(PackError, match="made from arrays without `texts`"):
        Packer(trim() | greedy, budget=10).select(pool)


def test_a_chunk_stays_as_it_came_in() -> None:
    given_ = [chunk("a", 0.9, "one two three")]
    before = [attrs.evolve(one) for one in given_]
    pack(given_, trim() | greedy, budget=2, count_tokens=words)
    assert given_ == before


def test_what_a_cut_leaves_no_room_for_has_the_numbers_of_after_it() -> None:
    chunks = [
        chunk("a", 0.9, "one two three"),
        chunk("b", 0.8, "Four five six. Seven eight nine."),
        chunk("c", 0.7, "ten"),
    ]
    packed = pack(chunks, trim() | prefix, budget=7, count_tokens=words)
    assert [(one.id, one.tokens) for one in packed] == [("a", 3), ("b", 3)]
    assert packed.why("c") == (
        "c is out, strategy, by prefix: 'b' was cut to fill what remained; "
        "its 1 tokens would fit in the 1 left"
    )
    packed = pack(chunks, trim() | prefix, budget=6, count_tokens=words)
    assert packed.why("c") == "c is out, budget, by prefix: needs 1 more tokens"


def test_density_cuts_what_it_ranks_first() -> None:
    chunks = [
        chunk("a", 0.9, "one two three four five six seven eight nine"),  # 0.1 a token
        chunk("b", 0.8, "one two three four"),  # 0.2
    ]
    packed = pack(chunks, trim() | density, budget=3, count_tokens=words)
    assert [(one.id, one.tokens) for one in packed] == [("b", 3)]
