"""Calibration on real retrieval with known evidence, where the data lies beside this repository."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from packer import Pool
from strategies import density, fit_utility, greedy, knapsack

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
SETS = ("musique", "hotpot", "qmsum", "chunkeval", "nq")


def queries(name: str) -> tuple[list[Pool], list[list[list[str]]]]:
    """The pools of a set, and of each the groups of evidence, one of each of which is wanted."""
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("the retrieval sets (shared/data) are not beside this repository")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        cases: list[dict[str, Any]] = [json.loads(line) for line in lines]
    pools = [
        Pool.from_arrays(
            [chunk["score"] for chunk in case["candidates"]],
            [chunk["tokens"] for chunk in case["candidates"]],
            ids=[chunk["id"] for chunk in case["candidates"]],
        )
        for case in cases
    ]
    return pools, [case["evidence_groups"] for case in cases]


def recall(groups: list[list[str]], chosen: list[str]) -> float:
    return float(np.mean([bool(set(group) & set(chosen)) for group in groups]))


@pytest.mark.parametrize("name", SETS)
def test_raw_cosines_draw_the_warning_and_fitted_probabilities_do_not(name: str) -> None:
    pools, groups = queries(name)
    labels = [[id_ for group in wanted for id_ in group] for wanted in groups]
    stage = fit_utility(pools[::2], labels[::2])
    for selector in (knapsack, density):
        drawn = [
            any(
                told.code == "squeezed-scores" for told in selector(pool.within(1024)).pool.warnings
            )
            for pool in pools
        ]
        assert np.mean(drawn) >= 0.8
        fitted = [selector(stage(pool.within(1024))).pool.warnings for pool in pools]
        assert not any(told.code == "squeezed-scores" for one in fitted for told in one)


def test_the_knapsack_after_utility_is_as_good_as_greedy_and_the_raw_one_is_worse() -> None:
    """Evidence recall, fitted on one half of a set's queries and measured on the other, both ways."""
    fitted, raw = [], []
    for name in SETS:
        pools, groups = queries(name)
        labels = [[id_ for group in wanted for id_ in group] for wanted in groups]
        for half in (0, 1):
            stage = fit_utility(pools[half::2], labels[half::2])
            for budget in (512, 1024, 2048):
                for pool, wanted in zip(pools[1 - half :: 2], groups[1 - half :: 2], strict=True):
                    limited = pool.within(budget)
                    base = recall(wanted, greedy(limited).ids)
                    fitted.append(recall(wanted, knapsack(stage(limited)).ids) - base)
                    raw.append(recall(wanted, knapsack(limited).ids) - base)
    assert np.mean(fitted) > -0.01
    assert np.mean(raw) < -0.05
