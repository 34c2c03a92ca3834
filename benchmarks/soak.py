"""Many random requests through one Packer: memory must not grow.

    python -m benchmarks.soak [--requests 100000] [--slack-mb 24]

Prints the resident memory at 10 %, 50 % and 100 % of the requests, and fails when it grew by more
than the slack from the first of these to the last.
"""

import argparse
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np

from packer import Chunk, Packer, warm
from strategies import parse

from . import inputs

POLICY = "threshold(0.1) | dedup(0.85) | mmr(0.7) | ushape"
SLACK_MB = 24
"""The allocator's arenas settle within this; one kept float64 a request would be seen at 10 times
as many requests, one kept record at once (100,000 x 0.5 kB)."""


def main() -> int:
    """The exit code: 1 when memory grew."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--requests", type=int, default=100_000)
    arguments.add_argument("--slack-mb", type=float, default=SLACK_MB)
    given = arguments.parse_args()
    grown = soak(given.requests)
    print(f"grown by {grown:.1f} MB between 10 % and 100 %; the slack is {given.slack_mb:g} MB")
    return int(grown > given.slack_mb)


def soak(requests: int) -> float:
    """How many MB the process grew by between a tenth of the requests and the last."""
    policy = parse(POLICY)
    warm(policy)
    packer = Packer(policy, budget=2_000)
    texts, rng = inputs.prose(1_000, 400), np.random.default_rng(0)
    marks = {max(1, requests * share // 100): share for share in (10, 50, 100)}
    seen = []
    for number in range(1, requests + 1):
        packed = packer(_request(rng, texts))
        if number % 7 == 0:
            assert packed.report.excluded is not None
            assert packed.to_json()
        if number in marks:
            seen.append(resident_mb())
            print(f"{marks[number]:3} % of {requests:,} requests: {seen[-1]:8.1f} MB", flush=True)
    return seen[-1] - seen[0]


def _request(rng: np.random.Generator, texts: tuple[str, ...]) -> list[Chunk]:
    """Up to thirty chunks, with embeddings or without."""
    count = int(rng.integers(0, 31))
    vectors: Any = rng.standard_normal((count, 32)) if rng.random() < 0.5 else [None] * count
    return [
        Chunk(texts[int(row)], float(score), embedding=vector, metadata={"row": int(row)})
        for row, score, vector in zip(
            rng.integers(0, len(texts), count), rng.random(count), vectors, strict=True
        )
    ]


def resident_mb() -> float:
    """Resident memory now; where /proc is absent, the peak."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text("ascii").split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    sys.exit(main())
