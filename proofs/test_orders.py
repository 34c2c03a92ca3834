"""The laws of stages from a selection to a layout."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Selection
from packer.testing import laws as kit_laws
from proofs import laws
from tests.generators import ORDERS, selections, stages

ids = st.lists(st.integers(0, 14).map("c{}".format), max_size=12)


@pytest.mark.parametrize("word", ORDERS)
@given(data=st.data())
def test_order_is_a_permutation(word: str, data: st.DataObject) -> None:
    kit_laws.order_is_a_permutation(data.draw(stages(word)), data.draw(selections()))


@given(selections())
def test_by_score_falls(selection: Selection) -> None:
    laws.by_score_falls(selection)


@given(selections())
def test_ushape_puts_the_best_at_the_edges(selection: Selection) -> None:
    laws.ushape_puts_the_best_at_the_edges(selection)


@given(ids, selections())
def test_stable_keeps_the_prompt(previous: list[str], selection: Selection) -> None:
    laws.stable_keeps_the_prompt(previous, selection)
