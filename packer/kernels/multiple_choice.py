"""The multiple-choice knapsack: of each class at most one row, and the capacity. Exact.

Dynamic programming over a core of classes (Pisinger, A minimal algorithm for the multiple-choice
knapsack problem, European Journal of Operational Research 83(2), 1995). The linear relaxation
moves each class up its upper hull, the steepest step first (Dyer, Kayal & Walker, A branch and
bound algorithm for solving the multiple-choice knapsack problem, 1984), until the *break step*
does not fit: that is the *base*. An optimum differs from it in few classes. A *state* is what
some way of changing the classes met so far makes of the base; it goes when another is no heavier
and at least as valuable (*dominated*) or when its linear bound cannot beat the best (*bounded*).
Classes come by how little it costs to change them at the slope of the break step.
"""

import numpy as np
import numpy.typing as npt

from ._jit import kernel
from .room import with_room
from .rules import Flags, Ints

Floats = npt.NDArray[np.float64]

_OUTWARD = 1.0 + 2.0**-50
_INWARD = 1.0 - 2.0**-50
_END = 3 << 61  # above every cost, also with one more row


@kernel
def efficient(order: Ints, values: Ints, costs: Ints, classes: Ints) -> tuple[Ints, Ints]:
    """The rows that no other of their class dominates: (rows, at), class k is rows[at[k]:at[k+1]].

    `order` has the rows by class, in it by rising cost, then by falling value. Each class starts
    with -1, the choice of none, unless a row is free; cost and value rise in it. O(n).
    """
    rows = np.empty(2 * order.size, np.int64)
    at = np.empty(order.size + 1, np.int64)
    count = size = high = 0
    last = -1
    for row in order:
        if classes[row] != last:
            last = classes[row]
            at[count] = size
            count += 1
            rows[size] = -1
            size += 1
            high = 0
        if values[row] > high:
            if costs[row] == 0:
                size -= 1  # none is dominated too
            high = values[row]
            rows[size] = row
            size += 1
    at[count] = size
    return rows[:size], at[: count + 1]


@kernel
def steps(values: Ints, costs: Ints, at: Ints) -> tuple[Ints, Ints, Floats]:
    """The steps up the upper hull of each class: (from, to, slope), as they stand in the class.

    `values` and `costs` are those of the choices that `efficient` leaves. O(n).
    """
    source = np.empty(values.size, np.int64)
    target = np.empty(values.size, np.int64)
    slope = np.empty(values.size)
    size = 0
    for k in range(at.size - 1):
        first = size
        for i in range(at[k] + 1, at[k + 1]):
            start = i - 1 if size == first else target[size - 1]
            while True:
                rate = (values[i] - values[start]) / (costs[i] - costs[start])
                if size == first or slope[size - 1] > rate:
                    break
                size -= 1
                start = source[size]
            source[size], target[size], slope[size] = start, i, rate
            size += 1
    return source[:size], target[:size], slope[:size]


@kernel
def changes(values: Ints, costs: Ints, at: Ints, base: Ints, slope: float) -> tuple[Floats, Floats]:
    """What it costs at this slope to change a choice: (loss[choices], least loss[classes]).

    Rounded downwards. O(n).
    """
    loss = np.zeros(values.size)
    least = np.empty(base.size)
    for k in range(base.size):
        b = base[k]
        least[k] = np.inf
        for i in range(at[k], at[k + 1]):
            if i != b:
                a, c = float(values[b] - values[i]), slope * (costs[b] - costs[i])
                loss[i] = a - c - (abs(a) + abs(c)) * 2.0**-50
                if loss[i] < least[k]:
                    least[k] = loss[i]
    return loss, least


@kernel
def merged(
    kept: Ints,
    old: Ints,
    new: Ints,
    nodes: Ints,
    used: int,
    change: tuple[int, int, int],
    room: int,
    best: tuple[int, int],
    rate: tuple[float, float],
) -> tuple[int, int, int, int]:
    """Write to `new` the states of `kept`, and those of `old` after a change, that are worth it.

    A state is a row (value, cost, node). Rows rise strictly in value and in cost, and a row of
    cost `_END` closes them. A node is (the node before, a choice); node 0 is the base.
    `change` is (choice or -1, value, cost), `best` (value, node), `rate` the most that a token
    outside the classes met can add and the least that it is worth. Returns (states, used,
    best value, best node). O(states).
    """
    choice, d_value, d_cost = change
    value, node = best
    up, down = rate
    i = j = size = 0
    last = int(np.int64(-1))
    while True:
        w, v = kept[i, 1], old[j, 1]
        if v < _END:
            v += d_cost
        p, q = kept[i, 0], old[j, 0] + d_value
        if w == _END and v == _END:
            break
        changed = v < w or (v == w and q > p)
        if changed:
            p, w, tag = q, v, old[j, 2]
            j += 1
        else:
            tag = kept[i, 2]
            i += 1
        if p <= last:  # dominated
            continue
        last = p
        gap = room - w
        if gap * (up if gap >= 0 else down) < value + 1 - p:  # bounded
            continue
        if changed and choice >= 0:
            nodes[used, 0] = tag
            nodes[used, 1] = choice
            tag = used
            used += 1
        if p > value and gap >= 0:
            value, node = p, tag
        new[size, 0] = p
        new[size, 1] = w
        new[size, 2] = tag
        size += 1
    new[size, 0] = 0
    new[size, 1] = _END
    return size, used, value, node


@kernel
def filled(
    source: Ints, target: Ints, order: Ints, costs: Ints, base: Ints, where: Ints, left: int
) -> None:
    """Go up the remaining steps in `order` as far as each fits; `base` is overwritten. O(n)."""
    for step in order:
        k = where[target[step]]
        more = costs[target[step]] - costs[base[k]]
        if source[step] == base[k] and more <= left:
            base[k] = target[step]
            left -= more


@kernel
def search(
    values: Ints,
    costs: Ints,
    at: Ints,
    base: Ints,
    order: Ints,
    loss: Floats,
    least: Floats,
    slope: float,
    room: int,
    best: int,
    work_limit: int,
) -> tuple[int, int, int, Ints]:
    """(best value, bound, work, changes): choices that beat `best`, as changes of the base.

    `order` are the classes by rising `least`. `changes` is empty when nothing beats `best`.
    """
    classes = base.size
    value = cost = int(np.int64(0))
    for k in range(classes):
        value += values[base[k]]
        cost += costs[base[k]]
    # What the classes from order[i] on can add at most for a token, what one is worth at least.
    up, down = np.zeros(classes + 1), np.full(classes + 1, np.inf)
    for i in range(classes - 1, -1, -1):
        b = base[order[i]]
        up[i], down[i] = up[i + 1], down[i + 1]
        for c in range(at[order[i]], at[order[i] + 1]):
            if c > b:
                rate = (values[c] - values[b]) / (costs[c] - costs[b]) * _OUTWARD
                if rate > up[i]:
                    up[i] = rate
            elif c < b:
                rate = (values[b] - values[c]) / (costs[b] - costs[c]) * _INWARD
                if rate < down[i]:
                    down[i] = rate
    linear = (room - cost) * slope * _OUTWARD + 1.0
    old, kept, new = np.zeros((3, 2, 3), np.int64)
    nodes = np.empty((1024, 2), np.int64)
    used = int(np.int64(1))
    old[0, 0], old[0, 1], old[1, 1] = value, cost, _END
    states = int(np.int64(1))
    node = int(np.int64(-1))
    if value > best:
        best, node = value, int(np.int64(0))
    work = int(np.int64(0))
    met = 0
    while met < classes and states and work <= work_limit:
        k = order[met]
        reach = linear - (best - value)
        if least[k] > reach:
            states = int(np.int64(0))  # all else stays as in the base
            break
        met += 1
        kept[0, 1] = _END
        count = int(np.int64(0))
        for c in range(at[k] - 1, at[k + 1]):
            choice = c
            if c < at[k]:
                choice = base[k]  # first, as it is
            elif c == base[k] or loss[c] > linear - (best - value):
                continue
            new = with_room(new, 0, count + states + 1)
            nodes = with_room(nodes, used, used + states)
            change = (
                int(-1 if choice == base[k] else choice),
                values[choice] - values[base[k]],
                costs[choice] - costs[base[k]],
            )
            rate_left = (up[met], down[met])
            work += count + states
            count, used, best, node = merged(
                kept, old, new, nodes, used, change, room, (best, node), rate_left
            )
            kept, new = new, kept
        old, kept = kept, old
        states = count
    bound = best
    for i in range(states):
        gap = room - old[i, 1]
        rate = up[met] if gap >= 0 else down[met]
        highest = old[i, 0] + int(np.floor(gap * rate))
        if highest > bound:
            bound = highest
    found = np.empty(classes + 1, np.int64)
    size = 0
    while node > 0:
        found[size] = nodes[node, 1]
        size += 1
        node = nodes[node, 0]
    if node < 0:
        return best, bound, work, found[:0]
    found[size] = -1  # so that no change is not the same as nothing better
    return best, bound, work, found[: size + 1]


def solve(
    values: Ints, costs: Ints, capacity: int, classes: Ints, work_limit: int
) -> tuple[Flags, int, bool]:
    """The best choice of at most one row of each class: (chosen bool[n], bound, proven).

    values int64[n] >= 0 with a sum below 2**53, costs int64[n] >= 0 with a sum below 2**62,
    classes int64[n]; no choice has a total above `bound`. `work_limit` is the number of states
    that may be merged, some 10 ns and up to 50 bytes each. O(n log n) and the work.

    >>> values, costs = np.array([9, 7, 8, 5]), np.array([8, 3, 7, 3])
    >>> chosen, bound, proven = solve(values, costs, 11, np.array([0, 0, 1, 1]), 1000)
    >>> chosen.tolist(), bound, proven
    ([False, True, True, False], 15, True)
    """
    chosen = np.zeros(values.size, np.bool_)
    order = np.flatnonzero((values > 0) & (costs <= capacity))
    order = order[np.lexsort((-values[order], costs[order], classes[order]))]
    rows, at = efficient(order, values, costs, classes)
    if not rows.size:
        return chosen, 0, True
    none = rows < 0
    worth, paid = np.where(none, 0, values[rows]), np.where(none, 0, costs[rows])
    source, target, slopes = steps(worth, paid, at)
    by_slope = np.argsort(-slopes, kind="stable")
    more = np.cumsum(paid[target[by_slope]] - paid[source[by_slope]])
    room = capacity  # what is not free
    fit = int(np.searchsorted(more, room, side="right"))
    where = np.repeat(np.arange(at.size - 1), np.diff(at))
    base = at[:-1].copy()
    for_base = target[by_slope[:fit]]
    np.maximum.at(base, where[for_base], for_base)
    if fit == by_slope.size:
        picked = base
        bound, proven = int(worth[picked].sum()), True
    else:
        slope = float(slopes[by_slope[fit]])
        picked = base.copy()
        filled(source, target, by_slope[fit:], paid, picked, where, room - int(paid[base].sum()))
        best = int(worth[picked].sum())
        loss, least = changes(worth, paid, at, base, slope)
        by_loss = np.argsort(least, kind="stable")
        best, bound, _, found = search(
            worth, paid, at, base, by_loss, loss, least, slope, room, best, work_limit
        )
        if found.size:
            picked = base.copy()
            picked[where[found[:-1]]] = found[:-1]
        proven = bool(bound <= best)
    picked = rows[picked]
    chosen[picked[picked >= 0]] = True
    return chosen, int(bound), proven
