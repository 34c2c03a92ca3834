"""Tuning: what it chooses, what it says of the gain, and that neither looks at what is held back."""

import json
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import PackError
from packer.evaluation import Case, CaseSet, case, evaluate, tune
from packer.evaluation.evaluating import setting_of
from packer.evaluation.gains import Gain, gain_of, lower_bounds, mean_of_groups
from packer.evaluation.measures import evidence_recall
from packer.evaluation.runs import outcomes
from packer.evaluation.search_space import FITTED, Scored, grid
from packer.evaluation.tuning import Field, tuned
from strategies import density, fit_utility, greedy, parse, recommended


def asked(right: str, number: int = 0) -> Case:
    """A query whose evidence is the long chunk, which greedy packs, or the short one."""
    chunks = [
        {"id": "long", "content": "The long one.", "score": 0.9, "tokens": 90},
        {"id": "short", "content": "It takes 35 days.", "score": 0.8, "tokens": 20},
    ]
    record = {"query": "how long?", "evidence": [right], "candidates": chunks}
    return case({**record, "query_id": str(number)})


def queries(short: int, long: int) -> list[Case]:
    return [asked("short", n) for n in range(short)] + [asked("long", n) for n in range(long)]


def field(recall: Any, group: Sequence[int] | None = None) -> Field:
    """Policies by their recall on each query, at one budget."""
    values = np.array(recall, np.float64)[..., np.newaxis]
    labels = [
        "greedy",
        "prefix",
        *(f"threshold(0.{at}) | greedy" for at in range(1, len(values) - 1)),
    ]
    groups = np.zeros(values.shape[1], np.int64) if group is None else np.array(group)
    policies = [parse(text) for text in labels]
    return Field(policies, values, groups, (100,), len(np.unique(groups)))


# -- gains ----------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 2)), min_size=2, max_size=12))
def test_the_mean_of_groups_counts_every_group_alike(rows: list[tuple[float, int]]) -> None:
    values, group = np.array([v for v, _ in rows]), np.array([g for _, g in rows])
    of = {g: [v for v, other in rows if other == g] for g in set(group.tolist())}
    means = [sum(found) / len(found) for found in of.values()]
    assert float(mean_of_groups(values, group)) == pytest.approx(sum(means) / len(means))


def test_the_lower_bound_is_the_mean_less_its_standard_error() -> None:
    steady, lucky = [0.1, 0.1, 0.1, 0.1], [0.8, 0.0, 0.0, 0.0]
    found = lower_bounds(np.array([steady, lucky]), np.zeros(4, np.int64))
    assert found.tolist() == pytest.approx([0.1, 0.2 - 0.4 / 2])


def test_the_interval_of_a_gain_by_hand() -> None:
    """Ten queries, half of them better by 0.2, and one more of +0.2 and of -0.2.

    The sum of squares about their mean of 1 / 12 is 0.196667.
    """
    gains = np.array([[0.2, 0.0] * 5])
    found = gain_of(gains, np.zeros(10, np.int64), np.zeros(10), np.array([0.1, 0.1]))
    error = np.sqrt(0.196667 / 11 / 12)
    assert found.value == pytest.approx(0.1)
    assert found.mean_low == pytest.approx(0.1 - 2.2622 * error, abs=1e-4)
    assert found.high == pytest.approx(0.1 + 2.2622 * error * np.sqrt(2), abs=1e-4)
    assert found.mean_low > 0 > found.low
    assert not found.holds


def test_what_never_differs_is_certain_and_what_seldom_does_is_not() -> None:
    """One query of thirty that gains 1.0 may be none or four of the next thirty."""
    group, choices = np.zeros(30, np.int64), np.zeros(2)
    same = gain_of(np.zeros((1, 30)), group, np.zeros(30), choices)
    assert (same.low, same.high) == (0.0, 0.0)
    one = np.zeros(30)
    one[3] = 1.0
    seldom = gain_of(one[np.newaxis], group, one, choices)
    assert seldom.low < 0 < 4 / 30 < seldom.high


def test_choices_that_differ_widen_the_interval() -> None:
    gains, group, own = np.full((1, 10), 0.1), np.zeros(10, np.int64), np.full(10, 0.1)
    steady = gain_of(gains, group, own, np.array([0.1, 0.1]))
    torn = gain_of(gains, group, own, np.array([0.0, 0.2]))
    assert steady.mean_low > 0
    assert torn.mean_low < 0 < torn.mean_high
    assert not torn.holds


@pytest.mark.parametrize("seed", range(5))
def test_the_stated_interval_covers_the_gain_on_queries_to_come(seed: int) -> None:
    """Of twenty tunings on noise, at least fifteen cover what their choice gains elsewhere.

    With 95 % each, fewer than fifteen of twenty happen once in 40,000.
    """
    generator = np.random.default_rng(seed)
    covered = 0
    for _ in range(20):
        recall = generator.integers(2, size=(8, 60)).astype(np.float64)
        found = tuned(field(recall[:, :30]), folds=3, rounds=2, generator=generator)
        at = [str(policy) for policy in field(recall).policies].index(str(found.best))
        gain = float((recall[at, 30:] - recall[0, 30:]).mean())
        covered += found.over_current.low - 1e-9 <= gain <= found.over_current.high + 1e-9
    assert covered >= 15


# -- choosing -------------------------------------------------------------------------------


def test_a_better_policy_is_found_and_holds() -> None:
    found = tune(queries(20, 0), current="greedy", budgets=[100], candidates=["density", "prefix"])
    assert (found.policy, found.best, found.holds) == (density, density, True)
    assert found.over_current.value == found.over_greedy.value == 1.0
    assert found.recall["tuned"] == {100: 1.0}
    assert found.recall["greedy"] == found.recall["current"] == {100: 0.0}
    assert found.chosen == {"density": 20}
    assert found.ranking[0] == ("density", 1.0)
    assert found.verdict.startswith("Use density: on queries that were held back it packs +1.000")


def test_what_you_have_stays_where_nothing_is_better() -> None:
    found = tune(queries(0, 20), current="greedy", budgets=[100], candidates=["density"])
    assert (found.policy, found.holds, found.over_current.value) == (greedy, False, 0.0)
    assert found.verdict.startswith("Keep what you have, greedy: no policy of 2 is better")


def test_what_you_have_stays_where_the_gain_may_be_chance() -> None:
    """The other is better on 12 of 20 queries and worse on 8."""
    found = tune(queries(12, 8), current="greedy", budgets=[100], candidates=["density"])
    assert not found.holds
    assert found.policy == greedy
    assert found.verdict.startswith("Keep what you have, greedy")


def test_the_best_of_many_on_noise_does_not_hold() -> None:
    """Its recall on the queries it was chosen by is far above; held back, the gain is near 0."""
    generator = np.random.default_rng(3)
    noise = generator.integers(2, size=(200, 40)).astype(np.float64)
    named = [f"threshold({at / 1000}) | greedy" for at in range(198)]
    policies = [parse(text) for text in ["greedy", "prefix", *named]]
    many = Field(policies, noise[..., np.newaxis], np.zeros(40, np.int64), (100,), 1)
    found = tuned(many, folds=5, rounds=4, generator=generator)
    looks = found.ranking[0][1] - float(noise[0].mean())
    assert looks > 0.2
    assert found.over_current.value < looks / 2
    assert not found.holds
    assert "looks better here, but" in found.verdict


def test_a_query_is_measured_with_what_was_chosen_without_it() -> None:
    """One policy is perfect but for query 0, another on it alone: when held back, 0 is lost."""
    recall = np.zeros((4, 12))
    recall[2, 1:] = 1.0
    recall[3, 0] = 1.0
    found = tuned(field(recall), folds=12, rounds=1, generator=np.random.default_rng(0))
    assert found.recall["tuned"][100] == pytest.approx(11 / 12)
    assert found.chosen == {"threshold(0.1) | greedy": 12}


def test_sets_count_alike_and_are_spread_over_the_parts() -> None:
    sets = [CaseSet("small", queries(10, 0)), CaseSet("large", queries(0, 40))]
    found = tune(sets, current="greedy", budgets=[100], candidates=["density"], folds=5)
    assert found.sets == 2
    assert found.queries == 50
    assert found.recall["greedy"][100] == pytest.approx(0.5)
    assert found.over_current.value == pytest.approx(0.0, abs=1e-9)


def test_the_same_seed_chooses_the_same_at_any_number_of_processes() -> None:
    options: dict[str, Any] = {"budgets": [100], "candidates": ["density", "prefix"]}
    one = tune(queries(14, 6), seed=4, **options)
    assert one == tune(queries(14, 6), seed=4, workers=2, **options)
    assert one.current == recommended()


@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(0, 12))
def test_a_seed_fixes_what_is_tuned_and_what_is_measured_of_it(
    seed: int, short: int, long: int
) -> None:
    cases = queries(short + 6, long + 6)
    options: dict[str, Any] = {"budgets": [40, 100], "current": "greedy", "seed": seed}
    options["candidates"] = ["density", "prefix", "threshold(0.75) | greedy"]
    found = tune(cases, **options)
    assert found == tune(cases, **options)
    measured = [
        evaluate(cases, [policy], budgets=[40, 100], seed=seed, resamples=50)
        for policy in (found.best, found.best, str(found.best))
    ]
    assert measured[0] == measured[1] == measured[2]
    assert [one.to_json(queries=True) for one in measured] == [
        measured[0].to_json(queries=True)
    ] * 3


def test_the_grid_goes_from_plain_to_composed_and_parses() -> None:
    policies = grid({"position", "start"})
    assert policies[0] == greedy
    assert recommended() in policies
    assert recommended(query=False) in policies
    assert len(set(policies)) == len(policies)
    assert [parse(str(policy)) for policy in policies] == policies


def test_the_grid_is_searched_and_may_be_sampled() -> None:
    all_of_it = tune(queries(12, 0), current="greedy", budgets=[100], fitted=False, rounds=1)
    assert all_of_it.tried == len(grid({}))
    few = tune(queries(12, 0), budgets=[100], trials=3, fitted=False, rounds=1)
    assert few.tried <= 5
    assert few == tune(queries(12, 0), budgets=[100], trials=3, fitted=False, rounds=1)


# -- fitted to labels -----------------------------------------------------------------------


def mixed(count: int) -> list[Case]:
    """Queries whose best chunk is evidence, and the longest is not."""
    return [asked("short" if number % 3 else "long", number) for number in range(count)]


def test_a_fitted_policy_is_text_that_packs_the_same() -> None:
    cases, setting = mixed(12), setting_of([100, 20], 0, None)
    scored = Scored.of(FITTED[2], cases, setting)
    rows = np.arange(12)
    policy = scored.policy(rows)
    assert str(policy).startswith('normalize("minmax") | utility(')
    assert str(policy).endswith(" | knapsack")
    assert parse(str(policy)) == policy
    whole = outcomes(cases, [policy], setting, measure=evidence_recall)[:, 0, :, 0]
    np.testing.assert_array_equal(scored.recall(rows, rows), whole)


def test_what_is_fitted_is_measured_on_what_it_was_not_fitted_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = mixed(9)
    scored = Scored.of(FITTED[2], cases, setting_of([100], 0, None))
    places = {id(scored_case.pool): at for at, scored_case in enumerate(scored.cases)}
    fits: list[set[int]] = []

    def fit(pools: list[Any], labels: list[Any]) -> Any:
        fits.append({places[id(pool)] for pool in pools})
        return fit_utility(pools, labels)

    monkeypatch.setattr("packer.evaluation.search_space.fit_utility", fit)
    tested: list[set[int]] = []
    recall = Scored.recall

    def measure(self: Scored, fitted: Any, held: Any) -> Any:
        tested.append(set(held.tolist()))
        return recall(self, fitted, held)

    monkeypatch.setattr(Scored, "recall", measure)
    rows = np.array([0, 2, 3, 4, 5, 7, 8])
    found = scored.crossed(rows, np.random.default_rng(0))
    assert not np.isnan(found).any()
    assert len(fits) == len(tested) == 2
    for fitted, held in zip(fits, tested, strict=True):
        assert fitted.isdisjoint(held)
        assert fitted | held == set(rows.tolist())


def test_what_cannot_be_fitted_is_not_chosen() -> None:
    """All chunks are evidence, so there is nothing to tell apart."""
    chunk = {"id": "a", "content": "a", "score": 0.5, "tokens": 5}
    cases = [case({"query": "q", "evidence": ["a"], "candidates": [chunk]})] * 12
    scored = Scored.of(FITTED[0], cases, setting_of([100], 0, None))
    assert np.isnan(scored.crossed(np.arange(12), np.random.default_rng(0))).all()
    found = tune(cases, current="greedy", budgets=[100], trials=1, rounds=1)
    assert found.best == greedy
    assert found.tried > 1


def test_a_fitted_policy_can_be_the_choice() -> None:
    """Scores say nothing of what is worth its tokens; the labels do."""
    generator = np.random.default_rng(0)
    cases = []
    for number in range(40):
        chunks = [
            {"id": f"w{at}", "content": f"weak {at}", "score": 0.1, "tokens": 10} for at in range(8)
        ]
        chunks += [
            {"id": f"s{at}", "content": f"strong {at}", "score": 0.9, "tokens": 30}
            for at in range(3)
        ]
        order = generator.permutation(len(chunks))
        record = {"query": "q", "evidence": ["w0", "w1", "w2", "w3", "s0"], "query_id": number}
        cases.append(case({**record, "candidates": [chunks[int(at)] for at in order]}))
    found = tune(cases, current="greedy", budgets=[45], trials=1, rounds=1)
    assert found.holds
    assert "utility(" in str(found.policy)
    assert set(found.chosen) <= {str(template) for template in FITTED}


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    tune(
        queries(12, 0),
        budgets=[100],
        candidates=["density"],
        progress=lambda done, of: told.append((done, of)),
    )
    assert told[0] == (0, 2 * 12 * 20)
    assert (12 * 20, 2 * 12 * 20) in told
    assert told[-1] == (2 * 12 * 20, 2 * 12 * 20)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_json_has_the_verdict_and_the_numbers() -> None:
    found = tune(queries(20, 0), current="greedy", budgets=[100], candidates=["density"])
    read = json.loads(found.to_json())
    assert (read["policy"], read["holds"], read["verdict"]) == ("density", True, str(found))
    assert read["over_current"]["value"] == 1.0
    assert read["recall"]["tuned"] == [{"budget": 100, "recall": 1.0}]
    assert {"over_greedy", "chosen", "ranking", "queries", "folds", "rounds"} <= read.keys()


def test_a_choice_equal_to_what_you_have_never_holds() -> None:
    gain = Gain(value=0.1, low=0.05, high=0.2, mean_low=0.06, mean_high=0.15)
    found = tune(queries(12, 0), current="density", budgets=[100], candidates=["density"])
    assert found.best == found.current
    same = attrs.evolve(found, over_current=gain)
    assert not same.holds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds is 1; give an int of 2 or more"),
        ({"rounds": 0}, "rounds is 0"),
        ({"trials": 0}, "trials is 0"),
        ({"workers": 0}, "workers is 0"),
        ({"current": "threshold(0.5)"}, "is no policy"),
        ({"budgets": []}, "budgets is empty"),
        ({"folds": 30}, "12 queries have evidence among their candidates; tuning needs 30"),
    ],
)
def test_what_cannot_be_tuned_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PackError, match=message):
        tune(queries(12, 0), candidates=["density"], **options)


def test_queries_without_evidence_do_not_count() -> None:
    with pytest.raises(PackError, match="9 queries have evidence among their candidates"):
        tune([*queries(9, 0), asked("elsewhere")], candidates=["density"])
