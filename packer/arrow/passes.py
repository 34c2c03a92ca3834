"""What a stage does, as one pass over the candidates of all rows: the same choice and the same words.

`FILTERS`, `SELECTORS` and `ORDERS` have the stages for which there is one.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from packer import kernels
from packer.algebra import Step
from packer.arrays import Bools, Floats, Ints, frozen
from packer.disagreements import differences
from packer.outcome import differing
from packer.records import Conflict, Difference, Optimality, Reason, Warning
from strategies.dedup import Dedup
from strategies.filters import MaxCandidates, Threshold, Top
from strategies.greedy import Density, Greedy, Prefix, per_token
from strategies.knapsack import NONPOSITIVE, NOTHING, Knapsack, solved
from strategies.mmr import UNSCALED, Mmr
from strategies.orders import ByScore, Natural, Reverse, Ushape
from strategies.squeezed import squeezed

from .ledger import Excluded
from .play import Play, features

__all__ = ["FILTERS", "ORDERS", "SELECTORS", "Choice", "arranged", "rest", "warned"]

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
        *features(play, stage.metric), play.best_first(), play.offsets, stage.threshold
    )

    def out(places: Ints) -> Excluded:
        near = survivor[places]
        differ = _differences(play, near, places) if stage.guard == "warn" else {}
        told = [
            f"similarity {value:.4f}, limit {stage.threshold:g}; the other has score {score:.6g}"
            for value, score in zip(
                _told(play, similarity[places]), _told(play, play.scores[near]), strict=True
            )
        ]
        if play.details:
            for at, facts in differ.items():
                told[at] += f"; {differing(facts)}"
        found = play.out(
            repr(stage), Reason.REDUNDANT, places, told, play.at[near], similarity[places]
        )
        return attrs.evolve(found, conflicts=_conflicts(play, found, differ))

    return play.keep(survivor < 0, out)


def _differences(play: Play, near: Ints, places: Ints) -> Mapping[int, tuple[Difference, ...]]:
    """The facts in which the dropped differ from what is kept, by number among the dropped.

    It reads words, which is slow, so it is asked for the dropped alone.
    """
    if play.batch.texts is None:
        return {}
    kept, other = (
        play.batch.texts.take(pa.array(play.at[some])).to_pylist() for some in (near, places)
    )
    pairs = enumerate(zip(kept, other, strict=True))
    found = {at: differences(*pair) for at, pair in pairs if pair[0] != pair[1]}
    return {at: differ for at, differ in found.items() if differ}


def _conflicts(
    play: Play, out: Excluded, found: Mapping[int, tuple[Difference, ...]]
) -> list[tuple[int, Conflict]]:
    """The conflicts of what is out, each with its row."""
    assert out.near is not None  # they are near-duplicates
    name = play.batch.id
    return [
        (
            int(out.rows[at]),
            Conflict(
                out.stage,
                name(int(out.near[at])),
                name(int(out.at[at])),
                dropped=True,
                similarity=float(out.similarity[at]),
                differences=differ,
            ),
        )
        for at, differ in found.items()
    ]


def _told(play: Play, numbers: Floats) -> list[float]:
    return numbers.tolist() if play.details else []


def _joined(play: Play, before: str, numbers: Ints, after: str) -> Any:
    """Texts with a number in each, made by Arrow."""
    if not play.details:
        return []
    return pc.binary_join_element_wise(before, pa.array(numbers).cast(pa.string()), after, "")


# -- selectors ------------------------------------------------------------------------------


@final
@attrs.frozen(eq=False)
class Choice:
    """The places chosen, row after row in selection order, and where each row ends.

    `optimality`: how good the choice of each row is known to be, from selectors that know it.
    """

    chosen: Ints
    ends: Ints
    optimality: Sequence[Optimality] | None = None


def _down(play: Play, order: Ints, *, stop: bool = False) -> Choice:
    return Choice(
        *kernels.batches.fill(frozen(order), play.costs, play.offsets, play.budgets, stop)
    )


def _greedy(play: Play, _: Greedy) -> Choice:
    return _down(play, play.best_first())


def _prefix(play: Play, _: Prefix) -> Choice:
    return _down(play, play.best_first(), stop=True)


def _density(play: Play, _: Density) -> Choice:
    worth = per_token(play.scores, play.costs)
    return _down(play, np.lexsort((-play.scores, -worth, play.rows)))


def _mmr(play: Play, stage: Mmr) -> Choice:
    columns = play.scores, play.costs, play.offsets, play.budgets
    return Choice(*kernels.batches.mmr(*columns, stage.lambda_, *features(play, stage.metric)))


def _knapsack(play: Play, _: Knapsack) -> Choice:
    """Row by row, as each is a search of its own."""
    parts, known, sizes = [np.empty(0, np.int64)], [], [0]
    for row, (start, end) in enumerate(itertools.pairwise(play.offsets.tolist())):
        costs = play.costs[start:end]
        capacity = min(int(play.budgets[row]), int(np.add.reduce(costs)))
        chosen, optimality = solved(play.scores[start:end], costs, capacity)
        parts.append(chosen + start)
        known.append(optimality)
        sizes.append(len(chosen))
    return Choice(np.concatenate(parts), np.cumsum(sizes), known)


def warned(play: Play, stage: Step[Any, Any]) -> dict[int, list[Warning]]:
    """What a selector warns of, by row."""
    found: dict[int, list[Warning]] = {}
    if isinstance(stage, Mmr):
        warning = Warning("unscaled-scores", UNSCALED)
        found = {row: [warning] for row in np.flatnonzero(_unscaled(play, stage)).tolist()}
    if isinstance(stage, Density | Knapsack):
        for row, (start, end) in enumerate(itertools.pairwise(play.offsets.tolist())):
            columns = play.scores[start:end], play.costs[start:end]
            told = squeezed(*columns, int(play.budgets[row]), repr(stage)) if start < end else None
            if told is not None:
                found[row] = [Warning("squeezed-scores", told)]
    if isinstance(stage, Knapsack):
        worthless = np.diff(play.offsets) > 0
        worthless[play.rows[play.scores > 0]] = False
        warning = Warning("nonpositive-scores", NONPOSITIVE)
        for row in np.flatnonzero(worthless).tolist():
            found.setdefault(row, []).append(warning)
    return found


def _unscaled(play: Play, stage: Mmr) -> Bools:
    found = np.zeros(len(play.batch), np.bool_)
    if 0.0 < stage.lambda_ < 1.0:
        found[play.rows[np.abs(play.scores) > 1.0]] = True
    return found & (np.diff(play.offsets) > 1)


def rest(play: Play, stage: Step[Any, Any], choice: Choice) -> tuple[list[Excluded], Ints]:
    """What was not chosen, and int64[r], what was spent on the chosen."""
    taken = np.zeros(len(play.at), np.bool_)
    taken[choice.chosen] = True
    used = np.zeros(len(play.batch), np.int64)
    np.add.at(used, play.rows[choice.chosen], play.costs[choice.chosen])
    out = np.flatnonzero(~taken)
    left = (play.budgets - used)[play.rows[out]]
    fits = play.costs[out] <= left
    short = _joined(play, "needs ", (play.costs[out] - left)[~fits], " more tokens")
    told: Any = [short, []]
    if isinstance(stage, Prefix) and play.details:
        told = _behind(play, out, fits, short, np.diff(choice.ends), used)
    if isinstance(stage, Knapsack) and play.details:
        told = [_or_worthless(play, out[~fits], short), _fitting(play, out[fits], left[fits])]
    parts = zip((Reason.BUDGET, Reason.STRATEGY), (out[~fits], out[fits]), told, strict=True)
    return [play.out(repr(stage), *part) for part in parts], used


def _or_worthless(play: Play, places: Ints, told: Any) -> Any:
    """What `knapsack` says of these: that they add nothing, or what is told."""
    return pc.if_else(pa.array(play.scores[places] > 0), told, NOTHING)


def _fitting(play: Play, places: Ints, left: Ints) -> Any:
    """What `knapsack` says of what would fit."""
    costs = _joined(play, "its ", play.costs[places], " tokens would fit in the ")
    rooms = _joined(play, "", left, " left")
    return _or_worthless(play, places, pc.binary_join_element_wise(costs, rooms, ""))


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


def arranged(play: Play, order: Step[Any, Any] | None, choice: Choice) -> Ints:
    """The places chosen in output order, row after row."""
    chosen, ends = choice.chosen, choice.ends
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


# -- tables ---------------------------------------------------------------------------------

FILTERS: Final[Mapping[type, Callable[[Play, Any], Play]]] = {
    Threshold: _threshold,
    MaxCandidates: _max_candidates,
    Top: _top,
    Dedup: _dedup,
}
SELECTORS: Final[Mapping[type, Callable[[Play, Any], Choice]]] = {
    Greedy: _greedy,
    Prefix: _prefix,
    Density: _density,
    Mmr: _mmr,
    Knapsack: _knapsack,
}
ORDERS: Final = (Natural, ByScore, Ushape, Reverse)
