"""Import time, and the first call on a cold and on a warm kernel cache, in fresh processes."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from .harness import Contender, Effort, Row, measure

__all__ = ["rows"]

ROOT: Final = Path(__file__).resolve().parents[1]

TIMED: Final = """
import time
began = time.perf_counter()
{statement}
spent = time.perf_counter() - began
import sys
print(spent, int("numba" in sys.modules))
"""

FIRST: Final = """
import time
began = time.perf_counter()
from packer import warm
from strategies import dedup, knapsack, mmr
imported = time.perf_counter()
for policy in {policies}:
    warm(policy)
print(time.perf_counter() - began, imported - began)
"""

POLICIES: Final = {
    "mmr": "[mmr(0.5)]",
    "dedup": "[dedup(0.9) | mmr(1.0, metric='jaccard')]",
    "knapsack": "[knapsack]",
    "every kernel": "[dedup(0.9) | mmr(0.5), knapsack]",
}


def rows(effort: Effort) -> Iterator[Row]:
    """Imports, then first calls: one kernel at a time, and all of them."""
    used = "from packer import Chunk, pack; from strategies import greedy"
    for statement in ("import packer", "import packer, strategies", used):
        yield _import(statement, effort)
    for name, policies in POLICIES.items():
        yield _first(name, policies, effort)


def _fresh(program: str, cache: Path | None = None) -> list[float]:
    """The numbers that a new interpreter prints, with byte code on disk."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]


def _timed(name: str, program: str, note: str = "") -> Contender:
    """A contender whose clock is the fresh process's own: its start-up does not count."""
    last = 0.0

    def call() -> list[float]:
        nonlocal last
        printed = _fresh(program)
        last = printed[0]
        return printed

    def clock(number: int) -> float:
        return sum(_fresh(program)[0] for _ in range(number)) if number else last

    return Contender(name, call, clock=clock, note=note)


def _import(statement: str, effort: Effort) -> Row:
    peer = "import numpy, attrs"
    return measure(
        f"startup/{statement}",
        statement,
        _timed("ours", TIMED.format(statement=statement)),
        [_timed(peer, TIMED.format(statement=peer))],
        _longer(effort),
        sizes={},
        facts=lambda printed: {"numba imported": bool(printed[1])},
    )


def _longer(effort: Effort) -> Effort:
    """A process takes a while: more seconds for enough runs."""
    return Effort(effort.quick, seconds=1.0 if effort.quick else 4.0, patience=effort.patience)


def _first(name: str, policies: str, effort: Effort) -> Row:
    """Warm cache against cold: from before `import packer` until every kernel has run."""
    program = FIRST.format(policies=policies)
    with tempfile.TemporaryDirectory() as folder:
        filled = Path(folder) / "warm"
        filled.mkdir()
        _fresh(program, filled)
        cold = Contender("cold cache", _cold(program, folder), clock=_clock(_cold(program, folder)))
        warm = Contender("ours", _in(program, filled), clock=_clock(_in(program, filled)))
        return measure(
            f"startup/first call/{name}",
            f"first call, warm cache: {name}",
            warm,
            [cold],
            _patient(effort),
            sizes={},
            facts=lambda printed: {"of it the import, ms": printed[1] * 1e3},
        )


def _patient(effort: Effort) -> Effort:
    return Effort(effort.quick, seconds=2.0, patience=5.0 if effort.quick else 15.0)


def _in(program: str, cache: Path) -> Callable[[], list[float]]:
    return lambda: _fresh(program, cache)


def _cold(program: str, folder: str) -> Callable[[], list[float]]:
    def call() -> list[float]:
        return _fresh(program, Path(tempfile.mkdtemp(dir=folder)))

    return call


def _clock(run: Callable[[], list[float]]) -> Callable[[int], float]:
    """Of no calls: one more, since the process that it followed has ended."""
    return lambda number: sum(run()[0] for _ in range(max(1, number)))
