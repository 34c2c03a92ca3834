"""Policies of the commonest stages, run on all rows of a batch at once.

Per row even a short policy costs some fifty calls of numpy; here a stage is one pass over the
candidates of all rows.  It gives what the stage itself gives, reasons and details included, and
what it has no pass for is left to the stages, row by row:

    threshold  max_candidates  top  dedup | greedy  prefix  density  mmr  knapsack | natural
    by_score  ushape  reverse
"""

from typing import Any, Final, final

import attrs
import numpy as np

from packer.algebra import Policy, Step, steps_of
from packer.arrays import Bools, Ints, sealed
from packer.call import Call
from packer.intake import constant_scores, estimates
from packer.outcome import conflict_warnings
from packer.records import Conflict
from packer.tokens import is_estimate
from strategies.dedup import Dedup
from strategies.mmr import Mmr

from .ledger import Ledger, Picked
from .passes import FILTERS, ORDERS, SELECTORS, arranged, rest, warned
from .play import Play
from .retrieved import Retrieved

__all__ = ["UNLIMITED", "Program", "program"]

MOST: Final = 256
"""Candidates of a row up to which every pair is compared; with more, the stages' own ways win."""

UNLIMITED: Final = 2**62
"""A budget that no row can use up."""


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
            play = FILTERS[type(stage)](play, stage)
        choice = SELECTORS[type(self.selector)](play, self.selector)
        left, used = rest(play, self.selector, choice)
        shown = play.at[arranged(play, self.order, choice)]
        picked = Picked(row_of[shown], shown, batch.tokens[shown])
        numbers = np.flatnonzero(rows)
        ledger.add(picked, [*play.excluded, *left], numbers, used[numbers])
        if choice.optimality is not None:
            for row in numbers.tolist():
                ledger.judge(row, choice.optimality[row])
        self._warn(start, play, ledger, rows, call)

    def _warn(self, start: Play, play: Play, ledger: Ledger, rows: Bools, call: Call) -> None:
        """Enter the warnings of intake, those of the selector, and of the dropped that differ."""
        batch = start.batch
        counted = batch.counted if is_estimate(call.count_tokens) else np.zeros_like(batch.counted)
        constant = _constant(start)
        more = warned(play, self.selector)
        conflicts: dict[int, list[Conflict]] = {}
        for part in play.excluded:
            for row, conflict in part.conflicts:
                conflicts.setdefault(row, []).append(conflict)
        for row, found in conflicts.items():
            more[row] = [*more.get(row, ()), *conflict_warnings(found)]
        rows = rows & ((counted > 0) | constant)
        for row in sorted({*np.flatnonzero(rows).tolist(), *more}):
            begin, end = batch.offsets[row : row + 2].tolist()
            told = []
            if counted[row]:
                told.append(estimates(int(counted[row]), end - begin, call.count_tokens))
            if constant[row]:
                told.append(constant_scores(end - begin, batch.scores[begin]))
            ledger.warn(row, [*told, *more.get(row, ())])


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


def _is_plain(stage: Dedup) -> bool:
    """Whether it drops by similarity alone."""
    return stage.metric != "containment" and stage.guard != "keep"


def program(policy: Policy) -> Program | None:
    """The policy as one that runs on all rows at once; None where a stage has no pass for that."""
    steps = list(steps_of(policy))
    order = steps.pop() if isinstance(steps[-1], ORDERS) else None
    *filters, selector = steps
    if type(selector) not in SELECTORS or any(type(stage) not in FILTERS for stage in filters):
        return None
    if any(isinstance(stage, Dedup) and not _is_plain(stage) for stage in filters):
        return None
    return Program(tuple(filters), selector, order)
