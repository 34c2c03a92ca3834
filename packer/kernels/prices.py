"""Prices for the rules that `relaxation` drops, by subgradient steps.

Each dropped rule is a row of `coefficients * x <= limit`. At a price of 0 or more for what it is
exceeded by, the relaxation still bounds the optimum from above; the prices that make the bound
lowest are found by Polyak's steps (Held, Wolfe & Crowder, Validation of subgradient
optimization, Mathematical Programming 6, 1974).
"""

import numpy as np

from ._jit import kernel
from .relaxation import Floats, Layout, Scratch, relaxed
from .rules import Flags, Ints, Rules

_BEYOND = 2.0**-7  # so that a bound can fall below the goal, and does not just near it
Constraints = tuple[Ints, Ints, Floats, Floats]


def constraints(
    rows: Ints,
    chosen: Flags,
    rules: Rules,
    layout: Layout,
    quotas: tuple[int, int],
    cliques: tuple[Ints, Ints],
) -> Constraints:
    """The rules that the layout leaves out, for the rows that are open: (at, rows, coefs, limit).

    Constraint k has coefficients coefs[at[k]:at[k+1]] for rows[at[k]:at[k+1]], scaled to a root
    mean square of 1. `chosen` are in already. `quotas` are those of the keys and of the cliques.
    O(size), and some microseconds for each constraint.
    """
    group, amount, least, most, _, _, parent_at, parents = rules[1:]
    kept, exclusive = quotas
    clique = layout[2]
    found: list[tuple[Ints, Ints, int]] = []
    for j in range(most.size):
        bound = rows[group[j, rows] >= 0]
        bound = bound[np.argsort(group[j, bound], kind="stable")]
        inside = np.flatnonzero(chosen & (group[j] >= 0))
        keys = int(group[j].max(initial=-1)) + 1
        has = np.zeros(keys, np.int64)
        np.add.at(has, group[j, inside], amount[j, inside])
        ends = np.searchsorted(group[j, bound], np.arange(keys + 1))
        for key in range(keys):
            members = bound[ends[key] : ends[key + 1]]
            paid = amount[j, members]
            implied = (
                members.size == 0
                or (j == kept and np.ptp(paid) == 0)
                or (j == exclusive and np.ptp(clique[members]) == 0)
            )
            if not implied and paid.sum() > most[j] - has[key]:
                found.append((members, paid, int(most[j] - has[key])))
            if has[key] < least[j]:
                found.append((members, -paid, int(has[key] - least[j])))
    at, members = cliques
    for k in range(at.size - 1):
        some = members[at[k] : at[k + 1]]
        if (clique[some] != clique[some[0]]).any():
            found.append((some, np.ones(some.size, np.int64), 1))
    if parents.size:
        pair = np.array([1, -1])
        for row in rows:
            missing = parents[parent_at[row] : parent_at[row + 1]]
            missing = missing[~chosen[missing] & (missing != row)]
            found.extend((np.array([row, parent]), pair, 0) for parent in missing)
    if not found:
        return np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0)
    at = np.cumsum([0, *(some.size for some, _, _ in found)])
    norms = [
        float(np.sqrt(np.square(coefs, dtype=np.float64).sum() / max(coefs.size, 1))) or 1.0
        for _, coefs, _ in found
    ]
    return (
        at,
        np.concatenate([some for some, _, _ in found]),
        np.concatenate([coefs / norm for (_, coefs, _), norm in zip(found, norms, strict=True)]),
        np.array([limit / norm for (_, _, limit), norm in zip(found, norms, strict=True)]),
    )


@kernel
def priced(
    values: Ints,
    costs: Ints,
    left: int,
    inside: Flags,
    layout: Layout,
    slots: Ints,
    place: Ints,
    count: int,
    scratch: Scratch,
    bounds: Constraints,
    goal: int,
    price: float,
    prices: Floats,
    theta: float,
    rounds: int,
    share: Ints,
) -> tuple[Floats, float, float, float]:
    """Prices that make the bound low: (profit[n], constant, price of a token, bound).

    `profit` is what a row is worth when the prices of the constraints are paid, and `constant`
    what these are worth. `share` counts how often each row was in. The rows `inside` are in.
    `goal` is a value that is known to be reached; `price` and `prices` are where to start, and
    `prices` is overwritten with the best; `theta` is the part of Polyak's step that is taken at
    first. O(rounds * (rows + coefficients)).
    """
    at, members, coefs, limits = bounds
    order, _, clique, _ = layout
    gain, leader = scratch[0], scratch[2]
    m = limits.size
    lowest_prices = prices.copy()
    for row in range(share.size):
        share[row] = 0
    slope = np.empty(m)
    profit = np.empty(values.size)
    mean = 1.0
    for row in order:
        mean += costs[row]
    mean /= order.size
    lowest, lowest_price = np.inf, price
    stalled = 0
    constant = 0.0
    for turn in range(rounds + 1):
        last = turn == rounds or theta < 1e-3 or lowest < goal + 1
        if last:
            price = lowest_price
            for k in range(m):
                prices[k] = lowest_prices[k]
        for row in range(values.size):
            profit[row] = values[row]
        constant = 0.0
        for k in range(m):
            constant += prices[k] * limits[k]
            if prices[k] > 0.0:
                for i in range(at[k], at[k + 1]):
                    profit[members[i]] -= prices[k] * coefs[i]
        if last:  # the best prices again
            break
        more, used, _ = relaxed(price, profit, costs, layout, slots, place, count, scratch)
        bound = constant + price * left + more
        for row in range(values.size):
            if inside[row]:
                bound += profit[row]
        if bound < lowest - abs(lowest) * 1e-6 or turn == 0:
            stalled = 0
        else:
            stalled += 1
        if bound < lowest:
            lowest, lowest_price = bound, price
            for k in range(m):
                lowest_prices[k] = prices[k]
        if stalled >= 10:
            stalled = 0
            theta *= 0.6
            price = lowest_price
            for k in range(m):
                prices[k] = lowest_prices[k]
            continue
        for row in order:
            if place[row] < count and leader[clique[row]] == row and gain[row] > 0.0:
                share[row] += 1
        rest = (used - left) / mean
        norm = rest * rest if rest > 0.0 or price > 0.0 else 0.0
        for k in range(m):
            slope[k] = -limits[k]
            for i in range(at[k], at[k + 1]):
                row = members[i]
                taken = place[row] < count and leader[clique[row]] == row and gain[row] > 0.0
                if taken or inside[row]:
                    slope[k] += coefs[i]
            if slope[k] > 0.0 or prices[k] > 0.0:
                norm += slope[k] * slope[k]
        if norm == 0.0:
            continue
        step = theta * (bound - goal + abs(goal) * _BEYOND) / norm
        price = max(0.0, price + step * rest / mean)
        for k in range(m):
            prices[k] = max(0.0, prices[k] + step * slope[k])
    return profit, constant, price, lowest
