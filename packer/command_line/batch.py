"""A Parquet file of requests, packed batch by batch into another: the work of `packer batch`.

One batch of rows is in memory at a time.  The target appears when all of it is written; until then
the rows stand in a file beside it, which goes when something fails.
"""

import datetime as dt
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, final

import attrs
from rich.console import Console, Group, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from packer.algebra import Policy
from packer.errors import PackError

from .faults import InputFault, for_the_command_line
from .output import visible

__all__ = ["Summary", "pack_file", "summary_table"]

ROWS: Final = 4096
"""Rows that are read, packed and written at a time."""

SHOWN: Final = 5
"""Failing rows that the summary names."""


@final
@attrs.define
class Summary:
    """What became of the rows so far.

    `utilization`: the sum over the packed rows of tokens used over budget.  `failures`: row number
    in the file, code and message of the first failing rows; `codes` counts them all.
    """

    rows: int = 0
    without: int = 0
    failed: int = 0
    candidates: int = 0
    packed: int = 0
    tokens: int = 0
    utilization: float = 0.0
    seconds: float = 0.0
    reasons: Counter[str] = attrs.field(factory=Counter)
    warnings: Counter[str] = attrs.field(factory=Counter)
    codes: Counter[str] = attrs.field(factory=Counter)
    failures: list[tuple[int, str, str]] = attrs.field(factory=list)

    @property
    def good(self) -> int:
        """The rows that were packed."""
        return self.rows - self.without - self.failed


def pack_file(
    source: str,
    target: str,
    policy: Policy,
    *,
    console: Console,
    rows: int = ROWS,
    **options: Any,
) -> Summary:
    """Pack every row of a Parquet file; `options` are those of `pack_batch`.  O(rows) memory.

    Raises InputFault for what cannot be read, and what `pack_batch` raises, with the row's number
    in the file.
    """
    try:
        import pyarrow.parquet as pq

        from packer import arrow
    except ImportError:
        message = "packer batch needs pyarrow; install chunk-packer[arrow]"
        raise InputFault(message) from None
    if options.get("now") is None:
        options["now"] = dt.datetime.now(dt.UTC)  # one moment for all rows
    for path in (source, target):
        if Path(path).is_dir():
            message = f"{path} is a folder; name a file in it"
            raise InputFault(message)
    if Path(target).exists() and Path(source).exists() and Path(target).samefile(source):
        message = f"{target} is the input itself; name another file for the result"
        raise InputFault(message)
    if Path(target).exists() and not Path(target).is_file():
        message = f"{target} is no regular file, and the result would replace it; name another"
        raise InputFault(message)
    summary, began = Summary(), time.perf_counter()
    with _reading(source):
        file = pq.ParquetFile(source)
    with file:
        with _reading(source):
            empty = file.schema_arrow.empty_table()
        schema = arrow.pack_batch(empty, policy, **options).schema
        with (
            _whole(target) as part,
            pq.ParquetWriter(part, schema) as writer,
            _bar(console, file.metadata.num_rows) as advance,
        ):
            for batch in _batches(file, source, rows):
                try:
                    result = arrow.pack_batch(batch, policy, **options)
                except PackError as error:
                    raise _in_file(error, source, summary.rows) from error
                _add(summary, result, options)
                writer.write_batch(result)
                advance(batch.num_rows)
    summary.seconds = time.perf_counter() - began
    return summary


def _batches(file: Any, source: str, rows: int) -> Iterator[Any]:
    batches = file.iter_batches(batch_size=rows)
    while True:
        with _reading(source):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


@contextmanager
def _reading(source: str) -> Iterator[None]:
    """Say of what goes wrong within that it is the input's fault."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        message = f"cannot read {source} as Parquet: {told}"
        raise InputFault(message) from None


@contextmanager
def _whole(target: str) -> Iterator[Path]:
    """A file beside the target that takes its name once all went well; links stay links."""
    real = Path(os.path.realpath(target))
    part = real.with_name(f".{real.name}.{os.getpid()}.part")
    with _unwound_by(signal.SIGTERM):
        try:
            yield part
            part.replace(real)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


@contextmanager
def _unwound_by(number: signal.Signals) -> Iterator[None]:
    """Let a signal that would end the process at once end it as an exception does."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(number) is not signal.SIG_DFL:
        yield  # whoever calls has a say of its own
        return

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(number, end)
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL)


def _in_file(error: PackError, source: str, before: int) -> InputFault | PackError:
    """The error with the row's number in the file."""
    row = error.details.get("row")
    if not isinstance(row, int):
        return error
    told = for_the_command_line(error.message.removeprefix(f"row {row}: "))
    return InputFault(f"{source}, row {before + row}: {told}")


@contextmanager
def _bar(console: Console, rows: int) -> Iterator[Any]:
    """A bar of the rows on a terminal, nothing elsewhere; gives what moves it on."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield lambda _: None
        return
    columns = (
        TextColumn("Packing"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("rows"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=rows)
        yield lambda count: bar.advance(task, count)


# -- the summary ----------------------------------------------------------------------------


def _add(summary: Summary, result: Any, options: dict[str, Any]) -> None:
    """Count a packed batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    failed = result["error"].is_valid()
    good = result["packed"].is_valid()
    limits = _limits(result, options)
    shares = pc.divide(pc.cast(result["tokens_used"], pa.float64()), limits)
    for row in pc.indices_nonzero(failed).to_pylist()[: SHOWN - len(summary.failures)]:
        error = result["error"][row].as_py()
        summary.failures.append((summary.rows + row, error["code"], error["message"]))
    summary.codes.update(_counts(result["error"].field("code")))
    summary.rows += result.num_rows
    summary.failed += failed.true_count
    summary.without += result.num_rows - failed.true_count - good.true_count
    packed, excluded = result["packed"].flatten(), result["excluded"].flatten()
    summary.packed += len(packed)
    summary.candidates += len(packed) + len(excluded)
    summary.tokens += pc.sum(result["tokens_used"]).as_py() or 0
    summary.utilization += pc.sum(shares).as_py() or 0.0
    summary.reasons.update(_counts(excluded.field("reason")))
    summary.warnings.update(_counts(result["warnings"].flatten().field("code")))


def _limits(result: Any, options: dict[str, Any]) -> Any:
    """float64: the budget of each row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from packer.budget import available

    budget, column = options.get("budget"), options.get("budget_column")
    limit = None if budget is None else pa.scalar(float(available(budget)))
    if column is None:
        return limit
    given = pc.cast(result[column], pa.float64())
    return given if limit is None else pc.fill_null(given, limit)


def _counts(words: Any) -> dict[str, int]:
    found = words.drop_null().value_counts().to_pylist()
    return {entry["values"]: entry["counts"] for entry in found}


def summary_table(summary: Summary, target: str) -> RenderableType:
    """Rows, utilisation, reasons as a bar chart, warnings, failing rows."""
    rate = summary.rows / summary.seconds if summary.seconds else 0.0
    parts: list[RenderableType] = [
        _line(f"{summary.rows:,} rows in {summary.seconds:,.1f} s ({rate:,.0f} a second)", "bold")
    ]
    if summary.good:
        mean = summary.utilization / summary.good
        parts.append(
            _line(
                f"{summary.good:,} packed: {summary.packed:,} of {summary.candidates:,} candidates, "
                f"{summary.tokens:,} tokens, mean utilization {mean:.1%}"
            )
        )
    if summary.without:
        parts.append(_line(f"{summary.without:,} without candidates (null)"))
    if summary.reasons:
        out = sum(summary.reasons.values())
        parts += [Text(), _line(f"Out: {out:,}", "bold red"), _chart(summary.reasons)]
    for code, count in summary.warnings.most_common():
        rows = "row" if count == 1 else "rows"
        parts.append(_line(f"Warning ({code}): {count:,} {rows}", "yellow"))
    if summary.failed:
        rows = "row" if summary.failed == 1 else "rows"
        parts += [Text(), _line(f"Failed: {summary.failed:,} {rows}", "bold red")]
        parts.append(_chart(summary.codes))
        parts += [
            _line(f"row {row}: {code}: {for_the_command_line(told)}")
            for row, code, told in summary.failures
        ]
        if len(summary.failures) < summary.failed:
            parts.append(_line(f"the others are in the column error of {target}"))
    return Group(*parts)


def _line(words: str, style: str = "") -> Text:
    return Text(visible(words), style=style)


def _chart(counts: Counter[str]) -> RenderableType:
    """A bar for each word, the most frequent first."""
    total, most = sum(counts.values()), max(counts.values())
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column()
    grid.add_column(justify="right")
    grid.add_column(justify="right")
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        bar = ProgressBar(total=most, completed=count, width=24)
        grid.add_row(_line(word), bar, f"{count:,}", f"{count / total:.1%}")
    return grid
