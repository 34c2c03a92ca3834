from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from packer.algebra import steps_of
from packer.arrow import output_schema, pack_batch
from packer.arrow.rows import Source
from packer.arrow.together import program
from strategies import parse
from tests.arrow.batches import Job, as_rows, jobs, row_by_row
from tests.generators import NOW, policies


def compare(job: Job) -> None:
    """Check that a batch is packed as `pack` packs each of its rows."""
    result = pack_batch(job.batch, job.policy, on_error="set-aside", **job.options)
    for found, wanted in zip(as_rows(result), row_by_row(job), strict=True):
        if wanted is not None and wanted["error"] == "INVALID_BUDGET":
            assert found is not None
            assert found["error"] == "INVALID_BUDGET"
        else:
            assert found == wanted


@given(jobs())
def test_a_batch_is_packed_as_pack_packs_each_of_its_rows(job: Job) -> None:
    compare(job)


@given(jobs())
def test_the_rows_stay_as_they_are_and_the_schema_is_known_beforehand(job: Job) -> None:
    result = pack_batch(job.batch, job.policy, on_error="set-aside", **job.options)
    result.select(range(3, result.num_columns)).validate(full=True)
    kept = result.select(job.batch.column_names)
    assert repr(kept.to_pylist()) == repr(job.batch.to_pylist())  # where NaN equals NaN
    assert result.schema == output_schema(job.batch.schema, template=job.options["template"])


TOGETHER = policies(
    filters=("threshold", "max_candidates", "top", "dedup"),
    selectors=("greedy", "prefix", "density", "mmr", "knapsack"),
    orders=("natural", "by_score", "ushape", "reverse"),
)


@given(jobs(TOGETHER) | jobs(TOGETHER, most=16))
def test_what_runs_on_all_rows_at_once_gives_what_the_stages_give(job: Job) -> None:
    others = any(
        getattr(step, "metric", None) == "containment" or getattr(step, "guard", None) == "keep"
        for step in steps_of(job.policy)
    )
    assert (program(job.policy) is None) == others
    compare(job)


def prices(*figures: int) -> Any:
    """One row of near-copies that differ in a number."""
    return [
        {
            "id": f"p{place}",
            "content": f"A parcel of up to two kilograms costs {figure} dollars to any country.",
            "score": 0.9 - place / 100,
            "tokens": 10,
        }
        for place, figure in enumerate(figures)
    ]


@pytest.mark.parametrize("details", [True, False])
@pytest.mark.parametrize("guard", ["keep", "warn", "off"])
@pytest.mark.parametrize("before", ["", "where(content is None) | "])
def test_the_guard_of_dedup_holds_in_a_batch(guard: str, before: str, *, details: bool) -> None:
    policy = parse(f'{before}dedup(0.7, guard="{guard}") | greedy')
    assert (program(policy) is None) == (guard == "keep" or bool(before))
    table = pa.table({"candidates": [prices(15, 18, 15), prices(7, 8), prices(9)]})
    result = pack_batch(table, policy, budget=100, details=details)
    job = Job(
        table,
        policy,
        {
            "budget": 100,
            "overhead": 0,
            "query_column": None,
            "on_invalid": "raise",
            "template": None,
            "now": NOW,
        },
    )
    wanted = row_by_row(job)
    for row in () if details else wanted:
        assert row is not None
        for out in row["excluded"]:
            out["detail"] = None
    assert as_rows(result) == wanted
    told = [[one["code"] for one in row["warnings"]] for row in result.to_pylist()]
    assert told == ([["conflict"], ["conflict"], []] if guard == "warn" else [[], [], []])
    first = [chunk["id"] for chunk in result["packed"][0].as_py()]
    assert first == (["p0", "p1"] if guard == "keep" else ["p0"])
    if details and guard == "warn":
        [differs, same] = [out["detail"] for out in result["excluded"][0].as_py()]
        assert differs.endswith('; has "18 dollars" where the other has "15 dollars"')
        assert same == "similarity 1.0000, limit 0.7; the other has score 0.9"


def ordinary(rows: int, seed: int, *, embedded: bool) -> Any:
    """Rows of up to 30 candidates as a retriever gives them: close scores, lengths that differ."""
    rng = np.random.default_rng(seed)
    lists = []
    for row in range(rows):
        count = int(rng.integers(0, 31))
        top = rng.choice([0.4, 0.9, 3.0])
        lists.append(
            [
                {
                    "id": f"{row}-{at}",
                    "content": f"Answer {rng.integers(0, 9)} of part {rng.integers(0, 3)}.",
                    "score": float(top - rng.random() * rng.choice([0.05, 1.0])),
                    "tokens": int(rng.lognormal(4.0, 0.8)) * int(rng.random() > 0.05),
                    **({"embedding": rng.standard_normal(4).round(1).tolist()} if embedded else {}),
                }
                for at in range(count)
            ]
        )
    return pa.table(
        {
            "query": pa.nulls(rows, pa.string()),
            "window": pa.array(rng.integers(1, 900, rows)),
            "candidates": lists,
        }
    )


@pytest.mark.parametrize("embedded", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "greedy",
        "prefix | reverse",
        "top(12) | density | by_score",
        "threshold(0.3) | knapsack | ushape",
        "dedup(0.7) | mmr(0.6) | ushape",
        'max_candidates(20) | dedup(0.5, metric="jaccard") | prefix',
        'mmr(0.3, metric="jaccard") | natural',
    ],
)
def test_ordinary_rows_run_on_all_rows_at_once_and_as_by_pack(text: str, *, embedded: bool) -> None:
    job = Job(
        ordinary(60, 1, embedded=embedded),
        parse(text),
        {
            "budget_column": "window",
            "overhead": 3,
            "query_column": None,
            "on_invalid": "raise",
            "template": None,
            "now": NOW,
        },
    )
    with mock.patch.object(Source, "pool", side_effect=AssertionError("a row by itself")):
        found = as_rows(pack_batch(job.batch, job.policy, **job.options))
    wanted = row_by_row(job)
    assert found == wanted
    codes = {one["code"] for row in wanted if row is not None for one in row["warnings"]}
    assert ("squeezed-scores" in codes) == ("density" in text or "knapsack" in text)
    assert ("unscaled-scores" in codes) == ("mmr" in text)
