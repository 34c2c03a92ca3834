"""Retrieve candidates for the labelled queries, and write them as `packer eval` reads them.

labels.jsonl       a query a line, with the ids of the passages that hold its answer, by hand
support.jsonl.gz   the same with the best candidates of examples/support/retrieve.py
support.npz        the embeddings of the candidates
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))

from retrieve import DOCUMENTS, rank, split  # noqa: E402  # it is no package

CANDIDATES = 40


def main() -> None:
    """Write both files, the same bytes each time."""
    chunks = [chunk for path in sorted(DOCUMENTS.glob("*.md")) for chunk in split(path)]
    embeddings: dict[str, list[float]] = {}
    lines = []
    for line in (HERE / "labels.jsonl").read_text("utf-8").splitlines():
        labelled = json.loads(line)
        ranked = rank(labelled["query"], chunks)
        embeddings |= {chunk.id: embedding for _, chunk, embedding in ranked}
        labelled["candidates"] = [
            {"id": chunk.id, "content": chunk.content, "score": score, "metadata": chunk.metadata}
            for score, chunk, _ in ranked[:CANDIDATES]
        ]
        lines.append(json.dumps(labelled) + "\n")
    text = "".join(lines).encode("utf-8")
    (HERE / "support.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))
    ids = sorted(embeddings)
    vectors = np.array([embeddings[id_] for id_ in ids], np.float16)
    np.savez_compressed(HERE / "support.npz", ids=np.array(ids), embeddings=vectors)


if __name__ == "__main__":
    main()
