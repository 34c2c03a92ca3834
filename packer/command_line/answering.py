"""What every command does around its work: tell faults in words, end quietly when a pipe closes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from packer.errors import PackError

from .faults import InputFault, told
from .output import console

__all__ = ["answering", "complain"]


@contextmanager
def answering(*, plain: bool) -> Iterator[None]:
    """Tell the user's faults in words and end with 2; let a closed pipe and Ctrl-C end quietly."""
    try:
        yield
        sys.stdout.flush()
    except (PackError, InputFault) as error:
        complain(told(error), plain=plain)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"cannot write: {error.strerror or error}", plain=plain)
        raise typer.Exit(1) from None
    except RecursionError:
        complain("the metadata of a chunk is nested too deeply", plain=plain)
        raise typer.Exit(2) from None


def complain(message: str, *, plain: bool) -> None:
    """Write an error to standard error, in red where that can be."""
    err = console(sys.stderr, plain=plain)
    err.print("packer: error: ", style="bold red", end="", soft_wrap=True)
    err.print(message, soft_wrap=True)
