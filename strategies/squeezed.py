"""Scores that differ less than a choice by score per token needs: the warning `squeezed-scores`."""

from typing import Final

import numpy as np

from packer.arrays import Floats
from packer.pool import Pool

__all__ = ["spread", "warn_squeezed"]

SCORES: Final = 0.5
"""Below this spread two ordinary chunks are worth more than one two standard deviations better."""

COSTS: Final = 0.1
"""Below this spread all chunks are of about one length, and a choice by length is none."""

FEWEST: Final = 5
"""Fewer chunks say nothing of a spread."""


def spread(values: Floats) -> float:
    """The coefficient of variation of values above 0: standard deviation over mean.

    >>> spread(np.array([0.0, 1.0, 1.0, 2.0]))
    0.7071067811865476
    """
    scaled = values / values.max()  # so that nothing overflows
    return float(scaled.std() / scaled.mean())


def warn_squeezed(pool: Pool) -> Pool:
    """The pool, with a warning where score per token would choose by length.

    That is where not all fits, costs spread by 0.1 of their mean or more, and scores by less than
    0.5 of theirs or less than costs do; of the chunks with a score and a cost above 0, five or more.
    Fitted probabilities add up however close they are.  O(n).
    """
    if pool.calibrated:
        return pool
    counted = (pool.scores > 0) & (pool.costs > 0)
    scores, costs = pool.scores[counted], pool.costs[counted].astype(np.float64)
    if len(scores) < FEWEST or int(pool.costs[counted].sum()) <= pool.budget:
        return pool
    lengths, values = spread(costs), spread(scores)
    if lengths < COSTS or values >= max(SCORES, lengths):
        return pool
    return pool.warn(
        "squeezed-scores",
        f"the scores of {len(scores)} chunks spread by {values:.2f} of their mean, their tokens by "
        f"{lengths:.2f}: {pool.stage} then takes many short weak chunks before a long good one; "
        "fit the scores to labels and put that utility(...) before it, or take greedy",
    )
