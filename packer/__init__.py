"""packer: which retrieved chunks go into the context window, at what cost, in what order, why.

>>> from packer import Chunk, pack
>>> from strategies import dedup, greedy, threshold, ushape
>>> policy = threshold(0.6) | dedup(0.85) | greedy | ushape
>>> chunks = [
...     Chunk("Damaged goods are refunded in full.", 0.91, id="policy", tokens=700),
...     Chunk("Shipping takes three days.", 0.52, id="shipping", tokens=600),
... ]
>>> packed = pack(chunks, policy, budget=1600)
>>> [chunk.id for chunk in packed]
['policy']
>>> print(packed.why("shipping"))
shipping is out, below-threshold, by threshold(0.6): score 0.52, floor 0.6

The vocabulary of stages is the package `strategies`; importing neither imports numba.
"""

from typing import TYPE_CHECKING, Final

from .lazy_names import lazy_names

if TYPE_CHECKING:
    from .algebra import Constraint, Filter, Order, Policy, Scoring, Selector, Stage
    from .allotment import Section, sections
    from .budget import Budget
    from .comparison import Comparison, compare
    from .errors import PackError
    from .facade import Packer, pack
    from .frontier import Frontier, FrontierPoint
    from .plan import PackedPlan, Plan, PlanReport
    from .pool import Pool
    from .records import (
        Chunk,
        Conflict,
        Difference,
        Exclusion,
        Optimality,
        Packed,
        PackedChunk,
        Reason,
        Report,
        StageTrace,
    )
    from .selection import Layout, Selection
    from .template import Template
    from .tokens import TokenCounter, approximate, tokenizer, utf8_estimate, utf8_upper_bound
    from .values import ScorePart, ScoreStep
    from .warming import warm

__all__ = [
    "Budget",
    "Chunk",
    "Comparison",
    "Conflict",
    "Constraint",
    "Difference",
    "Exclusion",
    "Filter",
    "Frontier",
    "FrontierPoint",
    "Layout",
    "Optimality",
    "Order",
    "PackError",
    "Packed",
    "PackedChunk",
    "PackedPlan",
    "Packer",
    "Plan",
    "PlanReport",
    "Policy",
    "Pool",
    "Reason",
    "Report",
    "ScorePart",
    "ScoreStep",
    "Scoring",
    "Section",
    "Selection",
    "Selector",
    "Stage",
    "StageTrace",
    "Template",
    "TokenCounter",
    "approximate",
    "compare",
    "pack",
    "sections",
    "tokenizer",
    "utf8_estimate",
    "utf8_upper_bound",
    "warm",
]

_HOMES: Final = {
    "Budget": "budget",
    "Chunk": "records",
    "Conflict": "records",
    "Difference": "records",
    "Comparison": "comparison",
    "Constraint": "algebra",
    "Exclusion": "records",
    "Filter": "algebra",
    "Frontier": "frontier",
    "FrontierPoint": "frontier",
    "Layout": "selection",
    "Optimality": "records",
    "Order": "algebra",
    "PackError": "errors",
    "Packed": "records",
    "PackedChunk": "records",
    "PackedPlan": "plan",
    "Packer": "facade",
    "Plan": "plan",
    "PlanReport": "plan",
    "Policy": "algebra",
    "Pool": "pool",
    "Reason": "records",
    "Report": "records",
    "ScorePart": "values",
    "ScoreStep": "values",
    "Scoring": "algebra",
    "Section": "allotment",
    "Selection": "selection",
    "Selector": "algebra",
    "Stage": "algebra",
    "StageTrace": "records",
    "Template": "template",
    "TokenCounter": "tokens",
    "approximate": "tokens",
    "compare": "comparison",
    "pack": "facade",
    "sections": "allotment",
    "tokenizer": "tokens",
    "utf8_estimate": "tokens",
    "utf8_upper_bound": "tokens",
    "warm": "warming",
}
"""The modules that are imported when one of their names is asked for."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
