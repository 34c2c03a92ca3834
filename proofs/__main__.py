"""`python -m proofs`: prove the theorems and confirm the twins, each with its time."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from proofs import smt
from proofs.smt.theorem import Theorem, prove

__all__ = ["confirmations", "theorems"]

PACKAGE = "proofs.crosshair"
SECONDS = 60
"""So long CrossHair may take for one condition."""


def theorems() -> Iterator[Theorem]:
    """The theorems of `proofs/smt`, one a file."""
    for found in iter_modules(smt.__path__):
        module = import_module(f"{smt.__name__}.{found.name}")
        if hasattr(module, "THEOREM"):
            yield module.THEOREM


def confirmations(path: Path, answers: str) -> Iterator[tuple[int, str]]:
    """Each postcondition of a file, by its line, and what CrossHair answered ("" for nothing)."""
    told = {
        int(line): words
        for line, words in re.findall(rf"{re.escape(path.name)}:(\d+): (.*)", answers)
    }
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if text.strip().startswith("post:"):
            yield number, told.get(number, "")


def _asked(module: str) -> tuple[float, list[tuple[int, str]]]:
    """The seconds that CrossHair took for a module, and its answers."""
    started = time.perf_counter()
    options = ["--report_all", "--analysis_kind=PEP316", f"--per_condition_timeout={SECONDS}"]
    command = [sys.executable, "-m", "crosshair", "check", *options, f"{PACKAGE}.{module}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    path = Path(__file__).parent / "crosshair" / f"{module}.py"
    return time.perf_counter() - started, list(confirmations(path, done.stdout + done.stderr))


def main() -> int:
    """Print each proof with its time; the exit code is 0 when all hold."""
    started = time.perf_counter()
    failed = 0
    for theorem in theorems():
        try:
            print(f"{prove(theorem):7.2f} s  {theorem.title} (steps: {len(theorem.steps)})")
        except AssertionError as fault:
            failed += 1
            print(f" FAILED    {fault}")
    for module, wanted, words in (
        ("twins", "info: Confirmed over all paths.", "confirmed over all paths"),
        ("refuted", "error: false when calling ", "of wrong twins refuted"),
    ):
        seconds, answers = _asked(module)
        wrong = [(line, told) for line, told in answers if not told.startswith(wanted)]
        failed += len(wrong)
        total = len(answers)
        print(f"{seconds:7.2f} s  CrossHair: {total - len(wrong)} of {total} conditions {words}")
        for line, told in wrong:
            print(f" FAILED    crosshair/{module}.py:{line}: {told or 'no answer'}")
    print(f"{time.perf_counter() - started:7.2f} s  in all")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
