"""Which tests reach which line, and how long each takes: one run under coverage's contexts."""

import ast
import json
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, final

import attrs

from proofs.mutation.mutants import Mutant, path_of, statement_at

ANYWHERE: Final = 0
"""In the place of a line: reached by a test that runs any function of the module."""


@final
@attrs.frozen
class Reach:
    """The tests by the lines they reach."""

    tests: dict[str, dict[int, list[str]]]
    """The ids of tests, by module and line."""
    seconds: dict[str, float]
    """What each test takes, by its id."""

    def of(self, mutant: Mutant, *, everywhere: bool) -> list[str]:
        """The tests that run the line of a mutant, or the module at all, quickest first."""
        lines = self.tests.get(mutant.module, {})
        tree = ast.parse(path_of(mutant.module).read_text())
        places: Iterable[int] = [ANYWHERE] if everywhere else statement_at(tree, mutant.line)
        found = {test for line in places for test in lines.get(line, [])}
        return sorted(found, key=lambda test: (self.seconds[test], test))

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(attrs.asdict(self)))

    @classmethod
    def load(cls, paths: Sequence[Path]) -> "Reach":
        """What several runs found, in one."""
        tests: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        seconds: dict[str, float] = {}
        for path in paths:
            found = json.loads(path.read_text())
            seconds |= found["seconds"]
            for module, lines in found["tests"].items():
                for line, names in lines.items():
                    tests[module][int(line)] += names
        return cls(tests, seconds)


class Measuring:
    """A pytest plugin: run every so many-th file of tests under coverage, and write the reach."""

    def __init__(self, modules: Collection[str], path: Path, part: int, parts: int) -> None:
        self.modules = modules
        self.path = path
        self.part = part
        self.parts = parts

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the tests, each in a context of its own."""
        import coverage
        from _pytest.runner import runtestprotocol

        files = sorted({str(item.path) for item in session.items})
        items = [
            item for item in session.items if files.index(str(item.path)) % self.parts == self.part
        ]
        measured = coverage.Coverage(
            data_file=None, config_file=False, include=[str(path_of(name)) for name in self.modules]
        )
        seconds: dict[str, float] = {}
        measured.start()
        for item, following in zip(items, [*items[1:], None], strict=True):
            measured.switch_context(item.nodeid)
            started = time.perf_counter()
            reports = runtestprotocol(item, log=False, nextitem=following)
            if any(report.failed for report in reports):
                print(f"left out, since it fails without a mutant: {item.nodeid}", flush=True)
            else:
                seconds[item.nodeid] = time.perf_counter() - started
        measured.stop()
        self._write(measured.get_data(), seconds)
        return True

    def _write(self, data: Any, seconds: dict[str, float]) -> None:
        tests: dict[str, dict[int, list[str]]] = {}
        for name in self.modules:
            lines = data.contexts_by_lineno(str(path_of(name)))
            here = {
                line: [each for each in found if each in seconds] for line, found in lines.items()
            }
            here[ANYWHERE] = sorted({test for found in here.values() for test in found})
            tests[name] = here
        Reach(tests, seconds).save(self.path)
