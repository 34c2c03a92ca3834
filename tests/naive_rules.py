"""The slow, obvious twins of the kernels that obey rules: every rule checked, one chunk at a time."""

from collections.abc import Sequence
from itertools import compress, product

import numpy as np
import numpy.typing as npt

from packer.kernels.rules import Rules


def keys_of(rules: Rules, j: int) -> range:
    """The keys of quota j."""
    return range(int(max(rules[1][j], default=-1)) + 1)


def total(rules: Rules, rows: set[int], j: int, key: int) -> int:
    """What the rows count under one key of quota j."""
    return sum(int(rules[2][j, row]) for row in rows if rules[1][j, row] == key)


def rivals_of(rules: Rules, row: int) -> set[int]:
    return set(rules[6][rules[5][row] : rules[5][row + 1]].tolist())


def ancestors(rules: Rules, row: int, chosen: set[int]) -> list[int]:
    """The closure of a row: what it needs and is not chosen, ancestors first, then itself."""
    found: list[int] = []
    seen = set(chosen)

    def visit(here: int) -> None:
        seen.add(here)
        for parent in rules[8][rules[7][here] : rules[7][here + 1]].tolist():
            if parent not in seen:
                visit(parent)
        found.append(here)

    visit(row)
    return found


def over(rules: Rules, rows: set[int]) -> list[int]:
    """The quotas that these rows exceed for some key."""
    return [
        j
        for j in range(len(rules[4]))
        if any(total(rules, rows, j, key) > rules[4][j] for key in keys_of(rules, j))
    ]


def clash(rules: Rules, rows: set[int]) -> bool:
    return any(rivals_of(rules, row) & rows for row in rows)


def broken(rules: Rules, costs: Sequence[int], capacity: int, chosen: set[int], row: int) -> int:
    """Why a row cannot join the chosen, in the numbers of `rules.broken`."""
    exceeded = over(rules, chosen | {row})
    if exceeded:
        return 2 + exceeded[0]
    if rivals_of(rules, row) & chosen:
        return 1000
    together = chosen | set(ancestors(rules, row, chosen))
    if over(rules, together) or clash(rules, together):
        return 1001
    return int(sum(costs[i] for i in together) > capacity)


def walk(
    order: Sequence[int],
    costs: Sequence[int],
    capacity: int,
    rules: Rules,
    start: Sequence[int],
    *,
    stop: bool = False,
) -> list[int]:
    added: list[int] = []
    for row in order:
        chosen = {*start, *added}
        if row in chosen:
            continue
        reason = broken(rules, costs, capacity, chosen, row)
        if reason == 0:
            added += ancestors(rules, row, chosen)
        elif stop and reason == 1:
            break
    return added


def short(rules: Rules, rows: set[int], j: int, key: int) -> bool:
    return bool(total(rules, rows, j, key) < rules[3][j])


def base(
    order: Sequence[int], costs: Sequence[int], capacity: int, rules: Rules
) -> tuple[list[int], bool]:
    pins = [row for row in [*order, *range(len(costs))] if rules[0][row]]
    added = walk(pins, costs, capacity, rules, [])
    fine = set(pins) <= set(added)
    for j in range(len(rules[3])):
        for row in order:
            key = int(rules[1][j, row])
            if row not in added and key >= 0 and short(rules, set(added), j, key):
                added += walk([row], costs, capacity, rules, added)
    return added, fine and satisfied(rules, set(added), pins=False)


def satisfied(rules: Rules, rows: set[int], *, pins: bool = True) -> bool:
    """Whether a whole subset keeps every rule."""
    n = len(rules[0])
    return (
        all(row in rows for row in range(n) if pins and rules[0][row])
        and not over(rules, rows)
        and not any(
            short(rules, rows, j, key) for j in range(len(rules[3])) for key in keys_of(rules, j)
        )
        and not clash(rules, rows)
        and all(
            parent in rows
            for row in rows
            for parent in rules[8][rules[7][row] : rules[7][row + 1]].tolist()
        )
    )


def best(values: Sequence[int], costs: Sequence[int], capacity: int, rules: Rules) -> int | None:
    """The highest total value of a subset that keeps the rules, by trying all; None: none does."""
    n = len(values)
    found: int | None = None
    for flags in product((False, True), repeat=n):
        value = sum(compress(values, flags))
        if (found is None or value > found) and sum(compress(costs, flags)) <= capacity:
            rows = set(compress(range(n), flags))
            if satisfied(rules, rows):
                found = value
    return found


def mmr(
    matrix: npt.NDArray[np.float64],
    scores: Sequence[float],
    costs: Sequence[int],
    budget: int,
    lambda_: float,
    rules: Rules,
    start: Sequence[int],
) -> list[int]:
    """Eager MMR: every addable row against every chosen one, at every step."""
    added: list[int] = []
    while True:
        chosen = [*start, *added]

        def value(row: int, chosen: list[int] = chosen) -> float:
            if not chosen:
                return scores[row]
            nearest = max(float(matrix[row, other]) for other in chosen)
            return lambda_ * scores[row] - (1.0 - lambda_) * nearest

        addable = [
            row
            for row in range(len(scores))
            if row not in chosen and broken(rules, costs, budget, set(chosen), row) == 0
        ]
        if not addable:
            return added
        pick = max(addable, key=lambda row: (value(row), scores[row], -row))
        added += ancestors(rules, pick, set(chosen))


def multiple_choice(
    values: Sequence[int], costs: Sequence[int], capacity: int, classes: Sequence[int]
) -> int:
    """The highest value of at most one row of each class, by a table over what can be spent."""
    table = {0: 0}
    for which in set(classes):
        before = dict(table)
        for value, cost, own in zip(values, costs, classes, strict=True):
            for spent, worth in before.items() if own == which else ():
                if spent + cost <= capacity:
                    table[spent + cost] = max(table.get(spent + cost, 0), worth + value)
    return max(table.values())
