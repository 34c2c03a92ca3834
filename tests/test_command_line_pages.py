"""Pages, bars and comparisons on the command line."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

from packer import Chunk, compare, pack
from packer.command_line.app import app
from packer.command_line.bar import Bar, cells, window_bar
from packer.command_line.pages import write_page
from strategies import greedy, knapsack, parse
from tests.overlapping import PACKED
from tests.test_command_line import POLICY, SUPPORT, on_a_terminal, run, support
from tests.test_page import read

ESCAPE = "\x1b"


def untimed(page: str) -> str:
    """A page without its clock and its milliseconds."""
    page = re.sub(r"Packed at \S+ in [\d.,]+ ms", "", page)
    return re.sub(r"<td>[\d,]+\.\d\d</td>", "", page)


@pytest.fixture
def small(tmp_path: Path) -> str:
    chunks = [
        {"id": "long", "content": "long long", "score": 1.0, "tokens": 51},
        {"id": "one", "content": "one", "score": 0.9, "tokens": 26},
        {"id": "two\x1b[31m", "content": "two", "score": 0.9, "tokens": 26},
        {"id": "tiny", "content": "tiny", "score": 0.1, "tokens": 1},
    ]
    path = tmp_path / "small.json"
    path.write_text(json.dumps(chunks), encoding="utf-8")
    return str(path)


# -- pages ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["pack", "explain"])
def test_html_writes_the_page_of_the_result(command: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    call = [SUPPORT, "-b", "800", "-p", POLICY]
    found = run(command, *call, "--html", str(target))
    assert found.exit_code == 0
    assert found.stdout == run(command, *call).stdout
    expected = pack(support(), parse(POLICY), budget=800).to_html()
    assert untimed(target.read_text("utf-8")) == untimed(expected)
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]


def test_explain_writes_the_page_for_one_chunk_too(small: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    found = run("explain", small, "one", "-b", "60", "-p", "greedy", "--html", str(target))
    assert found.exit_code == 0
    assert target.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_page_replaces_the_one_before_and_has_usual_rights(tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o600)
    write_page(target, "new")
    assert target.read_text("utf-8") == "new"
    (tmp_path / "plain").write_text("", encoding="utf-8")
    assert target.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_page_that_cannot_be_written_is_told_and_leaves_nothing(
    small: str, tmp_path: Path
) -> None:
    call = ["pack", small, "-b", "60", "-p", "greedy", "--html"]
    missing = run(*call, str(tmp_path / "no" / "out.html"))
    assert missing.exit_code == 1
    assert "cannot write" in missing.stderr
    folder = run(*call, str(tmp_path))
    assert folder.exit_code == 2
    with pytest.raises(UnicodeEncodeError):
        write_page(tmp_path / "half.html", "a" * 100_000 + "\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["small.json"]


def test_the_page_of_a_plan_has_every_section(small: str, tmp_path: Path) -> None:
    plan, target = tmp_path / "plan.toml", tmp_path / "out.html"
    plan.write_text('budget = 60\n[[section]]\nname = "<a>"\npolicy = "greedy"\n', "utf-8")
    for command in ("pack", "explain"):
        found = run(command, small, "--plan", str(plan), "--html", str(target))
        assert found.exit_code == 0
        (frame,) = read(target.read_text("utf-8")).all("iframe")
        assert frame.attributes["title"] == "What was packed in <a>"
        assert read(frame.attributes["srcdoc"]).all("h1")[0].text.startswith("4 of 4 chunks")
        target.unlink()


# -- the bar --------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 10**9), max_size=40), st.integers(1, 200))
def test_the_cells_of_a_bar_are_all_used_and_none_is_off_by_one(
    lengths: list[int], width: int
) -> None:
    found = cells(lengths, width)
    whole = sum(lengths)
    assert len(found) == len(lengths)
    assert min(found, default=0) >= 0
    assert sum(found) == (width if whole else 0)
    for length, cell in zip(lengths, found, strict=True):
        assert abs(cell * whole - length * width) <= whole


def drawn(bar: Any, width: int = 80, *, color: bool = False) -> str:
    stream = io.StringIO()
    Console(
        file=stream, width=width, force_terminal=color, color_system="truecolor" if color else None
    ).print(bar)
    return stream.getvalue()


def test_a_bar_has_the_numbers_of_its_chunks_and_shades_the_rest() -> None:
    chunks = [Chunk("a", 0.9, tokens=20), Chunk("b", 0.5, tokens=10), Chunk("c", 0.4, tokens=1)]
    packed = pack(chunks, greedy, budget=40, overhead=1)
    line = drawn(window_bar(packed.chunks, packed.report), width=40)
    assert line == f"0{'━' * 19}1{'━' * 9}━{'░' * 9}\n"
    colours = drawn(window_bar(packed.chunks, packed.report), width=40, color=True)
    assert len(set(re.findall(r"38;2;\d+;\d+;\d+", colours))) == 3
    assert drawn(window_bar((), pack([], greedy, budget=5).report), width=10) == "░" * 10 + "\n"


def test_a_bar_is_as_long_as_what_was_charged() -> None:
    line = drawn(window_bar(PACKED.chunks, PACKED.report), width=40)
    assert line == f"0{'━' * 19}1{'━' * 7}{'░' * 12}\n"


def test_a_bar_is_no_wider_than_the_console_or_than_can_be_read() -> None:
    bar = Bar([("0", 1, "#ffffff"), ("1", 1, "#ffffff")])
    assert cell_len(drawn(bar, width=30).rstrip()) == 30
    assert cell_len(drawn(bar, width=300).rstrip()) == 120


def test_pack_and_explain_show_the_bar_on_a_terminal(tmp_path: Path, small: str) -> None:
    shown = on_a_terminal("explain", small, "-b", "60", "-p", "greedy").decode()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r", "").splitlines()
    assert plain[:3] == [
        "greedy",
        "52 of 60 tokens (86.7%), 8 left",
        f"0{'━' * 67}━{'░' * 11}",
    ]
    without = on_a_terminal("explain", small, "-b", "60", "-p", "greedy", "--no-color").decode()
    assert ESCAPE not in without
    assert run("explain", small, "-b", "60", "-p", "greedy").stdout.startswith("long is in")


# -- side by side ---------------------------------------------------------------------------


def test_compare_shows_policies_side_by_side_within_eighty_columns(small: str) -> None:
    found = run("compare", small, "-b", "53", "-p", "greedy", "-p", "knapsack")
    assert found.exit_code == 0
    assert found.stdout == (
        "A: greedy\n"
        "2 chunks, 52 of 53 tokens, total score 1.1, 1 in here alone\n"
        f"0{'━' * 77}░░\n"
        "\n"
        "B: knapsack\n"
        "3 chunks, 53 of 53 tokens, total score 1.9, 2 in here alone\n"
        f"0{'━' * 38}1{'━' * 38}2━\n"
        "\n"
        "In all: 1\n"
        "id   score tokens A    B\n"
        "tiny   0.1      1 at 1 at 2\n"
        "\n"
        "Only in A: 1\n"
        "id   score tokens A    B\n"
        "long     1     51 at 0 budget: needs 51 more tokens\n"
        "\n"
        "Only in B: 2\n"
        "id          score tokens A                            B\n"
        "one           0.9     26 budget: needs 25 more tokens at 0\n"
        "two\\x1b[31m   0.9     26 budget: needs 25 more tokens at 1\n"
    )
    lines = run("compare", SUPPORT, "-b", "600", "-p", "greedy", "-p", POLICY).stdout.splitlines()
    assert max(map(cell_len, lines)) <= 80


def test_compare_writes_its_page(small: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    call = ["compare", small, "-b", "53", "-p", "greedy", "-p", "knapsack", "--html", str(target)]
    assert run(*call).exit_code == 0
    chunks = json.loads(Path(small).read_text("utf-8"))
    expected = compare(greedy, knapsack, chunks=chunks, budget=53).to_html()
    assert target.read_text("utf-8") == expected
    assert len(read(expected).all("svg", "bar")) == 2


def test_compare_shows_as_many_rows_as_are_asked_for(small: str) -> None:
    call = ["compare", small, "-b", "200", "-p", "greedy", "-p", "greedy | ushape"]
    assert "... and 2 more (--show 0 for all)" in run(*call, "--show", "2").stdout
    assert "more" not in run(*call, "--show", "0").stdout


def test_compare_reserves_and_counts_as_pack_does(small: str) -> None:
    call = ["compare", small, "-b", "100", "--reserve", "47", "-p", "greedy", "-p", "knapsack"]
    assert "52 of 53 tokens" in run(*call).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "greedy"], "give two or more"),
        (["-p", "greedy", "-p", "gredy"], "did you mean greedy?"),
        ([], "Missing option '--policy'"),
    ],
)
def test_compare_tells_what_is_wrong(small: str, arguments: list[str], words: str) -> None:
    found = run("compare", small, "-b", "53", *arguments, columns=200)
    assert found.exit_code == 2
    assert words in found.stderr


def test_compare_names_the_line_of_a_bad_chunk(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"content": "a", "score": 1}\n{"content": "b", "score": null}\n')
    found = run("compare", str(path), "-b", "53", "-p", "greedy", "-p", "knapsack", columns=200)
    assert found.exit_code == 2
    assert "line 2" in found.stderr


def test_help_names_the_page() -> None:
    for command in ("pack", "explain", "compare"):
        found = CliRunner(env={"COLUMNS": "80"}).invoke(app, [command, "--help"])
        assert "FILE.html" in found.stdout
