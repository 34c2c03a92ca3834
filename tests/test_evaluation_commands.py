"""`packer eval` and `packer tune`, as they are called."""

import errno
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from packer.command_line.app import app
from packer.command_line.evaluation import processes
from packer.command_line.writing import write_whole
from packer.evaluation import BUDGETS, MEASURES, TUNING_BUDGETS
from strategies import parse, recommended

ROOT = Path(__file__).resolve().parents[1]
DATA = str(ROOT / "examples" / "evaluation" / "support.jsonl.gz")


def run(*arguments: str, columns: int = 80) -> Any:
    return CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": ""}).invoke(app, list(arguments))


def test_eval_prints_a_table_of_figures_and_what_the_marks_mean() -> None:
    done = run("eval", DATA, "-p", "current() | greedy", "-p", "density", "-b", "200", "-b", "400")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "evidence recall: support, 20 queries"
    assert lines[1].split() == ["policy", "200", "400", "90", "%", "at"]
    assert [line.split("  ")[0] for line in lines[2:5]] == [
        "greedy",
        "current() | greedy",
        "density",
    ]
    assert max(map(len, lines)) <= 80
    assert "Holm" in done.stdout


def test_eval_says_the_differences_where_there_is_room() -> None:
    narrow = run("eval", DATA, "-p", "density", "-b", "200", "-b", "400", "-b", "800", columns=60)
    wide = run("eval", DATA, "-p", "density", "-b", "200", columns=100)
    assert " -0." not in narrow.stdout
    assert " -0." in wide.stdout


def test_eval_shows_every_measure_when_asked() -> None:
    done = run("eval", DATA, "-p", "density", "-b", "200", "--measure", "all")
    for title in ("evidence recall", "all-evidence rate", "answer-string recall", "redundancy"):
        assert f"{title}: support" in done.stdout


def test_eval_names_the_queries_that_lose() -> None:
    done = run("eval", DATA, "-p", "dedup(0.9) | greedy", "-b", "400", "--losses", "3")
    assert "dedup(0.9) | greedy at 400 loses evidence on 1 query:" in done.stdout
    assert "  support free-delivery: 1.00 -> 0.00" in done.stdout


def test_eval_writes_json_and_a_page(tmp_path: Path) -> None:
    page, figures = tmp_path / "report.html", tmp_path / "report.json"
    done = run(
        "eval", DATA, "-p", "density", "-b", "200", "--json", str(figures), "--html", str(page)
    )
    assert done.exit_code == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    read = json.loads(figures.read_text("utf-8"))
    assert read["policies"] == {"greedy": "greedy", "density": "density"}
    assert len(read["queries"]["support"]["ids"]) == 20
    alone = run("eval", DATA, "-p", "density", "-b", "200", "--json", "-")
    assert json.loads(alone.stdout) == read


def test_files_are_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: tmp_path / name for name in ("figures.json", "tuning.json", "policy.txt")}
    for path in before.values():
        path.write_text("as before", "utf-8")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pathlib.Path.replace", full)
    eval_ = ("eval", DATA, "-p", "density", "-b", "200")
    tune_ = ("tune", DATA, "-b", "400", "-p", "prefix", "--current", "greedy")
    for call, option, name in (
        (eval_, "--json", "figures.json"),
        (tune_, "--json", "tuning.json"),
        (tune_, "--output", "policy.txt"),
    ):
        done = run(*call, option, str(before[name]))
        assert done.exit_code == 1
        assert "cannot write: No space left on device" in done.stderr
        assert done.stdout == ""
    assert {path.read_text("utf-8") for path in tmp_path.iterdir()} == {"as before"}
    assert sorted(tmp_path.iterdir()) == sorted(before.values())


def test_a_link_stays_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    target.write_text("old", "utf-8")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text("utf-8") == "new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "through")
    assert os.read(reader, 99) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_eval_compares_the_recommended_policy_when_none_is_named() -> None:
    done = run("eval", DATA, "-b", "200", "--baseline", "mmr(0.9)")
    lines = done.stdout.splitlines()
    assert lines[2].startswith("mmr(0.9)")
    assert lines[3].startswith(f"{recommended()}  ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl"], "cannot read nowhere.jsonl: No such file or directory"),
        (["."], "cannot read .: Is a directory"),
        (["/"], "cannot read /: Is a directory"),
        ([DATA, "-p", "mmr"], "mmr is called; write mmr()"),
        ([DATA, "-b", "0"], "budget"),
        ([DATA, "-m", "recall"], "measure is 'recall'; give one of evidence"),
        ([DATA, "--tokenizer", "nothing"], "nothing"),
        ([str(ROOT / "README.md")], "line 1: column 1"),
        ([DATA, "--json", "/nowhere/at/all.json"], "cannot write: No such file"),
    ],
)
def test_eval_tells_what_is_wrong(arguments: list[str], message: str) -> None:
    done = run("eval", *arguments, columns=200)
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["eval", "tune"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"evidence": ["A"]}, "reachable evidence; are the ids those of the candidates?"),
        ({"evidence": []}, "reachable evidence; are the ids those of the candidates?"),
        (
            {"evidence": ["A"], "answers": ["text"]},
            "reachable evidence; are the ids those of the candidates?",
        ),
        (
            {"answers": ["nothing"]},
            "an answer in a candidate; are the answers words of the candidates?",
        ),
    ],
)
def test_labels_that_no_policy_can_reach_are_refused(
    command: str, labels: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "faq.jsonl"
    chunk = {"id": "a", "content": "text", "score": 0.9, "tokens": 9}
    line = json.dumps({"query": "q", "candidates": [chunk], **labels})
    path.write_text(f"{line}\n" * 12, encoding="utf-8")
    done = run(command, str(path), "-b", "20", columns=200)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"faq.jsonl: 0 of 12 queries have {message}" in " ".join(done.stderr.split())


@pytest.mark.parametrize("labels", [{"evidence": ["a"]}, {"answers": ["text"]}])
def test_one_query_within_reach_is_enough_to_measure(
    labels: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "faq.jsonl"
    chunk = {"id": "a", "content": "text", "score": 0.9, "tokens": 9}
    lines = [
        json.dumps({"query": "q", "candidates": [chunk], key: value})
        for key, value in [*labels.items(), *((key, ["gone"]) for key in labels)]
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert run("eval", str(path), "-b", "20", "-p", "density").exit_code == 0


@pytest.mark.parametrize("command", ["eval", "tune"])
def test_invalid_candidates_are_set_aside_as_the_error_says(command: str, tmp_path: Path) -> None:
    record = {
        "query": "q",
        "evidence": ["a"],
        "candidates": [
            {"id": "a", "content": "x", "score": 0.9, "tokens": 9},
            {"id": "b", "content": "y", "score": "high", "tokens": 9},
        ],
    }
    path = tmp_path / "faq.jsonl"
    path.write_text(f"{json.dumps(record)}\n" * 10, encoding="utf-8")
    refused = run(command, str(path), "-b", "20", "-p", "density", columns=200)
    assert refused.exit_code == 2
    assert "--on-invalid exclude" in refused.stderr
    done = run(command, str(path), "-b", "20", "-p", "density", "--on-invalid", "exclude")
    assert done.exit_code == 0


@pytest.mark.parametrize("command", ["eval", "tune"])
def test_a_seed_below_0_is_refused(command: str) -> None:
    done = run(command, DATA, "--seed", "-1", columns=200)
    assert done.exit_code == 2
    assert "Invalid value for '--seed'" in done.stderr


def test_the_help_says_what_is_so() -> None:
    shown = run("eval", "--help", columns=200).stdout
    assert f"({', '.join(map(str, BUDGETS))})" in shown
    assert ", ".join(MEASURES) in shown
    shown = run("tune", "--help", columns=200).stdout
    assert f"({', '.join(map(str, TUNING_BUDGETS))})" in shown
    assert f"({', '.join(map(str, BUDGETS))})" not in shown


@pytest.mark.parametrize(
    ("jobs", "queries", "cores", "expected"),
    [(3, 10, 8, 3), (0, 10, 8, 1), (0, 1_000, 2, 2), (0, 500, 8, 2)],
)
def test_processes_are_started_where_they_pay(
    jobs: int, queries: int, cores: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert processes(jobs, queries) == expected


def test_tune_prints_a_policy_and_reports_beside_it(tmp_path: Path) -> None:
    text, figures = tmp_path / "policy.txt", tmp_path / "tuning.json"
    done = run(
        *("tune", DATA, "-b", "400", "--current", "greedy", "-p", "current() | greedy"),
        *("-p", "prefix", "-o", str(text), "--json", str(figures)),
    )
    assert done.exit_code == 0
    assert done.stdout.strip() == text.read_text().strip()
    assert str(parse(done.stdout)) == done.stdout.strip()
    read = json.loads(figures.read_text("utf-8"))
    assert read["policy"] == done.stdout.strip()
    assert max(map(len, done.stderr.splitlines())) <= 80
    assert "3 policies, 19 queries with evidence, each held back in 4 rounds" in done.stderr
    assert "what choosing gains on queries that were held back" in done.stderr
    assert read["verdict"] in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("call", "told"),
    re.findall(
        r"```sh\n(packer .*?)```\n\n```text\n(.*?)```",
        (ROOT / "docs" / "evaluation.md").read_text("utf-8"),
        re.DOTALL,
    ),
    ids=["eval", "tune"],
)
def test_the_commands_in_the_documentation_print_what_it_says(
    call: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    done = run(*shlex.split(call.replace("\\\n", " "))[1:], columns=98)
    assert done.exit_code == 0
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines == told.splitlines()


def test_tune_searches_the_grid_and_can_be_quiet() -> None:
    done = run("tune", DATA, "-b", "400", "--trials", "4", "--quiet")
    assert done.exit_code == 0
    assert done.stderr == ""
    assert str(parse(done.stdout)) == done.stdout.strip()


def test_tune_tells_what_is_wrong() -> None:
    done = run("tune", DATA, "-p", "mmr")
    assert done.exit_code == 2
    assert "mmr is called" in done.stderr
