"""The rules that bind a selection, and the state of a selection that grows under them.

`Rules` is a tuple of nine read-only columns for n rows:

    pinned     bool[n]      must be in
    group      int64[r, n]  for each of r quotas the key of each row, 0 and up; -1: not bound
    amount     int64[r, n]  what a row counts in that quota, >= 0: 1, or its tokens
    least      int64[r]     for every key the amounts of the chosen rows add up to this or more
    most       int64[r]     and to this or less; sums stay below 2**62
    rival_at   int64[n+1]   rivals[rival_at[i]:rival_at[i+1]] and row i exclude each other;
    rivals     int64[...]   symmetric, nobody is its own rival
    parent_at  int64[n+1]   row i needs parents[parent_at[i]:parent_at[i+1]], and what these
    parents    int64[...]   need; rows that need each other come together or not at all

The *closure* of a row is the row and those it needs, directly or not, that are not chosen yet. A
row is *addable* when its closure fits what is left of the capacity, takes no key above `most` and
has no rival among the chosen and itself. As the chosen grow, no row becomes addable again.
"""

import numpy as np
import numpy.typing as npt

from ._jit import kernel

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Rules = tuple[Flags, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]
State = tuple[Flags, Ints, Ints, Ints, Ints, Ints]

ADDABLE, BUDGET, QUOTA, RIVAL, NEEDS = 0, 1, 2, 1000, 1001
"""Why a row is not addable, see `broken`; quota j is QUOTA + j."""

KEEP, PROBE = np.bool_(True), np.bool_(False)  # not literals: one specialisation of `admit`
"""Whether `admit` changes the state."""


def free(n: int) -> Rules:
    """The rules of n rows that nothing binds.

    >>> walk(np.arange(3), np.array([5, 9, 4]), 10, free(3), np.arange(0), False).tolist()
    [0, 2]
    """
    none, offsets = np.empty(0, np.int64), np.zeros(n + 1, np.int64)
    table = np.empty((0, n), np.int64)
    rules = np.zeros(n, np.bool_), table, table, none, none, offsets, none, offsets, none
    for column in rules:
        column.flags.writeable = False
    return rules


@kernel
def nothing_chosen(n: int, rules: Rules) -> State:
    """The state of an empty selection: (chosen[n], total[r, keys], floor[r, keys], closure, ...).

    `total` adds up the amounts of the chosen rows, `floor` is the least that they must come to;
    the last three are room for `closure_of`, and the very last is -1 throughout between calls.
    """
    group, least, parents = rules[1], rules[3], rules[8]
    keys = 0
    for j in range(least.size):
        for row in range(n):
            if group[j, row] >= keys:
                keys = group[j, row] + 1
    floor = np.zeros((least.size, keys), np.int64)
    for j in range(least.size):
        for row in range(n):
            for key in range(group[j, row], -1, -1):  # keys below one in use are in use
                if floor[j, key] == least[j]:
                    break
                floor[j, key] = least[j]
    at = np.empty(n if parents.size else 0, np.int64)
    for row in range(at.size):
        at[row] = -1
    deep = n if parents.size else 1
    return (
        np.zeros(n, np.bool_),
        np.zeros((least.size, keys), np.int64),
        floor,
        np.empty(deep, np.int64),
        np.empty(deep, np.int64),
        at,
    )


@kernel
def closure_of(row: int, rules: Rules, state: State) -> int:
    """Write the closure of a row that is not chosen to the state, ancestors first; its size.

    Depth first, without recursion. O(size + their needs).
    """
    parent_at, parents = rules[7], rules[8]
    chosen, _, _, closure, stack, at = state
    closure[0] = row
    if parents.size == 0 or parent_at[row] == parent_at[row + 1]:
        return 1
    size = 0
    depth = 1
    stack[0] = row
    at[row] = parent_at[row]
    while depth:
        here = stack[depth - 1]
        if at[here] < parent_at[here + 1]:
            parent = parents[at[here]]
            at[here] += 1
            if at[parent] < 0 and not chosen[parent]:
                at[parent] = parent_at[parent]
                stack[depth] = parent
                depth += 1
        else:
            closure[size] = here
            size += 1
            depth -= 1
    for i in range(size):
        at[closure[i]] = -1
    return size


@kernel
def blocked(row: int, rules: Rules, state: State) -> int:
    """What keeps one row out, whatever it needs and costs: 0, QUOTA + j or RIVAL."""
    _, group, amount, _, most, rival_at, rivals, _, _ = rules
    chosen, total = state[0], state[1]
    for j in range(group.shape[0]):
        key = group[j, row]
        if key >= 0 and total[j, key] + amount[j, row] > most[j]:
            return QUOTA + j
    if rivals.size:
        for k in range(rival_at[row], rival_at[row + 1]):
            if chosen[rivals[k]]:
                return RIVAL
    return ADDABLE


@kernel
def toggle(row: int, rules: Rules, state: State) -> None:
    """Choose one row, or take it back. O(r)."""
    group, amount = rules[1], rules[2]
    chosen, total = state[0], state[1]
    chosen[row] = not chosen[row]
    sign = 1 if chosen[row] else -1
    for j in range(group.shape[0]):
        if group[j, row] >= 0:
            total[j, group[j, row]] += sign * amount[j, row]


@kernel
def admit(
    row: int, costs: Ints, left: int, rules: Rules, state: State, keep: np.bool_
) -> tuple[int, int, int]:
    """Choose a row with its closure if it is addable: (why not, size and cost of the closure).

    With PROBE the state is as before in any case. The closure stands in the state.
    """
    closure = state[3]
    reason = blocked(row, rules, state)
    if reason:
        return reason, 0, 0
    size = closure_of(row, rules, state)
    placed = cost = 0
    while placed < size and not reason:
        if blocked(closure[placed], rules, state):
            reason = NEEDS
        else:
            toggle(closure[placed], rules, state)
            cost += costs[closure[placed]]
            placed += 1
    if not reason and cost > left:
        reason = BUDGET
    if reason or not keep:
        for i in range(placed):
            toggle(closure[i], rules, state)
    return reason, size, cost


@kernel
def started(rows: Ints, costs: Ints, capacity: int, rules: Rules) -> tuple[State, int]:
    """The state with these rows chosen, and what they leave of the capacity."""
    state = nothing_chosen(costs.size, rules)
    left = capacity
    for row in rows:
        toggle(row, rules, state)
        left -= costs[row]
    return state, left


def walk(
    order: Ints,
    costs: Ints,
    capacity: int,
    rules: Rules,
    start: Ints,
    stop: bool,  # noqa: FBT001  # as `prefix` or as `greedy`
) -> Ints:
    """The rows, int64[k], that go in when `order` is gone down once, as they go in.

    Each row of `order` that is addable is added, what it needs just before it. `start` are rows
    that are in already and count against the capacity; they are not returned. With `stop` the
    walk ends at the first row whose closure does not fit the capacity; what another rule keeps
    out is passed over. `costs` int64[n] >= 0. O(n) and the rules of the closures.
    """
    # Copies: writable, so that there is one specialisation of each kernel.
    return walked(order.copy(), costs, capacity, rules, start.copy(), np.bool_(stop))


@kernel
def walked(
    order: Ints, costs: Ints, capacity: int, rules: Rules, start: Ints, stop: np.bool_
) -> Ints:
    """As `walk`, of writable rows."""
    state, left = started(start, costs, capacity, rules)
    chosen, closure = state[0], state[3]
    added = np.empty(costs.size, np.int64)
    count = 0
    for row in order:
        if chosen[row] or (costs[row] > left and not stop):
            continue
        reason, size, cost = admit(row, costs, left, rules, state, KEEP)
        if reason == ADDABLE:
            left -= cost
            for i in range(size):
                added[count] = closure[i]
                count += 1
        elif stop and reason == BUDGET:
            break
    return added[:count]


@kernel
def unmet(state: State) -> bool:
    """Whether some key is below its `least`. O(r keys)."""
    total, floor = state[1], state[2]
    for j in range(floor.shape[0]):
        for key in range(floor.shape[1]):
            if total[j, key] < floor[j, key]:
                return True
    return False


def base(order: Ints, costs: Ints, capacity: int, rules: Rules) -> tuple[Ints, bool]:
    """What the rules ask for: (rows int64[k] as they go in, whether that is met).

    First the pins, in the order of `order` (those that it lacks last), with what they need. Then,
    for each quota with a `least`, the addable rows by `order` whose key is below it. False when a
    pin was not addable or a key stays below its `least`: `branch_and_bound.solve` knows whether
    some other choice meets the rules. O(r n) and the rules of the closures.
    """
    return asked_for(order.copy(), costs, capacity, rules)


@kernel
def asked_for(order: Ints, costs: Ints, capacity: int, rules: Rules) -> tuple[Ints, bool]:
    """As `base`, of writable rows."""
    pinned, group, least = rules[0], rules[1], rules[3]
    state = nothing_chosen(costs.size, rules)
    chosen, total, _, closure, _, _ = state
    added = np.empty(costs.size, np.int64)
    count = 0
    left = capacity
    fine = True
    for j in range(-2, least.size):  # -2, -1: the pins in `order`, then the others
        if j >= 0 and least[j] <= 0:
            continue
        for i in range(costs.size if j == -1 else order.size):
            row = i if j == -1 else order[i]
            wanted = pinned[row]
            if j >= 0:
                key = group[j, row]
                wanted = key >= 0 and total[j, key] < least[j]
            if chosen[row] or not wanted:
                continue
            reason, size, cost = admit(row, costs, left, rules, state, KEEP)
            if reason == ADDABLE:
                left -= cost
                for k in range(size):
                    added[count] = closure[k]
                    count += 1
            elif j < 0:
                fine = False
    return added[:count], fine and not unmet(state)


def reasons(rows: Ints, chosen: Flags, costs: Ints, capacity: int, rules: Rules) -> Ints:
    """For each of these rows, none of them chosen, what `broken` says; int64[len(rows)].

    O(n), and the rules of the closures.
    """
    return reasons_after(np.flatnonzero(chosen), rows.copy(), costs, capacity, rules)


@kernel
def reasons_after(start: Ints, rows: Ints, costs: Ints, capacity: int, rules: Rules) -> Ints:
    """As `reasons`, with the chosen as rows."""
    state, left = started(start, costs, capacity, rules)
    found = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        found[i] = admit(rows[i], costs, left, rules, state, PROBE)[0]
    return found


def broken(chosen: Flags, costs: Ints, capacity: int, rules: Rules, row: int) -> int:
    """Why a row that is not chosen cannot join those that are; `reasons` asks for many rows.

    0 ADDABLE; QUOTA + j: quota j is full for its key; RIVAL: a rival is in; NEEDS: of what it
    needs, something has a full quota or a rival, or all of it together breaks one; BUDGET: all
    this holds, and its closure does not fit. O(n).

    >>> broken(np.array([True, False]), np.array([6, 5]), 10, free(2), 1) == BUDGET
    True
    """
    return int(reasons(np.array([row]), chosen, costs, capacity, rules)[0])
