"""The file: what a browser may do with it, its style, its script, its data."""

import base64
import hashlib
import html
import json
from functools import cache
from importlib import resources
from typing import Any

from .markup import Html, element, joined

__all__ = ["data", "document", "framed"]


def document(
    title: str, *body: Html, values: Any = None, scripted: bool = True, style: str = ""
) -> str:
    """A whole page.  `values`: what the script knows beside what stands in the page.

    `scripted`: whether the page itself has the script; its policy allows it for pages framed in it.
    `style`: rules of this page beside those of every page.

    Nothing is fetched, sent or run but what stands here: the policy names the style and the
    script by their hashes and forbids the rest.
    """
    rules, script = _asset("page.css") + style, _asset("page.js")
    policy = (
        f"default-src 'none'; style-src {_source(rules)}; script-src {_source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Html(rules)),
    )
    page = element(
        "html",
        head,
        element(
            "body",
            joined(*body),
            data(values) if scripted else None,
            element("script", Html(script)) if scripted else None,
        ),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{page}\n"


def data(values: Any) -> Html:
    r"""Values for the script, as JSON in which no character means anything to HTML.

    >>> data({"id": "</script>"})
    '<script type="application/json" id="data">{"id":"\\u003c/script\\u003e"}</script>'
    """
    written = json.dumps(values, allow_nan=False, separators=(",", ":"))  # ASCII: no U+2028
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="data">{written}</script>')


def framed(page: str, title: str = "What was packed") -> str:
    """The page in a frame that neither takes a notebook's style nor reaches into the notebook."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" title="{html.escape(title)}" '
        'style="width:100%;height:44rem;border:1px solid #8888;border-radius:8px"></iframe>'
    )


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _source(code: str) -> str:
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return f"'sha256-{digest}'"
