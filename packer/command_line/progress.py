"""A bar on the terminal when something takes more than a second, and nothing otherwise."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, final

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["Waiting", "counting", "size_of", "waiting"]

PATIENCE: Final = 1.0
"""Seconds after which the bar appears."""


@final
class Waiting:
    """What is being done, as the bar shows it."""

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar
        self._task = None if bar is None else bar.add_task("Reading", total=None)

    def reading(self, size: int | None) -> None:
        """A file of so many bytes, where that is known."""
        self._update("Reading", total=size)

    def read(self, size: int, chunks: int) -> None:
        """So much of it is read."""
        self._update(f"Reading, {chunks:,} chunks", completed=size)

    def packing(self, chunks: int) -> None:
        """All is read; how long packing takes is not known."""
        self._update(f"Packing {chunks:,} chunks", restart=True)

    def _update(
        self,
        words: str,
        *,
        total: int | None = None,
        completed: int | None = None,
        restart: bool = False,
    ) -> None:
        if self._bar is None or self._task is None:
            return
        if restart:
            self._bar.remove_task(self._task)
            self._task = self._bar.add_task(words, total=None)
        else:
            self._bar.update(self._task, description=words, total=total, completed=completed)


@contextmanager
def waiting(console: Console) -> Iterator[Waiting]:
    """Show a bar on this console from one second on, gone at the end; none off a terminal."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield Waiting(None)
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    clock = threading.Timer(PATIENCE, bar.start)
    clock.daemon = True
    clock.start()
    try:
        yield Waiting(bar)
    finally:
        clock.cancel()
        clock.join()
        bar.stop()


def size_of(path: str) -> int | None:
    """The bytes of a file, None for standard input and what has no size."""
    try:
        return (Path(path).stat().st_size or None) if path != "-" else None
    except OSError:
        return None


@contextmanager
def counting(console: Console, words: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for steps that are counted: what is given is told (done, of), from any thread.

    On this console from one second on, gone at the end; none off a terminal.
    """
    if not console.is_terminal or console.is_dumb_terminal:
        yield lambda _done, _of: None
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task(words, total=None)
    clock = threading.Timer(PATIENCE, bar.start)
    clock.daemon = True
    clock.start()
    try:
        yield lambda done, of: bar.update(task, completed=done, total=of)
    finally:
        clock.cancel()
        clock.join()
        bar.stop()
