"""The commands: pack, explain, stages, check."""

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
from .counters import counter as _counter
from .evaluation import eval_command
from .faults import input_fault
from .output import Format, console, context, display, emit, only, visible
from .plans import read_plan
from .progress import size_of, waiting
from .reading import read
from .rendering import (
    MORE,
    explain_one,
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
Budget = Annotated[
    int, typer.Option("--budget", "-b", help="Tokens that may be spent.", show_default=False)
]
PolicyText = Annotated[
    str,
    typer.Option(
        "--policy",
        "-p",
        help="Stages joined by |, as in 'dedup(0.85) | mmr(0.7) | ushape'; see packer stages.",
        show_default=False,
    ),
]
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


def _planned(
    path: str,
    file: str | None,
    *,
    plain: bool,
    counter: str,
    on_invalid: Invalid,
    budget: int | None,
    reserve: int | None,
    **call: Any,
) -> PackedPlan:
    """Read a plan and the chunks of its sections, and pack them."""
    found = read_plan(
        path,
        budget=budget,
        reserve=reserve,
        count_tokens=_counter(counter),
        on_invalid=on_invalid.value,
    )
    if file is None and found.takers:
        message = f"the sections {', '.join(found.takers)} of {path} take their chunks from FILE"
        raise typer.BadParameter(message, param_hint="FILE")
    with waiting(console(sys.stderr, plain=plain)) as bar:
        bar.reading(None if file is None else size_of(file))
        return found.pack(file, bar.read, **call)


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
    budget: Annotated[
        int | None,
        typer.Option("--budget", "-b", help="Tokens that may be spent.", show_default=False),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            "-p",
            help="Stages joined by |, as in 'dedup(0.85) | mmr(0.7) | ushape'; see packer stages.",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN.TOML",
            help="Several sections in one window, each with its own policy, in place of --policy "
            "and --template. FILE is for the section without text or file of its own; where there "
            "are several, its chunks name theirs in metadata as section.",
            show_default=False,
        ),
    ] = None,
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
            "plain": no_color,
            "counter": tokenizer,
            "on_invalid": on_invalid,
            "reserve": reserve,
            "query": query,
            "now": now,
        }
        if plan is not None:
            for option, given in (("--policy", policy), ("--template", template)):
                if given is not None:
                    message = f"{option} stands in the plan, for each section"
                    raise typer.BadParameter(message, param_hint=option)
            if overhead:
                message = "a plan counts what is written, so it takes no overhead"
                raise typer.BadParameter(message, param_hint="--overhead")
            packed = _planned(plan, file, budget=budget, **common)
        else:
            packed = _packed(
                _needed(file, "FILE"),
                parse(_needed(policy, "--policy")),
                budget=_needed(budget, "--budget"),
                template=template,
                overhead=overhead,
                **common,
            )
        shown = (
            plan_tables(packed, show)
            if isinstance(packed, PackedPlan)
            else report_table(packed, show)
        )
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
    file: File,
    id_: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="One chunk; all when left out.", show_default=False),
    ] = None,
    *,
    budget: Budget,
    policy: PolicyText,
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
    no_color: NoColor = False,
) -> None:
    """Say why a chunk is in or out, and its way through the stages.

    Without an ID one line for every chunk: those that are in, in output order,
    then those that are out, in the order of the stages that stopped them.

    [bold]Examples[/]

    packer explain chunks.jsonl faq#3 -b 4000 -p 'threshold(0.6) | mmr(0.7)'

    packer explain chunks.jsonl -b 4000 -p 'current() | greedy' | grep superseded
    """
    with _answering(plain=no_color):
        stages = parse(policy)
        packed = _packed(
            file,
            stages,
            plain=no_color,
            counter=tokenizer,
            on_invalid=on_invalid,
            budget=budget,
            reserve=reserve,
            template=template,
            overhead=overhead,
            query=query,
            now=now,
        )
        if id_ is not None:
            display(console(sys.stdout, plain=no_color), explain_one(packed, stages, id_))
            return
        limit = (SHOWN if sys.stdout.isatty() else 0) if show is None else show
        emit("".join(visible(line) + "\n" for line in _lines(packed, limit)))


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


app.command("eval")(eval_command)
app.command("tune")(tune_command)
