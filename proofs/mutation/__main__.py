"""`python -m proofs.mutation [modules]`: run the tests of each module on its mutants.

cosmic-ray makes the mutants; its own runner starts a Python for each and rewrites the source on
disk, which takes minutes a module here.  So a mutant runs in a fork of a process that has imported
everything but this project, and an import hook gives it the mutated source.  Kernels run as
plain Python (NUMBA_DISABLE_JIT=1).

A mutant is *killed* when a test fails or the tests take five times as long; else it *survives*.
One JSON object a mutant goes to the file of `--out`; a summary is printed.
"""

import argparse
import importlib.abc
import importlib.util
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final, final

import attrs

ROOT: Final = Path(__file__).resolve().parents[2]

OPERATORS: Final = (
    "core/ReplaceBinaryOperator_Add_Sub",
    "core/ReplaceBinaryOperator_Sub_Add",
    "core/ReplaceBinaryOperator_Mul_Add",
    "core/ReplaceBinaryOperator_Div_Mul",
    "core/ReplaceBinaryOperator_FloorDiv_Mul",
    "core/ReplaceBinaryOperator_Mod_Add",
    "core/ReplaceBinaryOperator_RShift_LShift",
    "core/ReplaceBinaryOperator_LShift_RShift",
    "core/ReplaceBinaryOperator_BitAnd_BitOr",
    "core/ReplaceComparisonOperator_Lt_LtE",
    "core/ReplaceComparisonOperator_LtE_Lt",
    "core/ReplaceComparisonOperator_Gt_GtE",
    "core/ReplaceComparisonOperator_GtE_Gt",
    "core/ReplaceComparisonOperator_Lt_Gt",
    "core/ReplaceComparisonOperator_Gt_Lt",
    "core/ReplaceComparisonOperator_Eq_NotEq",
    "core/ReplaceComparisonOperator_NotEq_Eq",
    "core/ReplaceUnaryOperator_Delete_USub",
    "core/ReplaceUnaryOperator_Delete_Invert",
    "core/ReplaceUnaryOperator_Delete_Not",
    "core/AddNot",
    "core/ReplaceTrueWithFalse",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceAndWithOr",
    "core/ReplaceOrWithAnd",
    "core/ReplaceBreakWithContinue",
    "core/ReplaceContinueWithBreak",
    "core/NumberReplacer",
    "core/ZeroIterationForLoop",
)
"""One wrong variant for each kind of slip; the others of cosmic-ray repeat these."""

TEXT: Final = "tests/test_dsl.py"
WALKS: Final = "proofs/conformance/test_selectors.py"
COPIES: Final = "proofs/conformance/test_filters_and_orders.py"
ALIKE: Final = ("tests/test_dedup.py", "tests/test_kernel_similarity.py")

TESTS: Final[dict[str, tuple[str, ...]]] = {
    "strategies.filters": ("tests/test_filters.py", TEXT),
    "strategies.greedy": ("tests/test_selectors.py", TEXT, WALKS),
    "strategies.orders": ("tests/test_orders.py", TEXT),
    "strategies.knapsack": ("tests/test_selectors.py", TEXT, WALKS),
    "strategies.mmr": ("tests/test_selectors.py", TEXT),
    "strategies.dedup": ("tests/test_dedup.py", "tests/test_containment.py", TEXT),
    "strategies.versions": ("tests/test_versions.py", TEXT),
    "strategies.scoring": ("tests/test_scoring.py", TEXT),
    "strategies.constraints": ("tests/test_constraints.py", TEXT),
    "packer.kernels.knapsack": (WALKS, "tests/test_kernel_knapsack.py"),
    "packer.kernels.knapsack_core": (WALKS,),
    "packer.kernels.knapsack_rank": (WALKS, "tests/test_kernel_knapsack.py"),
    "packer.kernels.mmr": ("tests/test_kernel_mmr.py",),
    "packer.kernels.near_duplicates": (*ALIKE, COPIES),
    "packer.kernels.trigrams": ALIKE,
    "packer.kernels.cosine": ALIKE,
    "packer.kernels.containment": ("tests/test_containment.py",),
    "packer.kernels.rules": ("tests/test_kernel_rules.py",),
}
"""The modules that are mutated, and the tests that should notice, those that see most first."""

EQUIVALENT: Final = "strict=True"
"""A line with it is as good without: it only says that two lists have one length."""


@final
@attrs.frozen
class Mutant:
    """A module with one slip."""

    module: str
    operator: str
    occurrence: int
    line: int
    before: str
    after: str
    source: str = attrs.field(repr=False)


def path_of(module: str) -> Path:
    """The file of a module."""
    return ROOT / f"{module.replace('.', '/')}.py"


def mutants(module: str) -> Iterator[Mutant]:
    """Every mutant of a module that is another program."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    original = path_of(module).read_text()
    lines = original.splitlines()
    for name in OPERATORS:
        operator = get_operator(name)()
        occurrence = 0
        while (source := mutate_code(original, operator, occurrence)) is not None:
            occurrence += 1
            changed = source.splitlines()
            at = next(
                (at for at, (a, b) in enumerate(zip(lines, changed, strict=False)) if a != b), None
            )
            if at is None or (EQUIVALENT in lines[at] and "True" in name):
                continue
            if compile_as(source, module):
                yield Mutant(module, name, occurrence - 1, at + 1, lines[at], changed[at], source)


def compile_as(source: str, module: str) -> Any:
    """The code of a source; None where it is no program."""
    try:
        return compile(source, path_of(module), "exec")
    except SyntaxError:
        return None


class Hook(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module another source."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, _path: Any, _target: Any = None, /) -> ModuleSpec | None:
        """The mutated module, and nothing else."""
        if name != self.mutant.module:
            return None
        return importlib.util.spec_from_file_location(name, path_of(name), loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutated source."""
        exec(compile_as(self.mutant.source, self.mutant.module), vars(module))


def run(tests: Sequence[str], mutant: Mutant | None, limit: float) -> tuple[str, float]:
    """("killed" | "survived" | "timeout", seconds) of the tests in a fork."""
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.setpgrp()
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        if mutant is not None:
            sys.meta_path.insert(0, Hook(mutant))
        import pytest

        plugins = ["-p", "no:cacheprovider", "-p", "no:cov", "--assert=plain"]
        os._exit(int(pytest.main(["-x", "-q", *plugins, *tests])))
    while time.perf_counter() - started < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            outcome = "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
            return outcome, time.perf_counter() - started
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout", time.perf_counter() - started


def main() -> int:
    """Run the mutants of the modules; the exit code is 0 when 90 % are killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("modules", nargs="*", default=list(TESTS), help="as strategies.greedy")
    parser.add_argument("--every", type=int, default=1, help="every so many mutants of a module")
    parser.add_argument("--minutes", type=float, default=600.0, help="stop after so long")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants.jsonl")
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "ci"}
    for name in ("numpy", "numba", "attrs", "regex", "hypothesis", "pytest", "sybil"):
        importlib.import_module(name)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    ends = time.perf_counter() + 60 * options.minutes
    killed = total = 0
    with options.out.open("a") as out:
        for module in options.modules:
            state, usual = run(TESTS[module], None, 3600.0)
            if state != "survived":
                print(f"{module}: its tests fail without a mutation")
                return 2
            here = dead = 0
            for mutant in list(mutants(module))[:: options.every]:
                if time.perf_counter() > ends:
                    break
                state, seconds = run(TESTS[module], mutant, 5 * usual + 10)
                here, dead = here + 1, dead + (state != "survived")
                record = attrs.asdict(mutant, filter=lambda field, _: field.name != "source")
                out.write(
                    json.dumps({**record, "state": state, "seconds": round(seconds, 1)}) + "\n"
                )
                out.flush()
            killed, total = killed + dead, total + here
            print(
                f"{module}: {dead} of {here} mutants killed; its tests take {usual:.1f} s",
                flush=True,
            )
    print(f"{killed} of {total} mutants killed, {killed / max(total, 1):.1%}")
    return int(killed < 0.9 * total)


if __name__ == "__main__":
    sys.exit(main())
