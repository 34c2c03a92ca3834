"""The theorems hold, and the prover refuses what is false, vacuous or has no use."""

from pathlib import Path

import pytest
import z3

from proofs.__main__ import confirmations, theorems
from proofs.smt.theorem import Mutant, Step, Theorem, prove

x, y = z3.Ints("x y")
GIVEN = {"x is above 1": x > 1, "y is above 1": y > 1}
SOUND = Mutant("y may be 0", instead={"y is above 1": y >= 0})


@pytest.mark.parametrize("theorem", list(theorems()), ids=lambda theorem: theorem.title)
def test_theorem_is_proved(theorem: Theorem) -> None:
    assert prove(theorem) > 0


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
