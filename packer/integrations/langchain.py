"""LangChain (langchain-core 1.x): documents in, documents out, the report in their metadata.

A `Document` has a text, an id and metadata, but neither a score nor an embedding.  Scores come
from ``(document, score)`` pairs or from a metadata key that is named; embeddings from the vector
store, an `Embeddings` object or a function.

Needs the extra ``chunk-packer[langchain]``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

try:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
        Callbacks,
    )
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableConfig, RunnableSerializable, run_in_executor
    from langchain_core.vectorstores import VectorStore
    from pydantic import ConfigDict
except ModuleNotFoundError as error:
    message = (
        f"packer.integrations.langchain needs {error.name}; "
        'install it with: pip install "chunk-packer[langchain]"'
    )
    raise ImportError(message, name=error.name) from error

from packer.algebra import Policy
from packer.budget import Budget
from packer.errors import InvalidChunk, InvalidParameter, MissingEmbeddings, shown
from packer.facade import Packer
from packer.intake import OnInvalid
from packer.records import Chunk, Packed
from packer.template import Template
from packer.tokens import CountTokens, approximate

from .natives import note, pack_natives, policy_of, summary
from .rows import listed
from .scores import RANK, Kind, checked_kind, scores
from .vectors import Embed, Vectors, as_many, awaited, called

__all__ = ["PackDocuments", "ScoredRetriever"]

Scored: TypeAlias = Document | tuple[Document, float]

_WHAT: Final = "documents"
_MEND: Final = (
    "pass embeddings= to PackDocuments: the vector store that has them, an Embeddings object, "
    "or a function from documents to vectors"
)


class PackDocuments(
    BaseDocumentCompressor,
    RunnableSerializable[Sequence[Scored] | Mapping[str, Any], list[Document]],
):
    """Which documents go into the prompt: a document compressor, and a Runnable.

    As a compressor it stands in a `ContextualCompressionRetriever`.  As a Runnable it takes a list
    of documents, a list of ``(document, score)`` pairs, or, where the policy looks at the query,
    ``{"documents": ..., "query": ...}``.  It gives the chosen documents in prompt order, copies
    with their ids; `page_content` differs only where a stage shortened it.

    `policy`: a policy or its text.  `budget`, `overhead`, `count_tokens`, `template` and
    `on_invalid` are those of `packer.pack`.  `metric`: what kind of number the scores are (see
    `packer.integrations.scores`), or "rank" where documents come best first and have no score:
    the first of n then has 1, the last 1/n.  `score_key`: the metadata key that has the score of
    documents that come without a pair.  `embeddings`: a `VectorStore` (vectors are fetched by
    the documents' ids), an `Embeddings` object, or a function from the documents to as many
    vectors, which may be async under `ainvoke`; asked once a call.  `report_key`: the metadata
    key under which every document carries its place, score and tokens, the first one also the
    report's summary; None leaves metadata alone.  `on_packed`: called with the whole `Packed`, also when nothing
    is in.

    Raises PackError: what `packer.pack` raises, INVALID_PARAMETER for a metric that contradicts a
    score, INVALID_CHUNK for documents without one, MISSING_EMBEDDINGS.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    policy: Any
    budget: Any
    metric: Any
    score_key: str | None = None
    embeddings: Any = None
    overhead: Any = 0
    count_tokens: Any = approximate
    template: Any = None
    on_invalid: Any = "raise"
    report_key: str | None = "packer"
    on_packed: Any = None

    def __init__(
        self,
        policy: Policy | str,
        *,
        budget: int | Budget,
        metric: Kind,
        score_key: str | None = None,
        embeddings: VectorStore | Embeddings | Embed | None = None,
        overhead: int = 0,
        count_tokens: CountTokens = approximate,
        template: Template | None = None,
        on_invalid: OnInvalid = "raise",
        report_key: str | None = "packer",
        on_packed: Callable[[Packed], object] | None = None,
        **given: Any,
    ) -> None:
        super().__init__(
            policy=policy_of(policy),
            budget=budget,
            metric=checked_kind(metric),
            score_key=score_key,
            embeddings=_checked_embeddings(embeddings),
            overhead=overhead,
            count_tokens=count_tokens,
            template=template,
            on_invalid=on_invalid,
            report_key=report_key,
            on_packed=on_packed,
            **given,
        )
        if metric == RANK and score_key is not None:
            text = f'metric="rank" looks at no score; leave out score_key={score_key!r}, or name the metric'
            raise InvalidParameter(text, details={"parameter": "metric", "score_key": score_key})
        self._packer()  # a bad argument fails here, not in the first request

    # -- the two interfaces ----------------------------------------------------------------

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The documents that go in, in prompt order."""
        del callbacks  # it calls nothing that reports to them
        return self._pack(list(documents), query)

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """As `compress_documents`; embeddings are awaited, packing runs in the executor."""
        del callbacks
        return await self._apack(list(documents), query)

    def invoke(
        self,
        input: Sequence[Scored] | Mapping[str, Any],  # noqa: A002 (Runnable's name for it)
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """The documents that go in, in prompt order."""
        return self._call_with_config(
            lambda given: self._pack(*_request(given)), input, config, **kwargs
        )

    async def ainvoke(
        self,
        input: Sequence[Scored] | Mapping[str, Any],  # noqa: A002 (Runnable's name for it)
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """As `invoke`; embeddings are awaited, packing runs in the executor."""

        async def run(given: Sequence[Scored] | Mapping[str, Any]) -> list[Document]:
            return await self._apack(*_request(given))

        return await self._acall_with_config(run, input, config, **kwargs)

    # -- what they share -------------------------------------------------------------------

    def _packer(self) -> Packer:
        """Made for every call, so that it is what the fields say now (`model_copy`, configurable fields)."""
        return Packer(
            policy_of(self.policy),
            budget=self.budget,
            overhead=self.overhead,
            count_tokens=self.count_tokens,
            template=self.template,
            on_invalid=self.on_invalid,
        )

    def _pack(self, given: Sequence[Scored], query: str | None) -> list[Document]:
        documents, scores = self._scored(given)
        return self._packed(documents, scores, self._vectors(documents), query)

    async def _apack(self, given: Sequence[Scored], query: str | None) -> list[Document]:
        documents, scores = self._scored(given)
        vectors = await self._avectors(documents)
        return await run_in_executor(None, self._packed, documents, scores, vectors, query)

    def _packed(
        self,
        documents: Sequence[Document],
        scores: Sequence[float],
        vectors: Vectors | None,
        query: str | None,
    ) -> list[Document]:
        chunks = [
            Chunk(
                document.page_content,
                scores[at],
                id=document.id,
                embedding=None if vectors is None else vectors[at],
                metadata=self._foreign(document),
            )
            for at, document in enumerate(documents)
        ]
        packed, found = pack_natives(self._packer(), chunks, query=query, mend=_MEND)
        if self.on_packed is not None:
            self.on_packed(packed)
        report = summary(packed.report)
        out = []
        for at, chunk in found:
            changed: dict[str, Any] = {}
            if self.report_key is not None:
                changed["metadata"] = {
                    **documents[at].metadata,
                    self.report_key: note(chunk, report),
                }
            if chunk.original_tokens is not None:
                changed["page_content"] = chunk.content
            out.append(documents[at].model_copy(update=changed))
        return out

    def _foreign(self, document: Document) -> dict[str, Any]:
        """The document's metadata without what an earlier packer wrote."""
        return {key: value for key, value in document.metadata.items() if key != self.report_key}

    def _scored(self, given: Sequence[Scored]) -> tuple[list[Document], list[float]]:
        documents, values = [], []
        for at, item in enumerate(given):
            paired = isinstance(item, tuple | list) and len(item) == 2
            document, value = item if paired else (item, None)
            if not isinstance(document, Document):
                text = f"item {at} is {shown(item)}; give Documents or (Document, score) pairs"
                raise InvalidChunk(text, details={"position": at, "value": item})
            documents.append(document)
            if not paired and self.metric != RANK:
                value = self._named_score(document, at)
            values.append(value)
        ids = [document.id for document in documents]
        mend = f"see what writes metadata[{self.score_key!r}], or the pair"
        return documents, scores(values, ids, self.metric, mend=mend)

    def _named_score(self, document: Document, at: int) -> Any:
        if self.score_key is not None and self.score_key in document.metadata:
            return document.metadata[self.score_key]
        if self.score_key is None:
            fault = "has no score, and no score_key says where in its metadata one is"
        else:
            has = shown(listed(document.metadata))
            fault = f"has no metadata[{self.score_key!r}] (it has {has})"
        where = f"document {at}" if document.id is None else f"document {at} ({document.id!r})"
        text = (
            f"{where} {fault}; pass (document, score) pairs, a retriever that writes scores "
            '(ScoredRetriever) and score_key=..., or metric="rank" where the order is all there is'
        )
        raise InvalidChunk(text, details={"score_key": self.score_key, "position": at})

    # -- embeddings ------------------------------------------------------------------------

    def _vectors(self, documents: Sequence[Document]) -> Vectors | None:
        source = self.embeddings
        if source is None or not documents:
            return None
        if isinstance(source, VectorStore):
            return _stored(source, documents)
        if isinstance(source, Embeddings):
            return as_many(source.embed_documents(_texts(documents)), documents, _WHAT)
        return called(source, documents, _WHAT)

    async def _avectors(self, documents: Sequence[Document]) -> Vectors | None:
        source = self.embeddings
        if source is None or not documents:
            return None
        if isinstance(source, VectorStore):
            return await run_in_executor(None, _stored, source, documents)
        if isinstance(source, Embeddings):
            return as_many(await source.aembed_documents(_texts(documents)), documents, _WHAT)
        return await awaited(source, documents, _WHAT)


def _request(given: Any) -> tuple[Sequence[Scored], str | None]:
    """The documents and the query of a Runnable's input."""
    query = None
    if isinstance(given, Mapping):
        if "documents" not in given:
            text = f'the input has the keys {shown(listed(given))}; give {{"documents": ..., "query": ...}}'
            raise InvalidChunk(text, details={"keys": listed(given)})
        given, query = given["documents"], given.get("query")
    if isinstance(given, str | Document) or not isinstance(given, Iterable):
        text = (
            f"the input is {shown(given)}; give a list of Documents or of (Document, score) pairs"
        )
        raise InvalidChunk(text, details={"value": given})
    return list(given), query


def _texts(documents: Sequence[Document]) -> list[str]:
    return [document.page_content for document in documents]


def _checked_embeddings(source: Any) -> Any:
    if source is None or callable(source) or isinstance(source, VectorStore | Embeddings):
        return source
    text = f"embeddings is {shown(source)}; give a VectorStore, an Embeddings object or a function"
    raise InvalidParameter(text, details={"parameter": "embeddings", "value": source})


def _stored(store: VectorStore, documents: Sequence[Document]) -> Vectors:
    """The vectors that a store has for these documents, by their ids."""
    ids = [document.id for document in documents if document.id is not None]
    if isinstance(rows := getattr(store, "store", None), Mapping):  # InMemoryVectorStore
        vectors = {id_: rows[id_]["vector"] for id_ in ids if id_ in rows}
    elif hasattr(store, "get") and hasattr(store, "_collection"):  # Chroma
        found = store.get(ids=ids, include=["embeddings"])
        vectors = dict(zip(found["ids"], found["embeddings"], strict=True))
    else:
        text = (
            f"embeddings= is a {type(store).__name__}, which has no common way to read vectors "
            "back; pass a function from documents to vectors, or an Embeddings object"
        )
        raise InvalidParameter(text, details={"parameter": "embeddings", "value": store})
    bare = [
        document.id or f"document {at}"
        for at, document in enumerate(documents)
        if document.id not in vectors
    ]
    if bare:
        text = (
            f"the store given as embeddings= has no vector for {shown(bare)}; are these documents "
            "from that store, with their ids? An Embeddings object or a function needs no ids"
        )
        raise MissingEmbeddings(text, details={"parameter": "embeddings", "ids": tuple(bare)})
    return [vectors[document.id] for document in documents if document.id is not None]


class ScoredRetriever(BaseRetriever):
    """A vector store as a retriever that writes each document's score into its metadata.

    ``as_retriever()`` drops the scores, and a `ContextualCompressionRetriever` passes documents
    alone; with this one the packer finds them under `score_key`, as the store gave them, so that
    the packer's `metric` is the store's.  `k`: how many to retrieve; give the packer more than
    will fit.  `search`: further arguments of `similarity_search_with_score`, e.g. ``filter``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: VectorStore
    k: int = 50
    score_key: str = "score"
    search: dict[str, Any] = {}  # noqa: RUF012  # pydantic copies a default

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        return self._written(
            self.store.similarity_search_with_score(query, k=self.k, **self.search)
        )

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        pairs = await self.store.asimilarity_search_with_score(query, k=self.k, **self.search)
        return self._written(pairs)

    def _written(self, pairs: Iterable[tuple[Document, float]]) -> list[Document]:
        return [
            document.model_copy(
                update={"metadata": {**document.metadata, self.score_key: float(found)}}
            )
            for document, found in pairs
        ]
