import asyncio
import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from packer import Budget, Chunk, PackError, Template, TokenCounter, pack, tokenizer
from strategies import custom, dedup, greedy, mmr, parse, sorted_by, top, trim, ushape
from tests.generators import policies

from .library import BEST, DOCUMENTS, QUERY, SOURCES, cosine, embed
from .packages import need

need("haystack")

from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.core.errors import DeserializationError
from haystack.document_stores.in_memory import InMemoryDocumentStore

from packer.integrations.haystack import DocumentPacker

POLICY = 'dedup(0.9, metric="cosine") | mmr(0.7) | ushape'
TRUSTED = ["packer.integrations", "tests.integrations"]


@component
class Embedder:
    """The query's vector."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": embed([text])[0]}


def words(text: str) -> int:
    """A counter that can be imported."""
    return len(text.split())


@pytest.fixture
def store() -> Any:
    filled = InMemoryDocumentStore(embedding_similarity_function="cosine")
    filled.write_documents(
        [
            Document(
                content=text, id=name, meta={"source": SOURCES[name]}, embedding=embed([text])[0]
            )
            for name, text in DOCUMENTS.items()
        ]
    )
    return filled


def pipeline(store: Any, packing: Any) -> Any:
    made = Pipeline()
    made.add_component("embedder", Embedder())
    made.add_component(
        "retriever", InMemoryEmbeddingRetriever(store, top_k=6, return_embedding=True)
    )
    made.add_component("packer", packing)
    made.add_component(
        "prompt", PromptBuilder("{{context}}\n\nQuestion: {{question}}", required_variables="*")
    )
    made.connect("embedder.embedding", "retriever.query_embedding")
    made.connect("retriever.documents", "packer.documents")
    made.connect("packer.text", "prompt.context")
    return made


def ids(documents: Any) -> list[str]:
    return [document.id for document in documents]


def asked(query: str = QUERY) -> dict[str, Any]:
    return {"embedder": {"text": query}, "packer": {"query": query}, "prompt": {"question": query}}


def packed_by_hand(budget: int) -> list[str]:
    """What the core packs from the same texts, scores and vectors."""
    chunks = [
        Chunk(text, cosine(QUERY, text), id=name, embedding=embed([text])[0])
        for name, text in DOCUMENTS.items()
    ]
    chunks.sort(key=lambda chunk: -chunk.score)
    return [chunk.id for chunk in pack(chunks, parse(POLICY), budget=budget)]


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("loaded", [False, True])
def test_documents_store_retriever_packer_prompt(store: Any, *, wait: bool, loaded: bool) -> None:
    made = pipeline(store, DocumentPacker(POLICY, budget=40))
    if loaded:
        made = Pipeline.loads(made.dumps(), allowed_modules=TRUSTED)
    outputs = {"packer", "retriever"}
    if wait:
        answer = asyncio.run(made.run_async(asked(), include_outputs_from=outputs))
    else:
        answer = made.run(asked(), include_outputs_from=outputs)
    chosen = packed_by_hand(40)
    assert 0 < len(chosen) < len(DOCUMENTS)
    assert BEST in chosen
    assert "returns-copy" not in chosen
    found = answer["packer"]["documents"]
    assert ids(found) == chosen
    context = "\n\n".join(DOCUMENTS[name] for name in chosen)
    assert answer["prompt"]["prompt"] == f"{context}\n\nQuestion: {QUERY}"
    report = answer["packer"]["report"]
    assert report["policy"] == POLICY
    assert {out["id"] for out in report["excluded"]} == set(DOCUMENTS) - set(chosen)
    retrieved = {document.id: document for document in answer["retriever"]["documents"]}
    for place, document in enumerate(found):
        before = retrieved[document.id]
        assert document.meta.pop("packer")["position"] == place
        assert document == before


def test_a_pipeline_is_loaded_only_from_trusted_modules(store: Any) -> None:
    text = pipeline(store, DocumentPacker(POLICY, budget=40)).dumps()
    with pytest.raises(DeserializationError, match="not on the trusted-module allowlist"):
        Pipeline.loads(text, allowed_modules=["tests.integrations"])


@given(policies(wide=True))
def test_every_policy_with_a_text_is_written_down_and_read_again(policy: Any) -> None:
    made = DocumentPacker(policy, budget=10)
    if "custom" in str(policy) or "sorted_by" in str(policy):
        with pytest.raises(PackError, match="which no text brings back"):
            made.to_dict()
    else:
        again = DocumentPacker.from_dict(made.to_dict())
        assert again.packer.policy == policy
        assert again.to_dict() == made.to_dict()


def test_every_setting_is_written_down_and_read_again() -> None:
    made = DocumentPacker(
        dedup(0.9) | mmr(0.7) | ushape,
        Budget(500, reserve=100),
        metric="l2",
        overhead=3,
        count_tokens=tokenizer("o200k_base"),
        template=Template("<{id}>{content}", header="Sources:\n"),
        on_invalid="exclude",
        report_key=None,
    )
    text = Pipeline()
    text.add_component("packer", made)
    again = Pipeline.loads(text.dumps(), allowed_modules=TRUSTED).get_component("packer")
    assert again.packer == made.packer
    assert (again.metric, again.report_key) == ("l2", None)


def test_a_function_that_can_be_imported_counts() -> None:
    made = Pipeline()
    made.add_component("packer", DocumentPacker(greedy, 10, count_tokens=words))
    text = made.dumps()
    assert "tests.integrations.test_haystack.words" in text
    again = Pipeline.loads(text, allowed_modules=TRUSTED).get_component("packer")
    assert again.packer.count_tokens is words
    with pytest.raises(DeserializationError):
        Pipeline.loads(text, allowed_modules=["packer.integrations"])


@pytest.mark.parametrize(
    "count",
    [
        lambda text: len(text) + 1,
        TokenCounter("mine", len, estimated=False),
        functools.partial(len),
    ],
)
def test_a_counter_that_cannot_be_written_down(count: Any) -> None:
    with pytest.raises(PackError, match="cannot be written into a pipeline") as caught:
        DocumentPacker(greedy, 10, count_tokens=count).to_dict()
    assert caught.value.code == "INVALID_COUNTER"


@pytest.mark.parametrize("policy", [custom(lambda chunks, _: chunks), greedy | sorted_by(str)])
def test_a_policy_that_cannot_be_written_down(policy: Any) -> None:
    with pytest.raises(PackError, match="holds a Python function") as caught:
        DocumentPacker(policy, 10).to_dict()
    assert caught.value.code == "INVALID_POLICY"


# -- scores --------------------------------------------------------------------------------


def test_bm25_is_unbounded_and_a_policy_that_normalizes_takes_it() -> None:
    store = InMemoryDocumentStore()
    texts = [
        *DOCUMENTS.values(),
        *(f"{text} refunded refunded refunded" for text in DOCUMENTS.values()),
    ]
    store.write_documents([Document(content=text, id=str(at)) for at, text in enumerate(texts)])
    made = Pipeline()
    made.add_component("retriever", InMemoryBM25Retriever(store, top_k=12))
    made.add_component("packer", DocumentPacker('normalize("minmax") | mmr(0.7) | ushape', 60))
    made.connect("retriever.documents", "packer.documents")
    query = "refunded damaged goods refunded in full refunded within five days refunded"
    given = {"retriever": {"query": query}}
    answer = made.run(given, include_outputs_from={"retriever", "packer"})
    scores = [document.score for document in answer["retriever"]["documents"]]
    assert max(scores) > 1.0
    codes = {warning["code"] for warning in answer["packer"]["report"]["warnings"]}
    assert "unscaled-scores" not in codes
    bare = DocumentPacker("mmr(0.7)", 60).run(answer["retriever"]["documents"])
    assert "unscaled-scores" in {warning["code"] for warning in bare["report"]["warnings"]}


def test_a_document_without_a_score_is_refused_or_ranked() -> None:
    given = [Document(content=name, id=name) for name in "abcd"]
    with pytest.raises(
        PackError, match=r"row 0 \('a'\) has the score None.*metric=\"rank\""
    ) as caught:
        DocumentPacker(greedy, 9).run(given)
    assert caught.value.code == "INVALID_CHUNK"
    found = DocumentPacker(top(2) | greedy, 9, metric="rank").run(given)["documents"]
    assert [(one.id, one.meta["packer"]["score"], one.score) for one in found] == [
        ("a", 1.0, None),
        ("b", 0.75, None),
    ]


def test_distances_are_named() -> None:
    given = [
        Document(content="near", id="near", score=0.25),
        Document(content="far", id="far", score=1.0),
    ]
    assert ids(DocumentPacker(top(1) | greedy, 9, metric="l2").run(given)["documents"]) == ["near"]
    assert ids(DocumentPacker(top(1) | greedy, 9).run(given)["documents"]) == ["far"]


def test_missing_embeddings_name_the_argument() -> None:
    given = [Document(content=name, id=name, score=0.5) for name in "ab"]
    with pytest.raises(PackError, match="return_embedding=True") as caught:
        DocumentPacker(POLICY, 9).run(given)
    assert caught.value.code == "MISSING_EMBEDDINGS"


# -- documents -----------------------------------------------------------------------------


def test_documents_without_text_and_equal_ids() -> None:
    given = [
        Document(content="first", id="same", score=0.5),
        Document(content="second", id="same", score=0.5),
        Document(content=None, id="picture", score=0.9),
    ]
    answer = DocumentPacker(greedy, 9).run(given)
    assert [document.content for document in answer["documents"]] == ["first"]
    assert [(out["id"], out["reason"]) for out in answer["report"]["excluded"]] == [
        ("picture", "invalid"),
        ("same", "duplicate"),
    ]


def test_report_key_none_leaves_meta_alone() -> None:
    given = [Document(content="text", id="a", score=0.5, meta={"a": 1})]
    assert DocumentPacker(greedy, 9, report_key=None).run(given)["documents"] == given


def test_packing_again_packs_the_documents_and_not_the_old_note() -> None:
    packing = DocumentPacker("where(packer is None) | greedy", 9)
    once = packing.run([Document(content="text", id="a", score=0.5)])["documents"]
    assert packing.run(once)["documents"] == once


def test_a_shortened_document_is_a_copy() -> None:
    whole = Document(content="One sentence. Another sentence that is long.", id="a", score=0.5)
    answer = DocumentPacker(trim(1) | greedy, 4).run([whole])
    (cut,) = answer["documents"]
    assert (cut.content, cut.id, answer["text"]) == ("One sentence.", "a", "One sentence.")
    assert cut.meta["packer"]["original_tokens"] == 11
    assert whole.content == "One sentence. Another sentence that is long."
    assert whole.meta == {}


def test_query_and_budget_of_one_run() -> None:
    text = "Refunds take five days. We ship on Monday."
    given = [
        Document(content=text, id="a", score=0.5),
        Document(content="x" * 40, id="b", score=0.4),
    ]
    packing = DocumentPacker("shrink(0.6) | greedy", 6)
    answer = packing.run(given, query="when do you ship")
    assert answer["text"] == "We ship on Monday."
    assert len(packing.run(given, query="when do you ship", budget=100)["documents"]) == 2
    with pytest.raises(PackError, match="budget is 0"):
        packing.run(given, budget=0)


def test_a_template_writes_the_text_that_was_counted() -> None:
    given = [
        Document(content="x" * 10, id="a", score=0.5),
        Document(content="y" * 10, id="b", score=0.4),
    ]
    template = Template("<{id}>{content}", separator="\n")
    answer = DocumentPacker(
        greedy, 27, count_tokens=TokenCounter("characters", len, estimated=False), template=template
    ).run(given)
    assert answer["text"] == "<a>xxxxxxxxxx\n<b>yyyyyyyyyy"
    assert answer["report"]["rendered_tokens"] == 27


def test_embeddings_reach_the_stages() -> None:
    seen: list[Any] = []

    def see(chunks: Any, _: Any) -> Any:
        seen.extend(chunks)
        return chunks

    DocumentPacker(custom(see), 9).run(
        [Document(content="x", id="x", score=1.0, embedding=[0.5, 0.25])]
    )
    assert np.array_equal(seen[0].embedding, [0.5, 0.25])


def test_nothing_in() -> None:
    answer = DocumentPacker(greedy, 1).run([])
    assert (answer["documents"], answer["text"], answer["report"]["budget"]) == ([], "", 1)
