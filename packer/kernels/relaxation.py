"""An upper bound on what the open rows can add, under one part of the rules.

The *relaxation* keeps two rules that nest: of each *clique* of rows at most one is in, and of the
cliques under each *key* at most so many (`slots`). Both together are a laminar matroid, so for a
given price of the capacity the greedy choice is the best. The capacity and all other rules are
paid for by prices or dropped (Lagrangian relaxation: Fisher, The Lagrangian relaxation method
for solving integer programming problems, Management Science 27(1), 1981).
"""

import numpy as np
import numpy.typing as npt

from ._jit import kernel
from .room import with_room
from .rules import Ints, Rules

Floats = npt.NDArray[np.float64]
Layout = tuple[Ints, Ints, Ints, Ints]
Scratch = tuple[Floats, Floats, Ints, Ints]

ROUNDING = 2.0**-46
"""Relative: more than a sum of a thousand floats can be off."""


@kernel
def cover(order: Ints, rules: Rules) -> tuple[Ints, Ints]:
    """Cliques of rivals, among the rows of `order`, that hold each pair of rivals: (at, members).

    Clique k is members[at[k]:at[k+1]]. Greedily: a pair, and the rivals of its first that all the
    members know. O(pairs * rivals) at worst, O(pairs) when cliques do not overlap.
    """
    rival_at, rivals = rules[5], rules[6]
    n = rules[0].size
    listed = np.zeros(n, np.bool_)
    for row in order:
        listed[row] = True
    covered = np.zeros(rivals.size, np.bool_)
    links = np.zeros(n, np.int64)  # so many members know the row
    inside = np.zeros(n, np.bool_)
    members = np.empty(rivals.size + 2, np.int64)
    at = np.zeros(rivals.size // 2 + 2, np.int64)
    count = size = 0
    if rivals.size == 0:
        return at[:1], members[:0]
    for row in order:
        for pair in range(rival_at[row], rival_at[row + 1]):
            if covered[pair] or not listed[rivals[pair]]:
                continue
            start = size
            for k in range(rival_at[row] - 2, rival_at[row + 1]):
                other = rivals[pair]
                if k == rival_at[row] - 2:
                    other = row
                elif k >= rival_at[row]:
                    other = rivals[k]
                if not listed[other] or inside[other] or links[other] < size - start:
                    continue
                members = with_room(members, size, size + 1)
                members[size] = other
                size += 1
                inside[other] = True
                for i in range(rival_at[other], rival_at[other + 1]):
                    links[rivals[i]] += 1
            for m in range(start, size):
                other = members[m]
                for i in range(rival_at[other], rival_at[other + 1]):
                    covered[i] |= inside[rivals[i]]
                    links[rivals[i]] -= 1
            for m in range(start, size):
                inside[members[m]] = False
            count += 1
            at[count] = size
    return at[: count + 1], members[:size]


@kernel
def relaxed(
    price: float,
    profit: Floats,
    costs: Ints,
    layout: Layout,
    slots: Ints,
    place: Ints,
    count: int,
    scratch: Scratch,
) -> tuple[float, int, float]:
    """The most that open rows add at this price of a token: (gain, tokens used, size of terms).

    A row is open when place[row] < `count`. `layout` is (order, key, clique, width): the rows by
    key, in it by clique, and the number of cliques under each key. `scratch` takes, for `loss`,
    (gain[n], bar[keys], leader[n], buffer[n]). O(rows), with a full key O(cliques * slots).
    """
    order, key, clique, width = layout
    gain, bar, leader, buffer = scratch
    total = size_of_terms = 0.0
    used = 0
    i = 0
    m = order.size
    while i < m:
        k = key[order[i]]
        limit = slots[k]
        full = limit < width[k]
        size = 0
        while i < m and key[order[i]] == k:
            c = clique[order[i]]
            lead = -1
            high = 0.0
            while i < m and clique[order[i]] == c:
                row = order[i]
                i += 1
                if place[row] < count:
                    g = profit[row] - price * costs[row]
                    gain[row] = g
                    if g > high:
                        high = g
                        lead = row
            leader[c] = lead
            if lead < 0:
                continue
            at = size
            if full and size >= limit:
                if limit <= 0 or high <= gain[buffer[limit - 1]]:
                    leader[c] = -1
                    continue
                at = limit - 1
                leader[clique[buffer[at]]] = -1
            else:
                size += 1
            while full and at > 0 and gain[buffer[at - 1]] < high:
                buffer[at] = buffer[at - 1]
                at -= 1
            buffer[at] = lead
        bar[k] = gain[buffer[size - 1]] if full and 0 < size == limit else 0.0
        for at in range(size):
            row = buffer[at]
            total += gain[row]
            used += costs[row]
            size_of_terms += abs(profit[row]) + price * costs[row]
    return total, used, size_of_terms


@kernel
def loss(row: int, key: Ints, clique: Ints, scratch: Scratch) -> float:
    """How much lower the last bound of `relaxed` is when this open row is in. O(1)."""
    gain, bar, leader, _ = scratch
    lead = leader[clique[row]]
    if lead == row:
        return 0.0
    return float((gain[lead] if lead >= 0 else bar[key[row]]) - gain[row])


def layout_of(
    rows: Ints, rules: Rules, cliques: tuple[Ints, Ints]
) -> tuple[Layout, int, int, Ints]:
    """The relaxation of the rules: (layout, quota of the keys, quota of the cliques, grain[keys]).

    A quota is -1 if there is none. `grain` is the smallest amount of a row of the key; the last
    key is that of the rows that the quota does not bind. `cliques` as from `cover`, the first that
    has a row counts. O(r n log n).
    """
    _, group, amount, _, most = rules[:5]
    n = rules[0].size
    surplus, kept, exclusive = 0, -1, -1
    key, grain = np.zeros(n, np.int64), np.zeros(1, np.int64)
    for j in range(most.size):
        bound = rows[group[j, rows] >= 0]
        if not bound.size:
            continue
        if exclusive < 0 and 2 * int(amount[j, bound].min()) > most[j]:
            exclusive = j
            continue
        smallest = np.full(int(group[j].max()) + 2, 2**62, np.int64)
        np.minimum.at(smallest, group[j, bound], amount[j, bound])
        slots = most[j] // np.maximum(smallest, 1)
        slots[smallest == 0] = n
        over = int(np.maximum(np.bincount(group[j, bound], minlength=slots.size) - slots, 0).sum())
        if over > surplus:
            surplus, kept, grain = over, j, smallest
    if kept >= 0:
        key[:] = np.where(group[kept] >= 0, group[kept], grain.size - 1)
    clique = np.arange(n)
    at, members = cliques
    clique[members[::-1]] = n + np.repeat(np.arange(at.size - 1), np.diff(at))[::-1]
    if exclusive >= 0:
        bound = group[exclusive] >= 0
        clique[bound] = n + at.size + group[exclusive, bound]
    pairs = clique[rows] * grain.size + key[rows]
    first, same = np.unique(pairs, return_index=True, return_inverse=True)[1:]
    clique[:] = -1
    clique[rows] = rows[first[same]]
    order = rows[np.lexsort((clique[rows], key[rows]))]
    heads = order[np.flatnonzero(np.diff(clique[order], prepend=-1))]
    width = np.bincount(key[heads], minlength=grain.size)
    return (order, key, clique, width), kept, exclusive, grain
