"""Chunks that overlap in their source: each is charged only for what is new."""

from typing import final

import attrs

from packer.algebra import Constraint
from packer.charging import own_count
from packer.errors import InvalidParameter
from packer.pool import Pool
from packer.rules import Overlap

__all__ = ["overlap"]

_ODD = (
    "these say a span of their source that is not that of their text (another length, or another "
    "text than an earlier span has there), so each is charged and written in full"
)


@final
@attrs.frozen(repr=False)
class OverlapStage(Constraint):
    name = "overlap"
    reads_spans = True

    def __call__(self, pool: Pool, /) -> Pool:
        if pool.candidates.texts is None:
            message = f"{pool.stage} cuts texts, and the pool was made from arrays without `texts`"
            raise InvalidParameter(message, details={"stage": pool.stage})
        bound, spans = pool.bind(Overlap(repr(self))), pool.spans
        if spans.odd:
            bound = bound.warn("odd-spans", _ODD, spans.odd)
        if len(pool) and max(spans.source) < 0:
            words = "no chunk has `source`, `start` and `end` in its metadata, so none overlaps"
            bound = bound.warn("no-spans", words)
        if pool.call.template is None:
            rows = [row for row, meets in enumerate(spans.meets) if meets]
            table, at = pool.candidates, pool.table_rows.tolist()
            shared = [row for row in rows if not own_count(table, at[row], pool.call)]
            if shared:
                words = (
                    f"{len(shared)} chunks that overlap came with other tokens than the counter "
                    "gives, so their new parts are charged in proportion to the characters; give "
                    "`count_tokens` the tokenizer that counted them"
                )
                bound = attrs.evolve(bound.warn("estimated-tokens", words, shared), estimated=True)
        return bound


def overlap() -> Constraint:
    """Charge a chunk only for what of its source is new beside those that are in.

    For chunks cut with overlap, or several sizes of one text: `source`, `start` and `end` in the
    metadata (characters, `end` not included) say where the text stands.  What is covered costs
    nothing; what is new is counted by itself, or, where `tokens` came from another counter, is in
    proportion to the characters, rounded up; never more than the whole.  The overhead is charged
    for each chunk.  A chunk without a span, or whose text is not as long as it, is charged in full.

    Binds every selector: `greedy`, `prefix`, `density` and `mmr` rank by what is new at each
    step, others choose by full costs and what that frees is filled up.  `Packed.text`, with a
    template or without, writes overlapping chunks as one text where the first of them stands;
    ``PackedChunk.new_tokens`` is what each added.  O(n) a chosen chunk, and a count for each part
    that is new.

    The report warns: `odd-spans`, `no-spans`, `estimated-tokens`.

    Raises INVALID_PARAMETER over arrays without texts.

    >>> from packer import Chunk, pack
    >>> from strategies import greedy
    >>> text = "Refunds take 5 days. We ship on Monday. We like cats."
    >>> chunks = [
    ...     Chunk(text[a:b], score, id=id, metadata={"source": "faq", "start": a, "end": b})
    ...     for id, a, b, score in (("front", 0, 39, 0.9), ("back", 21, 53, 0.8))
    ... ]
    >>> packed = pack(chunks, overlap() | greedy, budget=14)
    >>> [(chunk.id, chunk.tokens, chunk.new_tokens) for chunk in packed]
    [('front', 10, 10), ('back', 8, 4)]
    >>> packed.text() == text
    True
    """
    return OverlapStage()
