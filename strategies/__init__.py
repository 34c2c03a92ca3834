"""The vocabulary of policies: filters, scoring, selectors and orders, and their text.

>>> from strategies import dedup, mmr, parse, threshold, ushape
>>> policy = threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape
>>> policy
threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape
>>> parse(str(policy)) == policy
True

`CATALOG` has every stage by its word in a policy's text; give `parse` a larger one to add yours.
"""

from typing import TYPE_CHECKING, Final, cast

from packer.algebra import Policy, checked_policy
from packer.conditions import field
from packer.dsl import Catalog, parse_stage
from packer.lazy_names import lazy_names

from .custom import Context, custom
from .dedup import dedup
from .greedy import density, greedy, prefix
from .knapsack import knapsack
from .mmr import mmr

if TYPE_CHECKING:
    from .calibration import fit_utility, utility
    from .catalog import CATALOG
    from .constraints import cap, distinct, exclusive, needs, pin, quota
    from .covering import coverage
    from .defaults import recommended
    from .determinantal import dpp
    from .filters import max_candidates, threshold, top, where
    from .fusion import fuse
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
    from .signals import blend, lexical, neighbours
    from .spans import overlap
    from .trimming import trim
    from .versions import current, fresh, latest

__all__ = [
    "CATALOG",
    "Context",
    "blend",
    "boost",
    "by_score",
    "cap",
    "chronological",
    "coverage",
    "current",
    "custom",
    "decay",
    "dedup",
    "density",
    "distinct",
    "document",
    "dpp",
    "exclusive",
    "field",
    "fit_utility",
    "fresh",
    "from_options",
    "fuse",
    "greedy",
    "knapsack",
    "latest",
    "lexical",
    "max_candidates",
    "mmr",
    "natural",
    "needs",
    "neighbours",
    "normalize",
    "overlap",
    "parse",
    "pin",
    "prefix",
    "quota",
    "recommended",
    "reverse",
    "shrink",
    "sorted_by",
    "stable",
    "threshold",
    "top",
    "trim",
    "ushape",
    "utility",
    "variants",
    "where",
]

_HOMES: Final = {
    "CATALOG": "catalog",
    "fit_utility": "calibration",
    "utility": "calibration",
    "cap": "constraints",
    "distinct": "constraints",
    "exclusive": "constraints",
    "needs": "constraints",
    "pin": "constraints",
    "quota": "constraints",
    "recommended": "defaults",
    "coverage": "covering",
    "dpp": "determinantal",
    "max_candidates": "filters",
    "threshold": "filters",
    "top": "filters",
    "where": "filters",
    "fuse": "fusion",
    "from_options": "options",
    "by_score": "orders",
    "chronological": "orders",
    "document": "orders",
    "natural": "orders",
    "reverse": "orders",
    "sorted_by": "orders",
    "stable": "orders",
    "ushape": "orders",
    "boost": "scoring",
    "decay": "scoring",
    "normalize": "scoring",
    "overlap": "spans",
    "shrink": "shrinking",
    "variants": "shrinking",
    "blend": "signals",
    "lexical": "signals",
    "neighbours": "signals",
    "trim": "trimming",
    "current": "versions",
    "fresh": "versions",
    "latest": "versions",
}
"""The modules that are imported when one of their names is asked for."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__


def parse(text: str, catalog: Catalog | None = None) -> Policy:
    """The policy that a text names; `parse(str(policy)) == policy`.

    `catalog`: the words, `CATALOG` or e.g. ``{**CATALOG, "mine": mine}``.  Nothing in the text is evaluated.
    Stages that hold Python functions (`custom`, `sorted_by`) can only be composed in code.

    Raises INVALID_POLICY with `line`, `column` and a `suggestion` in `details`, INVALID_PARAMETER
    for an argument outside its range.

    >>> parse('where(status == "current", year >= 2023) | greedy')
    where(status == "current", year >= 2023) | greedy
    """
    if catalog is None:
        from . import catalog as words

        catalog = words.CATALOG
    stage = parse_stage(text, catalog)
    checked_policy(stage)
    return cast("Policy", stage)
