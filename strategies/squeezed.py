"""Scores that differ less than a choice by score per token needs: the warning `squeezed-scores`."""

import math
from typing import Final

import numpy as np

from packer.arrays import Floats, Ints
from packer.pool import Pool

__all__ = ["spread", "squeezed", "warn_squeezed"]

SCORES: Final = 0.5
"""Below this spread two ordinary chunks are worth more than one two standard deviations better."""

COSTS: Final = 0.1
"""Below this spread all chunks are of about one length, and a choice by length is none."""

FEWEST: Final = 5
"""Fewer chunks say nothing of a spread."""


def spread(values: Floats) -> float:
    """The coefficient of variation of values above 0: standard deviation over mean.

    >>> round(spread(np.array([0.0, 1.0, 1.0, 2.0])), 6)
    0.707107
    """
    scaled = values / np.maximum.reduce(values)  # so that nothing overflows
    mean = float(np.add.reduce(scaled)) / len(scaled)
    square = float(scaled @ scaled) / len(scaled)
    return math.sqrt(max(square - mean * mean, 0.0)) / mean


def warn_squeezed(pool: Pool) -> Pool:
    """The pool, with a warning where score per token would choose by length, see `squeezed`.

    Fitted probabilities add up however close they are.
    """
    told = None
    if not pool.calibrated:
        told = squeezed(pool.scores, pool.costs, pool.budget, pool.stage)
    return pool if told is None else pool.warn("squeezed-scores", told)


def squeezed(scores: Floats, costs: Ints, budget: int, stage: str) -> str | None:
    """What to warn of where score per token would choose by length; None where it would not.

    That is where not all fits, costs spread by 0.1 of their mean or more, and scores by less than
    0.5 of theirs or less than costs do; of the chunks with a score and a cost above 0, five or more.
    O(n).
    """
    counted = (scores > 0) & (costs > 0)
    charged = costs[counted]
    if len(charged) < FEWEST or int(np.add.reduce(charged)) <= budget:
        return None
    lengths, values = spread(charged.astype(np.float64)), spread(scores[counted])
    if lengths < COSTS or values >= max(SCORES, lengths):
        return None
    return (
        f"the scores of {len(charged)} chunks spread by {values:.2f} of their mean, their "
        f"tokens by {lengths:.2f}: {stage} then takes many short weak chunks before a long good one; "
        "fit the scores to labels and put that utility(...) before it, or take greedy"
    )
