import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

from packer import integrations

NAMES = [found.name for found in pkgutil.iter_modules(integrations.__path__)]
FRAMEWORKS = {
    "haystack": "haystack",
    "langchain": "langchain_core",
    "llama_index": "llama_index",
}
PACKAGES = (
    *FRAMEWORKS.values(),
    "pydantic",
    "chromadb",
    "faiss",
    "lancedb",
    "pyarrow",
    "qdrant_client",
)


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    return done.stdout


@pytest.mark.parametrize("name", [name for name in NAMES if name not in FRAMEWORKS])
def test_what_needs_no_framework_is_whole(name: str) -> None:
    module = importlib.import_module(f"packer.integrations.{name}")
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__) > 0
    for word in module.__all__:
        value = getattr(module, word)
        if isinstance(value, type | FunctionType):
            assert value.__doc__, word


def test_neither_the_core_nor_the_stores_import_a_package() -> None:
    modules = [f"packer.integrations.{name}" for name in NAMES if name not in FRAMEWORKS]
    program = f"""
import packer, strategies, sys, json
before = [name for name in sys.modules if name.startswith("packer.integrations")]
for name in {modules!r}:
    __import__(name)
print(json.dumps([before, [name for name in {PACKAGES!r} if name in sys.modules]]))
"""
    assert json.loads(run(program)) == [[], []]


@pytest.mark.parametrize(("name", "package"), FRAMEWORKS.items())
def test_a_missing_framework_names_its_extra(name: str, package: str) -> None:
    program = f"""
import sys
sys.modules[{package!r}] = None
try:
    import packer.integrations.{name}
except ImportError as error:
    print(error)
"""
    extra = name.replace("_", "-")
    told = run(program)
    assert told.startswith(f"packer.integrations.{name} needs {package}")
    assert told.endswith(f'install it with: pip install "chunk-packer[{extra}]"\n')


def test_the_page_and_the_readme_name_every_integration() -> None:
    page = (Path(__file__).parents[1] / "docs" / "integrations.md").read_text(encoding="utf-8")
    own = {"counters", "natives", "rows", "scores", "vectors"}
    for name in set(NAMES) - own:
        assert f"packer.integrations.{name} import" in page, name
