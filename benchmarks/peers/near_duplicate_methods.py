"""Near-duplicates elsewhere: Python sets, datasketch, and numpy.  All take rows best first."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import installed

__all__ = ["Dropped", "datasketch", "full_matrix", "matrix_vector", "python_sets"]

Dropped = dict[int, tuple[int, float]]
"""Row -> the kept row it is most like, and how much."""


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _trigrams(text: str) -> frozenset[str]:
    text = _folded(text)
    return frozenset(text[at : at + 3] for at in range(len(text) - 2)) or frozenset([text])


def python_sets(
    texts: Sequence[str], order: Sequence[int], threshold: float
) -> Callable[[], Dropped]:
    """Sets of trigrams; pairs whose sizes alone rule them out are not compared."""

    def call() -> Dropped:
        sets = [_trigrams(text) for text in texts]
        kept: list[tuple[int, frozenset[str]]] = []
        dropped: Dropped = {}
        for row in order:
            mine = sets[row]
            size, best, most = len(mine), -1, 0.0
            low, high = threshold * size, size / threshold
            for other, theirs in kept:
                if low <= len(theirs) <= high:
                    shared = len(mine & theirs)
                    value = shared / (size + len(theirs) - shared)
                    if value > most:
                        best, most = other, value
            if most >= threshold:
                dropped[row] = best, most
            else:
                kept.append((row, mine))
        return dropped

    return call


def datasketch(
    texts: Sequence[str], order: Sequence[int], threshold: float
) -> Callable[[], Dropped]:
    """MinHash of 128 permutations and LSH at the threshold; what it proposes is checked exactly.

    It misses pairs: the table says how many of ours it finds.
    """
    module = installed("datasketch", "datasketch")

    def call() -> Dropped:
        sets = [_trigrams(text) for text in texts]
        hashes: Any = module.MinHash.bulk(
            [[gram.encode() for gram in grams] for grams in sets], num_perm=128
        )
        index = module.MinHashLSH(threshold=threshold, num_perm=128)
        dropped: Dropped = {}
        for row in order:
            best, most = -1, 0.0
            for other in index.query(hashes[row]):
                shared = len(sets[row] & sets[other])
                value = shared / (len(sets[row]) + len(sets[other]) - shared)
                if value > most:
                    best, most = other, value
            if most >= threshold:
                dropped[row] = best, most
            else:
                index.insert(row, hashes[row])
        return dropped

    return call


def matrix_vector(
    embeddings: npt.NDArray[np.float32], order: Sequence[int], threshold: float
) -> Callable[[], Dropped]:
    """numpy, one row at a time: the kept rows times this one."""

    def call() -> Dropped:
        unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
        kept = np.empty_like(unit)
        names: list[int] = []
        dropped: Dropped = {}
        for row in order:
            if names:
                values = kept[: len(names)] @ unit[row]
                place = int(np.argmax(values))
                if values[place] >= threshold:
                    dropped[row] = names[place], float(values[place])
                    continue
            kept[len(names)] = unit[row]
            names.append(row)
        return dropped

    return call


def full_matrix(
    embeddings: npt.NDArray[np.float32], order: Sequence[int], threshold: float
) -> Callable[[], Dropped]:
    """numpy, all pairs in one product: 4 n**2 bytes."""

    def call() -> Dropped:
        ranked = embeddings[np.asarray(order)]
        unit = ranked / np.linalg.norm(ranked, axis=1, keepdims=True)
        values = unit @ unit.T
        kept = np.zeros(len(unit), np.bool_)
        dropped: Dropped = {}
        for place in range(len(unit)):
            near = np.flatnonzero((values[place, :place] >= threshold) & kept[:place])
            if len(near):
                best = int(near[np.argmax(values[place, near])])
                dropped[order[place]] = order[best], float(values[place, best])
            else:
                kept[place] = True
        return dropped

    return call
