"""Branch and bound: a tree of decisions, the node with the highest bound first.

At each node some rows are in, some are out and the others open. A row is put in with all that it
needs, which puts out what is then not addable. The bound is that of `relaxation`, at prices of
the capacity and of the dropped rules that are brought up to date at the node; rows that it rules
out are put out at once. The search goes on below a node as long as no other has a higher bound,
and now and then down to the end, where good subsets are.
"""

import numpy as np

from ._jit import kernel
from .prices import Constraints, priced
from .relaxation import ROUNDING, Floats, Layout, loss, relaxed
from .room import with_room
from .rules import KEEP, PROBE, Flags, Ints, Rules, admit, nothing_chosen, toggle, unmet

_PRICES = 8  # so many prices of the capacity are tried at a node
_FIRST_PRICES = 60
_NODE_ROUNDS = 10  # or so many steps of all prices
_PLUNGE = 32  # after so many returns the search goes down to the end


@kernel
def search(
    values: Ints,
    costs: Ints,
    capacity: int,
    rules: Rules,
    layout: Layout,
    kept: int,
    grain: Ints,
    bounds: Constraints,
    prices: Floats,
    price: float,
    best: int,
    chosen: Flags,
    work_limit: int,
) -> tuple[int, int, int]:
    """(best value, upper bound, work): `chosen` is overwritten when it beats `best`.

    `best` is -1 when no subset is known. `layout`, `kept` and `grain` as from
    `relaxation.layout_of`, `bounds` as from `prices.constraints`; `prices` for them and the
    `price` of a token are where to start. The search is complete when the bound is the best.
    """
    order, key, clique, width = layout
    n = values.size
    m = order.size
    state = nothing_chosen(n, rules)
    taken, total, floor, closure = state[0], state[1], state[2], state[3]
    least = False
    for j in range(rules[3].size):
        least |= rules[3][j] > 0
    left = capacity
    value = 0
    priced_rules = bounds[3].size > 0
    constant = earned = 0.0
    profit = np.empty(n)
    for row in range(n):
        profit[row] = values[row]
    trail = np.empty(n, np.int64)  # the rows that are in, as they went in
    length = 0
    for row in range(n):
        if rules[0][row] and not taken[row]:
            reason, size, cost = admit(row, costs, left, rules, state, KEEP)
            if reason:
                return best, best, m
            left -= cost
            for i in range(size):
                trail[length] = closure[i]
                length += 1
                value += values[closure[i]]
    rooted = length
    opened = np.empty(m, np.int64)  # the first `count` are open
    place = np.empty(n, np.int64)  # where they stand
    for row in range(n):
        place[row] = n
    count = int(np.int64(0))  # typed, or what takes it is compiled for the literal 0 as well
    for row in order:
        if not taken[row]:
            opened[count] = row
            place[row] = count
            count += 1
    candidates = count
    # Of each but the root, 0: the node above, 2 * row + (1: in, 0: out), the bound.
    nodes = np.empty((64, 3), np.int64)
    made, here, waiting = int(np.int64(1)), int(np.int64(0)), int(np.int64(0))
    heap = np.empty(64, np.int64)  # of the nodes that wait, the highest bound first
    path = np.empty(m + 1, np.int64)
    share = np.zeros(n, np.int64)
    returns = 0
    rounds = int(np.int64(_NODE_ROUNDS))
    plunge = True  # go on below a node though another one has a higher bound
    slots = np.empty(width.size, np.int64)
    reach = np.empty_like(total)
    scratch = (np.empty(n), np.zeros(width.size), np.empty(n, np.int64), np.empty(n, np.int64))
    gain, bar, leader, _ = scratch
    alone = np.zeros(n, np.int64)  # the rows of each clique
    for row in order:
        alone[clique[row]] += 1
    narrow = order.copy()
    ceiling = int(np.int64(1 << 62))  # of the node, from those above
    work = 0
    while True:
        # Put out what cannot come in any more.
        i = count
        while i > 0:
            i -= 1
            row = opened[i]
            out = taken[row]
            if not out:
                reason, size, _ = admit(row, costs, left, rules, state, PROBE)
                out = reason != 0
                for k in range(size):
                    out |= place[closure[k]] >= count
            if out:
                count = dropped(row, opened, place, count)
        work += count + 1
        alive = True
        if least:
            for j in range(total.shape[0]):
                for k in range(total.shape[1]):
                    reach[j, k] = total[j, k]
                for i in range(count):
                    if rules[1][j, opened[i]] >= 0:
                        reach[j, rules[1][j, opened[i]]] += rules[2][j, opened[i]]
                for k in range(total.shape[1]):
                    alive &= reach[j, k] >= floor[j, k]
        if alive and value > best and not unmet(state):
            best = value
            for row in range(n):
                chosen[row] = taken[row]
        # The bound, at the best of some prices: it is convex in the price.
        if alive and count:
            for k in range(width.size):
                slots[k] = n
                if k < width.size - 1 and grain[k] > 0:
                    slots[k] = (rules[4][kept] - total[kept, k]) // grain[k]
            low = high = low_line = high_line = 0.0  # prices, and the bound there
            low_used = high_used = int(np.int64(-1))
            tries = _FIRST_PRICES if here == 0 else _PRICES
            if priced_rules:
                tries = 1
                profit, constant, price, _ = priced(
                    values,
                    costs,
                    left,
                    taken,
                    layout,
                    slots,
                    place,
                    count,
                    scratch,
                    bounds,
                    best,
                    price,
                    prices,
                    0.7,
                    rounds,
                    share,
                )
                work += _NODE_ROUNDS * (m + bounds[1].size)
            earned = constant
            for i in range(length):
                earned += profit[trail[i]]
            lowest = np.inf
            at = price
            for _ in range(tries):
                more, used, terms = relaxed(at, profit, costs, layout, slots, place, count, scratch)
                work += m
                bound = earned + at * left + more
                error = (abs(constant) + abs(earned) + at * left + terms) * ROUNDING
                if bound < lowest:
                    lowest = bound
                    price = at
                    room = bound + error
                    if room < ceiling:
                        ceiling = int(np.floor(room))
                    # Put out the rows that are worth too little at this price.
                    if ceiling > best:
                        i = count
                        while i > 0:
                            i -= 1
                            row = opened[i]
                            if room - loss(row, key, clique, scratch) < best + 1:
                                count = dropped(row, opened, place, count)
                if ceiling <= best or used == left or (used < left and at == 0.0):
                    break
                if used > left:
                    low, low_line, low_used = at, bound, used
                else:
                    high, high_line, high_used = at, bound, used
                if high_used < 0:
                    at = (
                        2.0 * at + 2.0**-20
                        if at > 0.0
                        else first_price(profit, costs, opened, count)
                    )
                elif low_used < 0:
                    at = 0.0
                else:
                    # where the two lines meet
                    a, b = float(low_used - left), float(left - high_used)
                    at = (low_line + a * low - high_line + b * high) / (a + b)
                    if not low < at < high:
                        break
            alive = ceiling > best
            # Put in the rows that are worth too much at the last price.
            if alive:
                certain = 0
                for i in range(count):
                    row = opened[i]
                    if leader[clique[row]] == row and alone[clique[row]] == 1:
                        if bound + error - (gain[row] - bar[key[row]]) < best + 1:
                            path[certain] = row
                            certain += 1
                for i in range(certain):
                    if alive and not taken[path[i]]:
                        reason, size, cost = admit(path[i], costs, left, rules, state, KEEP)
                        alive = reason == 0
                        left -= cost if alive else 0
                        for k in range(size if alive else 0):
                            trail[length] = closure[k]
                            length += 1
                            value += values[closure[k]]
                if alive and certain:
                    continue
        if here == 0 and alive:
            # What is in or out at the root stays so.
            candidates, rooted = count, length
            m = 0
            for row in order:
                if place[row] < count:
                    narrow[m] = row
                    m += 1
            layout = narrow[:m], key, clique, width
        if alive and count:
            # Branch on the row that is in about as often as out, else on the one worth most.
            row = opened[0]
            high, doubt = -np.inf, int(np.int64(-1))
            for i in range(count):
                other = opened[i]
                a = profit[other] - price * costs[other]
                b = min(share[other], _NODE_ROUNDS - share[other]) if priced_rules else 0
                if b > doubt or (b == doubt and (a > high or (a == high and other < row))):
                    row, high, doubt = other, a, b
            nodes = with_room(nodes, made, made + 2)
            heap = with_room(heap, waiting, waiting + 2)
            for side in range(2):
                nodes[made + side, 0] = here
                nodes[made + side, 1] = 2 * row + side
                nodes[made + side, 2] = ceiling
            waiting = pushed(made, heap, waiting, nodes)
            here = made + 1
            made += 2
            alive = plunge or ceiling >= nodes[heap[0], 2]
            if alive:  # what is open is addable
                _, size, cost = admit(row, costs, left, rules, state, KEEP)
                left -= cost
                for i in range(size):
                    trail[length] = closure[i]
                    length += 1
                    value += values[closure[i]]
            else:
                waiting = pushed(here, heap, waiting, nodes)
        else:
            alive = False
        if not alive:
            # The node that waits with the highest bound.
            if waiting == 0 or nodes[heap[0], 2] <= best:
                return best, best, work
            returns += 1
            plunge = returns % _PLUNGE == 0
            here = heap[0]
            waiting = popped(heap, waiting, nodes)
            ceiling = nodes[here, 2]
            while length > rooted:
                length -= 1
                toggle(trail[length], rules, state)
                left += costs[trail[length]]
                value -= values[trail[length]]
            count = candidates
            deep = 0
            at_node = here
            while at_node > 0:
                path[deep] = nodes[at_node, 1]
                deep += 1
                at_node = nodes[at_node, 0]
            work += deep
            while deep > 0:
                deep -= 1
                row = path[deep] >> 1
                if path[deep] & 1:  # not more are in than when it was open, so it is addable
                    _, size, cost = admit(row, costs, left, rules, state, KEEP)
                    left -= cost
                    for i in range(size):
                        trail[length] = closure[i]
                        length += 1
                        value += values[closure[i]]
                else:
                    count = dropped(row, opened, place, count)
        if work > work_limit:
            ceiling = max(ceiling, best)
            if waiting and nodes[heap[0], 2] > ceiling:
                ceiling = nodes[heap[0], 2]
            return best, ceiling, work


@kernel
def dropped(row: int, opened: Ints, place: Ints, count: int) -> int:
    """Take a row out of the first `count` of `opened`, by an exchange; the new count. O(1)."""
    last = opened[count - 1]
    opened[place[row]], opened[count - 1] = last, row
    place[last], place[row] = place[row], count - 1
    return count - 1


@kernel
def pushed(node: int, heap: Ints, size: int, nodes: Ints) -> int:
    """Let a node wait: the new size of the heap. Of equal bounds the latest is first. O(log n)."""
    at = size
    while at > 0:
        above = heap[(at - 1) // 2]
        if nodes[above, 2] > nodes[node, 2] or (nodes[above, 2] == nodes[node, 2] and above > node):
            break
        heap[at] = above
        at = (at - 1) // 2
    heap[at] = node
    return size + 1


@kernel
def popped(heap: Ints, size: int, nodes: Ints) -> int:
    """Take the first node off the heap: its new size. O(log n)."""
    size -= 1
    node = heap[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size:
            a, b = nodes[heap[child + 1], 2], nodes[heap[child], 2]
            if a > b or (a == b and heap[child + 1] > heap[child]):
                child += 1
        a, b = nodes[heap[child], 2], nodes[node, 2]
        if a < b or (a == b and heap[child] < node):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = node
    return size


@kernel
def first_price(profit: Floats, costs: Ints, opened: Ints, count: int) -> float:
    """A price at which no open row is worth its cost."""
    price = 0.0
    for i in range(count):
        if costs[opened[i]] > 0:
            price = max(price, profit[opened[i]] / costs[opened[i]])
    return price * (1.0 + 2.0**-40) + 2.0**-20
