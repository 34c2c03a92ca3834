"""The command batch: a Parquet file of requests into another."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from strategies import parse

from .answering import answering
from .batch import ROWS, pack_file, summary_table
from .counters import counter
from .options import (
    Invalid,
    NoColor,
    Now,
    OnInvalid,
    Overhead,
    PolicyText,
    Reserve,
    TemplateText,
    Tokenizer,
    budget_of,
)
from .output import console, display
from .templates import read_template

__all__ = ["batch_command"]


class Failing(StrEnum):
    """What becomes of the rows of a batch that cannot be packed."""

    SET_ASIDE = "set-aside"
    RAISE = "raise"


def batch_command(
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
    with answering(plain=no_color):
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
            budget=None if budget is None else budget_of(budget, reserve),
            budget_column=budget_column,
            candidates_column=candidates_column,
            query_column=query_column,
            carry=carry or (),
            template=None if template is None else read_template(template),
            overhead=overhead,
            count_tokens=counter(tokenizer),
            now=now,
            on_invalid=on_invalid.value,
            on_error=on_error.value,
            details=details,
        )
        if not quiet:
            display(err, summary_table(summary, target))
