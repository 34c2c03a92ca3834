"""The same chunks and policy at other budgets: a slider, the curve of value, a table."""

import itertools
from collections.abc import Sequence
from typing import Any, Final

from packer.frontier import Frontier, FrontierPoint
from packer.records import PackedChunk

from .cast import Cast
from .markup import Html, element, joined, plain, prose

__all__ = ["thinned", "values", "what_if"]

MOST_PLACES: Final = 20_000
"""Chunks in all points together that a page has; of more points some are left out."""

MOST_NAMED: Final = 8
"""Ids in a cell of the table."""


def thinned(frontier: Frontier) -> Frontier:
    """The frontier with fewer points, evenly, where a page would become too large.

    The first, the last and the result's own stay.
    """
    points = frontier.points
    whole = sum(len(point.chunks) for point in points)
    if whole <= MOST_PLACES:
        return frontier
    wanted = max(len(points) * MOST_PLACES // whole, 2)
    places = {step * (len(points) - 1) // (wanted - 1) for step in range(wanted)}
    kept = [
        point
        for place, point in enumerate(points)
        if place in places or point.budget == frontier.budget
    ]
    return Frontier(tuple(kept), frontier.budget)


def values(cast: Cast, frontier: Frontier) -> dict[str, Any]:
    """What the slider draws: the chunks by number, and for each point which of them, in order."""
    chunks: dict[int, list[Any]] = {}
    points = []
    for point in frontier:
        rows = []
        lengths = {}
        for id_, tokens in zip(point.chunks, point.tokens, strict=True):
            member = cast.by_id[id_]
            record, score = member.record, member.record.score
            usual = record.charged if isinstance(record, PackedChunk) else record.tokens
            known = chunks.setdefault(
                member.row,
                [plain(id_), usual, cast.scale.css(score), f"{score:.4g}"],
            )
            if known[1] != tokens:
                lengths[member.row] = tokens
            rows.append(member.row)
        points.append(
            {
                "budget": point.budget,
                "used": point.tokens_used,
                "value": f"{point.value:.4g}",
                "rows": rows,
                "lengths": lengths,
                "refused": None if point.refused is None else plain(point.refused),
            }
        )
    return {"chunks": chunks, "points": points, "own": _own(frontier)}


def _own(frontier: Frontier) -> int:
    """The place of the result's own budget; of the nearest below where it is not there."""
    below = [place for place, point in enumerate(frontier) if point.budget <= frontier.budget]
    return below[-1] if below else 0


def what_if(frontier: Frontier) -> Html:
    """The slider (shown once the script runs), the curve, and the table of all points."""
    points = frontier.points
    own = _own(frontier)
    slider = element(
        "div",
        element("label", "Budget ", element("output", id="budget", for_="slider"), for_="slider"),
        element(
            "input",
            id="slider",
            type="range",
            min=0,
            max=len(points) - 1,
            step=1,
            value=own,
            autocomplete="off",
        ),
        element("button", "Back to this result", id="back", type="button"),
        element("p", id="said", role="status"),
        id="controls",
        hidden=True,
    )
    return joined(
        slider,
        _curve(frontier, own),
        element(
            "details",
            element("summary", f"All {len(points):,} budgets that were tried, as a table"),
            _table(points, own),
            class_="points",
        ),
    )


def _curve(frontier: Frontier, own: int) -> Html:
    """Total score against budget; a step runs on until the next budget that was tried."""
    points = frontier.points
    low, high = points[0].budget, points[-1].budget
    least = min(0.0, *(point.value for point in points))
    most = max(0.0, *(point.value for point in points))

    def x(budget: int) -> str:
        return f"{2 + 96 * (budget - low) / max(high - low, 1):.2f}%"

    def y(value: float) -> str:
        spread = (most - least) or 1.0
        return f"{92 - 84 * (value / spread - least / spread):.2f}%"

    drawn = [
        element("line", x1=x(frontier.budget), x2=x(frontier.budget), y1=0, y2="100%", class_="own")
    ]
    for point, after in itertools.pairwise(points):
        level, rise = y(point.value), x(after.budget)
        drawn += [
            element("line", x1=x(point.budget), x2=rise, y1=level, y2=level),
            element("line", x1=rise, x2=rise, y1=level, y2=y(after.value)),
        ]
    for place, point in enumerate(points):
        told = f"budget {point.budget:,}: total score {point.value:.4g}"
        dot = element("circle", element("title", told), cx=x(point.budget), cy=y(point.value), r=4)
        drawn.append(element("g", dot, class_="dot now" if place == own else "dot"))
    name = (
        f"Total score against budget, from {points[0].value:.4g} at {low:,} tokens to "
        f"{points[-1].value:.4g} at {high:,} tokens"
    )
    curve = element(
        "svg", joined(*drawn), id="curve", width="100%", height=140, role="img", aria_label=name
    )
    caption = element(
        "figcaption",
        element("span", f"{low:,} tokens"),
        element("span", f"total score up to {most:.4g}; dashed: this result's budget"),
        element("span", f"{high:,} tokens"),
    )
    return element("figure", curve, caption)


def _table(points: Sequence[FrontierPoint], own: int) -> Html:
    heads = [
        element("th", head, scope="col", class_="ids" if head in {"enter", "leave"} else None)
        for head in ("budget", "tokens used", "total score", "chunks", "enter", "leave")
    ]
    rows = []
    for place, point in enumerate(points):
        cells = (
            [element("td", prose(point.refused), colspan=5)]
            if point.refused is not None
            else [
                element("td", f"{point.tokens_used:,}"),
                element("td", f"{point.value:.4g}"),
                element("td", f"{len(point.chunks):,}"),
                element("td", _named(point.entered), class_="ids"),
                element("td", _named(point.left), class_="ids"),
            ]
        )
        head = element("th", f"{point.budget:,}", scope="row")
        rows.append(element("tr", head, *cells, class_="now" if place == own else None))
    table = element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", joined(*rows)),
    )
    return element(
        "div", table, class_="wide", tabindex=0, role="region", aria_label="Table of budgets"
    )


def _named(ids: Sequence[str]) -> Html:
    more = len(ids) - MOST_NAMED
    named = [element("span", prose(id_), class_="id") for id_ in ids[:MOST_NAMED]]
    parts = [part for one in named for part in (one, Html(", "))][:-1]
    return joined(*parts, f" and {more:,} more" if more > 0 else None)
