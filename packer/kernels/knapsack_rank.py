"""Which items stand near the break item, without sorting the others.

Items are ranked by value per weight. The *break solution* takes them from the top as long as
they fit, and the first that does not fit is the *break item*. An optimum differs from the break
solution in few items, nearly all of them ranked near the break item (Balas & Zemel, An algorithm
for large zero-one knapsack problems, Operations Research 28(5), 1980), so only those are sorted.
"""

import numpy as np
import numpy.typing as npt

from ._jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

SLACK = 2.0**-50
"""Relative: more than a distance from the line, or a rank, can be off by rounding."""

_ENOUGH = 48  # ranked items that the search usually gets by with
_SAMPLE = 63
_PASSES = 64


@kernel
def ranked(items: Ints, rank: Floats, weights: Ints, sign: int) -> Ints:
    """`items` by falling `rank`, then by rising `sign` * weight, then as they stood.

    Sorts in place and may return the scratch array instead. Merge sort: O(m log m) for m
    items.

    >>> ranked(np.array([0, 1, 2]), np.array([0.5, 2.0, 0.5]), np.array([9, 9, 8]), 1).tolist()
    [1, 2, 0]
    """
    size = items.size
    width = 1
    source, target = items, np.empty_like(items)
    while width < size:
        for start in range(0, size, 2 * width):
            middle, end = min(start + width, size), min(start + 2 * width, size)
            i, j = start, middle
            for k in range(start, end):
                first = j >= end
                if i < middle and not first:
                    a, b = source[i], source[j]
                    first = rank[a] > rank[b] or (
                        rank[a] == rank[b] and sign * weights[a] <= sign * weights[b]
                    )
                if first:
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    return source


@kernel
def narrowed(rank: Floats, weights: Ints, room: int) -> tuple[float, float, Ints]:
    """Ranks (low, high) on both sides of the break item, and the items from low to high.

    `weights` are positive with a sum above `room`. The pivots come from a sample (Floyd &
    Rivest, Expected time bounds for selection, CACM 18(3), 1975), so that a pass leaves about
    a fifth of the items: O(n). More than a few dozen remain only when they have one rank.
    """
    low, high = 0.0, np.inf
    count = rank.size
    items = np.empty(count, dtype=np.int64)
    for i in range(count):
        items[i] = i
    sample = np.empty(_SAMPLE, dtype=np.int64)
    room_left = room  # after what ranks above `high`
    spread = 0.1
    for _ in range(_PASSES):
        if count <= _ENOUGH:
            break
        inside = sampled = 0
        for i in range(count):
            inside += weights[items[i]]
        for i in range(_SAMPLE):
            sample[i] = items[i * count // _SAMPLE]
            sampled += weights[sample[i]]
        sample = ranked(sample, rank, weights, 0 * room)
        target = room_left / inside
        upper = lower = rank[sample[_SAMPLE - 1]]
        reached = 0
        for i in range(_SAMPLE - 1, -1, -1):
            reached += weights[sample[i]]
            share = 1.0 - reached / sampled  # of the weight that ranks above sample[i]
            if share >= target + spread:
                lower = rank[sample[i]]
            if share >= target - spread:
                upper = rank[sample[i]]
        over = at_least = 0
        for i in range(count):
            r, w = rank[items[i]], weights[items[i]]
            over += w if r > upper else 0
            at_least += w if r >= lower else 0
        if over > room_left:
            low = np.nextafter(upper, np.inf)
        elif at_least > room_left:
            low, high = lower, upper
            room_left -= over
        else:
            high = np.nextafter(lower, 0.0)
            room_left -= at_least
        kept = 0
        for i in range(count):
            item = items[i]
            items[kept] = item
            kept += low <= rank[item] <= high
        if kept == count:
            if spread == 0.0:
                break  # all of one rank
            spread = 0.0
        count = kept
    return low, high, items[:count]


@kernel
def sign_of(shift: int) -> int:
    """1, 0 or -1. Among items of one rank, few large ones or many small ones come first."""
    return (shift > 0) - (shift < 0)


@kernel
def broken(
    values: Ints, weights: Ints, room: int, shift: int, count: int
) -> tuple[Floats, float, float, Ints, int, int, int, int]:
    """The break solution for the weights + `shift` and the capacity `room` + `shift` * `count`.

    Returns (rank[n], low, high, order, s, value, weight, size): it is made of all that rank
    above `high` and the first `s` of `order`, which holds what ranks from `low` to `high`,
    best first; value, weight (without the shift) and size are its own. The shifted weights
    must be positive, and their sum above the shifted capacity. O(n).
    """
    n = values.size
    rank = np.empty(n)
    wide = np.empty(n, dtype=np.int64)
    for i in range(n):
        wide[i] = weights[i] + shift
        rank[i] = values[i] / wide[i]
    low, high, order = narrowed(rank, wide, room + shift * count)
    order = ranked(order, rank, weights, sign_of(shift))
    value = weight = size = s = 0
    for i in range(n):
        above = rank[i] > high
        value += values[i] if above else 0
        weight += weights[i] if above else 0
        size += above
    gap = room - weight + shift * (count - size)
    while s < order.size - 1 and wide[order[s]] <= gap:
        value += values[order[s]]
        weight += weights[order[s]]
        size += 1
        gap -= wide[order[s]]
        s += 1
    return rank, low, high, order, s, value, weight, size


@kernel
def line(
    values: Ints, rank: Floats, order: Ints, s: int, gap: int
) -> tuple[float, float, float, float]:
    """The linear optimum beside the break solution: (slope, spare, spread, slack).

    `slope` is the rank of the break item order[s], `spare` what the optimum gains by filling
    the `gap` with a part of it, `spread` its value. Ranks round, so items of its rank may stand
    in the wrong order; `slack` is more than that can be worth. O(len(order)).
    """
    slope = rank[order[s]]
    tied = 0
    for item in order:
        tied += values[item] if rank[item] == slope else 0
    return slope, gap * slope, values[order[s]] * 1.0, tied * SLACK


@kernel
def reach(linear: tuple[float, float, float, float], short: int) -> float:
    """How far from the line an item may be whose place is still open, rounded upwards.

    An item that the break solution does not place as the subset does costs its distance from
    the line, |value - slope * weight|, off the linear optimum. `short` is what the break
    solution needs to beat the best subset (reduction: Ingargiola & Korsh 1973).
    """
    _, spare, spread, slack = linear
    return spare - short + (abs(short) + spread) * 2.0**-48 + slack


@kernel
def widened(
    values: Ints,
    weights: Ints,
    shift: int,
    rank: Floats,
    ends: tuple[float, float],
    order: Ints,
    slope: float,
    far: float,
) -> tuple[Ints, int]:
    """`order` with all that the linear bound leaves open before and after it, best first.

    `ends` are the ranks between which `order` has every item, and `slope` and `far` the line
    and how far from it an item is open, see `reach`. Also returns how many items now stand
    before `order`. O(n), and a sort of the result.
    """
    low, high = ends
    n, m = values.size, order.size
    found = np.empty(n, dtype=np.int64)
    lefts = rights = 0
    for i in range(n):
        a, b = values[i] * 1.0, slope * (weights[i] + shift)
        if low <= rank[i] <= high or abs(a - b) > far + (a + b) * SLACK:
            continue
        if rank[i] > high:
            found[lefts] = i
            lefts += 1
        else:
            rights += 1
            found[n - rights] = i
    everything = np.empty(lefts + m + rights, dtype=np.int64)
    for i in range(lefts):
        everything[i] = found[i]
    for i in range(m):
        everything[lefts + i] = order[i]
    for i in range(rights):
        everything[lefts + m + i] = found[n - rights + i]
    return ranked(everything, rank, weights, sign_of(shift)), lefts
