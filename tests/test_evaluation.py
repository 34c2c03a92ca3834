"""What is measured of packs, how sure it is, and what an evaluation says."""

import base64
import datetime as dt
import hashlib
import html
import html.parser
import json
import pickle
import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Filter, Packer, PackError, Pool, Selection, Selector, pack
from packer.evaluation import (
    MEASURES,
    Case,
    CaseSet,
    Evaluation,
    case,
    evaluate,
    tune,
)
from packer.evaluation.cases import holds_answer
from packer.evaluation.evaluating import case_sets, labelled, setting_of
from packer.evaluation.measures import measured, tokens_to_reach
from packer.evaluation.resampling import bootstrap_means, holm, interval, sign_flip
from packer.evaluation.runs import layouts, outcomes
from strategies import custom, density, greedy, parse

from .evaluation_cases import by_hand, records, shortened, words

POLICIES = (
    "greedy",
    "prefix",
    "density",
    "normalize() | greedy",
    "threshold(0.3) | greedy | ushape",
)


# -- a slow, obvious twin -------------------------------------------------------------------


def naive(record: dict[str, Any], packed: Sequence[str], budget: int) -> dict[str, float]:
    """The measures from the ids in selection order, by the words of the documentation."""
    chunks = {chunk["id"]: chunk for chunk in record["candidates"]}
    reachable = [group for group in record["evidence_groups"] if any(i in chunks for i in group)]
    covered = [any(i in packed for i in group) for group in reachable]
    recall = sum(covered) / len(covered) if covered else float("nan")
    answers = record["answers"]
    can = any(holds_answer(chunk["content"], answers) for chunk in chunks.values())
    has = any(holds_answer(chunks[i]["content"], answers) for i in packed)
    repeated, total = 0, sum(chunks[i]["tokens"] for i in packed)
    for place, one in enumerate(packed):
        if any(cosine(chunks[one], chunks[other]) >= 0.9 for other in packed[:place]):
            repeated += chunks[one]["tokens"]
    embedded = any("embedding" in chunk for chunk in chunks.values())
    return {
        "evidence": recall,
        "all_evidence": float(all(covered)) if covered else float("nan"),
        "answer": float(has) if can else float("nan"),
        "redundancy": (repeated / total if total else 0.0) if embedded else float("nan"),
        "utilization": total / budget,
    }


def cosine(one: dict[str, Any], other: dict[str, Any]) -> float:
    a, b = np.array(one.get("embedding", [0.0])), np.array(other.get("embedding", [0.0]))
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


@given(records(), st.sampled_from(POLICIES), st.integers(1, 120))
def test_measures_are_what_their_words_say(record: dict[str, Any], text: str, budget: int) -> None:
    asked = case(record)
    layout = Packer(parse(text), budget=budget).select(asked.pool)
    found = dict(zip(MEASURES, measured(asked, layout, budget), strict=True))
    assert found == pytest.approx(
        naive(
            record, [asked.pool.candidates.id(int(r)) for r in layout.selection.table_rows], budget
        ),
        nan_ok=True,
    )


@given(records(), st.lists(st.sampled_from(POLICIES), min_size=1, max_size=5), st.data())
def test_filters_that_run_once_change_no_layout(
    record: dict[str, Any], texts: list[str], data: st.DataObject
) -> None:
    asked = case(record)
    budgets = sorted(data.draw(st.sets(st.integers(1, 150), min_size=1, max_size=4)))
    setting = setting_of(budgets, 3, "2026-01-01")
    found = list(layouts(asked, [parse(text) for text in texts], setting))
    for text, row in zip(texts, found, strict=True):
        for budget, layout in zip(budgets, row, strict=True):
            packer = Packer(parse(text), budget=budget, overhead=3, now="2026-01-01")
            assert layout.table_rows.tolist() == packer.select(asked.pool).table_rows.tolist()


def test_a_filter_of_the_users_own_sees_each_budget() -> None:
    seen = []

    def look(chunks: Any, context: Any) -> Any:
        seen.append(context.budget)
        return chunks[:1]

    asked = by_hand()[0].cases[0]
    list(layouts(asked, [custom(look)], setting_of([30, 100], 0, None)))
    assert seen == [30, 100]


@attrs.frozen(repr=False)
class Rough(Filter):
    """A filter of the user's own; `share`: of the budget that a chunk may take, if that counts."""

    share: float | None = None

    def __call__(self, pool: Pool) -> Pool:
        RAN.append(None if self.share is None else pool.call.budget)
        if self.share is None:
            return pool
        return pool.keep(pool.costs <= self.share * pool.call.budget, reason="metadata")


RAN: list[int | None] = []


def test_a_filter_of_the_users_own_runs_once_unless_it_looks_at_the_budget() -> None:
    RAN.clear()
    asked = by_hand()[0].cases[0]
    budgets = [30, 100, 130]
    policies = [Rough() | greedy, Rough() | density, Rough() | Rough(0.5) | greedy]
    found = list(layouts(asked, policies, setting_of(budgets, 0, None)))
    assert RAN == [None, 30, 30, 100, 130]  # it has to be seen to look once
    for policy, row in zip(policies, found, strict=True):
        for budget, layout in zip(budgets, row, strict=True):
            expected = Packer(policy, budget=budget).select(asked.pool)
            assert layout.table_rows.tolist() == expected.table_rows.tolist()


def test_evidence_is_counted_by_groups_that_retrieval_found() -> None:
    """Two groups are reachable; one of them is held by either of two chunks."""
    asked = case(
        {
            "query": "q",
            "evidence_groups": [["a", "b"], ["c"], ["gone"], []],
            "evidence_groups_unreachable": 2,
            "candidates": [
                {"id": name, "content": name, "score": score, "tokens": 10}
                for name, score in (("a", 0.9), ("b", 0.8), ("c", 0.1))
            ],
        }
    )
    assert asked.unreachable == 3
    assert asked.evidence.tolist() == [True, True, True]
    layout = Packer(greedy, budget=20).select(asked.pool)
    assert layout.ids == ["a", "b"]
    assert measured(asked, layout, 20)[:2] == (0.5, 0.0)


@pytest.mark.parametrize(
    ("text", "answers", "held"),
    [
        ("It opened in 1935.", ["35"], False),
        ("Chapter 35.", ["35"], True),
        ("In  New\nYork", ["new york"], True),
        ("newyork", ["new york"], False),
        ("The tabbycat", ["tabby"], True),
        ("anything", [""], False),
        ("Größe: 35 cm", ["35 CM"], True),
        ("Größe", ["röß"], False),
        ("首都は東京です。", ["東京"], True),
        ("首都は京都です。", ["東京"], False),
        ("彼は35歳です。", ["35"], True),
        ("彼は135歳です。", ["35"], False),
        ("ประเทศไทยสวย", ["ไทย"], True),
        ("수도는 서울입니다", ["서울"], True),
        ("東京tower", ["東京"], True),
        ("東京towers", ["京tow"], False),
    ],
)
def test_an_answer_of_up_to_four_characters_is_a_word(
    text: str, answers: list[str], *, held: bool
) -> None:
    assert holds_answer(text, answers) is held


def test_a_shortened_text_no_longer_holds_what_was_cut_off() -> None:
    record = {
        "query": "q",
        "answers": ["in the second sentence"],
        "candidates": [
            {"content": "The first sentence is here. It is in the second sentence.", "score": 0.9}
        ],
    }
    asked = case(record)
    whole, part = (
        measured(asked, Packer(parse("trim() | greedy"), budget=budget).select(asked.pool), budget)
        for budget in (20, 9)
    )
    assert (whole[2], part[2]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("recall", "tokens"),
    [([0.95, 1.0], 100.0), ([0.5, 1.0], 180.0), ([0.5, 0.6], None), ([0.5, 0.9], 200.0)],
)
def test_tokens_to_90_lie_between_the_budgets(recall: list[float], tokens: float | None) -> None:
    assert tokens_to_reach(0.9, np.array([100.0, 200.0]), np.array(recall)) == pytest.approx(tokens)


# -- how sure -------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_the_step_down_of_bonferroni(values: list[float]) -> None:
    corrected = holm(np.array(values))
    for at, p in enumerate(values):
        smaller = [q for place, q in enumerate(values) if (q, place) <= (p, at)]
        expected = max(min(1.0, (len(values) - rank) * q) for rank, q in enumerate(sorted(smaller)))
        assert corrected[at] == pytest.approx(expected)


def test_holm_leaves_out_what_was_not_compared() -> None:
    assert holm(np.array([np.nan, 0.02, np.nan, 0.5])).tolist() == pytest.approx(
        [np.nan, 0.04, np.nan, 0.5], nan_ok=True
    )


def test_the_sign_flip_test_comes_near_the_exact_p_value() -> None:
    differences = np.array([0.5, 0.25, -0.1, 0.4, 0.0, 0.3])
    sums = [
        abs(float(np.dot(signs, differences)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    exact = float(np.mean([s >= abs(differences.sum()) - 1e-12 for s in sums]))
    found = sign_flip(differences[:, np.newaxis], np.random.default_rng(1), 100_000)
    assert found[0] == pytest.approx(exact, abs=0.005)


def test_bootstrap_means_are_of_the_same_rows_for_every_column() -> None:
    values = np.random.default_rng(0).random((30, 1))
    drawn = bootstrap_means(np.hstack([values, values + 1.0]), np.random.default_rng(2), 5_000)
    assert drawn[:, 1] - drawn[:, 0] == pytest.approx(np.ones(5_000))
    low, high = interval(drawn[:, 0])
    error = float(values.std() / np.sqrt(30))
    assert float(high - low) == pytest.approx(2 * 1.96 * error, rel=0.05)


@pytest.mark.parametrize("size", [1, 7, 3_000])
def test_blocks_draw_as_many_resamples_as_asked_for(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("packer.evaluation.resampling.BLOCK", 1_000)
    drawn = bootstrap_means(np.ones((size, 2)), np.random.default_rng(0), 17)
    assert drawn.tolist() == [[1.0, 1.0]] * 17
    assert sign_flip(np.ones((size, 1)), np.random.default_rng(0), 17).shape == (1,)


# -- evaluate -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> Evaluation:
    return evaluate(by_hand(), ["density", "prefix"], budgets=[100, 40, 130], resamples=2_000)


def test_an_evaluation_says_what_was_measured(found: Evaluation) -> None:
    assert found.budgets == (40, 100, 130)
    assert list(found.policies) == ["greedy", "density", "prefix"]
    assert found.sets == ("faq", "manual", "mean of sets")
    greedy_at = [
        found.cell("faq", "greedy", budget).figure("evidence").value for budget in (40, 100, 130)
    ]
    assert greedy_at == [1.0, 0.0, 1.0]
    better = found.cell("faq", "density", 100).difference("evidence")
    assert (better.value, better.low, better.high, better.mark) == (1.0, 1.0, 1.0, "+")
    worse = found.cell("manual", "density", 100).difference("evidence")
    assert (worse.value, worse.mark) == (-1.0, "-")
    assert found.cell("faq", "density", 130).difference("evidence").mark == ""
    mean = found.cell("mean of sets", "density", 100)
    assert (mean.difference("evidence").value, mean.difference("evidence").p) == (0.0, None)
    assert mean.figure("evidence").value == 0.5


def test_tokens_to_90_in_words(found: Evaluation) -> None:
    assert found.reached("faq", "greedy") == "<= 40"
    assert found.reached("manual", "greedy") == "94"
    assert found.reached("mean of sets", "greedy") == ""
    short = evaluate(by_hand(), ["greedy"], budgets=[30], resamples=10)
    assert short.reached("manual", "greedy") == "> 30"


def test_holm_counts_sets_budgets_and_policies(found: Evaluation) -> None:
    """Twelve comparisons of one measure; the smallest p-value is multiplied by all of them."""
    cells = [cell.differences["evidence"] for cell in found.cells]
    known = [d for d in cells if d is not None and d.p is not None]
    assert len(known) == 12
    best = min(known, key=lambda difference: difference.p or 1.0)
    assert best.adjusted == pytest.approx(12 * (best.p or 0.0))


def test_the_same_seed_gives_the_same_and_others_do_not_matter(found: Evaluation) -> None:
    again = evaluate(by_hand(), ["density", "prefix"], budgets=[40, 100, 130], resamples=2_000)
    assert again == found
    alone = evaluate(by_hand(), ["density"], budgets=[40, 100, 130], resamples=2_000)
    for budget in found.budgets:
        one, other = (e.cell("faq", "density", budget) for e in (found, alone))
        assert one.figures == other.figures
        mine, theirs = one.difference("evidence"), other.difference("evidence")
        assert attrs.evolve(mine, adjusted=None) == attrs.evolve(theirs, adjusted=None)


def test_a_cell_is_found_without_a_search(found: Evaluation) -> None:
    class Searched(tuple):  # type: ignore[type-arg]
        __slots__ = ()
        times = 0

        def __iter__(self) -> Any:
            Searched.times += 1
            return super().__iter__()

    again = attrs.evolve(found, cells=Searched(found.cells))
    once = Searched.times
    asked = [again.cell(cell.set, cell.policy, cell.budget) for cell in found.cells]
    assert asked == list(found.cells)
    assert Searched.times <= once
    assert again.cell("faq", "density", 100) is found.cell("faq", found.policies["density"], 100)
    assert pickle.loads(pickle.dumps(found)) == found


def test_changes_name_the_queries_that_lose_first(found: Evaluation) -> None:
    changes = found.changes("density", 100)
    assert len(changes) == 24
    assert (changes[0].set, changes[0].query) == ("manual", "q0")
    assert (changes[0].value, changes[0].baseline) == (0.0, 1.0)
    assert changes[-1].set == "faq"
    assert found.changes("greedy", 100) == []


@pytest.mark.parametrize("seed", [-1, None, 1.5, True, "0"])
@pytest.mark.parametrize("seeded", [evaluate, tune])
def test_a_seed_is_an_int_of_0_or_more(seeded: Any, seed: Any) -> None:
    policies = {} if seeded is tune else {"policies": ["density"]}
    with pytest.raises(PackError) as caught:
        seeded(by_hand(), budgets=[40], seed=seed, **policies)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.message == f"seed is {seed!r}; give an int of 0 or more"


@pytest.mark.parametrize("baseline", [None, "greedy", greedy])
def test_no_other_policy_goes_by_the_text_of_the_baseline(baseline: Any) -> None:
    named = {"greedy": "lexical() | greedy"}
    options: Any = {} if baseline is None else {"baseline": baseline}
    with pytest.raises(PackError) as caught:
        evaluate(by_hand(), named, budgets=[40], resamples=10, **options)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.message == (
        "policies calls 'lexical(1.0) | greedy' by the name 'greedy', which is the text of the "
        "baseline; give it another name"
    )


def test_a_baseline_may_be_a_name_a_text_or_another_policy() -> None:
    named = {"mine": "density", "theirs": "prefix"}
    by_name = evaluate(by_hand(), named, budgets=[40], baseline="theirs", resamples=10)
    assert (by_name.baseline, list(by_name.policies)) == ("theirs", ["mine", "theirs"])
    by_text = evaluate(by_hand(), named, budgets=[40], baseline="prefix", resamples=10)
    assert by_text.baseline == "theirs"
    other = evaluate(by_hand(), named, budgets=[40], baseline=greedy, resamples=10)
    assert list(other.policies) == ["greedy", "mine", "theirs"]
    assert other.cell("faq", "density", 40) is other.cell("faq", "mine", 40)


def test_queries_without_evidence_or_embeddings_are_left_out_of_those_measures() -> None:
    plain = {"content": "It is 35.", "score": 0.5, "id": "a", "tokens": 5}
    only_answer = case({"query": "q", "answers": ["35"], "candidates": [plain]})
    only_evidence = case({"query": "q", "evidence": ["a"], "candidates": [plain]})
    unreachable = case({"query": "q", "evidence": ["b"], "candidates": [plain]})
    found = evaluate(
        [only_answer, only_evidence, unreachable], ["greedy"], budgets=[10], resamples=9
    )
    cell = found.cell("queries", "greedy", 10)
    assert cell.figures["redundancy"] is None
    assert cell.figure("evidence").value == 1.0
    with pytest.raises(PackError, match="has no 'redundancy' here"):
        cell.figure("redundancy")
    alone = evaluate([only_answer], ["density"], budgets=[10], resamples=9)
    assert alone.cell("queries", "density", 10).figures["evidence"] is None
    assert alone.tokens_to_90 == {("queries", "greedy"): None, ("queries", "density"): None}
    assert "evidence" not in alone.to_dict()["cells"][0]["measures"]
    assert alone.reached("queries", "density") == ""


def test_evidence_that_retrieval_missed_is_told() -> None:
    record = {"query": "q", "candidates": [{"content": "a", "score": 0.5, "id": "a", "tokens": 5}]}
    some = CaseSet(
        "some", [case({**record, "evidence": ["a", "b"]}), case({**record, "evidence": ["c"]})]
    )
    found = evaluate(
        [some, CaseSet("all", by_hand()[0].cases)], ["greedy"], budgets=[10], resamples=9
    )
    assert found.evidence == {"some": (1, 2), "all": (12, 0)}
    told = "Evidence that retrieval missed, which does not count: some 2 of 3."
    assert found.missed == told
    assert told in found.to_html()
    assert found.to_dict()["evidence"]["some"] == {"found": 1, "missed": 2}
    assert evaluate(by_hand(), ["greedy"], budgets=[10], resamples=9).missed == ""


def test_a_query_without_candidates_has_no_evidence() -> None:
    empty = case({"query": "q", "evidence": ["a"], "candidates": []})
    policies = ["lexical() | neighbours() | greedy", "mmr(0.5)", "coverage()", "knapsack"]
    found = evaluate([empty], policies, budgets=[5], resamples=9)
    assert {cell.figures["evidence"] for cell in found.cells} == {None}
    assert {cell.figure("utilization").value for cell in found.cells} == {0.0}
    assert found.table().splitlines()[3].startswith("| :---")
    assert "| --: |" in found.table()


def test_processes_find_the_same() -> None:
    here = evaluate(by_hand(), ["density"], budgets=[40, 100], resamples=50)
    there = evaluate(by_hand(), ["density"], budgets=[40, 100], resamples=50, workers=2)
    assert here == there


@pytest.mark.parametrize("workers", [1, 2])
def test_what_stages_write_anew_is_counted_as_the_case_was(workers: int) -> None:
    record, policy = shortened(), parse("shrink(0.5) | greedy")
    packed = pack(
        record["candidates"], policy, budget=400, count_tokens=words, query=record["query"]
    )
    assert packed.report.tokens_used == 400  # four halves of 200 words; by characters each is 1,250
    cases = [case(record, count_tokens=words)] * 2
    found = evaluate(cases, [policy], budgets=[400], resamples=9, workers=workers)
    assert found.cells[1].figure("utilization").value == 1.0
    assert found.cells[1].figure("evidence").value == 1.0


def test_a_counter_may_be_given_in_place_of_the_cases_own() -> None:
    asked = case(shortened(), count_tokens=words)
    counted = []

    def count(text: str) -> int:
        counted.append(text)
        return words(text)

    evaluate([asked], ["greedy"], budgets=[400], count_tokens=count, resamples=9)
    assert counted == []
    evaluate([asked], ["shrink(0.5) | greedy"], budgets=[400], count_tokens=count, resamples=9)
    assert set(map(words, counted)) >= {10, 100}


@given(records())
def test_a_case_survives_the_way_to_another_process(record: dict[str, Any]) -> None:
    record["candidates"].append(dict(record["candidates"][0]))  # a repeated id is set aside
    asked = case(record, count_tokens=words)
    again: Case = pickle.loads(pickle.dumps(asked))
    assert again.pool.table_rows.tolist() == asked.pool.table_rows.tolist()
    assert [g.tolist() for g in again.groups] == [g.tolist() for g in asked.groups]
    assert again.count_tokens is words
    setting = setting_of([30], 0, "2026-01-01")
    one, other = (outcomes([c], [parse("density")], setting) for c in (asked, again))
    np.testing.assert_array_equal(one, other)


def test_progress_is_told_to_the_end() -> None:
    for workers in (1, 2):
        told: list[tuple[int, int]] = []
        evaluate(
            by_hand(),
            ["greedy"],
            budgets=[40],
            resamples=9,
            workers=workers,
            progress=lambda done, of, told=told: told.append((done, of)),  # type: ignore[misc]
        )
        assert told[0] == (0, 24)
        assert told[-1] == (24, 24)


def test_a_policy_that_fails_names_the_query_and_itself() -> None:
    record = {"query": "q", "evidence": ["a"], "query_id": "q7"}
    asked = case({**record, "candidates": [{"id": "a", "content": "a", "score": -1.0}]})
    with pytest.raises(PackError, match=r"query q7, boost\(.* multiplies scores") as caught:
        evaluate([asked], ["boost(x == 1, 2.0) | greedy"], budgets=[9])
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details["query"] == "q7"


@attrs.frozen(repr=False)
class Unbound(Selector):
    """A selector that breaks its contract."""

    is_constant = True

    def __call__(self, pool: Pool) -> Selection:
        return Selection(pool=pool, chosen=np.arange(len(pool)))


def test_a_selector_over_the_budget_is_found_out() -> None:
    with pytest.raises(PackError, match=r"accounts for|shows"):
        evaluate(by_hand(), [Unbound()], budgets=[40])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cases": []}, "there are no queries"),
        ({"cases": [CaseSet("empty", [])]}, "the set 'empty' has no queries"),
        ({"cases": [*by_hand(), by_hand()[0]]}, "two sets are called 'faq'"),
        ({"cases": [3]}, "cases has 3"),
        ({"policies": "greedy"}, "policies is 'greedy'; give a list"),
        ({"policies": ["threshold(0.5)"]}, "is no policy"),
        ({"budgets": []}, "budgets is empty"),
        ({"budgets": [0]}, "budget"),
        ({"overhead": -1}, "overhead is -1"),
        ({"resamples": 0}, "resamples is 0"),
        ({"workers": 0}, "workers is 0"),
        ({"now": "tomorrow"}, "now is 'tomorrow'"),
        ({"policies": [custom(lambda chunks, context: chunks)], "workers": 2}, "workers=1"),
        ({"count_tokens": lambda _: 1, "workers": 2}, "the token counter <lambda> cannot go to"),
        (
            {"cases": [case(shortened(), count_tokens=lambda _: 1)] * 2, "workers": 2},
            "the token counter <lambda> cannot go to another process",
        ),
        ({"count_tokens": 3}, "count_tokens is 3"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(arguments: dict[str, Any], message: str) -> None:
    given_ = {"cases": by_hand(), "policies": ["greedy"], "budgets": [40], **arguments}
    cases, policies = given_.pop("cases"), given_.pop("policies")
    with pytest.raises(PackError, match=re.escape(message)):
        evaluate(cases, policies, **given_)


def test_what_was_not_evaluated_is_named(found: Evaluation) -> None:
    with pytest.raises(PackError, match=r"'mmr\(0.5\)' was not evaluated; policies are greedy"):
        found.cell("faq", "mmr(0.5)", 40)
    with pytest.raises(PackError, match="sets are faq, manual"):
        found.cell("other", "greedy", 40)
    with pytest.raises(PackError, match="budgets 40, 100, 130"):
        found.changes("density", 50)
    with pytest.raises(PackError, match="measure is 'recall'; give one of evidence"):
        found.table("recall")


def test_now_reaches_the_stages() -> None:
    chunk = {
        "content": "a",
        "score": 0.5,
        "id": "a",
        "tokens": 5,
        "metadata": {"timestamp": "2026-01-01"},
    }
    asked = case({"query": "q", "evidence": ["a"], "candidates": [chunk]})
    for now, recall in (("2026-01-05", 1.0), (dt.datetime(2026, 3, 1, tzinfo=dt.UTC), 0.0)):
        found = evaluate([asked], ['fresh("30d") | greedy'], budgets=[9], now=now, resamples=9)
        assert found.cells[1].figure("evidence").value == recall


# -- what it is shown as --------------------------------------------------------------------


def test_json_has_every_figure(found: Evaluation) -> None:
    read = json.loads(found.to_json(queries=True))
    assert read["sets"] == {"faq": 12, "manual": 12}
    assert len(read["cells"]) == 3 * 3 * 3
    cell = next(
        c for c in read["cells"] if (c["set"], c["policy"], c["budget"]) == ("faq", "density", 100)
    )
    assert cell["measures"]["evidence"]["difference"]["mark"] == "+"
    assert read["queries"]["faq"]["ids"][0] == "q0"
    values = np.array(read["queries"]["faq"]["values"], np.float64)
    np.testing.assert_array_equal(values, found.values["faq"])
    assert "queries" not in found.to_dict()


def test_json_takes_what_no_encoding_does() -> None:
    sets = [CaseSet("\ud800", by_hand()[0].cases)]
    text = evaluate(sets, ["density"], budgets=[40], resamples=9).to_json()
    assert list(json.loads(text.encode())["sets"]) == ["\ud800"]


def test_the_table_is_markdown(found: Evaluation) -> None:
    lines = found.table().splitlines()
    assert lines[0] == "**evidence recall, faq** (12 queries)"
    assert [part.strip() for part in lines[2].split("|")][1:-1] == [
        "policy",
        "40",
        "100",
        "130",
        "90 % at",
    ]
    assert lines[5].split(" | ")[1:] == [
        " 1.000 (+0.000)",
        "1.000 (+1.000)+",
        "1.000 (+0.000)",
        "  <= 40 |",
    ]
    assert "90 % at" not in found.table("utilization")


class Reader(html.parser.HTMLParser):
    """The tags and the addresses of a page, and whether tags close in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [str(value) for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "input", "path", "circle", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "circle", "polyline"):
            assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(found: Evaluation) -> None:
    reader = Reader()
    reader.feed(found.to_html("Refunds"))
    reader.close()
    assert reader.open == []
    assert reader.addresses == []
    assert "script" not in reader.tags
    # three sets for each measure that there is, and a line for each policy in the legend
    assert reader.tags.count("svg") == 3 * 4 + 3
    assert reader.tags.count("table") == 3 * 4
    assert "//" not in found.to_html()
    assert "prefers-color-scheme: dark" in found.to_html()
    assert html.escape(found.to_html()) in found._repr_html_()


def test_the_page_forbids_all_but_its_own_style(found: Evaluation) -> None:
    page = found.to_html()
    (rules,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(rules.encode()).digest()).decode()
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="(.*?)"', page)
    told = html.unescape(policy)
    assert f"default-src 'none'; style-src 'sha256-{digest}'; " in told
    assert " style=" not in page  # the policy would ignore it
    switches = re.findall(r"#show-(\d+):not\(:checked\)\) \.p(\d+) ", rules)
    assert switches == [("0", "0"), ("1", "1"), ("2", "2")]


def test_what_a_name_hides_is_written_out_on_the_page() -> None:
    hidden = "a\u202eb\x1b"
    sets = [CaseSet(hidden, by_hand()[0].cases)]
    page = evaluate(sets, {hidden: "density"}, budgets=[40], resamples=9).to_html(hidden)
    assert not set("\u202e\x1b") & set(page)
    assert page.count('<span class="control" title="U+202E">') >= 4  # heading, legend, table, set
    assert "<title>a\\u202eb\\x1b</title>" in page


def test_a_page_of_one_query_says_so() -> None:
    sets = [CaseSet("faq", by_hand()[0].cases[:1])]
    page = evaluate(sets, ["density"], budgets=[40], resamples=1).to_html()
    assert "1 query in 1 set; baseline <code>greedy</code>; 1 resample, seed 0." in page
    assert '<span class="empty">1 query</span>' in page
    assert "1 queries" not in page


def test_names_cannot_break_out_of_the_page() -> None:
    evil = '"><script>alert(1)</script>'
    sets = [CaseSet(evil, by_hand()[0].cases)]
    found = evaluate(sets, {evil: "density"}, budgets=[40], baseline="greedy", resamples=9)
    reader = Reader()
    reader.feed(found.to_html(evil))
    assert "script" not in reader.tags
    assert reader.open == []


def test_names_may_be_anything_in_a_table() -> None:
    found = evaluate(by_hand()[:1], {"a | b": "density"}, budgets=[40], resamples=9)
    assert "`a \\| b`" in found.table()
    assert found.sets == ("faq",)


def test_single_cases_are_one_set() -> None:
    cases = by_hand()[0].cases
    assert [s.name for s in case_sets(cases)] == ["queries"]
    assert repr(by_hand()[0].only([3])) == "CaseSet('faq', 1 query)"
    assert list(labelled([greedy, "greedy"])) == ["greedy"]
