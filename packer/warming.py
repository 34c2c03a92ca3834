"""Compile, or load from the kernel cache, what a policy needs, before the first request."""

from typing import Final

import numpy as np

from .algebra import Policy, advance, checked_policy
from .errors import PackError
from .outcome import diversity
from .pool import Pool

__all__ = ["warm"]

_TEXTS: Final = (
    "Refunds take five days from the day on which the parcel arrives.",
    "Refunds take five days from the day on which a parcel arrives.",
    "We ship on every working day, and on Saturdays before a holiday.",
    "Gift cards cannot be returned.",
)


def warm(policy: Policy) -> None:
    """Run the stages that call kernels on small pools of texts and of embeddings.

    For a service's start-up: afterwards no request of this policy waits for a compiler, and
    neither does reading `report.diversity`.  Some 0.3 s in all when the cache on disk has the
    kernels, some ten seconds when it does not.

    Raises INVALID_POLICY for what is no policy.

    >>> from strategies import greedy
    >>> warm(greedy)
    """
    scores, tokens = [0.9, 0.8, 0.7, 0.6], [16, 16, 17, 8]
    texts = Pool.from_arrays(scores, tokens, texts=_TEXTS, budget=30)
    vectors = Pool.from_arrays(scores, tokens, np.eye(4), texts=_TEXTS, budget=30)
    for step in checked_policy(policy):
        if step.uses_kernels:
            for pool in (texts, vectors):
                try:
                    advance(step, pool, repr(step))
                except PackError:  # say, metric="cosine" and no embeddings: nothing to warm there
                    continue
    diversity(texts.select([0, 3]).arrange([0, 1]))
