"""The stages, with chunks and tokens in and out."""

from typing import Final

from .cast import Cast
from .markup import Html, element, joined, prose

__all__ = ["funnel"]

SHARE: Final = "share let through"


def funnel(cast: Cast) -> Html:
    """One row a stage; the bar is what it lets through, of the tokens that came in at first."""
    stages = cast.report.stages
    if not stages:
        return element("p", "No stage ran.", class_="empty")
    first = stages[0].tokens_in or 1
    before = cast.report.excluded_count - sum(one.chunks_in - one.chunks_out for one in stages)
    rows = [
        element(
            "tr",
            element("th", element("code", prose(one.stage)), scope="row"),
            element("td", f"{one.chunks_in:,}"),
            element("td", f"{one.chunks_out:,}"),
            element("td", f"{one.tokens_in:,}"),
            element("td", f"{one.tokens_out:,}"),
            element("td", _share(one.tokens_out / first), class_="share"),
            element("td", f"{one.microseconds / 1e3:,.2f}"),
        )
        for one in stages
    ]
    heads = [
        element("th", head, scope="col", class_="share" if head == SHARE else None)
        for head in ("stage", "chunks in", "out", "tokens in", "out", SHARE, "ms")
    ]
    table = element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", joined(*rows)),
    )
    aside = f"{before:,} were set aside before all stages." if before else None
    return joined(
        element("div", table, class_="wide", tabindex=0, role="region", aria_label="Funnel table"),
        element("p", aside, class_="empty") if aside else None,
    )


def _share(share: float) -> Html:
    return element(
        "svg",
        element("rect", width="100%", height="100%", class_="track"),
        element("rect", width=f"{100 * min(share, 1.0):.3f}%", height="100%", class_="filled"),
        width="100%",
        height=12,
        role="img",
        aria_label=f"{share:.0%}",
    )
