"""Laws proved for every small case: all pools of three chunks over a few scores and costs."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from packer import Pool, Selector
from packer.outcome import position_quality
from proofs import laws
from strategies import coverage, custom, density, dpp, greedy, knapsack, mmr, prefix, ushape
from tests.generators import SELECTORS, everything

SCORES = (-1.0, 1.0, 2.0, 3.0)
COSTS = (0, 1, 2, 3)
BUDGETS = (1, 3, 5)
TEXTS = ("one text", "one text", "another")
EACH_SELECTOR: tuple[Selector, ...] = (
    greedy,
    prefix,
    density,
    knapsack,
    mmr(0.5),
    coverage(),
    coverage(cost_power=1.0),
    dpp(),
    custom(everything),
)


def pools(budget: int) -> Iterator[Pool]:
    """Every pool of three chunks, two of one text, up to the order of the first two."""
    kinds = list(itertools.product(SCORES, COSTS))
    for first, second, third in itertools.product(kinds, repeat=3):
        if first <= second:
            scores, costs = zip(first, second, third, strict=True)
            yield Pool.from_arrays(scores, costs, texts=TEXTS, budget=budget)


@pytest.mark.parametrize("budget", BUDGETS)
def test_knapsack_is_exact_on_all_triples(budget: int) -> None:
    for pool in pools(budget):
        laws.knapsack_is_exact(pool)


@pytest.mark.parametrize("budget", BUDGETS)
def test_rankings_hold_on_all_triples(budget: int) -> None:
    for pool in pools(budget):
        laws.greedy_goes_down_the_ranking(pool)
        laws.prefix_is_a_prefix(pool)
        for selector in (greedy, prefix, density, knapsack):
            laws.reasons_are_true(selector, pool)


@pytest.mark.parametrize("selector", EACH_SELECTOR, ids=str)
def test_every_selector_stays_within_on_all_triples(selector: Selector) -> None:
    for budget in BUDGETS:
        for pool in pools(budget):
            laws.selection_fits(selector, pool)


def test_no_selector_of_the_catalog_is_left_out() -> None:
    assert {selector.name for selector in EACH_SELECTOR} == set(SELECTORS)


def test_mmr_of_relevance_alone_is_greedy_on_all_triples() -> None:
    for pool in pools(3):
        laws.mmr_of_relevance_alone_is_greedy(pool)
        laws.selector_fills_up(mmr(0.0), pool)


@pytest.mark.parametrize("count", range(13))
def test_ushape_is_its_permutation_and_best_of_all(count: int) -> None:
    pool = Pool.from_arrays(np.linspace(1.0, 0.5, count) ** 2, np.ones(count, np.int64))
    selection = pool.select(range(count))
    laws.ushape_puts_the_best_at_the_edges(selection)
    quality = position_quality(ushape(selection).scores)
    assert quality == (None if count < 3 else pytest.approx(1.0, rel=0, abs=1e-12))


@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_no_permutation_is_better_than_the_ushape(count: int) -> None:
    scores = np.array([0.9, 0.8, 0.55, 0.4, 0.15, 0.1])[:count]
    for shown in itertools.permutations(scores.tolist()):
        quality = position_quality(np.array(shown))
        assert quality is not None
        assert quality <= 1.0 + 1e-12


def test_quality_of_the_best_in_the_middle_of_three_is_worked_out() -> None:
    # Closeness 1/3, -2/3, 1/3 about its mean: (0.8 + 0.55 - 2 * 0.9) / (0.9 + 0.8 - 2 * 0.55).
    quality = position_quality(np.array([0.8, 0.9, 0.55]))
    assert quality == pytest.approx(-0.75, rel=0, abs=1e-12)
