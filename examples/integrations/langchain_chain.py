"""LangChain: vector store -> retriever that keeps scores -> packer -> prompt."""

from knowledge import BUDGET, POLICY, QUESTION, documents, embed
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from packer.integrations.langchain import PackDocuments, ScoredRetriever


class Words(Embeddings):
    """The embedding that stands in for your model."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return embed(texts)

    def embed_query(self, text: str) -> list[float]:
        return embed([text])[0]


def joined(found: list[Document]) -> str:
    """The documents as one text."""
    return "\n\n".join(document.page_content for document in found)


store = InMemoryVectorStore(Words())
store.add_documents(
    [Document(row["content"], id=row["id"], metadata=row["metadata"]) for row in documents()]
)
packing = PackDocuments(
    POLICY,
    budget=BUDGET,
    metric="similarity",  # InMemoryVectorStore gives cosines; Chroma and FAISS give distances
    score_key="score",
    embeddings=store,
    on_packed=lambda packed: print(f"{len(packed)} in, {packed.report.excluded_count} out"),
)
retriever = ScoredRetriever(store=store, k=50) | packing
prompt = ChatPromptTemplate.from_template("Sources:\n\n{context}\n\nQuestion: {question}")
chain = {"context": retriever | joined, "question": RunnablePassthrough()} | prompt

print(chain.invoke(QUESTION).to_string())

report = retriever.invoke(QUESTION)[0].metadata["packer"]["report"]
for out in report["excluded"][:3]:
    print(f"{out['id']} is out, {out['reason']}, by {out['stage']}: {out['detail']}")
