import math
from typing import Any

import numpy as np
import pytest

from packer import Chunk, PackError, Pool, Reason, pack
from strategies import field, greedy, max_candidates, threshold, top, where


def pool(*scores: float) -> Pool:
    return Pool.from_arrays(list(scores), [1] * len(scores))


def out(narrowed: Pool) -> list[tuple[str, Reason, str | None]]:
    name = narrowed.candidates.id
    return [
        (name(int(row)), cut.reason, cut.detail(at))
        for cut in narrowed.cuts
        for at, row in enumerate(cut.rows)
    ]


def test_threshold_keeps_what_reaches_the_floor() -> None:
    narrowed = threshold(0.6)(pool(0.6, np.nextafter(0.6, 0), 0.9, -1))
    assert narrowed.ids == ["chunk-0", "chunk-2"]
    assert out(narrowed) == [
        ("chunk-1", Reason.BELOW_THRESHOLD, "score 0.6, floor 0.6"),
        ("chunk-3", Reason.BELOW_THRESHOLD, "score -1, floor 0.6"),
    ]


@pytest.mark.parametrize("floor", [-1e300, 1e300, 0, 5e-324])
def test_threshold_takes_any_finite_floor(floor: float) -> None:
    assert (
        len(threshold(floor)(pool(1e300, 5e-324, -1e300)))
        == {
            -1e300: 3,
            1e300: 1,
            0: 2,
            5e-324: 2,
        }[floor]
    )


def test_a_higher_threshold_never_keeps_more() -> None:
    scores = pool(0.05, 0.3, 0.55, 0.9)
    assert [len(threshold(step / 10)(scores)) for step in range(11)] == [
        4, 3, 3, 3, 2, 2, 1, 1, 1, 1, 0,
    ]  # fmt: skip


@pytest.mark.parametrize("floor", [math.nan, math.inf, -math.inf, True, "0.5", None, 10**400])
def test_threshold_refuses_what_is_no_finite_number(floor: Any) -> None:
    with pytest.raises(
        PackError, match=r"^threshold: floor is .*; give a finite number$"
    ) as caught:
        threshold(floor)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details == {"stage": "threshold", "parameter": "floor", "value": floor}


def test_max_candidates_keeps_the_first_in_input_order() -> None:
    narrowed = max_candidates(2)(pool(0.1, 0.2, 0.9))
    assert narrowed.ids == ["chunk-0", "chunk-1"]
    assert out(narrowed) == [("chunk-2", Reason.MAX_CANDIDATES, "number 3 in input order, limit 2")]


def test_top_keeps_the_best_and_the_earlier_of_equals_in_input_order() -> None:
    narrowed = top(3)(pool(0.5, 0.1, 0.9, 0.5, 0.5))
    assert narrowed.ids == ["chunk-0", "chunk-2", "chunk-3"]
    assert out(narrowed) == [
        ("chunk-1", Reason.MAX_CANDIDATES, "rank 5 by score, limit 3"),
        ("chunk-4", Reason.MAX_CANDIDATES, "rank 4 by score, limit 3"),
    ]


@pytest.mark.parametrize("stage", [max_candidates, top])
def test_a_count_of_0_keeps_none_and_a_large_one_all(stage: Any) -> None:
    assert len(stage(0)(pool(0.5, 0.1))) == 0
    assert len(stage(2)(pool(0.5, 0.1))) == 2
    assert len(stage(10**12)(pool(0.5, 0.1))) == 2
    assert len(stage(np.int64(1))(pool(0.5, 0.1))) == 1
    assert len(stage(3)(pool())) == 0


def test_where_keeps_what_meets_all_conditions_and_names_the_first_that_fails() -> None:
    chunks = [
        Chunk("a", 0.9, id="in", metadata={"status": "current", "year": 2024}),
        Chunk("b", 0.8, id="old", metadata={"status": "current", "year": 2019}),
        Chunk("c", 0.7, id="bare"),
    ]
    policy = where(field("status") == "current", field("year") >= 2023) | greedy
    packed = pack(chunks, policy, budget=99)
    assert [one.id for one in packed] == ["in"]
    assert [(one.id, one.reason, one.detail) for one in packed.report.excluded] == [
        ("old", Reason.METADATA, "year is 2019, wanted year >= 2023"),
        ("bare", Reason.METADATA, 'status is missing, wanted status == "current"'),
    ]


@pytest.mark.parametrize("condition", [True, "status", field("status"), None])
def test_where_takes_conditions_only(condition: Any) -> None:
    with pytest.raises(PackError, match="give conditions") as caught:
        where(condition)
    assert caught.value.code == "INVALID_PARAMETER"


def test_a_filter_over_no_chunks_gives_no_chunks() -> None:
    for stage in (threshold(0.5), max_candidates(1), top(1), where(field("a") == 1)):
        assert len(stage(pool())) == 0
