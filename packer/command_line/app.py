"""The commands: pack, explain, compare, stages, check, batch."""

import difflib
import sys
from collections.abc import Iterator
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Final

import typer
import typer.rich_utils

from packer.algebra import Policy
from packer.budget import Budget as Ledger
from packer.errors import InvalidParameter, PackError
from packer.facade import Packer
from packer.plan import PackedPlan
from packer.records import Packed
from packer.template import Template
from strategies import CATALOG, parse

from .answering import answering as _answering
from .batch import ROWS, pack_file, summary_table
from .comparing import BudgetTokens, PolicyTexts, compared
from .counters import counter as _counter
from .evaluation import eval_command
from .faults import input_fault
from .output import Format, console, context, display, emit, only, visible
from .pages import HtmlFile, write_page
from .plans import PlanFile, read_plan
from .progress import size_of, waiting
from .reading import read
from .rendering import (
    MORE,
    explain_in_plan,
    explain_one,
    head,
    plan_tables,
    reasons,
    report_table,
    stage_page,
    stage_table,
)
from .templates import read_template
from .tuning import tune_command
from .vocabulary import entries

__all__ = ["app", "run"]

SHOWN: Final = 20
"""Rows of a table, where the user asks for no number."""

app = typer.Typer(
    name="packer",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run() -> int:
    """Run the command on `sys.argv`; the exit code."""
    if "--no-color" in sys.argv:
        typer.rich_utils.COLOR_SYSTEM = None
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        app(prog_name="packer")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        return end.code if isinstance(end.code, int) else 0
    return 0


# -- options --------------------------------------------------------------------------------


class Invalid(StrEnum):
    """What becomes of chunks that are not valid."""

    RAISE = "raise"
    EXCLUDE = "exclude"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="JSON (an array of chunks, or an object with it under chunks) or JSON Lines; "
        "- for standard input.",
        show_default=False,
    ),
]
OptionalBudget = Annotated[
    int | None,
    typer.Option("--budget", "-b", help="Tokens that may be spent.", show_default=False),
]
POLICY: Final = typer.Option(
    "--policy",
    "-p",
    help="Stages joined by |, as in 'dedup(0.85) | mmr(0.7) | ushape'; see packer stages.",
    show_default=False,
)
PolicyText = Annotated[str, POLICY]
OptionalPolicy = Annotated[str | None, POLICY]
Reserve = Annotated[
    int | None,
    typer.Option(
        min=0, help="Tokens of the budget kept for the answer.", show_default=False, metavar="N"
    ),
]
TemplateText = Annotated[
    str | None,
    typer.Option(
        "--template",
        metavar="TEXT|FILE",
        help="How a chunk is written: text with {position}, {id}, {content}, {score}, {tokens} or "
        "{metadata\\[key]}, or a file of it; a .toml file has chunk, separator, header, footer. The "
        "whole text is then counted, and fits.",
        show_default=False,
    ),
]
PlanPath = Annotated[
    str | None,
    typer.Option(
        metavar="PLAN.TOML",
        help="Several sections in one window, each with its own policy, in place of --policy "
        "and --template. FILE is for the section without text or file of its own; where there "
        "are several, its chunks name theirs in metadata as section.",
        show_default=False,
    ),
]
Overhead = Annotated[
    int, typer.Option(help="Tokens charged for each chunk: separators, citation marks.")
]
Tokenizer = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What counts chunks that come without tokens: approximate, utf8_estimate, "
        "utf8_upper_bound, or a tokenizer such as o200k_base.",
    ),
]
Query = Annotated[
    str | None, typer.Option(help="The request's words, for stages that look at them.")
]
Now = Annotated[
    str | None,
    typer.Option(metavar="ISO", help="The moment from which ages count; the clock if not given."),
]
OnInvalid = Annotated[
    Invalid, typer.Option(help="Refuse a file with invalid chunks, or set them aside.")
]
NoColor = Annotated[
    bool, typer.Option("--no-color", help="Plain text; NO_COLOR in the environment does the same.")
]


# -- commands -------------------------------------------------------------------------------


def _print_version(wanted: bool) -> None:  # noqa: FBT001  (typer calls it with the flag)
    if wanted:
        try:
            number = version("chunk-packer")
        except PackageNotFoundError:
            number = "(not installed)"
        typer.echo(f"packer {number}")
        raise typer.Exit


@app.callback()
def packer_(
    *,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Which retrieved chunks go into the context window, at what cost, in what order, and why.

    [bold]packer pack[/] chunks.jsonl -b 4000 -p 'dedup() | mmr(0.7) | ushape' > context.txt
    """
    del show_version


def _template(given: str | None) -> Template | None:
    return None if given is None else read_template(given)


def _packed(
    file: str,
    policy: Policy,
    *,
    plain: bool,
    counter: str,
    on_invalid: Invalid,
    budget: int,
    reserve: int | None,
    template: str | None,
    **call: Any,
) -> Packed:
    """Read the file and pack it, with a bar where that takes long."""
    packer = Packer(
        policy,
        budget=Ledger(budget, reserve=reserve) if reserve else budget,
        count_tokens=_counter(counter),
        template=_template(template),
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


def _plan_file(
    path: str,
    *,
    counter: str,
    on_invalid: Invalid,
    budget: int | None,
    reserve: int | None,
) -> PlanFile:
    return read_plan(
        path,
        budget=budget,
        reserve=reserve,
        count_tokens=_counter(counter),
        on_invalid=on_invalid.value,
    )


def _planned(found: PlanFile, file: str | None, *, plain: bool, **call: Any) -> PackedPlan:
    """Read the chunks of a plan's sections, and pack them."""
    if file is None and found.takers:
        message = (
            f"the sections {', '.join(found.takers)} of {found.name} take their chunks from FILE"
        )
        raise typer.BadParameter(message, param_hint="FILE")
    with waiting(console(sys.stderr, plain=plain)) as bar:
        bar.reading(None if file is None else size_of(file))
        return found.pack(file, bar.read, **call)


def _check_beside_plan(policy: str | None, template: str | None, overhead: int) -> None:
    """Refuse the options that a plan leaves no room for."""
    for option, given in (("--policy", policy), ("--template", template)):
        if given is not None:
            message = f"{option} stands in the plan, for each section"
            raise typer.BadParameter(message, param_hint=option)
    if overhead:
        message = "a plan counts what is written, so it takes no overhead"
        raise typer.BadParameter(message, param_hint="--overhead")


def _needed(value: Any, option: str) -> Any:
    if value is None:
        message = f"without --plan, {option} is needed"
        raise typer.BadParameter(message, param_hint=option)
    return value


@app.command("pack")
def pack_command(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="JSON (an array of chunks, or an object with it under chunks) or JSON Lines; "
            "- for standard input. A plan whose sections have all their own needs none.",
            show_default=False,
        ),
    ] = None,
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
    with _answering(plain=no_color):
        common: dict[str, Any] = {
            "counter": tokenizer,
            "on_invalid": on_invalid,
            "budget": budget,
            "reserve": reserve,
        }
        call: dict[str, Any] = {"plain": no_color, "query": query, "now": now}
        if plan is not None:
            _check_beside_plan(policy, template, overhead)
            packed = _planned(_plan_file(plan, **common), file, **call)
        else:
            _needed(file, "FILE")
            stages = parse(_needed(policy, "--policy"))
            _needed(budget, "--budget")
            packed = _packed(
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


@app.command()
def explain(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="JSON (an array of chunks, or an object with it under chunks) or JSON Lines; "
            "- for standard input. A plan whose sections have all their own needs none.",
            show_default=False,
        ),
    ] = None,
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
    with _answering(plain=no_color):
        common: dict[str, Any] = {
            "counter": tokenizer,
            "on_invalid": on_invalid,
            "budget": budget,
            "reserve": reserve,
        }
        call: dict[str, Any] = {"plain": no_color, "query": query, "now": now}
        limit = (SHOWN if sys.stdout.isatty() else 0) if show is None else show
        out = console(sys.stdout, plain=no_color)
        if plan is not None:
            _check_beside_plan(policy, template, overhead)
            found = _plan_file(plan, **common)
            if id_ is None and not found.takers:  # what stands alone is the ID
                file, id_ = None, file
            planned = _planned(found, file, **call)
            if html is not None:
                write_page(html, planned.to_html())
            if id_ is not None:
                policies = {part.name: part.policy for part in found.plan.sections}
                display(out, explain_in_plan(planned, policies, id_))
            else:
                emit("".join(visible(line) + "\n" for line in _plan_lines(planned, limit)))
            return
        stages = parse(_needed(policy, "--policy"))
        _needed(budget, "--budget")
        packed = _packed(
            _needed(file, "FILE"), stages, template=template, overhead=overhead, **common, **call
        )
        if html is not None:
            write_page(html, packed.to_html())
        if id_ is not None:
            display(out, explain_one(packed, stages, id_))
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


@app.command("compare")
def compare_command(
    file: File,
    *,
    policies: PolicyTexts,
    budget: BudgetTokens,
    template: TemplateText = None,
    reserve: Reserve = None,
    overhead: Overhead = 0,
    tokenizer: Tokenizer = "approximate",
    query: Query = None,
    now: Now = None,
    on_invalid: OnInvalid = Invalid.RAISE,
    html: HtmlFile = None,
    show: Annotated[int, typer.Option(min=0, help="Rows of each table; 0 for all.")] = SHOWN,
    no_color: NoColor = False,
) -> None:
    """Show what policies pack of the same chunks: both, only this one, only that one.

    [bold]Examples[/]

    packer compare chunks.jsonl -b 4000 -p greedy -p 'dedup() | mmr(0.7)'

    packer compare chunks.jsonl -b 4000 -p greedy -p knapsack --html compare.html
    """
    with _answering(plain=no_color):
        compared(
            file,
            policies,
            budget=budget,
            reserve=reserve,
            template=_template(template),
            overhead=overhead,
            count_tokens=_counter(tokenizer),
            query=query,
            now=now,
            on_invalid=on_invalid.value,
            html=html,
            show=show,
            plain=no_color,
        )


@app.command()
def stages(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="One stage, in full.", show_default=False),
    ] = None,
    *,
    no_color: NoColor = False,
) -> None:
    """List the stages that a policy can have: signature, role, and what each does.

    [bold]Examples[/]

    packer stages

    packer stages mmr
    """
    with _answering(plain=no_color):
        out = console(sys.stdout, plain=no_color)
        listed = entries(CATALOG)
        if name is None:
            display(out, stage_table(listed))
            return
        found = next((entry for entry in listed if entry.name == name), None)
        if found is None:
            near = difflib.get_close_matches(name, CATALOG, n=1)
            hint = f"did you mean {near[0]}?" if near else "packer stages lists them"
            message = f"there is no stage {name!r}; {hint}"
            raise InvalidParameter(message, details={"name": name})
        display(out, stage_page(found))


@app.command()
def check(
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="The text of a policy.", show_default=False)
    ],
    *,
    no_color: NoColor = False,
) -> None:
    """Check the text of a policy and print it in its normal form.

    [bold]Examples[/]

    packer check 'threshold(floor=0.6)|dedup(threshold=.85)|mmr()'
    """
    with _answering(plain=no_color):
        emit(visible(repr(parse(policy))) + "\n")


class Failing(StrEnum):
    """What becomes of the rows of a batch that cannot be packed."""

    SET_ASIDE = "set-aside"
    RAISE = "raise"


@app.command()
def batch(
    source: Annotated[
        str, typer.Argument(metavar="IN.PARQUET", help="A request per row.", show_default=False)
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT.PARQUET",
            help="The same rows with what was packed; it appears when all is written.",
            show_default=False,
        ),
    ],
    *,
    policy: PolicyText,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            "-b",
            help="Tokens a row; with --budget-column for the rows where that is null.",
            show_default=False,
        ),
    ] = None,
    budget_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column of each row's budget.", show_default=False),
    ] = None,
    candidates_column: Annotated[
        str,
        typer.Option(metavar="NAME", help="The column of lists of candidates."),
    ] = "candidates",
    query_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of the request's words, for stages that look at them.",
            show_default=False,
        ),
    ] = None,
    carry: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="A field of the candidates that the packed ones keep; as often as needed.",
            show_default=False,
        ),
    ] = None,
    template: TemplateText = None,
    reserve: Reserve = None,
    overhead: Overhead = 0,
    tokenizer: Tokenizer = "approximate",
    now: Now = None,
    on_invalid: OnInvalid = Invalid.RAISE,
    on_error: Annotated[
        Failing,
        typer.Option(
            help="Keep a row that cannot be packed with its reason in the column error, or stop.",
        ),
    ] = Failing.SET_ASIDE,
    details: Annotated[
        bool, typer.Option(help="Say of each candidate what would have let it in.")
    ] = True,
    rows: Annotated[
        int, typer.Option(min=1, help="Rows that are in memory at a time.", metavar="N")
    ] = ROWS,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No summary on standard error.")
    ] = False,
    no_color: NoColor = False,
) -> None:
    """Pack a Parquet file of requests, each with its list of candidates, into another.

    A candidate is a struct with score and content or tokens and, where you have
    them, id, embedding and metadata; every other field is metadata too.  The
    result has packed, tokens_used, excluded, warnings and error besides.

    [bold]Examples[/]

    packer batch in.parquet out.parquet -b 4000 -p 'dedup() | mmr(0.7) | ushape'

    packer batch in.parquet out.parquet --budget-column window -p greedy --carry url
    """
    with _answering(plain=no_color):
        if budget is None and (budget_column is None or reserve):
            message = "give --budget, or --budget-column (which takes no --reserve)"
            raise typer.BadParameter(message, param_hint="--budget")
        err = console(sys.stderr, plain=no_color)
        summary = pack_file(
            source,
            target,
            parse(policy),
            console=err,
            rows=rows,
            budget=Ledger(budget, reserve=reserve) if budget is not None and reserve else budget,
            budget_column=budget_column,
            candidates_column=candidates_column,
            query_column=query_column,
            carry=carry or (),
            template=_template(template),
            overhead=overhead,
            count_tokens=_counter(tokenizer),
            now=now,
            on_invalid=on_invalid.value,
            on_error=on_error.value,
            details=details,
        )
        if not quiet:
            display(err, summary_table(summary, target))


app.command("eval")(eval_command)
app.command("tune")(tune_command)
