import itertools
import math
from typing import Any

import numpy as np
import pytest

from packer import Chunk, Packed, PackError, Policy, Pool, Reason, pack
from strategies import (
    cap,
    coverage,
    custom,
    density,
    dpp,
    greedy,
    knapsack,
    mmr,
    normalize,
    overlap,
    prefix,
)
from strategies.greedy import fill

SELECTORS: list[Policy] = [greedy, prefix, density, mmr(), mmr(0.0), mmr(1.0), coverage(), knapsack]


def run(policy: Policy, budget: int, *rows: tuple[float, int], **call: Any) -> Packed:
    """Pack chunks `c0`, `c1`, ... of these (score, tokens)."""
    chunks = [
        Chunk(f"content of chunk {n}", score, id=f"c{n}", tokens=tokens)
        for n, (score, tokens) in enumerate(rows)
    ]
    return pack(chunks, policy, budget=budget, **call)


def ids(packed: Packed) -> list[str]:
    return [one.id for one in packed]


# -- what holds for all ---------------------------------------------------------------------


@pytest.mark.parametrize("policy", SELECTORS, ids=repr)
def test_no_chunks_or_none_that_fits_is_an_empty_result_with_a_full_report(policy: Policy) -> None:
    for packed in (run(policy, 10), run(policy, 10, (0.9, 11))):
        assert len(packed) == 0
        assert packed.text() == ""
        assert packed.report.tokens_used == 0
        assert packed.report.utilization == 0.0
        assert packed.report.diversity is None
        assert packed.report.position_quality is None
    assert packed.report.excluded[0].reason is Reason.BUDGET
    assert packed.report.excluded[0].detail == "needs 1 more tokens"


@pytest.mark.parametrize("policy", SELECTORS, ids=repr)
def test_one_chunk_that_fits_exactly_is_in(policy: Policy) -> None:
    packed = run(policy, 10, (0.9, 8), overhead=2)
    assert (ids(packed), packed.report.tokens_remaining) == (["c0"], 0)
    assert packed.report.utilization == 1.0
    assert len(run(policy, 10, (0.9, 9), overhead=2)) == 0


@pytest.mark.parametrize("policy", SELECTORS, ids=repr)
def test_free_chunks_are_all_in_beside_a_full_budget(policy: Policy) -> None:
    packed = run(policy, 1, (0.9, 1), (0.8, 0), (0.7, 0))
    assert sorted(ids(packed)) == ["c0", "c1", "c2"]


@pytest.mark.parametrize(
    "policy", [greedy, prefix, density, mmr(1.0), coverage(), knapsack], ids=repr
)
@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e300])
def test_the_scale_of_the_scores_does_not_matter(policy: Policy, scale: float) -> None:
    packed = run(policy, 20, *((scale * score, 10) for score in (0.25, 0.875, 0.5)))
    assert ids(packed) == ["c1", "c2"]


@pytest.mark.parametrize(
    "policy", [greedy, prefix, density, mmr(1.0), coverage(), knapsack], ids=repr
)
def test_all_tied_chunks_are_taken_in_input_order(policy: Policy) -> None:
    packed = run(policy, 20, *[(0.5, 10)] * 4)
    assert ids(packed) == ["c0", "c1"]
    assert [out.reason for out in packed.report.excluded] == [Reason.BUDGET] * 2
    assert packed.report.excluded[0].detail == "needs 10 more tokens"


# -- greedy, prefix, density ----------------------------------------------------------------


def test_greedy_goes_by_score_and_takes_the_smaller_where_a_larger_does_not_fit() -> None:
    packed = run(greedy, 100, (0.5, 30), (0.9, 60), (0.8, 50), (0.7, 40), (0.6, 1))
    assert ids(packed) == ["c1", "c3"]
    assert {out.id: out.detail for out in packed.report.excluded} == {
        "c0": "needs 30 more tokens",
        "c2": "needs 50 more tokens",
        "c4": "needs 1 more tokens",
    }


def test_greedy_takes_negative_scores_too() -> None:
    assert ids(run(greedy, 20, (-2, 10), (-1, 10))) == ["c1", "c0"]


def test_prefix_takes_all_when_all_fit() -> None:
    assert ids(run(prefix, 100, (0.5, 30), (0.9, 60))) == ["c1", "c0"]


def test_prefix_stops_at_the_first_that_does_not_fit() -> None:
    packed = run(prefix, 100, (0.9, 60), (0.8, 50), (0.7, 30), (0.6, 70))
    assert ids(packed) == ["c0"]
    assert {out.id: (out.reason, out.detail) for out in packed.report.excluded} == {
        "c1": (Reason.BUDGET, "needs 10 more tokens"),
        "c2": (Reason.STRATEGY, "prefix stopped at 'c1', which needs 10 more"),
        "c3": (Reason.BUDGET, "prefix stopped at 'c1', which needs 10 more"),
    }


def test_density_goes_by_score_per_token_and_overhead_counts() -> None:
    rows = [(0.9, 90), (0.5, 20), (0.4, 10)]
    assert ids(run(density, 100, *rows)) == ["c2", "c1"]
    assert ids(run(density, 30, *rows)) == ["c2", "c1"]
    # with 100 a chunk: 0.9/190 > 0.5/120 > 0.4/110
    assert ids(run(density, 1000, *rows, overhead=100)) == ["c0", "c1", "c2"]


def test_density_of_free_chunks_is_by_the_sign_of_the_score() -> None:
    rows = [(0.1, 1), (0.5, 0), (-0.5, 0), (0.0, 0), (0.9, 0)]
    assert ids(run(density, 1, *rows)) == ["c4", "c1", "c0", "c3", "c2"]


def test_density_ties_go_by_score_then_input_order() -> None:
    assert ids(run(density, 99, (0.1, 10), (0.2, 20), (0.1, 10))) == ["c1", "c0", "c2"]


@pytest.mark.parametrize("seed", range(20))
def test_fill_is_the_obvious_loop(seed: int) -> None:
    made = np.random.default_rng(seed)
    costs = made.integers(0, 12, 9)
    order = made.permutation(9)
    capacity = int(made.integers(0, 50))
    taken, left = [], capacity
    for row in order.tolist():
        if costs[row] <= left:
            taken.append(row)
            left -= int(costs[row])
    assert fill(order, costs, capacity).tolist() == taken


# -- mmr ------------------------------------------------------------------------------------


def test_mmr_weighs_score_against_the_largest_similarity_to_what_is_in() -> None:
    chunks = [
        Chunk("a", 0.9, id="a", tokens=1, embedding=[1, 0]),
        Chunk("b", 0.85, id="b", tokens=1, embedding=[0.8, 0.6]),
        Chunk("c", 0.3, id="c", tokens=1, embedding=[0, 1]),
    ]
    # after a: b = 0.425 - 0.4 = 0.025, c = 0.15 - 0 = 0.15
    assert ids(pack(chunks, mmr(0.5), budget=2)) == ["a", "c"]
    # after a: b = 0.68 - 0.16 = 0.52, c = 0.24
    assert ids(pack(chunks, mmr(0.8), budget=2)) == ["a", "b"]
    assert ids(pack(chunks, mmr(0.5), budget=3)) == ["a", "c", "b"]


def test_mmr_takes_the_best_that_fits_at_every_step() -> None:
    packed = run(mmr(1.0), 10, (0.9, 11), (0.5, 6), (0.8, 7), (0.4, 3))
    assert ids(packed) == ["c2", "c3"]
    assert [out.id for out in packed.report.excluded] == ["c0", "c1"]


def test_mmr_at_1_is_greedy_whatever_the_scale() -> None:
    rows = [(12.5, 3), (12.4, 4), (-8.0, 2), (3.0, 5)]
    for budget in range(1, 15):
        assert ids(run(mmr(1.0), budget, *rows)) == ids(run(greedy, budget, *rows))


def test_mmr_at_0_begins_with_the_best_score() -> None:
    chunks = [
        Chunk("abcd", 0.1, id="a", tokens=1),
        Chunk("abce", 0.9, id="b", tokens=1),
        Chunk("wxyz", 0.2, id="c", tokens=1),
    ]
    assert ids(pack(chunks, mmr(0.0), budget=2)) == ["b", "c"]


@pytest.mark.parametrize(
    ("lambda_", "score", "warned"),
    [(0.5, 1.0, False), (0.5, 1.01, True), (0.5, -2.0, True), (1.0, 9.0, False), (0.0, 9.0, False)],
)
def test_mmr_warns_of_scores_on_another_scale_than_similarities(
    lambda_: float, score: float, *, warned: bool
) -> None:
    packed = run(mmr(lambda_), 9, (score, 1), (0.5, 1))
    codes = [warning.code for warning in packed.report.warnings]
    assert codes == (["unscaled-scores"] if warned else [])


def test_mmr_prints_its_arguments() -> None:
    assert repr(mmr()) == "mmr(0.5)"
    assert repr(mmr(1)) == "mmr(1.0)"
    assert repr(mmr(0.7, metric="cosine")) == 'mmr(0.7, metric="cosine")'


# -- knapsack -------------------------------------------------------------------------------


def best_total(rows: list[tuple[float, int]], budget: int) -> float:
    subsets = itertools.product([False, True], repeat=len(rows))
    return max(
        math.fsum(score for (score, _), taken in zip(rows, subset, strict=True) if taken)
        for subset in subsets
        if sum(cost for (_, cost), taken in zip(rows, subset, strict=True) if taken) <= budget
    )


@pytest.mark.parametrize("seed", range(12))
def test_knapsack_is_as_good_as_trying_every_subset(seed: int) -> None:
    made = np.random.default_rng(seed)
    rows = [
        (float(score), int(cost))
        for score, cost in zip(
            made.choice([-0.5, 0, 1e-9, 0.25, 0.7, 1 / 3, 5], 9),
            made.integers(0, 20, 9),
            strict=True,
        )
    ]
    budget = int(made.integers(1, 90))
    packed = run(knapsack, budget, *rows)
    optimality = packed.report.optimality
    assert optimality is not None
    total = math.fsum(one.score for one in packed)
    assert total == pytest.approx(best_total(rows, budget), rel=0, abs=1e-12)
    assert optimality.value == total
    assert optimality.bound >= best_total(rows, budget)
    assert optimality.gap == pytest.approx(0.0, abs=1e-12)
    assert optimality.proven


def test_knapsack_leaves_what_adds_nothing_out_and_says_so() -> None:
    packed = run(knapsack, 20, (0.5, 10), (0.0, 1), (-1.0, 1), (-1.0, 30), (0.9, 30))
    assert ids(packed) == ["c0"]
    assert {out.id: (out.reason, out.detail) for out in packed.report.excluded} == {
        "c1": (Reason.STRATEGY, "score <= 0 adds nothing"),
        "c2": (Reason.STRATEGY, "score <= 0 adds nothing"),
        "c3": (Reason.BUDGET, "score <= 0 adds nothing"),
        "c4": (Reason.BUDGET, "needs 20 more tokens"),
    }
    assert packed.report.warnings == ()


def test_knapsack_takes_every_free_chunk_with_a_positive_score() -> None:
    packed = run(knapsack, 5, (0.1, 0), (0.9, 5), (0.0, 0), (-1.0, 0), (1e-300, 0))
    assert ids(packed) == ["c1", "c0", "c4"]
    assert packed.report.optimality is not None
    assert packed.report.optimality.value == 1.0


def test_knapsack_over_nothing_is_proven_and_zero() -> None:
    optimality = run(knapsack, 5).report.optimality
    assert optimality is not None
    assert (optimality.value, optimality.bound, optimality.gap, optimality.proven) == (
        0,
        0,
        0,
        True,
    )


@pytest.mark.parametrize("scale", [5e-324, 1e-308, 1e300])
def test_knapsack_scales_extreme_scores(scale: float) -> None:
    packed = run(knapsack, 10, (scale, 6), (scale, 5), (scale, 5))
    assert ids(packed) == ["c1", "c2"]
    assert packed.report.optimality is not None
    assert packed.report.optimality.proven


def test_a_score_too_small_for_the_scale_joins_where_it_fits() -> None:
    packed = run(knapsack, 10, (1e300, 5), (1e300, 6), (1e-300, 5))
    assert ids(packed) == ["c0", "c2"]
    assert packed.report.optimality is not None
    assert packed.report.optimality.bound >= packed.report.optimality.value


def test_a_total_beyond_the_largest_float_is_infinite_and_no_crash() -> None:
    packed = run(knapsack, 10, (1.7e308, 5), (1.7e308, 5), (1.7e308, 5))
    assert ids(packed) == ["c0", "c1"]
    optimality = packed.report.optimality
    assert optimality is not None
    assert (optimality.value, optimality.gap) == (math.inf, 0.0)
    assert '"value": null' in packed.to_json()


def test_knapsack_at_a_budget_beyond_int64_takes_all() -> None:
    assert ids(run(knapsack, 10**25, (0.5, 2**43), (0.6, 1))) == ["c1", "c0"]


def test_knapsack_after_a_sigmoid_takes_negative_logits() -> None:
    assert ids(run(normalize("sigmoid") | knapsack, 20, (-2, 10), (-1, 10), (-3, 10))) == [
        "c1",
        "c0",
    ]


def test_a_selector_over_arrays_gives_rows() -> None:
    pool = Pool.from_arrays([0.2, 0.9, 0.5], [60, 60, 30], budget=100)
    assert greedy(pool).chosen.tolist() == [1, 2]
    assert knapsack(pool).chosen.tolist() == [1, 2]
    assert mmr(1.0)(Pool.from_arrays([0.2, 0.9], [60, 60], np.eye(2), budget=60)).ids == ["chunk-1"]


def test_mmr_over_arrays_without_texts_or_vectors_is_refused() -> None:
    with pytest.raises(PackError) as caught:
        mmr()(Pool.from_arrays([0.2, 0.9], [60, 60]))
    assert caught.value.code == "MISSING_EMBEDDINGS"


# -- what mutants survived -----------------------------------------------------------------


def test_prefix_stops_at_what_does_not_fit_under_rules_too() -> None:
    pool = Pool.from_arrays(
        [0.9, 0.8, 0.7], [5, 100, 1], metadata=[{"source": "kb"}] * 3, budget=10
    )
    assert prefix(cap(9)(pool)).chosen.tolist() == [0]
    assert greedy(cap(9)(pool)).chosen.tolist() == [0, 2]


def test_a_free_chunk_of_score_zero_stands_between_gain_and_loss() -> None:
    pool = Pool.from_arrays([-0.5, 0.0, 0.5], [1, 0, 1], budget=9)
    assert density(pool).chosen.tolist() == [2, 1, 0]


# -- what the shell knows of them -----------------------------------------------------------


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("obeys_rules", {"greedy", "prefix", "density", "mmr", "coverage", "dpp", "knapsack"}),
        ("counts_overlap", {"greedy", "prefix", "density", "mmr", "knapsack", "custom"}),
        ("uses_kernels", {"mmr", "coverage", "dpp", "knapsack"}),
        ("is_constant", {"greedy", "prefix", "density", "knapsack"}),
    ],
)
def test_who_chooses_under_rules_and_overlap_without_help(flag: str, words: set[str]) -> None:
    stages = [
        greedy,
        prefix,
        density,
        mmr(),
        coverage(),
        dpp(),
        knapsack,
        custom(lambda all_, _: all_),
    ]
    assert {stage.name for stage in stages if getattr(stage, flag)} == words


# -- the bound of the knapsack to the last bit ----------------------------------------------


@pytest.mark.parametrize("ruled", [False, True])
@pytest.mark.parametrize(
    ("scores", "inexact"), [([0.5, 0.25, 0.125], 0.0), ([1 / 3, 1 / 7, 0.3], 3.0)]
)
def test_the_bound_of_the_knapsack_has_the_rounding_of_each_score(
    scores: list[float], inexact: float, *, ruled: bool
) -> None:
    """Half a unit of the scale for each score above 0, where one of them is not exact."""
    pool = Pool.from_arrays([*scores, 0.0], [2, 2, 2, 2], metadata=[{"source": "kb"}] * 4, budget=4)
    selection = knapsack(cap(9)(pool) if ruled else pool)
    best = sorted(scores)[1:]
    assert sorted(pool.scores[selection.chosen].tolist()) == best
    shift = 52 - (4 if ruled else 3).bit_length() - math.frexp(max(scores))[1]
    exact = sum(round(math.ldexp(score, shift)) for score in best)
    assert selection.optimality is not None
    assert selection.optimality.bound == math.ldexp(exact + 0.5 * inexact, -shift)
    assert selection.optimality.value == math.fsum(best)


def test_what_fits_as_a_whole_is_not_scaled() -> None:
    optimality = knapsack(Pool.from_arrays([1 / 3, 1 / 7, 0.3], [2, 2, 2], budget=6)).optimality
    assert optimality is not None
    assert optimality.bound == optimality.value == math.fsum([1 / 3, 1 / 7, 0.3])


# -- what the knapsack says -----------------------------------------------------------------


@pytest.mark.parametrize("bind", [list, overlap()], ids=["plain", "overlap"])
@pytest.mark.parametrize(
    ("scores", "warned"),
    [
        ([0.0, -1.0], True),
        ([-0.5, -0.5], True),
        ([0.1, -1.0], False),
        ([0.1, 0.0], False),
        ([], False),
    ],
)
def test_the_knapsack_warns_where_nothing_adds_to_the_total(
    bind: Any, scores: list[float], *, warned: bool
) -> None:
    chunks = [
        Chunk("abcdef"[n : n + 4], score, metadata={"source": "s", "start": n, "end": n + 4})
        for n, score in enumerate(scores)
    ]
    policy: Any = knapsack if bind is list else bind | knapsack
    packed = pack(chunks, policy, budget=9, count_tokens=len)
    found = [one for one in packed.report.warnings if one.code == "nonpositive-scores"]
    assert [one.ids for one in found] == ([("chunk-0", "chunk-1")] if warned else [])
    assert [out.detail for out in packed.report.excluded] == [
        "score <= 0 adds nothing" for score in scores if score <= 0
    ]


def test_the_knapsack_under_rules_says_what_adds_nothing() -> None:
    """And of what a rule keeps out, or what has no room, that."""
    rows = [(0.9, 1, "a"), (0.3, 1, "a"), (0.2, 50, "b"), (0.0, 1, "c")]
    chunks = [
        Chunk(f"text {n}", score, id=f"c{n}", tokens=tokens, metadata={"source": source})
        for n, (score, tokens, source) in enumerate(rows)
    ]
    report = pack(chunks, cap(1) | knapsack, budget=9).report
    assert {out.id: (out.reason, out.detail) for out in report.excluded} == {
        "c1": (Reason.QUOTA, "source 'a' has all of its 1 chunks"),
        "c2": (Reason.BUDGET, "needs 42 more tokens"),
        "c3": (Reason.STRATEGY, "score <= 0 adds nothing"),
    }
