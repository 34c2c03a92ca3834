"""The laws of stages from a pool to a selection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Pool
from packer.testing import laws as kit_laws
from proofs import laws
from strategies import custom
from tests.generators import (
    SELECTORS,
    chunk_lists,
    everything,
    holds_function,
    pools,
    shuffled_pools,
    trials,
)

every_selector = pytest.mark.parametrize("word", SELECTORS)

# Multiples of 1/64: their sums are exact, and so are they as scaled integers.
short_fractions = st.integers(-64, 128).map(lambda number: number / 64)


@every_selector
@given(data=st.data())
def test_selection_fits(word: str, data: st.DataObject) -> None:
    kit_laws.selection_fits(*data.draw(trials(word)))


@pytest.mark.parametrize("word", [word for word in SELECTORS if not holds_function(word)])
@given(data=st.data())
def test_reasons_are_true(word: str, data: st.DataObject) -> None:
    kit_laws.reasons_are_true(*data.draw(trials(word)))


@pytest.mark.parametrize("word", ["greedy", "density", "mmr", "coverage"])
@given(data=st.data())
def test_selector_fills_up(word: str, data: st.DataObject) -> None:
    laws.selector_fills_up(*data.draw(trials(word)))


@given(pools())
def test_function_that_chooses_all_leaves_out_what_is_over_budget(pool: Pool) -> None:
    laws.selector_fills_up(custom(everything), pool)


@given(pools())
def test_greedy_goes_down_the_ranking(pool: Pool) -> None:
    laws.greedy_goes_down_the_ranking(pool)


@given(pools())
def test_prefix_is_a_prefix(pool: Pool) -> None:
    laws.prefix_is_a_prefix(pool)


@given(pools())
def test_mmr_of_relevance_alone_is_greedy(pool: Pool) -> None:
    laws.mmr_of_relevance_alone_is_greedy(pool)


@given(pools())
def test_knapsack_is_optimal(pool: Pool) -> None:
    laws.knapsack_is_optimal(pool)


@given(pools(chunk_lists(scores=short_fractions)))
def test_knapsack_is_exact(pool: Pool) -> None:
    laws.knapsack_is_exact(pool)


@given(shuffled_pools(chunk_lists(scores=short_fractions)))
def test_knapsack_total_is_of_the_set(twins: tuple[Pool, Pool]) -> None:
    laws.knapsack_total_is_of_the_set(*twins)
