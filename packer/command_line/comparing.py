"""`packer compare`: several policies side by side on the same chunks."""

import sys
from typing import Annotated

import typer

from packer.budget import Budget as Ledger
from packer.comparison import compare
from packer.errors import PackError
from packer.intake import OnInvalid
from packer.template import Template
from packer.tokens import CountTokens
from strategies import parse

from .faults import input_fault
from .output import console, display
from .pages import HtmlFile, write_page
from .progress import size_of, waiting
from .reading import read
from .rendering import comparison_tables

__all__ = ["BudgetTokens", "PolicyTexts", "compared"]

BudgetTokens = Annotated[
    int, typer.Option("--budget", "-b", help="Tokens that may be spent.", show_default=False)
]
PolicyTexts = Annotated[
    list[str],
    typer.Option(
        "--policy",
        "-p",
        help="A policy; give the option twice or more. See packer stages.",
        show_default=False,
    ),
]


def compared(
    file: str,
    policies: list[str],
    *,
    budget: int,
    reserve: int | None,
    template: Template | None,
    overhead: int,
    count_tokens: CountTokens,
    query: str | None,
    now: str | None,
    on_invalid: OnInvalid,
    html: HtmlFile,
    show: int,
    plain: bool,
) -> None:
    """Read the file, pack it by each policy, and show them side by side."""
    stages = [parse(policy) for policy in policies]
    with waiting(console(sys.stderr, plain=plain)) as bar:
        bar.reading(size_of(file))
        found = read(file, bar.read)
        bar.packing(len(found.chunks))
        try:
            comparison = compare(
                *stages,
                chunks=found.chunks,
                budget=Ledger(budget, reserve=reserve) if reserve else budget,
                overhead=overhead,
                count_tokens=count_tokens,
                query=query,
                template=template,
                on_invalid=on_invalid,
                now=now,
            )
        except PackError as error:
            raise input_fault(error, found.name, found.lines) from None
    if html is not None:
        write_page(html, comparison.to_html())
    display(console(sys.stdout, plain=plain), comparison_tables(comparison, show))
