"""Policies of the commonest stages, run on all rows of a batch at once.

Per row even a short policy costs some fifty calls of numpy; here a stage is one pass over the
candidates of all rows.  It gives what the stage itself gives, reasons and details included, and
what it has no pass for is left to the stages, row by row:

    threshold  max_candidates  top  dedup | greedy  prefix  density  mmr | natural  by_score
    ushape  reverse
"""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from packer import kernels
from packer.algebra import Policy, Step, steps_of
from packer.arrays import Bools, Floats, Ints, Vectors, frozen, sealed, squares
from packer.call import Call
from packer.intake import constant_scores, estimates
from packer.records import Reason, Warning
from packer.similarity import take_trigrams, trigrams_of, unit_vectors
from packer.tokens import is_estimate
from strategies.dedup import Dedup
from strategies.filters import MaxCandidates, Threshold, Top
from strategies.greedy import Density, Greedy, Prefix, per_token
from strategies.mmr import UNSCALED, Mmr
from strategies.orders import ByScore, Natural, Reverse, Ushape

from .ledger import Excluded, Ledger, Picked
from .retrieved import Retrieved

__all__ = ["Program", "program"]

MOST: Final = 256
"""Candidates of a row up to which every pair is compared; with more, the stages' own ways win."""

TABLE: Final = 32
"""Rows whose trigrams are numbered together."""

UNLIMITED: Final = 2**62


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


# -- filters --------------------------------------------------------------------------------


def _threshold(play: Play, stage: Threshold) -> Play:
    floor = f"floor {stage.floor:.6g}"

    def out(places: Ints) -> Excluded:
        told = [f"score {score:.6g}, {floor}" for score in _told(play, play.scores[places])]
        return play.out(repr(stage), Reason.BELOW_THRESHOLD, places, told)

    return play.keep(play.scores >= stage.floor, out)


def _max_candidates(play: Play, stage: MaxCandidates) -> Play:
    number = play.local

    def out(places: Ints) -> Excluded:
        told = _joined(play, "number ", number[places] + 1, f" in input order, limit {stage.n}")
        return play.out(repr(stage), Reason.MAX_CANDIDATES, places, told)

    return play.keep(number < stage.n, out)


def _top(play: Play, stage: Top) -> Play:
    rank = np.empty(len(play.at), np.int64)
    rank[play.best_first()] = play.local

    def out(places: Ints) -> Excluded:
        told = _joined(play, "rank ", rank[places] + 1, f" by score, limit {stage.n}")
        return play.out(repr(stage), Reason.MAX_CANDIDATES, places, told)

    return play.keep(rank < stage.n, out)


def _dedup(play: Play, stage: Dedup) -> Play:
    survivor, similarity = kernels.batches.dedup(
        *_features(play, stage.metric), play.best_first(), play.offsets, stage.threshold
    )

    def out(places: Ints) -> Excluded:
        near = survivor[places]
        told = [
            f"similarity {value:.4f}, limit {stage.threshold:g}; the other has score {score:.6g}"
            for value, score in zip(
                _told(play, similarity[places]), _told(play, play.scores[near]), strict=True
            )
        ]
        return play.out(
            repr(stage), Reason.REDUNDANT, places, told, play.at[near], similarity[places]
        )

    return play.keep(survivor < 0, out)


def _told(play: Play, numbers: Floats) -> list[float]:
    return numbers.tolist() if play.details else []


def _joined(play: Play, before: str, numbers: Ints, after: str) -> Any:
    """Texts with a number in each, made by Arrow."""
    if not play.details:
        return []
    return pc.binary_join_element_wise(before, pa.array(numbers).cast(pa.string()), after, "")


# -- features -------------------------------------------------------------------------------


def _features(play: Play, metric: str) -> tuple[Vectors, Bools, Ints, Any]:
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
    dimension = int(np.diff(offsets).max(initial=0))
    if len(flat) == len(play.at) * dimension:
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


# -- selectors ------------------------------------------------------------------------------

Choice: TypeAlias = tuple[Ints, Ints]
"""The places chosen, row after row in selection order, and where each row ends."""


def _down(play: Play, order: Ints, *, stop: bool = False) -> Choice:
    return kernels.batches.fill(frozen(order), play.costs, play.offsets, play.budgets, stop)


def _greedy(play: Play, _: Greedy) -> Choice:
    return _down(play, play.best_first())


def _prefix(play: Play, _: Prefix) -> Choice:
    return _down(play, play.best_first(), stop=True)


def _density(play: Play, _: Density) -> Choice:
    worth = per_token(play.scores, play.costs)
    return _down(play, np.lexsort((-play.scores, -worth, play.rows)))


def _mmr(play: Play, stage: Mmr) -> Choice:
    return kernels.batches.mmr(
        play.scores,
        play.costs,
        play.offsets,
        play.budgets,
        stage.lambda_,
        *_features(play, stage.metric),
    )


def _unscaled(play: Play, stage: Mmr) -> Bools:
    """bool[r]: the rows of which `mmr` warns."""
    found = np.zeros(len(play.batch), np.bool_)
    if 0.0 < stage.lambda_ < 1.0:
        found[play.rows[np.abs(play.scores) > 1.0]] = True
    return found & (np.diff(play.offsets) > 1)


def _rest(play: Play, stage: Step[Any, Any], choice: Choice) -> tuple[list[Excluded], Ints]:
    """What was not chosen, and int64[r], what was spent on the rest."""
    chosen, ends = choice
    taken = np.zeros(len(play.at), np.bool_)
    taken[chosen] = True
    used = np.zeros(len(play.batch), np.int64)
    np.add.at(used, play.rows[chosen], play.costs[chosen])
    out = np.flatnonzero(~taken)
    left = (play.budgets - used)[play.rows[out]]
    fits = play.costs[out] <= left
    short = _joined(play, "needs ", (play.costs[out] - left)[~fits], " more tokens")
    told: Any = [short, []]
    if isinstance(stage, Prefix) and play.details:
        told = _behind(play, out, fits, short, np.diff(ends), used)
    parts = zip((Reason.BUDGET, Reason.STRATEGY), (out[~fits], out[fits]), told, strict=True)
    return [play.out(repr(stage), *part) for part in parts], used


def _behind(play: Play, out: Ints, fits: Bools, short: Any, sizes: Ints, used: Ints) -> list[Any]:
    """What `prefix` says of what it left, of what does not fit and of the rest.

    `short` is what the chunk says where it stopped; all others name that one.
    """
    offsets, order = play.offsets, play.best_first()
    words: list[str | None] = [None] * len(play.batch)
    stops = np.full(len(play.batch), -1)
    for row in np.flatnonzero(sizes < np.diff(offsets)).tolist():
        stop = int(order[offsets[row] + sizes[row]])
        name = play.batch.id(int(play.at[stop]))
        lacking = int(used[row] + play.costs[stop] - play.budgets[row])
        words[row] = f"prefix stopped at {name!r}, which needs {lacking} more"
        stops[row] = stop
    texts = pa.array(words, pa.string()).take(pa.array(play.rows[out]))
    own = pa.array((stops[play.rows[out]] == out)[~fits])
    return [
        pc.if_else(own, short, texts.filter(pa.array(~fits))),
        texts.filter(pa.array(fits)),
    ]


# -- orders ---------------------------------------------------------------------------------


def _arranged(play: Play, order: Step[Any, Any] | None, choice: Choice) -> Ints:
    """The places chosen in output order, row after row."""
    chosen, ends = choice
    if order is None or isinstance(order, Natural):
        return chosen
    rows = play.rows[chosen]
    if not isinstance(order, Reverse):
        chosen = chosen[np.lexsort((chosen, -play.scores[chosen], rows))]
    if isinstance(order, ByScore):
        return chosen
    begin, size = ends[:-1][rows], np.diff(ends)[rows]
    rank = np.arange(len(chosen)) - begin
    place = size - 1 - rank
    if isinstance(order, Ushape):
        place = np.where(rank % 2 == 0, rank // 2, size - 1 - rank // 2)
    arranged = np.empty_like(chosen)
    arranged[begin + place] = chosen
    return arranged


# -- programs -------------------------------------------------------------------------------

_FILTERS: Final[Mapping[type, Callable[[Play, Any], Play]]] = {
    Threshold: _threshold,
    MaxCandidates: _max_candidates,
    Top: _top,
    Dedup: _dedup,
}
_SELECTORS: Final[Mapping[type, Callable[[Play, Any], Choice]]] = {
    Greedy: _greedy,
    Prefix: _prefix,
    Density: _density,
    Mmr: _mmr,
}
_ORDERS: Final = (Natural, ByScore, Ushape, Reverse)


@final
@attrs.frozen
class Program:
    """A policy that runs on all rows at once."""

    filters: tuple[Step[Any, Any], ...]
    selector: Step[Any, Any]
    order: Step[Any, Any] | None

    @property
    def metrics(self) -> frozenset[str]:
        """The metrics by which it compares."""
        stages = (*self.filters, self.selector)
        return frozenset(stage.metric for stage in stages if isinstance(stage, Dedup | Mmr))

    def takes(self, batch: Retrieved) -> Bools:
        """bool[r]: the rows that it can run on; it compares all their pairs, as the stages would."""
        sizes = np.diff(batch.offsets)
        fine = batch.usual & batch.given & (sizes <= MOST)
        if batch.uncounted is not None:
            fine &= batch.counted == 0
        if not self.metrics:
            return fine
        embedded = np.zeros(len(batch), np.bool_)
        if batch.vector_offsets is not None:
            lengths = np.diff(batch.vector_offsets)
            first = np.minimum(batch.offsets[:-1], max(len(lengths) - 1, 0))
            length = (
                lengths[first] * (sizes > 0) if len(lengths) else np.zeros(len(batch), np.int64)
            )
            embedded = length > 0
            fine &= ~embedded | (length == length.max(initial=0))
        if "cosine" in self.metrics:
            fine &= embedded
        if batch.texts is None:
            fine &= embedded if "jaccard" not in self.metrics else False
        return fine

    def run(self, batch: Retrieved, ledger: Ledger, rows: Bools, budgets: Ints, call: Call) -> None:
        """Pack these rows (bool[r]) and enter the outcome; `budgets` int64[r]."""
        row_of = batch.row_of
        at = np.flatnonzero(rows[row_of])
        start = Play(
            batch=batch,
            at=at,
            rows=row_of[at],
            scores=sealed(batch.scores[at]),
            costs=sealed(batch.tokens[at] + call.overhead),
            budgets=budgets,
            details=ledger.details,
        )
        play = start
        for stage in self.filters:
            play = _FILTERS[type(stage)](play, stage)
        choice = _SELECTORS[type(self.selector)](play, self.selector)
        rest, used = _rest(play, self.selector, choice)
        shown = play.at[_arranged(play, self.order, choice)]
        picked = Picked(row_of[shown], shown, batch.tokens[shown])
        numbers = np.flatnonzero(rows)
        ledger.add(picked, [*play.excluded, *rest], numbers, used[numbers])
        self._warn(start, play, ledger, rows, call)

    def _warn(self, start: Play, play: Play, ledger: Ledger, rows: Bools, call: Call) -> None:
        """Enter the warnings of intake, and of `mmr`."""
        batch = start.batch
        counted = batch.counted if is_estimate(call.count_tokens) else np.zeros_like(batch.counted)
        constant = _constant(start)
        unscaled = np.zeros(len(batch), np.bool_)
        if isinstance(self.selector, Mmr):
            unscaled = _unscaled(play, self.selector)
        for row in np.flatnonzero(rows & ((counted > 0) | constant | unscaled)).tolist():
            begin, end = batch.offsets[row : row + 2].tolist()
            told = []
            if counted[row]:
                told.append(estimates(int(counted[row]), end - begin, call.count_tokens))
            if constant[row]:
                told.append(constant_scores(end - begin, batch.scores[begin]))
            if unscaled[row]:
                told.append(Warning("unscaled-scores", UNSCALED))
            ledger.warn(row, told)


def _constant(play: Play) -> Bools:
    """bool[r]: the rows of several candidates that all have one score."""
    offsets = play.offsets
    sizes = np.diff(offsets)
    found = sizes > 1
    if found.any():
        begins = offsets[:-1][sizes > 0]
        least = np.minimum.reduceat(play.scores, begins)
        found[sizes > 0] &= least == np.maximum.reduceat(play.scores, begins)
    return found


def program(policy: Policy) -> Program | None:
    """The policy as one that runs on all rows at once; None where a stage has no pass for that."""
    steps = list(steps_of(policy))
    order = steps.pop() if isinstance(steps[-1], _ORDERS) else None
    *filters, selector = steps
    if type(selector) not in _SELECTORS or any(type(stage) not in _FILTERS for stage in filters):
        return None
    if any(isinstance(stage, Dedup) and stage.metric == "containment" for stage in filters):
        return None
    return Program(tuple(filters), selector, order)
