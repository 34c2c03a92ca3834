"""Near-duplicates: of chunks that say the same, the best stays."""

import functools
from typing import Literal, TypeAlias, final

import attrs
import numpy as np

from packer import kernels
from packer.algebra import Filter
from packer.arrays import Floats, Ints, best_first, sealed
from packer.parameters import choice, number
from packer.pool import Pool
from packer.records import Difference, Reason
from packer.rules import GUARDS, Guard
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
    guard: Guard = choice(GUARDS, default="warn", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        if len(pool) < 2:
            return pool
        pool, survivor, similarity = self._found(pool)
        if self.guard == "keep" and (survivor >= 0).any():
            pool, survivor, similarity = self._of_same_facts(pool, survivor, similarity)
        if self.metric == "containment":
            pool = _better(pool, survivor)

        def detail(row: int) -> str:
            return (
                f"similarity {similarity[row]:.4f}, limit {self.threshold:g}; "
                f"the other has score {pool.scores[survivor[row]]:.6g}"
            )

        @functools.cache  # slow, and asked by the details and by the warnings
        def differing(row: int) -> tuple[Difference, ...]:
            return self._differing(pool, int(survivor[row]), row)

        return pool.keep(
            survivor < 0,
            reason=Reason.REDUNDANT,
            detail=detail,
            redundant_with=np.maximum(survivor, 0),
            similarity=similarity,
            differences=differing if self.guard == "warn" else None,
        )

    def _found(self, pool: Pool) -> tuple[Pool, Ints, Floats]:
        """For each row the kept row that it is a near-duplicate of, or -1, and their similarity."""
        if self.metric == "containment":
            pool, found = features(pool, "jaccard")
            sizes = np.diff(found.indptr)
            order = sealed(np.lexsort((-pool.scores, ~pool.pinned, -sizes)))
            drop = kernels.containment.drop
            return pool, *drop(found.indptr, found.grams, order, self.threshold)
        pool, found = features(pool, self.metric)
        order = sealed(_order(pool))
        return pool, *kernels.near_duplicates.dedup(*found.arrays, order, self.threshold)

    def _of_same_facts(
        self, pool: Pool, survivor: Ints, similarity: Floats
    ) -> tuple[Pool, Ints, Floats]:
        """As `_found`, among rows that state the same facts; the pool notes those that are spared.

        A passage states fewer facts than the text around it, so it goes where it contradicts none.
        """
        from packer.facts import signature

        same, alike = np.full(len(pool), -1, np.int64), np.zeros(len(pool))
        undecided = np.arange(len(pool))
        if self.metric == "containment":
            agrees = survivor >= 0
            for row in np.flatnonzero(agrees).tolist():
                agrees[row] = not self._differing(pool, int(survivor[row]), row)
            same[agrees], alike[agrees] = survivor[agrees], similarity[agrees]
            undecided = np.flatnonzero((survivor >= 0) & ~agrees)
        groups: dict[tuple[str, ...], list[int]] = {}
        for row in undecided.tolist():
            text = pool.candidates.text(int(pool.table_rows[row]))
            groups.setdefault(signature(text), []).append(row)
        for members in groups.values():
            if len(members) > 1:
                rows = np.array(members, np.int64)
                _, found, alike[rows] = self._found(pool.narrowed(rows))
                same[rows] = np.where(found < 0, -1, rows[np.maximum(found, 0)])
        both = (survivor >= 0) & (same < 0) & (same[survivor] < 0)
        if both.any():
            pairs = pool.cut(
                Reason.REDUNDANT,
                np.flatnonzero(both),
                redundant_with=survivor,
                similarity=similarity,
                differences=lambda row: self._differing(pool, int(survivor[row]), row),
            )
            pool = pool.spare_both(pairs)
        return pool, same, alike

    def _differing(self, pool: Pool, kept: int, other: int) -> tuple[Difference, ...]:
        from packer.disagreements import differences

        text, rows = pool.candidates.text, pool.table_rows
        inside = self.metric == "containment"
        return differences(text(int(rows[kept])), text(int(rows[other])), inside=inside)


def _order(pool: Pool) -> Ints:
    """The rows by score, but what a pin wants in first: it stays, so its copies go."""
    if not pool.rules:
        return best_first(pool.scores)
    return np.lexsort((-pool.scores, ~pool.pinned))


def _better(pool: Pool, survivor: Ints) -> Pool:
    """The pool where a passage that holds others is worth at least what they are."""
    scores = np.array(pool.scores)
    inside = np.flatnonzero(survivor >= 0)
    np.maximum.at(scores, survivor[inside], pool.scores[inside])
    return pool.rescore(scores, calibrated=pool.calibrated)


def dedup(
    threshold: float = 0.85, *, metric: DedupMetric = "auto", guard: Guard = "warn"
) -> Filter:
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

    A copy that differs in one number is a near-duplicate too.  `guard` says what happens when the
    texts differ in numbers, dates, names or negation (English; `docs/conflicts.md`): "warn" drops
    all the same, and the report has the warning `conflict` and the pair in `conflicts`, both found
    when they are read; "keep" takes only texts that state the same facts for duplicates, which
    reads each text once, some 0.3 ms for 100 words; "off" does not look.

    Raises MISSING_EMBEDDINGS, with the ids, under ``metric="cosine"``.
    """
    return Dedup(threshold, metric=metric, guard=guard)
