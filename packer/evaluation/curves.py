"""Curves of a measure over the budget, as hand-written SVG."""

import math
from collections.abc import Sequence
from typing import Final

from packer.page.markup import Html, element, plain

from .results import Evaluation, Figure

__all__ = ["curves", "line"]

HUES: Final = 8
"""Colours of the page (classes `h0` to `h7`); policies beyond them get other dashes."""

DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")

WIDTH: Final = 420
HEIGHT: Final = 260
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 10, 34

STEPS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
"""Distances that lines of the grid may have."""

MOST_LINES: Final = 6


def curves(evaluation: Evaluation, name: str, measure: str, label: str) -> Html | None:
    """The curves of a set, one for each policy, with its interval at each budget.

    Points have their figures as titles, which a browser shows; `label` says what the picture is.
    None when the set does not have the measure.
    """
    found = [
        [evaluation.cell(name, policy, budget).figures[measure] for budget in evaluation.budgets]
        for policy in evaluation.policies
    ]
    if any(figure is None for row in found for figure in row):
        return None
    rows = [[figure for figure in row if figure is not None] for row in found]
    low = min(figure.low for row in rows for figure in row)
    high = max(figure.high for row in rows for figure in row)
    grid = _grid(low, high)
    axes = _Axes(evaluation.budgets, grid[0], grid[-1])
    drawn = [
        _curve(axes, at, policy, row)
        for at, (policy, row) in enumerate(zip(evaluation.policies, rows, strict=True))
    ]
    return element(
        "svg",
        *_frame(axes, grid),
        *drawn,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=label,
        class_="curves",
    )


def line(at: int, points: str, *content: Html, class_: str | None) -> Html:
    """A line in the colour and the dashes of a policy; `content` has its colour."""
    dashes = DASHES[at // HUES % len(DASHES)]
    hue = f"h{at % HUES}"
    return element(
        "g",
        *content,
        element("polyline", points=points, stroke_dasharray=dashes or None),
        class_=hue if class_ is None else f"{class_} {hue}",
    )


def _curve(axes: "_Axes", at: int, policy: str, row: Sequence[Figure]) -> Html:
    places = [
        (axes.x(budget), axes.y(figure.value))
        for budget, figure in zip(axes.budgets, row, strict=True)
    ]
    whiskers = [
        element("path", d=f"M{x:.1f} {axes.y(figure.low):.1f}V{axes.y(figure.high):.1f}")
        for (x, _), figure in zip(places, row, strict=True)
    ]
    told = [
        f"{plain(policy)}, {budget:,} tokens: {figure.value:.3f} "
        f"({figure.low:.3f} to {figure.high:.3f})"
        for budget, figure in zip(axes.budgets, row, strict=True)
    ]
    dots = [
        element("circle", element("title", words), cx=f"{x:.1f}", cy=f"{y:.1f}", r=3)
        for (x, y), words in zip(places, told, strict=True)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return line(at, points, element("g", *whiskers, class_="whisker"), *dots, class_=f"p{at}")


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


def _frame(axes: _Axes, grid: list[float]) -> list[Html]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for value in grid:
        y = axes.y(value)
        parts += [
            element("path", class_="grid", d=f"M{LEFT} {y:.1f}H{right}"),
            _text(LEFT - 6, y + 4, f"{value:g}", "end"),
        ]
    parts += [
        _text(axes.x(budget), bottom + 16, f"{budget:,}", "middle") for budget in axes.budgets
    ]
    return [*parts, _text(right, HEIGHT - 3, "budget, tokens", "end")]


def _text(x: float, y: float, words: str, anchor: str) -> Html:
    return element("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)
