"""Pages for a browser: written to a file, whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

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
    """Put the page there under its name only when it is complete.

    Raises OSError.
    """
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            file.write(page)
            file.close()
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
