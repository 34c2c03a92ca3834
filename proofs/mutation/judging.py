"""Whether a test fails on a mutant, tried in forks of a process that has collected the tests.

A slip inside a function is tried by giving the function the mutant's code; one outside of all needs
a fresh import, so the fork starts from a process that has not imported this project.
"""

import gc
import importlib
import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final, final

import attrs

from proofs.mutation.mutants import CONTROL, Mutant, changed_functions, code_of, path_of
from proofs.mutation.reach import Reach

SLOWER: Final = 5.0
"""So many times its usual time, and `GRACE` seconds, a test may take before it counts as failed."""
GRACE: Final = 5.0
MEMORY: Final = 6 << 30
"""Bytes a fork may map; a loop that no longer ends fills the machine otherwise."""

OPTIONS: Final = (
    "-q",
    "--assert=plain",
    "--capture=sys",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:cov",
)


ENDS: Final = {0: "survived", 1: "killed", 2: "error", -signal.SIGALRM: "timeout"}
"""By how a fork ended; by any other signal it "crashed"."""
KILLED: Final = ("killed", "timeout", "crashed")
CONTROLLED: Final = 20
"""With so many tests a control is tried, the quickest."""


@final
@attrs.frozen
class Verdict:
    """What became of a mutant."""

    mutant: Mutant
    state: str
    """One of `KILLED`, or "survived" | "unreached" | "error" (of this runner, not of a test)."""
    by: str
    """The test that failed, or the error; "" for none."""
    tests: int
    """How many tests were to run."""
    left_out: int
    """How many more reach the line, left out since together they take too long."""
    seconds: float


@final
class Choice:
    """The tests for a mutant: those that killed most of the module first, then the quickest."""

    def __init__(self, reach: Reach, most: float) -> None:
        self.reach = reach
        self.most = most
        self.kills: Counter[tuple[str, str]] = Counter()

    def __call__(self, mutant: Mutant, *, everywhere: bool) -> tuple[list[str], int]:
        """The ids of the tests, and how many were left out."""
        if mutant.operator == CONTROL:
            return self.reach.of(mutant, everywhere=True)[:CONTROLLED], 0
        found = self.reach.of(mutant, everywhere=everywhere)
        found.sort(key=lambda test: -self.kills[mutant.module, test])
        total = 0.0
        chosen: list[str] = []
        for test in found:
            total += self.reach.seconds[test]
            if total <= self.most or not chosen:
                chosen.append(test)
        return chosen, len(found) - len(chosen)


def run_until_failure(items: Sequence[Any], seconds: dict[str, float]) -> str:
    """The id of the first test that fails; "" when all pass.  An endless one ends the process."""
    from _pytest.runner import runtestprotocol

    for item, following in zip(items, [*items[1:], None], strict=True):
        signal.setitimer(signal.ITIMER_REAL, SLOWER * seconds[item.nodeid] + GRACE)
        reports = runtestprotocol(item, log=False, nextitem=following)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if any(report.failed for report in reports):
            return str(item.nodeid)
    return ""


@final
@attrs.frozen
class Trial:
    """A mutant and how to try it: `work` gives the id of the test that fails."""

    mutant: Mutant
    tests: list[str]
    left_out: int
    work: Callable[[], str]


def verdicts(
    trials: Iterator[Trial], workers: int, kills: Counter[tuple[str, str]]
) -> Iterator[Verdict]:
    """What becomes of each, tried in so many forks at a time."""
    running: dict[int, tuple[Trial, int, float]] = {}
    more = True
    while more or running:
        while more and len(running) < workers:
            trial = next(trials, None)
            if trial is None:
                more = False
            elif not trial.tests:
                yield Verdict(trial.mutant, "unreached", "", 0, 0, 0.0)
            else:
                child, pipe = _fork(trial.work)
                running[child] = (trial, pipe, time.perf_counter())
        if not running:
            continue
        child, status = os.wait()
        trial, pipe, started = running.pop(child)
        by = os.read(pipe, 4096).decode()
        os.close(pipe)
        code = os.waitstatus_to_exitcode(status)
        state = ENDS.get(code, "crashed")
        kills[trial.mutant.module, by] += 1
        took = time.perf_counter() - started
        yield Verdict(trial.mutant, state, by, len(trial.tests), trial.left_out, round(took, 2))


def _fork(work: Callable[[], str]) -> tuple[int, int]:
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        by = work()
        code = int(bool(by))
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is no verdict of a test
        by = repr(error)
        code = 2
    os.write(write, by.encode()[:4000])
    os._exit(code)


class InPlace:
    """A pytest plugin: after the tests are collected, try the mutants of functions in forks."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        choice: Choice,
        workers: int,
        tell: Callable[[Verdict], None],
    ) -> None:
        self.mutants = mutants
        self.choice = choice
        self.workers = workers
        self.tell = tell

    def pytest_runtestloop(self, session: Any) -> bool:
        """Try every mutant."""
        items = {item.nodeid: item for item in session.items}
        for module in {mutant.module for mutant in self.mutants}:
            importlib.import_module(module)  # one that only a call imports would stay as it is
        gc.collect()
        gc.freeze()
        for verdict in verdicts(self._trials(items), self.workers, self.choice.kills):
            self.tell(verdict)
        return True

    def _trials(self, items: dict[str, Any]) -> Iterator[Trial]:
        for mutant in self.mutants:
            tests, left_out = self.choice(mutant, everywhere=False)

            def work(mutant: Mutant = mutant, tests: list[str] = tests) -> str:
                transplant(mutant)
                return run_until_failure([items[test] for test in tests], self.choice.reach.seconds)

            yield Trial(mutant, tests, left_out, work)


def transplant(mutant: Mutant) -> None:
    """Give the functions that the mutant changes its code, wherever they are held."""
    changed = changed_functions(mutant) or {}
    path = str(path_of(mutant.module))
    gc.unfreeze()
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == path:
            thing.__code__ = changed.get(thing.__code__, thing.__code__)


class Chosen:
    """A pytest plugin: run some tests in the order given, until one fails."""

    def __init__(self, tests: Sequence[str], seconds: dict[str, float]) -> None:
        self.tests = tests
        self.seconds = seconds
        self.by = "collection"

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run them."""
        items = {item.nodeid: item for item in session.items}
        missing = [test for test in self.tests if test not in items]
        self.by = (
            missing[0]
            if missing
            else run_until_failure([items[test] for test in self.tests], self.seconds)
        )
        return True


def imported_anew(mutants: Sequence[Mutant], choice: Choice) -> Iterator[Trial]:
    """Trials of mutants that only a fresh import shows."""
    for mutant in mutants:
        tests, left_out = choice(mutant, everywhere=True)

        def work(mutant: Mutant = mutant, tests: list[str] = tests) -> str:
            import pytest

            sys.meta_path.insert(0, Hook(mutant))
            chosen = Chosen(tests, choice.reach.seconds)
            files = sorted({test.split("::")[0] for test in tests})
            pytest.main([*OPTIONS, *files], plugins=[chosen])
            return chosen.by

        yield Trial(mutant, tests, left_out, work)


class Hook(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module another source."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, _path: Any, _target: Any = None, /) -> ModuleSpec | None:
        """The mutated module, and nothing else."""
        if name != self.mutant.module:
            return None
        return importlib.util.spec_from_file_location(name, Path(path_of(name)), loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutated source."""
        exec(code_of(self.mutant) or "", vars(module))
