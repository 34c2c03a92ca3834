"""Scores of different kinds on one scale: the same for any order of the chunks, and finite."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.scales import minmax, rank, sigmoid, zscore

FINITE = st.floats(-1.7e308, 1.7e308) | st.sampled_from((0.0, 5e-324, -5e-324, 1e-300, 0.5))
SCALES = (minmax, zscore, rank, sigmoid)


@pytest.mark.parametrize("scale", SCALES)
@given(st.lists(FINITE, max_size=9), st.randoms(use_true_random=False))
def test_a_scale_is_finite_and_the_same_in_any_order(
    scale: Any, values: list[float], random: Any
) -> None:
    places = list(range(len(values)))
    random.shuffle(places)
    found = scale(np.array(values, np.float64))
    assert np.isfinite(found).all()
    shuffled = scale(np.array([values[place] for place in places], np.float64))
    assert shuffled.tolist() == [found[place] for place in places]


@pytest.mark.parametrize("scale", SCALES)
@given(st.lists(FINITE, min_size=1, max_size=9))
def test_a_scale_keeps_the_order(scale: Any, values: list[float]) -> None:
    found = scale(np.array(sorted(values), np.float64))
    assert (np.diff(found) >= 0).all()


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9))
def test_zscore_has_mean_0_and_deviation_1(values: list[float]) -> None:
    found = zscore(np.array(values))
    assert math.fsum(found.tolist()) == pytest.approx(0.0, abs=1e-9)
    squares = math.fsum((found * found).tolist()) / len(values)
    assert squares == pytest.approx(1.0, abs=1e-9) or not found.any()


def test_zscore_by_hand() -> None:
    assert zscore(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]
    assert zscore(np.array([1.0, 1.0])).tolist() == [0.0, 0.0]
    assert zscore(np.array([0.0, 5e-324])).tolist() == [0.0, 0.0]
    assert zscore(np.array([])).tolist() == []
