"""A better subset by small changes of the order in which rows are let in."""

import numpy as np

from ._jit import kernel
from .rules import Flags, Ints, Rules, asked_for, walked


@kernel
def improved(
    order: Ints,
    values: Ints,
    costs: Ints,
    capacity: int,
    rules: Rules,
    best: int,
    chosen: Flags,
    work_limit: int,
) -> int:
    """The value of the best subset met: `chosen` is overwritten when it beats `best`.

    `rules.base` and `walk` make a subset of an order of all rows. From that of `order`, and as long as
    a pass over all rows finds a better one: its rows stand first, and one of them moves to the
    end or another row to the front. `work_limit` bounds the tries times n, but one is made. O(n)
    and the rules for each try.
    """
    n = order.size
    now, new = order.copy(), order.copy()
    inside = np.zeros(n, np.bool_)  # the subset of `now`
    value = int(np.int64(-1))
    straight_on = np.bool_(False)
    failures = work = 0
    turn = -1  # first, the order as it is
    while failures <= n and work <= work_limit:
        if turn >= 0:
            row = order[turn]
            size = 0
            if not inside[row]:
                new[0] = row
                size = 1
            for other in now:
                if other != row:
                    new[size] = other
                    size += 1
            if inside[row]:
                new[size] = row
        turn = (turn + 1) % n
        work += n
        failures += 1
        met, fine = asked_for(new, costs, capacity, rules)
        if not fine:
            continue
        added = walked(new, costs, capacity, rules, met, straight_on)
        total = int(np.int64(0))
        for row in met:
            total += values[row]
        for row in added:
            total += values[row]
        if total <= value:
            continue
        value = total
        failures = 0
        for row in range(n):
            inside[row] = False
        size = 0
        for row in met:
            inside[row] = True
            now[size] = row
            size += 1
        for row in added:
            inside[row] = True
            now[size] = row
            size += 1
        for row in order:
            if not inside[row]:
                now[size] = row
                size += 1
    if value > best:
        best = value
        for row in range(n):
            chosen[row] = inside[row]
    return best
