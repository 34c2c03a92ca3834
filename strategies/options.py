"""The option object of the package that this one succeeds, as a policy."""

from functools import reduce
from typing import Final

from packer.algebra import Filter, Order, Policy, Selector
from packer.errors import InvalidStrategy, MissingCustomStrategy, shown
from packer.numbers import is_finite
from packer.parameters import refusal
from packer.similarity import METRICS, Metric

from .custom import Choose, custom
from .dedup import dedup
from .filters import max_candidates as first_candidates
from .greedy import greedy
from .knapsack import knapsack
from .mmr import mmr
from .orders import chronological, ushape

__all__ = ["from_options"]

_ORDERS: Final[dict[str, Order | None]] = {
    "natural": None,
    "u-shaped": ushape,
    "chronological": chronological(),
}
_STRATEGIES: Final = ("greedy", "mmr", "knapsack", "custom")


def from_options(
    *,
    strategy: str = "greedy",
    lambda_: float = 0.5,
    ordering: str = "natural",
    redundancy_threshold: float | None = None,
    similarity_metric: Metric = "auto",
    max_candidates: int | None = None,
    custom_strategy: Choose | None = None,
) -> Policy:
    """The policy that a set of options stands for; what is off is left out.

    `strategy`: greedy, mmr, knapsack or custom.  `ordering`: natural, u-shaped or chronological.
    `redundancy_threshold`: None, 0 and 1 mean no deduplication.

    Raises INVALID_STRATEGY for an unknown strategy, MISSING_CUSTOM_STRATEGY for "custom" without
    a function, INVALID_PARAMETER for any other bad option.

    >>> from_options(strategy="mmr", lambda_=0.7, ordering="u-shaped", redundancy_threshold=0.85)
    dedup(0.85) | mmr(0.7) | ushape
    """
    if not isinstance(strategy, str) or strategy not in _STRATEGIES:
        message = f"strategy is {shown(strategy)}; give one of {', '.join(_STRATEGIES)}"
        raise InvalidStrategy(message, details={"strategy": strategy})
    if not isinstance(ordering, str) or ordering not in _ORDERS:
        raise refusal("from_options", "ordering", ordering, "one of " + ", ".join(_ORDERS))
    if not isinstance(similarity_metric, str) or similarity_metric not in METRICS:
        wanted = "one of " + ", ".join(METRICS)
        raise refusal("from_options", "similarity_metric", similarity_metric, wanted)
    diverse = mmr(lambda_, metric=similarity_metric)  # made always, so that a bad lambda_ shows
    filters: list[Filter] = []
    if max_candidates is not None:
        filters.append(first_candidates(max_candidates))
    off = redundancy_threshold is None or (
        is_finite(redundancy_threshold) and redundancy_threshold in (0, 1)
    )
    if not off:
        filters.append(dedup(redundancy_threshold, metric=similarity_metric))  # type: ignore[arg-type]  # not None here
    selector = _selector(strategy, diverse, custom_strategy)
    order = _ORDERS[ordering]
    chosen: Policy = selector if order is None else selector | order
    return reduce(lambda policy, filter_: filter_ | policy, reversed(filters), chosen)


def _selector(strategy: str, diverse: Selector, custom_strategy: Choose | None) -> Selector:
    if custom_strategy is not None and not callable(custom_strategy):
        raise refusal("from_options", "custom_strategy", custom_strategy, "a function")
    if strategy == "custom":
        if custom_strategy is None:
            message = 'strategy="custom" needs custom_strategy, a function (chunks, context)'
            raise MissingCustomStrategy(message)
        return custom(custom_strategy)
    return {"greedy": greedy, "mmr": diverse, "knapsack": knapsack}[strategy]
