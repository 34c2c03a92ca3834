"""LlamaIndex (llama-index-core 0.14): a node postprocessor that fits what the LLM will read.

LlamaIndex renders a node as ``get_content(MetadataMode.LLM)``, its text with some of its metadata
before it, and joins nodes by two line breaks.  That is what is counted here, as a whole.  The
report stands in the nodes' metadata under a key that neither the LLM nor the embedding sees.

Needs the extra ``chunk-packer[llama-index]``.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import ConfigDict, Field, field_serializer
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
    from llama_index.core.utils import get_tokenizer
    from llama_index.core.vector_stores.types import BasePydanticVectorStore
except ModuleNotFoundError as error:
    message = (
        f"packer.integrations.llama_index needs {error.name}; "
        'install it with: pip install "chunk-packer[llama-index]"'
    )
    raise ImportError(message, name=error.name) from error

from packer.algebra import Policy
from packer.budget import Budget
from packer.errors import InvalidParameter, MissingEmbeddings, shown
from packer.facade import Packer
from packer.intake import OnInvalid
from packer.records import Chunk, Packed, PackedChunk
from packer.template import Template
from packer.tokens import CountTokens, TokenCounter, counter_name

from .counters import counter
from .natives import note, pack_natives, policy_of, summary
from .scores import Kind, checked_kind, scores
from .vectors import Embed, Vectors, as_many, awaited, called

__all__ = ["PackNodes"]

_WHAT: Final = "nodes"
_MEND: Final = (
    "pass embeddings= to PackNodes: the vector store that has them, an embedding model, or a "
    "function from nodes to vectors"
)
_NO_SCORE: Final = (
    "a postprocessor before this one may have added it; put that one after, or pass "
    'metric="rank" where the order is all there is'
)
_BEFORE: Final = "rendered_before"
_AFTER: Final = "rendered_after"
_FORM: Final = f"{{metadata[{_BEFORE}]}}{{content}}{{metadata[{_AFTER}]}}"


def _tokens(text: str) -> int:
    return len(get_tokenizer()(text))


_OWN: Final = TokenCounter("llama_index", _tokens, estimated=False)
"""LlamaIndex's global tokenizer, tiktoken's for gpt-3.5-turbo unless `set_global_tokenizer` said else."""


class PackNodes(BaseNodePostprocessor):
    r"""Which nodes go into the prompt, in what order, and why.

    Gives copies of the chosen nodes with their ids and scores; their text differs only where a
    stage shortened it.  The text that LlamaIndex makes of them (``get_content`` of each in LLM
    mode, joined by `separator`) costs at most the budget as a whole.

    `policy`: a policy or its text.  `budget`, `overhead` and `on_invalid` are those of
    `packer.pack`; the prompt around the context is not in the budget.  `count_tokens`: a counter
    or the name of one; LlamaIndex's global tokenizer when left out.  `metric`: what kind of
    number the nodes' scores are (see `packer.integrations.scores`; most stores of LlamaIndex give
    similarities), or "rank".  `embeddings`: nodes come from retrieval without them; a vector
    store that has them, an embedding model (which embeds the text in EMBED mode), or a function
    from nodes to as many vectors, which may be async where the query engine is; asked once a
    call, for the nodes that have none.  `report_key`: the metadata key of each node's place,
    tokens, on the first with the report's summary; None leaves metadata alone.  `on_packed`: called with the
    whole `Packed`, also when nothing is in.

    A node without text is set aside as `invalid`.  Metadata conditions may also look at
    ``ref_doc_id``.

    Raises PackError: what `packer.pack` raises, INVALID_CHUNK for a node without a score,
    MISSING_EMBEDDINGS.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    policy: Any
    budget: Any
    metric: Any = "similarity"
    overhead: Any = 0
    count_tokens: Any = None
    separator: str = "\n\n"
    on_invalid: Any = "raise"
    report_key: str | None = "packer"
    embeddings: Any = Field(default=None, exclude=True, repr=False)
    on_packed: Any = Field(default=None, exclude=True, repr=False)

    def __init__(
        self,
        policy: Policy | str,
        *,
        budget: int | Budget | Mapping[str, int],
        metric: Kind = "similarity",
        overhead: int = 0,
        count_tokens: CountTokens | str | None = None,
        separator: str = "\n\n",
        on_invalid: OnInvalid = "raise",
        report_key: str | None = "packer",
        embeddings: BasePydanticVectorStore | BaseEmbedding | Embed | None = None,
        on_packed: Callable[[Packed], object] | None = None,
        **given: Any,
    ) -> None:
        super().__init__(
            policy=policy_of(policy),
            budget=Budget(**budget) if isinstance(budget, Mapping) else budget,
            metric=checked_kind(metric),
            overhead=overhead,
            count_tokens=_counter(count_tokens),
            separator=separator,
            on_invalid=on_invalid,
            report_key=report_key,
            embeddings=_checked_embeddings(embeddings),
            on_packed=on_packed,
            **given,
        )
        self._packer()  # a bad argument fails here, not in the first request

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes it down."""
        return "PackNodes"

    @field_serializer("policy")
    def _policy_text(self, policy: Any) -> str:
        return str(policy)

    @field_serializer("budget")
    def _budget_parts(self, budget: Any) -> Any:
        return attrs.asdict(budget) if isinstance(budget, Budget) else budget

    @field_serializer("count_tokens")
    def _counter_name(self, count_tokens: Any) -> str:
        return counter_name(_counter(count_tokens))

    def _packer(self) -> Packer:
        return Packer(
            policy_of(self.policy),
            budget=self.budget,
            overhead=self.overhead,
            count_tokens=_counter(self.count_tokens),
            template=Template(_FORM, separator=self.separator),
            on_invalid=self.on_invalid,
        )

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        bare = [one.node for one in nodes if one.node.embedding is None]
        return self._packed(nodes, self._vectors(bare), query_bundle)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        bare = [one.node for one in nodes if one.node.embedding is None]
        vectors = await self._avectors(bare)
        return await asyncio.to_thread(self._packed, nodes, vectors, query_bundle)

    def _packed(
        self,
        nodes: Sequence[NodeWithScore],
        vectors: Mapping[int, Any],
        query_bundle: QueryBundle | None,
    ) -> list[NodeWithScore]:
        packer = self._packer()
        ids = [one.node_id for one in nodes]
        found = scores([one.score for one in nodes], ids, self.metric, mend=_NO_SCORE)
        chunks = [
            self._chunk(one.node, found[at], vectors.get(id(one.node)))
            for at, one in enumerate(nodes)
        ]
        query = None if query_bundle is None else query_bundle.query_str
        packed, places = pack_natives(packer, chunks, query=query, mend=_MEND)
        if self.on_packed is not None:
            self.on_packed(packed)
        report = summary(packed.report)
        return [
            NodeWithScore(
                node=self._node(nodes[at].node, chunk, report, packer.count_tokens),
                score=nodes[at].score,
            )
            for at, chunk in places
        ]

    def _chunk(self, node: BaseNode, score: float, vector: Any) -> Chunk:
        """A node as its text, with what LlamaIndex writes before and after it."""
        text = node.get_content(MetadataMode.NONE).strip()
        written = node.get_content(MetadataMode.LLM).strip()
        before, _, after = written.rpartition(text) if text else ("", "", "")
        metadata = {key: value for key, value in node.metadata.items() if key != self.report_key}
        return Chunk(
            text,
            score,
            id=node.node_id,
            embedding=node.embedding if node.embedding is not None else vector,
            metadata={
                "ref_doc_id": node.ref_doc_id,
                **metadata,
                _BEFORE: before,
                _AFTER: after,
            },
        )

    def _node(
        self, node: BaseNode, chunk: PackedChunk, report: dict[str, Any], count: CountTokens
    ) -> BaseNode:
        copy = node.model_copy()
        if chunk.original_tokens is not None:
            whole = node.get_content(MetadataMode.NONE)  # the blanks around it were counted
            lead, _, trail = whole.partition(whole.strip())
            copy.set_content(f"{lead}{chunk.content}{trail}")
        if self.report_key is None:
            return copy
        tokens = count(copy.get_content(MetadataMode.LLM))
        own = note(attrs.evolve(chunk, tokens=tokens), report)
        copy.metadata = {**node.metadata, self.report_key: own}
        copy.excluded_llm_metadata_keys = _with(node.excluded_llm_metadata_keys, self.report_key)
        copy.excluded_embed_metadata_keys = _with(
            node.excluded_embed_metadata_keys, self.report_key
        )
        return copy

    # -- embeddings ------------------------------------------------------------------------

    def _vectors(self, nodes: Sequence[BaseNode]) -> dict[int, Any]:
        source = self.embeddings
        if source is None or not nodes:
            return {}
        if isinstance(source, BasePydanticVectorStore):
            found = _stored(source, nodes)
        elif isinstance(source, BaseEmbedding):
            found = as_many(source.get_text_embedding_batch(_texts(nodes)), nodes, _WHAT)
        else:
            found = called(source, nodes, _WHAT)
        return _by_node(nodes, found)

    async def _avectors(self, nodes: Sequence[BaseNode]) -> dict[int, Any]:
        source = self.embeddings
        if source is None or not nodes:
            return {}
        if isinstance(source, BasePydanticVectorStore):
            found = await asyncio.to_thread(_stored, source, nodes)
        elif isinstance(source, BaseEmbedding):
            vectors = await source.aget_text_embedding_batch(_texts(nodes))
            found = as_many(vectors, nodes, _WHAT)
        else:
            found = await awaited(source, nodes, _WHAT)
        return _by_node(nodes, found)


def _counter(given: CountTokens | str | None) -> CountTokens:
    return _OWN if given is None or given == _OWN.name else counter(given)


def _with(keys: Sequence[str], key: str) -> list[str]:
    return [*keys, *([] if key in keys else [key])]


def _checked_embeddings(source: Any) -> Any:
    known = isinstance(source, BasePydanticVectorStore | BaseEmbedding)
    if source is None or known or callable(source):
        return source
    text = f"embeddings is {shown(source)}; give a vector store, an embedding model or a function"
    raise InvalidParameter(text, details={"parameter": "embeddings", "value": source})


def _texts(nodes: Sequence[BaseNode]) -> list[str]:
    return [node.get_content(MetadataMode.EMBED) for node in nodes]


def _by_node(nodes: Sequence[BaseNode], vectors: Vectors) -> dict[int, Any]:
    return {id(node): vector for node, vector in zip(nodes, vectors, strict=True)}


def _stored(store: BasePydanticVectorStore, nodes: Sequence[BaseNode]) -> Vectors:
    """The vectors that a store has for these nodes, by their ids."""
    ids = [node.node_id for node in nodes]
    vectors: dict[str, Any] = {}
    if hasattr(store, "get"):  # SimpleVectorStore, which keeps vectors alone
        for id_ in ids:
            try:
                vectors[id_] = store.get(id_)
            except KeyError:
                continue
    else:
        try:
            vectors = {node.node_id: node.embedding for node in store.get_nodes(node_ids=ids)}
        except NotImplementedError:
            vectors = {}
    bare = [id_ for id_ in ids if vectors.get(id_) is None]
    if bare:
        text = (
            f"the {type(store).__name__} given as embeddings= has no vector to give for "
            f"{shown(bare)}; are these nodes from that store? An embedding model or a function "
            "from nodes to vectors may stand there, too"
        )
        raise MissingEmbeddings(text, details={"parameter": "embeddings", "ids": tuple(bare)})
    return [vectors[id_] for id_ in ids]
