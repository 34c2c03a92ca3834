"""`pack_batch` under engines: each wrapper hands it their batches of Arrow, and no more.

    python examples/engines.py daft|dask|ray|spark

packs a few requests and prints them.  The wrappers are functions to copy; `options` are those of
`pack_batch`.  chunk-packer must be installed where the workers run.
"""

import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from packer.algebra import Policy
from packer.arrow import output_schema, pack_batch
from strategies import parse


def by_daft(frame: Any, policy: Policy, **options: Any) -> Any:
    """A Daft DataFrame with the columns of the result."""
    import daft

    dtype = frame.schema()["candidates"].dtype.to_arrow_dtype()
    _, *added = output_schema(pa.schema({"candidates": dtype}))

    @daft.func.batch(return_dtype=daft.DataType.from_arrow_type(pa.struct(added)))
    def packed(candidates: daft.Series) -> pa.Array:
        batch = pa.record_batch({"candidates": candidates.to_arrow()})
        result = pack_batch(batch, policy, **options)
        return result.select([field.name for field in added]).to_struct_array()

    frame = frame.with_column("result", packed(frame["candidates"]))
    return frame.select(*frame.exclude("result").column_names, daft.col("result").unnest())


def by_dask(frame: Any, policy: Policy, **options: Any) -> Any:
    """A Dask DataFrame (of pandas with Arrow's types) with the columns of the result."""
    import pandas as pd

    def packed(part: pd.DataFrame) -> pd.DataFrame:
        table = pa.Table.from_pandas(part, preserve_index=False)
        return pack_batch(table, policy, **options).to_pandas(types_mapper=pd.ArrowDtype)

    return frame.map_partitions(packed, meta=packed(frame._meta))  # noqa: SLF001


def by_ray(dataset: Any, policy: Policy, **options: Any) -> Any:
    """A Ray Dataset with the columns of the result."""

    def packed(table: pa.Table) -> pa.Table:
        return pack_batch(table, policy, **options)

    return dataset.map_batches(packed, batch_format="pyarrow", batch_size=4096)


def by_spark(frame: Any, policy: Policy, **options: Any) -> Any:
    """A Spark DataFrame with the columns of the result."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (pack_batch(batch, policy, **options) for batch in batches)

    schema = output_schema(to_arrow_schema(frame.schema))
    return frame.mapInArrow(packed, from_arrow_schema(schema))


def requests() -> pa.Table:
    """Two requests that can be packed, one without candidates, and one with a bad score."""
    refund = {"id": "refund", "content": "Refunds take five days.", "score": 0.9, "tokens": 60}
    ship = {"id": "ship", "content": "We ship on working days.", "score": 0.7, "tokens": 50}
    gift = {"id": "gift", "content": "Gift cards cannot be returned.", "score": 0.2, "tokens": 30}
    rows = [[refund, ship, gift], [ship], None, [{**gift, "score": None}]]
    return pa.table({"request": range(4), "candidates": rows})


def main(engine: str) -> None:
    """Pack the requests by an engine and print what came of each."""
    policy = parse("threshold(0.1) | greedy | ushape")
    options = {"budget": 100, "on_error": "set-aside"}
    for row in RUNS[engine](requests(), policy, options).sort_by("request").to_pylist():
        error = row["error"] and row["error"]["code"]
        ids = row["packed"] and [chunk["id"] for chunk in row["packed"]]
        print(row["request"], error or ids)


def run_daft(table: pa.Table, policy: Policy, options: dict[str, Any]) -> pa.Table:
    """The table through Daft."""
    import daft

    return by_daft(daft.from_arrow(table), policy, **options).to_arrow()


def run_dask(table: pa.Table, policy: Policy, options: dict[str, Any]) -> pa.Table:
    """The table through Dask."""
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=2)
    packed = by_dask(frame, policy, **options).compute(scheduler="threads")
    return pa.Table.from_pandas(packed, preserve_index=False)


def run_ray(table: pa.Table, policy: Policy, options: dict[str, Any]) -> pa.Table:
    """The table through Ray Data."""
    import ray

    packed = by_ray(ray.data.from_arrow(table), policy, **options)
    return pa.concat_tables(ray.get(packed.to_arrow_refs()))


def run_spark(table: pa.Table, policy: Policy, options: dict[str, Any]) -> pa.Table:
    """The table through Spark on this machine."""
    import os

    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = session.getOrCreate()
    return by_spark(spark.createDataFrame(table), policy, **options).toArrow()


RUNS = {"daft": run_daft, "dask": run_dask, "ray": run_ray, "spark": run_spark}

if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "daft")
