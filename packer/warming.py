"""Compile, or load from the kernel cache, what a policy needs, before the first request."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from .algebra import Constraint, Policy, Selector, advance, checked_policy
from .errors import PackError
from .outcome import diversity
from .pool import Pool
from .ruled_selection import enforce
from .rules import Needs, Overlap, Quota

__all__ = ["warm"]

_TEXTS: Final = (
    "Refunds take five days from the day on which the parcel arrives.",
    "Refunds take five days from the day on which a parcel arrives.",
    "We ship on every working day, and on Saturdays before a holiday.",
    "Gift cards cannot be returned.",
)

_SCORES: Final = (0.9, 0.8, 0.7, 0.6)
_TOKENS: Final = (16, 16, 17, 8)


def warm(policy: Policy) -> None:
    """Run the stages that call kernels on small pools of texts and of embeddings.

    For a service's start-up: afterwards no request of this policy waits for a compiler, and
    neither does reading `report.diversity`.  Under a second when the cache on disk has the
    kernels (most of it the import of numba), one to seven seconds a kernel when it does not.

    Raises INVALID_POLICY for what is no policy.

    >>> from strategies import greedy
    >>> warm(greedy)
    """
    steps = checked_policy(policy)
    pools = _pools([step for step in steps if isinstance(step, Constraint)])
    for step in steps:
        for pool in pools:
            try:
                if step.uses_kernels or (getattr(step, "obeys_rules", False) and pool.rules):
                    advance(step, pool, repr(step))
                elif isinstance(step, Selector):  # a caller's own code, which is not run here
                    enforce(pool, pool.select([0]))
            except PackError:  # say, metric="cosine" and no embeddings: nothing to warm there
                continue
    texts = pools[0].with_rules(())
    diversity(texts.select([0, 3]).arrange([0, 1]))


def _pools(constraints: Sequence[Constraint]) -> list[Pool]:
    """Pools of texts and of embeddings, with the keys that the constraints ask for, under them."""
    rules = Pool.from_arrays(_SCORES, _TOKENS, texts=_TEXTS)
    for constraint in constraints:
        rules = constraint(rules)
    keys = [rule.by for rule in rules.rules if isinstance(rule, Quota)]
    parents = [rule.key for rule in rules.rules if isinstance(rule, Needs)]
    metadata: list[dict[str, object]] = [
        {
            **dict.fromkeys(keys, row // 2),
            **dict.fromkeys(parents, "chunk-3" if row == 0 else None),
        }
        for row in range(len(_TEXTS))
    ]
    texts = list(_TEXTS)
    if any(isinstance(rule, Overlap) for rule in rules.rules):
        texts[3] = texts[0][20:]
        for row, start in ((0, 0), (3, 20)):
            metadata[row].update(source="book", start=start, end=len(texts[0]))
    made = []
    for vectors in (None, np.eye(len(_TEXTS))):
        pool = Pool.from_arrays(
            _SCORES, _TOKENS, vectors, texts=texts, metadata=metadata, budget=30
        )
        for constraint in constraints:
            pool = constraint(pool)
        made.append(pool)
    return made
