"""LlamaIndex: index -> query engine with the packer as its postprocessor -> prompt.

`MockLLM` answers with the prompt that it was given.
"""

from knowledge import BUDGET, POLICY, QUESTION, documents, embed
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms.mock import MockLLM
from llama_index.core.schema import TextNode

from packer.integrations.llama_index import PackNodes


class Words(BaseEmbedding):
    """The embedding that stands in for your model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return embed([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return embed([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return embed([query])[0]


nodes = []
for row in documents():
    shown = {"source", "status", "updated"}  # what the model reads, and pays for
    hidden = sorted(set(row["metadata"]) - shown)
    nodes.append(
        TextNode(
            id_=row["id"],
            text=row["content"],
            metadata=row["metadata"],
            excluded_llm_metadata_keys=hidden,
            excluded_embed_metadata_keys=sorted(row["metadata"]),
        )
    )
index = VectorStoreIndex(nodes, embed_model=Words())
engine = index.as_query_engine(
    llm=MockLLM(),
    similarity_top_k=50,
    node_postprocessors=[PackNodes(POLICY, budget=BUDGET, embeddings=index.vector_store)],
)
answer = engine.query(QUESTION)
print(answer)

report = answer.source_nodes[0].metadata["packer"]["report"]
print(f"{report['rendered_tokens']} of {report['budget']} tokens by {report['counter']}")
for out in report["excluded"][:3]:
    print(f"{out['id']} is out, {out['reason']}, by {out['stage']}: {out['detail']}")
