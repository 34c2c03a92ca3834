"""The theorems hold, and the prover refuses what is false, vacuous or has no use."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
import z3

from proofs import smt
from proofs.__main__ import confirmations, theorems
from proofs.crosshair import twins
from proofs.smt.theorem import Mutant, Step, Theorem, prove

x, y = z3.Ints("x y")
GIVEN = {"x is above 1": x > 1, "y is above 1": y > 1}
SOUND = Mutant("y may be 0", instead={"y is above 1": y >= 0})


@pytest.mark.parametrize("theorem", list(theorems()), ids=lambda theorem: theorem.title)
def test_theorem_is_proved(theorem: Theorem) -> None:
    assert prove(theorem) > 0


MODULES = {
    found.name: import_module(f"{smt.__name__}.{found.name}")
    for found in iter_modules(smt.__path__)
}
SHARED = {"deduplication", "either", "theorem"}


def test_each_module_has_a_theorem_but_for_what_they_share() -> None:
    assert {name for name, module in MODULES.items() if not hasattr(module, "THEOREM")} == SHARED
    assert len(list(theorems())) == len(MODULES) - len(SHARED)


def test_the_page_names_each_theorem_and_twin_and_no_other() -> None:
    page = (Path(__file__).parents[1] / "docs" / "proofs.md").read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`([a-z_]+)`", page) if name in MODULES}
    assert named == set(MODULES) - SHARED
    assert set(re.findall(r"proved: `([a-z_]+)`", page)) <= named
    assert set(re.findall(r"`twins\.([a-z_]+)`", page)) == set(twins.__all__)


def step(**changes: object) -> Theorem:
    parts = {"name": "step", "given": GIVEN, "then": x * y > x, "mutants": [SOUND], **changes}
    return Theorem(title="product", statement="", steps=[Step(**parts)])


def test_sound_step_is_proved() -> None:
    prove(step())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"then": x * y > x + y}, "is false, as .* shows"),
        ({"given": {**GIVEN, "x is below 0": x < 0}}, "is vacuous"),
        ({"given": {**GIVEN, "x is above -5": x > -5}}, "not need that x is above -5"),
        ({"given": {}, "then": x * x >= 0, "mutants": []}, "nothing that could refute it"),
        ({"mutants": [Mutant("the same")]}, "'the same' that is not refuted"),
        ({"mutants": [Mutant("other", instead={"z": x > 0})]}, "changes {'z'}"),
    ],
)
def test_step_that_proves_nothing_is_refused(changes: dict[str, object], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        prove(step(**changes))


def test_each_postcondition_needs_an_answer_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "twins.py"
    path.write_text('"""\npost: a\npost: b\n"""\n')
    answers = f"{path}:2: info: Confirmed over all paths.\n"
    assert list(confirmations(path, answers)) == [
        (2, "info: Confirmed over all paths."),
        (3, ""),
    ]
