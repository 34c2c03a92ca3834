"""Packages that the integrations are tested with, and that a developer may not have."""

import importlib
import importlib.util
import os
import warnings
from types import ModuleType
from typing import Any

import pytest

REQUIRED = "PACKER_REQUIRE_INTEGRATIONS"
"""With this variable set, what is missing fails; otherwise its tests are skipped and say so."""

os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")  # Chroma
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")


def need(*names: str) -> Any:
    """The first of these packages; a module of tests whose packages are missing is skipped."""
    return _found(names, whole_module=True)


def need_in_test(*names: str) -> Any:
    """The first of these packages; the test at hand is skipped where one is missing."""
    return _found(names, whole_module=False)


def _found(names: tuple[str, ...], *, whole_module: bool) -> Any:
    found: list[ModuleType] = []
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found.append(importlib.import_module(name))
            except ModuleNotFoundError as error:
                if os.environ.get(REQUIRED):
                    raise
                reason = f"{error.name} is not installed; `make test-integrations` installs it"
                pytest.skip(reason, allow_module_level=whole_module)
    return found[0]


def missing(*names: str) -> bool:
    """Whether one of these packages is not there, and may be: never where they are required."""
    return not os.environ.get(REQUIRED) and not all(map(_is_there, names))


def _is_there(name: str) -> bool:
    top, _, _ = name.partition(".")  # looking for a.b imports a
    return importlib.util.find_spec(top) is not None
