"""The slow twins of the relaxation of rules and of the prices for what it leaves out."""

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from math import inf, sqrt

from packer.kernels.relaxation import Layout
from packer.kernels.rules import Ints, Rules

from .naive_rules import keys_of, rivals_of, total

Constraint = tuple[dict[int, float], float]


def cover(order: Sequence[int], rules: Rules) -> list[list[int]]:
    """Cliques that hold each pair of rivals, greedily by the order."""
    cliques: list[list[int]] = []
    for row in order:
        near = [other for other in sorted(rivals_of(rules, row)) if other in order]
        for other in near:
            if any({row, other} <= set(clique) for clique in cliques):
                continue
            clique = [row, other]
            for third in near:
                if third not in clique and set(clique) <= rivals_of(rules, third):
                    clique.append(third)
            cliques.append(clique)
    return cliques


def quotas_of(rows: Sequence[int], rules: Rules) -> tuple[int, int]:
    """The quotas that keys and cliques stand for: (kept, exclusive), -1 for none.

    Exclusive is the first of which no two rows fit; kept, of the others, the one with most rows
    beyond what fits of the smallest, the first of equals.
    """
    kept = exclusive = -1
    surplus = 0
    for j, most in enumerate(rules[4].tolist()):
        bound = [row for row in rows if rules[1][j, row] >= 0]
        amounts = sorted(int(rules[2][j, row]) for row in bound)
        if not bound:
            continue
        if exclusive < 0 and 2 * amounts[0] > most:
            exclusive = j
            continue
        beyond = 0
        for key in keys_of(rules, j):
            of_key = [int(rules[2][j, row]) for row in bound if rules[1][j, row] == key]
            if of_key and min(of_key) > 0:
                beyond += max(0, len(of_key) - most // min(of_key))
        if beyond > surplus:
            surplus, kept = beyond, j
    return kept, exclusive


def fits(rows: set[int], layout: Layout, slots: Sequence[int]) -> bool:
    """Whether at most one row of each clique is in, and at most so many under each key."""
    _, key, clique, _ = layout
    if len({int(clique[row]) for row in rows}) < len(rows):
        return False
    return all(sum(key[row] == k for row in rows) <= most for k, most in enumerate(slots))


def subsets(rows: Sequence[int]) -> Iterable[set[int]]:
    return (set(some) for size in range(len(rows) + 1) for some in combinations(rows, size))


def greedy(gain: Sequence[float], rows: Sequence[int], layout: Layout, slots: Ints) -> list[int]:
    """The best rows that fit: of each clique the first of highest gain, of each key the first."""
    order, key, clique, _ = layout
    heads: dict[int, int] = {}
    for row in order.tolist():
        own = int(clique[row])
        if row in rows and gain[row] > max(0.0, gain[heads[own]] if own in heads else 0.0):
            heads[own] = row
    best = sorted(heads.values(), key=lambda row: -gain[row])
    room = dict(enumerate(slots.tolist()))
    found = []
    for row in best:
        if room[int(key[row])] > 0:
            room[int(key[row])] -= 1
            found.append(row)
    return found


def constraints(
    rows: Sequence[int],
    chosen: set[int],
    rules: Rules,
    layout: Layout,
    quotas: tuple[int, int],
    cliques: Sequence[Sequence[int]],
) -> list[Constraint]:
    """(coefficients, limit) of each rule that the layout does not stand for, before scaling."""
    clique = layout[2]
    found: list[Constraint] = []
    for j, (least, most) in enumerate(zip(rules[3].tolist(), rules[4].tolist(), strict=True)):
        for key in keys_of(rules, j):
            paid = {row: float(rules[2][j, row]) for row in rows if rules[1][j, row] == key}
            has = total(rules, chosen, j, key)
            by_slots = j == quotas[0] and len(set(paid.values())) == 1
            by_clique = j == quotas[1] and len({int(clique[row]) for row in paid}) == 1
            if sum(paid.values()) > most - has and not by_slots and not by_clique:
                found.append((paid, most - has))
            if has < least:
                found.append(({row: -more for row, more in paid.items()}, has - least))
    split = [some for some in cliques if len({int(clique[row]) for row in some}) > 1]
    found += [(dict.fromkeys(some, 1.0), 1) for some in split]
    for row in rows:
        parents = set(rules[8][rules[7][row] : rules[7][row + 1]].tolist()) - {row} - chosen
        found += [({row: 1.0, parent: -1.0}, 0) for parent in sorted(parents)]
    return found


def scaled(found: Sequence[Constraint]) -> list[Constraint]:
    """The same with coefficients of root mean square 1, where they are not all 0."""
    norms = [
        sqrt(sum(c * c for c in coefs.values()) / len(coefs)) if coefs else 0.0
        for coefs, _ in found
    ]
    return [
        ({row: c / (norm or 1.0) for row, c in coefs.items()}, limit / (norm or 1.0))
        for (coefs, limit), norm in zip(found, norms, strict=True)
    ]


def kept_by(found: Sequence[Constraint], rows: set[int]) -> bool:
    """Whether a subset keeps the constraints."""
    return all(
        sum(c for row, c in coefs.items() if row in rows) <= limit + 1e-9 for coefs, limit in found
    )


def constraints_in(columns: tuple[Ints, Ints, object, object]) -> list[Constraint]:
    """The constraints from the columns of the kernel."""
    at, members, coefs, limits = (column.tolist() for column in columns)  # type: ignore[attr-defined]
    assert at[0] == 0
    assert at[-1] == len(members) == len(coefs)
    return [
        (dict(zip(members[start:stop], coefs[start:stop], strict=True)), limit)
        for (start, stop), limit in zip(pairwise(at), limits, strict=True)
    ]


def priced(
    values: Sequence[int],
    costs: Sequence[int],
    left: int,
    inside: set[int],
    layout: Layout,
    slots: Ints,
    rows: Sequence[int],
    found: Sequence[Constraint],
    goal: int,
    price: float,
    prices: Sequence[float],
    theta: float,
    rounds: int,
) -> tuple[list[float], float, float, float, list[float], list[int]]:
    """(profit, constant, price, bound, prices, share): Polyak's steps, the best prices met.

    After ten turns without a better bound the step is 0.6 of what it was, from the best prices.
    """
    order = layout[0].tolist()
    mean = (1.0 + sum(costs[row] for row in order)) / len(order)
    share = [0] * len(values)

    def worth(prices: Sequence[float]) -> tuple[list[float], float]:
        profit = [float(value) for value in values]
        for y, (coefs, _) in zip(prices, found, strict=True):
            for row, c in coefs.items():
                profit[row] -= y * c
        return profit, sum(y * limit for y, (_, limit) in zip(prices, found, strict=True))

    best = inf, price, list(prices)
    stalled = 0
    for turn in range(rounds):
        if theta < 1e-3 or best[0] < goal + 1:
            break
        profit, constant = worth(prices)
        gain = [g - price * cost for g, cost in zip(profit, costs, strict=True)]
        taken = greedy(gain, rows, layout, slots)
        bound = constant + price * left + sum(gain[row] for row in taken)
        bound += sum(profit[row] for row in inside)
        stalled = 0 if turn == 0 or bound < best[0] - abs(best[0]) * 1e-6 else stalled + 1
        if bound < best[0]:
            best = bound, price, list(prices)
        if stalled == 10:
            stalled, theta = 0, theta * 0.6
            _, price, prices = best
            continue
        for row in taken:
            share[row] += 1
        rest = (sum(costs[row] for row in taken) - left) / mean
        slope = [
            sum(c for row, c in coefs.items() if row in taken or row in inside) - limit
            for coefs, limit in found
        ]
        norm = rest * rest if rest > 0 or price > 0 else 0.0
        norm += sum(s * s for s, y in zip(slope, prices, strict=True) if s > 0 or y > 0)
        if norm > 0:
            step = theta * (bound - goal + abs(goal) / 128) / norm
            price = max(0.0, price + step * rest / mean)
            prices = [max(0.0, y + step * s) for y, s in zip(prices, slope, strict=True)]
    bound, price, prices = best
    return *worth(prices), price, bound, list(prices), share
