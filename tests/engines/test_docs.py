import re

from tests.engines.agreement import ROOT


def test_the_wrappers_in_the_docs_are_those_of_the_example() -> None:
    page = (ROOT / "docs" / "engines.md").read_text("utf-8")
    example = (ROOT / "examples" / "engines.py").read_text("utf-8")
    blocks = re.findall(r"```py\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        assert block in example
