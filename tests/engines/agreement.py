"""What every engine must give: what `pack_batch` gives on the whole table."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pyarrow as pa
import pytest

from packer.arrow import pack_batch
from strategies import parse

ROOT: Final = Path(__file__).resolve().parents[2]

POLICIES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("threshold(0.2) | dedup(0.8) | greedy | ushape", {"budget": 60}),
    ("latest() | knapsack", {"budget": 60, "on_invalid": "exclude"}),
)


def needed(module: str, distribution: str) -> None:
    """Skip the tests of an engine that is not there, unless all are to be tested."""
    if os.environ.get("PACKER_ENGINES") == "all":
        importlib.import_module(module)
    pytest.importorskip(module, reason=f"{distribution} is not installed")


def example() -> ModuleType:
    """The module `examples/engines.py`."""
    spec = importlib.util.spec_from_file_location("engines", ROOT / "examples" / "engines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["engines"] = module
    spec.loader.exec_module(module)
    return module


def requests() -> Any:
    """Fifty requests: of no to nine candidates, some without a list, some that cannot be packed."""
    rows = [
        None
        if row % 11 == 5
        else [
            {
                "id": f"{row}-{at}",
                "content": f"Answer {at % 4} to what was asked in request {row}.",
                "score": None
                if (row, at) in ((7, 0), (30, 2))
                else ((row * 7 + at * 13) % 20) / 20,
                "tokens": None if at == 3 else 5 + (row + at * 5) % 20,
                "source": f"s{at % 3}",
                "timestamp": f"2024-0{1 + at % 9}-01",
            }
            for at in range(row % 10)
        ]
        for row in range(50)
    ]
    return pa.table({"request": pa.array(range(50)), "candidates": rows})


def agrees(engine: str) -> None:
    """Check an engine on every policy."""
    run, table = example().RUNS[engine], requests()
    for text, given in POLICIES:
        policy, options = parse(text), {**given, "on_error": "set-aside"}
        found = run(table, policy, options)
        expected = pack_batch(table, policy, **options)
        assert found.column_names == expected.column_names
        assert found.sort_by("request").to_pylist() == expected.to_pylist()
        codes = [error["code"] for error in expected["error"].to_pylist() if error]
        assert codes == ([] if "on_invalid" in options else ["INVALID_CHUNK"])
