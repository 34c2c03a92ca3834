"""Stages whose answer turns on how ties fall: the kit finds each within 200 cases, however drawn."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, seed, settings

from packer import Pool, Selection
from packer.testing import LawBroken, check_stage, checking
from strategies import greedy
from strategies.greedy import fill

from .planted import Narrows, Rescores, Selects

VARIANTS = range(5)
"""Seeds in the place of the one that every run of the kit has."""


def found(stage: Any, variant: int, monkeypatch: pytest.MonkeyPatch) -> LawBroken:
    """What the kit finds of the stage in cases that are drawn otherwise."""

    def given_otherwise(*strategies: Any) -> Callable[[Any], Any]:
        return lambda test: seed(variant)(given(*strategies)(test))  # type: ignore[no-untyped-call]

    monkeypatch.setattr(checking, "given", given_otherwise)
    found_only = settings(checking._QUIET, phases=(Phase.generate,))  # shrinking is slow
    monkeypatch.setattr(checking, "_QUIET", found_only)
    with pytest.raises(LawBroken) as caught:
        check_stage(stage)
    return caught.value


def chosen(order: Sequence[int], pool: Pool) -> Selection:
    return pool.select(fill(np.asarray(order, np.int64), pool.costs, pool.capacity))


def kept(rows: Any, pool: Pool) -> Pool:
    mask = np.zeros(len(pool), np.bool_)
    mask[rows] = True
    return pool.keep(mask, reason="max-candidates")


def sorted_without_stability(pool: Pool) -> Selection:
    return chosen(np.argsort(-pool.scores).tolist(), pool)


def sorted_by_id(pool: Pool) -> Selection:
    ids = pool.ids
    return chosen(sorted(range(len(pool)), key=lambda row: (-pool.scores[row], ids[row])), pool)


def best_by_row_reversed(pool: Pool) -> Pool:
    ranked = sorted(range(len(pool)), key=lambda row: (pool.scores[row], row), reverse=True)
    return kept(ranked[:3], pool)


def best_by_partition(pool: Pool) -> Pool:
    if len(pool) <= 3:
        return pool
    return kept(np.argpartition(-pool.scores, 3)[:3], pool)


def best_ten(pool: Pool) -> Pool:
    return kept(np.argsort(-pool.scores)[:10], pool)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "stage",
    [
        Selects(sorted_without_stability),
        Selects(sorted_by_id),
        Narrows(best_by_row_reversed),
        Narrows(best_by_partition),
        Narrows(best_ten),
    ],
)
def test_unstable_on_ties(stage: Any, variant: int, monkeypatch: pytest.MonkeyPatch) -> None:
    error = found(stage, variant, monkeypatch)
    assert error.law == "of_twins_the_earlier_is_first"
    if stage != Selects(sorted_by_id):
        return
    one, other = error.case.chunks
    assert str(one.id) > str(other.id)


@pytest.mark.parametrize("variant", VARIANTS)
def test_scoring_that_ranks_the_later_twin_higher(
    variant: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Rescores(lambda pool: pool.rescore(pool.scores + 1e-3 * np.arange(len(pool))))
    error = found(stage, variant, monkeypatch)
    assert error.law == "of_twins_the_later_scores_no_higher"
    assert len(error.case.chunks) == 2


def test_scoring_that_ranks_the_later_twin_lower_passes() -> None:
    check_stage(Rescores(lambda pool: pool.rescore(pool.scores - 1e-3 * np.arange(len(pool)))))


@pytest.mark.parametrize("variant", VARIANTS)
def test_fault_on_more_than_ten_chunks(variant: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def few(pool: Pool) -> Selection:
        assert len(pool) <= 10, "more than ten"
        return greedy(pool)

    error = found(Selects(few), variant, monkeypatch)
    assert len(error.case.chunks) == 11
