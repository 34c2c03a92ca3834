"""The slow, obvious twin of the coverage kernel: every gain of every row at every step."""

from collections.abc import Sequence
from itertools import compress, product

import attrs
import numpy as np
import numpy.typing as npt

from packer.kernels.rules import Rules

from . import naive_rules

Matrix = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class Value:
    """The value of sets of rows; `ceiling` None: facility location."""

    matrix: Matrix
    worth: Sequence[float]
    weights: Sequence[float]
    ceiling: Sequence[float] | None

    def cover(self, rows: Sequence[int]) -> list[float]:
        """How much each row is covered, in the order of `rows`."""
        covered = [0.0] * len(self.worth)
        for row in rows:
            for v in range(len(covered)):
                similarity = max(float(self.matrix[row, v]), 0.0)
                if self.ceiling is None:
                    covered[v] = max(covered[v], similarity)
                else:
                    covered[v] = min(covered[v] + similarity, self.ceiling[v])
        return covered

    def gain(self, row: int, covered: Sequence[float]) -> float:
        """What the row adds, summed as the kernel sums."""
        total = 0.0
        for v, weight in enumerate(self.weights):
            similarity = float(self.matrix[row, v])
            if self.ceiling is None:
                more = max(similarity - covered[v], 0.0)
            else:
                more = min(max(similarity, 0.0), self.ceiling[v] - covered[v])
            total += weight * more
        return self.worth[row] + total

    def of(self, rows: Sequence[int]) -> float:
        """The value of a set."""
        covered = self.cover(rows)
        return sum(self.worth[row] for row in rows) + sum(
            weight * much for weight, much in zip(self.weights, covered, strict=True)
        )

    def best(self, costs: Sequence[int], budget: int) -> float:
        """The highest value of any set within the budget, by trying all."""
        rows = range(len(costs))
        return max(
            self.of(list(compress(rows, flags)))
            for flags in product((False, True), repeat=len(costs))
            if sum(compress(costs, flags)) <= budget
        )


def select(
    value: Value,
    scores: Sequence[float],
    rate: Sequence[float],
    costs: Sequence[int],
    budget: int,
    rules: Rules,
    start: Sequence[int],
    *,
    lead: bool = False,
) -> list[int]:
    """Eager greedy: the addable row with the greatest gain * rate, at every step."""
    added: list[int] = []
    while True:
        chosen = [*start, *added]
        covered = value.cover(chosen)
        by_gain = lead and not added

        def worth(row: int, covered: list[float] = covered, *, alone: bool = by_gain) -> float:
            return value.gain(row, covered) * (1.0 if alone else rate[row])

        addable = [
            row
            for row in range(len(costs))
            if row not in chosen and naive_rules.broken(rules, costs, budget, set(chosen), row) == 0
        ]
        if not addable:
            return added
        pick = max(addable, key=lambda row: (worth(row), scores[row], -row))
        added += naive_rules.ancestors(rules, pick, set(chosen))
