"""Make the pictures of this folder: the page of the shipped example in Chromium, light and dark.

Run by `make picture`, which installs Playwright and Chromium.
"""

import json
import tempfile
from pathlib import Path
from typing import Final

from packer import Packed, pack, tokenizer
from strategies import parse

ROOT: Final = Path(__file__).resolve().parents[2]
POLICY: Final = "current() | threshold(0.1) | dedup(0.85) | mmr(0.7) | ushape"
WIDTH: Final = 1040
HEIGHT: Final = 900


def example() -> Packed:
    """The pack of README: the support knowledge base in 600 tokens of o200k_base."""
    lines = (ROOT / "examples" / "support" / "chunks.jsonl").read_text("utf-8").splitlines()
    chunks = [json.loads(line) for line in lines]
    return pack(chunks, parse(POLICY), budget=600, count_tokens=tokenizer("o200k_base"))


def main() -> None:
    """Write pack-light.png and pack-dark.png."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "pack.html"
        page_file.write_text(example().to_html(), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme
            )
            page = context.new_page()
            page.goto(page_file.as_uri())
            page.screenshot(path=ROOT / "docs" / "images" / f"pack-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
