"""FAISS: distances and labels -> chunks -> prompt text.  The texts are the caller's own."""

import faiss
import numpy as np
from knowledge import BUDGET, POLICY, QUESTION, documents, embed

from packer import pack
from packer.integrations.faiss import from_faiss
from strategies import parse

rows = documents()
vectors = np.array(embed([row["content"] for row in rows]), np.float32)
index = faiss.IndexFlatIP(vectors.shape[1])
index.add(vectors)
distances, labels = index.search(np.array(embed([QUESTION]), np.float32), 50)
chunks = from_faiss(
    distances,
    labels,
    [row["content"] for row in rows],
    metric="similarity",  # an inner product; IndexFlatL2 gives "l2_squared"
    ids=[row["id"] for row in rows],
    metadata=[row["metadata"] for row in rows],
    embeddings=index.reconstruct,
)
packed = pack(chunks, parse(POLICY), budget=BUDGET)
print(packed.text())
print(packed.why("returns-policy-2023#1"))
