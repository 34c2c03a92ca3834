"""Inputs that broke other packers, each with its right value; the row is in the test's id."""

import asyncio
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from packer import Budget, Chunk, Packed, PackError, Policy, Reason, Template, pack, utf8_estimate
from packer.pool import Pool
from strategies import (
    Context,
    chronological,
    current,
    custom,
    dedup,
    density,
    document,
    from_options,
    fuse,
    greedy,
    knapsack,
    max_candidates,
    mmr,
    normalize,
    parse,
    prefix,
    stable,
    threshold,
    top,
    ushape,
)

WORDS = (
    "Refunds take five days.",
    "Parcels leave on Monday.",
    "Gift cards never expire!",
    "Call us before noon?",
    "No cash at the counter.",
)


def chunk(id_: str, score: Any, tokens: Any = 10, **more: Any) -> Chunk:
    return Chunk(more.pop("content", f"text of {id_}"), score, id=id_, tokens=tokens, **more)


def ids(packed: Packed) -> list[str]:
    return [one.id for one in packed]


def reasons(packed: Packed) -> dict[str, str]:
    return {out.id: out.reason.value for out in packed.report.excluded}


def refused(chunks: Sequence[Any], policy: Policy = greedy, **call: Any) -> PackError:
    with pytest.raises(PackError) as caught:
        pack(chunks, policy, **{"budget": 100, **call})
    return caught.value


def chunk_faults(error: PackError) -> list[dict[str, Any]]:
    found: Any = error.details["chunks"]
    return list(found)


# Rows of the first table have their number, those of the second (the seed's own) an s before it.
def row(number: str) -> pytest.MarkDecorator:
    """A test of this row: the number becomes its id."""
    return pytest.mark.parametrize("case", [f"row {number}"])


# -- scores and similarities ----------------------------------------------------------------


@row("2")
@pytest.mark.parametrize("policy", [greedy, mmr(0.7), mmr(0.7, metric="cosine")], ids=repr)
def test_a_zero_vector_is_similar_to_nothing_and_stays_ranked_by_score(
    case: str, policy: Policy
) -> None:
    chunks = [
        chunk("zero", 0.1, embedding=[0, 0]),
        chunk("east", 0.9, embedding=[1, 0]),
        chunk("north-east", 0.8, embedding=[0.5, 0.5]),
    ]
    packed = pack(chunks, policy, budget=20)
    assert ids(packed) == ["east", "north-east"]
    assert [(one.code, one.ids) for one in packed.report.warnings][:1] == [
        ("zero-vector", ("zero",))
    ]
    assert not any(math.isnan(out.score) for out in packed.report.excluded)
    deduped = pack(chunks, dedup(0.0001, metric="cosine") | greedy, budget=100)
    assert reasons(deduped) == {"north-east": "redundant"}  # cosine 0.7071; the zero one is kept


@row("3")
def test_lambda_has_an_effect_and_a_typo_in_it_is_an_error(case: str) -> None:
    chunks = [
        chunk("a", 0.9, embedding=[1, 0]),
        chunk("b", 0.89, embedding=[1, 0]),
        chunk("c", 0.5, embedding=[0, 1]),
    ]
    assert ids(pack(chunks, mmr(1.0), budget=20)) == ["a", "b"]
    assert ids(pack(chunks, mmr(0.3), budget=20)) == ["a", "c"]
    with pytest.raises(TypeError, match="lamda"):
        mmr(lamda=1)  # type: ignore[call-arg]
    with pytest.raises(PackError, match="lambda_") as caught:
        parse("mmr(lamda=1)")
    assert caught.value.details["suggestion"] == "lambda_"


@row("6")
def test_mmr_takes_each_of_four_equal_chunks_once(case: str) -> None:
    chunks = [chunk(name, 0.5, embedding=[1, 2]) for name in "abcd"]
    assert ids(pack(chunks, mmr(0.5), budget=40)) == ["a", "b", "c", "d"]


@row("7")
def test_the_metric_is_a_stated_option_and_cosine_ignores_length(case: str) -> None:
    chunks = [
        chunk("short", 0.9, embedding=[1, 0], content=WORDS[0]),
        chunk("long", 0.8, embedding=[10, 0], content=WORDS[1]),
        chunk("other", 0.7, embedding=[0, 1], content=WORDS[2]),
    ]
    assert ids(pack(chunks, dedup(1.0, metric="cosine") | greedy, budget=99)) == ["short", "other"]
    assert len(pack(chunks, dedup(1.0, metric="jaccard") | greedy, budget=99)) == 3
    with pytest.raises(PackError, match="metric is 'euclid'"):
        dedup(1.0, metric="euclid")  # type: ignore[arg-type]


@row("11")
def test_a_missing_score_is_invalid_never_a_crash(case: str) -> None:
    chunks = [chunk("none", None), chunk("high", 0.9), chunk("low", 0.2)]
    policy = threshold(0.5) | greedy
    assert refused(chunks, policy).details["chunks"] == [
        {"id": "none", "position": 0, "faults": ["score is None; give a finite number"]}
    ]
    packed = pack(chunks, policy, budget=100, on_invalid="exclude")
    assert ids(packed) == ["high"]
    assert reasons(packed) == {"none": "invalid", "low": "below-threshold"}


@row("12")
def test_logits_go_through_a_sigmoid_before_a_threshold(case: str) -> None:
    chunks = [chunk("no", -2.1), chunk("maybe", 0.3), chunk("yes", 5)]
    packed = pack(chunks, normalize("sigmoid") | threshold(0.5) | greedy, budget=99)
    assert ids(packed) == ["yes", "maybe"]
    assert packed.chunks[0].score == 5  # the record keeps the score that came in
    # 1 / (1 + e^2.1) = 0.10909...
    assert packed.report.excluded[0].detail == (
        "score 0.109097, floor 0.5; score 0.109097 here, -2.1 as given"
    )


@row("12, s6")
def test_knapsack_says_why_it_leaves_negative_scores_out(case: str) -> None:
    packed = pack([chunk("a", -2.1), chunk("b", 0)], knapsack, budget=15)
    assert ids(packed) == []
    assert {out.detail for out in packed.report.excluded} == {"score <= 0 adds nothing"}
    assert reasons(packed) == {"a": "strategy", "b": "strategy"}
    (warning,) = packed.report.warnings
    assert (warning.code, warning.ids) == ("nonpositive-scores", ("a", "b"))
    assert ids(pack([chunk("a", -2.1), chunk("b", 0)], normalize("sigmoid") | knapsack, budget=15))


@row("13")
def test_equal_scores_keep_input_order_and_are_reported(case: str) -> None:
    packed = pack([chunk(name, 1.0) for name in "ecadb"], greedy, budget=100)
    assert ids(packed) == list("ecadb")
    (warning,) = packed.report.warnings
    assert warning.code == "constant-scores"
    assert warning.message == "all 5 chunks have the score 1, so input order decides"


@row("14")
def test_dedup_compares_texts_and_never_scores(case: str) -> None:
    chunks = [chunk("a", 0.033, content=WORDS[0]), chunk("b", 0.016, content=WORDS[0])]
    assert ids(pack(chunks, dedup(0.92) | greedy, budget=100)) == ["a"]


@row("43")
@pytest.mark.parametrize("scores", [[2, 2, 2], [0, 0, 0], [5]], ids=repr)
def test_minmax_of_equal_scores_is_one(case: str, scores: list[float]) -> None:
    pool = Pool.from_arrays(scores, [1] * len(scores))
    assert normalize("minmax")(pool).scores.tolist() == [1.0] * len(scores)


@row("44")
def test_a_missing_score_does_not_outrank_a_negative_one(case: str) -> None:
    chunks = [chunk("none", None), chunk("negative", -0.5)]
    packed = pack(chunks, greedy, budget=10, on_invalid="exclude")
    assert ids(packed) == ["negative"]
    assert reasons(packed) == {"none": "invalid"}


@row("s26")
def test_normalized_scores_let_mmr_see_an_exact_copy(case: str) -> None:
    chunks = [
        chunk("a", 12.5, embedding=[1, 0]),
        chunk("copy", 12.4, embedding=[1, 0]),
        chunk("other", 8, embedding=[0, 1]),
    ]
    policy = normalize("minmax") | mmr(0.5)
    # the copy is worth 0.5 * 0.9778 - 0.5 * 1, below 0; the other 0.5 * 0 - 0.5 * 0
    assert ids(pack(chunks, policy, budget=20)) == ["a", "other"]


@row("s27")
@pytest.mark.parametrize("lambda_", [5, -0.1, math.nan, True, "0.5", None], ids=repr)
def test_mmr_refuses_a_lambda_outside_0_to_1(case: str, lambda_: Any) -> None:
    with pytest.raises(PackError) as caught:
        mmr(lambda_)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details["parameter"] == "lambda_"


@row("s28")
def test_mmr_counts_a_negative_cosine_as_it_is(case: str) -> None:
    chunks = [
        chunk("first", 0.9, embedding=[1, 0]),
        chunk("across", 0.5, embedding=[0, 1]),
        chunk("opposite", 0.4, embedding=[-1, 0]),
    ]
    # across: 0.25 - 0.5 * 0 = 0.25; opposite: 0.2 - 0.5 * -1 = 0.7 (clamped at 0: 0.2)
    assert ids(pack(chunks, mmr(0.5), budget=20)) == ["first", "opposite"]


@row("s22")
@pytest.mark.parametrize("vector", [[0, 0], []], ids=["zero", "empty"])
def test_auto_falls_back_to_text_where_a_vector_says_nothing(
    case: str, vector: list[float]
) -> None:
    chunks = [
        chunk("a", 0.9, content=WORDS[0], embedding=vector),
        chunk("b", 0.8, content=WORDS[0], embedding=vector),
    ]
    assert reasons(pack(chunks, dedup(0.85) | greedy, budget=99)) == {"b": "redundant"}


@row("s23")
def test_a_nan_in_an_embedding_is_refused(case: str) -> None:
    error = refused([chunk("a", 0.9, embedding=[1, math.nan])])
    assert error.code == "INVALID_CHUNK"
    assert "'a' at 0: embedding is nan at 1; give finite numbers" in error.message


@row("s24")
@pytest.mark.parametrize("policy", [mmr(0.5), dedup(0.99) | greedy], ids=repr)
def test_mixing_cosine_and_trigrams_is_reported_with_the_ids(case: str, policy: Policy) -> None:
    chunks = [
        chunk("a", 0.9, content=WORDS[0], embedding=[1, 0]),
        chunk("b", 0.8, content=WORDS[1], embedding=[1, 0.5]),
        chunk("c", 0.7, content=WORDS[2]),
    ]
    (warning,) = pack(chunks, policy, budget=99).report.warnings
    assert (warning.code, warning.ids) == ("mixed-metrics", ("c",))


@row("s25")
@pytest.mark.parametrize(
    "policy", [mmr(metric="cosine"), dedup(metric="cosine") | greedy], ids=repr
)
def test_a_missing_embedding_under_cosine_is_an_error_with_the_id(
    case: str, policy: Policy
) -> None:
    error = refused([chunk("a", 0.9, embedding=[1, 0]), chunk("b", 0.8)], policy)
    assert error.code == "MISSING_EMBEDDINGS"
    assert error.details == {"ids": ("b",)}


# -- the budget -----------------------------------------------------------------------------


@row("15")
@pytest.mark.parametrize("policy", [greedy, prefix, density, mmr(), knapsack], ids=repr)
def test_the_chunk_that_breaks_the_budget_is_out(case: str, policy: Policy) -> None:
    packed = pack([chunk(name, 0.5, 40) for name in "abc"], policy, budget=100)
    assert (len(packed), packed.report.tokens_used) == (2, 80)


@row("19")
def test_greedy_skips_what_does_not_fit_and_goes_on(case: str) -> None:
    packed = pack(
        [chunk("a", 0.9, 60), chunk("b", 0.8, 80), chunk("c", 0.7, 30)], greedy, budget=100
    )
    assert ids(packed) == ["a", "c"]


@row("20")
def test_prefix_stops_where_greedy_skips(case: str) -> None:
    chunks = [chunk("urgent", 100, 90), chunk("minor", 1, 10)]
    assert ids(pack(chunks, greedy, budget=50)) == ["minor"]
    packed = pack(chunks, prefix, budget=50)
    assert ids(packed) == []
    assert {out.id: (out.reason, out.detail) for out in packed.report.excluded} == {
        "urgent": (Reason.BUDGET, "needs 40 more tokens"),
        "minor": (Reason.STRATEGY, "prefix stopped at 'urgent', which needs 40 more"),
    }


@row("22")
def test_knapsack_finds_ten_small_where_one_big_blocks_greedy(case: str) -> None:
    chunks = [chunk("big", 1.1, 10), *(chunk(f"small-{n}", 1.0, 1) for n in range(10))]
    assert ids(pack(chunks, greedy, budget=10)) == ["big"]
    packed = pack(chunks, knapsack, budget=10)
    assert ids(packed) == [f"small-{n}" for n in range(10)]
    assert packed.report.optimality is not None
    assert packed.report.optimality.value == 10.0
    assert packed.report.optimality.proven


@row("23")
def test_knapsack_never_takes_all_when_all_cost_a_little_more(case: str) -> None:
    chunks = [chunk("a", 1, 1), chunk("b", 1, 1), chunk("c", 5, 50)]
    packed = pack(chunks, knapsack, budget=50)
    assert (ids(packed), packed.report.tokens_used) == (["c"], 50)


@row("s1")
def test_knapsack_is_exact_at_a_budget_of_5200(case: str) -> None:
    chunks = [chunk("a", 1.0, 5001), chunk("b", 0.9, 2600), chunk("c", 0.9, 2600)]
    packed = pack(chunks, knapsack, budget=5200)
    assert ids(packed) == ["b", "c"]
    assert sum(one.score for one in packed) == pytest.approx(1.8, rel=0, abs=1e-12)


@row("s2")
def test_knapsack_is_exact_at_126_chunks(case: str) -> None:
    chunks = [chunk("big", 1.0, 3990), *(chunk(f"small-{n}", 0.9, 30) for n in range(125))]
    packed = pack(chunks, knapsack, budget=4000)
    assert len(packed) == 125
    assert packed.report.tokens_used == 3750
    assert packed.report.optimality is not None
    assert packed.report.optimality.value == pytest.approx(112.5, rel=0, abs=1e-9)
    assert packed.report.optimality.proven


@row("s4, s12, s13, s14")
@pytest.mark.parametrize(
    "budget", [10.2, 10.0, math.nan, math.inf, "100", None, 0, -5, True], ids=repr
)
@pytest.mark.parametrize("policy", [greedy, knapsack], ids=repr)
def test_a_budget_that_is_no_int_above_0_is_refused(case: str, budget: Any, policy: Policy) -> None:
    error = refused([chunk("a", 0.9, 10)], policy, budget=budget)
    assert error.code == "INVALID_BUDGET"
    assert set(error.details) == {"budget"}


@row("s5, s10, s11")
@pytest.mark.parametrize("tokens", [3.3, 3.0, -50, math.nan, True, "3", 2**43 + 1], ids=repr)
def test_tokens_that_are_no_int_of_0_or_more_are_refused_with_the_id(
    case: str, tokens: Any
) -> None:
    error = refused([chunk("odd", 0.9, tokens), chunk("even", 0.8, 60)], budget=20)
    assert error.code == "INVALID_CHUNK"
    (fault,) = chunk_faults(error)
    assert (fault["id"], fault["position"]) == ("odd", 0)
    assert fault["faults"] == [
        (
            f"tokens is {tokens!r}; give an int of 0 or more (at most 2**43), or None to have "
            "them counted"
        )
    ]


@row("s15")
@pytest.mark.parametrize("overhead", [-3, 0.5, True, None], ids=repr)
def test_an_overhead_that_is_no_int_of_0_or_more_is_refused(case: str, overhead: Any) -> None:
    error = refused([chunk("a", 0.9, 5), chunk("b", 0.8, 5)], budget=5, overhead=overhead)
    assert error.code == "INVALID_PARAMETER"
    assert set(error.details) == {"overhead"}


@row("s16")
def test_overhead_is_charged_for_each_chunk(case: str) -> None:
    chunks = [chunk("a", 0.9, 5), chunk("b", 0.8, 5)]
    assert ids(pack(chunks, greedy, budget=11, overhead=1)) == ["a"]
    packed = pack(chunks, greedy, budget=12, overhead=1)
    assert (ids(packed), packed.report.tokens_used) == (["a", "b"], 12)
    assert [one.tokens for one in packed] == [5, 5]


# -- text and counting ----------------------------------------------------------------------


@row("24")
def test_a_special_token_in_a_text_is_plain_text(case: str) -> None:
    text = "before <|endoftext|> after"
    packed = pack([Chunk(text, 0.9)], greedy, budget=10)
    assert packed.text() == text
    assert packed.chunks[0].tokens == 7  # ceil(26 / 4)


@row("25, s40")
def test_utf8_estimate_does_not_undercount_other_scripts(case: str) -> None:
    assert utf8_estimate("漢" * 100) == 75
    assert utf8_estimate("🙂" * 10) == 10
    assert utf8_estimate("返" * 120) == 90
    packed = pack([Chunk("返" * 120, 0.9)], greedy, budget=100, count_tokens=utf8_estimate)
    assert packed.report.tokens_used == 90
    assert packed.report.estimated


@row("42")
def test_blank_text_never_takes_a_slot(case: str) -> None:
    chunks = [chunk("empty", 0.9, content=""), chunk("blank", 0.8, content=" \t\n")]
    packed = pack([*chunks, chunk("x", 0.1, content="x")], greedy, budget=100)
    assert ids(packed) == ["x"]
    assert {out.id: (out.reason, out.stage, out.detail) for out in packed.report.excluded} == {
        "empty": (Reason.INVALID, "pack", "its text is blank"),
        "blank": (Reason.INVALID, "pack", "its text is blank"),
    }


# -- the prompt that is sent ----------------------------------------------------------------


@row("16")
def test_headings_and_separators_are_counted_with_the_text(case: str) -> None:
    chunks = [chunk(f"c{at}", 1 - at / 10, content="x" * 10) for at in range(10)]
    template = Template("[{position}] {content}", separator="\n---\n")
    packed = pack(chunks, greedy, budget=100, count_tokens=len, template=template)
    assert len(packed.text()) == packed.report.rendered_tokens == 90  # 5 * 14 + 4 * 5
    assert packed.report.tokens_remaining == 10


@row("17")
def test_the_header_of_a_section_is_charged_and_named(case: str) -> None:
    template = Template("{content}", header="h" * 30)
    one = [chunk("a", 0.9, content="x" * 80)]
    packed = pack(one, greedy, budget=100, count_tokens=len, template=template)
    assert packed.text() == ""
    assert packed.report.excluded[0].detail == "needs 10 more tokens; header and footer cost 30"


@row("24")
def test_a_special_token_is_plain_text_in_a_template_too(case: str) -> None:
    text = "{before} <|endoftext|> {{after}}"
    packed = pack([Chunk(text, 0.9)], greedy, budget=20, template=Template("<|s|>{content}"))
    assert packed.text() == f"<|s|>{text}"


@row("42")
def test_blank_chunks_print_no_header(case: str) -> None:
    chunks = [chunk(f"c{at}", 0.9, content=text) for at, text in enumerate(("", " \t\n", "x"))]
    template = Template("[{position}] {content}", header="Sources:\n")
    assert pack(chunks, greedy, budget=99, template=template).text() == "Sources:\n[1] x"
    assert pack(chunks[:2], greedy, budget=99, template=template).text() == ""


@row("45")
def test_a_negative_window_shows_its_parts(case: str) -> None:
    with pytest.raises(PackError, match="window 100 - reserve 80 - system 40 = -20") as caught:
        Budget(100, reserve=80, system=40)
    assert caught.value.code == "INVALID_BUDGET"
    assert caught.value.details["available"] == -20


@row("46")
def test_the_system_prompt_is_subtracted_once(case: str) -> None:
    packed = pack([chunk("a", 0.9, 80)], greedy, budget=Budget(100, system=20))
    assert (ids(packed), packed.report.tokens_remaining) == (["a"], 0)


@row("48")
def test_a_margin_is_charged_once_a_prompt(case: str) -> None:
    chunks = [chunk(f"c{at}", 0.9, 10) for at in range(5)]
    assert len(pack(chunks, greedy, budget=Budget(70, margin=20))) == 5


@row("s16")
def test_a_template_charges_one_separator_fewer_than_chunks(case: str) -> None:
    chunks = [chunk("a", 0.9, content="aaaaa"), chunk("b", 0.8, content="bbbbb")]
    template = Template("{content}", separator="|")
    packed = pack(chunks, greedy, budget=11, count_tokens=len, template=template)
    assert packed.text() == "aaaaa|bbbbb"


@row("s39")
def test_with_a_template_a_given_count_is_verified(case: str) -> None:
    liar = [chunk("a", 0.9, 1, content="x" * 4000)]
    assert ids(pack(liar, greedy, budget=10)) == ["a"]  # without one it is trusted
    assert ids(pack(liar, greedy, budget=10, template=Template("{content}"))) == []


# -- duplicates and ids ---------------------------------------------------------------------


@row("29")
def test_two_texts_of_one_source_are_no_duplicates(case: str) -> None:
    chunks = [
        chunk("a", 0.9, content=WORDS[0], metadata={"source": "faq"}),
        chunk("b", 0.8, content=WORDS[1], metadata={"source": "faq"}),
    ]
    assert ids(pack(chunks, dedup() | greedy, budget=99)) == ["a", "b"]


@row("30")
def test_of_equal_texts_with_equal_scores_the_earlier_stays(case: str) -> None:
    chunks = [chunk("first", 0.5, content=WORDS[0]), chunk("second", 0.5, content=WORDS[0])]
    assert ids(pack(chunks, dedup() | greedy, budget=99)) == ["first"]


@row("31")
def test_the_report_names_the_survivor_and_how_similar_it_is(case: str) -> None:
    chunks = [
        chunk("a", 0.9, content="abcdefghijklmnop"),
        chunk("exact", 0.8, content="abcdefghijklmnop"),
        chunk("near", 0.7, content="abcdefghijklmnopq"),
    ]
    packed = pack(chunks, dedup(0.9) | greedy, budget=99)
    found = {out.id: (out.redundant_with, out.similarity) for out in packed.report.excluded}
    # 14 trigrams, all of them among the 15 of the longer text
    assert found == {"exact": ("a", 1.0), "near": ("a", 14 / 15)}
    assert packed.why("near") == (
        "near is out, redundant, by dedup(0.9): like a, similarity 0.9333, limit 0.9; "
        "the other has score 0.9"
    )


@row("32, s17")
def test_of_two_chunks_with_one_id_the_better_stays_and_none_is_lost(case: str) -> None:
    chunks = [
        chunk("x", 0.4, content="one text"),
        chunk("x", 0.7, content="another"),
        chunk("y", 0.1),
    ]
    packed = pack(chunks, greedy, budget=10)
    assert [(one.id, one.content) for one in packed] == [("x", "another")]
    assert [(out.id, out.content, out.reason, out.detail) for out in packed.report.excluded] == [
        (
            "x",
            "one text",
            Reason.DUPLICATE,
            "same id as the chunk at 1 with score 0.7; its text differs",
        ),
        ("y", "text of y", Reason.BUDGET, "needs 10 more tokens"),
    ]
    assert packed.report.selected_count + packed.report.excluded_count == 3


@row("s18")
def test_a_made_id_never_collides_with_a_given_one(case: str) -> None:
    chunks = [
        chunk("chunk-1", 0.9),
        Chunk("unnamed", 0.8, tokens=10),
        Chunk("more", 0.7, tokens=10),
    ]
    assert ids(pack(chunks, greedy, budget=99)) == ["chunk-1", "chunk-1-2", "chunk-2"]


@row("s20")
def test_dedup_at_1_removes_exact_copies(case: str) -> None:
    chunks = [chunk("a", 0.9, content=WORDS[0]), chunk("b", 0.8, content=WORDS[0].upper())]
    assert reasons(pack(chunks, dedup(1.0) | greedy, budget=99)) == {"b": "redundant"}


@row("s21")
@pytest.mark.parametrize("value", [1.5, math.nan, 0, -0.1, True, "0.9"], ids=repr)
def test_dedup_refuses_a_threshold_outside_0_to_1(case: str, value: Any) -> None:
    with pytest.raises(PackError) as caught:
        dedup(value)
    assert caught.value.code == "INVALID_PARAMETER"


@row("35")
def test_a_chunk_that_a_list_lacks_gets_nothing_from_it(case: str) -> None:
    lists = [[chunk(name, 1.0) for name in names] for names in ("xay", "bcy")]
    fused = fuse(*lists)
    # y: 1/63 + 1/63; x and b: 1/61; a and c: 1/62
    assert [one.id for one in fused] == ["y", "x", "b", "a", "c"]
    assert fused[0].score == 1 / 63 + 1 / 63


@row("36")
def test_ties_keep_input_order_in_every_run(case: str) -> None:
    chunks = [chunk(f"c{n}", 0.4) for n in range(20)]
    for policy in (greedy, prefix, density):
        assert {tuple(ids(pack(chunks, policy, budget=100))) for _ in range(50)} == {
            tuple(f"c{n}" for n in range(10))
        }
    shuffled = random.Random(7).sample(chunks, 20)
    assert ids(pack(shuffled, greedy, budget=100)) == [one.id for one in shuffled[:10]]


# -- versions, order, accounting ------------------------------------------------------------


@row("41")
def test_a_superseded_chunk_is_out_and_the_reason_names_its_successor(case: str) -> None:
    chunks = [chunk("old", 0.95), chunk("new", 0.6, metadata={"supersedes": "old"})]
    packed = pack(chunks, current() | greedy, budget=99)
    assert ids(packed) == ["new"]
    assert packed.why("old") == "old is out, superseded, by current(): superseded by new"


@row("37")
def test_jitter_in_the_scores_does_not_change_the_prompt(case: str) -> None:
    first = [
        chunk(f"c{n}", 0.5 + 0.0001 * n, content=text, metadata={"source": "faq", "position": n})
        for n, text in enumerate(WORDS)
    ]
    jittered = [
        Chunk(one.content, 0.501 - 0.0001 * n, id=one.id, tokens=10, metadata=one.metadata)
        for n, one in enumerate(first)
    ]
    before = pack(first, greedy, budget=99)
    assert ids(pack(jittered, greedy, budget=99)) != ids(before)
    assert pack(jittered, greedy | stable(ids(before)), budget=99).text() == before.text()
    texts = {pack(turn, greedy | document, budget=99).text() for turn in (first, jittered)}
    assert texts == {"\n\n".join(WORDS)}


@row("38")
@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="50,000 vectors are too many for pure Python"
)
@pytest.mark.skipif(sys.platform != "linux", reason="VmHWM, the peak, is read from /proc")
def test_dedup_of_50000_vectors_stays_under_one_gigabyte(case: str) -> None:
    program = """
import numpy as np
from packer import Pool
from strategies import dedup
made = np.random.default_rng(3)
centres = made.standard_normal((300, 64)).astype(np.float32)
vectors = centres[np.arange(50_000) % 300] + made.standard_normal((50_000, 64)) * 0.001
pool = Pool.from_arrays(made.random(50_000), np.full(50_000, 9), vectors.astype(np.float32))
kept = len(dedup(0.9)(pool))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(kept, int(peak.split()[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
    )
    kept, kilobytes = map(int, done.stdout.split())
    assert kept == 300
    assert kilobytes < 1_000_000  # the 50,000 x 50,000 similarities alone would be 10 GB


@row("39")
def test_each_of_130_chunks_left_out_has_its_reason(case: str) -> None:
    packed = pack([chunk(f"c{n}", 1 - n / 1000) for n in range(200)], greedy, budget=700)
    assert len(packed) == 70
    assert packed.report.excluded_count == 130 == len(packed.report.excluded)
    assert {(out.reason, out.detail) for out in packed.report.excluded} == {
        (Reason.BUDGET, "needs 10 more tokens")
    }


@row("s29")
def test_knapsack_gives_its_choice_by_score(case: str) -> None:
    chunks = [chunk("c", 0.7), chunk("a", 0.9), chunk("b", 0.8), chunk("out", 0.1, 99)]
    assert ids(pack(chunks, knapsack, budget=30)) == ["a", "b", "c"]


@row("s30")
def test_an_undated_chunk_stands_last_and_is_reported(case: str) -> None:
    chunks = [
        chunk("2024", 0.5, metadata={"timestamp": "2024-01-01"}),
        chunk("undated", 0.9),
        chunk("1960", 0.4, metadata={"timestamp": "1960-01-01"}),
    ]
    packed = pack(chunks, greedy | chronological(), budget=99)
    assert ids(packed) == ["1960", "2024", "undated"]
    (warning,) = packed.report.warnings
    assert (warning.code, warning.ids) == ("undated", ("undated",))


@row("s31, s32")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("2020-05-01", "2024-05-01"),
        ("2020-05-01T12:00:00Z", "2020-05-01T13:30:00+01:00"),
        (1_588_291_200_000, 1_714_521_600),
        (1_588_291_200, 1_714_521_600_000),
        (1_588_291_200_000, "2024-05-01"),
    ],
)
def test_dates_of_every_kind_sort_by_time(case: str, older: Any, newer: Any) -> None:
    chunks = [
        chunk("newer", 0.5, metadata={"timestamp": newer}),
        chunk("older", 0.9, metadata={"timestamp": older}),
    ]
    assert ids(pack(chunks, greedy | chronological(), budget=99)) == ["older", "newer"]
    flipped = greedy | chronological(newest_first=True)
    assert ids(pack(chunks, flipped, budget=99)) == ["newer", "older"]


@row("s33")
def test_an_unknown_order_is_refused(case: str) -> None:
    with pytest.raises(PackError, match="ordering is 'zigzag'"):
        from_options(ordering="zigzag")
    with pytest.raises(PackError, match="there is no stage 'zigzag'"):
        parse("greedy | zigzag")


@row("s34")
@pytest.mark.parametrize(
    ("count", "shown"),
    [(1, "1"), (2, "12"), (3, "132"), (4, "1342"), (5, "13542"), (6, "135642")],
)
def test_ushape_puts_the_best_at_the_edges(case: str, count: int, shown: str) -> None:
    chunks = [chunk(str(n + 1), 1 - n / 10) for n in range(count)]
    assert ids(pack(chunks, greedy | ushape, budget=99)) == list(shown)


@row("s41")
def test_max_candidates_takes_the_first_and_top_the_best(case: str) -> None:
    chunks = [chunk("low", 0.1), chunk("high", 0.9)]
    assert ids(pack(chunks, max_candidates(1) | greedy, budget=99)) == ["low"]
    assert ids(pack(chunks, top(1) | greedy, budget=99)) == ["high"]


@row("s42")
@pytest.mark.parametrize("make", [max_candidates, top])
@pytest.mark.parametrize("n", [-1, 1.0, True, None], ids=repr)
def test_a_count_that_is_no_int_of_0_or_more_is_refused(
    case: str, make: Callable[[Any], object], n: Any
) -> None:
    with pytest.raises(PackError) as caught:
        make(n)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details["value"] is n


@row("s43")
def test_an_exclusion_says_stage_need_and_room(case: str) -> None:
    chunks = [chunk("a", 0.9, 60), chunk("b", 0.8, 77), chunk("c", 0.5, 10)]
    packed = pack(chunks, threshold(0.6) | greedy | ushape, budget=100)
    assert packed.why("b") == "b is out, budget, by greedy: needs 37 more tokens"
    assert packed.why("c") == "c is out, below-threshold, by threshold(0.6): score 0.5, floor 0.6"


# -- invalid numbers ------------------------------------------------------------------------


@row("s7, s8, s9")
@pytest.mark.parametrize("policy", [greedy, greedy | ushape, mmr(), knapsack], ids=repr)
def test_a_nan_score_is_refused_or_set_aside(case: str, policy: Policy) -> None:
    chunks = [chunk("a", 0.3), chunk("n", math.nan), chunk("b", 0.9), chunk("c", 0.5)]
    error = refused(chunks, policy)
    assert error.code == "INVALID_CHUNK"
    assert "'n' at 1: score is nan; give a finite number" in error.message
    packed = pack(chunks, policy, budget=20, on_invalid="exclude")
    assert ids(packed) == ["b", "c"]
    assert reasons(packed) == {"n": "invalid", "a": "budget"}


# -- functions of the caller's --------------------------------------------------------------


def _all(chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
    return chunks


@row("s35")
def test_a_custom_choice_beyond_the_budget_is_cut_from_the_end(case: str) -> None:
    chunks = [chunk(name, 0.5, 2) for name in "abcd"]
    packed = pack(chunks, custom(_all), budget=5)
    assert (ids(packed), packed.report.tokens_used) == (["a", "b"], 4)
    assert {out.id: (out.reason, out.detail) for out in packed.report.excluded} == dict.fromkeys(
        "cd", (Reason.BUDGET, "the function chose it, beyond the budget")
    )


@row("s36")
@pytest.mark.parametrize(
    ("choose", "words"),
    [
        (lambda chunks, _: [chunks[0], chunks[0]], "returned chunk 'a' twice"),
        (lambda chunks, _: [*chunks, chunk("foreign", 1)], "which it was not given"),
    ],
    ids=["twice", "foreign"],
)
def test_a_custom_choice_of_what_was_not_given_is_refused(
    case: str, choose: Any, words: str
) -> None:
    error = refused([chunk("a", 0.5), chunk("b", 0.4)], custom(choose))
    assert error.code == "INVALID_STRATEGY"
    assert words in error.message


@row("s37")
def test_an_async_custom_strategy_is_refused_and_leaves_no_coroutine(case: str) -> None:
    async def choose(chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
        await asyncio.sleep(0)
        return chunks

    error = refused([chunk("a", 0.5)], custom(choose))  # type: ignore[arg-type]
    assert error.code == "INVALID_STRATEGY"
    assert "is async; give a plain function" in error.message


@row("s38")
def test_an_async_token_counter_is_refused_and_leaves_no_coroutine(case: str) -> None:
    async def count(text: str) -> int:
        await asyncio.sleep(0)
        return len(text)

    error = refused([Chunk("text", 0.5, id="a")], count_tokens=count)
    assert error.code == "INVALID_COUNTER"
    assert error.message.endswith(
        "it must return an int of 0 or more (at most 2**43), and it must not be async"
    )
    assert error.details["id"] == "a"


# -- the seed's first example ---------------------------------------------------------------


def test_the_first_example_of_the_seed() -> None:
    chunks = [
        chunk("refund-policy", 0.91, 700),
        chunk("refund-faq", 0.88, 450),
        chunk("shipping", 0.52, 600),
        chunk("refund-2019-old", 0.85, 900),
        chunk("contact", 0.40, 150),
        chunk("returns-form", 0.77, 300),
    ]
    packed = pack(chunks, threshold(0.6) | greedy, budget=1600)
    assert ids(packed) == ["refund-policy", "refund-faq", "returns-form"]
    assert packed.report.tokens_used == 1450
    assert packed.report.tokens_remaining == 150
    assert packed.report.utilization == 1450 / 1600
    assert reasons(packed) == {
        "shipping": "below-threshold",
        "contact": "below-threshold",
        "refund-2019-old": "budget",
    }
    assert packed.why("refund-2019-old") == (
        "refund-2019-old is out, budget, by greedy: needs 750 more tokens"
    )
    assert packed.why("refund-faq") == (
        "refund-faq is in at position 1 of 3: score 0.88, 450 tokens, chosen by greedy"
    )
    assert np.array_equal([one.position for one in packed], [0, 1, 2])
