"""Chroma: `Collection.query` -> chunks -> prompt text."""

import chromadb
from knowledge import BUDGET, POLICY, QUESTION, documents, embed

from packer import pack
from packer.integrations.chroma import from_chroma
from strategies import parse

client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
collection = client.get_or_create_collection(
    "support", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
)
rows = documents()
collection.upsert(
    ids=[row["id"] for row in rows],
    documents=[row["content"] for row in rows],
    metadatas=[row["metadata"] for row in rows],
    embeddings=embed([row["content"] for row in rows]),
)
result = collection.query(
    query_embeddings=embed([QUESTION]),
    n_results=50,
    include=["documents", "metadatas", "distances", "embeddings"],
)
chunks = from_chroma(result, metric="cosine_distance", embeddings=True)
packed = pack(chunks, parse(POLICY), budget=BUDGET)
print(packed.text())
print(packed.why("returns-policy-2023#1"))
