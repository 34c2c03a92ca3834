"""Tables of the rows: on the terminal, and as Markdown for docs/performance.md.

python -m benchmarks.tables build/bench.json                             prints Markdown
python -m benchmarks.tables build/bench.json --into docs/performance.md  between the markers
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from .goals import outcomes
from .growth import fits
from .harness import FEWEST, Fact, Row, Timing, at_the_quickest, from_json

__all__ = ["between", "markdown", "number", "show", "show_all", "span", "times"]

BEGIN: Final = "<!-- figures: written by benchmarks.tables -->"
END: Final = "<!-- end of the figures -->"
UNMEASURED: Final = "not measured"
GOAL_HEADINGS: Final = ("job", "what", "wanted", "measured", "by the quickest runs", "met")
TITLES: Final = {"mmr": "MMR"}
BAR: Final = "\\|"


# -- words -------------------------------------------------------------------------------------


def span(seconds: float) -> str:
    """Seconds with three digits and a unit.

    >>> span(1.234e-5), span(0.0567), span(12.3)
    ('12.3 µs', '56.7 ms', '12.3 s')
    """
    for factor, unit in ((1e6, "µs"), (1e3, "ms")):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def times(ratio: float) -> str:
    """A ratio with three digits.

    >>> times(5530.2), times(0.8471), times(16.0)
    ('5,530', '0.847', '16')
    """
    return f"{float(f'{ratio:.3g}'):,g}" if ratio < 1e6 else f"{ratio:,.0f}"


def number(fact: Fact) -> str:
    """A fact as text.

    >>> number(True), number(12345), number(0.00123456), number("text")
    ('yes', '12,345', '0.00123', 'text')
    """
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, int):
        return f"{fact:,}"
    return f"{fact:.3g}" if isinstance(fact, float) else fact


def _told(row: Row) -> str:
    words = [f"{name}: {number(value)}" for name, value in row.facts.items()]
    if row.bandwidth_share is not None:
        words.append(f"{100 * row.bandwidth_share:.0f} % of the read bandwidth")
    return "; ".join(words)


def _remarks(other: Timing) -> str:
    return "; ".join(word for word in (other.agreement, other.note) if word)


def _figure(other: Timing) -> str:
    """Its ratio; `>` where it did not finish, `*` where it had under five runs."""
    if other.ratio is None:
        return "missing" if other.note.startswith("missing") else "-"
    begun = "> " if other.agreement.startswith("not proven") else ""
    return f"{begun}{times(other.ratio)}{'*' if other.runs < FEWEST else ''}"


# -- the terminal ------------------------------------------------------------------------------


def show(row: Row) -> None:
    """One line as soon as a row is there."""
    others = ", ".join(
        f"{other.name} x {times(other.ratio)}" if other.ratio else f"{other.name}: {other.note}"
        for other in row.others
    )
    print(f"{row.key}: {span(row.seconds)} | {others}", flush=True)


def show_all(rows: Sequence[Row], machine: Mapping[str, Fact]) -> None:
    """The table of the run."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.width = max(console.width, 150)
    for name, value in machine.items():
        console.print(f"{name}: {number(value)}", highlight=False)
    table = Table(title="Medians of one run; x: how many times our time the other takes")
    for heading in ("job", "case", "ours", "other", "median", "x", "remarks"):
        table.add_column(heading, justify="right" if heading in {"ours", "median", "x"} else "left")
    for row in rows:
        table.add_row(row.job, row.case, span(row.seconds), "", "", "", _told(row))
        for other in row.others:
            spent = "-" if other.seconds is None else span(other.seconds)
            table.add_row("", "", "", other.name, spent, _figure(other), _remarks(other))
        table.add_section()
    console.print(table)
    goals = Table(title="Goals")
    for heading in GOAL_HEADINGS:
        goals.add_column(heading)
    for cells in _goal_lines(rows):
        if cells[-1] != UNMEASURED:
            goals.add_row(*cells)
    console.print(goals)


def _goal_lines(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    best = outcomes(at_the_quickest(rows))
    for outcome, quickest in zip(outcomes(rows), best, strict=True):
        goal = outcome.goal
        yield (
            goal.job,
            goal.what,
            f"{'at least' if goal.least else 'at most'} {times(goal.wanted)}",
            *("-" if one.measured is None else times(one.measured) for one in (outcome, quickest)),
            {None: UNMEASURED, True: "yes", False: "no"}[outcome.met],
        )


# -- Markdown ----------------------------------------------------------------------------------


def markdown(rows: Sequence[Row], machine: Mapping[str, Fact], *, quick: bool) -> str:
    """All that docs/performance.md holds in figures."""
    parts = [_machine(machine, quick=quick), _goals(rows), _growth(rows), _losses(rows)]
    parts += [_job(job, list(group)) for job, group in groupby(rows, lambda row: row.job)]
    return "\n\n".join(part for part in parts if part)


def _table(headings: Sequence[str], lines: Iterator[Sequence[str]]) -> str:
    cells = [headings, ["---"] * len(headings), *lines]
    return "\n".join(f"| {' | '.join(cell.replace('|', BAR) for cell in line)} |" for line in cells)


def _machine(machine: Mapping[str, Fact], *, quick: bool) -> str:
    lines = "\n".join(f"- {name}: {number(value)}" for name, value in machine.items())
    mode = "\n- quick mode: small sizes, few runs" if quick else ""
    return f"## The machine\n\n{lines}{mode}"


def _goals(rows: Sequence[Row]) -> str:
    return "## Goals\n\n" + _table(GOAL_HEADINGS, _goal_lines(rows))


def _growth(rows: Sequence[Row]) -> str:
    lines = [
        (
            fit.growth.job,
            fit.growth.size,
            ", ".join(f"{size:,g}" if size < 1e6 else f"{size:,.0f}" for size in fit.sizes),
            f"{fit.exponent:.2f}",
            fit.growth.stated,
        )
        for fit in fits(rows)
    ]
    if not lines:
        return ""
    headings = ("job", "grows with", "sizes", "fitted exponent", "stated")
    return "## How cost grows\n\n" + _table(headings, iter(lines))


def _losses(rows: Sequence[Row]) -> str:
    lines = [
        (row.job, row.case, other.name, times(other.ratio), _remarks(other))
        for row in rows
        if row.job not in {"startup", "threads"}
        for other in row.others
        if other.ratio is not None
        and other.ratio < 1.0
        and not other.name.startswith("ours")
        and other.note != "sorts only"
    ]
    if not lines:
        return "## Where we lose\n\nNowhere in this run."
    headings = ("job", "case", "quicker", "its time over ours", "remarks")
    return "## Where we lose\n\n" + _table(headings, iter(lines))


def _job(job: str, rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(other.name for row in rows for other in row.others))
    headings = ("case", "ours", *(f"x {name}" for name in names), "remarks")

    def cell(row: Row, name: str) -> str:
        other = next((one for one in row.others if one.name == name), None)
        return "" if other is None else _figure(other)

    lines = (
        (row.case, span(row.seconds), *(cell(row, name) for name in names), _told(row))
        for row in rows
    )
    remarks: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for other in row.others:
            if _remarks(other) and not other.name.startswith("ours"):
                remarks.setdefault((other.name, _remarks(other)), []).append(row.case)
    told = [
        f"- {name}: {words} ({'; '.join(cases) if len(cases) < 3 else f'{len(cases)} cases'})"
        for (name, words), cases in remarks.items()
    ]
    title = TITLES.get(job, f"{job[0].upper()}{job[1:]}")
    return (
        f"## {title}\n\n"
        + _table(headings, lines)
        + "".join(["\n", *(f"\n{line}" for line in told)] if told else [])
    )


def between(text: str, figures: str, begins: str = BEGIN, ends: str = END) -> str:
    """The text with the figures between its markers.

    Raises ValueError where it has no markers.
    """
    before, begin, rest = text.partition(begins)
    _, end, after = rest.partition(ends)
    if not begin or not end:
        message = f"the text has no lines {begins!r} and {ends!r}"
        raise ValueError(message)
    return f"{before}{begin}\n\n{figures}\n\n{end}{after}"


def main() -> None:
    """Print the Markdown, or put it into a file."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("json", type=Path, nargs="+", help="of one run, or of its parts")
    arguments.add_argument("--into", type=Path)
    given = arguments.parse_args()
    rows = []
    for path in given.json:
        more, machine, quick = from_json(path)
        rows += more
    figures = markdown(rows, machine, quick=quick)
    if given.into is None:
        print(figures)
    else:
        given.into.write_text(between(given.into.read_text("utf-8"), figures), "utf-8")


if __name__ == "__main__":
    main()
