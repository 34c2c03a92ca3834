"""A plan on a page: a table of its sections, and below it the picture of each."""

import html
from collections.abc import Mapping

from packer.counted import number
from packer.records import Packed

from .document import document
from .markup import Html, element, joined, plain, prose
from .picture import page
from .tools import section

__all__ = ["plan_page"]


def plan_page(sections: Mapping[str, Packed], used: int, budget: int) -> str:
    """The page of a packed plan: each section's own page stands in a frame of it.

    `used`: tokens of the whole text.  The slider of a section moves what it may spend alone.
    """
    chunks = sum(len(packed) for packed in sections.values())
    title = (
        f"{number(chunks, 'chunk')} in {number(len(sections), 'section')}, "
        f"{used:,} of {budget:,} tokens"
    )
    frames = [
        section(f"section-{place}", plain(name), _frame(name, page(packed)))
        for place, (name, packed) in enumerate(sections.items())
    ]
    body = [
        element("header", element("h1", title)),
        element("main", section("sections", "Sections", _table(sections)), joined(*frames)),
    ]
    return document(title, *body, scripted=False)


def _frame(name: str, content: str) -> Html:
    """A page in a page; `element` would write its line ends out."""
    told = html.escape(plain(f"What was packed in {name}"))
    source = html.escape(content)
    return Html(
        f'<iframe srcdoc="{source}" sandbox="allow-scripts" class="frame" title="{told}"></iframe>'
    )


def _table(sections: Mapping[str, Packed]) -> Html:
    heads = [
        element("th", head, scope="col", class_="ids" if head == "policy" else None)
        for head in ("section", "chunks in", "out", "tokens", "room", "policy")
    ]
    rows = [
        element(
            "tr",
            element("th", prose(name), scope="row"),
            element("td", f"{packed.report.selected_count:,}"),
            element("td", f"{packed.report.excluded_count:,}"),
            element("td", f"{packed.report.tokens_used:,}"),
            element("td", f"{packed.report.budget:,}"),
            element("td", element("code", prose(packed.report.policy)), class_="ids"),
        )
        for name, packed in sections.items()
    ]
    table = element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", joined(*rows)),
    )
    return element(
        "div", table, class_="wide", tabindex=0, role="region", aria_label="Table of sections"
    )
