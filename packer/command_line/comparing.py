"""The command compare: several policies side by side on the same chunks."""

import sys
from typing import Annotated

import typer

from packer.comparison import compare
from packer.errors import PackError
from strategies import parse

from .answering import answering
from .counters import counter
from .faults import input_fault
from .options import (
    SHOWN,
    BudgetTokens,
    File,
    Invalid,
    NoColor,
    Now,
    OnInvalid,
    Overhead,
    PolicyTexts,
    Query,
    Reserve,
    TemplateText,
    Tokenizer,
    budget_of,
)
from .output import console, display
from .pages import HtmlFile, write_page
from .progress import size_of, waiting
from .reading import read
from .rendering import comparison_tables
from .templates import read_template

__all__ = ["compare_command"]


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
    with answering(plain=no_color):
        written = None if template is None else read_template(template)
        count_tokens = counter(tokenizer)
        stages = [parse(policy) for policy in policies]
        with waiting(console(sys.stderr, plain=no_color)) as bar:
            bar.reading(size_of(file))
            found = read(file, bar.read)
            bar.packing(len(found.chunks))
            try:
                comparison = compare(
                    *stages,
                    chunks=found.chunks,
                    budget=budget_of(budget, reserve),
                    overhead=overhead,
                    count_tokens=count_tokens,
                    query=query,
                    template=written,
                    on_invalid=on_invalid.value,
                    now=now,
                )
            except PackError as error:
                raise input_fault(error, found.name, found.lines) from None
        if html is not None:
            write_page(html, comparison.to_html())
        display(console(sys.stdout, plain=no_color), comparison_tables(comparison, show))
