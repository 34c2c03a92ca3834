"""Peak memory of one call, each in a fresh process: what it takes beyond its input."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np

from . import inputs
from .harness import Effort, Row

__all__ = ["rows"]

ROOT: Final = Path(__file__).resolve().parents[1]

# The kernels run on small inputs first, so that loading numba is not in the difference.  The peak
# is of this process from here on: ru_maxrss would start at the peak of the process that started it,
# so it stands in only where there is no /proc.
PROGRAM: Final = """
import json, pathlib, resource, sys, time
import numpy as np
from packer import Packer, Pool, warm
from strategies import dedup, greedy, knapsack, mmr
policy = {policy}
warm(policy)
arrays = np.load(sys.argv[1])
scores, tokens = arrays["scores"], arrays["tokens"]
vectors = np.load(sys.argv[2]) if sys.argv[2] else None
packer = Packer(policy, budget={budget})
status, clear = pathlib.Path("/proc/self/status"), pathlib.Path("/proc/self/clear_refs")
def kilobytes(name):
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = status.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
if clear.exists():
    clear.write_text("5")
before = kilobytes("VmRSS")
began = time.perf_counter()
layout = packer.select(Pool.from_arrays(scores, tokens, vectors))
spent = time.perf_counter() - began
after = kilobytes("VmHWM")
print(json.dumps({{"seconds": spent, "before": before * 1024, "after": after * 1024}}))
"""


def rows(effort: Effort) -> Iterator[Row]:
    """Embeddings for near-duplicates and MMR, and a large knapsack."""
    cases = [
        ("dedup(0.9, metric='cosine') | greedy", 10_000, 384, 32_000),
        ("dedup(0.9, metric='cosine') | greedy", 50_000, 64, 32_000),
        ("mmr(0.5, metric='cosine')", 10_000, 1_536, 32_000),
        ("knapsack", 100_000, 0, 1_000_000),
    ]
    for policy, n, d, budget in cases[:1] if effort.quick else cases:
        yield _row(policy, n, d, budget)


def _row(policy: str, n: int, d: int, budget: int) -> Row:
    program = PROGRAM.format(policy=policy, budget=budget)
    with tempfile.TemporaryDirectory() as folder:
        columns, matrix = Path(folder) / "columns.npz", Path(folder) / "vectors.npy"
        scores = np.random.default_rng(n).permutation(n) / n + 2.0**-20
        np.savez(columns, scores=scores, tokens=inputs.lengths(n, 0))
        if d:
            np.save(matrix, inputs.vectors(n, d, copies=0.2).embeddings)
        found = [_measured(program, columns, matrix if d else None) for _ in range(3)]
    extra = statistics.median(one["after"] - one["before"] for one in found)
    size = 4 * n * d if d else 16 * n
    seconds = [one["seconds"] for one in found]
    return Row(
        key=f"memory/{policy.partition('(')[0]}/{n}/{d}",
        job="memory",
        case=f"{policy}; n = {n:,}" + (f", d = {d:,}" if d else ""),
        sizes={"n": n, "d": d},
        seconds=statistics.median(seconds),
        quartiles=(min(seconds), max(seconds)),
        quickest=min(seconds),
        runs=len(found),
        facts={
            "input, MB": size / 1e6,
            "beyond the input, MB": extra / 1e6,
            "beyond the input, times": extra / size,
            "peak of the process, MB": statistics.median(one["after"] for one in found) / 1e6,
        },
    )


def _measured(program: str, columns: Path, matrix: Path | None) -> Mapping[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", program, str(columns), str(matrix or "")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    printed: Mapping[str, float] = json.loads(done.stdout)
    return printed
