"""The options and arguments that several commands have, and what a pair of them means."""

from enum import StrEnum
from typing import Annotated, Final

import typer

from packer.budget import Budget

__all__ = [
    "POLICY",
    "SHOWN",
    "BudgetTokens",
    "File",
    "Invalid",
    "NoColor",
    "Now",
    "OnInvalid",
    "OptionalBudget",
    "OptionalFile",
    "OptionalPolicy",
    "Overhead",
    "PlanPath",
    "PolicyText",
    "PolicyTexts",
    "Query",
    "Reserve",
    "TemplateText",
    "Tokenizer",
    "budget_of",
]

SHOWN: Final = 20
"""Rows of a table, where the user asks for no number."""


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
OptionalFile = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="JSON (an array of chunks, or an object with it under chunks) or JSON Lines; "
        "- for standard input. A plan whose sections have all their own needs none.",
        show_default=False,
    ),
]
BudgetTokens = Annotated[
    int, typer.Option("--budget", "-b", help="Tokens that may be spent.", show_default=False)
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
PolicyTexts = Annotated[
    list[str],
    typer.Option(
        "--policy",
        "-p",
        help="A policy; give the option twice or more. See packer stages.",
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


def budget_of(budget: int, reserve: int | None) -> Budget | int:
    """The budget, less the tokens that are kept for the answer.

    >>> budget_of(4000, None), budget_of(4000, 500).available
    (4000, 3500)
    """
    return Budget(budget, reserve=reserve) if reserve else budget
