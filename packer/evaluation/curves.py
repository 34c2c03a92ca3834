"""Curves of a measure over the budget, as hand-written SVG."""

import math
from collections.abc import Sequence
from html import escape
from typing import Final

from .results import Evaluation

__all__ = ["DASHES", "HUES", "curves"]

HUES: Final = 8
"""Colours of the page (`--c0` to `--c7`); policies beyond them get other dashes."""

DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")

WIDTH: Final = 420
HEIGHT: Final = 260
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 10, 34

STEPS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
"""Distances that lines of the grid may have."""

MOST_LINES: Final = 6


def curves(evaluation: Evaluation, name: str, measure: str, label: str) -> str:
    """The curves of a set, one for each policy, with its interval at each budget.

    Points have their figures as titles, which a browser shows; `label` says what the picture is.
    Empty when the set does not have the measure.
    """
    found = [
        [evaluation.cell(name, policy, budget).figures[measure] for budget in evaluation.budgets]
        for policy in evaluation.policies
    ]
    if any(figure is None for row in found for figure in row):
        return ""
    rows = [[figure for figure in row if figure is not None] for row in found]
    low = min(figure.low for row in rows for figure in row)
    high = max(figure.high for row in rows for figure in row)
    grid = _grid(low, high)
    axes = _Axes(evaluation.budgets, grid[0], grid[-1])
    parts = [_frame(axes, grid)]
    for at, (policy, row) in enumerate(zip(evaluation.policies, rows, strict=True)):
        points = [
            (axes.x(b), axes.y(f.value)) for b, f in zip(evaluation.budgets, row, strict=True)
        ]
        whiskers = "".join(
            f'<path d="M{x:.1f} {axes.y(figure.low):.1f}V{axes.y(figure.high):.1f}"/>'
            for (x, _), figure in zip(points, row, strict=True)
        )
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{escape(policy)}, {budget:,} tokens: '
            f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})</title></circle>"
            for (x, y), budget, figure in zip(points, evaluation.budgets, row, strict=True)
        )
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = DASHES[at // HUES % len(DASHES)]
        parts.append(
            f'<g class="p{at}" style="--c:var(--c{at % HUES})">'
            f'<g class="whisker">{whiskers}</g>'
            f'<polyline points="{line}" stroke-dasharray="{dash}"/>{dots}</g>'
        )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )


class _Axes:
    """From budgets (by their logarithm) and values to places."""

    def __init__(self, budgets: Sequence[int], low: float, high: float) -> None:
        self.budgets, self.low, self.high = budgets, low, high

    def x(self, budget: int) -> float:
        first, last = math.log(self.budgets[0]), math.log(self.budgets[-1])
        part = (math.log(budget) - first) / (last - first) if last > first else 0.5
        return LEFT + 8 + part * (WIDTH - LEFT - RIGHT - 16)

    def y(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)


def _grid(low: float, high: float) -> list[float]:
    """The values at which lines are drawn, from below the lowest to above the highest.

    >>> _grid(0.33, 0.81)
    [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
    step = next((s for s in STEPS if (high - low) / s <= MOST_LINES), 1.0)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(at * step, 10) for at in range(first, max(last, first + 1) + 1)]


def _frame(axes: _Axes, grid: list[float]) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = "".join(
        f'<path class="grid" d="M{LEFT} {axes.y(value):.1f}H{right}"/>'
        f'<text x="{LEFT - 6}" y="{axes.y(value) + 4:.1f}" text-anchor="end">{value:g}</text>'
        for value in grid
    )
    budgets = "".join(
        f'<text x="{axes.x(budget):.1f}" y="{bottom + 16}" text-anchor="middle">{budget:,}</text>'
        for budget in axes.budgets
    )
    unit = f'<text x="{right}" y="{HEIGHT - 3}" text-anchor="end">budget, tokens</text>'
    return lines + budgets + unit
