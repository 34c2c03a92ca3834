"""The pages hang together: every public name is in the reference, every link leads somewhere."""

import re
from pathlib import Path

import pytest

import packer
import strategies

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    ROOT / "examples/support/README.md",
]


def test_every_public_name_is_in_the_reference() -> None:
    pages = "".join(page.read_text() for page in sorted(ROOT.glob("docs/reference/*.md")))
    named = {name.rpartition(".")[2] for name in re.findall(r"\.\. auto\w+:: (\S+)", pages)}
    listed = {
        word.strip() for row in re.findall(r":members: (.+)", pages) for word in row.split(",")
    }
    public = {*packer.__all__, *strategies.__all__}
    assert public - named - listed == {"PackError", "Policy"}  # with their modules


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in link:
            continue
        target, _, heading = link.partition("#")
        there = (page.parent / target) if target else page
        assert there.exists(), link
        if heading:
            titles = re.findall(r"(?m)^#+ (.+)$", there.read_text())
            anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in anchors, link
