"""Lazy greedy algorithms down a list that is sorted anew at every step: what a heap may save, exactly."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from packer.kernels.dpp import SPANNED, inner
from packer.kernels.mmr import LANES
from packer.kernels.rules import Ints, Rules

from . import naive_coverage, naive_rules

Matrix = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float64]


class _Queue:
    """The rows that are not looked at to the end, the best bound first, as the kernels rank them."""

    def __init__(self, rows: Sequence[int], bound: Callable[[int], float], scores: Floats) -> None:
        self.scores = scores.tolist()
        self.bound = {row: bound(row) for row in rows}

    def rank(self, row: int) -> tuple[float, float, int]:
        return self.bound[row], self.scores[row], -row

    def best(self) -> int:
        return max(self.bound, key=self.rank)

    def beaten(self, row: int) -> bool:
        return self.best() != row

    def drop(self, row: int) -> None:
        del self.bound[row]


class _Chosen:
    """The rows that are in, in order, and what may join them."""

    def __init__(self, costs: Ints, budget: int, rules: Rules, start: Sequence[int]) -> None:
        self.costs: list[int] = costs.tolist()
        self.budget = budget
        self.rules = rules
        self.rows = list(start)

    @property
    def left(self) -> int:
        return self.budget - sum(self.costs[row] for row in self.rows)

    def fits(self, row: int) -> bool:
        return row not in self.rows and self.costs[row] <= self.left

    def candidate(self, row: int) -> bool:
        """Whether nothing stands against the row by itself, whatever it needs."""
        inside = set(self.rows)
        return (
            self.fits(row)
            and not naive_rules.over(self.rules, inside | {row})
            and not naive_rules.rivals_of(self.rules, row) & inside
        )

    def joining(self, row: int) -> list[int]:
        """The row and what it needs; nothing where it may not join."""
        inside = set(self.rows)
        if naive_rules.broken(self.rules, self.costs, self.budget, inside, row):
            return []
        return naive_rules.ancestors(self.rules, row, inside)


def mmr(
    matrix: Matrix,
    embedded: npt.NDArray[np.bool_],
    scores: Floats,
    costs: Ints,
    budget: int,
    lambda_: float,
    rules: Rules,
    start: Sequence[int],
) -> tuple[list[int], int]:
    """What lazy MMR chooses, and how many similarities it looks at."""
    chosen = _Chosen(costs, budget, rules, start)
    everything = range(len(scores))
    if not chosen.rows:
        addable = [row for row in everything if chosen.joining(row)]
        if addable:
            chosen.rows += chosen.joining(max(addable, key=lambda row: (scores[row], -row)))
    compared = 0
    seen = [0] * len(scores)
    nearest = [-1.0 if vector else 0.0 for vector in embedded]

    def value(row: int) -> float:
        return float(lambda_ * scores[row] - (1.0 - lambda_) * nearest[row])

    queue = _Queue([row for row in everything if chosen.fits(row)], value, scores)
    while queue.bound:
        row = queue.best()
        if not chosen.candidate(row):
            queue.drop(row)
        elif seen[row] == len(chosen.rows):
            chosen.rows += chosen.joining(row)
            queue.drop(row)
        while row in queue.bound and seen[row] < len(chosen.rows):
            others = chosen.rows[seen[row] :][:LANES]
            alike = [bool(embedded[row] and embedded[other]) for other in others]
            count = max(alike.index(False) if False in alike else len(others), 1)
            seen[row] += count
            compared += count
            nearest[row] = max(nearest[row], *(float(matrix[row, one]) for one in others[:count]))
            queue.bound[row] = value(row)
            if queue.beaten(row):
                break
    return chosen.rows[len(start) :], compared


class _Factor:
    """The Cholesky rows of `dpp`, an entry at a time, and what each leaves of its 1."""

    def __init__(self, matrix: Matrix, chosen: list[int]) -> None:
        self.matrix = matrix
        self.chosen = chosen
        self.rows = np.zeros(matrix.shape)
        self.residual = [1.0] * len(matrix)
        self.seen = [0] * len(matrix)

    def extend(self, row: int) -> None:
        place, other = self.seen[row], self.chosen[self.seen[row]]
        value = float(self.matrix[row, other]) - inner(self.rows, row, other, place)
        if self.residual[other] > SPANNED:
            self.rows[row, place] = value / math.sqrt(self.residual[other])
        self.residual[row] -= float(self.rows[row, place]) ** 2
        self.seen[row] += 1


def dpp(
    matrix: Matrix,
    scores: Floats,
    quality: Floats,
    weight: float,
    costs: Ints,
    budget: int,
    rules: Rules,
    start: Sequence[int],
) -> tuple[list[int], list[float], int]:
    """What lazy greedy MAP chooses, the residuals it leaves, and how many entries it takes."""
    chosen = _Chosen(costs, budget, rules, [])
    factor = _Factor(matrix, chosen.rows)

    def put_in(rows: Sequence[int]) -> None:
        for row in rows:
            while weight and factor.seen[row] < len(chosen.rows):
                factor.extend(row)
            chosen.rows.append(row)

    def value(row: int) -> float:
        if not factor.seen[row]:
            return float(quality[row])
        left = factor.residual[row]
        return float(quality[row] + weight * np.log(left)) if left > SPANNED else -math.inf

    put_in(start)
    queue = _Queue([row for row in range(len(scores)) if chosen.fits(row)], value, scores)
    while queue.bound:
        row = queue.best()
        if not chosen.candidate(row) or queue.bound[row] == -math.inf:
            queue.drop(row)
        elif not weight or factor.seen[row] == len(chosen.rows):
            put_in(chosen.joining(row))
            queue.drop(row)
        else:
            factor.extend(row)
            queue.bound[row] = value(row)
    return chosen.rows[len(start) :], factor.residual, sum(factor.seen)


def coverage(
    value: naive_coverage.Value,
    upper: Floats,
    scores: Floats,
    rate: Floats,
    costs: Ints,
    budget: int,
    rules: Rules,
    start: Sequence[int],
    *,
    lead: bool,
) -> tuple[list[int], float, int]:
    """What lazy coverage chooses, its bound, and how many gains it takes."""
    n = len(scores)
    chosen = _Chosen(costs, budget, rules, start)
    gain = [float(much) for much in upper]
    seen = [-1] * n
    gains = 0

    def refreshed(row: int, queue: _Queue, rank: Callable[[int], float]) -> bool:
        """Whether the row had to be looked at again."""
        nonlocal gains
        if seen[row] == len(chosen.rows):
            return False
        gain[row] = value.gain(row, value.cover(chosen.rows))
        queue.bound[row] = rank(row)
        seen[row] = len(chosen.rows)
        gains += 1
        return True

    def by_rate(row: int) -> float:
        return gain[row] * (1.0 if lead and len(chosen.rows) == len(start) else float(rate[row]))

    queue = _Queue([row for row in range(n) if chosen.fits(row)], by_rate, scores)
    while queue.bound:
        row = queue.best()
        if chosen.fits(row) and refreshed(row, queue, by_rate):
            continue
        queue.drop(row)
        if chosen.fits(row):
            chosen.rows += chosen.joining(row)
            queue.bound = {row: by_rate(row) for row in queue.bound}

    def by_cost(row: int) -> float:
        return gain[row] / float(costs[row])

    bound = value.of(chosen.rows)
    out = [row for row in range(n) if row not in chosen.rows and costs[row] <= budget]
    bound += sum(value.gain(row, value.cover(chosen.rows)) for row in out if costs[row] == 0)
    queue = _Queue([row for row in out if costs[row]], by_cost, scores)
    left = budget
    while queue.bound and left > 0:
        row = queue.best()
        if not refreshed(row, queue, by_cost):
            bound += gain[row] * min(1.0, left / float(costs[row]))
            left -= min(left, int(costs[row]))
            queue.drop(row)
    return chosen.rows[len(start) :], bound, gains
