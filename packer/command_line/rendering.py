"""The report, the explanations and the list of stages as tables of 80 columns or more.

All that comes from chunks passes through `visible` and stands in `Text`, so neither markup nor
control characters in it have an effect.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from packer.algebra import Policy, steps_of
from packer.comparison import Comparison
from packer.errors import InvalidParameter
from packer.page.cast import Cast, Member, scored, stops
from packer.page.side_by_side import letter
from packer.plan import PackedPlan, PlanReport
from packer.records import Exclusion, Optimality, Packed, PackedChunk, Report, StageTrace
from packer.selection import Layout, Selection
from packer.values import ScoreStep

from .bar import window_bar
from .output import only, visible
from .vocabulary import Entry

__all__ = [
    "comparison_tables",
    "explain_in_plan",
    "explain_one",
    "head",
    "plan_tables",
    "reasons",
    "report_table",
    "stage_page",
    "stage_table",
]

LONGEST_ID: Final = 60
"""Characters of an id that a table shows; `packer explain` takes it in full."""

WIDEST_ID: Final = 32
"""Cells of a table's column of ids; a longer id takes two lines."""

SNIPPET: Final = 200
"""Characters of a content that are looked at for a table's cell."""


def report_table(packed: Packed, show: int) -> RenderableType:
    """What is in, what is out and why, the budget, warnings, optimality.

    `show`: how many rows of each table; 0 for all.
    """
    report = packed.report
    parts: list[RenderableType] = [head(packed), Text()]
    if report.stages:
        parts += [_funnel(report.stages), Text()]
    total = report.selected_count + report.excluded_count
    parts.append(_text(f"In: {report.selected_count:,} of {total:,} chunks", "bold green"))
    if len(packed):
        parts += [_packed_rows(packed, show), Text()]
    parts.append(_text(f"Out: {report.excluded_count:,}", "bold red"))
    if report.excluded_count:
        parts += [_excluded_rows(report.excluded, show)]
    if report.optimality is not None:
        parts += [Text(), _text("Optimality: " + _optimality(report.optimality))]
    for warning in report.warnings:
        parts += [Text(), _text(f"Warning ({warning.code}): {warning.message}", "yellow")]
    return Group(*parts)


def plan_tables(packed: PackedPlan, show: int) -> RenderableType:
    """The whole window, a line for each section, and then the report of each."""
    report = packed.report
    table = _table("section", ">chunks in", ">out", ">tokens", ">room")
    for name, part in report.sections.items():
        table.add_row(
            _text(name),
            f"{part.selected_count:,}",
            f"{part.excluded_count:,}",
            f"{part.tokens_used:,}",
            f"{part.budget:,}",
        )
    parts: list[RenderableType] = [_budget(report), _share(report), Text(), table]
    for name, outcome in packed.sections.items():
        parts += [Text(), _text(f"[{name}]", "bold"), report_table(outcome, show)]
    return Group(*parts)


def _share(report: PlanReport) -> RenderableType:
    return ProgressBar(total=1.0, completed=report.utilization, width=24)


def comparison_tables(comparison: Comparison, show: int) -> RenderableType:
    """A bar for each policy, then the chunks that some pack: by all, by which alone.

    `show`: how many rows of each table; 0 for all.
    """
    parts: list[RenderableType] = []
    for place, packed in enumerate(comparison):
        report = packed.report
        value = sum(chunk.score for chunk in packed)
        words = (
            f"{report.selected_count:,} chunks, {report.tokens_used:,} of {report.budget:,} tokens, "
            f"total score {value:.4g}, {len(comparison.only(place)):,} in here alone"
        )
        parts += [_text(f"{letter(place)}: {report.policy}", "bold"), _text(words)]
        parts += [window_bar(packed.chunks, report), Text()]
    members = [Cast.of(packed).by_id for packed in comparison]
    groups: dict[tuple[int, ...], list[str]] = {}
    for id_ in comparison.packed:
        takers = tuple(
            place for place, found in enumerate(members) if found[id_].position is not None
        )
        groups.setdefault(takers, []).append(id_)
    everyone = tuple(range(len(members)))
    for takers in sorted(groups, key=lambda some: (some != everyone, len(some), some)):
        ids = groups[takers]
        names = " and ".join(map(letter, takers))
        heading = (
            f"In all: {len(ids):,}" if takers == everyone else f"Only in {names}: {len(ids):,}"
        )
        parts += [_text(heading, "bold"), _side_by_side(members, ids, show), Text()]
    return Group(*parts[:-1])


def _side_by_side(
    members: Sequence[Mapping[str, Member]], ids: Sequence[str], show: int
) -> RenderableType:
    table = _table("id", ">score", ">tokens", *map(letter, range(len(members))))
    table.padding = (0, 1, 0, 0)
    shown = ids[:show] if show else ids
    for id_ in shown:
        places = [found[id_] for found in members]
        record = next(one for one in places if one.position is not None).record
        verdicts = [
            _text(f"at {one.position}", "green")
            if one.position is not None
            else Text.assemble((str(one.reason), "bold"), _text(f": {one.decided}"))
            for one in places
        ]
        table.add_row(_id(id_), _score(record.score), f"{record.tokens:,}", *verdicts)
    return Group(table, *_more(len(ids) - len(shown), ""))


def _text(words: str, style: str = "") -> Text:
    return Text(visible(words), style=style)


def _table(*columns: str, header: bool = True) -> Table:
    """A table without frame; `>` before a column's name puts its numbers to the right."""
    table = Table(
        box=None, show_header=header, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in columns:
        name = column.lstrip(">")
        right = column.startswith(">")
        table.add_column(
            name,
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
            max_width=WIDEST_ID if name == "id" else None,
        )
    return table


def _budget(report: Report | PlanReport) -> RenderableType:
    return _text(
        f"{report.tokens_used:,} of {report.budget:,} tokens ({report.utilization:.1%}), "
        f"{report.tokens_remaining:,} left"
    )


def head(packed: Packed) -> RenderableType:
    """The policy, the budget, and the window as a bar."""
    report = packed.report
    return Group(_text(report.policy, "bold"), _budget(report), window_bar(packed.chunks, report))


def _funnel(stages: Sequence[StageTrace]) -> RenderableType:
    table = _table("stage", ">chunks in", ">out", ">tokens out", ">ms")
    for trace in stages:
        table.add_row(
            _text(trace.stage),
            f"{trace.chunks_in:,}",
            f"{trace.chunks_out:,}",
            f"{trace.tokens_out:,}",
            f"{trace.microseconds / 1e3:,.1f}",
        )
    return table


def _packed_rows(packed: Packed, show: int) -> RenderableType:
    chunks, values = packed.chunks, packed.report.values
    table = _table(">#", "id", ">score", *([">value"] if values else []), ">tokens")
    table.expand = True
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    shown = chunks[:show] if show else chunks
    for chunk in shown:
        steps = values.get(chunk.id)
        table.add_row(
            str(chunk.position),
            _id(chunk.id),
            _score(chunk.score),
            *([_score(steps[-1].after if steps else chunk.score)] if values else []),
            _tokens(chunk),
            _text(" ".join(chunk.content[:SNIPPET].split())),
        )
    rest = len(chunks) - len(shown)
    return Group(table, *_more(rest, ""))


def _tokens(chunk: PackedChunk) -> str:
    whole = "" if chunk.original_tokens is None else f" of {chunk.original_tokens:,}"
    new = "" if chunk.charged == chunk.tokens else f" ({chunk.charged:,} new)"
    return f"{chunk.tokens:,}{whole}{new}"


def _excluded_rows(excluded: Sequence[Exclusion], show: int) -> RenderableType:
    table = _table("id", ">score", ">tokens", "why")
    table.padding = (0, 1, 0, 0)  # so that the usual reasons fit on a line of 80
    shown = excluded[:show] if show else excluded
    for out in shown:
        why = Text.assemble((str(out.reason), "bold"), _text(_detail(out)))
        table.add_row(_id(out.id), _score(out.score), f"{out.tokens:,}", why)
    rest = excluded[len(shown) :]
    return Group(table, *_more(len(rest), reasons(rest)))


def _detail(out: Exclusion) -> str:
    near = "" if out.redundant_with is None else f", like {_cut(out.redundant_with)}"
    return near + (f": {out.detail}" if out.detail else "")


def reasons(excluded: Iterable[Exclusion]) -> str:
    """How many for each reason: `4,000 below-threshold, 980 budget`."""
    counts = Counter(out.reason for out in excluded)
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.items())


def _more(count: int, counts: str) -> Iterator[Text]:
    if count:
        yield _text(f"... and {count:,} more" + (f": {counts}" if counts else "") + MORE, "dim")


MORE: Final = " (--show 0 for all)"


def _cut(id_: str) -> str:
    return id_ if len(id_) <= LONGEST_ID else id_[: LONGEST_ID - 3] + "..."


def _id(id_: str) -> Text:
    return _text(_cut(id_), "cyan")


def _score(score: float) -> str:
    return "-" if score != score else f"{score:.4g}"  # noqa: PLR0124  (NaN: it had none)


def _optimality(found: Optimality) -> str:
    if found.proven:
        return f"total score {found.value:.6g}, proven: no other choice within the budget has more"
    return (
        f"total score {found.value:.6g}, at most {found.gap:.3%} below the best "
        f"(no choice exceeds {found.bound:.6g})"
    )


# -- explain --------------------------------------------------------------------------------


def explain_one(packed: Packed, policy: Policy, id_: str) -> RenderableType:
    """Why one chunk is in or out, and its way through the stages.

    Raises INVALID_PARAMETER when no chunk has the id.
    """
    steps = packed.value(id_)  # raises for an unknown id
    parts: list[RenderableType] = []
    stages, excluded = packed.report.stages, packed.report.excluded
    by_stage = scored(stages, steps)
    for chunk in packed.chunks:
        if chunk.id == id_:
            why = only(packed, chunks=(chunk,)).why(id_)
            told = by_stage | _chosen(chunk, policy, steps)
            parts += [_text(why), _way(stages, len(stages), told), Text()]
    for place, stop in zip(range(len(excluded)), stops(packed.report), strict=True):
        out = excluded[place]
        if out.id == id_:
            why = only(packed, excluded=(out,)).why(id_)
            ended = by_stage | {stop: str(out.reason) + _detail(out)}
            parts += [_text(why), _way(stages, stop, ended), Text()]
    return Group(*parts[:-1])


def explain_in_plan(packed: PackedPlan, policies: Mapping[str, Policy], id_: str) -> RenderableType:
    """As `explain_one`, below the name of each section that has a chunk with this id.

    Raises INVALID_PARAMETER when none has.
    """
    packed.why(id_)  # raises for an unknown id
    parts: list[RenderableType] = []
    for name, part in packed.sections.items():
        try:
            told = explain_one(part, policies[name], id_)
        except InvalidParameter:  # it has no such chunk
            continue
        allotted = f"{part.report.tokens_used:,} of {part.report.budget:,} tokens"
        parts += [_text(f"section {name}, {allotted}"), told, Text()]
    return Group(*parts[:-1])


def _chosen(chunk: PackedChunk, policy: Policy, steps: Sequence[ScoreStep]) -> dict[int, str]:
    """What the selector and the order did with a packed chunk."""
    told = {}
    score = steps[-1].after if steps else chunk.score
    for place, step in enumerate(steps_of(policy)):
        if step.gives is Selection:
            told[place] = f"chosen: score {score:.6g}, {chunk.tokens:,} tokens"
        elif step.gives is Layout:
            told[place] = f"at position {chunk.position}"
    return told


def _way(stages: Sequence[StageTrace], stop: int, told: dict[int, str]) -> RenderableType:
    """The stages with what became of the chunk; it got as far as `stop` (-1: before them all)."""
    table = _table("", "stage", ">chunks in", ">out", "this chunk")
    if stop < 0:
        table.add_row(Text("x", style="red"), "pack", "", "", _text(told[stop]))
    for place, trace in enumerate(stages):
        if place < stop:
            mark, words = Text("+", style="green"), told.get(place, "passed")
        elif place == stop:
            mark, words = Text("x", style="red"), told[place]
        else:
            mark, words = Text("."), "not reached"
        table.add_row(
            mark,
            _text(trace.stage),
            f"{trace.chunks_in:,}",
            f"{trace.chunks_out:,}",
            _text(words, "dim" if place > stop else ""),
        )
    return table


# -- stages ---------------------------------------------------------------------------------


def stage_table(entries: Sequence[Entry]) -> RenderableType:
    """Every stage: its signature, its role, one line."""
    parts: list[RenderableType] = []
    for role in dict.fromkeys(entry.role for entry in entries):
        family = [entry for entry in entries if entry.role == role]
        leads = f"{family[0].takes} -> {family[0].gives}"
        parts += [Text.assemble((role, "bold"), f"  {leads}")]
        for entry in family:
            parts += [
                Padding(_signature(entry), (0, 0, 0, 2)),
                Padding(_text(entry.summary, "dim"), (0, 0, 0, 6)),
            ]
        parts.append(Text())
    return Group(*parts[:-1])


def stage_page(entry: Entry) -> RenderableType:
    """One stage with all that its docstring says."""
    return Group(
        _signature(entry),
        _text(f"{entry.role}, {entry.takes} -> {entry.gives}"),
        Text(),
        Text("\n\n".join(map(_reflowed, entry.doc.split("\n\n")))),
    )


def _reflowed(paragraph: str) -> str:
    """A paragraph of prose as one line, which the console wraps; examples as they are."""
    return paragraph if ">>>" in paragraph else " ".join(paragraph.split())


def _signature(entry: Entry) -> Text:
    note = "" if entry.in_text else "  (in Python only)"
    return Text.assemble((entry.name, "cyan"), entry.signature[len(entry.name) :], (note, "dim"))
