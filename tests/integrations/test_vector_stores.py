"""Documents -> store -> query -> packer -> prompt text, with each store itself, embedded."""

import sqlite3
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from packer import Chunk, PackError, Template, pack
from packer.integrations.chroma import from_chroma
from packer.integrations.faiss import from_faiss
from packer.integrations.lancedb import from_lancedb
from packer.integrations.pgvector import from_pgvector_rows
from packer.integrations.qdrant import from_qdrant
from strategies import dedup, mmr, parse, ushape

from .library import BEST, DIMENSIONS, DOCUMENTS, QUERY, SOURCES, embed
from .packages import need_in_test

NAMES: Final = list(DOCUMENTS)
TEXTS: Final = list(DOCUMENTS.values())
VECTORS: Final = np.array(embed(TEXTS), np.float32)
LENGTHS: Final = np.array([1.0, 1.25, 0.5, 2.0, 0.75, 1.5], np.float32)
LONG: Final = VECTORS * LENGTHS[:, None]
"""The same directions at other lengths, so that every distance differs from the others."""
ASKED: Final = np.array(embed([QUERY])[0], np.float32)

POLICY: Final = dedup(0.9, metric="cosine") | mmr(0.7) | ushape
TEMPLATE: Final = Template("[{position}] {metadata[source]}: {content}", separator="\n")

Answer = Callable[..., list[Chunk]]


def expected(formula: str, vectors: Any) -> list[tuple[str, float]]:
    """Ids and scores of a search by brute force, best first."""
    inner = vectors @ ASKED
    away = ((vectors - ASKED) ** 2).sum(axis=1)
    score = {
        "cosine": inner / np.linalg.norm(vectors, axis=1),
        "inner": inner,
        "inner - 1": inner - 1.0,
        "l2": 1.0 / (1.0 + np.sqrt(away)),
    }[formula]
    return [(NAMES[at], float(score[at])) for at in np.argsort(-score, kind="stable")]


def check(found: list[Chunk], formula: str, vectors: Any = LONG) -> None:
    """The chunks are the documents, with the scores and vectors of brute force."""
    wanted = expected(formula, vectors)
    assert [chunk.id for chunk in found] == [name for name, _ in wanted]
    assert [chunk.score for chunk in found] == pytest.approx(
        [score for _, score in wanted], abs=1e-5
    )
    for chunk in found:
        at = NAMES.index(str(chunk.id))
        assert chunk.content == TEXTS[at]
        assert chunk.metadata == {"source": SOURCES[NAMES[at]]}
        assert chunk.embedding == pytest.approx(vectors[at], abs=1e-6)


def check_prompt(found: list[Chunk]) -> None:
    """What is packed of the answer is what is packed of the documents themselves."""
    by_hand = [
        Chunk(
            DOCUMENTS[name],
            score,
            id=name,
            metadata={"source": SOURCES[name]},
            embedding=VECTORS[NAMES.index(name)],
        )
        for name, score in expected("cosine", VECTORS)
    ]
    prompts = [pack(chunks, POLICY, budget=50, template=TEMPLATE) for chunks in (found, by_hand)]
    assert [chunk.id for chunk in prompts[0]] == [chunk.id for chunk in prompts[1]]
    assert prompts[0].text() == prompts[1].text()
    assert f"returns: {DOCUMENTS[BEST]}" in prompts[0].text()
    assert "returns-copy is out, redundant" in prompts[0].why("returns-copy")
    assert prompts[0].report.tokens_used == prompts[0].report.rendered_tokens
    assert prompts[0].report.tokens_used <= 50


# -- Chroma --------------------------------------------------------------------------------


def chroma(space: str, vectors: Any, include: list[str], queries: int = 1) -> Any:
    chromadb = need_in_test("chromadb")
    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    name = f"documents-{space}"
    if name in [found.name for found in client.list_collections()]:
        client.delete_collection(name)
    collection = client.create_collection(
        name, configuration={"hnsw": {"space": space}}, embedding_function=None
    )
    collection.add(
        ids=NAMES,
        embeddings=vectors,
        documents=TEXTS,
        metadatas=[{"source": SOURCES[name]} for name in NAMES],
    )
    return collection.query(query_embeddings=[ASKED] * queries, n_results=6, include=include)


ALL: Final = ["documents", "metadatas", "distances", "embeddings"]


@pytest.mark.parametrize(
    ("space", "metric", "formula"),
    [
        ("l2", "l2_squared", "l2"),
        ("cosine", "cosine_distance", "cosine"),
        ("ip", "negative_inner_product", "inner - 1"),
    ],
)
def test_chroma(space: str, metric: Any, formula: str) -> None:
    check(from_chroma(chroma(space, LONG, ALL), metric=metric, embeddings=True), formula)


def test_chroma_inner_products_of_unit_vectors_are_cosines() -> None:
    found = from_chroma(chroma("ip", VECTORS, ALL), metric="cosine_distance", embeddings=True)
    check(found, "cosine", VECTORS)


def test_chroma_prompt() -> None:
    result = chroma("cosine", VECTORS, ALL, queries=2)
    check_prompt(from_chroma(result, metric="cosine_distance", query=1))
    with pytest.raises(PackError, match="answers 2 queries"):
        from_chroma(result, metric="cosine_distance")


def test_chroma_wrongly_read() -> None:
    result = chroma("cosine", VECTORS, ["documents", "distances"])
    with pytest.raises(PackError, match="pass metric='cosine_distance'"):
        from_chroma(result, metric="similarity")
    with pytest.raises(PackError, match="pass include=") as caught:
        from_chroma(result, metric="cosine_distance", embeddings=True)
    assert caught.value.code == "MISSING_EMBEDDINGS"
    bare = chroma("cosine", VECTORS, ["distances"])
    with pytest.raises(PackError, match="the result has no documents; pass include="):
        from_chroma(bare, metric="cosine_distance")
    far = chroma("l2", LONG * 3, ALL)
    with pytest.raises(PackError, match=r"above 2: no cosine_distance is.*'l2_squared'"):
        from_chroma(far, metric="cosine_distance")


# -- Qdrant --------------------------------------------------------------------------------


def qdrant(distance: str, vectors: Any, **asked: Any) -> Any:
    client_of = need_in_test("qdrant_client")
    models = client_of.models
    client = client_of.QdrantClient(":memory:")
    client.create_collection(
        "documents",
        vectors_config={
            "words": models.VectorParams(size=DIMENSIONS, distance=models.Distance[distance])
        },
    )
    client.upsert(
        "documents",
        [
            models.PointStruct(
                id=at,
                vector={"words": vectors[at].tolist()},
                payload={"body": TEXTS[at], "source": SOURCES[NAMES[at]]},
            )
            for at in range(len(NAMES))
        ],
    )
    return client.query_points("documents", query=ASKED.tolist(), using="words", limit=6, **asked)


def named(chunks: list[Chunk]) -> list[Chunk]:
    """Qdrant's ids are the places of the documents."""
    return [
        Chunk(
            chunk.content,
            chunk.score,
            id=NAMES[int(str(chunk.id))],
            metadata=chunk.metadata,
            embedding=chunk.embedding,
        )
        for chunk in chunks
    ]


@pytest.mark.parametrize(
    ("distance", "metric", "formula"),
    [("EUCLID", "l2", "l2"), ("DOT", "similarity", "inner")],
)
def test_qdrant(distance: str, metric: Any, formula: str) -> None:
    answer = qdrant(distance, LONG, with_vectors=True)
    found = from_qdrant(answer, metric=metric, text="body", vector="words", embeddings=True)
    check(named(found), formula)


def test_qdrant_prompt() -> None:
    answer = qdrant("COSINE", VECTORS, with_vectors=True)
    check_prompt(named(from_qdrant(answer.points, metric="similarity", text="body")))


def test_qdrant_wrongly_read() -> None:
    with pytest.raises(PackError, match="pass metric='cosine_distance', metric='l2'"):
        from_qdrant(qdrant("EUCLID", LONG), metric="similarity", text="body")
    answer = qdrant("COSINE", VECTORS)
    with pytest.raises(PackError, match="pass text="):
        from_qdrant(answer, metric="similarity", text="text")
    with pytest.raises(PackError, match="pass with_vectors=True"):
        from_qdrant(answer, metric="similarity", text="body", embeddings=True)
    with pytest.raises(PackError, match="pass with_payload=True"):
        from_qdrant(qdrant("COSINE", VECTORS, with_payload=False), metric="similarity", text="body")


# -- LanceDB -------------------------------------------------------------------------------


def lancedb(place: Any, distance: str, vectors: Any) -> Any:
    table = (
        need_in_test("lancedb")
        .connect(place)
        .create_table(
            "documents",
            [
                {
                    "key": NAMES[at],
                    "text": TEXTS[at],
                    "source": SOURCES[NAMES[at]],
                    "vector": vectors[at].tolist(),
                }
                for at in range(len(NAMES))
            ],
        )
    )
    return table.search(ASKED).distance_type(distance).limit(6)


@pytest.mark.parametrize(
    ("distance", "metric", "formula"),
    [
        ("l2", "l2_squared", "l2"),
        ("cosine", "cosine_distance", "cosine"),
        ("dot", "negative_inner_product", "inner - 1"),
    ],
)
def test_lancedb(tmp_path: Any, distance: str, metric: Any, formula: str) -> None:
    search = lancedb(tmp_path, distance, LONG)
    for answer in (search, search.to_list(), search.to_arrow()):
        check(from_lancedb(answer, metric=metric, id="key", embedding="vector"), formula)


def test_lancedb_prompt(tmp_path: Any) -> None:
    rows = lancedb(tmp_path, "cosine", VECTORS).to_list()
    check_prompt(from_lancedb(rows, metric="cosine_distance", id="key", embedding="vector"))


def test_lancedb_wrongly_read(tmp_path: Any) -> None:
    search = lancedb(tmp_path, "l2", LONG)
    with pytest.raises(PackError, match="pass metric='cosine_distance', metric='l2'"):
        from_lancedb(search, metric="similarity", id="key")
    without = search.select(["key", "text", "_distance"])
    with pytest.raises(PackError, match="select the column 'vector'") as caught:
        from_lancedb(without, metric="l2_squared", id="key", embedding="vector")
    assert caught.value.code == "MISSING_EMBEDDINGS"


# -- FAISS ---------------------------------------------------------------------------------


def faiss(kind: str, vectors: Any, labels: list[int] | None = None) -> Any:
    package = need_in_test("faiss")
    index = getattr(package, kind)(DIMENSIONS)
    if labels is not None:
        index = package.IndexIDMap2(index)
        index.add_with_ids(vectors, np.array(labels))
    else:
        index.add(vectors)
    return index


@pytest.mark.parametrize(
    ("kind", "metric", "formula"),
    [("IndexFlatL2", "l2_squared", "l2"), ("IndexFlatIP", "similarity", "inner")],
)
@pytest.mark.parametrize("labels", [None, [10, 20, 30, 40, 50, 60]])
def test_faiss(kind: str, metric: Any, formula: str, labels: list[int] | None) -> None:
    index = faiss(kind, LONG, labels)
    distances, found = index.search(ASKED[None], 9)  # three more than there are
    assert (found == -1).sum() == 3
    at = (
        dict(enumerate(range(6)))
        if labels is None
        else {label: n for n, label in enumerate(labels)}
    )
    chunks = from_faiss(
        distances,
        found,
        {label: TEXTS[n] for label, n in at.items()},
        metric=metric,
        ids=lambda label: NAMES[at[label]],
        metadata=lambda label: {"source": SOURCES[NAMES[at[label]]]},
        embeddings=index.reconstruct,
    )
    check(chunks, formula)


def test_faiss_prompt() -> None:
    distances, labels = faiss("IndexFlatIP", VECTORS).search(ASKED[None], 6)
    sources = [{"source": SOURCES[name]} for name in NAMES]
    found = from_faiss(
        distances,
        labels,
        TEXTS,
        metric="similarity",
        ids=NAMES,
        metadata=sources,
        embeddings=VECTORS,
    )
    check_prompt(found)


def test_faiss_wrongly_read() -> None:
    distances, labels = faiss("IndexFlatL2", LONG).search(ASKED[None], 6)
    with pytest.raises(PackError, match="pass metric='cosine_distance', metric='l2'"):
        from_faiss(distances, labels, TEXTS, metric="similarity")
    with pytest.raises(PackError, match="texts has 2 entries and none for the label"):
        from_faiss(distances, labels, TEXTS[:2], metric="l2_squared")
    chunks = from_faiss(distances, labels, TEXTS, metric="l2_squared")
    with pytest.raises(PackError, match="give them one") as caught:
        pack(chunks, parse('mmr(0.7, metric="cosine")'), budget=50)
    assert caught.value.code == "MISSING_EMBEDDINGS"


# -- rows of SQL ---------------------------------------------------------------------------


def test_rows_of_sql_prompt() -> None:
    """The shape of pgvector's query, on the database of the standard library."""
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    base.create_function("away", 1, lambda at: float(1.0 - VECTORS[at] @ ASKED), deterministic=True)
    base.execute(
        "CREATE TABLE documents (at INTEGER, id TEXT, content TEXT, source TEXT, embedding TEXT)"
    )
    base.executemany(
        "INSERT INTO documents VALUES (?, ?, ?, ?, ?)",
        [
            (at, NAMES[at], TEXTS[at], SOURCES[NAMES[at]], str(VECTORS[at].tolist()))
            for at in range(len(NAMES))
        ],
    )
    asked = "SELECT id, content, source, embedding, away(at) AS distance FROM documents ORDER BY distance"
    rows = base.execute(asked).fetchall()
    base.close()
    found = from_pgvector_rows(rows, metric="cosine_distance", embedding="embedding")
    check(found, "cosine", VECTORS)
    check_prompt(found)
