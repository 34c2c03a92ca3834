"""The laws of stages from a pool to a pool, each over every such stage of the catalog."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Pool
from packer.testing import laws as kit_laws
from proofs import laws
from tests.generators import FILTERS, SCORING, chunks_for, pools, shuffled_pools, stages, trials

# The share that a longer text contains is no similarity of two: see tests/test_containment.py.
near_copies = trials("dedup").filter(lambda trial: trial[0].metric != "containment")

every_filter = pytest.mark.parametrize("word", FILTERS)


@every_filter
@given(data=st.data())
def test_filter_narrows(word: str, data: st.DataObject) -> None:
    kit_laws.filter_narrows(*data.draw(trials(word)))


@every_filter
@given(data=st.data())
def test_filter_keeps_scores(word: str, data: st.DataObject) -> None:
    laws.filter_keeps_scores(*data.draw(trials(word)))


@every_filter
@given(data=st.data())
def test_filter_is_idempotent(word: str, data: st.DataObject) -> None:
    laws.filter_is_idempotent(*data.draw(trials(word)))


@pytest.mark.parametrize("word", SCORING)
@given(data=st.data())
def test_scoring_keeps_rows(word: str, data: st.DataObject) -> None:
    kit_laws.scoring_keeps_rows(*data.draw(trials(word)))


@pytest.mark.parametrize("word", [w for w in FILTERS + SCORING if w != "max_candidates"])
@given(data=st.data())
def test_rows_are_treated_alike_in_any_order(word: str, data: st.DataObject) -> None:
    stage = data.draw(stages(word))
    pool, shuffled = data.draw(shuffled_pools(chunks_for(stage, distinct_scores=True)))
    laws.rows_are_treated_alike(stage, pool, shuffled)


@given(pools(), st.data())
def test_threshold_keeps_what_reaches_it(pool: Pool, data: st.DataObject) -> None:
    floor = data.draw(st.sampled_from([0.5, *pool.scores.tolist()]))
    laws.threshold_keeps_what_reaches_it(pool, floor)


@given(near_copies)
def test_dedup_leaves_no_pair(trial: tuple[object, Pool]) -> None:
    laws.dedup_leaves_no_pair(*trial)


@given(near_copies)
def test_dedup_names_a_better_copy(trial: tuple[object, Pool]) -> None:
    laws.dedup_names_a_better_copy(*trial)
