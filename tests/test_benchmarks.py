"""The harness: medians, ratios, turns, exponents, and what it writes."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from benchmarks import goals, growth, harness, inputs, tables
from benchmarks.harness import Contender, Effort, Row, Timing
from benchmarks.peers import knapsack_solvers, knapsack_table, near_duplicate_methods

SHORT = Effort(quick=True, seconds=0.001, patience=100.0)


class Clock:
    """A contender that tells the times that it is given, one after the other."""

    def __init__(self, *seconds: float) -> None:
        self.seconds: Iterator[float] = iter(seconds)
        self.asked: list[int] = []

    def __call__(self, number: int) -> float:
        self.asked.append(number)
        return next(self.seconds) * number


def contender(name: str, *seconds: float, **options: Any) -> Contender:
    return Contender(name, lambda: name, clock=Clock(*seconds), **options)


def row(key: str = "job/1", seconds: float = 1.0, **columns: Any) -> Row:
    filled = {
        "job": key.partition("/")[0],
        "case": key,
        "sizes": {"n": 10},
        "quartiles": (seconds, seconds),
        "quickest": seconds,
        "runs": 5,
    }
    return Row(key=key, seconds=seconds, **{**filled, **columns})


def test_the_ratio_is_of_the_medians_of_the_same_turns() -> None:
    """One call to warm up, then five turns; 9.0 and 90.0 are outliers that a mean would show."""
    ours = contender("ours", 2.0, 2.0, 1.0, 3.0, 9.0, 2.5)
    theirs = contender("theirs", 10.0, 10.0, 11.0, 90.0, 9.0, 10.0)
    found = harness.measure("job/1", "a case", ours, [theirs], SHORT, sizes={"n": 3})
    assert found.seconds == 2.5
    assert found.quartiles == (2.0, 3.0)
    assert found.quickest == 1.0
    assert found.runs == 5
    (other,) = found.others
    assert (other.seconds, other.ratio, other.runs, other.quickest) == (10.0, 4.0, 5, 9.0)


def test_a_missing_peer_stands_in_the_row_with_its_reason() -> None:
    error = harness.MissingError("missing: no-such-peer is not installed")
    ours = contender("ours", *[1.0] * 6)
    found = harness.measure(
        "job/1", "a case", ours, [harness.absent("peer", error)], SHORT, sizes={}
    )
    assert found.others == [Timing("peer", None, note="missing: no-such-peer is not installed")]
    assert found.other("peer") is None


def test_a_module_that_is_not_there_is_missing() -> None:
    with pytest.raises(harness.MissingError, match="missing: a-peer is not installed"):
        harness.installed("no_module_of_this_name", "a-peer")


def test_one_that_was_left_out_says_why() -> None:
    assert harness.left_out("peer", "too large").missing == "not run: too large"


def test_a_slow_contender_has_fewer_turns_and_a_very_slow_one_its_first_call_alone() -> None:
    effort = Effort(quick=True, seconds=0.001, patience=8.0)
    ours = contender("ours", *[1.0] * 6)
    slow = contender("slow", *[4.0] * 6)
    frozen = contender("frozen", *[60.0] * 2)
    found = harness.measure("job/1", "a case", ours, [slow, frozen], effort, sizes={})
    assert [other.runs for other in found.others] == [2, 1]
    assert [other.ratio for other in found.others] == [4.0, 60.0]


def test_one_that_hits_its_time_limit_is_called_once() -> None:
    calls: list[int] = []
    limited = Contender("limited", lambda: calls.append(1), unfinished=lambda _: True)
    ours = contender("ours", *[1.0] * 6)
    found = harness.measure("job/1", "a case", ours, [limited], SHORT, sizes={})
    assert [other.runs for other in found.others] == [1]
    assert calls == [1]


def test_quick_calls_are_timed_in_batches_after_one_that_is_not() -> None:
    clock = Clock(*[1e-4] * 100)
    ours = Contender("ours", lambda: None, clock=clock)
    effort = Effort(quick=True, seconds=1e-4, patience=1.0)
    found = harness.measure("job/1", "a case", ours, [], effort, sizes={})
    assert clock.asked == [1, *[1, 20] * 5]
    assert found.seconds == pytest.approx(1e-4, rel=1e-12)


def test_facts_agreement_and_bandwidth_come_from_the_results() -> None:
    ours = contender("ours", *[2.0] * 6)
    theirs = contender("theirs", *[1.0] * 6, agreement=lambda ours, theirs: f"{ours}, {theirs}")
    found = harness.measure(
        "job/1",
        "a case",
        ours,
        [theirs],
        SHORT,
        sizes={},
        facts=lambda result: {"is": result},
        bytes_read=lambda _: 6e9,
        bandwidth=12e9,
    )
    assert found.facts == {"is": "ours"}
    assert found.others[0].agreement == "ours, theirs"
    assert found.bandwidth_share == 0.25


@pytest.mark.parametrize(
    ("runs", "order"),
    [
        ({}, ""),
        ({"a": 2, "b": 2}, "abab"),
        ({"a": 4, "b": 1}, "aaaab"),
        ({"a": 2, "b": 0}, "aa"),
        ({"a": 1, "b": 3}, "bbab"),
    ],
)
def test_turns_are_spread_evenly(runs: dict[str, int], order: str) -> None:
    assert "".join(harness.turns(runs)) == order


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, 1.5])
def test_the_exponent_of_a_power_is_that_power(power: float) -> None:
    sizes = [100.0, 1_000.0, 10_000.0]
    found = harness.exponent(sizes, [3e-6 * size**power for size in sizes])
    assert math.isclose(found, power, abs_tol=1e-12)


def test_json_has_the_machine_the_mode_and_every_column_and_reads_back(tmp_path: Path) -> None:
    other = Timing("peer", 3.0, (2.0, 4.0), 2.0, 5, 3.0, "same choice", "a note")
    rows = [row(others=[other], facts={"proven": True}), row("job/2", bandwidth_share=0.5)]
    text = harness.as_json(rows, {"cores": 2}, quick=True)
    content = json.loads(text)
    assert content.keys() == {"machine", "quick", "rows"}
    assert content["machine"] == {"cores": 2}
    assert content["rows"][0].keys() == {field.name for field in attrs.fields(Row)}
    assert content["rows"][0]["others"][0]["ratio"] == 3.0
    path = tmp_path / "bench.json"
    path.write_text(text, "utf-8")
    read, machine, quick = harness.from_json(path)
    assert (machine, quick) == ({"cores": 2}, True)
    assert harness.as_json(read, machine, quick=quick) == text
    assert read[0].other("peer") is not None


def test_at_the_quickest_the_ratio_is_of_the_quickest_runs() -> None:
    other = Timing("peer", 3.0, (2.0, 4.0), 2.0, 5, 3.0)
    (found,) = harness.at_the_quickest([row(quickest=0.5, others=[other, Timing("gone", None)])])
    assert found.seconds == 0.5
    assert [one.ratio for one in found.others] == [4.0, None]


# -- goals and growth --------------------------------------------------------------------------


def outcome_of(rows: list[Row], job: str, what: str) -> goals.Outcome:
    return next(one for one in goals.outcomes(rows) if (one.goal.job, one.goal.what) == (job, what))


@pytest.mark.parametrize(("ratio", "met"), [(2.999, False), (3.0, True), (None, None)])
def test_a_goal_is_met_at_its_figure_and_unmeasured_without_the_peer(
    ratio: float | None, *, met: bool | None
) -> None:
    peer = Timing("pyversity", None if ratio is None else 1.0, ratio=ratio)
    rows = [row("mmr/constant/1000/384/32000", others=[peer])]
    found = outcome_of(rows, "MMR 1,000 x 384", "times pyversity")
    assert (found.measured, found.met) == (ratio, met)


def test_a_goal_from_above_is_met_at_its_figure() -> None:
    key = "startup/import packer"
    rows = [row(key, 1.25, others=[Timing("import numpy, attrs", 1.0, ratio=1.0 / 1.25)])]
    found = outcome_of(rows, "import packer", "of numpy and attrs")
    assert (found.measured, found.met) == (1.25, False)


def test_the_kernel_is_compared_by_its_own_time() -> None:
    others = [
        Timing("ours, the kernel alone", 0.5, ratio=0.5),
        Timing("OR-tools", 100.0, ratio=100.0),
    ]
    rows = [row("knapsack/lognormal/1000/128000", others=others)]
    job = "knapsack 1,000, 128k"
    assert outcome_of(rows, job, "kernel, times OR-tools").measured == 200.0
    assert outcome_of(rows, job, "stage, times OR-tools").measured == 100.0


def test_the_least_speed_up_of_all_jobs_counts_for_threads() -> None:
    rows = [
        row(f"threads/{ratio}", others=[Timing("one thread", ratio, ratio=ratio)])
        for ratio in (1.9, 1.5, 1.8)
    ]
    found = outcome_of(rows, "two threads, the least of the jobs", "times one")
    assert (found.measured, found.met) == (1.5, False)


def test_growth_fits_the_rows_of_one_size() -> None:
    rows = [
        row(f"cosine dedup/{n}/384", (n / 100) ** 2, sizes={"n": n, "d": 384})
        for n in (100, 1_000, 10_000)
    ]
    rows.append(row("cosine dedup/10000/1536", 40_000.0, sizes={"n": 10_000, "d": 1_536}))
    found = {fit.growth.size: fit for fit in growth.fits(rows)}
    assert found["n"].sizes == (100, 1_000, 10_000)
    assert math.isclose(found["n"].exponent, 2.0)
    assert math.isclose(found["d"].exponent, 1.0)
    assert found.keys() == {"n", "d"}


def test_every_key_of_a_growth_and_a_goal_is_written_once() -> None:
    assert len({(goal.job, goal.what) for goal in goals.GOALS}) == len(goals.GOALS)
    assert len({(one.begins, one.ends, one.size) for one in growth.GROWTHS}) == len(growth.GROWTHS)


# -- tables ------------------------------------------------------------------------------------


def test_figures_replace_what_stands_between_the_markers() -> None:
    text = f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n"
    written = tables.between(text, "new")
    assert written == f"before\n{tables.BEGIN}\n\nnew\n\n{tables.END}\nafter\n"
    assert tables.between(written, "new") == written
    with pytest.raises(ValueError, match="has no lines"):
        tables.between("no markers", "new")


def test_markdown_tells_losses_missing_peers_and_goals() -> None:
    others = [
        Timing("pyversity", 0.5, (0.5, 0.5), 0.5, 5, 0.5, "same choice", "no budget"),
        Timing("LangChain (array)", None, note="missing: langchain-core is not installed"),
    ]
    rows = [row("mmr/constant/1000/384/32000", others=others, case="n = 1,000")]
    text = tables.markdown(rows, {"cores": 2}, quick=False)
    assert "- cores: 2" in text
    assert "| mmr | n = 1,000 | pyversity | 0.5 | same choice; no budget |" in text
    assert "| n = 1,000 | 1 s | 0.5 | missing |  |" in text
    assert "- LangChain (array): missing: langchain-core is not installed (n = 1,000)" in text
    assert "| MMR 1,000 x 384 | times pyversity | at least 3 | 0.5 | 0.5 | no |" in text


# -- inputs and peers --------------------------------------------------------------------------


@pytest.mark.parametrize("family", inputs.FAMILIES)
def test_scores_are_the_integers_of_the_peers(family: str) -> None:
    given = inputs.items(family, 200, 4_000)
    assert (given.scores * 2.0**20 == given.values).all()
    assert given.weights.min() >= 1
    odd = int((given.weights % 2).sum())
    if family == "even":
        assert (odd, given.budget) == (0, 4_001)
    if family == "one odd":
        assert (odd, given.budget) == (1, 4_001)


def test_inputs_are_the_same_each_time() -> None:
    first, again = inputs.vectors(50, 8, copies=0.2), inputs.vectors(50, 8, copies=0.2)
    assert (first.embeddings == again.embeddings).all()
    assert (inputs.lengths(9, 1) == inputs.lengths(9, 1)).all()


def test_the_table_finds_the_best_total() -> None:
    values, weights = np.array([60, 100, 120]), np.array([10, 20, 30])
    assert knapsack_table.total(values, weights, 50) == 220
    assert knapsack_table.total(values, weights, 9) == 0


def test_sets_and_matrices_drop_the_later_copy() -> None:
    texts = ["one two three four", "ONE two  three four", "something else"]
    drop = near_duplicate_methods.python_sets(texts, [1, 0, 2], 0.9)
    assert drop() == {0: (1, 1.0)}
    vectors = np.array([[1, 0], [0, 1], [2, 0]], np.float32)
    for method in (near_duplicate_methods.matrix_vector, near_duplicate_methods.full_matrix):
        assert method(vectors, [2, 0, 1], 0.9)() == {0: (2, 1.0)}


@pytest.mark.parametrize("solver", ["ortools", "highs"])
def test_solvers_prove_a_small_knapsack(solver: str) -> None:
    given = inputs.Items(
        np.array([60, 100, 120]), np.array([10, 20, 30]), np.array([0.6, 1.0, 1.2]), 50
    )
    try:
        call = getattr(knapsack_solvers, solver)(given)
    except harness.MissingError as error:
        pytest.skip(str(error))
    assert call() == (220, True)
