"""Near-duplicates: of chunks that say the same, the best stays."""

from typing import Literal, TypeAlias, final

import attrs
import numpy as np

from packer import kernels
from packer.algebra import Filter
from packer.arrays import Floats, Ints, best_first, sealed
from packer.parameters import choice, number
from packer.pool import Pool
from packer.records import Reason
from packer.similarity import METRICS, features

__all__ = ["dedup"]

DedupMetric: TypeAlias = Literal["auto", "cosine", "jaccard", "containment"]


@final
@attrs.frozen(repr=False)
class Dedup(Filter):
    name = "dedup"
    uses_kernels = True
    threshold: float = number(0.0, 1.0, above=0.0, default=0.85)
    metric: DedupMetric = choice((*METRICS, "containment"), default="auto", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        if len(pool) < 2:
            return pool
        if self.metric == "containment":
            pool, survivor, similarity = _contained(pool, self.threshold)
        else:
            pool, found = features(pool, self.metric)
            order = sealed(_order(pool))
            survivor, similarity = kernels.near_duplicates.dedup(
                *found.arrays, order, self.threshold
            )

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


def _order(pool: Pool) -> Ints:
    """The rows by score, but what a pin wants in first: it stays, so its copies go."""
    if not pool.rules:
        return best_first(pool.scores)
    return np.lexsort((-pool.scores, ~pool.pinned))


def _contained(pool: Pool, threshold: float) -> tuple[Pool, Ints, Floats]:
    """What stands inside a longer text, in which, and how much of it; survivors take the score.

    A passage that holds another is worth at least what the other is.
    """
    pool, found = features(pool, "jaccard")
    sizes = np.diff(found.indptr)
    order = sealed(np.lexsort((-pool.scores, ~pool.pinned, -sizes)))
    survivor, share = kernels.containment.drop(found.indptr, found.grams, order, threshold)
    scores = np.array(pool.scores)
    inside = np.flatnonzero(survivor >= 0)
    np.maximum.at(scores, survivor[inside], pool.scores[inside])
    return pool.rescore(scores), survivor, share


def dedup(threshold: float = 0.85, *, metric: DedupMetric = "auto") -> Filter:
    """Drop near-duplicates: in score order, what is as similar as `threshold` to a kept chunk.

    `threshold` in (0, 1]; 1.0 removes equal embeddings and equal sets of trigrams only.  `metric`
    as in `packer.similarity`.  What a `pin` before it wants in comes first.  The exclusion names the most similar kept chunk, on a tie the
    better.  Embeddings cost O(n k d) for k kept, text only the pairs that an exact prefix filter
    cannot rule out (Bayardo, Ma, Srikant 2007); memory O(n d), never n x n.  Excludes as
    `redundant`.

    ``metric="containment"`` drops a passage that stands inside another (overlapping windows): of
    which `threshold` or more of the trigrams are in a longer text that is kept; that text takes the
    better of the two scores.  O(characters) and the lists that a prefix filter looks up.

    What was dropped is listed in the survivor's `merged_from`.

    A copy that differs in one number is a near-duplicate too: where that matters, stay at 0.95
    and above.

    Raises MISSING_EMBEDDINGS, with the ids, under ``metric="cosine"``.
    """
    return Dedup(threshold, metric=metric)
