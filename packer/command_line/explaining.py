"""The command explain: why a chunk is in or out, or a line on every one."""

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from packer.plan import PackedPlan
from packer.records import Packed
from strategies import parse

from .answering import answering
from .options import (
    SHOWN,
    Invalid,
    NoColor,
    Now,
    OnInvalid,
    OptionalBudget,
    OptionalFile,
    OptionalPolicy,
    Overhead,
    PlanPath,
    Query,
    Reserve,
    TemplateText,
    Tokenizer,
)
from .output import console, display, emit, only, visible
from .packing import check_beside_plan, needed, packed_file, packed_plan, plan_of
from .pages import HtmlFile, write_page
from .rendering import MORE, explain_in_plan, explain_one, head, reasons

__all__ = ["explain_command"]


def explain_command(
    file: OptionalFile = None,
    id_: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="One chunk; all when left out.", show_default=False),
    ] = None,
    *,
    budget: OptionalBudget = None,
    policy: OptionalPolicy = None,
    plan: PlanPath = None,
    template: TemplateText = None,
    reserve: Reserve = None,
    overhead: Overhead = 0,
    tokenizer: Tokenizer = "approximate",
    query: Query = None,
    now: Now = None,
    on_invalid: OnInvalid = Invalid.RAISE,
    show: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Without an ID: how many of those that are in and of those that are out; 0 for "
            f"all. On a terminal {SHOWN} when left out, else all.",
            show_default=False,
        ),
    ] = None,
    html: HtmlFile = None,
    no_color: NoColor = False,
) -> None:
    """Say why a chunk is in or out, and its way through the stages.

    Without an ID one line for every chunk: those that are in, in output order,
    then those that are out, in the order of the stages that stopped them.

    [bold]Examples[/]

    packer explain chunks.jsonl faq#3 -b 4000 -p 'threshold(0.6) | mmr(0.7)'

    packer explain chunks.jsonl -b 4000 -p 'current() | greedy' | grep superseded

    packer explain chunks.jsonl -b 4000 -p 'current() | greedy' --html pack.html

    packer explain chunks.jsonl faq#3 --plan plan.toml
    """
    with answering(plain=no_color):
        common: dict[str, Any] = {
            "tokenizer": tokenizer,
            "on_invalid": on_invalid,
            "budget": budget,
            "reserve": reserve,
        }
        call: dict[str, Any] = {"plain": no_color, "query": query, "now": now}
        limit = (SHOWN if sys.stdout.isatty() else 0) if show is None else show
        out = console(sys.stdout, plain=no_color)
        if plan is not None:
            check_beside_plan(policy, template, overhead)
            found = plan_of(plan, **common)
            if id_ is None and not found.takers:  # what stands alone is the ID
                file, id_ = None, file
            planned = packed_plan(found, file, **call)
            if html is not None:
                write_page(html, planned.to_html())
            if id_ is not None:
                policies = {part.name: part.policy for part in found.plan.sections}
                display(out, explain_in_plan(planned, policies, id_), whole=True)
            else:
                emit("".join(visible(line) + "\n" for line in _plan_lines(planned, limit)))
            return
        stages = parse(needed(policy, "--policy"))
        needed(budget, "--budget")
        packed = packed_file(
            needed(file, "FILE"), stages, template=template, overhead=overhead, **common, **call
        )
        if html is not None:
            write_page(html, packed.to_html())
        if id_ is not None:
            display(out, explain_one(packed, stages, id_), whole=True)
        else:
            if sys.stdout.isatty():
                display(out, head(packed))
            emit("".join(visible(line) + "\n" for line in _lines(packed, limit)))


def _plan_lines(packed: PackedPlan, limit: int) -> Iterator[str]:
    """The lines on each section's chunks, each after the name of its section."""
    for name, part in packed.sections.items():
        yield from (f"{name}: {line}" for line in _lines(part, limit))


def _lines(packed: Packed, limit: int) -> Iterator[str]:
    """One line on each chunk; `limit` of each kind, 0 for all."""
    chunks, excluded = packed.chunks, packed.report.excluded
    some = slice(limit or None)
    for chunk in chunks[some]:
        yield only(packed, chunks=(chunk,)).why(chunk.id)
    if len(chunks[some]) < len(chunks):
        yield f"... and {len(chunks) - limit:,} more in{MORE}"
    for out in excluded[some]:
        yield only(packed, excluded=(out,)).why(out.id)
    if len(excluded[some]) < len(excluded):
        rest = excluded[limit:]
        yield f"... and {len(rest):,} more out: {reasons(rest)}{MORE}"
