"""Haystack (haystack-ai 3.x): a component from documents to documents, the report beside them.

A pipeline with it survives `Pipeline.dumps` and `loads`: the policy is written as its text, the
counter by its name.  Haystack 3 loads components only from modules that it was told to trust:
``Pipeline.loads(text, allowed_modules=["packer.integrations"])``.

Needs the extra ``chunk-packer[haystack]``.
"""

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any, Final

import attrs

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.core.errors import SerializationError
    from haystack.utils.callable_serialization import deserialize_callable, serialize_callable
except ModuleNotFoundError as error:
    message = (
        f"packer.integrations.haystack needs {error.name}; "
        'install it with: pip install "chunk-packer[haystack]"'
    )
    raise ImportError(message, name=error.name) from error

from packer.algebra import Policy
from packer.budget import Budget
from packer.errors import InvalidCounter, InvalidPolicy, PackError
from packer.facade import Packer
from packer.intake import OnInvalid
from packer.records import Chunk
from packer.template import Template
from packer.tokens import CountTokens, counter_name

from .counters import counter, is_named
from .natives import note, pack_natives, policy_of, summary
from .scores import Kind, checked_kind, scores

__all__ = ["DocumentPacker"]

_MEND: Final = (
    "documents carry an embedding where their retriever was made with return_embedding=True"
)
_NO_SCORE: Final = (
    'let a retriever or ranker score it, or pass metric="rank" where the order is all there is'
)
_PARTS: Final = ("chunk", "separator", "header", "footer")


@component
class DocumentPacker:
    """Which documents go into the prompt, in what order, and why.

    Outputs: `documents`, the chosen ones in prompt order, copies with their ids, scores and
    embeddings, `content` other only where a stage shortened it, ``meta[report_key]`` with each
    one's place and tokens; `text`, what they cost as one text (with a template the very text that
    was counted); `report`, the report as plain values.

    `policy`: a policy or its text.  `budget`, `overhead`, `template` and `on_invalid` are those
    of `packer.pack`.  `metric`: what kind of number `Document.score` is (see
    `packer.integrations.scores`), or "rank" where documents come best first without one.
    `count_tokens`: a counter, the name of one ("approximate", "o200k_base"), or an importable
    function.  `report_key`: None leaves `meta` alone.

    BM25 scores have no upper bound, and their scale changes with query and corpus: a fixed
    `threshold` means nothing there, and `mmr` needs ``normalize("minmax")`` before it.

    Raises PackError: what `packer.pack` raises, INVALID_CHUNK for a document without a score.
    """

    def __init__(
        self,
        policy: Policy | str,
        budget: int | Budget,
        *,
        metric: Kind = "similarity",
        overhead: int = 0,
        count_tokens: CountTokens | str = "approximate",
        template: Template | None = None,
        on_invalid: OnInvalid = "raise",
        report_key: str | None = "packer",
    ) -> None:
        self.metric = checked_kind(metric)
        self.report_key = report_key
        self.packer = Packer(
            policy_of(policy),
            budget=budget,
            overhead=overhead,
            count_tokens=counter(count_tokens),
            template=template,
            on_invalid=on_invalid,
        )

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values.

        Raises INVALID_POLICY for a policy that holds a Python function, INVALID_COUNTER for a
        counter that can be found neither by a name nor by an import.
        """
        packer = self.packer
        budget, template = packer.budget, packer.template
        return default_to_dict(
            self,
            policy=_text(packer.policy),
            budget=attrs.asdict(budget) if isinstance(budget, Budget) else budget,
            metric=self.metric,
            overhead=packer.overhead,
            count_tokens=_name(packer.count_tokens),
            template=template and {part: getattr(template, part) for part in _PARTS},
            on_invalid=packer.on_invalid,
            report_key=self.report_key,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "DocumentPacker":
        """The component that `to_dict` wrote; a function's module must be on the allow-list too."""
        given = dict(data.get("init_parameters", {}))
        if isinstance(given.get("budget"), Mapping):
            given["budget"] = Budget(**given["budget"])
        if isinstance(given.get("template"), Mapping):
            given["template"] = Template(**given["template"])
        if isinstance(given.get("count_tokens"), Mapping):
            given["count_tokens"] = deserialize_callable(given["count_tokens"]["function"])
        return default_from_dict(cls, {**data, "init_parameters": given})

    @component.output_types(documents=list[Document], text=str, report=dict[str, Any])
    def run(
        self, documents: list[Document], query: str | None = None, budget: int | None = None
    ) -> dict[str, Any]:
        """Pack these documents.

        `query`: the request's words, for stages that look at them.  `budget`: for this run alone.
        """
        ids = [document.id for document in documents]
        found = scores([document.score for document in documents], ids, self.metric, mend=_NO_SCORE)
        chunks = [
            Chunk(
                document.content or "",
                found[at],
                id=document.id,
                embedding=document.embedding,
                metadata={
                    key: value for key, value in document.meta.items() if key != self.report_key
                },
            )
            for at, document in enumerate(documents)
        ]
        packer = self.packer if budget is None else attrs.evolve(self.packer, budget=budget)
        packed, places = pack_natives(packer, chunks, query=query, mend=_MEND)
        out = []
        for at, chunk in places:
            changed: dict[str, Any] = {}
            if self.report_key is not None:
                changed["meta"] = {**documents[at].meta, self.report_key: note(chunk)}
            if chunk.original_tokens is not None:
                changed["content"] = chunk.content
            out.append(dataclasses.replace(documents[at], **changed))
        return {"documents": out, "text": packed.text(), "report": summary(packed.report)}

    @component.output_types(documents=list[Document], text=str, report=dict[str, Any])
    async def run_async(
        self, documents: list[Document], query: str | None = None, budget: int | None = None
    ) -> dict[str, Any]:
        """As `run`, in a thread: kernels release the GIL."""
        return await asyncio.to_thread(self.run, documents, query, budget)


def _text(policy: Policy) -> str:
    text = str(policy)
    try:
        same = policy_of(text) == policy
    except PackError:
        same = False
    if not same:
        told = (
            f"{text} holds a Python function or a stage of your own, which no text brings back; "
            "subclass DocumentPacker with a to_dict and from_dict that do"
        )
        raise InvalidPolicy(told, details={"policy": text})
    return text


def _name(count_tokens: CountTokens) -> str | dict[str, str]:
    """The name of a counter, or where its function is."""
    try:
        if is_named(count_tokens):
            return counter_name(count_tokens)
        return {"function": serialize_callable(count_tokens)}
    except (PackError, SerializationError, AttributeError, TypeError) as error:
        told = (
            f"count_tokens cannot be written into a pipeline ({error}); give the name of a "
            "tokenizer, such as 'o200k_base', or a function of a module"
        )
        raise InvalidCounter(told, details={"count_tokens": count_tokens}) from error
