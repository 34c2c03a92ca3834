"""The whole call, records in and records out, for five policies; and the path from arrays."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from packer import Chunk, Packed, Packer, Pool, pack
from packer.algebra import Policy
from strategies import dedup, greedy, knapsack, max_candidates, mmr, ushape

from . import inputs
from .harness import Contender, Effort, MissingError, Row, absent, left_out, measure
from .peers import context_packer

__all__ = ["rows"]

BUDGET: Final = 5_000
DIMENSIONS: Final = 384
PREPARED = "ours, Packer made before"
READ = "ours, every record read"
MAPPINGS = "ours, from mappings"
ARRAYS = "ours, from arrays to rows"


@attrs.frozen
class Job:
    """A policy of ours, and the same as the npm package's options."""

    name: str
    policy: Policy
    options: Mapping[str, object]
    embeddings: bool = False


JOBS: Final = (
    Job("greedy", greedy, {"strategy": "greedy"}),
    Job(
        "mmr",
        mmr(0.5),
        {"strategy": "mmr", "lambda": 0.5},
        embeddings=True,
    ),
    Job("knapsack", knapsack, {"strategy": "knapsack"}),
    Job(
        "dedup text, greedy",
        dedup(0.9) | greedy,
        {"strategy": "greedy", "redundancyThreshold": 0.9},
    ),
    Job(
        "all stages",
        max_candidates(80) | dedup(0.85) | mmr(0.7) | ushape,
        {
            "strategy": "mmr",
            "lambda": 0.7,
            "redundancyThreshold": 0.85,
            "maxCandidates": 80,
            "ordering": "u-shaped",
        },
        embeddings=True,
    ),
)


def rows(effort: Effort) -> Iterator[Row]:
    """Every policy at every n."""
    for n in (20, 100) if effort.quick else (20, 100, 1_000):
        for job in JOBS:
            yield _row(job, n, effort)


def _row(job: Job, n: int, effort: Effort) -> Row:
    mappings = _mappings(n, embeddings=job.embeddings)
    chunks = [_chunk(mapping) for mapping in mappings]
    packer = Packer(job.policy, budget=BUDGET)
    others = [
        _typescript(job, mappings),
        Contender(PREPARED, lambda: packer.pack(chunks), agreement=_same_packed),
        Contender(READ, lambda: _read(packer.pack(chunks)), agreement=_same_packed),
        Contender(MAPPINGS, lambda: pack(mappings, job.policy, budget=BUDGET)),
        _from_arrays(chunks, packer, embeddings=job.embeddings),
    ]
    return measure(
        f"whole call/{job.name}/{n}",
        f"{job.policy!r}; n = {n:,}",
        Contender("ours", lambda: pack(chunks, job.policy, budget=BUDGET)),
        others,
        effort,
        sizes={"n": n, "budget": BUDGET},
        facts=lambda packed: {"picked": len(packed)},
    )


def _mappings(n: int, *, embeddings: bool) -> list[dict[str, Any]]:
    given, costs = inputs.vectors(n, DIMENSIONS, copies=0.1), inputs.lengths(n, 0)
    made: list[dict[str, Any]] = []
    for row, text in enumerate(inputs.prose(n)):
        # Scores as of a retriever, all above zero.
        mapping = {
            "id": f"doc-{row}",
            "content": text,
            "score": 0.5 + float(given.scores[row]) / 2,
            "tokens": int(costs[row]),
            "metadata": {"source": f"doc-{row // 5}"},
        }
        if embeddings:
            mapping["embedding"] = given.embeddings[row]
        made.append(mapping)
    return made


def _chunk(mapping: Mapping[str, Any]) -> Chunk:
    return Chunk(
        mapping["content"],
        mapping["score"],
        id=mapping["id"],
        tokens=mapping["tokens"],
        embedding=mapping.get("embedding"),
        metadata=mapping["metadata"],
    )


def _read(packed: Packed) -> Packed:
    """Touch what is built only when it is read."""
    assert len(packed.chunks) + len(packed.report.excluded) > 0
    return packed


def _same_packed(ours: Packed, theirs: Packed) -> str:
    return _same([chunk.id for chunk in ours], [chunk.id for chunk in theirs])


def _same(ours: Sequence[str], theirs: Sequence[str]) -> str:
    if list(ours) == list(theirs):
        return "same choice"
    if set(ours) == set(theirs):
        return "same choice, another order"
    return f"{len(set(ours) & set(theirs))} of {len(ours)} the same"


def _from_arrays(chunks: Sequence[Chunk], packer: Packer, *, embeddings: bool) -> Contender:
    scores = np.array([chunk.score for chunk in chunks])
    tokens = np.array([chunk.tokens for chunk in chunks], np.int64)
    vectors = np.array([chunk.embedding for chunk in chunks]) if embeddings else None
    texts = None if embeddings else [chunk.content for chunk in chunks]

    def call() -> np.typing.NDArray[np.int64]:
        return packer.select(Pool.from_arrays(scores, tokens, vectors, texts=texts)).rows

    return Contender(
        ARRAYS,
        call,
        agreement=lambda ours, theirs: _same(
            [chunk.id for chunk in ours], [f"doc-{row}" for row in theirs.tolist()]
        ),
    )


def _typescript(job: Job, mappings: Sequence[Mapping[str, Any]]) -> Contender:
    n = len(mappings)
    if n == 1_000 and job.name == "dedup text, greedy":
        return left_out(context_packer.NAME, "half a minute a call and more")
    falls_back = job.name == "knapsack" and n * BUDGET > 500_000
    chunks = [
        {**mapping, "embedding": mapping["embedding"].tolist()}
        if "embedding" in mapping
        else dict(mapping)
        for mapping in mappings
    ]
    try:
        return context_packer.contender(
            "pack",
            chunks,
            {**job.options, "budget": BUDGET},
            lambda ours, theirs: _same([chunk.id for chunk in ours], theirs),
            note="falls back to greedy" if falls_back else "",
        )
    except MissingError as error:
        return absent(context_packer.NAME, error)
