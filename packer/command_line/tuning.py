"""The command tune: a policy chosen for labelled queries, and what the choice gains on others."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from packer.counted import number
from packer.evaluation.budgets import TUNING_BUDGETS

from .answering import answering
from .counters import counter
from .evaluation import (
    Data,
    Jobs,
    Seed,
    budgets,
    labelled_queries,
    processes,
)
from .options import Invalid, NoColor, Now, OnInvalid, Overhead, Tokenizer
from .output import console, display, emit, visible
from .progress import counting
from .writing import write_whole

if TYPE_CHECKING:
    from packer.evaluation import Gain, Tuning

__all__ = ["tune_command"]


def tune_command(
    data: Data,
    *,
    budget: Annotated[list[int] | None, budgets(TUNING_BUDGETS)] = None,
    current: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="What you have, and keep where nothing better holds.",
            show_default="the recommended policy",
        ),
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate",
            "-p",
            help="A policy to choose from, in place of the grid; give it once for each.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="At most so many policies of the grid.", show_default="all"),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the policy to a file, too."),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write what was found as JSON.")
    ] = None,
    overhead: Overhead = 0,
    tokenizer: Tokenizer = "approximate",
    now: Now = None,
    on_invalid: OnInvalid = Invalid.RAISE,
    seed: Seed = 0,
    jobs: Jobs = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No report on standard error.")
    ] = False,
    no_color: NoColor = False,
) -> None:
    """Choose a policy by labelled queries: its text to standard output, the report to standard error.

    Says how much more evidence such a choice packs on queries that it was not made
    by, with an interval, and "keep what you have" where that is not more than chance.

    [bold]Examples[/]

    packer tune faq.jsonl -b 1000 > policy.txt

    packer tune faq.jsonl -b 512 -b 2048 --current 'dedup(0.9) | mmr(0.7)' --json tuning.json
    """
    with answering(plain=no_color):
        from packer.evaluation import tune  # slow, and no other command's

        sets = labelled_queries(data, counter(tokenizer), on_invalid)
        err = console(sys.stderr, plain=no_color)
        with counting(err, "Tuning") as told:
            found = tune(
                sets,
                budgets=budget or TUNING_BUDGETS,
                current=current,
                candidates=candidate or None,
                trials=trials,
                overhead=overhead,
                now=now,
                seed=seed,
                workers=processes(jobs, sum(map(len, sets))),
                progress=told,
            )
        if json is not None:
            write_whole(Path(json), found.to_json() + "\n")
        if output is not None:
            write_whole(Path(output), f"{found.policy}\n")
        if not quiet:
            display(err, _report(found))
        emit(visible(str(found.policy)) + "\n")


def _report(found: "Tuning") -> RenderableType:
    head = (
        f"{number(found.tried, 'policy', 'policies')}, "
        f"{number(found.queries, 'query', 'queries')} with evidence, each held back in "
        f"{number(found.rounds, 'round')} of {number(found.folds, 'part')}"
    )
    parts: list[RenderableType] = [
        Text(head, "dim"),
        Text(),
        Text("evidence recall", "bold"),
        _recall(found),
        Text(),
        Text("what choosing gains on queries that were held back", "bold"),
        _gains(found),
        Text(),
        Text("what was chosen when a part was held back", "bold"),
        _chosen(found),
        Text(),
        Text(visible(found.verdict), "bold green" if found.holds else "bold"),
        Text(),
    ]
    return Group(*parts)


def _recall(found: "Tuning") -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("policy", overflow="fold", max_width=44)
    budgets = list(found.recall["current"])
    for at in budgets:
        table.add_column(f"{at:,}", justify="right", no_wrap=True)
    labels = {"tuned": "tuned, on held-back queries", "current": f"what you have, {found.current}"}
    for name, values in found.recall.items():
        row = [f"{values[at]:.3f}" for at in budgets]
        table.add_row(Text(visible(labels.get(name, name))), *row)
    return table


def _gains(found: "Tuning") -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("over")
    further = number(found.queries, "further query", "further queries")
    for title in ("gain", f"95 %, {further}", "95 %, all of the kind"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, gain in (("what you have", found.over_current), ("greedy", found.over_greedy)):
        table.add_row(name, *_figures(gain))
    return table


def _figures(gain: "Gain") -> tuple[str, str, str]:
    return (
        f"{gain.value:+.3f}",
        f"{gain.low:+.3f} to {gain.high:+.3f}",
        f"{gain.mean_low:+.3f} to {gain.mean_high:+.3f}",
    )


def _chosen(found: "Tuning", most: int = 5) -> Table:
    of = sum(found.chosen.values())
    table = Table(box=None, pad_edge=False)
    table.add_column("policy", overflow="fold")
    table.add_column("times", justify="right", no_wrap=True)
    for policy, times in list(found.chosen.items())[:most]:
        table.add_row(Text(visible(policy)), f"{times} of {of}")
    if len(found.chosen) > most:
        table.add_row(f"... and {len(found.chosen) - most} others", "")
    return table
