"""The commands by name: pack, explain, compare, stages, check, batch, eval, tune."""

import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer
import typer.rich_utils

from .batching import batch_command
from .checking import check_command
from .comparing import compare_command
from .evaluation import eval_command
from .explaining import explain_command
from .packing import pack_command
from .stages import stages_command
from .tuning import tune_command

__all__ = ["app", "run"]

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


app.command("pack")(pack_command)
app.command("explain")(explain_command)
app.command("compare")(compare_command)
app.command("stages")(stages_command)
app.command("check")(check_command)
app.command("batch")(batch_command)
app.command("eval")(eval_command)
app.command("tune")(tune_command)
