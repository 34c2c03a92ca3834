"""LanceDB: a search's rows -> chunks -> prompt text."""

import tempfile

import lancedb
from knowledge import BUDGET, POLICY, QUESTION, documents, embed

from packer import pack
from packer.integrations.lancedb import from_lancedb
from strategies import parse

rows = documents()
vectors = embed([row["content"] for row in rows])
with tempfile.TemporaryDirectory() as folder:
    table = lancedb.connect(folder).create_table(
        "support",
        [
            {
                "id": row["id"],
                "text": row["content"],
                "status": row["metadata"].get("status"),
                "vector": vectors[at],
            }
            for at, row in enumerate(rows)
        ],
    )
    search = table.search(embed([QUESTION])[0]).distance_type("cosine").limit(50)
    chunks = from_lancedb(search, metric="cosine_distance", id="id", embedding="vector")
packed = pack(chunks, parse(POLICY), budget=BUDGET)
print(packed.text())
print(packed.why("returns-policy-2023#1"))
