"""The best subset under rules: simple cases at once, others by tree search.

Where nothing but the capacity and cliques of rows that exclude each other is left, it is a
multiple-choice knapsack. Otherwise prices for the rules give a first bound, a local search a
first subset, and a tree search closes the gap between them.
"""

import numpy as np

from . import multiple_choice
from .local_search import improved
from .prices import constraints, priced
from .relaxation import cover, layout_of
from .rules import ADDABLE, Flags, Ints, Rules, reasons, walk
from .tree_search import search

WORK_LIMIT = 50_000_000
"""A `work_limit` that takes about half a second when it is reached."""

_ROUNDS = 100
_THETAS = (1.0, 0.7, 0.5)  # a local search follows each
_MEMORY = 8  # states take more than visits do
_SEARCHES = 100  # it gets this part of the limit


def solve(
    values: Ints, costs: Ints, capacity: int, rules: Rules, work_limit: int
) -> tuple[Flags, int, bool, bool]:
    """The subset of highest total value within the capacity that satisfies every rule.

    values int64[n] >= 0 with a sum below 2**53, costs int64[n] >= 0 with a sum below 2**62.
    Returns (chosen bool[n], bound, proven, feasible). No such subset has a total above `bound`;
    `proven`: none is better than the chosen. When no subset satisfies the rules, `feasible` is
    False and nothing is chosen; this is certain if `proven`, else the search ended at its limit
    before it found one. Rows of value 0 are chosen only where a rule asks for them. Exponential time at worst; `work_limit` bounds the visits to rows, some
    10 ns each, and a little work is done in any case. O(n + keys + pairs) memory, and 32 bytes a
    node or state, which take many visits. Depends on nothing but the arguments.

    >>> from .rules import free
    >>> solve(np.array([60, 100, 120]), np.array([10, 20, 30]), 50, free(3), WORK_LIMIT)
    (array([False,  True,  True]), 220, True, True)
    """
    n = values.size
    chosen = np.zeros(n, np.bool_)
    pins = np.flatnonzero(rules[0])
    start = walk(pins, costs, capacity, rules, pins[:0], False)
    chosen[start] = True
    if not chosen[pins].all():
        return np.zeros(n, np.bool_), 0, True, False
    rest = np.flatnonzero(~chosen)
    rows = rest[reasons(rest, chosen, costs, capacity, rules) == ADDABLE]
    left = capacity - int(costs[start].sum())
    rank = values / np.maximum(costs, 1)
    by_rank = rows[np.argsort(-rank[rows], kind="stable")]
    cliques = cover(by_rank, rules)
    layout, kept, exclusive, grain = layout_of(rows, rules, cliques)
    bounds = constraints(rows, chosen, rules, layout, (kept, exclusive), cliques)
    if kept < 0 and not bounds[3].size:
        inside, bound, proven = multiple_choice.solve(
            values[rows], costs[rows], left, layout[2][rows], work_limit // _MEMORY
        )
        chosen[rows[inside]] = True
        return chosen, bound + int(values[start].sum()), proven, True

    inside = chosen.copy()
    chosen[:] = False
    best, prices, price = -1, np.zeros(bounds[3].size), 0.0
    tries = work_limit // _SEARCHES if bounds[3].size else 0
    if rows.size:
        fit = int(np.searchsorted(np.cumsum(costs[by_rank]), left, side="right"))
        price = float(rank[by_rank[fit]]) if fit < rows.size else 0.0
        slots = slots_of(start, rules, kept, grain)
        place = np.full(n, n)
        place[rows] = np.arange(rows.size)
        scratch = (np.empty(n), np.empty(slots.size), np.empty(n, np.int64), np.empty(n, np.int64))
        state = values, costs, left, inside, layout, slots, place, rows.size, scratch, bounds
        share = np.zeros(n, np.int64)
        for theta in _THETAS:
            profit, _, price, lowest = priced(
                *state, max(best, 0), price, prices, theta, _ROUNDS, share
            )
            order = np.argsort(price * costs - profit, kind="stable")
            best = improved(order, values, costs, capacity, rules, best, chosen, tries)
            if lowest < best + 1:
                break
    order = np.argsort(-rank, kind="stable")
    best = improved(order, values, costs, capacity, rules, best, chosen, tries)
    best, bound, _ = search(
        values,
        costs,
        capacity,
        rules,
        layout,
        kept,
        grain,
        bounds,
        prices,
        price,
        best,
        chosen,
        work_limit,
    )
    chosen = needed(chosen, values, costs, capacity, rules)
    return chosen, max(int(bound), 0), bool(bound <= best), bool(best >= 0)


def needed(chosen: Flags, values: Ints, costs: Ints, capacity: int, rules: Rules) -> Flags:
    """The chosen without the rows of value 0 that no rule asks for. O(r n), and the rules."""
    idle = np.flatnonzero(chosen & (values == 0) & ~rules[0])
    if not idle.size:
        return chosen
    group, amount, least = rules[1:4]
    wanted = np.flatnonzero(chosen & ((values > 0) | rules[0]))
    rows = walk(wanted, costs, capacity, rules, idle[:0], False)
    for j in np.flatnonzero(least):
        for row in idle[(group[j, idle] >= 0) & (amount[j, idle] > 0)]:
            same = rows[group[j, rows] == group[j, row]]
            if row not in rows and amount[j, same].sum() < least[j]:
                more = walk(row[None], costs, capacity, rules, rows, False)
                rows = np.concatenate((rows, more))
    kept = np.zeros_like(chosen)
    kept[rows] = True
    return kept


def slots_of(start: Ints, rules: Rules, kept: int, grain: Ints) -> Ints:
    """How many cliques each key has room for, int64[keys], when the rows of `start` are in."""
    slots = np.full(grain.size, rules[0].size)
    if kept >= 0:
        has = np.zeros(grain.size, np.int64)
        np.add.at(has, rules[1][kept, start], rules[2][kept, start])  # key -1 is the last
        used = np.flatnonzero(grain[:-1] > 0)
        slots[used] = (int(rules[4][kept]) - has[used]) // grain[used]
    return slots
