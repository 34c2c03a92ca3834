from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from packer import Chunk, PackError, Policy
from strategies import (
    Context,
    chronological,
    coverage,
    custom,
    dedup,
    distinct,
    dpp,
    from_options,
    greedy,
    knapsack,
    max_candidates,
    mmr,
    ushape,
)


def first(chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
    return chunks[:1]


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        ({}, greedy),
        ({"strategy": "greedy", "lambda_": 0.7}, greedy),
        ({"strategy": "mmr"}, mmr(0.5)),
        (
            {"strategy": "mmr", "lambda_": 1, "similarity_metric": "cosine"},
            mmr(1.0, metric="cosine"),
        ),
        ({"strategy": "knapsack", "ordering": "u-shaped"}, knapsack | ushape),
        ({"ordering": "natural"}, greedy),
        ({"ordering": "chronological"}, greedy | chronological()),
        ({"redundancy_threshold": 0.9}, dedup(0.9) | greedy),
        ({"redundancy_threshold": 0}, greedy),
        ({"redundancy_threshold": 0.0}, greedy),
        ({"redundancy_threshold": 1}, greedy),
        ({"redundancy_threshold": 1.0}, greedy),
        ({"redundancy_threshold": None}, greedy),
        ({"max_candidates": 0}, max_candidates(0) | greedy),
        ({"max_candidates": 5}, max_candidates(5) | greedy),
        ({"strategy": "custom", "custom_strategy": first}, custom(first)),
        ({"custom_strategy": first}, greedy),
        (
            {
                "max_candidates": 20,
                "redundancy_threshold": 0.85,
                "similarity_metric": "jaccard",
                "strategy": "mmr",
                "lambda_": 0.7,
                "ordering": "u-shaped",
            },
            max_candidates(20)
            | dedup(0.85, metric="jaccard")
            | mmr(0.7, metric="jaccard")
            | ushape,
        ),
    ],
)
def test_options_are_the_composition_that_they_stand_for(
    options: dict[str, Any], policy: Policy
) -> None:
    assert from_options(**options) == policy
    assert repr(from_options(**options)) == repr(policy)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"strategy": "best"}, "INVALID_STRATEGY"),
        ({"strategy": None}, "INVALID_STRATEGY"),
        ({"strategy": ["greedy"]}, "INVALID_STRATEGY"),
        ({"strategy": "custom"}, "MISSING_CUSTOM_STRATEGY"),
        ({"strategy": "custom", "custom_strategy": 3}, "INVALID_PARAMETER"),
        ({"custom_strategy": 3}, "INVALID_PARAMETER"),
        ({"ordering": "zigzag"}, "INVALID_PARAMETER"),
        ({"ordering": None}, "INVALID_PARAMETER"),
        ({"ordering": ["natural"]}, "INVALID_PARAMETER"),
        ({"similarity_metric": "euclid"}, "INVALID_PARAMETER"),
        ({"similarity_metric": None}, "INVALID_PARAMETER"),
        ({"lambda_": 5}, "INVALID_PARAMETER"),
        ({"lambda_": float("nan")}, "INVALID_PARAMETER"),
        ({"lambda_": True}, "INVALID_PARAMETER"),
        ({"redundancy_threshold": 1.5}, "INVALID_PARAMETER"),
        ({"redundancy_threshold": float("nan")}, "INVALID_PARAMETER"),
        ({"redundancy_threshold": -0.1}, "INVALID_PARAMETER"),
        ({"redundancy_threshold": True}, "INVALID_PARAMETER"),
        ({"redundancy_threshold": False}, "INVALID_PARAMETER"),
        ({"redundancy_threshold": "0.9"}, "INVALID_PARAMETER"),
        ({"max_candidates": -1}, "INVALID_PARAMETER"),
        ({"max_candidates": 1.0}, "INVALID_PARAMETER"),
        ({"max_candidates": True}, "INVALID_PARAMETER"),
    ],
    ids=repr,
)
def test_a_bad_option_is_refused_with_its_code(options: dict[str, Any], code: str) -> None:
    with pytest.raises(PackError) as caught:
        from_options(**options)
    assert caught.value.code == code


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="lamda"):
        from_options(lamda=0.5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        from_options("greedy")  # type: ignore[call-arg]


def test_the_error_on_an_unknown_strategy_names_the_known() -> None:
    with pytest.raises(PackError) as caught:
        from_options(strategy="best")
    assert caught.value.message == "strategy is 'best'; give one of greedy, mmr, knapsack, custom"
    assert caught.value.details == {"strategy": "best"}


@pytest.mark.parametrize("stage", [mmr, dpp, coverage, dedup, distinct])
def test_a_share_above_1_or_below_0_is_refused(stage: Any) -> None:
    assert stage(1.0) == stage(1)
    for wrong in (np.nextafter(1.0, 2.0), 1.5, -0.5):
        with pytest.raises(PackError, match=f"^{stage.__name__}: .* at most 1") as caught:
            stage(wrong)
        assert caught.value.code == "INVALID_PARAMETER"
