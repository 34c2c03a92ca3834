"""@silupanda/context-packer 0.2.0 (npm), in a Node process of its own that times itself, warm."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Final

from benchmarks.harness import Contender, MissingError

__all__ = ["NAME", "contender", "finish"]

NAME: Final = "context-packer (npm)"
PACKAGE: Final = (
    Path(__file__).resolve().parents[2] / "build/npm/node_modules/@silupanda/context-packer"
)
SCRIPT: Final = Path(__file__).with_name("context_packer.cjs")


class _Node:
    """The process; it keeps one input loaded."""

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            raise MissingError("missing: node is not installed")
        if not PACKAGE.is_dir():
            message = "missing: @silupanda/context-packer is not installed below build/npm"
            raise MissingError(message)
        self.process = subprocess.Popen(
            [node, str(SCRIPT), str(PACKAGE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.loaded: object = None

    def ask(self, **command: object) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the node process ended")
        answered: dict[str, Any] = json.loads(line)
        return answered

    def load(self, job: Mapping[str, object]) -> None:
        if self.loaded is job:
            return
        with ExitStack() as stack:
            file = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".json"))
            json.dump(job, file)
            file.flush()
            self.ask(load=file.name)
        self.loaded = job


@cache
def _node() -> _Node:
    return _Node()


def finish() -> None:
    """End the process, if there is one."""
    if _node.cache_info().currsize:
        node = _node()
        assert node.process.stdin is not None
        node.process.stdin.close()
        node.process.wait(timeout=10)
        _node.cache_clear()


def contender(
    kind: str,
    chunks: Sequence[Mapping[str, object]],
    options: Mapping[str, object],
    agreement: Callable[[Any, Any], str],
    *,
    note: str = "",
    patience: float | None = None,
) -> Contender:
    """`kind` "pack" gives the ids packed; "dedup" gives (id, kept id, similarity) of each dropped.

    Raises MissingError.
    """
    node = _node()
    job = {"kind": kind, "chunks": chunks, "options": options}
    last = 0.0

    def call() -> Any:
        nonlocal last
        node.load(job)
        answered = node.ask(call=True)
        last = answered["seconds"]
        return answered["chosen"]

    def clock(number: int) -> float:
        """Of no calls: the seconds of the last `call`."""
        if not number:
            return last
        node.load(job)
        return float(node.ask(clock=number)["seconds"])

    return Contender(NAME, call, clock=clock, agreement=agreement, note=note, patience=patience)
