"""What the examples beside this file share: the support knowledge base, a question, an embedding.

The embedding stands in for your model: words, hashed and counted, so that nothing is downloaded.
"""

import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np

QUESTION = "How long do I have to return a damaged item, and who pays for the shipping?"
POLICY = "current() | dedup(0.85) | mmr(0.7) | ushape"
BUDGET = 400

_FILE = Path(__file__).parents[1] / "support" / "chunks.jsonl"
_DIMENSIONS = 512
_COMMON = """
    a an and as at be by do for have how i if in is it my not of on or the to we you
"""


def documents() -> list[dict[str, Any]]:
    """The passages, by id: `id`, `content`, `metadata`."""
    rows = map(json.loads, _FILE.read_text(encoding="utf-8").splitlines())
    kept = [{key: row[key] for key in ("id", "content", "metadata")} for row in rows]
    return sorted(kept, key=lambda row: str(row["id"]))


def embed(texts: list[str]) -> list[list[float]]:
    """A vector of length 1 for each text."""
    common = set(_COMMON.split())
    counts = np.zeros((len(texts), _DIMENSIONS))
    for row, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            if word not in common:
                counts[row, zlib.crc32(word.encode()) % _DIMENSIONS] += 1.0
    vectors = np.log1p(counts)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: list[list[float]] = (vectors / np.where(lengths, lengths, 1.0)).tolist()
    return rows
