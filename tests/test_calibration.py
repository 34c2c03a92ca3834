"""`utility` and `fit_utility`: what they compute, what they refuse, that they fit."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, PackError, Pool, pack
from strategies import (
    boost,
    field,
    fit_utility,
    greedy,
    knapsack,
    normalize,
    parse,
    threshold,
    top,
    utility,
)

NUMBERS = st.floats(-2.0, 2.0, allow_subnormal=False)


@st.composite
def labelled(draw: st.DrawFn) -> tuple[list[list[float]], list[list[bool]]]:
    """Scores and labels of some queries, with ties, at least one chunk of either kind."""
    scores = draw(
        st.lists(
            st.lists(st.sampled_from([0.0, 0.25, 1.0]) | NUMBERS, min_size=1, max_size=6),
            min_size=1,
            max_size=4,
        )
    )
    labels = [draw(st.lists(st.booleans(), min_size=len(s), max_size=len(s))) for s in scores]
    scores.append([draw(NUMBERS), draw(NUMBERS)])
    labels.append([True, False])
    return scores, labels


PROBIT: Any = "probit"
NOT_LISTED: Any = [True]
SELECTING: Any = normalize() | greedy


def flat(lists: list[list[Any]]) -> np.typing.NDArray[Any]:
    return np.concatenate([np.array(one) for one in lists])


@given(labelled(), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_logistic_fit_is_the_maximum_of_the_penalised_likelihood(
    case: tuple[list[list[float]], list[list[bool]]], l2: float
) -> None:
    """Where both derivatives are 0, to the six digits that the coefficients have."""
    stage: Any = fit_utility(*case, l2=l2)
    x, y = flat(case[0]), flat(case[1])
    chance = 1.0 / (1.0 + np.exp(-(stage.intercept + stage.slope * x)))
    spread = x.std() or 1.0
    about = 1e-4 * len(x)
    assert (chance - y).sum() == pytest.approx(0.0, abs=about)
    along = ((chance - y) * (x - x.mean())).sum() / spread + l2 * stage.slope * spread
    assert along == pytest.approx(0.0, abs=about)


@given(labelled())
def test_the_isotonic_fit_is_the_nearest_rising_function(
    case: tuple[list[list[float]], list[list[bool]]],
) -> None:
    """By the max-min formula, of the labels and one of the mean at either end."""
    stage: Any = fit_utility(*case, "isotonic")
    x, y = flat(case[0]), flat(case[1]).astype(float)
    xs = sorted(set(x.tolist()))
    groups = [y[x == value].tolist() for value in xs]
    groups[0].append(y.mean())
    groups[-1].append(y.mean())

    def mean(first: int, last: int) -> float:
        together = [label for group in groups[first : last + 1] for label in group]
        return float(sum(together) / len(together))

    for at, value in enumerate(xs):
        expected = max(
            min(mean(first, last) for last in range(at, len(xs))) for first in range(at + 1)
        )
        place = np.interp(float(f"{value:.6g}"), stage.knots, stage.values)
        if any(abs(value - other) < 1e-5 for other in xs if other != value):
            continue  # knots that round to one
        assert place == pytest.approx(expected, abs=1e-5)


@given(labelled(), st.sampled_from(["logistic", "isotonic"]))
def test_what_is_fitted_is_a_stage_that_reads_back_and_gives_probabilities(
    case: tuple[list[list[float]], list[list[bool]]], method: Any
) -> None:
    stage = fit_utility(*case, method)
    assert parse(f"{stage} | greedy") == stage | greedy
    after = stage(Pool.from_arrays(flat(case[0]), np.ones(len(flat(case[0])), np.int64)))
    assert ((after.scores >= 0.0) & (after.scores <= 1.0)).all()
    assert after.calibrated
    if method == "isotonic":
        assert ((after.scores > 0.0) & (after.scores < 1.0)).all()


def test_the_base_rate_is_kept() -> None:
    """Without a penalty on the intercept the mean probability is the share of evidence."""
    rng = np.random.default_rng(1)
    scores = rng.random(400)
    labels = rng.random(400) < scores**3
    for method in ("logistic", "isotonic"):
        stage = fit_utility([scores], [labels], method)
        chances = stage(Pool.from_arrays(scores, np.ones(400, np.int64))).scores
        assert chances.mean() == pytest.approx(labels.mean(), abs=0.003)


def test_it_finds_the_coefficients_that_made_the_labels() -> None:
    rng = np.random.default_rng(3)
    scores = rng.random(20_000)
    labels = rng.random(20_000) < 1.0 / (1.0 + np.exp(4.0 - 6.0 * scores))
    stage: Any = fit_utility([scores], [labels])
    assert stage.intercept == pytest.approx(-4.0, abs=0.15)
    assert stage.slope == pytest.approx(6.0, abs=0.25)


def test_worked_values() -> None:
    pool = Pool.from_arrays([-1e308, 0.0, 0.4, 0.5, 1e308], [1] * 5)
    logistic = utility(intercept=-1.0, slope=2.0)(pool).scores
    middle = 1.0 / (1.0 + math.exp(0.2))
    assert logistic.tolist() == pytest.approx([0.0, 1.0 / (1.0 + math.e), middle, 0.5, 1.0])
    steps = utility(knots=[0.0, 0.5], values=[0.2, 0.7])(pool).scores
    assert steps.tolist() == pytest.approx([0.2, 0.2, 0.6, 0.7, 0.7])


def pools_of(seed: int) -> tuple[list[Pool], list[list[str]]]:
    """Queries with ids as labels; one that retrieval missed is among them."""
    rng = np.random.default_rng(seed)
    pools, labels = [], []
    for query in range(4):
        scores = rng.random(8)
        ids = [f"{query}-{row}" for row in range(8)]
        kinds = [{"kind": "faq" if row % 2 else "mail"} for row in range(8)]
        pools.append(Pool.from_arrays(scores, [10] * 8, ids=ids, metadata=kinds))
        labels.append([ids[int(scores.argmax())], "missed"])
    return pools, labels


def test_ids_and_flags_label_the_same() -> None:
    pools, labels = pools_of(5)
    flags = [[id_ in marks for id_ in pool.ids] for pool, marks in zip(pools, labels, strict=True)]
    assert fit_utility(pools, labels) == fit_utility(pools, flags)
    assert fit_utility([pool.scores for pool in pools], flags) == fit_utility(pools, labels)


def test_the_stages_before_are_what_is_calibrated() -> None:
    pools, labels = pools_of(6)
    before = boost(field("kind") == "faq", 2.0) | normalize()
    stage = fit_utility(pools, labels, before=before)
    assert stage == fit_utility([before(pool) for pool in pools], labels)
    assert stage != fit_utility(pools, labels)
    dropped = fit_utility(pools, labels, before=top(3))
    assert dropped == fit_utility([top(3)(pool) for pool in pools], labels)
    flags = [[id_ in marks for id_ in pool.ids] for pool, marks in zip(pools, labels, strict=True)]
    assert dropped == fit_utility(pools, flags, before=top(3))


def test_the_threshold_is_a_probability_and_the_knapsack_expects_evidence() -> None:
    """Six chunks of a chance of 0.1 are worth less than one of 0.7, whatever their cosines say."""
    stage = utility(knots=[0.4, 0.7], values=[0.1, 0.7])
    chunks = [
        Chunk("long and right", 0.7, id="right", tokens=300),
        *(Chunk(f"short {n}", 0.4, id=f"short-{n}", tokens=50) for n in range(6)),
    ]
    raw = pack(chunks, knapsack, budget=300)
    assert len(raw) == 6
    assert [warning.code for warning in raw.report.warnings] == ["squeezed-scores"]
    fitted = pack(chunks, stage | knapsack, budget=300)
    assert [chunk.id for chunk in fitted] == ["right"]
    assert fitted.report.optimality is not None
    assert fitted.report.optimality.value == 0.7
    assert fitted.report.warnings == ()
    assert len(pack(chunks, stage | threshold(0.2) | greedy, budget=600)) == 1


def refused(call: Any) -> PackError:
    with pytest.raises(PackError) as caught:
        call()
    assert caught.value.code == "INVALID_PARAMETER"
    return caught.value


def test_it_is_refused_without_coefficients_and_says_how_to_fit() -> None:
    error = refused(utility)
    assert "fit_utility(pools, labels)" in str(error)
    with pytest.raises(PackError, match="fit_utility"):
        parse("utility() | knapsack")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"intercept": 1.0}, "utility has intercept; give intercept and slope, or knots"),
        ({"intercept": 1.0, "slope": 1.0, "knots": [0.0]}, "intercept and slope and knots"),
        ({"intercept": 1.0, "slope": math.nan}, "slope is nan"),
        ({"knots": [0.1, 0.1], "values": [0.1, 0.2]}, "scores that rise, each once"),
        ({"knots": [0.1, 0.2], "values": [0.3, 0.2]}, "probabilities that do not fall"),
        ({"knots": [0.1, 0.2], "values": [0.3]}, "one for each of the 2 knots"),
        ({"knots": [0.1], "values": [1.5]}, "of at least 0 and at most 1"),
        ({"knots": [], "values": []}, "knots is []; give a list of finite numbers"),
        ({"knots": "12", "values": [0.1]}, "give a list of finite numbers"),
    ],
)
def test_coefficients_that_do_not_go_together_are_refused(given: Any, words: str) -> None:
    assert words in str(refused(lambda: utility(**given)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fit_utility([], []), "none of the 0 chunks of 0 queries"),
        (lambda: fit_utility([[0.5]], []), "1 pools and 0 labels"),
        (lambda: fit_utility([[0.5, 0.4]], [["gone"]]), "none of the 2 chunks of 1 queries"),
        (lambda: fit_utility([[0.5, 0.4]], [[True, True]]), "all of the 2 chunks"),
        (lambda: fit_utility([[0.5, 0.4]], [[True]]), "labels[0] has 1 entries and pools[0] 2"),
        (lambda: fit_utility([[0.5, 0.4]], [[1, 0]]), "labels[0] is [1, 0]; give ids"),
        (
            lambda: fit_utility([Pool.from_chunks([Chunk("x", 0.9, id="a")])], ["a"]),
            "labels[0] is 'a'; give a list of ids, or of True and False for each chunk, such as ['a']",
        ),
        (lambda: fit_utility([[0.5, 0.4]], "a"), "labels[0] is 'a'; give a list of ids"),
        (lambda: fit_utility([[0.5]], [b"a"]), "labels[0] is b'a'; give a list of ids"),
        (lambda: fit_utility([[0.5]], [{"a": True}]), "labels[0] is {'a': True}; give a list"),
        (lambda: fit_utility([[0.5]], NOT_LISTED), "labels[0] is True; give a list of ids"),
        (lambda: fit_utility([[0.5, 0.4]], [[True, False]], PROBIT), "method is 'probit'"),
        (lambda: fit_utility([[0.5, 0.4]], [[True, False]], l2=0.0), "l2 is 0.0"),
        (
            lambda: fit_utility([[0.5, 0.4]], [[True, False]], before=SELECTING),
            "stages that give a pool",
        ),
    ],
)
def test_what_cannot_be_fitted_is_refused(call: Any, words: str) -> None:
    assert words in str(refused(call))


def test_scores_that_tell_nothing_give_the_base_rate() -> None:
    stage: Any = fit_utility([[0.5, 0.5, 0.5, 0.5]], [[True, False, False, False]])
    assert stage.slope == 0.0
    assert stage.intercept == pytest.approx(math.log(1 / 3), abs=1e-5)


def test_labels_that_a_score_separates_have_a_finite_fit() -> None:
    stage: Any = fit_utility([[0.9, 0.8, 0.2, 0.1]], [[True, True, False, False]])
    assert 0.0 < stage.slope < 100.0


def test_the_isotonic_fit_by_hand() -> None:
    """Labels 1 1 0 1 1 and the mean, 0.8, at either end: 0.9 | 1 | 0 | 1 | 0.9 as steps."""
    scores = [[0.1, 0.2, 0.3, 0.4, 0.5]]
    labels = [[True, True, False, True, True]]
    # 1.8 + 1 + 0 of 4, then 1 + 1.8 of 3
    expected = utility(knots=[0.1, 0.3, 0.4, 0.5], values=[0.7, 0.7, 0.933333, 0.933333])
    assert fit_utility(scores, labels, "isotonic") == expected


def test_the_logistic_fit_by_hand() -> None:
    """Of two scores, nearly without a penalty: the log odds at each."""
    scores = [[0.0] * 4 + [2.0] * 4]
    labels = [[True, False, False, False, True, True, True, False]]
    stage: Any = fit_utility(scores, labels, l2=1e-9)
    assert stage.intercept == pytest.approx(-math.log(3), abs=1e-5)
    assert stage.slope == pytest.approx(math.log(3), abs=1e-5)


def test_the_penalty_by_hand() -> None:
    """Of the slope per standard deviation, of two scores half of which are labelled."""
    stage: Any = fit_utility([[0.0, 2.0]], [[False, True]], l2=2.0)
    # 1 - chance = slope where the second score stands one deviation above the mean
    assert stage.slope == pytest.approx(1.0 - 1.0 / (1.0 + math.exp(-stage.slope)), abs=1e-5)
    assert stage.intercept == pytest.approx(-stage.slope, abs=1e-5)


def test_a_query_without_evidence_counts() -> None:
    """An empty list of ids: no chunk of it holds evidence."""
    some = fit_utility([[0.5, 0.4], [0.3]], [[True, False], []])
    assert some == fit_utility([[0.5, 0.4], [0.3]], [[True, False], [False]])


def test_values_may_stay_level() -> None:
    assert utility(knots=[0.1, 0.2], values=[0.5, 0.5]).__call__(
        Pool.from_arrays([0.0, 0.15, 9.0], [1, 1, 1])
    ).scores.tolist() == [0.5, 0.5, 0.5]
