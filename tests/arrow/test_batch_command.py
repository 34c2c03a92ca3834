import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from packer.arrow import pack_batch
from packer.command_line.app import app
from packer.command_line.output import console
from strategies import parse

POLICY = "threshold(0.3) | greedy"
ROWS: list[dict[str, Any]] = [
    {
        "query": "refunds?",
        "window": 50,
        "candidates": [
            {"id": "a", "content": "alpha", "score": 0.9, "tokens": 40, "url": "x"},
            {"id": "b", "content": "beta", "score": 0.8, "tokens": 20, "url": "y"},
            {"id": "c", "content": "gamma", "score": 0.1, "tokens": 5, "url": None},
        ],
    },
    {"query": "nothing", "window": None, "candidates": []},
    {"query": "no list", "window": 10, "candidates": None},
    {
        "query": "bad",
        "window": 10,
        "candidates": [{"id": "d", "content": "x", "score": None, "tokens": 1, "url": None}],
    },
]


def run(*arguments: object) -> Any:
    return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(
        app, ["batch", *map(str, arguments)]
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=2)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "out.parquet"


def test_a_file_is_packed_as_pack_batch_packs_its_table(source: Path, target: Path) -> None:
    found = run(
        source, target, "-p", POLICY, "--budget-column", "window", "-b", 30, "--carry", "url",
        "--rows", 1, "--query-column", "query",
    )  # fmt: skip
    assert found.exit_code == 0, found.stderr
    expected = pack_batch(
        pq.read_table(source),
        parse(POLICY),
        budget=30,
        budget_column="window",
        query_column="query",
        carry=["url"],
        on_error="set-aside",
    )
    assert pq.read_table(target).to_pylist() == expected.to_pylist()
    assert found.stdout == ""


def test_the_summary_is_this_but_for_the_clock(source: Path, target: Path) -> None:
    found = run(source, target, "-p", POLICY, "-b", 50)
    first, *lines = found.stderr.splitlines()
    assert first.startswith("4 rows in ")
    assert lines == [
        "2 packed: 1 of 3 candidates, 40 tokens, mean utilization 40.0%",
        "1 without candidates (null)",
        "",
        "Out: 2",
        "below-threshold  ━━━━━━━━━━━━━━━━━━━━━━━━  1  50.0%",
        "budget           ━━━━━━━━━━━━━━━━━━━━━━━━  1  50.0%",
        "",
        "Failed: 1 row",
        "INVALID_CHUNK  ━━━━━━━━━━━━━━━━━━━━━━━━  1  100.0%",
        "row 3: INVALID_CHUNK: 1 chunk is invalid: 'd' at 0: score is None; give a finite number. Mend them,",
        "or set such chunks aside with --on-invalid exclude",
    ]


def test_quiet_writes_no_summary(source: Path, target: Path) -> None:
    found = run(source, target, "-p", POLICY, "-b", 50, "--quiet")
    assert (found.exit_code, found.stderr) == (0, "")
    assert target.exists()


def test_a_failing_row_can_stop_the_job_and_leaves_no_file(source: Path, target: Path) -> None:
    found = run(source, target, "-p", POLICY, "-b", 50, "--on-error", "raise", "--rows", 2)
    assert found.exit_code == 2
    told = " ".join(found.stderr.split())
    assert f"{source}, row 3: 1 chunk is invalid: 'd' at 0" in told
    assert "--on-invalid exclude" in told
    assert "on_invalid" not in told
    assert [path.name for path in target.parent.iterdir()] == ["in.parquet"]


def test_an_old_result_stays_until_the_new_one_is_whole(source: Path, target: Path) -> None:
    target.write_text("old", encoding="utf-8")
    assert run(source, target, "-p", POLICY, "-b", 9, "--on-error", "raise").exit_code == 2
    assert target.read_text(encoding="utf-8") == "old"
    assert run(source, target, "-p", POLICY, "-b", 9).exit_code == 0
    assert pq.read_table(target).num_rows == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-p", POLICY], "give --budget, or --budget-column"),
        (["-p", POLICY, "-b", "0"], "budget is 0"),
        (["-p", "greedyy", "-b", "9"], "greedy"),
        (["-p", POLICY, "-b", "9", "--candidates-column", "hits"], "by --candidates-column"),
        (["-p", POLICY, "-b", "9", "--carry", "link"], "carry names 'link'"),
        (["-p", POLICY, "--budget-column", "query"], "query is string; give an integer type"),
    ],
)
def test_wrong_use_ends_with_2_and_says_what_to_do(
    source: Path, target: Path, arguments: list[str], told: str
) -> None:
    found = run(source, target, *arguments)
    assert found.exit_code == 2
    assert told in " ".join(found.stderr.split())
    assert not target.exists()


def test_what_is_no_parquet_is_named(tmp_path: Path, target: Path) -> None:
    text = tmp_path / "text.parquet"
    text.write_text("no parquet at all", encoding="utf-8")
    for path in (text, tmp_path / "missing.parquet"):
        found = run(path, target, "-p", POLICY, "-b", 9)
        assert found.exit_code == 2
        assert f"cannot read {path} as Parquet" in "".join(found.stderr.split("\n"))


def test_the_input_is_not_overwritten(source: Path) -> None:
    found = run(source, source, "-p", POLICY, "-b", 9)
    assert found.exit_code == 2
    assert "is the input itself" in found.stderr


def test_a_link_stays_one_and_its_file_is_written(source: Path, target: Path) -> None:
    real = target.parent / "real.parquet"
    for before in (None, "old"):
        if before is not None:
            real.write_text(before, encoding="utf-8")
        target.unlink(missing_ok=True)
        target.symlink_to(real.name)
        assert run(source, target, "-p", POLICY, "-b", 9).exit_code == 0
        assert target.is_symlink()
        assert pq.read_table(real).num_rows == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file_is_not_replaced(source: Path, target: Path) -> None:
    os.mkfifo(target)
    link = target.parent / "link.parquet"
    link.symlink_to(target.name)
    for path in (target, link):
        found = run(source, path, "-p", POLICY, "-b", 9)
        assert found.exit_code == 2
        assert "is no regular file" in " ".join(found.stderr.split())
        assert target.is_fifo()


def test_a_folder_is_neither_read_nor_written(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source.parent)
    for arguments in ((source, "."), (source, source.parent), (".", target)):
        found = run(*arguments, "-p", POLICY, "-b", 9)
        assert found.exit_code == 2
        assert "is a folder; name a file in it" in " ".join(found.stderr.split())
    assert [path.name for path in source.parent.iterdir()] == ["in.parquet"]


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM ends a process at once elsewhere")
def test_being_told_to_end_leaves_no_part_behind(source: Path, target: Path) -> None:
    def end(*_: object, **__: object) -> None:
        assert [path.suffix for path in target.parent.glob(".*")] == [".part"]
        os.kill(os.getpid(), signal.SIGTERM)

    with mock.patch("packer.command_line.batch._add", side_effect=end):
        assert run(source, target, "-p", POLICY, "-b", 9).exit_code == 128 + signal.SIGTERM
    assert [path.name for path in target.parent.iterdir()] == ["in.parquet"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_folder_that_is_not_there_cannot_be_written_to(source: Path, tmp_path: Path) -> None:
    found = run(source, tmp_path / "no" / "out.parquet", "-p", POLICY, "-b", 9)
    assert found.exit_code == 1
    assert found.stderr.startswith("packer: error: cannot write: ")


def test_without_pyarrow_the_extra_is_named(source: Path, target: Path) -> None:
    with mock.patch.dict(sys.modules, {"pyarrow.parquet": None}):
        found = run(source, target, "-p", POLICY, "-b", 9)
    assert found.exit_code == 2
    assert "chunk-packer[arrow]" in found.stderr


def test_a_terminal_has_a_bar_that_counts_rows(source: Path, target: Path) -> None:
    from packer.command_line.batch import pack_file

    primary, secondary = os.openpty()
    with os.fdopen(secondary, "w") as terminal, mock.patch.dict(os.environ, {"TERM": "xterm"}):
        screen = console(terminal, plain=False)
        pack_file(str(source), str(target), parse(POLICY), console=screen, budget=9,
                  on_error="set-aside")  # fmt: skip
    shown = ""
    with os.fdopen(primary, "rb", buffering=0) as read, suppress(OSError):  # at its end
        while block := read.read(4096):
            shown += block.decode("utf-8", "replace")
    assert "Packing" in shown
    assert "4/4" in shown


def test_memory_holds_a_batch_at_a_time(source: Path, target: Path) -> None:
    sizes = []

    def counting(batch: Any, *given: Any, **options: Any) -> Any:
        sizes.append(batch.num_rows)
        return pack_batch(batch, *given, **options)

    with mock.patch("packer.arrow.pack_batch", counting):
        assert run(source, target, "-p", POLICY, "-b", 9, "--rows", 3).exit_code == 0
    assert sizes == [0, 3, 1]
