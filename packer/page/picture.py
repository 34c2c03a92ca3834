"""A result on a page, from the window down."""

from collections.abc import Iterable
from typing import Any

from packer.counted import number
from packer.errors import PackError, shown
from packer.frontier import Frontier
from packer.records import Packed, Report

from .cards import inside, outside
from .cast import Cast
from .differences import pairs
from .document import document
from .funnel import funnel
from .markup import Html, element, joined, prose
from .relations import relations
from .tools import section, tools
from .what_if import thinned, values, what_if
from .window import window

__all__ = ["page"]


def page(packed: Packed, budgets: Iterable[int] | None = None) -> str:
    """The page of a result.  `budgets`: those of the slider, as for `Packed.frontier`.

    O(n) besides the runs of the frontier; a page holds at most 2,000 chunks that are out, 60
    pairs and 20,000 characters of a text, and says what it leaves out.
    """
    cast = Cast.of(packed)
    found = relations(cast)
    curve, why = _curve(packed, budgets)
    body = [
        _header(cast),
        element(
            "main",
            section("window", "The window", window(cast)),
            section(
                "what-if",
                "At other budgets",
                element("p", prose(why), class_="empty") if curve is None else what_if(curve),
            ),
            tools(),
            section("in", f"In: {packed.report.selected_count:,}", inside(cast, found)),
            section("out", f"Out: {packed.report.excluded_count:,}", outside(cast, found)),
            section("funnel", "Stage by stage", funnel(cast)),
            section("pairs", "Near-duplicates side by side", pairs(cast)),
        ),
        _footer(packed.report),
    ]
    data: dict[str, Any] = {} if curve is None else values(cast, curve)
    report = packed.report
    return document(f"{report.selected_count} of {_all(report)} chunks packed", *body, values=data)


def _all(report: Report) -> int:
    return report.selected_count + report.excluded_count


def _header(cast: Cast) -> Html:
    report = cast.report
    stages = [element("li", element("code", prose(one.stage))) for one in report.stages]
    title = (
        f"{report.selected_count:,} of {number(_all(report), 'chunk')}, "
        f"{report.tokens_used:,} of {report.budget:,} tokens"
    )
    warnings = [
        element("li", element("strong", prose(one.code)), ": ", prose(one.message))
        for one in report.warnings
    ]
    return element(
        "header",
        element("h1", title),
        element("ol", joined(*stages), class_="policy", aria_label="Policy")
        if stages
        else element("p", element("code", prose(report.policy))),
        element("dl", *_figures(report), class_="figures"),
        element("ul", joined(*warnings), class_="warnings", aria_label="Warnings")
        if warnings
        else None,
    )


def _figures(report: Report) -> list[Html]:
    told = [
        ("tokens left", f"{report.tokens_remaining:,}"),
        ("used", f"{report.utilization:.1%}"),
        ("counter", f"{report.counter}{' (estimate)' if report.estimated else ''}"),
    ]
    if report.diversity is not None:
        told.append(("diversity", f"{report.diversity:.3f}"))
    if report.position_quality is not None:
        told.append(("position quality", f"{report.position_quality:.3f}"))
    if report.optimality is not None:
        best = report.optimality
        words = "proven best" if best.proven else f"at most {best.gap:.2%} below the best"
        told.append(("total score", f"{best.value:.6g}, {words}"))
    return [
        element("div", element("dt", name), element("dd", prose(value))) for name, value in told
    ]


def _curve(packed: Packed, budgets: Iterable[int] | None) -> tuple[Frontier | None, str]:
    """What the slider moves through; None, and why, where there is nothing.

    A caller's own function may fail at a budget that it was not written for; that costs the page
    its slider and not the engineer the page.
    """
    if isinstance(budgets, Iterable) and not isinstance(budgets, str):
        budgets = list(budgets)
    if budgets == []:
        return None, "No budgets were asked for."
    if not packed.replayable:
        return None, "This result was pickled or made by hand, so it cannot be packed again."
    try:
        return thinned(packed.frontier(budgets)), ""
    except PackError:
        raise
    except Exception as error:  # noqa: BLE001  # whatever a caller's own function raises
        return None, f"Packing within another budget failed: {shown(error)}"


def _footer(report: Report) -> Html:
    return element(
        "footer",
        element(
            "p",
            f"Packed at {report.timestamp} in {report.duration_ms:,.1f} ms by "
            f"{report.strategy}, order {report.ordering}.",
        ),
    )
