"""What every page is divided and searched by."""

from .markup import Html, element, joined

__all__ = ["section", "tools"]


def section(name: str, heading: str, *content: Html) -> Html:
    """A part of the page under its heading, which is also its name for a screen reader."""
    return element(
        "section",
        element("h2", heading, id=f"{name}-heading"),
        joined(*content),
        id=name,
        aria_labelledby=f"{name}-heading",
    )


def tools() -> Html:
    """Find, open and close; shown once the script runs."""
    return element(
        "div",
        element("label", "Find", for_="find"),
        element("input", id="find", type="search", autocomplete="off"),
        element("button", "Open all", id="open", type="button"),
        element("button", "Close all", id="close", type="button"),
        element("p", id="matches", role="status"),
        id="tools",
        hidden=True,
    )
