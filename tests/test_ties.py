"""Stages whose answer turns on how ties fall: the kit finds each within 200 cases, however drawn."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from packer import Pool, Selection
from packer.testing import check_stage, laws_of
from packer.testing.cases import Case, cases
from packer.testing.checking import MAY_REFUSE, search
from strategies import greedy
from strategies.greedy import fill

from .planted import Narrows, Rescores, Selects

VARIANTS = range(5)
"""Seeds in the place of the one that every run of the kit has."""


def found(stage: Any, variant: int) -> tuple[str, Case]:
    """The law that the kit finds broken in cases that are drawn otherwise, and the case."""
    generated = cases(st.just(stage))
    seen = search(laws_of, generated, MAY_REFUSE, 200, seed=variant, shrink=False)
    seen.drop_chunks(MAY_REFUSE)
    assert seen.broken is not None
    assert seen.case is not None
    return seen.broken.name, seen.case


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
def test_unstable_on_ties(stage: Any, variant: int) -> None:
    law, case = found(stage, variant)
    assert law == "of_twins_the_earlier_is_first"
    if stage != Selects(sorted_by_id):
        return
    assert any(one > other for one, other in combinations(case.pool().ids, 2))  # as text


@pytest.mark.parametrize("variant", VARIANTS)
def test_scoring_that_ranks_the_later_twin_higher(variant: int) -> None:
    stage = Rescores(lambda pool: pool.rescore(pool.scores + 1e-3 * np.arange(len(pool))))
    law, case = found(stage, variant)
    assert law == "of_twins_the_later_scores_no_higher"
    assert len(case.chunks) == 2


def test_scoring_that_ranks_the_later_twin_lower_passes() -> None:
    check_stage(Rescores(lambda pool: pool.rescore(pool.scores - 1e-3 * np.arange(len(pool)))))


@pytest.mark.parametrize("variant", VARIANTS)
def test_fault_on_more_than_ten_chunks(variant: int) -> None:
    def few(pool: Pool) -> Selection:
        assert len(pool) <= 10, "more than ten"
        return greedy(pool)

    _, case = found(Selects(few), variant)
    assert len(case.chunks) == 11
