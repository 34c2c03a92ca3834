"""The words of a policy's text."""

from types import MappingProxyType
from typing import Final

from packer.dsl import Catalog

from .calibration import utility
from .constraints import cap, distinct, exclusive, needs, pin, quota
from .covering import coverage
from .custom import custom
from .dedup import dedup
from .determinantal import dpp
from .filters import max_candidates, threshold, top, where
from .greedy import density, greedy, prefix
from .knapsack import knapsack
from .mmr import mmr
from .orders import (
    by_score,
    chronological,
    document,
    natural,
    reverse,
    sorted_by,
    stable,
    ushape,
)
from .scoring import boost, decay, normalize
from .shrinking import shrink
from .signals import blend, lexical, neighbours
from .spans import overlap
from .trimming import trim
from .versions import current, fresh, latest

__all__ = ["CATALOG"]

CATALOG: Final[Catalog] = MappingProxyType(
    {
        # filters
        "threshold": threshold,
        "max_candidates": max_candidates,
        "top": top,
        "where": where,
        "current": current,
        "latest": latest,
        "fresh": fresh,
        "dedup": dedup,
        # scoring
        "decay": decay,
        "boost": boost,
        "normalize": normalize,
        "lexical": lexical,
        "neighbours": neighbours,
        "blend": blend,
        "utility": utility,
        # shorter texts
        "shrink": shrink,
        "trim": trim,
        # constraints
        "pin": pin,
        "cap": cap,
        "exclusive": exclusive,
        "distinct": distinct,
        "needs": needs,
        "quota": quota,
        "overlap": overlap,
        # selectors
        "greedy": greedy,
        "prefix": prefix,
        "density": density,
        "mmr": mmr,
        "coverage": coverage,
        "dpp": dpp,
        "knapsack": knapsack,
        "custom": custom,
        # orders
        "natural": natural,
        "by_score": by_score,
        "ushape": ushape,
        "chronological": chronological,
        "document": document,
        "reverse": reverse,
        "sorted_by": sorted_by,
        "stable": stable,
    }
)
"""Every stage of the library, by its word in a policy's text."""
