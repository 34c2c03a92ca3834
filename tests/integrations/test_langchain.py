import asyncio
import pickle
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from packer import Budget, Chunk, PackError, Template, pack
from strategies import custom, dedup, greedy, mmr, parse, top, trim, ushape

from .library import BEST, DOCUMENTS, QUERY, SOURCES, cosine, embed
from .packages import need, need_in_test

need("langchain_core", "langchain_classic")

from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from packer.integrations.langchain import PackDocuments, ScoredRetriever

POLICY = 'dedup(0.9, metric="cosine") | mmr(0.7) | ushape'


class Words(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return embed(texts)

    def embed_query(self, text: str) -> list[float]:
        return embed([text])[0]


class Waiting(Words):
    """Embeds only asynchronously."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(0)
        return embed(texts)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError


@pytest.fixture
def store() -> Any:
    filled = InMemoryVectorStore(Words())
    filled.add_documents(
        [
            Document(text, id=name, metadata={"source": SOURCES[name]})
            for name, text in DOCUMENTS.items()
        ]
    )
    return filled


def ids(documents: Sequence[Any]) -> list[str | None]:
    return [document.id for document in documents]


def packed_by_hand(budget: int) -> list[str]:
    """What the core packs from the same texts, scores and vectors."""
    chunks = [
        Chunk(text, cosine(QUERY, text), id=name, embedding=embed([text])[0])
        for name, text in DOCUMENTS.items()
    ]
    chunks.sort(key=lambda chunk: -chunk.score)
    return [chunk.id for chunk in pack(chunks, parse(POLICY), budget=budget)]


def test_documents_store_retriever_packer_prompt(store: Any) -> None:
    retriever = ContextualCompressionRetriever(
        base_retriever=ScoredRetriever(store=store, k=6),
        base_compressor=PackDocuments(
            POLICY, budget=40, metric="similarity", score_key="score", embeddings=store
        ),
    )
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    chain = {
        "context": retriever
        | RunnableLambda(lambda found: "\n\n".join(document.page_content for document in found)),
        "question": RunnablePassthrough(),
    } | prompt
    text = chain.invoke(QUERY).messages[0].content
    chosen = packed_by_hand(40)
    assert 0 < len(chosen) < len(DOCUMENTS)
    assert BEST in chosen
    assert "returns-copy" not in chosen
    assert text == "\n\n".join(DOCUMENTS[name] for name in chosen) + f"\n\nQuestion: {QUERY}"
    assert ids(retriever.invoke(QUERY)) == chosen
    assert ids(asyncio.run(retriever.ainvoke(QUERY))) == chosen


def test_in_a_pipeline_of_compressors(store: Any) -> None:
    packing = PackDocuments(
        POLICY, budget=40, metric="similarity", score_key="score", embeddings=store
    )
    pipeline = DocumentCompressorPipeline(transformers=[packing])
    documents = ScoredRetriever(store=store, k=6).invoke(QUERY)
    assert ids(pipeline.compress_documents(documents, QUERY)) == packed_by_hand(40)


def test_a_search_may_have_a_filter(store: Any) -> None:
    search = {"filter": lambda document: document.metadata["source"] == "gifts"}
    found = ScoredRetriever(store=store, k=6, score_key="near", search=search).invoke(QUERY)
    assert ids(found) == ["gifts"]
    assert found[0].metadata["near"] == pytest.approx(cosine(QUERY, DOCUMENTS["gifts"]))


def test_a_chain_of_pairs(store: Any) -> None:
    chain = RunnableLambda(
        lambda query: store.similarity_search_with_score(query, k=6)
    ) | PackDocuments(POLICY, budget=40, metric="similarity", embeddings=Words())
    assert ids(chain.invoke(QUERY)) == packed_by_hand(40)
    assert ids(asyncio.run(chain.ainvoke(QUERY))) == packed_by_hand(40)
    assert [ids(found) for found in chain.batch([QUERY, QUERY])] == [packed_by_hand(40)] * 2


def test_every_document_carries_its_place_and_the_report(store: Any) -> None:
    seen: list[Any] = []
    packing = PackDocuments(
        POLICY, budget=40, metric="similarity", embeddings=store, on_packed=seen.append
    )
    pairs = store.similarity_search_with_score(QUERY, k=6)
    found = packing.invoke(pairs)
    (packed,) = seen
    assert [document.metadata["source"] for document in found] == [
        SOURCES[str(document.id)] for document in found
    ]
    for chunk, document in zip(packed, found, strict=True):
        note = document.metadata["packer"]
        assert (note["id"], note["position"]) == (chunk.id, chunk.position)
        assert (note["score"], note["tokens"]) == (chunk.score, chunk.tokens)
        assert ("report" in note) == (chunk.position == 0)
    report = found[0].metadata["packer"]["report"]
    assert report["policy"] == POLICY
    assert report["tokens_used"] == packed.report.tokens_used <= 40
    reasons = {out["id"]: out["reason"] for out in report["excluded"]}
    assert reasons == {out.id: out.reason.value for out in packed.report.excluded}
    assert reasons["returns-copy"] == "redundant"
    assert set(reasons) | set(ids(found)) == set(DOCUMENTS)
    assert "packer" not in pairs[0][0].metadata  # the caller's own stay as they were


def test_report_key_none_leaves_metadata_alone(store: Any) -> None:
    packing = PackDocuments(greedy, budget=500, metric="similarity", report_key=None)
    pairs = store.similarity_search_with_score(QUERY, k=6)
    assert packing.invoke(pairs) == [document for document, _ in pairs]


def test_packing_again_packs_the_documents_and_not_the_old_report(store: Any) -> None:
    packing = PackDocuments(greedy, budget=500, metric="rank")
    once = packing.invoke(store.similarity_search(QUERY))
    twice = packing.invoke(once)
    assert ids(twice) == ids(once)
    assert "packer" not in twice[0].metadata["packer"]


def test_nothing_in_is_told_to_on_packed() -> None:
    seen: list[Any] = []
    packing = PackDocuments(greedy, budget=1, metric="rank", on_packed=seen.append)
    assert packing.invoke([Document("far too long", id="long")]) == []
    assert seen[0].why("long") == "long is out, budget, by greedy: needs 2 more tokens"
    assert packing.invoke([]) == []


def test_distances_are_named() -> None:
    near, far = Document("near", id="near"), Document("far", id="far")
    pairs = [(near, 0.25), (far, 1.0)]
    for metric in ("cosine_distance", "l2", "l2_squared", "negative_inner_product"):
        packing = PackDocuments(top(1) | greedy, budget=50, metric=metric)
        assert ids(packing.invoke(pairs)) == ["near"]
    assert ids(PackDocuments(top(1) | greedy, budget=50, metric="similarity").invoke(pairs)) == [
        "far"
    ]


def test_rank_is_the_order_alone() -> None:
    packing = PackDocuments(greedy, budget=50, metric="rank")
    found = packing.invoke([Document("a"), Document("b"), Document("c"), Document("d")])
    assert [document.metadata["packer"]["score"] for document in found] == [1.0, 0.75, 0.5, 0.25]


def test_equal_and_missing_ids_go_back_to_their_own_documents() -> None:
    documents = [
        Document("first", id="same"),
        Document("second", id="same"),
        Document("third"),
        Document(" ", id="blank"),
        Document("fifth", id="chunk-2"),
    ]
    found = PackDocuments("greedy", budget=50, metric="rank").invoke(documents)
    assert [(document.id, document.page_content) for document in found] == [
        ("same", "first"),
        (None, "third"),
        ("chunk-2", "fifth"),
    ]
    reasons = {
        out["id"]: out["reason"] for out in found[0].metadata["packer"]["report"]["excluded"]
    }
    assert reasons == {"same": "duplicate", "blank": "invalid"}


def test_a_shortened_document_is_a_copy() -> None:
    whole = Document("One sentence. Another sentence that is long.", id="whole")
    packing = PackDocuments(trim(1) | greedy, budget=4, metric="rank")
    (cut,) = packing.invoke([whole])
    assert (cut.page_content, cut.id) == ("One sentence.", "whole")
    assert cut.metadata["packer"]["original_tokens"] == 11
    assert whole.page_content == "One sentence. Another sentence that is long."


def test_the_query_reaches_the_stages() -> None:
    document = Document("Refunds take five days. We ship on Monday.", id="a")
    packing = PackDocuments("shrink(0.6) | greedy", budget=100, metric="rank")
    (short,) = packing.invoke({"documents": [document], "query": "when do you ship"})
    assert short.page_content == "We ship on Monday."
    (short,) = packing.compress_documents([document], "how many days do refunds take")
    assert short.page_content == "Refunds take five days."


def test_budget_template_and_counter_are_the_cores() -> None:
    seen: list[Any] = []
    packing = PackDocuments(
        "greedy",
        budget=Budget(100, reserve=60),
        metric="rank",
        count_tokens=len,
        template=Template("<{id}>{content}", separator="\n"),
        on_packed=seen.append,
    )
    found = packing.invoke(
        [Document("x" * 10, id="a"), Document("y" * 10, id="b"), Document("z" * 30, id="c")]
    )
    assert ids(found) == ["a", "b"]
    assert seen[0].text() == "<a>xxxxxxxxxx\n<b>yyyyyyyyyy"
    assert seen[0].report.rendered_tokens == 27


def test_a_budget_for_one_request() -> None:
    packing = PackDocuments("greedy", budget=1, metric="rank")
    chosen = packing.configurable_fields(budget=ConfigurableField(id="budget"))
    documents = [Document("four", id="a"), Document("five", id="b")]
    assert ids(chosen.invoke(documents)) == ["a"]
    assert ids(chosen.invoke(documents, config={"configurable": {"budget": 2}})) == ["a", "b"]
    assert ids(packing.model_copy(update={"budget": 2}).invoke(documents)) == ["a", "b"]
    assert ids(pickle.loads(pickle.dumps(packing)).invoke(documents)) == ["a"]


def test_the_policy_is_text_or_a_policy() -> None:
    policy = dedup(0.9) | mmr(0.7) | ushape
    made = PackDocuments(str(policy), budget=10, metric="rank")
    assert made.policy == policy
    assert repr(made) == f"PackDocuments(policy={policy}, budget=10, metric='rank')"


# -- embeddings ----------------------------------------------------------------------------


@pytest.mark.parametrize("wait", [False, True])
def test_a_function_of_the_documents_embeds(*, wait: bool) -> None:
    asked: list[list[str | None]] = []

    def vectors(documents: Sequence[Any]) -> Any:
        asked.append(ids(documents))
        return np.eye(3)[[0, 0, 1]]

    async def later(documents: Sequence[Any]) -> Any:
        await asyncio.sleep(0)
        return vectors(documents)

    documents = [Document("a", id="a"), Document("b", id="b"), Document("c", id="c")]
    packing = PackDocuments(
        'dedup(0.9, metric="cosine") | greedy',
        budget=9,
        metric="rank",
        embeddings=later if wait else vectors,
    )
    assert ids(asyncio.run(packing.ainvoke(documents))) == ["a", "c"]
    assert asked == [["a", "b", "c"]]
    if wait:
        with pytest.raises(PackError, match="call the async form") as caught:
            packing.invoke(documents)
        assert caught.value.code == "INVALID_PARAMETER"
    else:
        assert ids(packing.invoke(documents)) == ["a", "c"]


def test_an_embeddings_object_is_awaited() -> None:
    documents = [Document(text, id=name) for name, text in DOCUMENTS.items()]
    packing = PackDocuments(POLICY, budget=100, metric="rank", embeddings=Waiting())
    found = asyncio.run(packing.acompress_documents(documents, QUERY))
    assert "returns-copy" not in ids(found)


def test_a_store_gives_its_vectors_by_id(store: Any) -> None:
    asked: list[Any] = []

    def see(chunks: Any, _: Any) -> Any:
        asked.extend(chunks)
        return chunks

    PackDocuments(custom(see), budget=500, metric="rank", embeddings=store).invoke(
        store.similarity_search(QUERY, k=2)
    )
    for chunk in asked:
        assert np.array_equal(chunk.embedding, np.array(embed([chunk.content])[0], np.float32))


def test_chroma_gives_its_vectors_by_id() -> None:
    chroma = need_in_test("langchain_chroma")
    filled = chroma.Chroma(
        "langchain", Words(), collection_configuration={"hnsw": {"space": "cosine"}}
    )
    filled.add_texts(list(DOCUMENTS.values()), ids=list(DOCUMENTS))
    retriever = ContextualCompressionRetriever(
        base_retriever=ScoredRetriever(store=filled, k=6),
        base_compressor=PackDocuments(
            POLICY, budget=40, metric="cosine_distance", score_key="score", embeddings=filled
        ),
    )
    assert ids(retriever.invoke(QUERY)) == packed_by_hand(40)


def test_a_store_that_cannot_be_read_back() -> None:
    class Other(InMemoryVectorStore):
        def __init__(self) -> None:
            self.embedding = Words()

    packing = PackDocuments(greedy, budget=50, metric="rank", embeddings=Other())
    with pytest.raises(PackError, match="embeddings= is a Other, which has no common way"):
        packing.invoke([Document("x", id="x")])


def test_a_document_that_the_store_does_not_know(store: Any) -> None:
    packing = PackDocuments(POLICY, budget=50, metric="rank", embeddings=store)
    with pytest.raises(PackError, match=r"has no vector for \['other', 'document 1'\]") as caught:
        packing.invoke([Document("x", id="other"), Document("y")])
    assert caught.value.code == "MISSING_EMBEDDINGS"


def test_missing_embeddings_name_the_argument() -> None:
    packing = PackDocuments(POLICY, budget=50, metric="rank")
    with pytest.raises(PackError, match="pass embeddings= to PackDocuments") as caught:
        packing.invoke([Document("x"), Document("y")])
    assert caught.value.code == "MISSING_EMBEDDINGS"
    assert caught.value.details["ids"] == ("chunk-0", "chunk-1")


# -- refusals ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        ([Document("x")], "INVALID_CHUNK", "document 0 has no score, and no score_key says where"),
        (
            [(Document("x", id="a"), float("nan"))],
            "INVALID_CHUNK",
            r"row 0 \('a'\) has the distance nan",
        ),
        ([(Document("x"), None)], "INVALID_CHUNK", "has the distance None"),
        ([(Document("x"), -0.5)], "INVALID_PARAMETER", "no l2 is. Pass the metric"),
        (["x"], "INVALID_CHUNK", "item 0 is 'x'; give Documents or"),
        ("x", "INVALID_CHUNK", "the input is 'x'; give a list of Documents"),
        ({"docs": []}, "INVALID_CHUNK", r"the input has the keys \['docs'\]"),
        (7, "INVALID_CHUNK", "the input is 7"),
    ],
)
def test_what_has_no_score(given: Any, code: str, told: str) -> None:
    with pytest.raises(PackError, match=told) as caught:
        PackDocuments(greedy, budget=50, metric="l2").invoke(given)
    assert caught.value.code == code


def test_a_score_key_that_is_not_there() -> None:
    packing = PackDocuments(greedy, budget=50, metric="similarity", score_key="relevance_score")
    with pytest.raises(PackError, match=r"no metadata\['relevance_score'\] \(it has \['score'\]\)"):
        packing.invoke([Document("x", metadata={"score": 1.0})])
    with pytest.raises(PackError, match=r"\(it has \['1', 'score'\]\)"):
        packing.invoke([Document("x", metadata={"score": 1.0, cast("Any", 1): 2})])


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"policy": "greedyy"}, "did you mean greedy"),
        ({"budget": 0}, "budget is 0"),
        ({"metric": "distance"}, "metric is 'distance'; say what kind of number"),
        ({"metric": "rank", "score_key": "score"}, "looks at no score"),
        ({"embeddings": [[0.1]]}, "give a VectorStore, an Embeddings object or a function"),
        ({"overhead": -1}, "overhead is -1"),
    ],
)
def test_bad_arguments_fail_when_it_is_made(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(PackError, match=told):
        PackDocuments(**{"policy": greedy, "budget": 50, "metric": "similarity", **changed})


def test_as_many_vectors_as_documents() -> None:
    packing = PackDocuments(greedy, budget=50, metric="rank", embeddings=lambda _: [[1.0]])
    with pytest.raises(PackError, match="gave 1 vectors for 2 documents"):
        packing.invoke([Document("x"), Document("y")])
