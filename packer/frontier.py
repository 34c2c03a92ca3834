"""What the same policy would pack at other budgets: total value against tokens.

A budget is a guess; the frontier says what the next thousand tokens buy.  Selectors do not grow
their choice chunk by chunk (a larger budget may trade two small chunks for a long one), so every
point is a run of the policy, and nothing is said of budgets between them.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, final

import attrs

from .budget import available
from .errors import InvalidParameter, PackError, shown
from .records import Packed

__all__ = ["Frontier", "FrontierPoint", "frontier"]

GRID: Final = 17
"""Budgets that are tried first, evenly spaced."""

MOST: Final = 64
"""Budgets that are tried in all, where the caller names none."""

MOST_RUNS_OF: Final = 2_000
"""Chunks up to which so many are tried; of more, fewer in proportion, and the grid at least."""


@final
@attrs.frozen(kw_only=True)
class FrontierPoint:
    """What is packed within one budget.

    `value`: the sum of the scores, as they came in, of the `chunks` (ids in output order; `tokens`
    is what each was charged, without overhead).  `entered` and `left`: the ids that the point before lacks, and those that
    it has and this one lacks.  `refused`: what the policy says where it cannot pack at all, say
    because of a pin that does not fit; the point is empty then.
    """

    budget: int
    tokens_used: int
    value: float
    chunks: tuple[str, ...]
    tokens: tuple[int, ...]
    entered: tuple[str, ...]
    left: tuple[str, ...]
    refused: str | None = None


@final
@attrs.frozen
class Frontier:
    """The points by budget, smallest first; `budget` is that of the result that was asked.

    >>> from packer import Chunk, pack
    >>> from strategies import knapsack
    >>> chunks = [Chunk("a", 0.9, id="a", tokens=60), Chunk("b", 0.8, id="b", tokens=50)]
    >>> for point in pack(chunks, knapsack, budget=60).frontier([110, 50, 60]):
    ...     print(point.budget, round(point.value, 3), point.entered, point.left)
    50 0.8 ('b',) ()
    60 0.9 ('a',) ('b',)
    110 1.7 ('b',) ()
    """

    points: tuple[FrontierPoint, ...]
    budget: int

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[FrontierPoint]:
        return iter(self.points)

    def __getitem__(self, place: int) -> FrontierPoint:
        return self.points[place]

    def to_dict(self) -> dict[str, Any]:
        """`{"budget": ..., "points": [...]}` as plain values that JSON can hold."""
        points = [attrs.asdict(point, value_serializer=_listed) for point in self.points]
        return {"budget": self.budget, "points": points}


def _listed(_: object, __: object, value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def frontier(
    packed: Packed,
    budgets: Iterable[int] | None = None,
    again: Callable[[int], Packed] | None = None,
) -> Frontier:
    """The frontier of a result: one run of its policy for each budget (`Packed.frontier`).

    `again`: from a budget to what is packed in it; `packed.within` when left out.

    `budgets`: ints above 0; sorted, each once.  Left out, at most 64 runs (fewer beyond 2,000
    chunks, and not under 18) look for where the pack changes between the smallest chunk and twice the budget (or all chunks, where that is less):
    17 budgets evenly spaced and the result's own, then the middle of the widest interval whose
    ends pack differently, again and again.  Points that pack the same as the one before are left
    out, except the result's own.

    Raises INVALID_BUDGET, and INVALID_PARAMETER for a result that cannot be packed again.
    """
    runs = _Runs(packed, packed.within if again is None else again)
    if budgets is not None:
        if isinstance(budgets, str) or not isinstance(budgets, Iterable):
            message = f"budgets is {shown(budgets)}; give a list of ints above 0, in tokens"
            raise InvalidParameter(message, details={"budgets": budgets})
        chosen = sorted({available(budget) for budget in budgets})
    else:
        count = packed.report.selected_count + packed.report.excluded_count
        most = max(min(MOST, MOST * MOST_RUNS_OF // max(count, 1)), GRID + 1)
        chosen = _changes(runs, *_ends(packed), packed.report.budget, most)
    points: list[FrontierPoint] = []
    for budget in chosen:
        points.append(runs.point(budget, points[-1] if points else None))
    return Frontier(tuple(points), packed.report.budget)


class _Runs:
    """What a result packs within other budgets, each run once."""

    def __init__(self, packed: Packed, again: Callable[[int], Packed]) -> None:
        if not packed.replayable:
            packed.within(1)  # raises, and says why
        self.known: dict[int, Packed | PackError] = {packed.report.budget: packed}
        self.shapes: dict[int, object] = {}
        self.again = again

    def at(self, budget: int) -> Packed | PackError:
        if budget not in self.known:
            try:
                self.known[budget] = self.again(budget)
            except PackError as error:
                self.known[budget] = error
        return self.known[budget]

    def shape(self, budget: int) -> object:
        """What is packed, to compare."""
        if budget not in self.shapes:
            found = self.at(budget)
            self.shapes[budget] = (
                found.code
                if isinstance(found, PackError)
                else [(chunk.id, chunk.tokens, chunk.charged) for chunk in found.chunks]
            )
        return self.shapes[budget]

    def point(self, budget: int, before: FrontierPoint | None) -> FrontierPoint:
        found = self.at(budget)
        refused = str(found) if isinstance(found, PackError) else None
        chunks = () if isinstance(found, PackError) else found.chunks
        ids = tuple(chunk.id for chunk in chunks)
        earlier = () if before is None else before.chunks
        old, new = set(earlier), set(ids)
        return FrontierPoint(
            budget=budget,
            tokens_used=0 if isinstance(found, PackError) else found.report.tokens_used,
            value=_total([chunk.score for chunk in chunks]),
            chunks=ids,
            tokens=tuple(chunk.charged for chunk in chunks),
            entered=tuple(id_ for id_ in ids if id_ not in old),
            left=tuple(id_ for id_ in earlier if id_ not in new),
            refused=refused,
        )


def _total(scores: list[float]) -> float:
    """Their sum, rounded once; infinite where it is beyond all floats."""
    try:
        return math.fsum(scores)
    except OverflowError:
        return sum(scores)


def _ends(packed: Packed) -> tuple[int, int]:
    """The smallest and the largest budget that are looked at."""
    report = packed.report
    tokens = [chunk.tokens for chunk in packed.chunks] + [out.tokens for out in report.excluded]
    whole = report.stages[0].tokens_in if report.stages else 0
    highest = max(report.budget, min(2 * report.budget, whole), 1)
    return max(min([*filter(None, tokens), report.budget]), 1), highest


def _changes(runs: _Runs, low: int, high: int, own: int, most: int) -> list[int]:
    """Budgets at which the pack is another than at the one before; the own one in any case."""
    steps = GRID - 1
    tried = sorted({low + (high - low) * step // steps for step in range(GRID)} | {max(own, 1)})
    while len(tried) < most:
        gaps = [
            (above - below, -below)
            for below, above in itertools.pairwise(tried)
            if above - below > 1 and runs.shape(below) != runs.shape(above)
        ]
        if not gaps:
            break
        width, below = max(gaps)
        tried.append(-below + width // 2)
        tried.sort()
    kept: list[int] = []
    for budget in tried:
        if budget == own or not kept or runs.shape(budget) != runs.shape(kept[-1]):
            kept.append(budget)
    return kept
