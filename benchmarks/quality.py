"""How much evidence policies pack, on real retrieval: `make quality`.

python -m benchmarks.quality [--data ../shared/data] [--into docs/quality.md] [--jobs 2]

Reads every `.jsonl.gz` of the data, measures, and writes the figures between the markers of the
page.  Without the data it says so and changes nothing.  Nothing here is fitted to the data but
what says so: `utility` and `tune`, on half of the queries of a set.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

import strategies
from packer import Packer, PackError, Pool, Stage, approximate, tokenizer
from packer.algebra import Policy
from packer.evaluation import (
    BUDGETS,
    MEAN_OF_SETS,
    CaseSet,
    Evaluation,
    Gain,
    Tuning,
    evaluate,
    read_cases,
    tune,
)
from packer.evaluation.markdown import grid
from packer.evaluation.runs import Progress
from packer.tokens import CountTokens
from strategies import from_options, greedy, knapsack, recommended

from .peers.orderings import peers
from .tables import between

__all__ = ["data_sets", "main", "markdown"]

ROOT: Final = Path(__file__).resolve().parents[1]
DATA: Final = ROOT.parent / "shared" / "data"
PAGE: Final = ROOT / "docs" / "quality.md"

BEGIN: Final = "<!-- figures: written by benchmarks.quality -->"
END: Final = "<!-- end of the figures -->"

RESAMPLES: Final = 20_000
SEED: Final = 0

WITH_QUERY: Final = "recommended(query=True)"
WITHOUT: Final = "recommended(query=False)"

OURS: Final = (
    "lexical() | greedy",
    "lexical() | neighbours() | dedup(0.9) | greedy",
    "lexical() | neighbours() | mmr(0.9)",
    "lexical() | neighbours() | knapsack",
    "lexical() | neighbours() | overlap() | greedy",
    "overlap() | greedy",
    "dedup(0.9) | greedy",
    "mmr(0.9)",
    "coverage()",
    "dpp()",
    "density",
    "threshold(0.4) | greedy",
)
"""Beside the recommended ones: each changes one thing, or is what people reach for."""


def main() -> None:
    """Measure, and write the page."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    arguments.add_argument("--data", type=Path, default=DATA)
    arguments.add_argument("--into", type=Path, default=PAGE)
    arguments.add_argument("--jobs", type=int, default=2)
    given = arguments.parse_args()
    sets = data_sets(given.data)
    if not sets:
        print(f"no labelled queries in {given.data}: nothing measured, {given.into} left as it is")
        return
    text = markdown(sets, jobs=given.jobs)
    given.into.write_text(between(given.into.read_text("utf-8"), text, BEGIN, END), "utf-8")
    print(f"written: {given.into}")


def data_sets(folder: Path) -> list[CaseSet]:
    """The sets of labelled queries of a folder, by name."""
    return [read_cases(path) for path in sorted(folder.glob("*.jsonl.gz"))]


def markdown(sets: Sequence[CaseSet], *, jobs: int = 1) -> str:
    """All that was measured of these sets, as Markdown."""
    both = evaluate(
        sets,
        {WITH_QUERY: recommended(query=True), WITHOUT: recommended(query=False)},
        baseline=greedy,
        count_tokens=_counter(),
        seed=SEED,
        resamples=RESAMPLES,
        workers=jobs,
        progress=_told("recommended"),
    )
    others, missing = peers(list(sets))
    policies: dict[str, Policy | str] = {
        "greedy": greedy,
        WITH_QUERY: recommended(query=True),
        WITHOUT: recommended(query=False),
        **{text: text for text in OURS},
        "context-packer greedy": from_options(strategy="greedy"),
        "context-packer knapsack": from_options(strategy="knapsack"),
        "context-packer mmr": from_options(strategy="mmr"),
        **others,
    }
    every = evaluate(
        sets,
        policies,
        baseline="greedy",
        count_tokens=_counter(),
        seed=SEED,
        resamples=RESAMPLES,
        workers=jobs,
        progress=_told("all policies"),
    )
    parts = [
        _head(both, sets),
        _by_set(both),
        _losses(both),
        _tables(every, missing),
        _calibrated(sets),
        _tuned(sets, jobs),
        _squeezed(sets),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _counter() -> CountTokens:
    """What the tokens of the data were counted with, where it is installed, for texts in part."""
    try:
        return tokenizer("cl100k_base")
    except PackError:
        return approximate


def _told(words: str) -> Progress:
    """Progress on standard error, on a terminal only."""

    def told(done: int, of: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == of else ""
            sys.stderr.write(f"\r{words}: {done:,} of {of:,}{end}")

    return told


# -- what we stand behind -------------------------------------------------------------------


def _head(both: Evaluation, sets: Sequence[CaseSet]) -> str:
    rows = []
    for label in (WITH_QUERY, WITHOUT):
        row = [f"`{label}`"]
        for budget in both.budgets:
            found = both.cell(_mean(both), label, budget).difference("evidence")
            row.append(f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})")
        rows.append(row)
    count = sum(map(len, sets))
    names = ", ".join(f"{part.name} ({len(part)})" for part in sets)
    return (
        f"## Recommended\n\n{count} queries of {len(sets)} sets: {names}. "
        f"`{WITH_QUERY}` is `{_code(both, WITH_QUERY)}`, `{WITHOUT}` is `{_code(both, WITHOUT)}`. "
        "Evidence recall above `greedy`, mean over the sets, with its 95 % interval:\n\n"
        f"{grid(['policy', *(f'{b:,}' for b in both.budgets)], rows)}"
    )


def _by_set(both: Evaluation) -> str:
    """Each recommended policy on each set, marked after a correction over these cells alone."""
    rows = []
    for label in (WITH_QUERY, WITHOUT):
        for name in both.queries:
            row = [f"`{label}`", name]
            for budget in both.budgets:
                found = both.cell(name, label, budget).difference("evidence")
                row.append(f"{found.value:+.3f}{found.mark}")
            rows.append(row)
    return (
        "### On every set\n\nThe difference to `greedy`; `+` and `-` where it holds after Holm's "
        "correction over the sets, the budgets and these two policies.\n\n"
        + grid(["policy", "set", *(f"{b:,}" for b in both.budgets)], rows, left=2)
    )


def _code(found: Evaluation, label: str) -> str:
    return found.policies[label]


def _mean(found: Evaluation) -> str:
    return MEAN_OF_SETS if len(found.queries) > 1 else next(iter(found.queries))


def _losses(both: Evaluation) -> str:
    """Every cell in which a recommended policy is below greedy, and whether that holds."""
    rows, worse = [], dict.fromkeys((WITH_QUERY, WITHOUT), 0)
    for cell in both.cells:
        found = cell.differences["evidence"]
        if found is None or found.p is None or found.adjusted is None or found.value >= -1e-9:
            continue
        changes = [c for c in both.changes(cell.policy, cell.budget) if c.set == cell.set]
        lost = sum(c.value < c.baseline for c in changes)
        worse[cell.policy] += found.mark == "-"
        rows.append(
            [
                f"`{cell.policy}`",
                cell.set,
                f"{cell.budget:,}",
                f"{found.value:+.3f}{found.mark}",
                f"{found.low:+.3f} to {found.high:+.3f}",
                f"{found.adjusted:.3f}",
                f"{lost} and {len(changes) - lost}",
            ]
        )
    told = "; ".join(
        f"`{label}` is significantly worse in {count or 'no'} cell{'' if count == 1 else 's'}"
        for label, count in worse.items()
    )
    head = [
        "policy",
        "set",
        "budget",
        "difference",
        "95 % interval",
        "p after Holm",
        "queries that lose and gain",
    ]
    body = grid(head, rows, left=2) if rows else "There is none."
    return (
        "### Where it loses\n\nEvery set and budget at which a recommended policy packs less "
        f"evidence than `greedy`. After Holm's correction over sets, budgets and the two policies, "
        f"{told}.\n\n{body}"
    )


def _tables(every: Evaluation, missing: Sequence[str]) -> str:
    lacking = "".join(f"\n\n{line}." for line in missing)
    comparisons = len(every.queries) * len(every.budgets) * (len(every.policies) - 1)
    tables = every.table("evidence").replace("**evidence recall, ", "### ").replace("** (", " (")
    return (
        "## Every policy, every set\n\nEvidence recall, and the difference to `greedy`; `+` and "
        f"`-` where it holds after Holm's correction over all {comparisons:,} comparisons of this "
        f"table.{lacking}\n\n{tables.replace('### mean of sets**', '### mean of sets')}"
    )


# -- fitted to half of the queries ----------------------------------------------------------


def _halves(part: CaseSet) -> tuple[CaseSet, CaseSet]:
    """Two halves of a set, drawn at random."""
    order = np.random.default_rng(SEED).permutation(len(part))
    half = (len(part) + 1) // 2
    return part.only(np.sort(order[:half])), part.only(np.sort(order[half:]))


def _calibrated(sets: Sequence[CaseSet]) -> str:
    """`knapsack` on a probability that is fitted to one half, against greedy on the other."""
    befores: dict[str, Stage[Pool, Pool] | None] = {
        "utility": None,
        "lexical | neighbours | utility": strategies.lexical() | strategies.neighbours(),
    }
    rows, worse = [], 0
    for part in sets:
        fit, test = _halves(part)
        policies = {
            f"`{title} | knapsack`": _fitted(before, fit) for title, before in befores.items()
        }
        policies["`knapsack`"] = knapsack
        found = evaluate(test, policies, baseline=greedy, seed=SEED, resamples=RESAMPLES, workers=1)
        for label in policies:
            cells = [found.cell(test.name, label, budget) for budget in found.budgets]
            differences = [cell.difference("evidence") for cell in cells]
            if "utility" in label:
                worse += sum(d.mark == "-" for d in differences)
            shown = [f"{d.value:+.3f} ({d.low:+.3f} to {d.high:+.3f}){d.mark}" for d in differences]
            text = label.replace("|", "\\|")
            rows.append([f"{part.name} ({len(fit)}, {len(test)})", text, *shown])
    head = ["set (fitted, tested)", "policy", *(f"{b:,}" for b in BUDGETS)]
    return (
        "## A knapsack of probabilities\n\n`utility` fitted to one half of each set's queries, then "
        "measured on the other half, as difference to `greedy` there, with its 95 % interval. The "
        "raw `knapsack` stands beside it. After Holm's correction over the budgets and policies of a "
        f"set, a fitted one is significantly worse in {worse or 'no'} "
        f"cell{'' if worse == 1 else 's'}.\n\n" + grid(head, rows, left=2)
    )


def _fitted(before: Stage[Pool, Pool] | None, fit: CaseSet) -> Policy:
    pools = [case.pool for case in fit]
    labels = [case.evidence[case.pool.table_rows] for case in fit]
    utility = strategies.fit_utility(pools, labels, before=before)
    scored: Stage[Pool, Pool] = utility if before is None else before | utility
    return scored | knapsack


def _tuned(sets: Sequence[CaseSet], jobs: int) -> str:
    """What tuning on one half states, and what its choice gets on the other."""
    rows, covered = [], 0
    for part in sets:
        fit, test = _halves(part)
        found = tune(
            fit,
            budgets=BUDGETS,
            count_tokens=_counter(),
            seed=SEED,
            workers=jobs,
            progress=_told(part.name),
        )
        gain, got = found.over_current, _gained(found, test)
        inside = gain.low - 1e-9 <= got[0] <= gain.high + 1e-9
        covered += inside
        rows.append(
            [
                f"{part.name} ({len(fit)}, {len(test)})",
                "`" + str(found.best).replace("|", "\\|") + "`",
                "yes" if found.holds else "keep what you have",
                _stated(gain),
                f"{got[0]:+.3f}",
                "yes" if inside else "no",
                _stated(found.over_greedy),
                f"{got[1]:+.3f}",
            ]
        )
    head = [
        "set (tuned on, tested on)",
        "choice",
        "holds",
        "stated gain over recommended",
        "got",
        "covered",
        "stated gain over greedy",
        "got",
    ]
    return (
        "## Tuning\n\n`tune` on one half of each set's queries, over all five budgets: the gain over "
        "`recommended()` that it states for as many queries to come, and what its choice gets on "
        f"the other half. The interval covers that on {covered} of {len(sets)} sets.\n\n"
        + grid(head, rows, left=3)
    )


def _stated(gain: Gain) -> str:
    return f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"


def _gained(found: Tuning, test: CaseSet) -> tuple[float, float]:
    """The mean gain of a choice over the current policy and over greedy, on other queries."""
    policies = {"best": found.best, "current": found.current, "greedy": greedy}
    measured = evaluate(test, policies, baseline="greedy", count_tokens=_counter(), resamples=1)
    known = measured.values[test.name][..., 0]
    means = known[~np.isnan(known[:, 0, 0])].mean(axis=(0, 2))
    return float(means[0] - means[1]), float(means[0] - means[2])


def _squeezed(sets: Sequence[CaseSet]) -> str:
    """On how many queries the raw knapsack warns of scores that are squeezed."""
    packer = Packer(knapsack, budget=1024)
    rows = []
    for part in sets:
        layouts = (packer.select(case.pool) for case in part)
        warned = sum(
            "squeezed-scores" in {w.code for w in layout.pool.warnings} for layout in layouts
        )
        rows.append([part.name, f"{warned} of {len(part)}"])
    return (
        "## The warning\n\nQueries on which `knapsack` over the raw cosines warns of "
        "`squeezed-scores` (budget 1,024).\n\n" + grid(["set", "queries"], rows)
    )


if __name__ == "__main__":
    main()
