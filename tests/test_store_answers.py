"""What stores answer, by hand; the stores themselves run in tests/integrations."""

import copy
import sqlite3
import uuid
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from packer import Chunk, PackError, pack
from packer.integrations.chroma import from_chroma
from packer.integrations.faiss import from_faiss
from packer.integrations.lancedb import from_lancedb
from packer.integrations.pgvector import from_pgvector_rows
from packer.integrations.qdrant import from_qdrant
from strategies import greedy


def told(call: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(PackError) as caught:
        call()
    return caught.value.code, caught.value.message


# -- Chroma --------------------------------------------------------------------------------

CHROMA: dict[str, Any] = {
    "ids": [["a", "b"], ["c"]],
    "documents": [["text a", None], ["text c"]],
    "metadatas": [[{"source": "x"}, None], [None]],
    "distances": [[0.25, 0.5], [1.0]],
    "embeddings": None,
    "uris": None,
}


def test_chroma_gives_one_query() -> None:
    assert from_chroma(CHROMA, metric="cosine_distance", query=0) == [
        Chunk("text a", 0.75, id="a", metadata={"source": "x"}),
        Chunk("", 0.5, id="b"),
    ]
    assert from_chroma(CHROMA, metric="cosine_distance", query=1) == [Chunk("text c", 0.0, id="c")]


def test_a_record_without_a_document_is_reported() -> None:
    packed = pack(from_chroma(CHROMA, metric="cosine_distance", query=0), greedy, budget=50)
    assert packed.why("b") == "b is out, invalid, by pack: its text is blank"


def test_chroma_without_metadata_and_with_vectors() -> None:
    result = {**CHROMA, "metadatas": None, "embeddings": [np.eye(2), np.eye(2)[:1]]}
    found = from_chroma(result, metric="l2", query=0, embeddings=True)
    assert [chunk.embedding.tolist() for chunk in found] == [[1.0, 0.0], [0.0, 1.0]]
    assert [dict(chunk.metadata) for chunk in found] == [{}, {}]
    assert from_chroma(result, metric="l2", query=0, embeddings=False)[0].embedding is None


@pytest.mark.parametrize("query", [None, 2, -1, True, "0"])
def test_chroma_of_several_queries(query: Any) -> None:
    code, message = told(lambda: from_chroma(CHROMA, metric="l2", query=query))
    assert code == "INVALID_PARAMETER"
    assert message.startswith("the result answers 2 queries, and query is ")
    assert message.endswith("; pass query=, an int from 0 to 1")


@pytest.mark.parametrize("column", ["documents", "distances"])
def test_chroma_without_a_column(column: str) -> None:
    code, message = told(lambda: from_chroma({**CHROMA, column: None}, metric="l2", query=0))
    assert code == "INVALID_CHUNK"
    assert message.startswith(f'the result has no {column}; pass include=["documents"')


def test_what_chroma_gets_without_a_query_has_no_distances() -> None:
    got = {"ids": ["a", "b"], "documents": ["x", "y"], "metadatas": [None, None]}
    code, message = told(lambda: from_chroma(got, metric="l2"))
    assert code == "INVALID_CHUNK"
    assert message.endswith("(Collection.get has no distances)")


def test_chroma_without_embeddings() -> None:
    code, message = told(lambda: from_chroma(CHROMA, metric="l2", query=0, embeddings=True))
    assert code == "MISSING_EMBEDDINGS"
    assert 'pass include=["documents", "metadatas", "distances", "embeddings"]' in message


def test_chroma_under_another_metric() -> None:
    code, message = told(lambda: from_chroma(CHROMA, metric="similarity", query=0))
    assert code == "INVALID_PARAMETER"
    assert "pass metric='cosine_distance', metric='l2'" in message
    assert told(lambda: from_chroma([], metric="l2"))[0] == "INVALID_CHUNK"  # type: ignore[arg-type]


def test_an_empty_answer_is_no_chunks() -> None:
    empty: dict[str, Any] = {"ids": [[]], "documents": [[]], "distances": [[]], "metadatas": [[]]}
    assert from_chroma(empty, metric="l2", embeddings=True) == []
    assert from_qdrant([], metric="similarity", text="text", embeddings=True) == []
    assert from_lancedb([], metric="l2", embedding="vector") == []
    assert from_faiss(np.empty((1, 0)), np.empty((1, 0), int), [], metric="l2") == []
    assert from_pgvector_rows([], metric="l2", embedding="embedding") == []


@pytest.mark.parametrize(
    ("changed", "told_of"),
    [
        ({"distances": [[0.1]]}, "the answer has 2 ids, 2 texts, 1 scores, 2 metadata; give one"),
        ({"documents": [["x", "y", "z"]]}, "the answer has 2 ids, 3 texts, 2 scores, 2 metadata"),
        ({"metadatas": [[None]]}, "the answer has 2 ids, 2 texts, 2 scores, 1 metadata"),
        ({"documents": []}, "documents is [], which has no list for query 0"),
        ({"distances": [0.1, 0.2]}, "distances is [0.1, 0.2], which has no list for query 0"),
        ({"ids": ["a"]}, "ids is ['a'], which has no list for query 0"),
        ({"ids": None}, "the result's ids are None; give what Collection.query returned"),
        ({"embeddings": [[[1.0]]]}, "the answer has 2 ids, 2 texts, 2 scores, 2 metadata, 1 emb"),
    ],
)
@pytest.mark.parametrize("embeddings", [None, True])
def test_chroma_with_columns_of_several_lengths(
    changed: dict[str, Any], told_of: str, *, embeddings: bool | None
) -> None:
    whole = {
        "ids": [["a", "b"]],
        "documents": [["x", "y"]],
        "distances": [[0.1, 0.2]],
        "metadatas": None,
        "embeddings": [[[1.0], [2.0]]],
    }
    if "embeddings" not in changed and embeddings is None:
        whole["embeddings"] = None
    code, message = told(
        lambda: from_chroma({**whole, **changed}, metric="l2", embeddings=embeddings)
    )
    assert code == "INVALID_CHUNK"
    assert message.replace(", 2 embeddings", "").startswith(told_of)


def test_chroma_that_answers_no_query() -> None:
    nothing: dict[str, Any] = {"ids": [], "documents": [], "distances": []}
    assert told(lambda: from_chroma(nothing, metric="l2")) == (
        "INVALID_PARAMETER",
        "the result answers no query; give an answer of at least one",
    )


@pytest.mark.parametrize("nothing", [None, [], np.empty(0)])
def test_embeddings_that_are_required_are_required_of_every_row(nothing: Any) -> None:
    vectors = [[1.0, 0.0], nothing]
    result = {
        "ids": [["a", "b"]],
        "documents": [["x", "y"]],
        "distances": [[0.1, 0.2]],
        "embeddings": [vectors],
    }
    calls: list[Callable[[], Any]] = [
        lambda: from_chroma(result, metric="l2", embeddings=True),
        lambda: from_qdrant(
            [
                point(name, 0.5, {"text": name}, vector)
                for name, vector in zip("ab", vectors, strict=True)
            ],
            metric="similarity",
            text="text",
            embeddings=True,
        ),
        lambda: from_lancedb(
            [
                {"key": name, "text": name, "_distance": 0.5, "vector": vector}
                for name, vector in zip("ab", vectors, strict=True)
            ],
            metric="l2",
            id="key",
            embedding="vector",
        ),
    ]
    for call in calls:
        code, message = told(call)
        assert code == "MISSING_EMBEDDINGS"
        assert message.startswith("1 of 2 rows have no embedding: ['b']; ")
    assert from_chroma(result, metric="l2")[0].embedding is not None


# -- Qdrant --------------------------------------------------------------------------------


def point(id_: Any, score: Any, payload: Any, vector: Any = None) -> Any:
    return SimpleNamespace(id=id_, score=score, payload=payload, vector=vector)


def test_qdrant_points_with_numbers_and_uuids() -> None:
    name = uuid.UUID(int=5)
    points = [
        point(7, 0.9, {"body": "seven", "year": 2024}, [1.0, 0.0]),
        point(name, 0.5, {"body": "five"}),
    ]
    expected = [
        Chunk("seven", 0.9, id="7", metadata={"year": 2024}, embedding=[1.0, 0.0]),
        Chunk("five", 0.5, id=str(name)),
    ]
    assert from_qdrant(points, metric="similarity", text="body") == expected
    answer = SimpleNamespace(points=points)
    assert from_qdrant(answer, metric="similarity", text="body") == expected
    assert points[0].payload == {"body": "seven", "year": 2024}


def test_qdrant_named_vectors() -> None:
    both = [point(1, 0.5, {"text": "x"}, {"image": [1.0], "words": [2.0]})]
    found = from_qdrant(both, metric="similarity", text="text", vector="words")
    assert found[0].embedding.tolist() == [2.0]
    one = [point(1, 0.5, {"text": "x"}, {"image": [1.0]})]
    assert from_qdrant(one, metric="similarity", text="text")[0].embedding.tolist() == [1.0]
    code, message = told(lambda: from_qdrant(both, metric="similarity", text="text"))
    assert code == "INVALID_PARAMETER"
    assert "has the vectors ['image', 'words'], and vector is None; pass vector=" in message
    assert (
        from_qdrant(both, metric="similarity", text="text", embeddings=False)[0].embedding is None
    )


@pytest.mark.parametrize(
    ("payload", "told_of"),
    [
        (None, "point 1 at 0 has no payload; pass with_payload=True"),
        (
            {"body": "x"},
            "point 1 at 0 has no 'text' in its payload, which has ['body']; pass text=",
        ),
    ],
)
def test_qdrant_without_a_text(payload: Any, told_of: str) -> None:
    code, message = told(
        lambda: from_qdrant([point(1, 0.5, payload)], metric="similarity", text="text")
    )
    assert code == "INVALID_CHUNK"
    assert message.startswith(told_of)


def test_qdrant_without_a_score_or_embeddings() -> None:
    scrolled = [SimpleNamespace(id=1, payload={"text": "x"}, vector=None)]
    code, message = told(lambda: from_qdrant(scrolled, metric="similarity", text="text"))
    assert code == "INVALID_CHUNK"
    assert "those of scroll have no score" in message
    scored = [point(1, 0.5, {"text": "x"})]
    code, message = told(
        lambda: from_qdrant(scored, metric="similarity", text="text", embeddings=True)
    )
    assert (code, message) == (
        "MISSING_EMBEDDINGS",
        "the answer has no embeddings; pass with_vectors=True to query_points",
    )


@pytest.mark.parametrize(
    ("result", "told_of"),
    [
        (None, "the result is None; give what query_points returned"),
        ({"points": []}, "the result is {'points': []}; give what query_points returned"),
        (SimpleNamespace(groups=[]), "the result is an answer of query_points_groups; give"),
        (
            [SimpleNamespace(points=[point(1, 0.5, {"text": "x"})])],
            "what stands at 0 is no scored point but namespace(",
        ),
        (([point(1, None, {"text": "x"})], None), "what stands at 0 is no scored point but [name"),
        (["a"], "what stands at 0 is no scored point but 'a'; give what query_points returned"),
    ],
)
def test_what_is_no_scored_point_of_qdrant(result: Any, told_of: str) -> None:
    code, message = told(lambda: from_qdrant(result, metric="similarity", text="text"))
    assert code == "INVALID_CHUNK"
    assert message.startswith(told_of)


def test_qdrant_names_keys_that_are_no_text() -> None:
    keys = [point(1, 0.5, {1: "x", "body": "y"})]
    code, message = told(lambda: from_qdrant(keys, metric="similarity", text="text"))
    assert code == "INVALID_CHUNK"
    assert "which has ['1', 'body']; pass text=" in message


def test_qdrant_distances_read_as_similarities() -> None:
    points = [point(1, 0.5, {"text": "near"}), point(2, 1.5, {"text": "far"})]
    assert (
        told(lambda: from_qdrant(points, metric="similarity", text="text"))[0]
        == "INVALID_PARAMETER"
    )
    assert [chunk.score for chunk in from_qdrant(points, metric="l2", text="text")] == [
        1 / 1.5,
        0.4,
    ]


# -- LanceDB -------------------------------------------------------------------------------


def lance(*distances: float) -> list[dict[str, Any]]:
    return [
        {"key": at, "text": f"text {at}", "vector": [1.0, at], "year": 2024, "_distance": distance}
        for at, distance in enumerate(distances)
    ]


def test_lancedb_rows() -> None:
    rows = lance(0.25, 0.5)
    before = copy.deepcopy(rows)
    found = from_lancedb(rows, metric="cosine_distance", id="key", embedding="vector")
    assert found == [
        Chunk("text 0", 0.75, id="0", metadata={"year": 2024}, embedding=[1.0, 0.0]),
        Chunk("text 1", 0.5, id="1", metadata={"year": 2024}, embedding=[1.0, 1.0]),
    ]
    assert rows == before
    for made_by in ("to_pylist", "to_list", "to_dicts"):
        table = SimpleNamespace(**{made_by: lambda: rows})
        assert from_lancedb(table, metric="cosine_distance", id="key", embedding="vector") == found
    frame = SimpleNamespace(to_dict=lambda orient: {"records": rows}[orient])
    assert from_lancedb(frame, metric="cosine_distance", id="key", embedding="vector") == found


def test_a_reranked_search_has_the_order_of_its_reranker() -> None:
    rows = [
        {"text": "far", "_distance": 0.9, "_relevance_score": 0.7},
        {"text": "near", "_distance": 0.1, "_relevance_score": 0.2},
    ]
    by_distance = from_lancedb(rows, metric="l2")
    assert [chunk.score for chunk in by_distance] == [1 / 1.9, 1 / 1.1]
    assert [dict(chunk.metadata) for chunk in by_distance] == [{}, {}]
    reranked = from_lancedb(rows, metric="similarity", score="_relevance_score")
    assert [chunk.score for chunk in reranked] == [0.7, 0.2]
    code, _ = told(lambda: from_lancedb(rows, metric="l2", score="_relevance_score"))
    assert code == "INVALID_PARAMETER"


def test_lancedb_scores_of_other_searches_are_named() -> None:
    rows = [{"text": "x", "_score": 3.5}, {"text": "y", "_score": 2.5}]
    found = from_lancedb(rows, metric="similarity", score="_score")
    assert [(chunk.id, chunk.score, dict(chunk.metadata)) for chunk in found] == [
        (None, 3.5, {}),
        (None, 2.5, {}),
    ]
    code, message = told(lambda: from_lancedb(rows, metric="similarity"))
    assert code == "INVALID_PARAMETER"
    assert message.startswith(
        "row 0 has no column '_distance' (it has ['_score', 'text']); pass score="
    )


@pytest.mark.parametrize("parameter", ["text", "id"])
def test_lancedb_without_a_column(parameter: str) -> None:
    changed: dict[str, Any] = {parameter: "body"}
    code, message = told(lambda: from_lancedb(lance(0.5), metric="l2", **changed))
    assert code == "INVALID_PARAMETER"
    assert message.startswith("row 0 has no column 'body'")
    assert f"pass {parameter}=, the name of the column" in message


def test_lancedb_without_embeddings() -> None:
    code, message = told(lambda: from_lancedb(lance(0.5), metric="l2", embedding="emb"))
    assert code == "MISSING_EMBEDDINGS"
    assert "select the column 'emb', or pass embedding=" in message


def test_lancedb_under_another_metric() -> None:
    assert (
        told(lambda: from_lancedb(lance(0.5, 0.9), metric="similarity"))[0] == "INVALID_PARAMETER"
    )
    code, message = told(lambda: from_lancedb(lance(-0.5), metric="l2"))
    assert code == "INVALID_PARAMETER"
    assert message.startswith("row 0 has the distance -0.5, which is below 0: no l2 is.")


# -- FAISS ---------------------------------------------------------------------------------

FARTHEST = np.finfo(np.float32).max


def test_faiss_leaves_out_what_is_no_row() -> None:
    found = from_faiss(
        np.array([[0.0, 9.0, FARTHEST]], np.float32),
        np.array([[2, 0, -1]]),
        ["zero", "one", "two"],
        metric="l2_squared",
    )
    assert found == [Chunk("two", 1.0, id="2"), Chunk("zero", 0.25, id="0")]


def test_faiss_looks_things_up_by_label() -> None:
    distances, labels = [[0.9, 0.5], [0.8, 0.1]], [[100, 7], [7, 100]]
    texts = {7: "seven", 100: "hundred"}
    found = from_faiss(
        distances,
        labels,
        texts,
        metric="similarity",
        ids={7: uuid.UUID(int=7), 100: "c"},
        metadata=lambda label: {"label": label},
        embeddings=lambda label: np.array([label, 1.0]),
        query=1,
    )
    assert found == [
        Chunk("seven", 0.8, id=str(uuid.UUID(int=7)), metadata={"label": 7}, embedding=[7.0, 1.0]),
        Chunk("hundred", 0.1, id="c", metadata={"label": 100}, embedding=[100.0, 1.0]),
    ]
    code, message = told(lambda: from_faiss(distances, labels, texts, metric="similarity"))
    assert code == "INVALID_PARAMETER"
    assert message.startswith("the search answers 2 queries, and query is not given; pass query=")
    assert [
        chunk.id for chunk in from_faiss(distances[0], labels[0], texts, metric="similarity")
    ] == ["100", "7"]


@pytest.mark.parametrize("texts", [["only one"], {7: "seven"}])
def test_faiss_without_a_text(texts: Any) -> None:
    code, message = told(lambda: from_faiss([[0.5]], [[3]], texts, metric="similarity"))
    assert code == "INVALID_CHUNK"
    assert message.startswith("texts has 1 entries and none for the label 3")


@pytest.mark.parametrize(
    ("distances", "labels"),
    [([[3, 1]], [[0.5, 0.9]]), ([[0.5]], [[1, 2]]), (0.5, 1)],
)
def test_faiss_answers_in_the_wrong_order(distances: Any, labels: Any) -> None:
    code, message = told(lambda: from_faiss(distances, labels, ["a", "b"], metric="similarity"))
    assert code == "INVALID_PARAMETER"
    assert "give both as index.search returned them, distances first" in message


def test_faiss_of_nothing_and_of_no_texts() -> None:
    empty: list[Any] = [[]]
    assert from_faiss(empty, empty, [], metric="l2") == []
    nothing: Any = None
    code, message = told(lambda: from_faiss([[0.1]], [[0]], nothing, metric="l2"))
    assert code == "INVALID_PARAMETER"
    assert message.startswith("texts is None; give a list in the order in which")
    code, message = told(lambda: from_faiss([[0.1], [0.2, 0.3]], [[0]], ["a"], metric="l2"))
    assert code == "INVALID_PARAMETER"
    assert message.startswith("distances has rows of several lengths")


def test_faiss_under_another_metric() -> None:
    code, _ = told(lambda: from_faiss([[0.1, 0.9]], [[0, 1]], ["a", "b"], metric="similarity"))
    assert code == "INVALID_PARAMETER"
    code, _ = told(lambda: from_faiss([[0.9, 0.1]], [[0, 1]], ["a", "b"], metric="l2_squared"))
    assert code == "INVALID_PARAMETER"
    code, _ = told(lambda: from_faiss([[np.nan]], [[0]], ["a"], metric="l2_squared"))
    assert code == "INVALID_CHUNK"


# -- pgvector ------------------------------------------------------------------------------


class Row(NamedTuple):
    id: int
    content: str
    source: str
    embedding: Any
    distance: Any


class Halves:
    """As the vector types of pgvector's package."""

    def to_numpy(self) -> Any:
        return np.array([0.5, 0.25])


def test_pgvector_rows_of_any_driver() -> None:
    expected = [Chunk("seven", 0.75, id="7", metadata={"source": "x"}, embedding=[0.5, 0.25])]
    for vector in ([0.5, 0.25], np.array([0.5, 0.25]), "[0.5,0.25]", Halves()):
        row = Row(7, "seven", "x", vector, 0.25)
        named = row._asdict()
        for rows in ([named], [row], (row,), [SimpleNamespace(_mapping=named)]):
            found = from_pgvector_rows(rows, metric="cosine_distance", embedding="embedding")
            assert found == expected
        found = from_pgvector_rows(
            [tuple(row)], metric="cosine_distance", embedding="embedding", columns=Row._fields
        )
        assert found == expected
    answer = SimpleNamespace(mappings=lambda: [named])
    assert from_pgvector_rows(answer, metric="cosine_distance", embedding="embedding") == expected


def test_rows_of_a_database() -> None:
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    rows = base.execute("SELECT 7 AS key, 'seven' AS body, 'x' AS source, 0.25 AS close").fetchall()
    base.close()
    found = from_pgvector_rows(rows, metric="similarity", id="key", text="body", score="close")
    assert found == [Chunk("seven", 0.25, id="7", metadata={"source": "x"})]


def test_a_null_embedding_is_none_and_a_null_distance_is_refused() -> None:
    rows = [Row(1, "a", "x", None, 0.5), Row(2, "b", "x", [1.0], 0.75)]
    found = from_pgvector_rows(rows, metric="l2", embedding="embedding")
    assert found[0].embedding is None
    code, message = told(lambda: from_pgvector_rows([Row(1, "a", "x", None, None)], metric="l2"))
    assert code == "INVALID_CHUNK"
    assert message.endswith("add WHERE embedding IS NOT NULL")


def test_a_text_that_is_no_vector_is_named_by_pack() -> None:
    found = from_pgvector_rows([Row(1, "a", "x", "(1,2)", 0.5)], metric="l2", embedding="embedding")
    code, message = told(lambda: pack(found, greedy, budget=5))
    assert code == "INVALID_CHUNK"
    assert "embedding is '(1,2)'; give a list of numbers" in message


def test_pgvector_rows_in_any_order() -> None:
    rows = [Row(1, "far", "x", None, 0.75), Row(2, "near", "x", None, 0.25)]
    assert [chunk.score for chunk in from_pgvector_rows(rows, metric="cosine_distance")] == [
        0.25,
        0.75,
    ]


@pytest.mark.parametrize(
    ("changed", "told_of"),
    [
        ({"text": "body"}, "row 0 has no column 'body'"),
        ({"id": "key"}, "pass id=, the name of the column, or select it"),
        ({"score": "similarity"}, "pass score=, the name of the column, or select it"),
        ({"metric": "cosine"}, "metric is 'cosine'; say what kind of number"),
    ],
)
def test_pgvector_arguments(changed: dict[str, Any], told_of: str) -> None:
    row = Row(1, "a", "x", None, 0.5)
    code, message = told(lambda: from_pgvector_rows([row], **{"metric": "l2", **changed}))
    assert code == "INVALID_PARAMETER"
    assert told_of in message


@pytest.mark.parametrize(
    ("rows", "columns", "code", "told_of"),
    [
        (None, None, "INVALID_CHUNK", "the query's answer is None; give its rows"),
        (None, ["id"], "INVALID_CHUNK", "rows is None; give the rows of the query"),
        ([1], ["id"], "INVALID_CHUNK", "row 0 is 1; give tuples of the columns' values"),
        (["a"], ["id"], "INVALID_CHUNK", "row 0 is 'a'; give tuples of the columns' values"),
        (
            [(1, "a", "x", 0.5)],
            ["id", "content", "content", "distance"],
            "INVALID_PARAMETER",
            "columns names ['content'] more than once; give each column a name of its own",
        ),
    ],
)
def test_pgvector_rows_that_are_none(rows: Any, columns: Any, code: str, told_of: str) -> None:
    found = told(lambda: from_pgvector_rows(rows, metric="l2", columns=columns))
    assert found[0] == code
    assert found[1].startswith(told_of)


def test_a_row_of_a_driver_with_a_name_twice_is_refused() -> None:
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    rows = base.execute(
        "SELECT 1 AS id, 'a' AS content, 'b' AS content, 0.5 AS distance"
    ).fetchall()
    base.close()
    code, message = told(lambda: from_pgvector_rows(rows, metric="l2"))
    assert code == "INVALID_PARAMETER"
    assert "names ['content'] more than once" in message


def test_pgvector_rows_without_names() -> None:
    code, message = told(lambda: from_pgvector_rows([(1, "a", 0.5)], metric="l2"))
    assert code == "INVALID_CHUNK"
    assert message.startswith(
        "row 0 of the query's answer is (1, 'a', 0.5), a row without column names"
    )
    code, message = told(lambda: from_pgvector_rows([(1, "a")], metric="l2", columns=["id"]))
    assert (code, message) == ("INVALID_CHUNK", "row 0 has 2 values for 1 names; pass columns=")
