"""The candidates of all rows of a batch that are in play, as columns, and what is made of them."""

import itertools
from collections.abc import Callable
from typing import Any, Final, final

import attrs
import numpy as np
import pyarrow as pa

from packer.arrays import Bools, Floats, Ints, Vectors, frozen, sealed, squares
from packer.records import Reason
from packer.similarity import take_trigrams, trigrams_of, unit_vectors

from .ledger import Excluded
from .retrieved import Retrieved

__all__ = ["Play", "features"]

TABLE: Final = 32
"""Rows whose trigrams are numbered together."""


@final
@attrs.frozen(eq=False, kw_only=True)
class Play:
    """The candidates in play, n of them, row after row.

    `at` int64[n] are their places among all of the batch, `rows` int64[n] their rows; `scores`
    and `costs` as in a pool; `budgets` int64[r].
    """

    batch: Retrieved
    at: Ints
    rows: Ints
    scores: Floats
    costs: Ints
    budgets: Ints
    details: bool
    excluded: tuple[Excluded, ...] = ()
    _made: dict[str, Any] = attrs.field(factory=dict, repr=False)

    @property
    def offsets(self) -> Ints:
        """int64[r + 1]: where each row begins."""
        return sealed(np.searchsorted(self.rows, np.arange(len(self.batch) + 1)))

    @property
    def local(self) -> Ints:
        """int64[n]: the number of each among those in play of its row."""
        return np.arange(len(self.rows)) - self.offsets[self.rows]

    @property
    def embedded(self) -> Bools:
        """bool[n]: which have an embedding."""
        offsets = self.batch.vector_offsets
        if offsets is None:
            return np.zeros(len(self.at), np.bool_)
        return np.diff(offsets)[self.at] > 0

    def made(
        self, name: str, make: Callable[["Play"], Any], take: Callable[[Any, Ints], Any]
    ) -> Any:
        """A column made once; what is narrowed from this takes its places from it."""
        if name not in self._made:
            self._made[name] = self.at, make(self)
        at, column = self._made[name]
        return column if at is self.at else take(column, np.searchsorted(at, self.at))

    def best_first(self) -> Ints:
        """int64[n]: by score within each row; equal scores keep their order."""
        return sealed(np.lexsort((-self.scores, self.rows)))

    def out(
        self,
        stage: str,
        reason: Reason,
        places: Ints,
        details: Any,
        near: Any = None,
        similarity: Any = None,
    ) -> Excluded:
        """The exclusion of these places."""
        at = self.at[places]
        return Excluded(
            rows=self.rows[places],
            at=at,
            tokens=self.batch.tokens[at],
            reason=reason,
            stage=stage,
            details=details,
            near=near,
            similarity=similarity,
        )

    def keep(self, mask: Bools, excluded: Callable[[Ints], Excluded]) -> "Play":
        """Those where `mask` is true; the others are excluded."""
        if mask.all():
            return self
        kept = np.flatnonzero(mask)
        return attrs.evolve(
            self,
            at=self.at[kept],
            rows=self.rows[kept],
            scores=sealed(self.scores[kept]),
            costs=sealed(self.costs[kept]),
            excluded=(*self.excluded, excluded(np.flatnonzero(~mask))),
        )


def features(play: Play, metric: str) -> tuple[Vectors, Bools, Ints, Any]:
    """The columns of `packer.similarity.Features` of all that is in play."""
    embedded = play.embedded if metric != "jaccard" else np.zeros(len(play.at), np.bool_)
    unit = np.zeros((len(play.at), 0), np.float32)
    if embedded.any():
        unit = play.made("unit", _unit, lambda unit, kept: unit[kept])
    if embedded.all():
        indptr, grams = np.zeros(len(play.at) + 1, np.int64), np.empty(0, np.int32)
    else:
        name = "trigrams of all" if metric == "jaccard" else "trigrams"
        bare = ~embedded
        indptr, grams = play.made(name, lambda play: _trigrams(play, bare), take_trigrams)
    return frozen(unit), frozen(embedded), frozen(indptr), frozen(grams)


def _unit(play: Play) -> Vectors:
    """float32[n, d]: the embeddings at length 1, rows of zeros where there is none."""
    flat, offsets = play.batch.vectors, play.batch.vector_offsets
    assert flat is not None and offsets is not None  # or nothing is embedded  # noqa: PT018
    embedded = play.embedded
    starts = offsets[play.at[embedded]]
    dimension = int(np.diff(offsets)[play.at].max(initial=0))
    if embedded.all() and len(flat) == len(play.at) * dimension:
        vectors = flat.reshape(-1, dimension)
        return unit_vectors(vectors, squares(vectors))[0]
    unit = np.zeros((len(play.at), dimension), np.float32)
    vectors = flat[starts[:, None] + np.arange(dimension)]
    unit[embedded] = unit_vectors(vectors, squares(vectors))[0]
    return unit


def _trigrams(play: Play, wanted: Bools) -> tuple[Ints, Any]:
    """The trigrams of these texts; those of the others, which nobody compares, are of none.

    Some rows at a time, whose table of trigrams the processor's cache can hold: texts of different
    rows are not compared, so their trigrams need not have one numbering.
    """
    texts = np.full(len(play.at), "", object)
    texts[wanted] = play.batch.texts.take(pa.array(play.at[wanted])).to_pylist()
    indptrs, sets, total = [np.zeros(1, np.int64)], [np.empty(0, np.int32)], 0
    starts = play.offsets[::TABLE].tolist()
    for start, end in itertools.pairwise([*starts, len(texts)]):
        if start < end:
            indptr, grams = trigrams_of(texts[start:end].tolist())
            indptrs.append(indptr[1:] + total)
            sets.append(grams)
            total += len(grams)
    return np.concatenate(indptrs), np.concatenate(sets)
