"""Many requests through an engine, beside `packer batch`'s way and a plain loop of `pack`.

    python -m benchmarks.engines [--queries 1000000] [--engine daft] [--loop 2000]

Makes Parquet files of requests with 20 candidates each (id, score, tokens, source), one in 100,000
with a score that is null; packs them to Parquet by the engine, and in this process batch by batch;
checks that both give the same, and that only the bad rows are set aside.  The plain loop packs the
first requests only; its figure is a rate.
"""

import argparse
import importlib.util
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from packer import pack
from strategies import parse

POLICY: Final = "threshold(0.2) | greedy | ushape"
OPTIONS: Final[dict[str, Any]] = {"budget": 2_000, "on_error": "set-aside"}
CANDIDATES: Final = 20
PART: Final = 50_000
"""Requests in a file."""
BAD: Final = 100_000
"""One request in so many cannot be packed."""
ROOT: Final = Path(__file__).resolve().parents[1]


def main() -> None:
    """Make the files, pack them, print the rates."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--queries", type=int, default=1_000_000)
    arguments.add_argument("--engine", default="daft", choices=sorted(ENGINES))
    arguments.add_argument("--loop", type=int, default=2_000, help="requests of the plain loop")
    arguments.add_argument("--folder", type=Path, help="where the files go; a temporary one")
    given = arguments.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="packer-engines-"))
    try:
        _compare(folder, given.engine, given.queries, min(given.loop, given.queries))
    finally:
        if given.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


def _compare(folder: Path, engine: str, queries: int, looped: int) -> None:
    source, by_engine, alone = folder / "in", folder / engine, folder / "alone"
    for path in (source, by_engine, alone):
        path.mkdir(parents=True)
    _timed(f"made {queries:,} requests", queries, lambda: make(source, queries))
    _timed("plain loop of pack", looped, lambda: loop(source, looped))
    _timed("pack_batch, one process", queries, lambda: pack_alone(source, alone))
    _timed(f"pack_batch by {engine}", queries, lambda: ENGINES[engine](source, by_engine))
    theirs, ours = outcome(by_engine), outcome(alone)
    assert theirs == ours, f"{engine} gave {theirs}, pack_batch {ours}"
    rows, failed, tokens, packed, excluded = ours
    assert (rows, failed) == (queries, -(-queries // BAD))
    print(
        f"the same from both: {rows:,} rows, {failed} set aside, "
        f"{packed:,} candidates packed, {excluded:,} excluded, {tokens:,} tokens"
    )


def _timed(what: str, queries: int, job: Callable[[], object]) -> None:
    began = time.perf_counter()
    job()
    spent = time.perf_counter() - began
    print(f"{what}: {spent:.1f} s, {queries / spent:,.0f} requests a second", flush=True)


def make(folder: Path, queries: int) -> None:
    """Files of requests; the scores and tokens are drawn anew for each."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    for start in range(0, queries, PART):
        count = min(PART, queries - start)
        n, rng = count * CANDIDATES, np.random.default_rng(start)
        number = pa.array(np.arange(start * CANDIDATES, start * CANDIDATES + n)).cast(pa.string())
        scores = rng.random(n)
        bad = np.zeros(n, np.bool_)
        bad[np.arange(-start % BAD, count, BAD) * CANDIDATES] = True
        fields = {
            "id": pc.binary_join_element_wise("doc-", number, ""),
            "score": pa.array(scores, mask=bad),
            "tokens": pa.array(np.maximum(1, rng.lognormal(np.log(250), 0.6, n)).astype(np.int64)),
            "source": pa.array(["kb", "faq", "wiki", "mail"]).take(pa.array(rng.integers(0, 4, n))),
        }
        structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
        lists = pa.ListArray.from_arrays(
            pa.array(np.arange(0, n + 1, CANDIDATES), pa.int32()), structs
        )
        table = pa.table({"request": np.arange(start, start + count), "candidates": lists})
        pq.write_table(table, folder / f"{start:09}.parquet", row_group_size=PART // 4)


def _batches(folder: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq

    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=4096)


def pack_alone(source: Path, target: Path) -> None:
    """In this process, a batch at a time."""
    import pyarrow.parquet as pq

    from packer.arrow import pack_batch

    policy, writer = parse(POLICY), None
    for batch in _batches(source):
        result = pack_batch(batch, policy, **OPTIONS)
        if writer is None:
            writer = pq.ParquetWriter(target / "all.parquet", result.schema)
        writer.write_batch(result)
    assert writer is not None
    writer.close()


def loop(source: Path, queries: int) -> None:
    """A call of `pack` for each of the first requests, and nothing written."""
    policy, done = parse(POLICY), 0
    for batch in _batches(source):
        for candidates in batch.column("candidates").to_pylist():
            if done == queries:
                return
            chunks = [
                {
                    "content": one["id"],
                    "score": one["score"] or 0.0,
                    "id": one["id"],
                    "tokens": one["tokens"],
                    "metadata": {"source": one["source"]},
                }
                for one in candidates
            ]
            packed = pack(chunks, policy, budget=OPTIONS["budget"])
            assert len(packed.chunks) + len(packed.report.excluded) == len(chunks)
            done += 1


def outcome(folder: Path) -> tuple[int, int, int, int, int]:
    """Rows, failed rows, tokens used, candidates packed and excluded."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    totals = np.zeros(5, np.int64)
    for path in sorted(folder.rglob("*.parquet")):
        table = pq.read_table(path, columns=["packed", "tokens_used", "excluded", "error"])
        failed = table.num_rows - table["error"].null_count
        sizes = [
            pc.sum(pc.list_value_length(table[name])).as_py() for name in ("packed", "excluded")
        ]
        totals += [table.num_rows, failed, pc.sum(table["tokens_used"]).as_py(), *sizes]
    rows, failed, tokens, packed, excluded = totals.tolist()
    return rows, failed, tokens, packed, excluded


def _example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("engines", ROOT / "examples" / "engines.py")
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    sys.modules["engines"] = module
    spec.loader.exec_module(module)
    return module


def _by_daft(source: Path, target: Path) -> None:
    import daft

    frame = daft.read_parquet(str(source / "*.parquet"))
    _example().by_daft(frame, parse(POLICY), **OPTIONS).write_parquet(str(target))


def _by_ray(source: Path, target: Path) -> None:
    import ray

    dataset = ray.data.read_parquet(str(source))
    _example().by_ray(dataset, parse(POLICY), **OPTIONS).write_parquet(str(target))


def _by_spark(source: Path, target: Path) -> None:
    import os

    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    frame = session.getOrCreate().read.parquet(str(source))
    packed = _example().by_spark(frame, parse(POLICY), **OPTIONS)
    packed.write.mode("overwrite").parquet(str(target))


ENGINES: Final[dict[str, Callable[[Path, Path], None]]] = {
    "daft": _by_daft,
    "ray": _by_ray,
    "spark": _by_spark,
}

if __name__ == "__main__":
    main()
