"""The command line `packer`: pack a file of chunks or a table of requests, explain, list, check.

    reading.py     JSON and JSON Lines -> chunks, block by block
    json_text.py   one JSON text in blocks -> its values, one by one
    plans.py       a plan as a TOML file, and the chunks of its sections
    templates.py   a template as text, or as a file that holds it
    faults.py      what the user did wrong -> a message with the place and the mend
    bar.py         the window as one line
    rendering.py   the report and the explanations -> tables
    vocabulary.py  the catalog of stages -> what can be listed of each
    progress.py    a bar on the terminal when something takes more than a second
    pages.py       pages for a browser, written to files
    writing.py     files, whole or not at all
    output.py      the two streams: bytes for programs, safe text for eyes
    batch.py       a Parquet file of requests, packed batch by batch into another
    answering.py   what every command does around its work
    counters.py    token counters by name
    options.py     the options that several commands have
    packing.py     the command pack, and how any command packs a file or a plan
    explaining.py  the command explain
    comparing.py   the command compare
    stages.py      the command stages
    checking.py    the command check
    batching.py    the command batch
    evaluation.py  the command eval
    tuning.py      the command tune
    app.py         the commands by name

Needs the extra `cli` (typer, rich); `import packer` imports none of it.
"""

import os
import sys
from pathlib import Path

__all__ = ["main"]

INTERRUPTED = 130
"""128 + SIGINT, as shells count it."""


def main() -> int:
    """Run the command line on `sys.argv` and give the exit code: 0, 2 for bad use or bad input."""
    _open_closed_streams()
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.stderr.write(
            f"packer: the command line needs {error.name}; "
            'install it with: pip install "chunk-packer[cli]"\n'
        )
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    try:
        code = run()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_the_rest()
        return 0
    return code


def _open_closed_streams() -> None:
    """Give streams that the caller closed (``>&-``, a daemon) an end that goes nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _discard_the_rest() -> None:
    """Let the interpreter's own last flush go nowhere, so that a closed pipe ends quietly."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
