"""The names of `packer.testing` are imported when they are asked for."""

import subprocess
import sys

import packer.testing


def test_names_are_imported_when_asked_for_and_missing_hypothesis_is_told() -> None:
    assert dir(packer.testing) == packer.testing.__all__ == sorted(packer.testing.__all__)
    for name in packer.testing.__all__:
        assert getattr(packer.testing, name).__name__ == name
    program = (
        "import sys, packer.testing\n"
        "assert not {'hypothesis', 'numba', 'pytest'} & set(sys.modules)\n"
        "sys.modules['hypothesis'] = None\n"
        "try:\n    packer.testing.check_stage\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "packer.testing.check_stage needs Hypothesis: pip install 'chunk-packer[testing]'\n"
    )
