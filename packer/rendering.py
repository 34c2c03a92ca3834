"""The text that is sent: written by the template, counted as a whole, and made to fit.

The count of a whole is not the sum of its parts: joins may cost more, or merge.  So the text is
counted with the caller's own counter; while it is too long the least valuable chunk goes, and
where it is shorter than was charged, the selector chooses again with what was gained.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, final

import attrs
import numpy as np

from .arrays import Ints, sealed
from .charging import form
from .columns import Candidates, Cut
from .errors import Infeasible, OverBudget
from .needing import children, closed
from .pool import Pool
from .quotas import unmet
from .records import Reason
from .selection import Layout, Selection
from .tokens import count

__all__ = ["Rendered", "fitted"]

TRIES: Final = 3
"""How often a choice is improved by what the joins gained, and how often a cut is made shorter."""


@final
@attrs.frozen(eq=False)
class Rendered:
    """A selection, its layout, the text of that, and what the text costs.

    `candidates` are those that the selector was given, before it cut one.
    """

    selection: Selection
    layout: Layout
    text: str
    tokens: int
    candidates: Candidates

    @property
    def used(self) -> int:
        """The tokens of the text and the overhead of its chunks."""
        return self.tokens + len(self.layout) * self.layout.pool.call.overhead

    @property
    def charged(self) -> int:
        """What its chunks were charged."""
        return int(self.layout.selection.costs.sum())

    @property
    def saved(self) -> int:
        """What a join saved, on average and rounded up; 0 where joins cost as much as charged."""
        call = self.layout.pool.call
        gain = self.charged + call.fixed - call.between - self.used
        return max(-(-gain // (len(self.layout) - 1)), 0) if len(self.layout) > 1 else 0

    @property
    def shortened(self) -> bool:
        """Whether the selector cut a chunk to fill what remained."""
        return self.layout.pool.candidates is not self.candidates

    @property
    def over(self) -> int:
        """By how much that is above the caller's budget; negative where there is room."""
        return self.used - self.layout.pool.call.limit if len(self.layout) else -self.limit

    @property
    def told(self) -> str:
        """What to say of a chunk that has to go."""
        return f"rendered text: {self.used} tokens with it, budget {self.limit}"

    @property
    def limit(self) -> int:
        """The caller's budget."""
        return max(self.layout.pool.call.limit, 0)


def fitted(
    pool: Pool, choose: Callable[[Pool], Selection], arrange: Callable[[Selection], Layout]
) -> Rendered:
    """What the selector `choose` and the order `arrange` make of a pool, as a text that fits.

    The count of the text, with the overhead of each chunk, is never above the caller's budget,
    whatever the counter.  Usually one count of the text.  A repair of d chunks costs some
    log2(d) more; each new choice, of which there are at most 2 * TRIES, costs one.
    """
    found = _shown(pool, choose, arrange, pool.call.budget)
    for _ in range(TRIES):
        better = _better(found, lambda room: _shown(pool, choose, arrange, room, repair=False))
        if better is None:
            break
        found = better
    return found


def _better(found: Rendered, shown: Callable[[int], Rendered]) -> Rendered | None:
    """What the selector chooses with the room that is left, joins as cheap as they were so far.

    None where nothing that it left out would fit in there, or where that text does not fit.
    """
    free, costs, pool = -found.over, _left_out(found.layout), found.layout.pool
    for room in dict.fromkeys((free + found.saved, free)):
        dear = not pool.overlapping and not (costs <= room).any()
        if not found.shortened and dear:
            continue
        again = shown(found.charged + room)
        same = set(again.layout.table_rows) == set(found.layout.table_rows)
        if again.over <= 0 and not (same and again.used <= found.used):
            return again
    return None


def _left_out(layout: Layout) -> Ints:
    """What each row that the selector left out for the budget costs."""
    pool = layout.pool
    out = [cut.rows for cut in pool.cuts if cut.reason is Reason.BUDGET]
    return (
        pool.costs[np.isin(pool.table_rows, np.concatenate(out))] if out else np.empty(0, np.int64)
    )


def _shown(
    pool: Pool,
    choose: Callable[[Pool], Selection],
    arrange: Callable[[Selection], Layout],
    budget: int,
    *,
    repair: bool = True,
) -> Rendered:
    """The text when the selector may charge `budget`; `repair`: made to fit where it does not."""
    pool = pool.within(budget)
    spare = 0

    def rendered(selection: Selection) -> Rendered:
        return _rendered(pool.candidates, selection, arrange(selection))

    pool, selection = _chosen(pool, choose) if repair else (pool, choose(pool))
    found = rendered(selection)
    for _ in range(TRIES):
        if found.over <= 0 or not found.shortened:
            break  # it fits, or nothing was cut that could be cut shorter
        spare += found.over
        found = rendered(choose(pool.spare(spare)))
    if repair and found.over > 0 and pool.bound:
        found = _chosen_again(found, pool, lambda fewer: rendered(choose(fewer)))
    while repair and found.over > 0:
        found = _repaired(found, rendered)
    return found


def _chosen(pool: Pool, choose: Callable[[Pool], Selection]) -> tuple[Pool, Selection]:
    """The choice, and the pool with more room where its rules hold in no less.

    What must be in may be charged more than its text costs: joins merge, and positions are
    narrower.  So it is chosen with the least room that it can be, and the text decides.

    Raises what `choose` raises where no room is enough.
    """
    try:
        return pool, choose(pool)
    except (Infeasible, OverBudget):
        least, most = pool.call.budget + 1, int(pool.costs.sum())
        if least > most:
            raise
    found = choose(pool.within(most))
    while least < most:
        middle = (least + most) // 2
        try:
            found, most = choose(pool.within(middle)), middle
        except (Infeasible, OverBudget):
            least = middle + 1
    return pool.within(most), found


def _chosen_again(found: Rendered, pool: Pool, rendered: Callable[[Pool], Rendered]) -> Rendered:
    """What the selector chooses without its least valuable chunks, so that every rule holds.

    They leave the pool one by one, each with what needs it, and the room that they had with them;
    one that the rules want in stays.  Of these groups the one of the least total score goes
    first, of equals the later.  Then those that can come back do, the best first.  Some three
    choices and three counts at most for each chunk that is or was in.

    Raises OVER_BUDGET where what must be in does not fit as text.
    """
    pool = pool.at(found.selection.pool.stage)
    best, needing, gone, staying = found, children(pool), dict[int, str](), set[int]()
    while best.over > 0:
        for group in _groups(best, pool, needing):
            if not staying.isdisjoint(group):
                continue
            told = f"needs {pool.candidates.id(group[0])!r}, which had to go: {best.told}"
            without = {**dict.fromkeys(group, told), group[0]: best.told, **gone}
            again = _again(best, pool, without, rendered)
            if again is None:
                staying.add(group[0])
                continue
            best, gone = again, without
            break
        else:
            raise _over(best)
    return _come_back(found, best, pool, gone, rendered)


def _come_back(
    found: Rendered,
    best: Rendered,
    pool: Pool,
    gone: Mapping[int, str],
    rendered: Callable[[Pool], Rendered],
) -> Rendered:
    """The text with what had to go and fits after all; the best first, for less where need be."""
    scores, needing = _scores(pool), children(pool)
    for row in sorted(found.layout.table_rows.tolist(), key=lambda row: (-scores[row], row)):
        if row not in gone:
            continue
        back = {row, *(other for other in gone if row in closed(other, needing))}
        without = {other: told for other, told in gone.items() if other not in back}
        again = _again(best, pool, without, rendered)
        wanted = {*best.layout.table_rows.tolist(), row}
        if again and again.over <= 0 and wanted.issubset(again.layout.table_rows.tolist()):
            best, gone = again, without
            continue
        told = f"its room went to {pool.candidates.id(row)!r}, which is worth more"
        less = {
            child: told
            for other in best.layout.table_rows.tolist()
            if scores[other] < scores[row] and row not in closed(other, needing)
            for child in closed(other, needing)
        }
        again = _again(best, pool, {**less, **without}, rendered) if less else None
        if again and again.over <= 0 and _worth(again) > _worth(best):
            best, gone = again, {**less, **without}
    return best


def _scores(pool: Pool) -> Mapping[int, float]:
    """The current score of each row of the table."""
    return dict(zip(pool.table_rows.tolist(), pool.scores.tolist(), strict=True))


def _worth(found: Rendered) -> float:
    return math.fsum(found.layout.scores.tolist())


def _again(
    found: Rendered, pool: Pool, gone: Mapping[int, str], rendered: Callable[[Pool], Rendered]
) -> Rendered | None:
    """What is chosen without the rows of the table that are gone, each with what to say of it.

    In the room that the others of the text found have, and what was gone and is not any more.
    None where a rule wants one of them in.
    """
    rows = pool.table_rows.tolist()
    out = np.isin(pool.table_rows, list(gone))
    fewer = pool.keep(~out, reason=Reason.BUDGET, detail=lambda row: gone[rows[row]])
    if len(fewer) > len(pool) - len(gone):
        return None  # one of them is pinned
    before = np.isin(pool.table_rows, found.layout.table_rows)
    back = ~np.isin(pool.table_rows, found.layout.pool.table_rows) & ~out
    try:
        again = rendered(fewer.within(int(pool.costs[(before & ~out) | back].sum())))
    except (Infeasible, OverBudget):
        return None
    return None if unmet(pool, again.layout.table_rows) else again


def _groups(
    found: Rendered, pool: Pool, needing: Mapping[int, Sequence[int]]
) -> list[tuple[int, ...]]:
    """What can go together, the least valuable first, as rows of the table.

    Each chosen row, which comes first, with all that needs it, chosen or not.
    """
    scores = _scores(pool)
    chosen = set(found.layout.table_rows.tolist())
    groups = []
    for row in sorted(chosen, reverse=True):
        group = closed(row, needing)
        worth = math.fsum(scores[other] for other in group if other in chosen)
        groups.append((worth, tuple(group)))
    groups.sort(key=lambda one: one[0])  # stable: of equals the later row first
    return [group for _, group in groups]


def _over(found: Rendered) -> OverBudget:
    """The error for a text that is too long, and of which no rule lets anything go."""
    ids = tuple(found.layout.ids)
    message = (
        f"what must be in ({', '.join(map(repr, ids))}) costs {found.used} tokens as it is "
        f"written, of a budget of {found.limit}; raise the budget, or ask for less"
    )
    return OverBudget(message, details={"ids": ids, "tokens": found.used, "budget": found.limit})


def _repaired(found: Rendered, rendered: Callable[[Selection], Rendered]) -> Rendered:
    """The text without the fewest of its least valuable chunks that make it fit.

    Without as many as were charged what it is over; without fewer where joins had cost more.
    """
    worst_first = found.selection.best_first()[::-1]
    freed = np.cumsum(found.selection.costs[worst_first])
    least, most = 1, min(int(np.searchsorted(freed, found.over)) + 1, len(freed))
    best = rendered(_without(found, worst_first[:most]))
    while best.over <= 0 and least < most:
        middle = (least + most) // 2
        trial = rendered(_without(found, worst_first[:middle]))
        if trial.over <= 0:
            best, most = trial, middle
        else:
            least = middle + 1
    return best


def _rendered(candidates: Candidates, selection: Selection, layout: Layout) -> Rendered:
    pool = layout.pool
    table, template = pool.candidates, pool.call.template
    assert template is not None  # or nobody asks
    written = layout.written()
    text = template.joined(
        form(table, row, place, template, content, _tokens(pool, row, content))
        for place, (row, content) in enumerate(written, 1)
    )
    tokens = count(pool.call.count_tokens, text, "the rendered text") if len(layout) else 0
    return Rendered(selection, layout, text, tokens, candidates)


def _tokens(pool: Pool, row: int, text: str) -> int:
    """The tokens of a text for its template: those of its row, where it is that of the row."""
    table, template = pool.candidates, pool.call.template
    if template is None or "tokens" not in template.fields or text == table.text(row):
        return int(table.tokens[row])
    return count(pool.call.count_tokens, text, f"chunk {table.id(row)!r}", table.id(row))


def _without(found: Rendered, places: Ints) -> Selection:
    """The selection without these places: out for the budget, by the stage that had chosen them."""
    selection = found.selection
    pool = selection.pool
    gone = selection.chosen[np.sort(places)]
    told = found.told
    cut = Cut(pool.stage, Reason.BUDGET, pool.table_rows[gone], pool.scores[gone], lambda _: told)
    return attrs.evolve(
        selection,
        pool=attrs.evolve(pool, cuts=(*pool.cuts, cut)),
        chosen=sealed(np.delete(selection.chosen, places)),
        optimality=None,
    )
