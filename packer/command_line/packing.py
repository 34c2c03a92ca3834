"""The command pack, and how a file or a plan is read and packed for any command."""

import sys
from typing import Annotated, Any

import typer

from packer.algebra import Policy
from packer.errors import PackError
from packer.facade import Packer
from packer.plan import PackedPlan
from packer.records import Packed
from strategies import parse

from .answering import answering
from .counters import counter
from .faults import input_fault
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
    budget_of,
)
from .output import Format, console, context, display, emit
from .pages import HtmlFile, write_page
from .plans import PlanFile, read_plan
from .progress import size_of, waiting
from .reading import read
from .rendering import plan_tables, report_table
from .templates import read_template

__all__ = [
    "check_beside_plan",
    "needed",
    "pack_command",
    "packed_file",
    "packed_plan",
    "plan_of",
]


def pack_command(
    file: OptionalFile = None,
    *,
    budget: OptionalBudget = None,
    policy: OptionalPolicy = None,
    plan: PlanPath = None,
    template: TemplateText = None,
    reserve: Reserve = None,
    overhead: Overhead = 0,
    tokenizer: Tokenizer = "approximate",
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="On standard output: the context as text, all as json, a packed chunk a line "
            "(jsonl), or the report (table).",
        ),
    ] = Format.TEXT,
    query: Query = None,
    now: Now = None,
    on_invalid: OnInvalid = Invalid.RAISE,
    show: Annotated[
        int, typer.Option(min=0, help="Rows of each table in the report; 0 for all.")
    ] = SHOWN,
    html: HtmlFile = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No report on standard error.")
    ] = False,
    no_color: NoColor = False,
) -> None:
    r"""Pack a file of chunks: the context to standard output, the report to standard error.

    A chunk is an object with content and score and, where you have them, id,
    tokens, embedding and metadata.  On a terminal, control characters in the
    context are shown as escapes; a pipe or a file gets them as they are.

    [bold]Examples[/]

    packer pack chunks.jsonl -b 4000 -p 'threshold(0.6) | mmr(0.7) | ushape'

    packer pack chunks.jsonl -b 4000 -p 'current() | knapsack' > context.txt

    retrieve | packer pack - -b 2000 -p greedy --format jsonl | jq .id

    packer pack chunks.jsonl -b 4000 -p greedy --template '\[{position}] {content}'

    packer pack chunks.jsonl --plan plan.toml --reserve 500
    """
    packed: Packed | PackedPlan
    with answering(plain=no_color):
        common: dict[str, Any] = {
            "tokenizer": tokenizer,
            "on_invalid": on_invalid,
            "budget": budget,
            "reserve": reserve,
        }
        call: dict[str, Any] = {"plain": no_color, "query": query, "now": now}
        if plan is not None:
            check_beside_plan(policy, template, overhead)
            packed = packed_plan(plan_of(plan, **common), file, **call)
        else:
            needed(file, "FILE")
            stages = parse(needed(policy, "--policy"))
            needed(budget, "--budget")
            packed = packed_file(
                str(file), stages, template=template, overhead=overhead, **common, **call
            )
        shown = (
            plan_tables(packed, show)
            if isinstance(packed, PackedPlan)
            else report_table(packed, show)
        )
        if html is not None:
            write_page(html, packed.to_html())
        one_screen = sys.stdout.isatty() and sys.stderr.isatty()
        if form is Format.TABLE:
            display(console(sys.stdout, plain=no_color), shown)
            quiet = quiet or one_screen
        else:
            emit(context(packed, form))
        if not quiet:
            err = console(sys.stderr, plain=no_color)
            if one_screen:
                err.print()
            display(err, shown)


# -- for any command ------------------------------------------------------------------------


def packed_file(
    file: str,
    policy: Policy,
    *,
    plain: bool,
    tokenizer: str,
    on_invalid: Invalid,
    budget: int,
    reserve: int | None,
    template: str | None,
    **call: Any,
) -> Packed:
    """Read the file and pack it, with a bar where that takes long."""
    packer = Packer(
        policy,
        budget=budget_of(budget, reserve),
        count_tokens=counter(tokenizer),
        template=None if template is None else read_template(template),
        on_invalid=on_invalid.value,
        **call,
    )
    with waiting(console(sys.stderr, plain=plain)) as bar:
        bar.reading(size_of(file))
        found = read(file, bar.read)
        bar.packing(len(found.chunks))
        try:
            return packer.pack(found.chunks)
        except PackError as error:
            raise input_fault(error, found.name, found.lines) from None


def plan_of(
    path: str,
    *,
    tokenizer: str,
    on_invalid: Invalid,
    budget: int | None,
    reserve: int | None,
) -> PlanFile:
    """The plan of a file; what the options say of its budget comes before its own."""
    return read_plan(
        path,
        budget=budget,
        reserve=reserve,
        count_tokens=counter(tokenizer),
        on_invalid=on_invalid.value,
    )


def packed_plan(found: PlanFile, file: str | None, *, plain: bool, **call: Any) -> PackedPlan:
    """Read the chunks of a plan's sections, and pack them."""
    if file is None and found.takers:
        message = (
            f"the sections {', '.join(found.takers)} of {found.name} take their chunks from FILE"
        )
        raise typer.BadParameter(message, param_hint="FILE")
    with waiting(console(sys.stderr, plain=plain)) as bar:
        bar.reading(None if file is None else size_of(file))
        return found.pack(file, bar.read, **call)


def check_beside_plan(policy: str | None, template: str | None, overhead: int) -> None:
    """Refuse the options that a plan leaves no room for."""
    for option, given in (("--policy", policy), ("--template", template)):
        if given is not None:
            message = f"{option} stands in the plan, for each section"
            raise typer.BadParameter(message, param_hint=option)
    if overhead:
        message = "a plan counts what is written, so it takes no overhead"
        raise typer.BadParameter(message, param_hint="--overhead")


def needed(value: Any, option: str) -> Any:
    """The value of an option that only a plan stands in for; refused where it is left out."""
    if value is None:
        message = f"without --plan, {option} is needed"
        raise typer.BadParameter(message, param_hint=option)
    return value
