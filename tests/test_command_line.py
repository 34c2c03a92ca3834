"""The command line: through Typer's runner, and as a process with real pipes and terminals."""

import io
import itertools
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from typer.testing import CliRunner

from packer import Chunk, Packed, PackError, pack, utf8_upper_bound
from packer.command_line import progress, reading
from packer.command_line.app import app
from packer.command_line.faults import InputFault
from packer.command_line.output import Format, console, context, visible
from packer.command_line.reading import read
from packer.command_line.vocabulary import entries
from strategies import CATALOG, greedy, parse

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = str(ROOT / "examples" / "support" / "chunks.jsonl")
POLICY = "threshold(0.12) | current() | dedup(0.85) | mmr(0.7) | ushape"

SMALL = [
    {"id": "a", "content": "alpha alpha", "score": 0.9, "tokens": 40},
    {"id": "b", "content": "beta beta", "score": 0.8, "tokens": 50},
    {"id": "c", "content": "gamma gamma", "score": 0.4, "tokens": 10},
    {"id": "d", "content": "delta delta", "score": 0.7, "tokens": 30},
]


def run(*arguments: str, stdin: str | bytes | None = None, columns: int = 80) -> Any:
    return CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": ""}).invoke(
        app, list(arguments), input=stdin
    )


def process(*arguments: str, stdin: bytes = b"", **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "packer.command_line", *arguments],
        input=stdin,
        capture_output=True,
        env=surroundings(**environment),
        timeout=120,
        check=False,
    )


def surroundings(**more: str) -> dict[str, str]:
    dropped = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "GITHUB_ACTIONS", "PY_COLORS")
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **more}


def jsonl(rows: Sequence[Mapping[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.jsonl"
    path.write_text(jsonl(SMALL), encoding="utf-8")
    return str(path)


def support() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(SUPPORT).read_text("utf-8").splitlines()]


def timeless(outcome: dict[str, Any]) -> dict[str, Any]:
    for key in ("timestamp", "duration_ms"):
        del outcome["report"][key]
    for trace in outcome["report"]["stages"]:
        del trace["microseconds"]
    return outcome


# -- pack -----------------------------------------------------------------------------------


def test_pack_writes_the_context_to_stdout_and_the_report_to_stderr() -> None:
    found = run("pack", SUPPORT, "--budget", "800", "--policy", POLICY)
    expected = pack(support(), parse(POLICY), budget=800)
    assert found.exit_code == 0
    assert found.stdout == expected.text() + "\n"
    lines = found.stderr.splitlines()
    assert lines[0] == POLICY
    used = expected.report.tokens_used
    assert lines[1].endswith(f"{used} of 800 tokens ({used / 800:.1%}), {800 - used} left")
    assert f"In: {len(expected)} of 87 chunks" in lines
    assert f"Out: {87 - len(expected)}" in lines


def test_the_report_of_a_small_file_is_this_to_the_letter(small: str) -> None:
    found = run("pack", small, "-b", "75", "-p", "threshold(0.5) | greedy")
    assert found.stdout == "alpha alpha\n\ndelta delta\n"
    report = re.sub(
        r"(?<=\d) +\d+\.\d$", "  ?", found.stderr, flags=re.MULTILINE
    )  # the milliseconds
    report = re.sub(r" +ms$", "   ms", report, flags=re.MULTILINE)  # as wide as they are
    assert report == (
        "threshold(0.5) | greedy\n"
        "70 of 75 tokens (93.3%), 5 left\n"
        f"0{'━' * 42}1{'━' * 31}{'░' * 5}\n"
        "\n"
        "stage           chunks in  out  tokens out   ms\n"
        "threshold(0.5)          4    3         120  ?\n"
        "greedy                  3    2          70  ?\n"
        "\n"
        "In: 2 of 4 chunks\n"
        "#  id  score  tokens  text\n"
        "0  a     0.9      40  alpha alpha\n"
        "1  d     0.7      30  delta delta\n"
        "\n"
        "Out: 2\n"
        "id score tokens why\n"
        "c    0.4     10 below-threshold: score 0.4, floor 0.5\n"
        "b    0.8     50 budget: needs 45 more tokens\n"
    )


def test_json_is_the_outcome_as_the_library_writes_it() -> None:
    found = run("pack", SUPPORT, "-b", "800", "-p", POLICY, "--format", "json")
    expected = pack(support(), parse(POLICY), budget=800).to_dict()
    assert timeless(json.loads(found.stdout)) == timeless(expected)


def test_jsonl_is_one_packed_chunk_a_line() -> None:
    found = run("pack", SUPPORT, "-b", "800", "-p", POLICY, "-f", "jsonl")
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert rows == pack(support(), parse(POLICY), budget=800).to_dict()["chunks"]


def test_table_puts_the_report_on_both_streams(small: str) -> None:
    found = run("pack", small, "-b", "75", "-p", "greedy", "-f", "table")
    assert found.stdout == found.stderr
    assert "In: 2 of 4 chunks" in found.stdout


def test_quiet_leaves_the_report_out(small: str) -> None:
    found = run("pack", small, "-b", "45", "-p", "greedy", "--quiet")
    assert (found.stdout, found.stderr) == ("alpha alpha\n", "")


def test_the_options_reach_the_call() -> None:
    rows: list[dict[str, Any]] = [
        {"content": "né", "score": 0.5, "metadata": {"timestamp": "2026-01-01"}},
        {"content": "old", "score": 0.9, "metadata": {"timestamp": "2025-01-01"}},
        {"content": "bad", "score": None},
    ]
    found = run(
        *("pack", "-", "-b", "10", "-p", 'fresh("30d") | greedy', "-f", "json"),
        *("--overhead", "2", "--tokenizer", "utf8_upper_bound", "--query", "what"),
        *("--now", "2026-01-15", "--on-invalid", "exclude"),
        stdin=jsonl(rows),
    )
    expected = pack(
        rows,
        parse('fresh("30d") | greedy'),
        budget=10,
        overhead=2,
        count_tokens=utf8_upper_bound,
        query="what",
        now="2026-01-15",
        on_invalid="exclude",
    )
    assert timeless(json.loads(found.stdout)) == timeless(expected.to_dict())
    assert expected.report.tokens_used == 5
    assert [out.reason for out in expected.report.excluded] == ["invalid", "stale"]


def test_a_tokenizer_counts_by_name() -> None:
    pytest.importorskip("quicktok")
    found = run(
        *("pack", "-", "-b", "10", "-p", "greedy", "-f", "json", "--tokenizer", "o200k_base"),
        stdin='{"content": "hello world", "score": 1}',
    )
    report = json.loads(found.stdout)["report"]
    assert (report["tokens_used"], report["counter"], report["estimated"]) == (
        2,
        "o200k_base",
        False,
    )


@pytest.mark.parametrize("text", ["", "\n \n", "[]", '{"chunks": []}'])
def test_no_chunks_are_an_empty_context(text: str) -> None:
    found = run("pack", "-", "-b", "10", "-p", "greedy", stdin=text)
    assert (found.exit_code, found.stdout) == (0, "")
    assert "In: 0 of 0 chunks" in found.stderr


def test_an_optimal_choice_says_so(small: str) -> None:
    found = run("pack", small, "-b", "80", "-p", "knapsack")  # a + d + c = 2.0 of 80 tokens
    assert (
        "Optimality: total score 2, proven: no other choice within the budget has more"
        in found.stderr
    )


def test_warnings_are_in_the_report() -> None:
    found = run("pack", "-", "-b", "9", "-p", "greedy", stdin='{"content": "word", "score": 1}')
    assert "Warning (estimated-tokens): 1 of 1 token counts are estimates (approximate);" in (
        found.stderr
    )


# -- how much is shown ----------------------------------------------------------------------


def many(count: int) -> str:
    rows = [
        {"id": f"n{at}", "content": f"text {at}", "score": at / count, "tokens": 1}
        for at in range(count)
    ]
    return jsonl(rows)


def test_twenty_rows_are_shown_and_the_rest_is_counted_by_reason() -> None:
    found = run("pack", "-", "-b", "50", "-p", "threshold(0.25) | greedy", stdin=many(200))
    assert "... and 30 more (--show 0 for all)\n" in found.stderr
    assert "... and 130 more: 30 below-threshold, 100 budget (--show 0 for all)\n" in found.stderr
    assert [f"n{at} " for at in range(20)] == re.findall(r"^n\d+ ", found.stderr, re.MULTILINE)


@pytest.mark.parametrize(("show", "shown"), [("3", 3), ("150", 150), ("0", 150), ("9999", 150)])
def test_show_sets_the_number_of_rows(show: str, shown: int) -> None:
    found = run(
        *("pack", "-", "-b", "50", "-p", "threshold(0.25) | greedy", "--show", show),
        stdin=many(200),
    )
    assert len(re.findall(r"^n\d+ ", found.stderr, re.MULTILINE)) == shown
    assert ("... and" in found.stderr) == (shown < 150)


# -- explain --------------------------------------------------------------------------------


def test_explain_of_a_chunk_that_is_out_shows_its_way_to_the_stage_that_stopped_it(
    small: str,
) -> None:
    found = run("explain", small, "b", "-b", "75", "-p", "threshold(0.5) | greedy | ushape")
    assert found.exit_code == 0
    assert found.stdout == (
        "b is out, budget, by greedy: needs 45 more tokens\n"
        "   stage           chunks in  out  this chunk\n"
        "+  threshold(0.5)          4    3  passed\n"
        "x  greedy                  3    2  budget: needs 45 more tokens\n"
        ".  ushape                  2    2  not reached\n"
    )
    assert found.stderr == ""


def test_explain_of_a_chunk_that_is_in_shows_where_it_was_chosen_and_put(small: str) -> None:
    found = run("explain", small, "d", "-b", "75", "-p", "threshold(0.5) | greedy | reverse")
    assert found.stdout == (
        "d is in at position 0 of 2: score 0.7, 30 tokens, chosen by greedy\n"
        "   stage           chunks in  out  this chunk\n"
        "+  threshold(0.5)          4    3  passed\n"
        "+  greedy                  3    2  chosen: score 0.7, 30 tokens\n"
        "+  reverse                 2    2  at position 0\n"
    )


def test_explain_shows_what_each_scoring_stage_made_of_the_score(small: str) -> None:
    policy = "lexical() | normalize() | greedy"
    found = run("explain", small, "c", "-b", "75", "-p", policy, "--query", "gamma", columns=200)
    assert found.stdout == (
        "c is in at position 1 of 2: score 0.4, 10 tokens, chosen by greedy; value 0.4 -> 1 by "
        "lexical(1.0) (score 0, bm25 1)\n"
        "   stage                chunks in  out  this chunk\n"
        "+  lexical(1.0)                 4    4  score 0.4 -> 1: score 0, bm25 1\n"
        '+  normalize("minmax")          4    4  score 1 -> 1\n'
        "+  greedy                       4    2  chosen: score 1, 10 tokens\n"
    )


def test_the_table_of_a_policy_that_scores_has_the_values(small: str) -> None:
    call = ("pack", small, "-b", "75", "-f", "table", "-q")
    scored = run(*call, "-p", "lexical() | greedy", "--query", "gamma").stdout
    assert re.search(r"# +id +score +value +tokens +text\n", scored)
    assert re.search(r"\n1 +c +0\.4 +1 +10 +gamma", scored)
    assert re.search(r"# +id +score +tokens +text\n", run(*call, "-p", "greedy").stdout)


def test_a_policy_that_needs_a_query_says_so(small: str) -> None:
    found = run("pack", small, "-b", "75", "-p", "lexical() | greedy")
    assert found.exit_code == 2
    assert "lexical(1.0) matches the words of the query, and this call has none" in found.stderr


def test_explain_tells_two_stages_with_the_same_text_apart(small: str) -> None:
    policy = 'threshold(0.5) | normalize("minmax") | threshold(0.5) | greedy'
    # d has 0.7 of 0.7..0.9, which becomes 0
    found = run("explain", small, "d", "-b", "200", "-p", policy, columns=160)
    ways = [line.split("  ")[0] for line in found.stdout.splitlines()[2:]]
    assert ways == ["+", "+", "x", "."]


def test_explain_of_a_chunk_set_aside_before_all_stages() -> None:
    rows = [{"id": "a", "content": "x", "score": 1}, {"id": "a", "content": "y", "score": 2}]
    call = ("explain", "-", "a", "-b", "5", "-p", "greedy")
    found = run(*call, stdin=jsonl(rows), columns=120)
    blocks = found.stdout.split("\n\n")
    assert blocks[0].startswith("a is in at position 0 of 1: score 2, 1 tokens")
    assert blocks[1] == (
        "a is out, duplicate, by pack: same id as the chunk at 1 with score 2; its text differs\n"
        "   stage   chunks in  out  this chunk\n"
        "x  pack                    duplicate: same id as the chunk at 1 with score 2; "
        "its text differs\n"
        ".  greedy          1    1  not reached\n"
    )


def test_explain_of_all_is_why_in_output_order_and_then_in_stage_order() -> None:
    found = run("explain", SUPPORT, "-b", "500", "-p", POLICY)
    expected = pack(support(), parse(POLICY), budget=500)
    ids = [chunk.id for chunk in expected] + [out.id for out in expected.report.excluded]
    assert len(ids) == 87
    assert found.stdout.splitlines() == [expected.why(id_) for id_ in ids]


def test_explain_of_one_has_its_why_on_one_line() -> None:
    expected = pack(support(), parse(POLICY), budget=500)
    longest = max(
        (out.id for out in expected.report.excluded), key=lambda id_: len(expected.why(id_))
    )
    found = run("explain", SUPPORT, longest, "-b", "500", "-p", POLICY)
    assert len(expected.why(longest)) > 80
    assert expected.why(longest) in found.stdout.splitlines()


@pytest.mark.parametrize(("plain", "no_color"), [(True, ""), (False, "1"), (True, "1")])
def test_plain_output_is_none_of_a_terminal_s(
    monkeypatch: pytest.MonkeyPatch, *, plain: bool, no_color: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", no_color)
    stream = io.StringIO()
    assert not console(stream, plain=plain).is_terminal
    with progress.waiting(console(stream, plain=plain)) as bar:
        assert vars(bar)["_bar"] is None


def test_a_policy_without_its_query_names_the_option() -> None:
    found = run("pack", SUPPORT, "-b", "500", "-p", "lexical() | greedy", columns=200)
    assert found.exit_code == 2
    assert "give the request's words as --query, or leave the stage out" in found.stderr


def test_explain_of_all_can_be_shortened() -> None:
    policy = "threshold(0.25) | greedy"
    found = run("explain", "-", "-b", "50", "-p", policy, "--show", "2", stdin=many(200))
    lines = found.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["n199", "n198", "...", "n0", "n1", "..."]
    assert lines[2] == "... and 48 more in (--show 0 for all)"
    assert lines[5] == "... and 148 more out: 48 below-threshold, 100 budget (--show 0 for all)"


def test_explain_of_an_unknown_id_names_the_nearest(small: str) -> None:
    found = run("explain", small, "aa", "-b", "75", "-p", "greedy")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == "packer: error: no chunk has the id 'aa'; did you mean 'a'?\n"


# -- stages ---------------------------------------------------------------------------------


def test_every_stage_has_a_signature_a_role_and_one_line() -> None:
    listed = {entry.name: entry for entry in entries(CATALOG)}
    assert list(listed) == list(CATALOG)
    mmr, ushape, decay = listed["mmr"], listed["ushape"], listed["decay"]
    assert mmr.signature == 'mmr(lambda_: float = 0.5, *, metric: auto|cosine|jaccard = "auto")'
    assert (mmr.role, mmr.takes, mmr.gives) == ("selector", "Pool", "Selection")
    assert ushape.signature == "ushape"
    assert (ushape.role, ushape.takes, ushape.gives) == ("order", "Selection", "Layout")
    assert ushape.summary == (
        "The best at the edges: ranks 0, 2, 4 ... from the front, 1, 3, 5 ... from the back, "
        "by score."
    )
    assert listed["blend"].signature == (
        'blend(*, scale: minmax|zscore|rank = "minmax", **weights: float)'
    )
    assert decay.signature == 'decay(half_life: duration, *, at: str = "timestamp")'
    assert (decay.role, listed["threshold"].role) == ("scoring", "filter")
    assert listed["normalize"].summary == "Bring the scores to 0..1."
    assert [entry.name for entry in listed.values() if not entry.in_text] == ["custom", "sorted_by"]
    assert all(len(entry.summary) > 10 and entry.doc for entry in listed.values())


def test_stages_lists_every_stage_within_eighty_columns() -> None:
    found = run("stages")
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    words = {re.split(r"[ (]", line.strip())[0] for line in lines if re.match(r"  \w", line)}
    assert words >= set(CATALOG)
    assert "filter  Pool -> Pool" in lines
    assert "selector  Pool -> Selection" in lines
    assert "order  Selection -> Layout" in lines


def test_one_stage_is_shown_in_full() -> None:
    found = run("stages", "density")
    assert found.stdout.startswith("density\nselector, Pool -> Selection\n\nBy score per token ")
    assert "Equal densities: the higher score first" in " ".join(found.stdout.split())


def test_an_unknown_stage_has_a_suggestion() -> None:
    found = run("stages", "dedpu")
    assert found.exit_code == 2
    assert found.stderr == "packer: error: there is no stage 'dedpu'; did you mean dedup?\n"


# -- check ----------------------------------------------------------------------------------


def test_check_prints_the_normal_form() -> None:
    found = run("check", ' threshold(floor=.60)|dedup( 0.85,metric="auto" )|mmr()|ushape ')
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout == "threshold(0.6) | dedup(0.85) | mmr(0.5) | ushape\n"


def test_check_puts_a_caret_under_the_fault() -> None:
    found = run("check", "threshold(0.6) | dedpu(0.85) | greedy")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == (
        "packer: error: line 1, column 18: there is no stage 'dedpu'; did you mean dedup?\n"
        "  threshold(0.6) | dedpu(0.85) | greedy\n"
        "                   ^\n"
    )


def test_the_caret_stands_right_after_wide_characters_and_on_later_lines() -> None:
    found = run("check", 'where(source == "返品規則")\n| where(source == "返品") | gredy')
    lines = found.stderr.splitlines()
    assert lines[1] == '  | where(source == "返品") | gredy'
    assert cell_len(lines[2]) - 1 == cell_len(lines[1].partition("gredy")[0])


def test_a_long_line_is_cut_around_the_fault() -> None:
    text = " | ".join(["threshold(0.1)"] * 30) + " | gredy | " + " | ".join(["ushape"] * 30)
    lines = run("check", text).stderr.splitlines()
    assert all(len(line) <= 82 for line in lines[1:])
    assert lines[1][lines[2].index("^") :].startswith("gredy")


def test_a_stage_without_its_arguments_has_its_call_as_suggestion() -> None:
    found = run("check", "mmr")
    assert "mmr is called; write mmr()" in found.stderr


def test_a_policy_that_selects_nothing_is_refused() -> None:
    found = run("check", "threshold(0.6)")
    assert found.exit_code == 2
    assert "add a selector, such as threshold(0.6) | greedy" in found.stderr


# -- reading --------------------------------------------------------------------------------

FORMS = {
    "lines": jsonl(SMALL),
    "lines without a last break": jsonl(SMALL).rstrip("\n"),
    "lines with blanks between": "\n\n" + jsonl(SMALL).replace("\n", "\r\n  \n"),
    "array": json.dumps(SMALL),
    "array over lines": "\n" + json.dumps(SMALL, indent=2) + "\n",
    "object": json.dumps({"chunks": SMALL}),
    "object over lines": json.dumps({"query": {"a": [1]}, "chunks": SMALL, "n": 4}, indent=1),
    "object on a line, chunks last": json.dumps({"query": "x", "chunks": SMALL}),
}


@pytest.mark.parametrize("block", [1, 5, 64, 1 << 20])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_chunks(
    form: str, bom: bytes, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BLOCK", block)
    path = tmp_path / "chunks"
    path.write_bytes(bom + FORMS[form].encode())
    assert read(str(path)).chunks == [Chunk(**row) for row in SMALL]  # type: ignore[arg-type]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.dictionaries(texts, values, max_size=3), max_size=6),
    block=st.integers(3, 40),
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
    wrapped=st.booleans(),
)
def test_json_taken_apart_in_blocks_is_what_json_loads_gives(
    rows: list[dict[str, Any]], block: int, indent: int | None, ascii_only: Any, wrapped: Any
) -> None:
    whole = {"chunks": rows} if wrapped else rows
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii_only)
    with (
        mock.patch.object(reading, "BLOCK", block),
        mock.patch.object(reading, "_record", lambda value: value),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))),
    ):
        found = read("-")
    assert found.chunks == json.loads(json.dumps(rows))
    assert found.lines == list(first_lines(text, rows, indent, wrapped))


def first_lines(
    text: str, rows: Sequence[object], indent: int | None, wrapped: Any
) -> Iterator[int]:
    """By brute force: rows of an indented text begin one after the other's breaks."""
    if indent is None:
        yield from (1 for _ in rows)
        return
    line = 3 if wrapped else 2
    for row in rows:
        yield line
        line += json.dumps(row, indent=indent).count("\n") + 1
    assert not rows or line == text.count("\n") + (0 if wrapped else 1)


def test_lines_are_counted_for_the_chunks_of_every_form(tmp_path: Path) -> None:
    path = tmp_path / "chunks"
    for text, lines in [
        ("\n" + jsonl(SMALL), [2, 3, 4, 5]),
        (json.dumps(SMALL), [1, 1, 1, 1]),
        ("[\n" + ",\n\n".join(map(json.dumps, SMALL)) + "]", [2, 4, 6, 8]),
    ]:
        path.write_text(text, encoding="utf-8")
        assert read(str(path)).lines == lines


def test_a_chunk_of_a_thousand_blocks_is_not_decoded_a_thousand_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps([{"content": "x" * 16_000, "score": 1}]), encoding="utf-8")
    tries = itertools.count()
    decode = json.JSONDecoder.raw_decode

    def counted(self: json.JSONDecoder, text: str, at: int = 0) -> Any:
        next(tries)
        return decode(self, text, at)

    monkeypatch.setattr(reading, "BLOCK", 16)
    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counted)
    assert len(read(str(path)).chunks) == 1
    assert next(tries) <= 12  # 16 * 2**10 > 16,000


FAULTS = {
    b'{"content": "a", "score": 1}\n{"content" "b"}\n': "line 2, column 12: this is no JSON",
    b'{"content": "a", "score": 1}\n\n{"content": "b"': "line 3, column 16: this is no JSON",
    b'{"content": "a, "score": 1}\n{}': "line 1, column 18: this is no JSON",
    b"id,content\n1,a\n": "line 1, column 1: this is no JSON",
    b'[{"content": "a"},\n {"content": }]': "line 2, column 14: this is no JSON",
    b'[{"content": "a"}': "line 1, column 18: expecting ']', at the end",
    b'[{"content": "a"} {}]': "line 1, column 19: expecting ']'",
    b'[{"content": "a"},]': "line 1, column 19: this is no JSON",
    b"[]\n[]": "line 2, column 1: there is text after the end of the array",
    b'{"chunks": [],\n"chunks": []}': 'line 2, column 10: the key "chunks" stands here a second',
    b'{"chunks": {}}': 'line 1, column 12: "chunks" is no array of chunks',
    b'{"chunks": []} x': "line 1, column 16: there is text after the end of the object",
    b'{"chunks": [],}': "line 1, column 15: expecting a key in double quotes",
    b'{\n"a": 1,\n"b": 2\n}': 'this object has no "chunks" but "a", "b"; give a JSON array',
    b"{}\n": "1 chunk is invalid",
    b'{"content": "a", "score": 1}\n{"content": "\xe9", "score": 1}': "line 2: this is not UTF-8",
    b'[{"content": "a",\n "score": 1},\n{"content": "\xe9"}]': "line 3: this is not UTF-8 (byte 0xe9",
    '[{"content": "a"}]'.encode("utf-16"): "line 1: this is not UTF-8",
    b"[" * 100_000: "nested too deeply",
    b'{"content": ' + b"[" * 100_000: "nested too deeply",
    b'[{"score": ' + b"9" * 5000 + b"}]": "no JSON that can be read: Exceeds the limit",
    b'{"score": ' + b"9" * 5000 + b"}": "no JSON that can be read: Exceeds the limit",
}


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize("content", FAULTS, ids=range(len(FAULTS)))
def test_what_cannot_be_read_is_named_with_its_line(
    content: bytes, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BLOCK", block)
    path = tmp_path / "bad"
    path.write_bytes(content)
    found = run("pack", str(path), "-b", "10", "-p", "greedy")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(f"packer: error: {path}")
    assert FAULTS[content] in found.stderr


def test_a_fault_far_into_a_long_line_has_its_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ", ".join(map(json.dumps, SMALL))
    path = tmp_path / "bad"
    path.write_text(f"[{rows}, oops, {rows}]", encoding="utf-8")
    monkeypatch.setattr(reading, "BLOCK", 10)
    with pytest.raises(InputFault, match=f"line 1, column {len(rows) + 4}: "):
        read(str(path))


def test_invalid_chunks_are_named_with_their_lines_and_the_mend() -> None:
    rows: list[Any] = [
        {"content": "fine", "score": 1},
        {"id": "x", "content": "a", "score": float("nan")},
        {"text": "b", "score": 1},
        "no chunk",
    ]
    with pytest.raises(PackError) as refused:
        pack(rows, greedy, budget=10)
    faults: Any = refused.value.details["chunks"]
    assert "score is nan; give a finite number" in faults[0]["faults"]
    assert any("'text'" in fault for fault in faults[1]["faults"])
    found = run("pack", "-", "-b", "10", "-p", "greedy", stdin=jsonl(rows))
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == (
        "packer: error: standard input: 3 chunks are invalid\n"
        f"  line 2, x: {', '.join(faults[0]['faults'])}\n"
        f"  line 3, chunk-2: {', '.join(faults[1]['faults'])}\n"
        f"  line 4, chunk-3: {', '.join(faults[2]['faults'])}\n"
        "Mend them, or set such chunks aside with --on-invalid exclude\n"
    )


def test_many_invalid_chunks_are_counted() -> None:
    found = run("pack", "-", "-b", "10", "-p", "greedy", stdin="{}\n" * 1234)
    assert "standard input: 1,234 chunks are invalid\n" in found.stderr
    assert "  ... and 1,224 more\n" in found.stderr
    assert found.stderr.count("\n") == 13


def test_embeddings_become_float32_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "chunks"
    path.write_text('{"content": "a", "score": 1, "embedding": [0.5, 2]}', encoding="utf-8")
    (chunk,) = read(str(path)).chunks
    assert isinstance(chunk, Chunk)
    assert (chunk.embedding.dtype.name, chunk.embedding.tolist()) == ("float32", [0.5, 2.0])


# -- bad usage ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pack", "no-such-file", "-b", "9", "-p", "greedy"], "cannot read no-such-file: No such"),
        (["pack", str(ROOT), "-b", "9", "-p", "greedy"], "Is a directory"),
        (["pack", SUPPORT, "-b", "0", "-p", "greedy"], "budget is 0; give an int above 0"),
        (["pack", SUPPORT, "-b", "-5", "-p", "greedy"], "budget is -5; give an int above 0"),
        (["pack", SUPPORT, "-b", "many", "-p", "greedy"], "--budget"),
        (["pack", SUPPORT, "-b", "9"], "--policy"),
        (["pack", SUPPORT, "-p", "greedy"], "--budget"),
        (["pack", SUPPORT, "-b", "9", "-p", "gredy"], "did you mean greedy?"),
        (["pack", SUPPORT, "-b", "9", "-p", ""], "the policy is empty"),
        (["pack", SUPPORT, "-b", "9", "-p", "threshold(2e400) | greedy"], "give a finite number"),
        (["pack", SUPPORT, "-b", "9", "-p", "greedy", "--overhead", "-1"], "overhead is -1"),
        (["pack", SUPPORT, "-b", "9", "-p", "greedy", "--now", "soon"], "now is 'soon'"),
        (["pack", SUPPORT, "-b", "9", "-p", "greedy", "--tokenizer", "abacus"], "abacus"),
        (["pack", SUPPORT, "-b", "9", "-p", "greedy", "--format", "xml"], "xml"),
        (["pack", SUPPORT, "-b", "9", "-p", "greedy", "--on-invalid", "ask"], "ask"),
        (["pack", SUPPORT, "-b", "9", "-p", "greedy", "--show", "-1"], "--show"),
        (["pack", SUPPORT, "-b", "9", "-p", "greedy", "--bugdet", "9"], "--bugdet"),
        (["explain", SUPPORT, "nobody", "-b", "9", "-p", "greedy"], "no chunk has the id 'nobody'"),
        (["check", "threshold(high) | greedy"], "high is no literal"),
        (["check", "custom(print)"], "is no literal"),
        (["unpack"], "unpack"),
    ],
)
def test_bad_usage_ends_with_2_and_says_what_is_wrong(arguments: list[str], words: str) -> None:
    found = run(*arguments, columns=200)
    assert (found.exit_code, found.stdout) == (2, "")
    assert words in found.stderr
    assert "Traceback" not in found.stderr


def test_the_errors_of_stages_are_told_too() -> None:
    text = jsonl([{"content": f"c{at}", "score": at} for at in range(3)])
    found = run("pack", "-", "-b", "9", "-p", 'dedup(0.9, metric="cosine") | greedy', stdin=text)
    assert found.exit_code == 2
    assert "3 of 3 chunks have no embedding: 'chunk-0', 'chunk-1', 'chunk-2'" in found.stderr


def test_numbers_beyond_every_float_are_no_traceback() -> None:
    huge = "1" + "0" * 400
    text = f'{{"content": "a", "score": 1, "embedding": [{huge}]}}'
    found = run("pack", "-", "-b", "9", "-p", "greedy", stdin=text)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "line 1, chunk-0: embedding is " in found.stderr
    text = f'{{"content": "a", "score": 1, "metadata": {{"position": {huge}}}}}'
    found = run("pack", "-", "-b", "9", "-p", "greedy | document", stdin=text)
    assert (found.exit_code, found.stdout) == (0, "a\n")


def test_metadata_nested_too_deeply_to_write_is_the_users_fault() -> None:
    deep = '{"content": "a", "score": 1, "metadata": {"x": ' + "[" * 800 + "]" * 800 + "}}"
    found = run("pack", "-", "-b", "9", "-p", "greedy", "-f", "json", stdin=deep)
    if found.exit_code:  # how deep Python writes depends on its version
        assert found.exit_code == 2
        assert found.stderr.startswith("packer: error: ")
    else:
        assert json.loads(found.stdout)["chunks"][0]["metadata"] == json.loads(deep)["metadata"]


# -- what chunks cannot do to a terminal ----------------------------------------------------

HOSTILE = {
    "id": "[red]id[/red]\x1b]0;title\x07\n\u202e",
    "content": "[bold]not bold[/bold] :smile: \x1b[31mred\x1b[0m\r\x9b2J",
    "score": 0.5,
    "tokens": 4,
}


@pytest.mark.parametrize("budget", ["1", "100"])
def test_markup_and_controls_from_chunks_have_no_effect(budget: str) -> None:
    call = ("-b", budget, "-p", "greedy", stdin_of(HOSTILE))
    found = run("pack", "-", *call[:-1], "-f", "table", stdin=call[-1], columns=120)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", found.stdout + found.stderr)
    assert r"[red]id[/red]\x1b]0;title\x07\n" in found.stdout.replace("\n", "")
    if budget == "100":
        assert r"[bold]not bold[/bold] :smile: \x1b[31mred\x1b[0m \x9b2J" in found.stdout
    lines = run("explain", "-", *call[:-1], stdin=call[-1]).stdout
    assert lines.startswith(r"[red]id[/red]\x1b]0;title\x07\n\u202e is ")
    assert lines.count("\n") == 1


def stdin_of(row: Mapping[str, object]) -> str:
    return json.dumps(row) + "\n"


def test_a_pipe_gets_the_context_byte_for_byte() -> None:
    found = process("pack", "-", "-b", "9", "-p", "greedy", stdin=stdin_of(HOSTILE).encode())
    assert found.stdout == str(HOSTILE["content"]).encode() + b"\n"


def test_lone_surrogates_are_written_as_text_and_json_can_have_them() -> None:
    stdin = rb'{"content": "a\ud800b", "score": 1, "id": "\udfff"}'
    found = process("pack", "-", "-b", "9", "-p", "greedy", stdin=stdin)
    assert (found.returncode, found.stdout) == (0, "a\ufffdb\n".encode())
    found = process("pack", "-", "-b", "9", "-p", "greedy", "-f", "json", "-q", stdin=stdin)
    assert rb'"content": "a\ud800b"' in found.stdout
    assert json.loads(found.stdout)["chunks"][0]["id"] == "\udfff"


@given(st.text())
def test_visible_text_has_no_controls_and_plain_text_stays(text: str) -> None:
    shown = visible(text)
    assert not re.search(
        "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown
    )
    if text.isascii() and text.isprintable():
        assert shown == text


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    rows = [
        {"id": "i" * 500, "content": "c" * 999, "score": 0.123456789, "tokens": 10**9},
        {"id": "返品" * 40, "content": "返品規則" * 99, "score": 1e-300, "tokens": 3},
        {"id": "k", "content": "k", "score": 0.5, "tokens": 2},
    ]
    found = run(
        *("pack", "-", "-b", "4", "-f", "table", "-p", POLICY.replace("0.12", "0.0")),
        stdin=jsonl(rows),
        columns=columns,
    )
    assert found.exit_code == 0
    assert max(map(cell_len, found.stdout.splitlines())) <= columns


def test_colours_go_with_no_color_and_in_a_pipe(small: str) -> None:
    call = ("pack", small, "-b", "75", "-p", "greedy")
    escape = b"\x1b["
    assert escape in process(*call, FORCE_COLOR="1").stderr
    assert escape not in process(*call).stderr
    assert escape not in process(*call, FORCE_COLOR="1", NO_COLOR="1").stderr
    assert escape not in process(*call, "--no-color", FORCE_COLOR="1").stderr
    assert escape not in process("pack", "--no-color", "--bugdet", FORCE_COLOR="1").stderr


# -- as a process ---------------------------------------------------------------------------


def test_the_module_runs_and_answers_help_and_version() -> None:
    found = process("--help")
    assert found.returncode == 0
    assert all(word in found.stdout for word in (b"pack", b"explain", b"stages", b"check"))
    found = process("--version")
    assert (found.returncode, found.stdout[:7]) == (0, b"packer ")
    for command in ("pack", "explain", "stages", "check"):
        told = process(command, "--help")
        assert told.returncode == 0
        assert f"packer {command} ".encode() in told.stdout.partition(b"Examples")[2]
        assert all(cell_len(line) <= 80 for line in told.stdout.decode().splitlines())


def test_standard_input_and_a_file_give_the_same() -> None:
    call = ("-b", "300", "-p", POLICY, "-q")
    piped = process("pack", "-", *call, stdin=Path(SUPPORT).read_bytes())
    assert piped.returncode == 0
    assert piped.stdout == process("pack", SUPPORT, *call).stdout != b""


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    rows = ({"content": "x" * 1000, "score": 1, "tokens": 1} for _ in range(2000))
    path.write_text(jsonl(list(rows)), encoding="utf-8")
    command = [sys.executable, "-m", "packer.command_line", "pack", str(path)]
    with subprocess.Popen(
        [*command, "-b", "2000", "-p", "greedy"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=surroundings(),
    ) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        assert started.stdout.read(10) == b"x" * 10
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait(60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_told_without_a_traceback() -> None:
    with Path("/dev/full").open("wb") as full:
        found = subprocess.run(
            [sys.executable, "-m", "packer.command_line", "stages"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=surroundings(),
            check=False,
        )
    assert (found.returncode, found.stderr) == (
        1,
        b"packer: error: cannot write: No space left on device\n",
    )


def test_an_interrupt_ends_with_130() -> None:
    command = [sys.executable, "-m", "packer.command_line", "pack", "-", "-b", "9", "-p", "greedy"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=surroundings(),
    ) as started:
        assert started.stdin is not None
        assert started.stderr is not None
        for _ in range(40):  # more than a pipe holds, so it is reading once this is written
            started.stdin.write(b" " * 65536)
        started.stdin.flush()
        time.sleep(0.5)  # until it waits for more
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 130
        assert started.stderr.read() == b""


def on_a_terminal(*arguments: str, columns: int = 80) -> bytes:
    """All that a process writes to a terminal of so many columns."""
    main, end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "packer.command_line", *arguments],
        stdin=end,
        stdout=end,
        stderr=end,
        env=surroundings(COLUMNS=str(columns)),
    ) as started:
        os.close(end)
        parts = []
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            parts.append(part)
        assert started.wait(60) == 0
    os.close(main)
    return b"".join(parts)


def test_a_terminal_gets_controls_of_the_context_as_escapes(tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    path.write_text(stdin_of(HOSTILE), encoding="utf-8")
    text = on_a_terminal("pack", str(path), "-b", "9", "-p", "greedy", "--no-color")
    assert b"\x1b" not in text
    assert text.startswith(rb"[bold]not bold[/bold] :smile: \x1b[31mred\x1b[0m\r\x9b2J")
    data = on_a_terminal("pack", str(path), "-b", "9", "-p", "greedy", "-f", "jsonl", "-q")
    assert data.isascii()
    assert json.loads(data) == {
        **HOSTILE,
        "position": 0,
        "metadata": {},
        "merged_from": [],
        "original_tokens": None,
        "new_tokens": None,
    }


def test_a_terminal_gets_twenty_lines_of_explanations_and_the_table_once(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text(many(200), encoding="utf-8")
    lines = on_a_terminal("explain", str(path), "-b", "50", "-p", "greedy").splitlines()
    assert len(lines) == 45  # the policy, the budget and the bar before them
    assert lines[-1] == b"... and 130 more out: 130 budget (--show 0 for all)"
    table = on_a_terminal("pack", str(path), "-b", "50", "-p", "greedy", "-f", "table")
    assert table.count(b"In: 50 of 200 chunks") == 1


def test_a_bar_appears_only_on_a_terminal_and_only_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rich.console import Console

    def shown(*, terminal: bool, patience: float) -> str:
        monkeypatch.setattr(progress, "PATIENCE", patience)
        console = Console(
            file=io.StringIO(), force_terminal=terminal, width=80, _environ={"TERM": "xterm"}
        )
        with progress.waiting(console) as bar:
            bar.reading(1000)
            bar.read(500, 7)
            if patience == 0.0:
                time.sleep(0.3)
            bar.packing(14)
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue()

    assert "Reading, 7 chunks" in shown(terminal=True, patience=0.0)
    assert "━" not in shown(terminal=True, patience=600.0)
    assert shown(terminal=False, patience=0.0) == ""


# -- what it needs --------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra_one_line_says_how_to_install_it(package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from packer.command_line import main; sys.exit(main())"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=surroundings(), check=False
    )
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr.decode() == (
        f"packer: the command line needs {package}; "
        'install it with: pip install "chunk-packer[cli]"\n'
    )


def test_importing_the_library_imports_nothing_of_the_command_line() -> None:
    code = (
        "import sys, packer, strategies\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('typer', 'rich', 'click')"
        " or name.startswith('packer.command_line')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=surroundings(), check=True
    )
    assert found.stdout == b"[]\n"


def test_the_context_of_nothing_is_nothing() -> None:
    empty: Packed = pack([], greedy, budget=1)
    assert context(empty, Format.TEXT) == context(empty, Format.JSONL) == ""


@pytest.mark.parametrize(("closed", "code"), [(">&-", 0), ("2>&-", 0), ("<&-", 0)])
def test_closed_streams_are_no_traceback(tmp_path: Path, closed: str, code: int) -> None:
    chunks = tmp_path / "chunks.json"
    chunks.write_text('[{"content": "text", "score": 0.5}]')
    source = "-" if closed == "<&-" else str(chunks)
    command = f"{sys.executable} -m packer.command_line pack {source} -b 9 -p greedy {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode in {code, 2}


def test_the_examples_of_the_help_are_policies_that_parse() -> None:
    for command in ("pack", "explain"):
        text = run(command, "--help").stdout
        for policy in re.findall(r"-p '([^']+)'", text):
            assert repr(parse(policy))


# -- templates and plans ---------------------------------------------------------------------


def test_a_template_is_written_and_counted(small: str, tmp_path: Path) -> None:
    call = ("-b", "12", "-p", "threshold(0.5) | greedy", "--tokenizer", "utf8_upper_bound")
    text = r"[{position}]\t{id}\n{content}"
    found = run("pack", small, *call[:1], "45", *call[2:], "--template", text)
    assert found.stdout == "[1]\ta\nalpha alpha\n\n[2]\tb\nbeta beta\n"
    assert "of 45 tokens" in found.stderr
    path = tmp_path / "chunk.txt"
    path.write_text("[{position}]\t{id}\n{content}\n", encoding="utf-8")
    again = run("pack", small, *call[:1], "45", *call[2:], "--template", str(path))
    assert again.stdout == found.stdout
    table = tmp_path / "template.toml"
    table.write_text('chunk = "{content}"\nheader = "# All\\n"\nseparator = "|"\n', "utf-8")
    titled = run("pack", small, *call[:1], "45", *call[2:], "--template", str(table))
    assert titled.stdout == "# All\nalpha alpha|beta beta|delta delta\n"


def test_explain_takes_a_template_and_a_reserve(small: str) -> None:
    found = run(
        "explain", small, "b", "-b", "120", "--reserve", "90", "-p", "greedy",
        "--tokenizer", "utf8_upper_bound", "--template", "{content}",
    )  # fmt: skip
    assert found.exit_code == 0
    assert "b is in at position 1 of 2" in found.stdout


def test_a_reserve_is_taken_from_the_budget(small: str) -> None:
    found = run("pack", small, "-b", "100", "--reserve", "25", "-p", "threshold(0.5) | greedy")
    assert "70 of 75 tokens (93.3%), 5 left" in found.stderr
    none = run("pack", small, "-b", "100", "--reserve", "100", "-p", "greedy")
    assert none.exit_code == 2
    assert "window 100 - reserve 100 = 0 leaves nothing for chunks" in none.stderr


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{content", "Template: line 1, column 1: a lone {"),
        ("{nothing}", "no field '{nothing}'"),
        ("no-such-file.txt", "cannot read no-such-file.txt: No such file or directory; a template"),
        ("no-such-file.toml", "cannot read no-such-file.toml"),
        ("{metadata[source]}", "it has no {metadata[source]}, which the template writes"),
    ],
)
def test_a_bad_template_is_told(small: str, template: str, message: str) -> None:
    found = run("pack", small, "-b", "99", "-p", "greedy", "--template", template, columns=200)
    assert found.exit_code == 2
    assert message in found.stderr


def test_a_bad_template_file_is_told(small: str, tmp_path: Path) -> None:
    path = tmp_path / "template.toml"
    for text, message in (("chunk = ", "this is no TOML"), ('header = "x"\nfoot = 1', "the keys")):
        path.write_text(text, encoding="utf-8")
        found = run("pack", small, "-b", "99", "-p", "greedy", "--template", str(path), columns=300)
        assert found.exit_code == 2
        assert message in found.stderr
    path = tmp_path / "latin.txt"
    path.write_bytes(b"\xe9 {content}")
    found = run("pack", small, "-b", "99", "-p", "greedy", "--template", str(path), columns=300)
    assert "this is not UTF-8" in found.stderr


PLAN = """
separator = "\\n"
budget = 40

[[section]]
name = "rules"
text = "Be brief."
minimum = 3

[[section]]
name = "documents"
policy = "threshold(0.5) | greedy"
template = { chunk = "[{position}] {content}", header = "# Documents\\n", separator = "\\n" }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def test_a_plan_writes_its_sections_into_one_text(small: str, plan: Path) -> None:
    found = run("pack", small, "--plan", str(plan))
    assert found.exit_code == 0
    assert found.stdout == (
        "Be brief.\n# Documents\n[1] alpha alpha\n[2] beta beta\n[3] delta delta\n"
    )
    lines = found.stderr.splitlines()
    assert "of 40 tokens" in lines[0]
    assert [line.split()[:3] for line in lines[2:5]] == [
        ["section", "chunks", "in"],
        ["rules", "1", "0"],
        ["documents", "3", "1"],
    ]
    assert "[documents]" in lines


def test_a_plan_as_json_and_jsonl(small: str, plan: Path) -> None:
    whole = json.loads(run("pack", small, "--plan", str(plan), "-f", "json", "-q").stdout)
    assert set(whole) == {"sections", "text", "report"}
    assert whole["report"]["tokens_used"] <= 40
    rows = run("pack", small, "--plan", str(plan), "-f", "jsonl", "-q").stdout.splitlines()
    assert [(json.loads(row)["section"], json.loads(row)["id"]) for row in rows] == [
        ("rules", "rules"),
        ("documents", "a"),
        ("documents", "b"),
        ("documents", "d"),
    ]
    table = run("pack", small, "--plan", str(plan), "-f", "table")
    assert "[rules]" in table.stdout


def test_budget_and_reserve_come_before_those_of_the_plan(small: str, plan: Path) -> None:
    found = run("pack", small, "--plan", str(plan), "-b", "30", "--reserve", "14", "-q")
    assert found.stdout == "Be brief.\n# Documents\n[1] alpha alpha\n[2] beta beta\n"
    plan.write_text(PLAN.replace("budget = 40", "[budget]\nwindow = 60\nreserve = 20"), "utf-8")
    # a table ends what stands before it, so the separator stays the plan's
    assert "of 40 tokens" in run("pack", small, "--plan", str(plan)).stderr
    assert "of 50 tokens" in run("pack", small, "--plan", str(plan), "--reserve", "10").stderr


def test_chunks_name_their_section_where_several_take_them(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('budget = 50\n[[section]]\nname = "a"\n[[section]]\nname = "b"\n', "utf-8")
    rows = [{**row, "metadata": {"section": "ba"[at % 2]}} for at, row in enumerate(SMALL)]
    found = run("pack", "-", "--plan", str(path), "-q", stdin=jsonl(rows))
    assert found.stdout == "beta beta\n\ndelta delta\n\nalpha alpha\n\ngamma gamma\n"
    lost = run("pack", "-", "--plan", str(path), stdin=jsonl(SMALL), columns=300)
    assert lost.exit_code == 2
    assert "standard input, line 1: the metadata of this chunk names no section" in lost.stderr
    rows[2]["metadata"] = {"section": "c"}
    other = run("pack", "-", "--plan", str(path), stdin=jsonl(rows), columns=300)
    assert "line 3: the metadata of this chunk names the section 'c'" in other.stderr


def test_sections_have_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(jsonl(SMALL), encoding="utf-8")
    path = tmp_path / "plan.toml"
    path.write_text('budget = 50\n[[section]]\nname = "a"\nfile = "own.jsonl"\n', "utf-8")
    found = run("pack", "--plan", str(path), "-q")
    assert found.stdout == "alpha alpha\n\nbeta beta\n\ndelta delta\n\ngamma gamma\n"
    (tmp_path / "own.jsonl").write_text(jsonl([{"content": "x", "score": None}]), encoding="utf-8")
    bad = run("pack", "--plan", str(path), columns=300)
    assert "own.jsonl: 1 chunk is invalid" in bad.stderr
    assert "line 1, chunk-0: score is None" in bad.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget = ", "this is no TOML"),
        ("budget = 9", "a plan has sections"),
        ("section = 3", "a plan has sections"),
        ("budgt = 9", "there is no key 'budgt'; did you mean budget?"),
        ("[[section]]\nname = 'a'", "the plan has no budget"),
        ("budget = 9\n[[section]]", "section 1: it has no name"),
        ("budget = 9\n[[section]]\nname = 'a'\nmin = 3", "there is no key 'min'"),
        ("budget = 9\n[[section]]\nname = 'a'\npolicy = 'gredy'", "did you mean greedy?"),
        ("budget = 9\n[[section]]\nname = 'a'\npolicy = 3", "policy is no text"),
        ("budget = 9\n[[section]]\nname = 'a'\ntemplate = '{x}'", "no field '{x}'"),
        ("budget = 9\n[[section]]\nname = 'a'\ntext = 'x'\nfile = 'y'", "both text and file"),
        ("budget = 9\n[[section]]\nname = 'a'\nminimum = 10", "the minima a 10 = 10 tokens do not"),
        ("budget = 0\n[[section]]\nname = 'a'", "window is 0"),
        ("[budget]\nreserve = 3\n[[section]]\nname = 'a'", "it has no window"),
        ("[budget]\nwidow = 3\n[[section]]\nname = 'a'", "did you mean window?"),
        ("budget = 9\nseparator = 3\n[[section]]\nname = 'a'", "separator is no text"),
        ("budget = 9\n[[section]]\nname = 'a'\nfile = 'none.jsonl'", "cannot read"),
    ],
)
def test_a_bad_plan_is_told(small: str, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    found = run("pack", small, "--plan", str(path), columns=300)
    assert found.exit_code == 2
    assert message in found.stderr


def test_a_plan_takes_no_policy_and_the_rest_of_a_call_is_needed(small: str, plan: Path) -> None:
    for options, message in (
        (["--plan", str(plan), "-p", "greedy"], "--policy stands in the plan"),
        (["--plan", str(plan), "--template", "{content}"], "--template stands in the plan"),
        (["--plan", str(plan), "--overhead", "3"], "it takes no overhead"),
        (["-b", "9"], "--policy is needed"),
        (["-p", "greedy"], "--budget is needed"),
    ):
        found = run("pack", small, *options, columns=200)
        assert found.exit_code == 2
        assert message in found.stderr
    assert "FILE is needed" in run("pack", "-b", "9", "-p", "greedy", columns=200).stderr
    assert "take their chunks from FILE" in run("pack", "--plan", str(plan), columns=300).stderr


def test_the_plan_of_the_examples_fits() -> None:
    found = run("pack", SUPPORT, "--plan", str(ROOT / "examples" / "support" / "plan.toml"))
    assert found.exit_code == 0
    assert found.stdout.startswith("Answer from the documents below")
    assert "\n\n# How to answer\nQ: " in found.stdout
    assert "\n\n# Documents\n[1] " in found.stdout
    assert -(-len(found.stdout.removesuffix("\n")) // 4) <= 700


def test_explain_of_a_plan_names_the_section(small: str, plan: Path, tmp_path: Path) -> None:
    whole = json.loads(run("pack", small, "--plan", str(plan), "-f", "json", "-q").stdout)
    lines = run("explain", small, "--plan", str(plan)).stdout.splitlines()
    parts = whole["sections"].values()
    out = whole["report"]["sections"].values()
    assert len(lines) == sum(len(part["chunks"]) for part in parts) + sum(
        len(part["excluded"]) for part in out
    )
    name = next(name for name, part in whole["sections"].items() if "a" in str(part["chunks"]))
    id_ = whole["sections"][name]["chunks"][0]["id"]
    told = run("explain", small, id_, "--plan", str(plan)).stdout
    assert told.startswith(f"section {name}, ")
    assert f"{id_} is in at position 0" in told
    assert "chosen: score" in told
    lost = run("explain", small, "nobody", "--plan", str(plan))
    assert (lost.exit_code, "no chunk of any section has the id 'nobody'" in lost.stderr) == (
        2,
        True,
    )
    twice = run("explain", small, "--plan", str(plan), "-p", "greedy")
    assert (twice.exit_code, "stands in the plan" in twice.stderr) == (2, True)
    bare = tmp_path / "bare.toml"
    bare.write_text('budget = 40\n[[section]]\nname = "rules"\ntext = "Be kind."\n', "utf-8")
    assert "rules is in at position 0" in run("explain", "rules", "--plan", str(bare)).stdout


def test_what_a_chunk_added_is_shown_beside_its_tokens() -> None:
    text = "Refunds take five days. We ship on Monday."
    rows = [
        {
            "id": id_,
            "content": text[start:end],
            "score": score,
            "metadata": {"source": "faq", "start": start, "end": end},
        }
        for id_, start, end, score in (("a", 0, 36, 0.9), ("b", 24, 42, 0.8))
    ]
    call = ("-b", "50", "-p", "overlap() | greedy")
    found = run("pack", "-", *call, stdin=jsonl(rows))
    assert found.stdout == text + "\n"
    assert "5 (2 new)" in found.stderr
    told = run("explain", "-", "b", *call, stdin=jsonl(rows)).stdout
    assert "5 tokens (2 new)" in told
