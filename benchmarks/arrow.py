"""A batch of requests in Arrow: packed at once, and by a call of `pack` for each row."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs
import numpy as np

from packer import Packed, pack
from packer.algebra import Policy
from strategies import dedup, greedy, knapsack, latest, mmr, threshold, ushape

from . import inputs
from .harness import Contender, Effort, MissingError, Row, installed, measure

__all__ = ["requests", "rows"]

CANDIDATES: Final = 20
BUDGET: Final = 2_000
DIMENSIONS: Final = 384
LOOP: Final = "pack for each row"
CALLS: Final = "pack for each row, the calls alone"
BARE: Final = "ours, without details"


@attrs.frozen
class Job:
    """A policy, and whether the candidates have embeddings."""

    name: str
    policy: Policy
    embeddings: bool = False


JOBS: Final = (
    Job("greedy", greedy),
    Job("threshold, greedy, ushape", threshold(0.2) | greedy | ushape),
    Job("dedup, mmr, ushape", dedup(0.9) | mmr(0.7) | ushape, embeddings=True),
    Job("dedup text, greedy", dedup(0.9) | greedy),
    Job("knapsack", knapsack),
    Job("latest, greedy", latest(by="source", at="year") | greedy),
)
"""The last two run row by row inside, the others on all rows at once."""


def rows(effort: Effort) -> Iterator[Row]:
    """Every policy over 20 candidates a request."""
    try:
        installed("pyarrow", "pyarrow")
    except MissingError as error:
        print(f"arrow: {error}")
        return
    for job in JOBS:
        yield _row(job, 200 if effort.quick else 1_000, effort)


def requests(count: int, *, embeddings: bool, start: int = 0) -> Any:
    """A RecordBatch of so many requests of 20 candidates, the texts of `inputs.prose`."""
    import pyarrow as pa

    n = count * CANDIDATES
    rng = np.random.default_rng(start)
    prose = np.array(inputs.prose(1_000, 400), object)
    rows_ = np.repeat(np.arange(start, start + count), CANDIDATES)
    fields = {
        "id": pa.array([f"doc-{row}-{at % CANDIDATES}" for at, row in enumerate(rows_.tolist())]),
        "content": pa.array(prose[rng.integers(0, len(prose), n)], pa.string()),
        "score": pa.array(rng.random(n)),
        "tokens": pa.array(np.maximum(1, rng.lognormal(np.log(250), 0.6, n)).astype(np.int64)),
        "source": pa.array([f"source-{at % 7}" for at in range(n)]),
        "year": pa.array(2015 + rng.integers(0, 10, n)),
    }
    if embeddings:
        numbers = rng.standard_normal((n, DIMENSIONS), np.float32)
        fields["embedding"] = pa.FixedSizeListArray.from_arrays(numbers.ravel(), DIMENSIONS)
    structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    offsets = pa.array(np.arange(0, n + 1, CANDIDATES), pa.int32())
    lists = pa.ListArray.from_arrays(offsets, structs)
    numbers = pa.array(np.arange(start, start + count))
    return pa.record_batch({"request": numbers, "candidates": lists})


def _row(job: Job, count: int, effort: Effort) -> Row:
    from packer.arrow import pack_batch

    batch = requests(count, embeddings=job.embeddings)
    chunks = [_mappings(row) for row in batch.column("candidates").to_pylist()]
    if job.embeddings:  # as a service would hold them
        chunks = [
            [{**one, "embedding": np.array(one["embedding"], np.float32)} for one in row]
            for row in chunks
        ]

    def calls() -> list[Packed]:
        return [pack(row, job.policy, budget=BUDGET) for row in chunks]

    others = [
        Contender(LOOP, lambda: loop(batch, job.policy), agreement=_same),
        Contender(CALLS, calls),
        Contender(BARE, lambda: pack_batch(batch, job.policy, budget=BUDGET, details=False)),
    ]
    return measure(
        f"arrow/{job.name}/{CANDIDATES}",
        f"{job.policy!r}; {count:,} requests of {CANDIDATES}",
        Contender("ours", lambda: pack_batch(batch, job.policy, budget=BUDGET)),
        others,
        effort,
        sizes={"requests": count, "n": CANDIDATES, "budget": BUDGET},
        facts=lambda packed: {"picked": len(packed.column("packed").flatten())},
    )


def _mappings(candidates: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": one["id"],
            "content": one["content"],
            "score": one["score"],
            "tokens": one["tokens"],
            "embedding": one.get("embedding"),
            "metadata": {"source": one["source"], "year": one["year"]},
        }
        for one in candidates
    ]


def loop(batch: Any, policy: Policy) -> Any:
    """The plain loop: rows to Python, `pack`, and what it says back to Arrow."""
    import pyarrow as pa

    packed, used, excluded = [], [], []
    for candidates in batch.column("candidates").to_pylist():
        result = pack(_mappings(candidates), policy, budget=BUDGET)
        packed.append(
            [
                {
                    "id": chunk.id,
                    "position": chunk.position,
                    "score": chunk.score,
                    "tokens": chunk.tokens,
                    "content": chunk.content,
                }
                for chunk in result
            ]
        )
        used.append(result.report.tokens_used)
        excluded.append(
            [
                {
                    "id": out.id,
                    "score": out.score,
                    "tokens": out.tokens,
                    "reason": str(out.reason),
                    "stage": out.stage,
                    "redundant_with": out.redundant_with,
                    "similarity": out.similarity,
                    "detail": out.detail,
                }
                for out in result.report.excluded
            ]
        )
    columns = {"packed": packed, "tokens_used": used, "excluded": excluded}
    return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


def _same(ours: Any, theirs: Any) -> str:
    def picked(result: Any) -> list[list[str]]:
        return [[chunk["id"] for chunk in row] for row in result.column("packed").to_pylist()]

    return "same choice" if picked(ours) == picked(theirs) else "another choice"
