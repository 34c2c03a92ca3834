"""The machine: its name, and how fast one core reads memory."""

import os
import platform
import statistics
import time
from functools import cache
from pathlib import Path

import numpy as np

from .harness import Fact, versions

__all__ = ["described", "read_bandwidth"]

PACKAGES = (
    "numpy",
    "numba",
    "attrs",
    "pyversity",
    "langchain-core",
    "ortools",
    "highspy",
    "datasketch",
)


@cache
def read_bandwidth() -> float:
    """Bytes a second that one thread reads from memory: a vectorised sum of 512 MB, the median.

    The buffer is far larger than any cache.
    """
    import numba

    @numba.njit(fastmath=True, nogil=True)
    def total(words: np.typing.NDArray[np.int64]) -> int:
        found = 0
        for word in words:
            found += word
        return found

    words = np.ones(64_000_000, np.int64)
    total(words)
    samples = []
    for _ in range(7):
        began = time.perf_counter()
        total(words)
        samples.append(time.perf_counter() - began)
    return float(words.nbytes / statistics.median(samples))


def described() -> dict[str, Fact]:
    """What the figures depend on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load at the start": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "read bandwidth of one thread, GB/s": round(read_bandwidth() / 1e9, 2),
        **versions(PACKAGES),
    }


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
