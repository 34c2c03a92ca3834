"""Qdrant: `query_points` -> chunks -> prompt text.  The text stands in the payload."""

from knowledge import BUDGET, POLICY, QUESTION, documents, embed
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams

from packer import pack
from packer.integrations.qdrant import from_qdrant
from strategies import parse

rows = documents()
vectors = embed([row["content"] for row in rows])
client = QdrantClient(":memory:")
client.create_collection(
    "support", vectors_config=VectorParams(size=len(vectors[0]), distance=Distance.COSINE)
)
client.upsert(
    "support",
    [
        PointStruct(
            id=at,  # Qdrant takes numbers and UUIDs: the name of a passage goes into the payload
            vector=vectors[at],
            payload={"text": row["content"], "name": row["id"], **row["metadata"]},
        )
        for at, row in enumerate(rows)
    ],
)
answer = client.query_points(
    "support", query=embed([QUESTION])[0], limit=50, with_vectors=True, with_payload=True
)
chunks = from_qdrant(answer, metric="similarity", text="text", embeddings=True)
packed = pack(chunks, parse(POLICY), budget=BUDGET)
print(packed.text())
old = next(chunk for chunk in chunks if chunk.metadata["name"] == "returns-policy-2023#1")
print(packed.why(str(old.id)))
