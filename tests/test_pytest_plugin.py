"""The pytest plugin: one test for each law of each stage that a project registers."""

import subprocess
import sys
from pathlib import Path

import pytest

STAGES = """
import attrs, numpy as np
from packer import Filter, Pool
from packer.parameters import count
from strategies import by_score, greedy, threshold

@attrs.frozen(repr=False)
class AtMost(Filter):
    name = "at_most"
    tokens: int = count()
    def __call__(self, pool: Pool) -> Pool:
        return pool.keep(pool.tokens <= self.tokens, reason="metadata")

@attrs.frozen(repr=False)
class Sorted(Filter):
    name = "sorted"
    is_constant = True
    def __call__(self, pool: Pool) -> Pool:
        return pool.narrowed(np.argsort(-pool.scores))

CATALOG = {"at_most": AtMost, "greedy": greedy}
STAGES = [Sorted(), threshold(0.5) | greedy | by_score]
NOTHING = 3
EMPTY = []
"""
TEST = "def test_laws(packer_law):\n    packer_law()\n"


def run(folder: Path, stages: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "mystages.py").write_text(STAGES)
    (folder / "test_mine.py").write_text(TEST)
    examples = "" if "packer_examples" in stages else "packer_examples = 20\n"
    (folder / "pytest.ini").write_text(
        f"[pytest]\npythonpath = .\n{examples}{stages and f'packer_stages = {stages}'}\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_laws_of_registered_stages_are_tests(tmp_path: Path) -> None:
    done = run(tmp_path, "mystages:CATALOG", "-rA")
    assert done.returncode == 0, done.stdout
    for name in (
        "at_most-filter_narrows",
        "at_most-budget_holds",
        "greedy-selection_fits",
        "at_most-policy_is_its_text",
    ):
        assert f"PASSED test_mine.py::test_laws[{name}]" in done.stdout


def test_broken_law_fails_with_the_code_to_paste(tmp_path: Path) -> None:
    done = run(tmp_path, "mystages:STAGES", "-rA")
    assert done.returncode == 1
    assert "FAILED test_mine.py::test_laws[sorted-filter_narrows]" in done.stdout
    assert "chunks = [" in done.stdout
    policy = "threshold(0.5) | greedy | by_score"
    assert f"PASSED test_mine.py::test_laws[{policy}-budget_holds]" in done.stdout
    assert f"{policy}-filter_narrows" not in done.stdout


@pytest.mark.parametrize(
    ("stages", "told"),
    [
        ("", "set packer_stages = myproject.stages:STAGES"),
        ("mystages:OTHER", "'mystages:OTHER' cannot be imported"),
        ("mystages:NOTHING", "is 3; give a mapping or a list of stages"),
        ("mystages:EMPTY", "there are none at mystages:EMPTY"),
        ("mystages:STAGES\npacker_examples = few", "packer_examples is 'few'; give a whole number"),
        ("mystages:STAGES\npacker_examples = 0", "packer_examples is '0'; give a whole number"),
    ],
)
def test_what_is_registered_wrong_is_told(tmp_path: Path, stages: str, told: str) -> None:
    done = run(tmp_path, stages)
    assert done.returncode != 0
    assert told in done.stdout + done.stderr


def test_plugin_imports_nothing_until_a_test_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_nothing():\n"
        "    assert 'pytest_packer' in sys.modules\n"
        "    assert not {'packer', 'numpy', 'numba', 'strategies'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
