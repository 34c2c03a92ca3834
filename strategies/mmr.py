"""Maximal marginal relevance: relevant, and unlike what is already in."""

from typing import Final, final

import attrs
import numpy as np

from packer import kernels
from packer.algebra import Selector
from packer.arrays import Floats, best_first, frozen
from packer.growing import Growing, grown
from packer.parameters import choice, number
from packer.pool import Pool
from packer.rulebook import rulebook
from packer.ruled_selection import base
from packer.selection import Selection
from packer.similarity import METRICS, Features, Metric, features

__all__ = ["mmr"]


UNSCALED: Final = (
    "mmr weighs scores against similarities, which are at most 1; these scores are larger and "
    "decide alone; put normalize() before mmr"
)


@final
@attrs.frozen(repr=False)
class Mmr(Selector):
    name = "mmr"
    uses_kernels = True
    lambda_: float = number(0.0, 1.0, default=0.5)
    metric: Metric = choice(METRICS, default="auto", kw_only=True)

    obeys_rules = True
    counts_overlap = True

    def __call__(self, pool: Pool, /) -> Selection:
        if len(pool) < 2 and not pool.rules:
            return pool.select(np.flatnonzero(pool.costs <= pool.budget))
        pool, found = features(pool, self.metric)
        if 0.0 < self.lambda_ < 1.0 and len(pool) and np.abs(pool.scores).max() > 1.0:
            pool = pool.warn("unscaled-scores", UNSCALED)
        if pool.overlapping:
            return grown(pool, _Marginal(pool.scores, self.lambda_, found))
        book = rulebook(pool)
        scores = frozen(pool.scores)
        if book is None:
            rows = kernels.mmr.select(
                scores, pool.costs, pool.capacity, self.lambda_, *found.arrays
            )
            return pool.select(rows)
        start = base(book, best_first(pool.scores))
        rows = kernels.mmr.select(
            scores, book.costs, pool.capacity, self.lambda_, *found.arrays, book.columns, start
        )
        return book.select(np.concatenate([start, rows]))


@final
class _Marginal:
    """The marginal relevance of each row beside those of a choice that grows."""

    def __init__(self, scores: Floats, lambda_: float, features: Features) -> None:
        self.scores = scores
        self.lambda_ = lambda_
        self.features = features
        self.seen = 0
        self.nearest = np.where(features.embedded, -1.0, 0.0)

    def __call__(self, found: Growing) -> Floats:
        if not found.chosen:
            return self.scores
        for row in found.chosen[self.seen :]:
            likeness = kernels.pairs.beside(*self.features.arrays, row)
            self.nearest = np.maximum(self.nearest, likeness)
        self.seen = len(found.chosen)
        return self.lambda_ * self.scores - (1.0 - self.lambda_) * self.nearest


def mmr(lambda_: float = 0.5, *, metric: Metric = "auto") -> Selector:
    """First the best score that fits; then, while any fits, the best of
    ``lambda_ * score - (1 - lambda_) * (largest similarity to a chunk that is in)``.

    `lambda_` in 0..1: 1.0 is `greedy`, 0.0 looks at similarity only.  The scores must be on the
    scale of the similarities, 0..1: with larger ones the second term is without weight
    (`normalize()` first).  Negative cosines count as they are.  Ties: the higher score, then the
    earlier.  O(n k d) for k selected at worst, less where stale values rule chunks out
    (Minoux 1978); memory O(n d), never n x n.

    Source: Carbonell, Goldstein, "The use of MMR, diversity-based reranking for reordering
    documents and producing summaries", SIGIR 1998.

    Raises MISSING_EMBEDDINGS, with the ids, under ``metric="cosine"``.

    >>> mmr(0.7)
    mmr(0.7)
    """
    return Mmr(lambda_, metric=metric)
