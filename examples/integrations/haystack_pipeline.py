"""Haystack: BM25 retriever -> packer -> prompt builder, written down as YAML and loaded again."""

from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from knowledge import BUDGET, QUESTION, documents

from packer.integrations.haystack import DocumentPacker

# BM25 scores have no upper bound: bring them to 0..1 before stages that weigh them
POLICY = 'current() | dedup(0.85) | normalize("minmax") | mmr(0.7) | ushape'

store = InMemoryDocumentStore()
store.write_documents(
    [Document(id=row["id"], content=row["content"], meta=row["metadata"]) for row in documents()]
)
pipeline = Pipeline()
pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=50))
pipeline.add_component("packer", DocumentPacker(POLICY, BUDGET))
pipeline.add_component(
    "prompt",
    PromptBuilder("Sources:\n\n{{context}}\n\nQuestion: {{question}}", required_variables="*"),
)
pipeline.connect("retriever.documents", "packer.documents")
pipeline.connect("packer.text", "prompt.context")

stored = pipeline.dumps()
pipeline = Pipeline.loads(stored, allowed_modules=["packer.integrations"])

answer = pipeline.run(
    {
        "retriever": {"query": QUESTION},
        "packer": {"query": QUESTION},
        "prompt": {"question": QUESTION},
    },
    include_outputs_from={"packer"},
)
print(answer["prompt"]["prompt"])
for out in answer["packer"]["report"]["excluded"][:3]:
    print(f"{out['id']} is out, {out['reason']}, by {out['stage']}: {out['detail']}")
