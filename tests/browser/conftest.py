"""A real browser for the pages: Debian's Chromium, driven by Playwright.

`make test-browser` installs both.  Where one is missing these tests skip, saying so; with
PACKER_BROWSER=required in the environment they fail instead.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
SCREENSHOTS: Final = ROOT / "build" / "screenshots"
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def missing(what: str) -> Any:
    message = f"{what} is missing; make test-browser installs it"
    if os.environ.get("PACKER_BROWSER") == "required":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium with a folder of its own for what it keeps, gone afterwards."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        missing("playwright")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if program is None:
        missing("chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, headless=True, args=list(FLAGS)
        )
        yield started
        started.close()


class Visit:
    """A page in the browser: what it asked the network for, and what it complained of."""

    def __init__(self, context: Any, path: Path) -> None:
        self.asked: list[str] = []
        self.complaints: list[str] = []
        context.route("**/*", self._asks)
        self.page = context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.address = path.as_uri()
        self.page.goto(self.address)

    def _asks(self, route: Any) -> None:
        self.asked.append(route.request.url)
        if route.request.url == self.address:
            route.continue_()
        else:
            route.abort()

    def picture(self, name: str) -> None:
        """Keep how it looks for people."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Visit]]:
    """Open the text of a page: `visit(html, width=1200, height=1000, color_scheme="light")`."""
    contexts: list[Any] = []

    def opened(html: str, *, width: int = 1200, height: int = 1000, **options: Any) -> Visit:
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        viewport = {"width": width, "height": height}
        contexts.append(browser.new_context(viewport=viewport, **options))
        return Visit(contexts[-1], path)

    yield opened
    for context in contexts:
        context.close()
