"""The inputs, the same for us and for every peer, and the same on every run on one machine."""

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics
from typing import Final, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

__all__ = ["Items", "Vectors", "items", "lengths", "prose", "vectors"]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

UNIT: Final = 2.0**-20
"""Scores of the knapsack are integers times this, so that ours and the peers' are the same."""


def lengths(n: int, seed: int) -> Ints:
    """Tokens a chunk, int64[n]: lognormal around 250."""
    drawn = np.random.default_rng(seed).lognormal(np.log(250), 0.6, n)
    return np.maximum(1, np.round(drawn)).astype(np.int64)


# -- knapsack ----------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Items:
    """A knapsack: integers `values` and `weights`, and `scores` = values * 2**-20."""

    values: Ints
    weights: Ints
    scores: Floats
    budget: int


FAMILIES: Final = {
    "lognormal": "lognormal lengths, uniform scores",
    "constant": "512 tokens each, uniform scores",
    "correlated": "lognormal lengths, score = length + 100",
    "even": "even lengths, an odd budget, score = length + 100",
    "one odd": "even lengths but one, an odd budget, score = length + 100",
}


def items(family: str, n: int, budget: int, seed: int = 0) -> Items:
    """The knapsack of a family."""
    uniform = np.random.default_rng(seed + 1).integers(1, 2**20, n)
    weights = lengths(n, seed)
    if family == "constant":
        weights = np.full(n, 512, np.int64)
    elif family in {"even", "one odd"}:
        weights = 2 * np.maximum(1, weights // 2)
        budget += 1
        if family == "one odd":
            weights[n // 2] += 1
    values = uniform if family in {"lognormal", "constant"} else weights + 100
    return Items(values, weights, values.astype(np.float64) * UNIT, budget)


# -- embeddings --------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Vectors:
    """Embeddings float32[n, d], a query's float32[d], and scores float64[n]: their cosine."""

    embeddings: npt.NDArray[np.float32]
    query: npt.NDArray[np.float32]
    scores: Floats


def vectors(n: int, d: int, *, copies: float = 0.0, seed: int = 0) -> Vectors:
    """One common direction, topics, and noise whose spectrum falls off, as real embeddings have.

    Two rows have a cosine of about 0.3, of one topic 0.6, and none below 0: pyversity and the npm
    package count a negative cosine as 0, so elsewhere they choose otherwise.  A topic for each 20
    rows.  `copies` of the rows are another row with a little noise (cosine about 0.95).
    """
    rng = np.random.default_rng(seed)
    spectrum = (1.0 + np.arange(d, dtype=np.float32)) ** -0.25
    topics_ = rng.standard_normal((max(2, n // 20), d), dtype=np.float32) * spectrum
    made = rng.standard_normal((n, d), dtype=np.float32)
    made *= spectrum
    common = rng.standard_normal(d, dtype=np.float32) * spectrum * np.float32(0.9)
    made += np.float32(0.8) * topics_[rng.integers(0, len(topics_), n)]
    made += common
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    count = int(copies * n)
    if count:
        at = rng.permutation(n)
        noise = rng.standard_normal((count, d), dtype=np.float32) * np.float32(0.32 / d**0.5)
        made[at[:count]] = made[at[-count:]] + noise
    query = topics_[0] + common + rng.standard_normal(d, dtype=np.float32) * spectrum
    query /= np.linalg.norm(query)
    norms = np.linalg.norm(made.astype(np.float64), axis=1)
    return Vectors(made, query, made.astype(np.float64) @ query.astype(np.float64) / norms)


# -- prose -------------------------------------------------------------------------------------

SHELVES: Final = (Path("/usr/share/common-licenses"), Path("/usr/share/doc"))
PER_FILE: Final = 60_000


@cache
def _paragraphs() -> str:
    """Prose that is on the machine: Python's manual, licences, and the documents of packages."""
    read = [text for _, text in sorted(topics.items())]
    total = sum(map(len, read))
    for shelf in SHELVES:
        for path in sorted(shelf.rglob("*")) if shelf.is_dir() else ():
            if total > 25_000_000 or not path.is_file() or path.is_symlink():
                continue
            name = path.name.removesuffix(".gz")
            if name.startswith(("changelog", "NEWS")) or not _is_prose_name(name, shelf):
                continue
            opener = gzip.open if path.name.endswith(".gz") else open
            with opener(path, "rt", encoding="utf-8", errors="ignore") as file:
                text = file.read(PER_FILE)
            read.append(text)
            total += len(text)
    return "\n\n".join(read)


def _is_prose_name(name: str, shelf: Path) -> bool:
    return (
        shelf.name == "common-licenses"
        or name.startswith(("README", "copyright"))
        or (name.endswith((".txt", ".md", ".rst")))
    )


@cache
def prose(n: int, length: int = 1000) -> tuple[str, ...]:
    """Passages, n of them, of about so many characters, cut at words, in an order that the text decides.

    One in ten is another with one word in forty changed, beside the copies that lie there anyway
    (the same licence in many packages).
    """
    words = re.split(r"\s+", _paragraphs())
    passages, taken, size = [], [], 0
    for word in words:
        if len(word) > 40:
            continue
        taken.append(word)
        size += len(word) + 1
        if size >= length:
            passage = " ".join(taken)
            if sum(map(str.isalpha, passage)) > 0.7 * len(passage):
                passages.append(passage)
            taken, size = [], 0
    passages.sort(key=lambda passage: hashlib.sha256(passage.encode()).digest())
    if len(passages) < n:
        message = f"this machine has {len(passages)} passages of {length} characters, not {n}"
        raise LookupError(message)
    chosen = passages[:n]
    rng = np.random.default_rng(n)
    for at in rng.permutation(n)[: n // 10].tolist():
        copied = chosen[int(rng.integers(n))].split(" ")
        for place in rng.integers(0, len(copied), max(1, len(copied) // 40)).tolist():
            copied[place] = words[int(rng.integers(len(words)))][:12]
        chosen[at] = " ".join(copied)
    return tuple(chosen)
