import itertools
import math

import numpy as np
import pytest

from packer import Chunk, Packed, Policy, StageTrace, pack
from packer.outcome import position_quality
from strategies import (
    by_score,
    dedup,
    fresh,
    greedy,
    knapsack,
    mmr,
    natural,
    normalize,
    reverse,
    threshold,
    top,
    ushape,
)


def chunks(*rows: tuple[float, int]) -> list[Chunk]:
    return [
        Chunk(f"text {n} {'xyz'[n % 3] * 9}", score, id=f"c{n}", tokens=tokens)
        for n, (score, tokens) in enumerate(rows)
    ]


def run(policy: Policy, *rows: tuple[float, int], budget: int = 100, overhead: int = 0) -> Packed:
    return pack(chunks(*rows), policy, budget=budget, overhead=overhead)


def test_tokens_add_up_with_overhead() -> None:
    report = run(greedy, (0.9, 40), (0.8, 30), (0.7, 30), overhead=5).report
    assert (report.tokens_used, report.budget, report.tokens_remaining) == (80, 100, 20)
    assert report.utilization == 0.8
    assert (report.selected_count, report.excluded_count) == (2, 1)


def test_the_stages_are_traced_from_one_to_the_next() -> None:
    policy = normalize() | threshold(0.2) | top(3) | greedy | ushape
    report = run(policy, (1, 10), (5, 20), (4, 30), (3, 40), (2, 50), budget=60, overhead=1).report
    assert report.stages == (
        StageTrace('normalize("minmax")', 5, 5, 155, 155, 0.0),
        StageTrace("threshold(0.2)", 5, 4, 155, 144, 0.0),
        StageTrace("top(3)", 4, 3, 144, 93, 0.0),
        StageTrace("greedy", 3, 2, 93, 52, 0.0),
        StageTrace("ushape", 2, 2, 52, 52, 0.0),
    )
    assert all(stage.microseconds > 0 for stage in report.stages)
    assert report.duration_ms * 1000 >= sum(stage.microseconds for stage in report.stages)


@pytest.mark.parametrize(
    ("policy", "text", "strategy", "ordering"),
    [
        (greedy, "greedy", "greedy", "natural"),
        (greedy | natural, "greedy | natural", "greedy", "natural"),
        (threshold(0.5) | mmr(0.7) | ushape, "threshold(0.5) | mmr(0.7) | ushape", "mmr", "ushape"),
        (knapsack | by_score, "knapsack | by_score", "knapsack", "by_score"),
    ],
)
def test_the_report_names_policy_selector_and_order(
    policy: Policy, text: str, strategy: str, ordering: str
) -> None:
    report = run(policy, (0.9, 1)).report
    assert (report.policy, report.strategy, report.ordering) == (text, strategy, ordering)


def test_exclusions_stand_in_the_order_of_the_stages_and_then_of_the_input() -> None:
    given = [
        Chunk("", 0.5, id="blank", tokens=1),
        *chunks((0.1, 1), (0.9, 1), (0.05, 1), (0.8, 99)),
        Chunk("bad", math.nan, id="nan", tokens=1),
        Chunk("twin", 0.2, id="c1", tokens=1),
    ]
    packed = pack(given, threshold(0.5) | greedy, budget=9, on_invalid="exclude")
    assert [one.id for one in packed] == ["c1"]
    assert [(out.id, out.stage) for out in packed.report.excluded] == [
        ("nan", "pack"),
        ("blank", "pack"),
        ("c1", "pack"),
        ("c0", "threshold(0.5)"),
        ("c2", "threshold(0.5)"),
        ("c3", "greedy"),
    ]
    assert packed.report.selected_count + packed.report.excluded_count == len(given)


def test_an_exclusion_carries_what_came_in() -> None:
    given = Chunk("text", 0.25, id="x", tokens=7, metadata={"source": "faq"})
    (out,) = pack([given], threshold(0.5) | greedy, budget=9).report.excluded
    assert (out.id, out.content, out.score, out.tokens, out.metadata) == (
        "x",
        "text",
        0.25,
        7,
        {"source": "faq"},
    )


def test_the_timestamp_is_utc_with_milliseconds() -> None:
    stamp = run(greedy, (0.9, 1)).report.timestamp
    assert len(stamp) == len("2026-01-02T03:04:05.678+00:00")
    assert stamp.endswith("+00:00")


def test_only_selectors_that_know_it_report_optimality() -> None:
    assert run(greedy, (0.9, 1)).report.optimality is None
    optimality = run(knapsack, (0.875, 60), (0.5, 50), (0.5, 50)).report.optimality
    assert optimality is not None
    assert (optimality.value, optimality.gap, optimality.proven) == (1.0, 0.0, True)


def test_warnings_of_stages_are_in_the_report_once() -> None:
    given = [Chunk("a", 0.9, id="a", tokens=1), Chunk("b", 0.8, id="b", tokens=1)]
    report = pack(given, fresh("1d") | fresh("1d") | greedy, budget=9, now=0).report
    assert [(one.code, one.ids) for one in report.warnings] == [("undated", ("a", "b"))]


# -- diversity ------------------------------------------------------------------------------


def test_diversity_is_the_mean_of_one_minus_similarity() -> None:
    vectors = [[1, 0], [0, 1], [-1, 0], [2, 0]]
    given = [
        Chunk(str(n), 0.9 - n / 10, id=f"c{n}", tokens=1, embedding=vector)
        for n, vector in enumerate(vectors)
    ]
    # pairs: 0, -1, 1, 0, 0, -1
    assert pack(given, greedy, budget=9).report.diversity == pytest.approx(1 + 1 / 6, abs=1e-7)
    assert pack(given, greedy, budget=2).report.diversity == pytest.approx(1.0, abs=1e-7)
    assert pack(given, greedy, budget=1).report.diversity is None


def test_diversity_of_texts_is_by_trigrams() -> None:
    given = [Chunk(text, 0.5, tokens=1) for text in ("abcd", "abce", "wxyz")]
    # 1/3, 0, 0
    assert pack(given, greedy, budget=9).report.diversity == pytest.approx(1 - 1 / 9, abs=1e-12)


def test_diversity_of_mixed_chunks_compares_each_pair_as_auto_does() -> None:
    given = [
        Chunk("abcd", 0.9, tokens=1, embedding=[1, 0]),
        Chunk("wxyz", 0.8, tokens=1, embedding=[1, 0]),
        Chunk("abce", 0.7, tokens=1),
    ]
    # cosine 1, trigrams 1/3 and 0
    assert pack(given, greedy, budget=9).report.diversity == pytest.approx(1 - 4 / 9, abs=1e-7)


def test_diversity_is_of_what_is_packed_only() -> None:
    given = [Chunk(text, 0.5, tokens=1) for text in ("same", "same", "other")]
    packed = pack(given, dedup() | greedy, budget=9)
    assert packed.report.diversity == 1.0


def test_equal_chunks_have_no_diversity() -> None:
    given = [Chunk("same", 0.5, tokens=1, embedding=[0.1, 0.7, 0.3]) for _ in range(3)]
    assert pack(given, greedy, budget=9).report.diversity == pytest.approx(0.0, abs=1e-7)


# -- position quality -----------------------------------------------------------------------


def correlation(scores: list[float]) -> float:
    count = len(scores)
    closeness = [abs(2 * place - (count - 1)) / (count - 1) for place in range(count)]
    return float(np.corrcoef(np.array(scores) / max(scores), closeness)[0, 1])


@pytest.mark.parametrize(
    "scores",
    [
        [0.9, 0.5, 0.1],
        [0.9, 0.8, 0.3, 0.1],
        [5.0, -2.0, 3.0, 1.0, 0.5],
        [1e-9, 2e-9, 3e-9],
        [1e300, 2e300, 5e299, 3e300],
    ],
)
def test_quality_is_the_correlation_over_that_of_the_best_arrangement(scores: list[float]) -> None:
    best = max(correlation(list(order)) for order in itertools.permutations(scores))
    for order in itertools.permutations(scores):
        found = position_quality(np.array(order))
        assert found == pytest.approx(correlation(list(order)) / best, rel=0, abs=1e-9)


@pytest.mark.parametrize("count", range(3, 12))
def test_the_ushape_has_quality_one(count: int) -> None:
    rows = [(math.sin(n) * 10, 1) for n in range(count)]
    quality = run(greedy | ushape, *rows).report.position_quality
    assert quality == pytest.approx(1.0, rel=0, abs=1e-12)
    assert run(greedy, *rows).report.position_quality != pytest.approx(1.0, rel=0, abs=1e-3)


def test_the_best_in_the_middle_is_the_worst() -> None:
    assert position_quality(np.array([0.0, 1.0, 0.0])) == pytest.approx(-2.0)


def test_reversing_does_not_change_quality() -> None:
    rows = [(0.9, 1), (0.8, 1), (0.1, 1), (0.05, 1)]
    straight, flipped = (run(policy, *rows).report for policy in (greedy, greedy | reverse))
    assert straight.position_quality == pytest.approx(flipped.position_quality, abs=1e-12)


@pytest.mark.parametrize("rows", [[], [(0.9, 1)], [(0.9, 1), (0.1, 1)], [(0.5, 1)] * 5])
def test_quality_is_none_under_three_or_where_all_are_equal(rows: list[tuple[float, int]]) -> None:
    assert run(greedy, *rows).report.position_quality is None


def test_scores_that_differ_by_little_have_quality_one_at_most() -> None:
    for scores in (
        [0.5000000000000001, 0.5, 0.5],
        [1.0, 1 - 1e-13, 1 - 1e-13, 1 - 2e-13, 1.0],
        [-1.7e308, 0.0, 1.7e308],
    ):
        quality = run(greedy | ushape, *((score, 1) for score in scores)).report.position_quality
        assert quality == pytest.approx(1.0, rel=0, abs=1e-12)
