"""How cost grows: an exponent fitted to the sizes that were measured, beside the stated one."""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from .harness import Row, exponent

__all__ = ["GROWTHS", "Fit", "Growth", "fits"]


@attrs.frozen
class Growth:
    """Rows whose key starts and ends so, by the size that grows.

    `stated`: what the docstring says, in that size.
    """

    job: str
    size: str
    begins: str
    ends: str
    stated: str


@attrs.frozen
class Fit:
    """The exponent over the sizes that were measured."""

    growth: Growth
    sizes: tuple[float, ...]
    exponent: float


GROWTHS: Final = (
    Growth("knapsack, lognormal, 4k", "n", "knapsack/lognormal/", "/4000", "O(n) and a small core"),
    Growth(
        "knapsack, lognormal, n = 1,000",
        "budget",
        "knapsack/lognormal/1000/",
        "",
        "no budget in it",
    ),
    Growth(
        "knapsack, lognormal, n = 10,000",
        "budget",
        "knapsack/lognormal/10000/",
        "",
        "no budget in it",
    ),
    Growth("knapsack, correlated, 4k", "n", "knapsack/correlated/", "/4000", "O(n) and the work"),
    Growth("MMR, d = 384", "n", "mmr/constant/", "/384/32000", "O(n k d) at worst"),
    Growth("MMR, n = 10,000", "d", "mmr/constant/10000/", "", "O(n k d) at worst"),
    Growth("MMR, n = 1,000", "budget", "mmr/lognormal/1000/384/", "", "O(n k d) at worst"),
    Growth(
        "text dedup, 0.9", "n", "text dedup/", "/1000/0.9", "pairs that the prefix filter leaves"
    ),
    Growth(
        "text dedup, 0.7", "n", "text dedup/", "/1000/0.7", "pairs that the prefix filter leaves"
    ),
    Growth(
        "text dedup, n = 1,000, 0.9",
        "characters",
        "text dedup/1000/",
        "/0.9",
        "O(characters) and the pairs",
    ),
    Growth("cosine dedup, d = 384", "n", "cosine dedup/", "/384", "O(n k d), k kept"),
    Growth("cosine dedup, n = 10,000", "d", "cosine dedup/10000/", "", "O(n k d), k kept"),
    Growth("whole call, greedy", "n", "whole call/greedy/", "", "O(n log n)"),
    Growth("whole call, mmr", "n", "whole call/mmr/", "", "O(n k d) at worst"),
)


def fits(rows: Sequence[Row]) -> Iterator[Fit]:
    """The fit of each growth that has two sizes or more."""
    for growth in GROWTHS:
        found = {
            row.sizes[growth.size]: row.seconds
            for row in rows
            if row.key.startswith(growth.begins) and row.key.endswith(growth.ends)
        }
        if len(found) > 1:
            sizes = sorted(found)
            seconds = [found[size] for size in sizes]
            yield Fit(growth, tuple(sizes), exponent(sizes, seconds))
