"""Near-duplicates: of chunks that say the same, the best stays."""

from typing import final

import attrs
import numpy as np

from packer import kernels
from packer.algebra import Filter
from packer.arrays import best_first, sealed
from packer.parameters import choice, number
from packer.pool import Pool
from packer.records import Reason
from packer.similarity import METRICS, Metric, features

__all__ = ["dedup"]


@final
@attrs.frozen(repr=False)
class Dedup(Filter):
    name = "dedup"
    uses_kernels = True
    threshold: float = number(0.0, 1.0, above=0.0, default=0.85)
    metric: Metric = choice(METRICS, default="auto", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        if len(pool) < 2:
            return pool
        pool, found = features(pool, self.metric)
        order = sealed(best_first(pool.scores))
        survivor, similarity = kernels.near_duplicates.dedup(*found.arrays, order, self.threshold)

        def detail(row: int) -> str:
            return (
                f"similarity {similarity[row]:.4f}, limit {self.threshold:g}; "
                f"the other has score {pool.scores[survivor[row]]:.6g}"
            )

        return pool.keep(
            survivor < 0,
            reason=Reason.REDUNDANT,
            detail=detail,
            redundant_with=np.maximum(survivor, 0),
            similarity=similarity,
        )


def dedup(threshold: float = 0.85, *, metric: Metric = "auto") -> Filter:
    """Drop near-duplicates: in score order, what is as similar as `threshold` to a kept chunk.

    `threshold` in (0, 1]; 1.0 removes equal embeddings and equal sets of trigrams only.  `metric`
    as in `packer.similarity`.  The exclusion names the most similar kept chunk, on a tie the
    better.  Embeddings cost O(n k d) for k kept, text only the pairs that an exact prefix filter
    cannot rule out (Bayardo, Ma, Srikant 2007); memory O(n d), never n x n.  Excludes as
    `redundant`.

    A copy that differs in one number is a near-duplicate too: where that matters, stay at 0.95
    and above.

    Raises MISSING_EMBEDDINGS, with the ids, under ``metric="cosine"``.
    """
    return Dedup(threshold, metric=metric)
