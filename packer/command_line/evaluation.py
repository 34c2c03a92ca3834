"""The command eval: policies on labelled queries, as tables, JSON and a page."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from packer.counted import number
from packer.evaluation.budgets import BUDGETS
from packer.tokens import CountTokens

from .answering import answering
from .counters import counter
from .faults import InputFault
from .options import Invalid, NoColor, Now, OnInvalid, Overhead, Tokenizer
from .output import console, display, emit, visible
from .progress import counting
from .writing import write_whole

if TYPE_CHECKING:
    from packer.evaluation import CaseSet
    from packer.evaluation.results import Cell, Evaluation

__all__ = [
    "Data",
    "Jobs",
    "NoColor",
    "Now",
    "Overhead",
    "Seed",
    "Tokenizer",
    "budgets",
    "eval_command",
    "labelled_queries",
    "processes",
]

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="Labelled queries: .jsonl or .jsonl.gz with an .npz of embeddings beside it where "
        "there is one, or .parquet; each file is a set.",
        show_default=False,
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="Of the random numbers; the same gives the same figures.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes; 0 for one a core.")]

ALL = "all"
"""Stands for every measure."""

WIDE = 14
"""Cells of a column that has figure, difference and mark."""


def budgets(default: tuple[int, ...]) -> Any:
    """The option --budget of a command that takes these when none are given."""
    return typer.Option(
        "--budget",
        "-b",
        help="Tokens; give it once for each budget.",
        show_default=", ".join(map(str, default)),
    )


def eval_command(
    data: Data,
    *,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            help="A policy to measure; give it once for each.",
            show_default="the recommended policy",
        ),
    ] = None,
    baseline: Annotated[
        str, typer.Option(metavar="POLICY", help="What the others are compared with.")
    ] = "greedy",
    budget: Annotated[list[int] | None, budgets(BUDGETS)] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            help="What the tables show: evidence, all_evidence, answer, redundancy, utilization, or all.",
            show_default="evidence",
        ),
    ] = None,
    losses: Annotated[
        int,
        typer.Option(min=0, help="Name so many queries on which each policy loses most."),
    ] = 0,
    json: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write all figures as JSON; - for standard output."),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write one page with curves over the budget."),
    ] = None,
    overhead: Overhead = 0,
    tokenizer: Tokenizer = "approximate",
    now: Now = None,
    on_invalid: OnInvalid = Invalid.RAISE,
    seed: Seed = 0,
    resamples: Annotated[
        int, typer.Option(min=1, help="Of the bootstrap and of the test of signs.")
    ] = 10_000,
    jobs: Jobs = 0,
    no_color: NoColor = False,
) -> None:
    r"""Measure policies on labelled queries, at several budgets, against a baseline.

    A line of DATA has query, candidates (chunks) and evidence (their ids), or
    evidence_groups, or answers; see docs/evaluation.md.  A difference has a mark,
    + or -, only where it holds after Holm's correction over all that is compared.

    [bold]Examples[/]

    packer eval faq.jsonl -p 'dedup(0.9) | greedy' -p 'mmr(0.7)' -b 512 -b 1024

    packer eval faq.jsonl tickets.jsonl -p 'mmr(0.9)' --html report.html --json report.json
    """
    with answering(plain=no_color):
        from packer.evaluation import MEASURES, evaluate  # slow, and no other command's
        from packer.evaluation.markdown import checked_measure
        from strategies import recommended

        for name in measure or ():
            if name != ALL:
                checked_measure(name)
        sets = labelled_queries(data, counter(tokenizer), on_invalid)
        err = console(sys.stderr, plain=no_color)
        with counting(err, "Evaluating") as told:
            found = evaluate(
                sets,
                policy or [recommended()],
                budgets=budget or BUDGETS,
                baseline=baseline,
                overhead=overhead,
                now=now,
                seed=seed,
                resamples=resamples,
                workers=processes(jobs, sum(map(len, sets))),
                progress=told,
            )
        if html is not None:
            write_whole(Path(html), found.to_html())
        if json is not None:
            text = found.to_json(queries=True) + "\n"
            if json == "-":
                emit(text)
                return
            write_whole(Path(json), text)
        wanted = MEASURES if ALL in (measure or ()) else (measure or ["evidence"])
        out = console(sys.stdout, plain=no_color)
        display(out, _report(found, list(wanted), losses, out))


def labelled_queries(
    paths: list[str], count_tokens: CountTokens, on_invalid: Invalid = Invalid.RAISE
) -> list["CaseSet"]:
    """The sets of these files.

    Raises InputFault for what cannot be read or reached, and what `read_cases` raises.
    """
    from packer.evaluation import read_cases

    sets = []
    for path in paths:
        try:
            sets.append(read_cases(path, count_tokens=count_tokens, on_invalid=on_invalid.value))
        except OSError as error:
            message = f"cannot read {path}: {error.strerror or error}"
            raise InputFault(message) from None
        _check_reachable(path, sets[-1])
    return sets


def _check_reachable(path: str, found: "CaseSet") -> None:
    """Raise InputFault for a file of which no policy can pack anything that is wanted."""
    if any(len(asked.groups) for asked in found):
        return
    of = f"{path}: 0 of {len(found):,} queries have"
    if any(asked.unreachable for asked in found) or not any(asked.answers for asked in found):
        message = f"{of} reachable evidence; are the ids those of the candidates?"
        raise InputFault(message)
    if not any(asked.holds.any() for asked in found):
        message = f"{of} an answer in a candidate; are the answers words of the candidates?"
        raise InputFault(message)


def processes(jobs: int, queries: int) -> int:
    """How many processes to start: as many as asked for, or one a core where it pays."""
    if jobs:
        return jobs
    return min(os.cpu_count() or 1, max(1, queries // 200))


# -- tables ---------------------------------------------------------------------------------


def _report(found: "Evaluation", measures: list[str], losses: int, out: Console) -> RenderableType:
    parts: list[RenderableType] = []
    wide = out.width >= 30 + WIDE * (len(found.budgets) + 1)
    for measure in measures:
        for name in found.sets:
            parts += [*_table(found, name, measure, wide=wide), Text()]
    parts.append(_legend(found))
    if found.missed:
        parts.append(Text(visible(found.missed), "dim"))
    for policy in found.policies if losses else ():
        parts += _losses(found, policy, losses)
    return Group(*parts)


def _table(found: "Evaluation", name: str, measure: str, *, wide: bool) -> list[RenderableType]:
    from packer.evaluation import TITLES

    count = len(found.queries.get(name, ()))
    queries = f", {number(count, 'query', 'queries')}" if count else ""
    title = Text(f"{TITLES[measure]}: {visible(name)}{queries}", "bold")
    table = Table(box=None, pad_edge=False)
    table.add_column("policy", overflow="fold", max_width=40)
    for budget in found.budgets:
        table.add_column(f"{budget:,}", justify="right", no_wrap=True)
    reach = measure == "evidence" and bool(count)
    if reach:
        table.add_column("90 % at", justify="right", no_wrap=True)
    for label in found.policies:
        style = "bold" if label == found.baseline else ""
        row = [Text(visible(label), style)]
        row += [_shown(found.cell(name, label, at), measure, wide=wide) for at in found.budgets]
        if reach:
            row.append(Text(found.reached(name, label)))
        table.add_row(*row)
    return [title, table]


def _shown(cell: "Cell", measure: str, *, wide: bool) -> Text:
    from packer.evaluation.markdown import brief

    figure, difference, mark = brief(cell, measure)
    text = Text(figure)
    if difference and wide:
        text.append(f" {difference}", "" if mark else "dim")
    text.append(mark or " ", {"+": "bold green", "-": "bold red"}.get(mark, ""))
    return text


def _legend(found: "Evaluation") -> Text:
    words = (
        f"+ and -: differs from {visible(found.baseline)} after Holm's correction over sets, budgets and "
        "policies (5 %).  90 % at: the budget that has 90 % of the evidence."
    )
    return Text(words, "dim")


def _losses(found: "Evaluation", policy: str, most: int) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for budget in found.budgets:
        changed = [c for c in found.changes(policy, budget) if c.value < c.baseline]
        if not changed:
            continue
        count = number(len(changed), "query", "queries")
        head = f"{visible(policy)} at {budget:,} loses evidence on {count}:"
        parts += [Text(), Text(head, "bold")]
        parts += [
            Text(f"  {visible(c.set)} {visible(c.query)}: {c.baseline:.2f} -> {c.value:.2f}")
            for c in changed[:most]
        ]
    return parts
