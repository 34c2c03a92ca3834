"""The command check: the text of a policy in its normal form."""

from typing import Annotated

import typer

from strategies import parse

from .answering import answering
from .options import NoColor
from .output import emit, visible

__all__ = ["check_command"]


def check_command(
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
    with answering(plain=no_color):
        emit(visible(repr(parse(policy))) + "\n")
