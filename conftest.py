"""Runs every code block of README.md and docs/: Python as it stands, shell with its output.

Where the integrations run, what other packages warn of is theirs to mend; elsewhere a warning is an
error.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.markdown_examples import collect

HERE = Path(__file__).parent

pytest_collect_file = collect

# They import what a developer may not have; their examples stand in docs/integrations.md.
collect_ignore_glob = [f"packer/integrations/{name}.py" for name in ("haystack", "lang*", "llama*")]


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Let warnings pass where the integrations run."""
    places = {HERE / "tests" / "integrations", HERE / "docs" / "integrations.md"}
    for item in items:
        if places.intersection((item.path, *item.path.parents)):
            item.add_marker(pytest.mark.filterwarnings("ignore"))
