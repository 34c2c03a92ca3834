"""Pages for a browser."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from .writing import write_whole

__all__ = ["HtmlFile", "write_page"]

HtmlFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE.html",
        dir_okay=False,
        help="Write a page that shows all of it to this file, for a browser.",
        show_default=False,
    ),
]


def write_page(path: Path, page: str) -> None:
    """Put the page there, whole or not at all.

    Raises OSError.
    """
    write_whole(path, page)
