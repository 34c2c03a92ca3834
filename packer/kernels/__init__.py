"""Compiled loops over arrays: arrays in, arrays out, no records, no policy.

A kernel module is imported when it is first used (`kernels.knapsack.solve(...)`), because
importing one imports numba, and `import packer` must not.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        alike,
        batches,
        branch_and_bound,
        containment,
        cosine,
        coverage,
        dpp,
        knapsack,
        mmr,
        near_duplicates,
        pairs,
        rules,
        trigrams,
    )

__all__ = [
    "alike",
    "batches",
    "branch_and_bound",
    "containment",
    "cosine",
    "coverage",
    "dpp",
    "knapsack",
    "mmr",
    "near_duplicates",
    "pairs",
    "rules",
    "trigrams",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
