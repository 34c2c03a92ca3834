"""What holds for every policy and every pool: each law one function, its statement the docstring.

A law takes plain values, returns None, and raises AssertionError where it is broken.  It knows
nothing of Hypothesis; `proofs/test_*.py` try it on generated and on all small values.  The laws
of a role, which bind stages of anyone's, stand in `packer.testing.laws`; here are those of ours.
"""

import collections
import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from packer import Chunk, Packed, Pool, Reason, Selection
from packer.algebra import Policy
from packer.conditions import Condition
from packer.facts import signature
from packer.testing.laws import (
    exclusions_name_their_stage,
    input_is_accounted_for,
    parts_make_the_score,
    reasons_are_true,
    run,
    selection_fits,
)
from strategies import by_score, greedy, knapsack, mmr, prefix, stable, threshold, ushape
from tests.naive_similarity import jaccard, trigrams

__all__ = [
    "best_total",
    "by_score_falls",
    "conditions_are_boolean",
    "dedup_leaves_no_pair",
    "dedup_names_a_better_copy",
    "filter_is_idempotent",
    "filter_keeps_scores",
    "greedy_goes_down_the_ranking",
    "knapsack_is_exact",
    "knapsack_is_optimal",
    "knapsack_total_is_of_the_set",
    "may_be_copies",
    "mmr_of_relevance_alone_is_greedy",
    "no_arrangement_is_better",
    "nothing_is_lost",
    "of_one_id_the_best_stays",
    "order_of_input_is_no_matter",
    "prefix_is_a_prefix",
    "reasons_are_true",
    "rows_are_treated_alike",
    "selection_fits",
    "selector_fills_up",
    "similarity",
    "stable_keeps_the_prompt",
    "threshold_keeps_what_reaches_it",
    "ushape_has_full_quality",
    "ushape_puts_the_best_at_the_edges",
    "values_tell_the_way_of_each_score",
]

# -- pack ----------------------------------------------------------------------------------


def values_tell_the_way_of_each_score(chunks: Sequence[Chunk], packed: Packed) -> None:
    """The steps of a chunk lead from the score that it came with from one stage to the next."""
    came = collections.defaultdict(set)
    for at, chunk in enumerate(chunks):
        came[f"chunk-{at}" if chunk.id is None else chunk.id].add(chunk.score)
    texts = [trace.stage for trace in packed.report.stages]
    for id_, steps in packed.report.values.items():
        assert packed.value(id_) == steps
        assert steps[0].before in came.get(id_, {chunk.score for chunk in chunks})  # a made id
        for before, after in itertools.pairwise(steps):
            assert before.after == after.before
            assert texts.index(before.stage) <= len(texts) - 1 - texts[::-1].index(after.stage)
    parts_make_the_score(packed)


def nothing_is_lost(chunks: Sequence[Chunk], packed: Packed, policy: Policy) -> None:
    """Packed + excluded = input, each once; each exclusion has a reason that its stage can give,
    the text of a stage of the policy (or `pack`), and a detail.
    """
    input_is_accounted_for(chunks, packed)
    exclusions_name_their_stage(packed, policy)
    for out in packed.report.excluded:
        assert out.detail, f"{out.id!r} is out by {out.stage!r} without a detail"


def of_one_id_the_best_stays(chunks: Sequence[Chunk], packed: Packed) -> None:
    """Of the chunks with one id, the one with the highest score stays, the earliest of equals."""
    by_id: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        if chunk.id is not None and chunk.content.strip():
            by_id.setdefault(chunk.id, []).append(chunk)
    expected: collections.Counter[object] = collections.Counter()
    for id_, same in by_id.items():
        best = max(same, key=lambda chunk: chunk.score)  # the first of equals
        expected.update((id_, chunk.content) for chunk in same if chunk is not best)
    assert expected == collections.Counter(
        (out.id, out.content) for out in packed.report.excluded if out.reason is Reason.DUPLICATE
    )


def order_of_input_is_no_matter(one: Packed, other: Packed) -> None:
    """Two calls that differ in the order of the input alone pack the same in the same order, and
    exclude the same for the same reasons.  (For distinct scores and given ids.)
    """
    assert [chunk.id for chunk in one] == [chunk.id for chunk in other]
    assert _exclusions(one) == _exclusions(other)


def _exclusions(packed: Packed) -> set[tuple[object, ...]]:
    return {
        (out.id, out.reason, out.stage, out.redundant_with, out.similarity)
        for out in packed.report.excluded
    }


# -- filters and scoring -------------------------------------------------------------------


def rows_are_treated_alike(stage: Any, pool: Pool, shuffled: Pool) -> None:
    """Of a pool and the same in another order a stage keeps the same chunks with equal scores."""
    one, other = run(stage, pool), run(stage, shuffled)
    assert dict(zip(one.ids, one.scores.tolist(), strict=True)) == dict(
        zip(other.ids, other.scores.tolist(), strict=True)
    )


def filter_is_idempotent(stage: Any, pool: Pool) -> None:
    """A filter applied twice excludes no more than applied once."""
    once = run(stage, pool)
    assert run(stage, once).table_rows.tolist() == once.table_rows.tolist()


def filter_keeps_scores(stage: Any, pool: Pool) -> None:
    """A filter keeps the current scores; but `dedup` by containment gives the longer text the better."""
    after = run(stage, pool)
    score = dict(zip(pool.table_rows.tolist(), pool.scores.tolist(), strict=True))
    before = [score[row] for row in after.table_rows.tolist()]
    if getattr(stage, "metric", None) == "containment":
        assert all(now >= was for now, was in zip(after.scores.tolist(), before, strict=True))
    else:
        assert after.scores.tolist() == before


def threshold_keeps_what_reaches_it(pool: Pool, floor: float) -> None:
    """`threshold(floor)` keeps the scores of the floor and above, and no other."""
    after = run(threshold(floor), pool)
    assert after.scores.tolist() == [score for score in pool.scores.tolist() if score >= floor]


COSINE_TOLERANCE = 1e-6
"""Cosines of float32 vectors agree this far; of sets of trigrams the quotients are exact."""


def similarity(pool: Pool, left: int, right: int, metric: str) -> tuple[float, float]:
    """Of two rows of a pool, and how far it may be off, straight from the definitions."""
    vectors = pool.embeddings
    if vectors is not None and metric != "jaccard":
        a, b = vectors[left].astype(np.float64), vectors[right].astype(np.float64)
        lengths = float(np.linalg.norm(a)), float(np.linalg.norm(b))
        if all(lengths):
            return float((a / lengths[0]) @ (b / lengths[1])), COSINE_TOLERANCE
    if metric == "cosine":
        return 0.0, 0.0
    sets = [trigrams(" ".join(pool.texts[row].lower().split())) for row in (left, right)]
    return jaccard(*sets), 0.0


def may_be_copies(stage: Any, pool: Pool, left: int, right: int) -> bool:
    """Whether the guard of a stage lets one of two near-duplicates be dropped for the other."""
    texts = pool.texts
    return stage.guard != "keep" or signature(texts[left]) == signature(texts[right])


def dedup_leaves_no_pair(stage: Any, pool: Pool) -> None:
    """No two chunks that `dedup` keeps are as similar as its threshold, but for what its guard keeps."""
    after = run(stage, pool)
    place = {row: at for at, row in enumerate(pool.table_rows.tolist())}
    kept = [place[row] for row in after.table_rows.tolist()]
    for left, right in itertools.combinations(kept, 2):
        if not may_be_copies(stage, pool, left, right):
            continue
        value, tolerance = similarity(pool, left, right, stage.metric)
        assert value < stage.threshold + tolerance


def dedup_names_a_better_copy(stage: Any, pool: Pool) -> None:
    """Every chunk that `dedup` drops is as similar as its threshold to the chunk that it names,
    which is kept, scores at least as high, and is the most similar of those that were kept.
    """
    after = run(stage, pool)
    place = {row: at for at, row in enumerate(pool.table_rows.tolist())}
    kept = [place[row] for row in after.table_rows.tolist()]
    for cut in after.cuts[len(pool.cuts) :]:
        assert cut.reason is Reason.REDUNDANT
        assert cut.redundant_with is not None
        assert cut.similarity is not None
        for row, survivor, told in zip(cut.rows, cut.redundant_with, cut.similarity, strict=True):
            out, near = place[int(row)], place[int(survivor)]
            value, tolerance = similarity(pool, out, near, stage.metric)
            assert near in kept
            assert may_be_copies(stage, pool, near, out)
            assert value >= stage.threshold - tolerance
            assert abs(told - value) <= tolerance
            assert (pool.scores[near], -near) > (pool.scores[out], -out)
            for other in kept:
                if may_be_copies(stage, pool, other, out) and (pool.scores[other], -other) > (
                    pool.scores[out],
                    -out,
                ):
                    nearer, other_tolerance = similarity(pool, out, other, stage.metric)
                    assert nearer <= value + tolerance + other_tolerance


# -- selectors -----------------------------------------------------------------------------


def selector_fills_up(stage: Any, pool: Pool) -> None:
    """A selector that wants every chunk leaves out only for the budget: no `strategy`."""
    cuts = run(stage, pool).pool.cuts[len(pool.cuts) :]
    assert all(cut.reason is Reason.BUDGET for cut in cuts)


def greedy_goes_down_the_ranking(pool: Pool) -> None:
    """`greedy` goes by score, earlier rows first among equals, and takes each that still fits."""
    left, expected = pool.budget, []
    for row in sorted(range(len(pool)), key=lambda row: (-pool.scores[row], row)):
        if pool.costs[row] <= left:
            expected.append(row)
            left -= int(pool.costs[row])
    assert run(greedy, pool).chosen.tolist() == expected


def prefix_is_a_prefix(pool: Pool) -> None:
    """`prefix` chooses the best in a row; the next one does not fit."""
    ranking = sorted(range(len(pool)), key=lambda row: (-pool.scores[row], row))
    chosen = run(prefix, pool).chosen.tolist()
    assert chosen == ranking[: len(chosen)]
    if len(chosen) < len(ranking):
        left = pool.budget - sum(pool.costs[chosen].tolist())
        assert pool.costs[ranking[len(chosen)]] > left


def mmr_of_relevance_alone_is_greedy(pool: Pool) -> None:
    """`mmr(1.0)` chooses what `greedy` chooses, in the same order."""
    assert run(mmr(1.0), pool).chosen.tolist() == run(greedy, pool).chosen.tolist()


def best_total(scores: Sequence[float], costs: Sequence[int], capacity: int) -> Fraction:
    """The highest total score of any subset within the capacity, exact, by trying them all."""
    subsets = [(0, Fraction(0))]
    for score, cost in zip(scores, costs, strict=True):
        subsets += [
            (spent + cost, total + Fraction(score))
            for spent, total in subsets
            if spent + cost <= capacity
        ]
    return max(total for _, total in subsets)


def knapsack_is_optimal(pool: Pool) -> None:
    """`knapsack` proves its choice; no subset has a higher total but by the rounding to scaled
    integers, and none is above the bound.  Its value is the sum of what it chose.
    """
    selection = run(knapsack, pool)
    scores = pool.scores.tolist()
    best = best_total(scores, pool.costs.tolist(), pool.budget)
    found = sum((Fraction(scores[row]) for row in selection.chosen.tolist()), Fraction(0))
    optimality = selection.optimality
    assert optimality is not None
    assert optimality.proven
    assert optimality.value == float(found)
    assert optimality.bound >= float(best)
    # Some 52 - log2(n) bits for each score below the highest one: half a unit off for each.
    unit = Fraction(max(scores, default=0.0)) / 2 ** (51 - len(scores).bit_length())
    assert best - found <= len(scores) * max(unit, Fraction(0))
    assert optimality.gap <= 1e-12
    assert all(scores[row] > 0 for row in selection.chosen.tolist())


def knapsack_is_exact(pool: Pool) -> None:
    """Where scores are short binary fractions nothing is rounded: value = bound = brute force."""
    optimality = run(knapsack, pool).optimality
    best = float(best_total(pool.scores.tolist(), pool.costs.tolist(), pool.budget))
    assert (optimality.value, optimality.bound, optimality.gap) == (best, best, 0.0)
    assert optimality.proven


def knapsack_total_is_of_the_set(pool: Pool, shuffled: Pool) -> None:
    """The order of the input never changes the total of `knapsack`."""
    assert run(knapsack, pool).optimality == run(knapsack, shuffled).optimality


# -- orders --------------------------------------------------------------------------------


def by_score_falls(selection: Selection) -> None:
    """`by_score` shows falling scores, equal ones in input order."""
    layout = run(by_score, selection)
    shown = [(-layout.pool.scores[row], int(row)) for row in layout.pool_rows]
    assert shown == sorted(shown)


def ushape_puts_the_best_at_the_edges(selection: Selection) -> None:
    """Rank r lies r // 2 places from an edge: even ranks from the front, odd ones from the back."""
    ranked = run(by_score, selection).ids
    shown = run(ushape, selection).ids
    for rank, id_ in enumerate(ranked):
        from_the_back = rank % 2 == 1
        assert shown[-1 - rank // 2 if from_the_back else rank // 2] == id_


def ushape_has_full_quality(packed: Packed) -> None:
    """The position quality of a u-shape is 1.0 to 1e-12, None under three or for equal scores."""
    quality = packed.report.position_quality
    if len(packed) < 3 or len({chunk.score for chunk in packed}) == 1:
        assert quality is None
    else:
        assert quality is not None
        assert math.isclose(quality, 1.0, rel_tol=0.0, abs_tol=1e-12)


def no_arrangement_is_better(packed: Packed) -> None:
    """The position quality of any order is at most 1.0 (to 1e-12)."""
    quality = packed.report.position_quality
    assert quality is None or quality <= 1.0 + 1e-12


def stable_keeps_the_prompt(previous: Sequence[str], selection: Selection) -> None:
    """`stable` shows first what the previous prompt had, in its order, then the rest as chosen."""
    before = list(dict.fromkeys(id_ for id_ in previous if id_ in selection.ids))
    after = [id_ for id_ in selection.ids if id_ not in before]
    assert run(stable(previous), selection).ids == before + after


# -- the algebra ---------------------------------------------------------------------------


def conditions_are_boolean(
    left: Condition, right: Condition, metadata: Mapping[str, object]
) -> None:
    """`&`, `|` and `~` are `and`, `or` and `not`, and so obey De Morgan's laws."""
    a, b = left.holds(metadata), right.holds(metadata)
    assert (left & right).holds(metadata) == (a and b)
    assert (left | right).holds(metadata) == (a or b)
    assert (~left).holds(metadata) == (not a)
    assert (~(left & right)).holds(metadata) == (~left | ~right).holds(metadata)
