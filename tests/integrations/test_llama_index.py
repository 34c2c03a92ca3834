import asyncio
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Budget, Chunk, PackError, approximate, pack
from strategies import custom, dedup, greedy, mmr, parse, top, trim, ushape

from .library import BEST, DOCUMENTS, QUERY, SOURCES, cosine, embed
from .packages import need

need("llama_index.core")

from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms.mock import MockLLM
from llama_index.core.schema import ImageNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.utils import get_tokenizer
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from packer.integrations.llama_index import PackNodes

POLICY = 'dedup(0.9, metric="cosine") | mmr(0.7) | ushape'


class Words(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return embed([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return embed([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return embed([query])[0]


def count(text: str) -> int:
    return len(get_tokenizer()(text))


def node(text: str, id_: str = "a", **given: Any) -> Any:
    return NodeWithScore(node=TextNode(text=text, id_=id_, **given), score=0.5)


def ids(nodes: Sequence[Any]) -> list[str]:
    return [one.node_id for one in nodes]


def written(nodes: Sequence[Any]) -> str:
    """What LlamaIndex puts into the prompt."""
    return "\n\n".join(one.get_content(MetadataMode.LLM).strip() for one in nodes)


@pytest.fixture
def index() -> Any:
    nodes = [
        TextNode(
            text=text,
            id_=name,
            metadata={"source": SOURCES[name], "secret": "not for the model"},
            excluded_llm_metadata_keys=["secret"],
            excluded_embed_metadata_keys=["secret", "source"],
        )
        for name, text in DOCUMENTS.items()
    ]
    return VectorStoreIndex(nodes, embed_model=Words())


def packed_by_hand(budget: int) -> list[str]:
    """What the core packs from the same texts, scores, vectors and costs."""
    chunks = [
        Chunk(
            text,
            cosine(QUERY, text),
            id=name,
            embedding=embed([text])[0],
            tokens=count(f"source: {SOURCES[name]}\n\n{text}\n\n"),
        )
        for name, text in DOCUMENTS.items()
    ]
    chunks.sort(key=lambda chunk: -chunk.score)
    return [chunk.id for chunk in pack(chunks, parse(POLICY), budget=budget)]


@pytest.mark.parametrize("wait", [False, True])
def test_documents_index_query_engine_packer_prompt(index: Any, *, wait: bool) -> None:
    engine = index.as_query_engine(
        llm=MockLLM(),  # answers with its prompt
        similarity_top_k=6,
        node_postprocessors=[PackNodes(POLICY, budget=60, embeddings=index.vector_store)],
    )
    answer = asyncio.run(engine.aquery(QUERY)) if wait else engine.query(QUERY)
    chosen = packed_by_hand(60)
    assert 0 < len(chosen) < len(DOCUMENTS)
    assert BEST in chosen
    assert "returns-copy" not in chosen
    assert ids(answer.source_nodes) == chosen
    context = "\n\n".join(f"source: {SOURCES[name]}\n\n{DOCUMENTS[name]}" for name in chosen)
    assert f"---------------------\n{context}\n---------------------" in str(answer)
    report = answer.source_nodes[0].metadata["packer"]["report"]
    assert report["rendered_tokens"] == report["tokens_used"] == count(context) <= 60
    assert "packer" not in str(answer)
    assert {out["id"] for out in report["excluded"]} == set(DOCUMENTS) - set(chosen)


def test_the_callers_nodes_stay_as_they_were(index: Any) -> None:
    nodes = index.as_retriever(similarity_top_k=6).retrieve(QUERY)
    before = [one.to_dict() for one in nodes]
    found = PackNodes(greedy, budget=500).postprocess_nodes(nodes)
    assert [one.to_dict() for one in nodes] == before
    assert [one.score for one in found] == [one.score for one in nodes]
    for place, one in enumerate(found):
        note = one.metadata["packer"]
        assert (note["position"], note["id"]) == (place, one.node_id)
        assert note["tokens"] == count(one.get_content(MetadataMode.LLM))
        for mode in (MetadataMode.LLM, MetadataMode.EMBED, MetadataMode.NONE):
            assert one.get_content(mode) == nodes[place].get_content(mode)


def test_report_key_none_leaves_nodes_alone() -> None:
    given = [node("text", metadata={"a": 1})]
    assert PackNodes(greedy, budget=9, report_key=None).postprocess_nodes(given) == given


def test_packing_again_packs_the_nodes_and_not_the_old_report() -> None:
    packing = PackNodes(greedy, budget=50)
    once = packing.postprocess_nodes([node("text", metadata={"a": 1})])
    (twice,) = packing.postprocess_nodes(once)
    assert twice.metadata["packer"]["tokens"] == once[0].metadata["packer"]["tokens"]
    assert twice.metadata["packer"]["report"]["excluded"] == []


def test_metadata_that_the_model_reads_is_paid_for() -> None:
    long = {"file": "a-long-name-of-a-file"}
    seen: list[Any] = []
    packing = PackNodes(greedy, budget=20, count_tokens=len, on_packed=seen.append)
    found = packing.postprocess_nodes(
        [
            node("bare", "bare"),
            node("noted", "noted", metadata=long),
            node("four", "hidden", metadata=long, excluded_llm_metadata_keys=["file"]),
        ]
    )
    assert ids(found) == ["bare", "hidden"]
    assert seen[0].text() == written(found) == "bare\n\nfour"
    assert seen[0].why("noted") == "noted is out, budget, by greedy: needs 26 more tokens"


TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@given(
    parts=st.lists(st.tuples(TEXTS, TEXTS, st.booleans(), st.floats(0, 1)), max_size=6),
    budget=st.integers(1, 60),
    policy=st.sampled_from(
        ["greedy", "trim(1) | greedy | ushape", "shrink(0.6) | prefix", "dedup(0.5) | density"]
    ),
    template=st.sampled_from(
        ["{metadata_str}\n\n{content}", "<{content}>\n{metadata_str}", "{content}"]
    ),
)
def test_what_llama_index_writes_is_what_was_counted_and_fits(
    parts: Any, budget: int, policy: str, template: str
) -> None:
    nodes = [
        NodeWithScore(
            node=TextNode(
                text=text,
                id_=str(at),
                metadata={"note": note},
                excluded_llm_metadata_keys=["note"] if hidden else [],
                text_template=template,
            ),
            score=score,
        )
        for at, (text, note, hidden, score) in enumerate(parts)
    ]
    seen: list[Any] = []
    packing = PackNodes(policy, budget=budget, count_tokens=len, on_packed=seen.append)
    found = packing.postprocess_nodes(nodes, query_str="a query")
    assert len(written(found)) <= budget
    assert seen[0].text() == written(found)
    assert len(found) + len(seen[0].report.excluded) == len(nodes)


@pytest.mark.parametrize(
    "template", ["{metadata_str}\n{content}", "{content}{metadata_str}", "{content}"]
)
def test_blanks_around_a_shortened_text_stay_and_are_counted(template: str) -> None:
    text = " \n One sentence. Another sentence that is long. \n "
    whole = node(text, metadata={"file": "f"}, text_template=template)
    seen: list[Any] = []
    packing = PackNodes(trim(1) | greedy, budget=30, count_tokens=len, on_packed=seen.append)
    found = packing.postprocess_nodes([whole])
    assert found[0].node.text == " \n One sentence. \n "
    assert seen[0].text() == written(found)
    assert seen[0].report.rendered_tokens == len(written(found))


def test_a_shortened_node_is_a_copy() -> None:
    whole = node("One sentence. Another sentence that is long.", metadata={"file": "f"})
    (cut,) = PackNodes(trim(1) | greedy, budget=25, count_tokens=len).postprocess_nodes([whole])
    assert cut.get_content(MetadataMode.LLM) == "file: f\n\nOne sentence."
    assert cut.metadata["packer"]["tokens"] == 22
    assert cut.metadata["packer"]["original_tokens"] == 44
    assert cut.node_id == "a"
    assert whole.text == "One sentence. Another sentence that is long."


def test_equal_ids_and_nodes_without_text() -> None:
    seen: list[Any] = []
    given = [node("first", "same"), node("second", "same"), node(" ", "blank")]
    given.append(NodeWithScore(node=ImageNode(id_="image", image_url="x"), score=0.5))
    found = PackNodes(greedy, budget=50, on_packed=seen.append).postprocess_nodes(given)
    assert [one.text for one in found] == ["first"]
    assert [(out.id, out.reason.value) for out in seen[0].report.excluded] == [
        ("blank", "invalid"),
        ("image", "invalid"),
        ("same", "duplicate"),
    ]


def test_the_query_reaches_the_stages() -> None:
    given = [node("Refunds take five days. We ship on Monday.")]
    packing = PackNodes("shrink(0.6) | greedy", budget=100, count_tokens=approximate)
    (short,) = packing.postprocess_nodes(given, QueryBundle("when do you ship"))
    assert short.text == "We ship on Monday."


def test_nothing_in() -> None:
    seen: list[Any] = []
    packing = PackNodes(greedy, budget=1, count_tokens=len, on_packed=seen.append)
    assert packing.postprocess_nodes([]) == []
    assert packing.postprocess_nodes([node("long")]) == []
    assert seen[1].why("a") == "a is out, budget, by greedy: needs 3 more tokens"


def test_conditions_may_name_the_document() -> None:
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo

    def of(document: str, name: str) -> Any:
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)}
        return node(name, name, relationships=source)

    packing = PackNodes('cap(1, by="ref_doc_id") | greedy', budget=50)
    assert ids(packing.postprocess_nodes([of("x", "a"), of("x", "b"), of("y", "c")])) == ["a", "c"]


# -- embeddings ----------------------------------------------------------------------------


def vectors_seen(embeddings: Any, nodes: Sequence[Any], *, wait: bool) -> dict[str, Any]:
    asked: list[Any] = []

    def see(chunks: Any, _: Any) -> Any:
        asked.extend(chunks)
        return chunks

    packing = PackNodes(custom(see), budget=500, embeddings=embeddings)
    if wait:
        asyncio.run(packing.apostprocess_nodes(nodes))
    else:
        packing.postprocess_nodes(nodes)
    return {chunk.id: chunk.embedding for chunk in asked}


@pytest.mark.parametrize("wait", [False, True])
def test_embeddings_come_from_whoever_is_asked(index: Any, *, wait: bool) -> None:
    nodes = index.as_retriever(similarity_top_k=6).retrieve(QUERY)
    assert all(one.embedding is None for one in nodes)
    sources = [index.vector_store, Words(), lambda found: embed([one.text for one in found])]
    for source in sources:
        seen = vectors_seen(source, nodes, wait=wait)
        assert set(seen) == set(DOCUMENTS)
        for name, vector in seen.items():
            assert np.array_equal(vector, np.array(embed([DOCUMENTS[name]])[0], np.float32))
    assert set(vectors_seen(None, nodes, wait=wait).values()) == {None}


class Nodes(BasePydanticVectorStore):
    """A store that keeps whole nodes, in any order."""

    stores_text: bool = True
    kept: dict[str, Any] = {}  # noqa: RUF012  # pydantic copies a default

    @property
    def client(self) -> Any:
        return None

    def add(self, nodes: Sequence[Any], **_: Any) -> list[str]:
        self.kept.update({one.node_id: one for one in nodes})
        return ids(nodes)

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        raise NotImplementedError

    def query(self, query: Any, **_: Any) -> Any:
        raise NotImplementedError

    def get_nodes(self, node_ids: Any = None, filters: Any = None) -> list[Any]:
        return [one for id_, one in self.kept.items() if id_ in node_ids]


def test_a_store_that_keeps_nodes_gives_their_embeddings() -> None:
    store = Nodes()
    store.add(
        [TextNode(text=name, id_=name, embedding=[float(at)]) for at, name in enumerate("abc")]
    )
    seen = vectors_seen(store, [node("c", "c"), node("a", "a")], wait=False)
    assert {name: vector.tolist() for name, vector in seen.items()} == {"c": [2.0], "a": [0.0]}
    with pytest.raises(PackError, match="the Nodes given as embeddings= has no vector"):
        vectors_seen(store, [node("d", "d")], wait=False)


def test_only_nodes_without_an_embedding_are_asked_for() -> None:
    asked: list[list[str]] = []

    def vectors(nodes: Sequence[Any]) -> Any:
        asked.append(ids(nodes))
        return [[0.0, 1.0]] * len(nodes)

    seen = vectors_seen(vectors, [node("x", "x", embedding=[1.0, 0.0]), node("y", "y")], wait=False)
    assert asked == [["y"]]
    assert {name: vector.tolist() for name, vector in seen.items()} == {
        "x": [1.0, 0.0],
        "y": [0.0, 1.0],
    }


def test_an_async_function_embeds_where_the_engine_is_async() -> None:
    async def vectors(nodes: Sequence[Any]) -> Any:
        await asyncio.sleep(0)
        return [[1.0]] * len(nodes)

    assert vectors_seen(vectors, [node("x")], wait=True)["a"].tolist() == [1.0]
    with pytest.raises(PackError, match="embeddings= is async"):
        vectors_seen(vectors, [node("x")], wait=False)


def test_a_node_that_the_store_does_not_know(index: Any) -> None:
    packing = PackNodes(greedy, budget=50, embeddings=index.vector_store)
    with pytest.raises(
        PackError, match=r"SimpleVectorStore given as embeddings= .* \['other'\]"
    ) as caught:
        packing.postprocess_nodes([node("x", "other")])
    assert caught.value.code == "MISSING_EMBEDDINGS"


def test_as_many_vectors_as_nodes() -> None:
    packing = PackNodes(greedy, budget=50, embeddings=lambda _: [[1.0]])
    with pytest.raises(PackError, match="gave 1 vectors for 2 nodes; give one for each"):
        packing.postprocess_nodes([node("x", "x"), node("y", "y")])


def test_a_store_that_gives_no_nodes_back() -> None:
    class Bare(Nodes):
        def get_nodes(self, node_ids: Any = None, filters: Any = None) -> list[Any]:
            raise NotImplementedError

    with pytest.raises(PackError, match="the Bare given as embeddings= has no vector to give"):
        vectors_seen(Bare(), [node("x")], wait=False)


def test_missing_embeddings_name_the_argument() -> None:
    packing = PackNodes(POLICY, budget=50)
    with pytest.raises(PackError, match="pass embeddings= to PackNodes") as caught:
        packing.postprocess_nodes([node("x", "x"), node("y", "y")])
    assert caught.value.code == "MISSING_EMBEDDINGS"
    assert caught.value.details["ids"] == ("x", "y")


# -- scores, configuration -----------------------------------------------------------------


def test_a_node_without_a_score_is_refused_or_ranked() -> None:
    given = [NodeWithScore(node=TextNode(text=name, id_=name)) for name in "abcd"]
    with pytest.raises(
        PackError, match=r"row 0 \('a'\) has the score None.*metric=\"rank\""
    ) as caught:
        PackNodes(greedy, budget=50).postprocess_nodes(given)
    assert caught.value.code == "INVALID_CHUNK"
    found = PackNodes(top(2) | greedy, budget=50, metric="rank").postprocess_nodes(given)
    assert [(one.node_id, one.metadata["packer"]["score"], one.score) for one in found] == [
        ("a", 1.0, None),
        ("b", 0.75, None),
    ]


def test_distances_are_named() -> None:
    near = NodeWithScore(node=TextNode(text="near", id_="near"), score=0.25)
    far = NodeWithScore(node=TextNode(text="far", id_="far"), score=1.0)
    packing = PackNodes(top(1) | greedy, budget=50, metric="l2_squared")
    assert ids(packing.postprocess_nodes([near, far])) == ["near"]
    with pytest.raises(PackError, match="no l2_squared is"):
        packing.postprocess_nodes([NodeWithScore(node=TextNode(text="x"), score=-0.5)])


def test_it_is_written_down_and_read_again() -> None:
    policy = dedup(0.9) | mmr(0.7) | ushape
    made = PackNodes(policy, budget=Budget(100, reserve=40), count_tokens="utf8_estimate")
    text = made.to_json()
    again = PackNodes.from_json(text)
    assert (again.policy, again.budget) == (policy, Budget(100, reserve=40))
    assert again.to_json() == text
    assert made.class_name() == made.to_dict()["class_name"] == "PackNodes"
    own = PackNodes(greedy, budget=5)
    assert PackNodes.from_dict(own.to_dict()).count_tokens is own.count_tokens
    given = [node("some text of several words and more")]
    assert (
        pickle.loads(pickle.dumps(own)).postprocess_nodes(given)
        == own.postprocess_nodes(given)
        == []
    )


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"policy": "greedyy"}, "did you mean greedy"),
        ({"budget": 0}, "budget is 0"),
        ({"metric": "distance"}, "or 'rank' where their order is all that counts"),
        ({"embeddings": [[0.1]]}, "give a vector store, an embedding model or a function"),
        ({"count_tokens": "no-such"}, "no tokenizer 'no-such'"),
    ],
)
def test_bad_arguments_fail_when_it_is_made(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(PackError, match=told):
        PackNodes(**{"policy": greedy, "budget": 50, **changed})
