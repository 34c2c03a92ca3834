import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from packer import PackError

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests" / "typing"

# program -> what its message must say: both stages, what they take and give, and the mend
MESSAGES = {
    "order_before_selection": (
        "threshold(0.6) | ushape does not compose: threshold(0.6) takes candidates (Pool) and "
        "gives candidates (Pool), ushape takes a selection (Selection) and gives a layout; "
        "put a selector between them, such as greedy or mmr(0.7)"
    ),
    "order_before_its_selector": (
        "ushape | greedy does not compose: ushape takes a selection (Selection) and gives a "
        "layout, greedy takes candidates (Pool) and gives a selection (Selection); "
    ),
    "two_selections": (
        "greedy | mmr(0.7) does not compose: greedy takes candidates (Pool) and gives a selection "
        "(Selection), mmr(0.7) takes candidates (Pool) and gives a selection (Selection); "
        "a policy has one selector; leave one of them out"
    ),
    "filter_after_selection": (
        "greedy | threshold(0.6) does not compose: greedy takes candidates (Pool) and gives a "
        "selection (Selection), threshold(0.6) takes candidates (Pool) and gives candidates "
        "(Pool); put threshold(0.6) before greedy"
    ),
    "filter_after_order": (
        "ushape | dedup(0.85) does not compose: ushape takes a selection (Selection) and gives a "
        "layout, dedup(0.85) takes candidates (Pool) and gives candidates (Pool); "
    ),
    "two_orders": (
        "ushape | by_score does not compose: ushape takes a selection (Selection) and gives a "
        "layout, by_score takes a selection (Selection) and gives a layout; "
        "an order ends a policy; leave one of them out"
    ),
    "two_selections_between_compositions": (
        "greedy | dedup(0.85) does not compose: greedy takes candidates (Pool) and gives a "
        "selection (Selection), dedup(0.85) takes candidates (Pool) and gives candidates (Pool); "
        "put dedup(0.85) before greedy"
    ),
    "packing_without_a_selector": (
        "threshold(0.6) is no policy: it gives candidates (Pool) and selects nothing; "
        "add a selector, such as threshold(0.6) | greedy"
    ),
    "a_packer_without_a_selector": (
        "threshold(0.6) | dedup(0.85) is no policy: it gives candidates (Pool) and selects "
        "nothing; add a selector, such as threshold(0.6) | dedup(0.85) | greedy"
    ),
    "packing_an_order_alone": (
        "ushape is no policy: it takes a selection (Selection); "
        "begin with a selector, such as greedy | ushape"
    ),
    "number_on_the_right": (
        "3 after greedy is no stage; a stage is made by strategies, such as threshold(0.6) or "
        "ushape"
    ),
    "number_on_the_left": (
        "3 before greedy is no stage; a stage is made by strategies, such as threshold(0.6) or "
        "ushape"
    ),
    "text_on_the_right": (
        "'greedy' after threshold(0.6) is no stage; text becomes a policy by strategies.parse(text)"
    ),
    "forgotten_call_on_the_right": (
        " after threshold(0.6) is no stage; call it, as in mmr(...); "
        "a function of your own becomes a selector by custom(mmr)"
    ),
    "forgotten_call_on_the_left": (
        " before ushape is no stage; call it, as in mmr(...); "
        "a function of your own becomes a selector by custom(mmr)"
    ),
    "forgotten_call_packed": " is no stage; call it, as in mmr(...); ",
    "text_packed": "'greedy' is no stage; text becomes a policy by strategies.parse(text)",
}


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"typing_{name}", PROGRAMS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _programs() -> dict[str, Callable[[], object]]:
    module = _loaded("rejected")
    return {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
    }


def test_every_wrong_program_is_ignored_once_and_has_its_message_here() -> None:
    text = (PROGRAMS / "rejected.py").read_text(encoding="utf-8")
    ignores = re.findall(r"# type: ignore\[(?:operator|arg-type)\]$", text, re.MULTILINE)
    assert set(_programs()) == set(MESSAGES)
    assert len(ignores) == len(MESSAGES)


def test_mypy_accepts_the_right_programs_and_needs_every_ignore_of_the_wrong(
    pytestconfig: pytest.Config,
) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    cache = pytestconfig.cache
    assert cache is not None
    command = [
        *(sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "--no-color-output"),
        f"--config-file={ROOT / 'pyproject.toml'}",
        f"--cache-dir={cache.mkdir('mypy')}",
        *(str(PROGRAMS / name) for name in ("accepted.py", "rejected.py")),
    ]
    # a process of its own: mypy raises the recursion limit of the one that it runs in
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.stdout, done.stderr, done.returncode) == (
        "Success: no issues found in 2 source files\n",
        "",
        0,
    )


def test_the_right_programs_run() -> None:
    module = _loaded("accepted")
    assert [chunk.content for chunk in module.packed] == ["Refunds take 5 days."]
    assert repr(module.shown) == "threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape"


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_a_wrong_program_is_refused_when_it_is_composed(name: str) -> None:
    with pytest.raises(PackError) as caught:
        _programs()[name]()
    assert caught.value.code == "INVALID_POLICY"
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TypeError)
    assert MESSAGES[name] in caught.value.message


def test_a_misfit_names_both_stages_in_its_details() -> None:
    with pytest.raises(PackError) as caught:
        _programs()["two_selections"]()
    assert caught.value.details == {"before": "greedy", "after": "mmr(0.7)"}
