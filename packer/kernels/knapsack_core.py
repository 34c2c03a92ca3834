"""The search for the best subset: the states that the items near the break item can reach.

Pisinger's *minknap* (A minimal algorithm for the 0-1 knapsack problem, Operations Research
45(5), 1997). A *core* of items around the break item grows by one item at a time, right and
left in turn. A *state* is what some way of toggling the core's items makes of the break
solution. It goes when another is no heavier and at least as valuable (*dominated*), or when its
linear bound cannot beat the best subset found (*bounded*); when none is left, that subset is
optimal.

Bounds are float64, rounded outwards: `_OUTWARD` and `_INWARD` exceed the error of the few
operations in one, and the slack of `line` what rounded ranks can cost.
"""

import numpy as np

from ._jit import kernel
from .knapsack_rank import SLACK, Flags, Floats, Ints, broken, line, reach, widened
from .room import with_room

_OUTWARD = 1.0 + SLACK
_INWARD = 1.0 - SLACK
_LOW = 0xFFFFFFFF  # the node in a tag, the item in a node
_END = 3 << 61  # above every weight, also with one more item
_CORE = 12  # so many items make a subset good enough to rule most others out
_PAIRING = 1024  # so many states are worth a look at all items for a better subset
_PAIRED = 2048  # but at no more than these on each side


@kernel
def rates(
    rank: Floats, order: Ints, s: int, t: int, ends: tuple[float, float]
) -> tuple[float, float]:
    """The most that weight outside the core order[s:t] can add, the least that it is worth.

    The first holds for what ranks after the core, the second for what ranks before it; `ends`
    are the same for what is not in `order`. O(1).
    """
    right, left = ends
    up = rank[order[t]] * _OUTWARD if t < order.size else right
    down = rank[order[s - 1]] * _INWARD if s > 0 else left
    return up, down


@kernel
def merged(
    old: Ints,
    states: int,
    new: Ints,
    nodes: Ints,
    used: int,
    toggle: tuple[int, int, int, int],
    limits: tuple[int, int, int],
    best: tuple[int, int],
    rate: tuple[float, float, float],
) -> tuple[int, int, int, int]:
    """Write to `new` the states of `old`, and those after one more toggle, that are worth it.

    A state is a row (value, weight, size << 32 | node). Rows rise strictly in value and in
    weight; a row of weight `_END` closes them. A node is the last toggle of a state: `nodes`
    has parent << 32 | item there, and 0 is the break solution. `toggle` is (item, its value,
    weight and 1, all negative to take it out), `limits` (room, shift, count) as in `search`,
    `best` (value, node), and `rate` (up, down, slack). Returns (states, used, best value, best
    node). O(states).
    """
    item, d_value, d_weight, d_size = toggle
    room, shift, count = limits
    value, node = best
    up, down, slack = rate
    d_tag = d_size << 32
    i = j = kept = 0
    last = -1
    for _ in range(2 * states):
        p, w, tag = old[i, 0], old[i, 1], old[i, 2]
        q, v = old[j, 0] + d_value, old[j, 1] + d_weight
        toggled = v < w or (v == w and q > p)
        if toggled:
            p, w, tag = q, v, old[j, 2] + d_tag
            j += 1
        else:
            i += 1
        if p <= last:  # dominated
            continue
        last = p
        gap = room - w + shift * (count - (tag >> 32))
        if gap * (up if gap >= 0 else down) < (value + 1 - p) - slack:  # bounded
            continue
        if toggled:
            nodes[used] = ((tag & _LOW) << 32) | item
            tag = ((tag >> 32) << 32) | used
            used += 1
        if p > value and w <= room:
            value, node = p, tag & _LOW
        new[kept, 0] = p
        new[kept, 1] = w
        new[kept, 2] = tag
        kept += 1
    new[kept, 0], new[kept, 1] = 0, _END
    return kept, used, value, node


@kernel
def paired(
    front: Ints,
    states: int,
    nodes: Ints,
    used: int,
    items: Ints,
    values: Ints,
    weights: Ints,
    sign: int,
    room: int,
    best: tuple[int, int],
) -> tuple[int, int]:
    """A better subset, if toggling one of `items` in some state makes one: (value, node).

    `sign` is 1 to put an item in and -1 to take it out. It uses no row of `nodes` but `used`.
    The heuristic of *combo* (Martello, Pisinger & Toth 1999). O(items * log(states)).
    """
    value, node = best
    for item in items:
        most = room - sign * weights[item]
        i, j = 0, states  # the states before i are within `most`, those from j are not
        while i < j:
            middle = (i + j) // 2
            if front[middle, 1] <= most:
                i = middle + 1
            else:
                j = middle
        if i > 0 and front[i - 1, 0] + sign * values[item] > value:
            value, node = front[i - 1, 0] + sign * values[item], used
            nodes[used] = ((front[i - 1, 2] & _LOW) << 32) | item
    return value, node


@kernel
def ceiling(
    front: Ints,
    states: int,
    limits: tuple[int, int, int],
    best: int,
    rate: tuple[float, float, float],
) -> int:
    """The highest value that a state can still lead to, at least `best`. O(states)."""
    room, shift, count = limits
    up, down, slack = rate
    bound = best
    for i in range(states):
        p, w, tag = front[i, 0], front[i, 1], front[i, 2]
        gap = room - w + shift * (count - (tag >> 32))
        more = gap * (up * _OUTWARD if gap >= 0 else down * _INWARD) + slack
        if more > bound - p:
            bound = p + int(np.floor(min(more, 2.0**53)))
    return bound


@kernel
def search(
    values: Ints,
    weights: Ints,
    limits: tuple[int, int, int],
    best: int,
    chosen: Flags,
    work_limit: int,
) -> tuple[int, int, int]:
    """Look for a subset above `best`; returns (best, bound, work), and the subset in `chosen`.

    `limits` are (room, shift, count): the weights of a subset have a sum of at most `room`;
    and no subset above `best` has more than `count` items where `shift` is positive, or fewer
    where it is negative. Bounds and ranks are those of the weights + `shift` under `room` +
    `shift` * `count`; see `broken` for what holds for these. No subset has a value above
    `bound`; it is `best` when the search came to its end, after `work` <= `work_limit` states
    merged. `chosen` stays as it is when there is nothing above `best`. Time O(n + work) and a
    sort of what the bounds leave open; memory below 100 bytes a unit of `work`.
    """
    room, shift, count = limits
    rank, low, high, order, s, value, weight, size = broken(values, weights, room, shift, count)
    t = s
    taken = np.empty(values.size, dtype=np.bool_)
    for i in range(values.size):
        taken[i] = rank[i] > high
    for i in range(s):
        taken[order[i]] = True
    one = int(np.int64(1))  # a bare 1 is a type of its own to numba: a second compilation
    node = -one
    if weight <= room and value > best:
        best, node = value, one - one

    linear = line(values, rank, order, s, room - weight + shift * (count - size))
    slope, slack = linear[0], linear[3]
    old = np.zeros((256, 3), dtype=np.int64)
    new = np.empty_like(old)
    nodes = np.empty(1024, dtype=np.int64)
    old[0, 0], old[0, 1], old[0, 2] = value, weight, size << 32
    old[1, 1] = _END
    states = used = one
    work = 0
    whole = order.size == values.size
    ends = (low * _OUTWARD, high * _INWARD)
    if whole:
        ends = (0.0, np.inf)
    up, down = rates(rank, order, s, t, ends)
    pairing = _PAIRING
    leftward = False
    while states > 0:
        far = reach(linear, best + 1 - value)
        at_ends = (s == 0) + (t == order.size)
        if not whole and (at_ends == 2 or (at_ends == 1 and t - s >= _CORE)):
            order, added = widened(values, weights, shift, rank, (low, high), order, slope, far)
            s, t = s + added, t + added
            whole, ends = True, (0.0, np.inf)
            at_ends = (s == 0) + (t == order.size)
            up, down = rates(rank, order, s, t, ends)
        over = work + 2 * states > work_limit
        if over or states >= pairing:
            pairing = 8 * states
            before = best
            for sign in (-1, 1):
                items = order[max(s - _PAIRED, 0) : s] if sign < 0 else order[t : t + _PAIRED]
                best, node = paired(
                    old, states, nodes, used, items, values, weights, sign, room, (best, node)
                )
            used += best > before
        if over or at_ends == 2:
            break
        if s > 0 and (leftward or t == order.size):
            s -= 1
            item, sign = order[s], -1
        else:
            item, sign = order[t], 1
            t += 1
        leftward = not leftward
        up, down = rates(rank, order, s, t, ends)
        a, b = values[item] * 1.0, slope * (weights[item] + shift)
        if abs(a - b) > far + (a + b) * SLACK:
            continue
        work += 2 * states
        new = with_room(new, 0, 2 * states + 1)
        nodes = with_room(nodes, used, used + states + 1)
        states, used, best, node = merged(
            old,
            states,
            new,
            nodes,
            used,
            (item, sign * values[item], sign * weights[item], sign),
            limits,
            (best, node),
            (up, down, slack),
        )
        old, new = new, old
    bound = best
    if s > 0 or t < order.size:
        bound = ceiling(old, states, limits, best, (up, down, slack))
    if node >= 0:
        for i in range(values.size):
            chosen[i] = taken[i]
        while node > 0:
            item = nodes[node] & _LOW
            chosen[item] = not chosen[item]
            node = nodes[node] >> 32
    return best, bound, work
