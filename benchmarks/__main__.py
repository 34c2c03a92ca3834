"""`python -m benchmarks [--jobs knapsack,mmr] [--quick] [--json build/bench.json]`."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from . import (
    arrow,
    diversity,
    knapsack,
    memory,
    mmr,
    near_duplicates,
    rules,
    startup,
    tables,
    threads,
    whole_call,
)
from .harness import Effort, Row, as_json
from .machine import described
from .peers import context_packer

JOBS: Final[dict[str, Callable[[Effort], Iterator[Row]]]] = {
    "knapsack": knapsack.rows,
    "mmr": mmr.rows,
    "coverage": diversity.coverage_rows,
    "dpp": diversity.dpp_rows,
    "text": near_duplicates.text_rows,
    "cosine": near_duplicates.cosine_rows,
    "rules": rules.rows,
    "whole": whole_call.rows,
    "arrow": arrow.rows,
    "startup": startup.rows,
    "memory": memory.rows,
    "threads": threads.rows,
}


def main() -> None:
    """Run the jobs, show them, write the JSON."""
    arguments = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Us and others on the same input, in turns."
    )
    arguments.add_argument("--jobs", default=",".join(JOBS), help=f"some of {','.join(JOBS)}")
    arguments.add_argument("--quick", action="store_true", help="small sizes, few runs")
    arguments.add_argument("--json", type=Path, default=Path("build/bench.json"))
    given = arguments.parse_args()
    names = given.jobs.split(",")
    if unknown := set(names) - JOBS.keys():
        arguments.error(f"no such job: {', '.join(sorted(unknown))}")
    given.json.parent.mkdir(parents=True, exist_ok=True)
    machine, rows = described(), []
    try:
        for name in names:
            for row in JOBS[name](Effort.of(quick=given.quick)):
                rows.append(row)
                tables.show(row)
                given.json.write_text(as_json(rows, machine, quick=given.quick), "utf-8")
    finally:
        context_packer.finish()
    tables.show_all(rows, machine)
    print(f"written: {given.json}")


if __name__ == "__main__":
    main()
