import datetime as dt
import math
from typing import Any

import pytest

from packer import Chunk, PackError, Pool, pack
from strategies import boost, by_score, decay, field, greedy, normalize, threshold, ushape

NOW = dt.datetime(2024, 5, 31, tzinfo=dt.UTC)


def pool(*scores: float, **columns: Any) -> Pool:
    return Pool.from_arrays(list(scores), [1] * len(scores), now=NOW, **columns)


# -- decay ----------------------------------------------------------------------------------


def test_decay_halves_the_score_with_each_half_life() -> None:
    stamps = ["2024-05-31", "2024-05-21", "2024-05-11", "2030-01-01", None]
    metadata = [{"timestamp": stamp} for stamp in stamps]
    decayed = decay("10d")(pool(0.8, 0.8, 0.8, 0.8, 0.8, metadata=metadata))
    assert decayed.scores.tolist() == [0.8, 0.4, 0.2, 0.8, 0.8]
    assert decayed.original_scores.tolist() == [0.8] * 5
    assert [(one.code, one.ids) for one in decayed.warnings[1:]] == [("undated", ("chunk-4",))]


def test_decay_over_ages_does_not_underflow_into_an_error() -> None:
    decayed = decay("1s")(pool(1.0, metadata=[{"timestamp": 0}]))
    assert decayed.scores.tolist() == [0.0]


def test_decay_reads_the_key_that_it_is_told() -> None:
    decayed = decay("1d", at="seen")(pool(1.0, metadata=[{"seen": "2024-05-30"}]))
    assert decayed.scores.tolist() == [0.5]
    assert repr(decay("1d", at="seen")) == 'decay("1d", at="seen")'


# -- boost ----------------------------------------------------------------------------------


def test_boost_multiplies_the_score_of_what_meets_the_condition() -> None:
    metadata = [{"source": "handbook"}, {"source": "blog"}, {}]
    stage = boost(field("source") == "handbook", 1.5)
    assert stage(pool(0.5, 0.5, 0.5, metadata=metadata)).scores.tolist() == [0.75, 0.5, 0.5]
    assert repr(stage) == 'boost(source == "handbook", 1.5)'


@pytest.mark.parametrize("factor", [0, -1, math.nan, math.inf, True, "2"])
def test_boost_refuses_a_factor_that_is_not_above_0(factor: Any) -> None:
    with pytest.raises(PackError, match=r"^boost: factor is ") as caught:
        boost(field("a") == 1, factor)
    assert caught.value.code == "INVALID_PARAMETER"


@pytest.mark.parametrize("condition", [True, field("a"), "a == 1", None])
def test_boost_takes_a_condition(condition: Any) -> None:
    with pytest.raises(PackError, match="give a condition, as in field"):
        boost(condition, 2)


def test_a_boost_beyond_the_largest_float_is_refused() -> None:
    metadata: list[dict[str, object]] = [{"a": 1}]
    with pytest.raises(PackError) as caught:
        boost(field("a") == 1, 10.0)(pool(1e308, metadata=metadata).at("boost"))
    assert caught.value.code in {"INVALID_PARAMETER", "INVALID_STRATEGY"}


@pytest.mark.parametrize("stage", [decay("1d"), boost(field("a") == 1, 2)], ids=repr)
def test_a_factor_refuses_negative_scores(stage: Any) -> None:
    with pytest.raises(PackError) as caught:
        stage(pool(0.5, -0.25, -0.125))
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.message == (
        f"{stage.name} multiplies scores, and chunk 'chunk-1' has the negative score -0.25; "
        'put normalize("minmax") or normalize("sigmoid") before it'
    )
    assert caught.value.details == {"id": "chunk-1", "stage": stage.name}
    assert len(stage(pool())) == 0


# -- normalize ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "scores", "expected"),
    [
        ("minmax", [2, 4, 3], [0.0, 1.0, 0.5]),
        ("minmax", [-1, 0, 1], [0.0, 0.5, 1.0]),
        ("minmax", [7], [1.0]),
        ("minmax", [-1.7e308, 1.7e308, 0], [0.0, 1.0, 0.5]),
        ("minmax", [5e-324, 5e-324], [1.0, 1.0]),
        ("sigmoid", [0.0], [0.5]),
        ("sigmoid", [1000.0, -1000.0], [1.0, 0.0]),
        ("rank", [0.1, 7, 0.1, 3], [0.5, 1.0, 0.5, 0.75]),
        ("rank", [5], [1.0]),
        ("rank", [-1, -1], [1.0, 1.0]),
        ("minmax", [], []),
        ("sigmoid", [], []),
        ("rank", [], []),
    ],
)
def test_normalize_brings_scores_to_0_to_1(
    scale: Any, scores: list[float], expected: list[float]
) -> None:
    assert normalize(scale)(pool(*scores)).scores.tolist() == expected


@pytest.mark.parametrize("score", [-30.0, -2.1, -1.0, 0.3, 1.0, 5.0, 30.0])
def test_sigmoid_is_the_logistic_function(score: float) -> None:
    (found,) = normalize("sigmoid")(pool(score)).scores.tolist()
    assert found == pytest.approx(1 / (1 + math.exp(-score)), rel=1e-15)


def test_minmax_is_the_default_and_is_printed() -> None:
    assert normalize() == normalize("minmax")
    assert repr(normalize()) == 'normalize("minmax")'


@pytest.mark.parametrize("scale", ["z", "", None, 1])
def test_an_unknown_scale_is_refused(scale: Any) -> None:
    with pytest.raises(PackError, match="give one of 'minmax', 'sigmoid', 'rank'") as caught:
        normalize(scale)
    assert caught.value.code == "INVALID_PARAMETER"


def test_minmax_of_denormals_stays_within_0_to_1() -> None:
    (low, mid, high) = normalize("minmax")(pool(0.0, 5e-324, 1e-323)).scores.tolist()
    assert 0.0 == low <= mid <= high == 1.0


# -- current and original scores ------------------------------------------------------------


def test_later_stages_use_the_current_score_and_records_keep_the_original() -> None:
    chunks = [
        Chunk("a", 0.9, id="a", tokens=1, metadata={"timestamp": "2024-05-11"}),
        Chunk("b", 0.6, id="b", tokens=1, metadata={"timestamp": "2024-05-31"}),
        Chunk("c", 0.3, id="c", tokens=1, metadata={"timestamp": "2024-05-31"}),
    ]
    packed = pack(
        chunks, decay("20d") | threshold(0.4) | greedy | by_score, budget=9, now="2024-05-31"
    )
    assert [(one.id, one.score) for one in packed] == [("b", 0.6), ("a", 0.9)]
    assert packed.why("c") == ("c is out, below-threshold, by threshold(0.4): score 0.3, floor 0.4")
    tight = pack(chunks, decay("20d") | greedy, budget=1, now="2024-05-31")
    assert {out.id: out.detail for out in tight.report.excluded} == {
        "a": "needs 1 more tokens; score 0.45 here, 0.9 as given",
        "c": "needs 1 more tokens",
    }


def test_position_quality_is_of_the_current_score() -> None:
    metadata = [{"boosted": False}, {"boosted": True}, {"boosted": False}]
    chunks = [Chunk(str(n), 0.5 + n / 10, tokens=1, metadata=one) for n, one in enumerate(metadata)]
    packed = pack(chunks, boost(field("boosted") == True, 100.0) | greedy | ushape, budget=9)  # noqa: E712
    assert packed.text("") == "102"
    assert packed.report.position_quality == pytest.approx(1.0, rel=0, abs=1e-12)
