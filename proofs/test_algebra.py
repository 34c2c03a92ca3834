"""The laws of composition, of conditions, and of the text of policies."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.algebra import Policy
from packer.conditions import Condition
from packer.testing import laws as kit_laws
from proofs import laws
from strategies import greedy, where
from tests.generators import (
    CONSTRAINTS,
    FILTERS,
    METADATA,
    ORDERS,
    PARSED,
    SCORING,
    SELECTORS,
    conditions,
    parsed_policies,
    some_stage,
    stages,
)

before_the_selector = some_stage(FILTERS + SCORING + CONSTRAINTS)
any_stage = before_the_selector | some_stage(SELECTORS) | some_stage(ORDERS)


@st.composite
def compositions(draw: st.DrawFn) -> list[Any]:
    """Three stages or more that compose."""
    steps = draw(st.lists(before_the_selector, min_size=1, max_size=4))
    return [*steps, draw(some_stage(SELECTORS)), draw(some_stage(ORDERS))]


@given(compositions(), st.data())
def test_composition_is_associative(steps: list[Any], data: st.DataObject) -> None:
    kit_laws.composition_is_associative(steps, data.draw(st.integers(1, len(steps) - 1)))


@given(st.lists(any_stage, min_size=2, max_size=4))
def test_only_what_fits_composes(steps: list[Any]) -> None:
    kit_laws.composes_only_what_fits(steps)


@given(parsed_policies())
def test_policy_is_its_text(policy: Policy) -> None:
    kit_laws.policy_is_its_text(policy)


@pytest.mark.parametrize("word", PARSED)
@given(data=st.data())
def test_every_stage_is_its_text(word: str, data: st.DataObject) -> None:
    stage = data.draw(stages(word, wide=True))
    if word in ORDERS:
        kit_laws.policy_is_its_text(greedy | stage)
    elif word in SELECTORS:
        kit_laws.policy_is_its_text(stage)
    else:
        kit_laws.policy_is_its_text(stage | greedy)


@given(conditions(wide=True))
def test_every_condition_is_its_text(condition: Condition) -> None:
    kit_laws.policy_is_its_text(where(condition) | greedy)


@given(conditions(), conditions(), METADATA)
def test_conditions_are_boolean(
    left: Condition, right: Condition, metadata: dict[str, object]
) -> None:
    laws.conditions_are_boolean(left, right, metadata)
