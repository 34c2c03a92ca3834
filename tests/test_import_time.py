import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = (
    "numba",
    "llvmlite",
    "regex",
    "Stemmer",
    "tomllib",
    "pyarrow",
    "scipy",
    "typer",
    "rich",
    "tiktoken",
    "quicktok",
    "torch",
    "pandas",
)


def imported(program: str) -> set[str]:
    """Which of the heavy packages are imported once the program has run."""
    probe = f"{program}\nimport json, sys\nprint(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", probe],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_both_packages_imports_nothing_heavy() -> None:
    assert imported("import packer, strategies") == set()


@pytest.mark.parametrize(
    "policy",
    [
        "greedy",
        "threshold(0.1) | max_candidates(9) | top(5) | prefix | ushape",
        'where(year >= 2023 or year is None) | current() | latest() | fresh("30d") | density',
        'normalize() | decay("30d") | boost(year == 2024, 2) | greedy | chronological()',
        "greedy | document",
    ],
)
def test_a_pack_without_kernels_imports_nothing_heavy(policy: str) -> None:
    program = f"""
from packer import Chunk, Packer, Pool, pack, warm
from strategies import custom, parse
chunks = [Chunk("one", 0.9), {{"content": "two", "score": 0.5, "embedding": [1, 2]}}]
policy = parse({policy!r})
packed = pack(chunks, policy, budget=9)
assert len(packed) == 2
packed.why("chunk-0"), packed.text(), packed.report.excluded, packed.report.position_quality
Packer(policy, budget=9).select(Pool.from_arrays([0.5], [1]), now=0)
pack(chunks, custom(lambda given, context: given), budget=9)
"""
    assert imported(program) == set()


def test_kernels_are_imported_by_the_first_stage_that_calls_one() -> None:
    program = """
from packer import Chunk, pack
from strategies import dedup, greedy
pack([Chunk("one", 0.9), Chunk("two", 0.5)], dedup() | greedy, budget=9)
"""
    assert "numba" in imported(program)


def test_a_policy_over_one_chunk_needs_no_kernel() -> None:
    program = """
from packer import Chunk, pack
from strategies import dedup, mmr
pack([Chunk("one", 0.9)], dedup() | mmr(), budget=9)
"""
    assert imported(program) == set()


def test_a_module_of_kernels_that_is_not_there_is_an_attribute_error() -> None:
    from packer import kernels

    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        kernels.nothing  # noqa: B018  # reading it is the test
