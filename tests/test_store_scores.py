import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import PackError
from packer.integrations.scores import (
    METRICS,
    Metric,
    checked_kind,
    checked_metric,
    refuse_ascending,
    scores,
)

DISTANCES: tuple[Metric, ...] = ("cosine_distance", "l2", "l2_squared", "negative_inner_product")


def of(metric: Any, *values: Any) -> list[float]:
    return scores(values, [None] * len(values), metric, mend="mend it")


def values(metric: Metric) -> st.SearchStrategy[float]:
    """Numbers that a store may give under the metric."""
    if metric in ("similarity", "negative_inner_product"):
        return st.floats(-1e9, 1e9)
    return st.floats(0.0, 2.0 if metric == "cosine_distance" else 1e9)


@pytest.mark.parametrize(
    ("metric", "value", "score"),
    [
        ("similarity", 0.25, 0.25),
        ("similarity", -3.0, -3.0),
        ("cosine_distance", 0.0, 1.0),
        ("cosine_distance", 0.25, 0.75),
        ("cosine_distance", 2.0, -1.0),
        ("l2", 0.0, 1.0),
        ("l2", 3.0, 0.25),
        ("l2_squared", 0.0, 1.0),
        ("l2_squared", 9.0, 0.25),
        ("negative_inner_product", -0.75, 0.75),
        ("negative_inner_product", 2.0, -2.0),
        # one rounding of float32 beyond the range is the end of it
        ("cosine_distance", -1.1920929e-07, 1.0),
        ("cosine_distance", 2.0000002, -1.0),
        ("l2", -1e-6, 1.0),
        ("l2_squared", -1e-6, 1.0),
    ],
)
def test_each_metric_has_its_formula(metric: Metric, value: float, score: float) -> None:
    assert of(metric, value) == [score]


@pytest.mark.parametrize("metric", DISTANCES)
@given(st.data())
def test_a_nearer_row_never_scores_less(metric: Metric, data: st.DataObject) -> None:
    near, far = sorted(data.draw(st.tuples(values(metric), values(metric))))
    high, low = of(metric, near, far)
    assert high >= low
    if far - near > 1e-6 * max(1.0, abs(far)):
        assert high > low


@given(st.floats(0.0, 1e6))
def test_a_distance_and_its_square_have_one_score(distance: float) -> None:
    assert of("l2", distance)[0] == pytest.approx(of("l2_squared", distance**2)[0], rel=1e-12)


@given(st.integers(1, 30))
def test_rank_is_a_straight_line_from_one(count: int) -> None:
    found = of("rank", *[math.nan] * count)
    assert found == [float(Fraction(count - at, count)) for at in range(count)]


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.float64(0.5), Decimal("0.5"), Fraction(1, 2)]
)
def test_any_kind_of_number_will_do(value: Any) -> None:
    assert of("similarity", value) == [0.5]
    assert of("similarity", 1) == [1.0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [math.nan, math.inf, None, "0.5", True, [0.5], 10**400])
def test_what_is_no_number_is_refused(metric: Metric, value: Any) -> None:
    with pytest.raises(PackError, match=r"row 1 \('b'\) has the .*; mend it") as caught:
        scores([0.5, value], ["a", "b"], metric, mend="mend it")
    assert caught.value.code == "INVALID_CHUNK"


@pytest.mark.parametrize(
    ("metric", "value", "told"),
    [
        ("cosine_distance", -0.3, "is below 0: no cosine_distance is.*metric='similarity'"),
        ("cosine_distance", 2.1, "is above 2: no cosine_distance is.*metric='l2_squared'"),
        ("l2", -0.3, "is below 0: no l2 is.*metric='negative_inner_product'"),
        ("l2_squared", -2e-5, "is below 0: no l2_squared is"),
    ],
)
def test_a_number_that_the_metric_cannot_have(metric: Metric, value: float, told: str) -> None:
    with pytest.raises(PackError, match=told) as caught:
        of(metric, value)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details["parameter"] == "metric"
    assert caught.value.details["value"] == value


@pytest.mark.parametrize("metric", ["cosine", "distance", None, 1, ["l2"], np.array([1, 2])])
def test_an_unknown_metric_names_them_all(metric: Any) -> None:
    for check in (checked_metric, checked_kind):
        with pytest.raises(PackError, match="'cosine_distance', 'l2', 'l2_squared'") as caught:
            check(metric)
        assert caught.value.code == "INVALID_PARAMETER"


@pytest.mark.parametrize(
    ("found", "metric", "told"),
    [
        ([0.1, 0.5, 0.9], "similarity", "pass metric='cosine_distance', metric='l2'"),
        ([0.1, 0.1, 0.2], "l2", "pass metric='similarity', whichever"),
    ],
)
def test_scores_that_only_rise_were_read_the_wrong_way_round(
    found: list[float], metric: Metric, told: str
) -> None:
    with pytest.raises(PackError, match=told) as caught:
        refuse_ascending(found, metric)
    assert caught.value.code == "INVALID_PARAMETER"


@given(st.lists(st.floats(0, 1), max_size=6))
def test_scores_that_fall_once_may_be_right(found: list[float]) -> None:
    rises = found == sorted(found) and len(set(found)) > 1
    if not rises:
        refuse_ascending(found, "similarity")
