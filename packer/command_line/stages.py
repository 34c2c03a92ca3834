"""The command stages: what a policy can have."""

import difflib
import sys
from typing import Annotated

import typer

from packer.errors import InvalidParameter
from strategies import CATALOG

from .answering import answering
from .options import NoColor
from .output import console, display
from .rendering import stage_page, stage_table
from .vocabulary import entries

__all__ = ["stages_command"]


def stages_command(
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
    with answering(plain=no_color):
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
