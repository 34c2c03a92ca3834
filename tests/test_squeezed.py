"""The warning `squeezed-scores`: when lengths spread and scores do not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Pool, pack
from strategies import boost, density, field, greedy, knapsack, normalize, utility
from strategies.squeezed import spread, squeezed

BOTH = pytest.mark.parametrize("selector", [knapsack, density], ids=repr)


def codes(selector: Any, scores: Any, tokens: Any, budget: int) -> list[str]:
    pool = Pool.from_arrays(scores, tokens, budget=budget)
    return [warning.code for warning in selector(pool).pool.warnings]


def drawn(low: float, high: float, n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.uniform(low, high, n), rng.lognormal(5.0, 0.5, n).astype(np.int64)


@BOTH
def test_cosines_draw_it_and_what_spreads_does_not(selector: Any) -> None:
    assert codes(selector, *drawn(0.3, 0.7), 1000) == ["squeezed-scores"]
    scores, tokens = drawn(0.0, 1.0)
    assert codes(selector, scores**4, tokens, 1000) == []
    assert codes(greedy, *drawn(0.3, 0.7), 1000) == []


@BOTH
def test_it_is_drawn_only_where_lengths_decide(selector: Any) -> None:
    scores, tokens = drawn(0.3, 0.7)
    assert codes(selector, scores, tokens, int(tokens.sum())) == []  # all fits
    assert codes(selector, scores, np.full(60, 200), 1000) == []  # all are of one length
    assert codes(selector, scores, tokens, int(tokens.sum()) - 1) == ["squeezed-scores"]
    assert codes(selector, scores[:4], tokens[:4], 100) == []  # too few to say
    assert codes(selector, scores[:5], tokens[:5], 100) == ["squeezed-scores"]


@BOTH
def test_fitted_probabilities_never_draw_it(selector: Any) -> None:
    """However close they are; what is done to them afterwards counts again."""
    scores, tokens = drawn(0.3, 0.7)
    pool = Pool.from_arrays(scores, tokens, budget=1000)
    stage = utility(intercept=-1.0, slope=0.1)
    assert selector(stage(pool)).pool.warnings == ()
    after = boost(field("kind") == "faq", 2.0)(stage(pool))
    assert [warning.code for warning in selector(after).pool.warnings] == ["squeezed-scores"]


def test_a_chunk_of_one_token_counts_and_a_free_one_does_not() -> None:
    """Five with a cost are enough to say it, four and a free one are not."""
    scores = [0.5, 0.5, 0.5, 0.5, 0.51]
    for tokens, told in (([1, 2, 4, 8, 16], ["squeezed-scores"]), ([0, 2, 4, 8, 16], [])):
        assert codes(knapsack, scores, tokens, 20) == told


def test_it_says_the_numbers_and_the_mend() -> None:
    chunks = [Chunk("long", 0.7, id="long", tokens=300)] + [
        Chunk(f"short {n}", 0.5, id=f"short-{n}", tokens=30) for n in range(9)
    ]
    [warning] = pack(chunks, knapsack, budget=300).report.warnings
    # Scores: mean 0.52, deviation 0.06.  Tokens: mean 57, deviation 81.
    assert warning.message == (
        "the scores of 10 chunks spread by 0.12 of their mean, their tokens by 1.42: knapsack then "
        "takes many short weak chunks before a long good one; fit the scores to labels and put "
        "that utility(...) before it, or take greedy"
    )
    assert pack(chunks, normalize() | knapsack, budget=300).report.warnings == ()


@given(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=9), st.sampled_from([1e-3, 7.0, 1e300]))
def test_the_spread_knows_no_unit(values: list[float], unit: float) -> None:
    column = np.array(values)
    expected = column.std() / column.mean()
    assert spread(column * unit) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def told_of(scores: Any, costs: Any, budget: int = 1) -> str | None:
    return squeezed(np.array(scores, np.float64), np.array(costs, np.int64), budget, "it")


def spreading(spread_: float) -> Any:
    """Six values whose standard deviation is so much of their mean."""
    return 100.0 * (1.0 + spread_ * np.array([1.0, -1.0] * 3))


@pytest.mark.parametrize(
    ("scores", "lengths", "drawn"),
    [
        (0.3, 0.15, True),  # less than 0.5 is close, however the lengths spread
        (0.45, 0.2, True),
        (0.55, 0.2, False),
        (0.55, 0.5, False),
        (0.6, 0.8, True),  # less than the lengths do
        (0.8, 0.6, False),
        (0.05, 0.12, True),
        (0.05, 0.08, False),  # lengths that hardly differ decide nothing
    ],
)
def test_scores_spread_by_less_than_half_of_their_mean_or_than_lengths_do(
    scores: float, lengths: float, *, drawn: bool
) -> None:
    assert bool(told_of(spreading(scores), spreading(lengths))) == drawn


def test_only_what_has_a_score_and_a_cost_is_counted() -> None:
    """Six chunks, beside free ones and such as are worth nothing."""
    scores = [*spreading(0.1), 0.0, -1.0, 900.0, 0.0]
    costs = [*spreading(0.5), 900, 900, 0, 0]
    assert str(told_of(scores, costs)).startswith(
        "the scores of 6 chunks spread by 0.10 of their mean, their tokens by 0.50: it then takes"
    )
    assert told_of(scores, costs, budget=600) is None
    assert told_of(scores, costs, budget=599) is not None
