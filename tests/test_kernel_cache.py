"""Kernels with no folder to keep them in: they still run, and one warning says so."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled, so nothing is kept"
)

# numba asks its locators in turn for a folder; as root every folder is writable, so they refuse
REFUSE = """
from numba.core import caching
for locator in caching.CacheImpl._locator_classes:
    locator.from_function = classmethod(lambda cls, function, file: None)
"""
PACK = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from packer import Chunk, kernels, pack
    from strategies import greedy
    for name in kernels.__all__:
        getattr(kernels, name)
    chunks = [Chunk("abcd", 0.9, tokens=1), Chunk("abce", 0.5, tokens=1)]
    diversity = pack(chunks, greedy, budget=9).report.diversity
told = [(one.category.__name__, str(one.message)) for one in caught]
print(json.dumps([diversity, told]))
"""


def run(program: str, **environment: str) -> tuple[float, list[list[str]]]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
    diversity, told = json.loads(done.stdout)
    return diversity, told


def test_without_a_writable_folder_kernels_run_with_exactly_one_warning() -> None:
    diversity, told = run(REFUSE + PACK)
    assert diversity == 1 - 1 / 3
    ((category, message),) = told
    assert category == "RuntimeWarning"
    assert message == (
        "no folder for compiled kernels is writable, so this process compiles them anew "
        "(some seconds); set NUMBA_CACHE_DIR to a writable folder to keep them"
    )


def test_with_a_writable_folder_kernels_are_kept_there_without_a_warning(tmp_path: Path) -> None:
    assert run(PACK, NUMBA_CACHE_DIR=str(tmp_path)) == (1 - 1 / 3, [])
    assert list(tmp_path.rglob("*.nbi"))


def test_any_other_error_of_the_compiler_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    from packer.kernels import _jit

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr(numba, "njit", broken)
    with pytest.raises(RuntimeError, match="something else"):
        _jit.kernel(broken)


def test_a_damaged_cache_is_passed_over_with_one_warning(tmp_path: Path) -> None:
    assert run(PACK, NUMBA_CACHE_DIR=str(tmp_path)) == (1 - 1 / 3, [])
    for file in tmp_path.rglob("*.nb?"):
        file.write_bytes(b"")
    diversity, told = run(PACK, NUMBA_CACHE_DIR=str(tmp_path))
    assert diversity == 1 - 1 / 3
    ((category, message),) = told
    assert category == "RuntimeWarning"
    assert message.startswith("the cache of compiled kernels cannot be used (EOFError")


@pytest.mark.parametrize(
    "text",
    [
        "cap(2) | greedy",
        'distinct(0.8) | needs("parent") | mmr(0.5)',
        "exclusive() | knapsack",
    ],
)
def test_after_warming_nothing_is_compiled(text: str, tmp_path: Path) -> None:
    program = f"""
import json
from numba.core import event
from packer import Chunk, Packer, warm
from strategies import parse
policy = parse({text!r})
warm(policy)
chunks = [
    Chunk(f"text number {{i}}", 0.9 - i / 20, tokens=5, id=str(i), metadata={{
        "source": str(i % 3), "group": str(i // 2), "parent": str(i - 1) if i % 4 == 1 else None
    }})
    for i in range(9)
]
with event.install_recorder("numba:compile") as compiled:
    Packer(policy, budget=23)(chunks).to_json()
print(json.dumps([0.0, [str(one) for _, one in compiled.buffer]]))
"""
    # a folder of its own: what the disk has already is not compiled, warmed or not
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)) == (0.0, [])
