"""The vocabulary of policies: filters, scoring, selectors and orders, and their text.

>>> from strategies import dedup, mmr, parse, threshold, ushape
>>> policy = threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape
>>> policy
threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape
>>> parse(str(policy)) == policy
True

`CATALOG` has every stage by its word in a policy's text; give `parse` a larger one to add yours.
"""

from types import MappingProxyType
from typing import Final, cast

from packer.algebra import Policy, checked_policy
from packer.conditions import field
from packer.dsl import Catalog, parse_stage

from .constraints import cap, distinct, exclusive, needs, pin, quota
from .custom import Context, custom
from .dedup import dedup
from .filters import max_candidates, threshold, top, where
from .fusion import fuse
from .greedy import density, greedy, prefix
from .knapsack import knapsack
from .mmr import mmr
from .options import from_options
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
from .shrinking import shrink, variants
from .trimming import trim
from .versions import current, fresh, latest

__all__ = [
    "CATALOG",
    "Context",
    "boost",
    "by_score",
    "cap",
    "chronological",
    "current",
    "custom",
    "decay",
    "dedup",
    "density",
    "distinct",
    "document",
    "exclusive",
    "field",
    "fresh",
    "from_options",
    "fuse",
    "greedy",
    "knapsack",
    "latest",
    "max_candidates",
    "mmr",
    "natural",
    "needs",
    "normalize",
    "parse",
    "pin",
    "prefix",
    "quota",
    "reverse",
    "shrink",
    "sorted_by",
    "stable",
    "threshold",
    "top",
    "trim",
    "ushape",
    "variants",
    "where",
]

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
        # selectors
        "greedy": greedy,
        "prefix": prefix,
        "density": density,
        "mmr": mmr,
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


def parse(text: str, catalog: Catalog = CATALOG) -> Policy:
    """The policy that a text names; `parse(str(policy)) == policy`.

    `catalog`: the words, e.g. ``{**CATALOG, "mine": mine}``.  Nothing in the text is evaluated.
    Stages that hold Python functions (`custom`, `sorted_by`) can only be composed in code.

    Raises INVALID_POLICY with `line`, `column` and a `suggestion` in `details`, INVALID_PARAMETER
    for an argument outside its range.

    >>> parse('where(status == "current", year >= 2023) | greedy')
    where(status == "current", year >= 2023) | greedy
    """
    stage = parse_stage(text, catalog)
    checked_policy(stage)
    return cast("Policy", stage)
