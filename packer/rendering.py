"""The text that is sent: written by the template, counted as a whole, and made to fit.

The count of a whole is not the sum of its parts: joins may cost more, or merge.  So the text is
counted with the caller's own counter; while it is too long the least valuable chunk goes, and
where it is shorter than was charged, the selector chooses again with what was gained.
"""

from collections.abc import Callable
from typing import Final, final

import attrs
import numpy as np

from .arrays import Ints, sealed
from .charging import form
from .columns import Candidates, Cut
from .errors import Infeasible, OverBudget
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
    free, costs = -found.over, _left_out(found.layout)
    for room in dict.fromkeys((free + found.saved, free)):
        if not found.shortened and not (costs <= room).any():
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

    found = rendered(choose(pool))
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


def _chosen_again(found: Rendered, pool: Pool, rendered: Callable[[Pool], Rendered]) -> Rendered:
    """What the selector chooses without its least valuable chunks, so that every rule holds.

    They leave the pool one by one, and the room that they had with them; one that the rules want
    in stays.  At most one choice and one count for each chunk that was in.

    Raises OVER_BUDGET where what must be in does not fit as text.
    """
    stage, chosen = pool.at(found.selection.pool.stage), found.selection.chosen
    kept, best = np.ones(len(pool), np.bool_), found
    for place in found.selection.best_first()[::-1].tolist():
        kept[chosen[place]] = False
        fewer = stage.keep(kept, reason=Reason.BUDGET, detail=found.told)
        room = int(pool.costs[chosen[np.isin(pool.table_rows[chosen], fewer.table_rows)]].sum())
        try:
            best = rendered(fewer.within(room))
            wanted = unmet(pool, best.layout.table_rows)
        except (Infeasible, OverBudget):
            wanted = True
        if wanted:  # a rule wants it in
            kept[chosen[place]] = True
            continue
        if best.over <= 0:
            return best
    message = (
        f"what must be in costs {best.used} tokens as it is written, of a budget of {best.limit}"
    )
    raise OverBudget(message, details={"ids": tuple(best.layout.ids), "tokens": best.used})


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
    rows = enumerate(layout.table_rows.tolist(), 1)
    text = template.joined(form(table, row, place, template) for place, row in rows)
    tokens = count(pool.call.count_tokens, text, "the rendered text") if len(layout) else 0
    return Rendered(selection, layout, text, tokens, candidates)


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
