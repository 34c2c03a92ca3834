"""pgvector: the rows of a SELECT -> chunks -> prompt text.

The database here is SQLite with a function that does what pgvector's operator ``<=>`` does; with
PostgreSQL the query reads ``embedding <=> %s AS distance``, and the rest is the same.
"""

import json
import sqlite3

import numpy as np
from knowledge import BUDGET, POLICY, QUESTION, documents, embed

from packer import pack
from packer.integrations.pgvector import from_pgvector_rows
from strategies import parse

rows = documents()
vectors = embed([row["content"] for row in rows])
question = np.array(embed([QUESTION])[0])

base = sqlite3.connect(":memory:")
base.row_factory = sqlite3.Row
base.create_function("cosine_distance", 1, lambda text: 1.0 - float(question @ json.loads(text)))
base.execute("CREATE TABLE support (id TEXT, content TEXT, status TEXT, embedding TEXT)")
base.executemany(
    "INSERT INTO support VALUES (?, ?, ?, ?)",
    [
        (row["id"], row["content"], row["metadata"].get("status"), json.dumps(vectors[at]))
        for at, row in enumerate(rows)
    ],
)
found = base.execute(
    "SELECT id, content, status, embedding, cosine_distance(embedding) AS distance "
    "FROM support ORDER BY distance LIMIT 50"
).fetchall()
base.close()
chunks = from_pgvector_rows(found, metric="cosine_distance", embedding="embedding")
packed = pack(chunks, parse(POLICY), budget=BUDGET)
print(packed.text())
print(packed.why("returns-policy-2023#1"))
