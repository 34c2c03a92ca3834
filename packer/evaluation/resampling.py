"""How sure a difference is: bootstrap intervals, sign-flip p-values, Holm's correction."""

from typing import Final

import numpy as np

from packer.arrays import Floats

__all__ = ["bootstrap_means", "holm", "interval", "sign_flip"]

TAILS: Final = (0.025, 0.975)
"""What an interval of 95 % leaves out on either side."""

BLOCK: Final = 4_000_000
"""Numbers that are drawn at a time."""

DIGITS: Final = 12
"""Decimals that count: sums in another order differ beyond them."""


def bootstrap_means(values: Floats, generator: np.random.Generator, resamples: int) -> Floats:
    """float64[resamples, columns]: the means of `values` (float64[n, columns]) over n drawn rows.

    Every column gets the same rows, so that differences of columns are paired (Efron and
    Tibshirani 1993, chapter 8).  O(resamples n columns).
    """
    size = len(values)
    means = []
    for count in _blocks(resamples, size):
        drawn = generator.integers(size, size=(count, size))
        offsets = np.arange(count)[:, np.newaxis] * size
        times = np.bincount((drawn + offsets).ravel(), minlength=count * size)
        means.append(times.reshape(count, size).astype(np.float64) @ values / size)
    return np.concatenate(means)


def interval(means: Floats) -> tuple[Floats, Floats]:
    """The 2.5 % and 97.5 % percentiles of float64[resamples, ...] over the resamples.

    >>> low, high = interval(np.arange(1001.0))
    >>> float(low), float(high)
    (25.0, 975.0)
    """
    low, high = np.quantile(np.round(means, DIGITS), TAILS, axis=0)
    return low + 0.0, high + 0.0


def sign_flip(differences: Floats, generator: np.random.Generator, resamples: int) -> Floats:
    """float64[columns]: two-sided p-values that the mean of each column is 0.

    `differences` float64[n, columns].  Fisher's randomisation: were there no difference, each
    row could as well have the other sign.  Never 0: the data is one of the signs that could have
    been.  O(resamples n columns).

    >>> same = np.zeros((8, 1)); better = np.full((8, 1), 0.1)
    >>> rng = np.random.default_rng(0)
    >>> float(sign_flip(same, rng, 999)[0]), float(sign_flip(better, rng, 999)[0]) < 0.02
    (1.0, True)
    """
    observed = np.abs(differences.sum(axis=0)) - 10.0**-DIGITS
    size = len(differences)
    beyond = np.zeros(differences.shape[1])
    for count in _blocks(resamples, size):
        signs = generator.integers(2, size=(count, size), dtype=np.int8) * 2.0 - 1.0
        beyond += (np.abs(signs @ differences) >= observed).sum(axis=0)
    p: Floats = (beyond + 1.0) / (resamples + 1.0)
    return p


def holm(p: Floats) -> Floats:
    """The p-values (float64[m]) corrected for m comparisons (Holm 1979); NaN stays and counts not.

    Below 0.05 after this, the chance that any mark in the family is false is below 0.05.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(9).tolist()
    [0.03, 0.06, 0.06]
    """
    corrected = np.full(len(p), np.nan)
    order = [int(at) for at in np.argsort(p, kind="stable") if not np.isnan(p[at])]
    largest = 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * float(p[at])))
        corrected[at] = largest
    return corrected


def _blocks(resamples: int, size: int) -> list[int]:
    most = max(1, BLOCK // max(size, 1))
    return [min(most, resamples - done) for done in range(0, resamples, most)]
