"""The first chunk that a selector had no room for, cut to fill what remains."""

from collections.abc import Callable

import attrs
import numpy as np

from .arrays import Floats, Ints
from .boundaries import longest_prefix
from .charging import charge
from .columns import Cut
from .pool import Pool
from .records import Reason
from .selection import Selection
from .tokens import count

__all__ = ["trimmed", "without_rows"]


def trimmed(
    selection: Selection,
    choose: Callable[[Pool], Selection],
    worth: Callable[[Pool], Floats],
) -> Selection:
    """The selection with the best chunk that was out for the budget, cut to fit in what is left.

    Best by `worth` (float64[n] of a pool), as the selector ranks.  At a sentence, else a word, else a grapheme; the selection as it is where no prefix fits or
    has `min_tokens`.  The selector, `choose`, is asked over what it chose and the cut chunk: only
    if it takes them all is the chunk in, so that what binds or guides it holds for the cut, too.
    Some 3 log2(length) calls of the counter, O(m) besides.
    """
    pool, cutting = selection.pool, selection.pool.cutting
    if cutting is None:
        return selection
    row = _first_out(pool, worth)
    left = pool.call.budget - cutting.spare - int(selection.costs.sum())
    if row is None or left < 0:
        return selection
    table, call, at = pool.candidates, pool.call, int(pool.table_rows[row])
    what = f"chunk {table.id(at)!r}"

    def fits(text: str) -> bool | None:
        tokens = count(call.count_tokens, text, what, table.id(at))
        if charge(table, at, text, tokens, call) > left:
            return False
        return True if tokens >= cutting.min_tokens else None

    text = longest_prefix(table.text(at), fits)
    if text is None:
        return selection
    rows = np.array([row])
    pool = pool.rewrite(rows, [text])
    together = np.zeros(len(pool), np.bool_)
    together[selection.chosen] = together[row] = True
    asked = pool.uncut().keep(together, reason=Reason.BUDGET)
    if len(choose(asked)) < len(asked):
        return selection
    return _joined(selection, pool, row)


def _joined(selection: Selection, pool: Pool, row: int) -> Selection:
    """The selection with the cut row; what stays out has the numbers of what is left now."""
    rest = without_rows(pool.cuts, pool.table_rows[[row]])
    before = [cut for cut in rest if not np.isin(cut.rows, pool.table_rows).any()]
    others = [cut for cut in rest if np.isin(cut.rows, pool.table_rows).any()]
    ruled = [
        cut
        for cut in others
        if cut.stage != pool.stage or cut.reason not in {Reason.BUDGET, Reason.STRATEGY}
    ]
    chosen = np.append(selection.chosen, row)
    costs = pool.charged(chosen.tolist())
    left = pool.budget - int(costs[chosen].sum())
    told = f"{pool.candidates.id(int(pool.table_rows[row]))!r} was cut to fill what remained"

    def detail(other: int) -> str | None:
        cost = int(costs[other])
        return None if cost > left else f"{told}; its {cost} tokens would fit in the {left} left"

    pool = attrs.evolve(pool, cuts=tuple(before))
    return pool.select(chosen, cuts=ruled, detail=detail, optimality=selection.optimality)


def _first_out(pool: Pool, worth: Callable[[Pool], Floats]) -> int | None:
    """The best row (the earliest of equals) that the stage at work left out for the budget."""
    out = [cut.rows for cut in pool.cuts if (cut.stage, cut.reason) == (pool.stage, Reason.BUDGET)]
    if not out:
        return None
    rows = np.flatnonzero(np.isin(pool.table_rows, np.concatenate(out)))
    return int(rows[np.argmax(worth(pool)[rows])]) if len(rows) else None


def without_rows(cuts: tuple[Cut, ...], rows: Ints) -> tuple[Cut, ...]:
    """The cuts without these rows of the table."""
    kept = []
    for cut in cuts:
        stay = np.flatnonzero(~np.isin(cut.rows, rows))
        if len(stay) == len(cut):
            kept.append(cut)
        elif len(stay):
            kept.append(cut.only(stay))
    return tuple(kept)
