"""`python -m proofs.mutation [modules]`: does a test fail for each mutant of the stages and kernels?

First the tests run once under coverage, which says who reaches which line; then each mutant is
tried with the tests that reach it.  A mutant is *killed* when one fails or takes five times as
long; else it *survives*.  Kernels run as plain Python (NUMBA_DISABLE_JIT=1).

One JSON object a mutant goes to the file of `--out`; a summary is printed.
"""

import argparse
import functools
import hashlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import attrs

from proofs.mutation.judging import (
    KILLED,
    OPTIONS,
    Choice,
    InPlace,
    Verdict,
    imported_anew,
    verdicts,
)
from proofs.mutation.mutants import CONTROL, ROOT, controls, modules, mutants
from proofs.mutation.reach import Measuring, Reach

TESTS: Final = ("tests", "strategies", "packer", "proofs/conformance")
ELSEWHERE: Final = (
    "tests/arrow",  # the same stages again, by columns
    "tests/browser",
    "tests/engines",
    "tests/integrations",
    "tests/test_benchmarks.py",
    "tests/test_check_stage.py",  # searches for faults at length
    "tests/test_documentation.py",
    "tests/test_frontier.py",
    "tests/test_page.py",
    "tests/test_pytest_plugin.py",  # in processes of their own
    "tests/test_quality.py",
    "tests/test_ties.py",
    "tests/test_tuning.py",
    "tests/test_typing.py",
)
FOLDER: Final = ROOT / "build" / "mutants"


def in_a_fork(work: Callable[[], Any]) -> int:
    """Start it in a process of its own."""
    child = os.fork()
    if child == 0:
        work()
        sys.stdout.flush()
        os._exit(0)
    return child


def collect_and(plugin: object, tests: Sequence[str]) -> None:
    """Collect the tests and leave the rest to a plugin."""
    import pytest

    ignored = [f"--ignore={path}" for path in ELSEWHERE]
    pytest.main([*OPTIONS, *ignored, *tests], plugins=[plugin])


def measured_reach(tests: Sequence[str], workers: int) -> Reach:
    """Who reaches what, kept until a source or a test changes."""
    digest = hashlib.sha256(repr(tests).encode())
    for folder in ("packer", "strategies", "tests", "proofs/conformance"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    files = [FOLDER / f"reach-{digest.hexdigest()[:12]}-{part}.json" for part in range(workers)]
    if not all(path.exists() for path in files):
        for part, path in enumerate(files):
            plugin = Measuring(modules(), path, part, workers)
            in_a_fork(functools.partial(collect_and, plugin, tests))
        for _ in files:
            os.wait()
    return Reach.load(files)


def main() -> int:
    """Run the mutants of the modules; the exit code is 0 when 90 % are killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("modules", nargs="*", default=modules(), help="as strategies.greedy")
    parser.add_argument("--every", type=int, default=1, help="every so many mutants of a module")
    parser.add_argument("--first", type=int, default=0, help="the first of them, from 0")
    parser.add_argument("--again", type=Path, help="only what survived, by such a file of `--out`")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="only these tests")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="of tests for a mutant, at most"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=FOLDER / "verdicts.jsonl")
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "mutants"}
    for name in ("numpy", "numba", "attrs", "regex", "pytest", "sybil", "coverage"):
        importlib.import_module(name)
    register_profile()
    FOLDER.mkdir(parents=True, exist_ok=True)
    reach = measured_reach(options.tests, options.workers)
    with ProcessPoolExecutor(options.workers) as pool:
        sample = slice(options.first, None, options.every)
        found = [each for many in pool.map(mutants, options.modules) for each in many[sample]]
    if options.again:
        alive = survivors(options.again)
        found = [each for each in found if (each.module, each.operator, each.occurrence) in alive]
    found = [each for module in options.modules for each in controls(module)] + found
    choice = Choice(reach, options.seconds)
    out = options.out.open("w")

    def tell(verdict: Verdict) -> None:
        record = attrs.asdict(verdict, filter=lambda field, _: field.name != "source")
        out.write(json.dumps({**record.pop("mutant"), **record}) + "\n")
        out.flush()

    inside = [each for each in found if each.inside]
    outside = [each for each in found if not each.inside]
    in_a_fork(lambda: collect_and(InPlace(inside, choice, options.workers, tell), options.tests))
    os.wait()
    for verdict in verdicts(imported_anew(outside, choice), options.workers, choice.kills):
        tell(verdict)
    out.close()
    return summary(options.out)


def register_profile() -> None:
    """The same examples every time, and no search for the smallest: that one fails is enough."""
    from hypothesis import HealthCheck, Phase, settings

    settings.register_profile(
        "mutants",
        database=None,
        deadline=None,
        derandomize=True,
        max_examples=30,
        phases=(Phase.explicit, Phase.generate),
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow],
    )


def survivors(path: Path) -> set[tuple[str, str, int]]:
    """The mutants that no test killed, by what stands in a file of verdicts."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {
        (row["module"], row["operator"], row["occurrence"]) for row in rows if not _killed([row])
    }


def summary(path: Path) -> int:
    """Print the counts by module; 0 when 90 % are killed, 2 when a control was or the runner failed."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    astray = [row for row in rows if row["state"] == "error"]
    astray += _killed([row for row in rows if row["operator"] == CONTROL])
    rows = [row for row in rows if row["operator"] != CONTROL]
    for module in sorted({row["module"] for row in rows}):
        here = [row for row in rows if row["module"] == module]
        print(f"{module}: {len(_killed(here))} of {len(here)} mutants killed")
    share = len(_killed(rows)) / max(len(rows), 1)
    print(f"{len(_killed(rows))} of {len(rows)} mutants killed, {share:.1%}")
    for row in astray:
        print(f"no verdict: {row['module']}:{row['line']} {row['state']} by {row['by']}")
    return 2 if astray else int(share < 0.9)


def _killed(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["state"] in KILLED]


if __name__ == "__main__":
    sys.exit(main())
