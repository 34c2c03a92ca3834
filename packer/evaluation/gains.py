"""What a gain is worth that was measured by cross-validation, and how sure it is."""

import math
from typing import Any, Final, final

import attrs
import numpy as np

from packer.arrays import Floats, Ints

__all__ = ["Gain", "gain_of", "lower_bounds", "mean_of_groups"]

NORMAL: Final = 1.959964
"""The 97.5 % quantile of the normal distribution."""


@final
@attrs.frozen(kw_only=True)
class Gain:
    """How much more evidence a policy packs than another on queries that it was not chosen by.

    `value`: the mean of evidence recall, less the other's.  `low` and `high`: in 95 of 100 cases
    the mean gain on as many further queries lies between them; the gain `holds` when that is above
    0.  `mean_low` and `mean_high`: the 95 % interval of the gain on all queries of the kind, which
    have no luck of their own, so it is narrower.
    """

    value: float
    low: float
    high: float
    mean_low: float
    mean_high: float

    @property
    def holds(self) -> bool:
        """Whether as many further queries would show it, but for 1 case in 40."""
        return self.low > 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {**attrs.asdict(self), "holds": self.holds}


def mean_of_groups(values: Floats, group: Ints) -> Floats:
    """float64[...]: the mean of the groups' means, over the last axis of `values`.

    `group` int64[n]: the group of each.

    >>> mean_of_groups(np.array([1.0, 1.0, 0.0]), np.array([0, 0, 1])).tolist()
    0.5
    """
    means = [values[..., group == number].mean(axis=-1) for number in np.unique(group)]
    return np.asarray(np.mean(means, axis=0), np.float64)


def lower_bounds(differences: Floats, group: Ints) -> Floats:
    """float64[policies]: the mean difference less its standard error.

    `differences` float64[policies, queries].  Of many policies the one with the highest mean is
    one whose queries were kind to it; this asks for a gain that shows on most queries.
    """
    return mean_of_groups(differences, group) - np.sqrt(_error(differences, group))


def gain_of(gains: Floats, group: Ints, own: Floats, choices: Floats) -> Gain:
    """The gain from those of each query, held back once in each round.

    `gains` float64[rounds, queries]; `own` float64[queries], the gains of the last choice on the
    queries that it was made by; `choices` float64[c], the mean gains on all queries of what was
    chosen when parts were held back.  The error has two sources: that of a mean of so many queries
    (at least as large as with `own`, so that a choice which no part made is not taken for
    certain), and that another choice might have been made, which is what `choices` differ by.
    Where few queries gain at all their variance says too little, so that two queries are added to
    each set, one with the greatest gain or loss that was seen and one with its opposite.
    """
    value = float(mean_of_groups(gains, group).mean())
    errors = (_error(values, group, more=True) for values in (gains, own))
    error = max(float(found.mean()) for found in errors)
    choice = float(choices.var(ddof=1)) if len(choices) > 1 else 0.0
    quantile = _quantile(gains.shape[1] - 1)
    of_mean = quantile * math.sqrt(error + choice)
    of_new = quantile * math.sqrt(2.0 * error + choice)
    return Gain(
        value=value,
        low=value - of_new,
        high=value + of_new,
        mean_low=value - of_mean,
        mean_high=value + of_mean,
    )


def _error(values: Floats, group: Ints, *, more: bool = False) -> Floats:
    """float64[...]: the squared standard error of `mean_of_groups`; `more`: of two queries more."""
    numbers = np.unique(group)
    total = np.zeros(values.shape[:-1])
    for number in numbers:
        own = values[..., group == number]
        if more:
            peak = np.abs(own).max(axis=-1, keepdims=True)
            own = np.concatenate([own, peak, -peak], axis=-1)
        if own.shape[-1] > 1:
            total += own.var(axis=-1, ddof=1) / own.shape[-1]
    return np.asarray(total / len(numbers) ** 2, np.float64)


def _quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t (Abramowitz and Stegun 26.7.5).

    >>> round(_quantile(10), 2), round(_quantile(60), 2)
    (2.23, 2.0)
    """
    z, v = NORMAL, float(max(freedom, 1))
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / v**power for power, term in enumerate(terms))
