"""Shorter texts: of each chunk the sentences that say most, in their order."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias, final

import attrs
import numpy as np

from packer.algebra import Filter
from packer.boundaries import sentences, words
from packer.errors import InvalidParameter
from packer.intake import ChunkLike
from packer.numbers import is_finite
from packer.parameters import refusal
from packer.pool import Pool
from packer.records import Chunk
from packer.tokens import CountTokens, approximate, count

__all__ = ["shrink", "variants"]

RELEVANCE: Final = 0.7
"""What a sentence shares with the query counts so much, what it shares with those in the rest."""

Weights: TypeAlias = Mapping[str, float]
Terms: TypeAlias = AbstractSet[str]


def _ratio(value: Any) -> float:
    if not is_finite(value) or not 0 < value < 1:
        raise refusal("shrink", "ratio", value, "a number above 0 and below 1")
    return float(value)


@final
@attrs.frozen(repr=False)
class Shrink(Filter):
    name = "shrink"
    ratio: float = attrs.field(
        converter=_ratio, metadata={"domain": ("number", 0.0, math.nextafter(1.0, 0.0), 0.0)}
    )

    def __call__(self, pool: Pool, /) -> Pool:
        if pool.candidates.texts is None:
            message = f"{pool.stage} cuts texts, and the pool was made from arrays without `texts`"
            raise InvalidParameter(message, details={"stage": pool.stage})
        found = _shortened(
            pool.texts,
            pool.tokens.tolist(),
            pool.ids,
            self.ratio,
            pool.query,
            pool.call.count_tokens,
        )
        return (
            pool.rewrite(np.array(list(found), np.int64), list(found.values())) if found else pool
        )


def _shortened(
    texts: Sequence[str],
    tokens: Sequence[int],
    ids: Sequence[str],
    ratio: float,
    query: str | None,
    count_tokens: CountTokens,
) -> dict[int, str]:
    """Of each text that gets shorter what is left, by its place."""
    parts = [sentences(text) for text in texts]
    terms = [[frozenset(words(part)) for part in text] for text in parts]
    weights = _weights([frozenset().union(*text) for text in terms])
    asked = frozenset(words(query or ""))
    found = {}
    for at, id_ in enumerate(ids):
        if len(parts[at]) > 1:

            def counted(text: str, id_: str = id_) -> int:
                return count(count_tokens, text, f"chunk {id_!r}", id_)

            order = _diverse(terms[at], _values(terms[at], asked, weights), weights)
            text = _first(parts[at], order, ratio, tokens[at], counted)
            if text is not None:
                found[at] = text
    return found


def _first(
    parts: Sequence[str],
    order: Sequence[int],
    ratio: float,
    tokens: int,
    counted: Callable[[str], int],
) -> str | None:
    """The first sentences of the order that together have the ratio of the tokens.

    The shortest one where none has so few; None where that is not shorter.
    """
    costs = [counted(part.strip()) for part in parts]
    room = int(ratio * tokens)
    chosen: list[int] = []
    left = room
    for at in order:
        if costs[at] <= left:
            chosen.append(at)
            left -= costs[at]
    chosen = chosen or [min(range(len(parts)), key=costs.__getitem__)]
    while True:
        text = "".join(parts[at] for at in sorted(chosen)).strip()
        found = counted(text)
        if found <= room or len(chosen) == 1:
            return text if found < tokens and len(chosen) < len(parts) else None
        chosen.pop()


def _weights(texts: Sequence[Terms]) -> Weights:
    """How rare each term is among the texts: ln(1 + n / number of texts with it)."""
    having = Counter(term for text in texts for term in text)
    return {term: math.log1p(len(texts) / times) for term, times in having.items()}


def _values(parts: Sequence[Terms], query: Terms, weights: Weights) -> list[float]:
    """What share of the query each sentence has; where none has any, how central it is."""
    asked = _weight(query, weights)
    values = [_weight(part & query, weights) / asked if asked else 0.0 for part in parts]
    if any(values):
        return values
    return [
        math.fsum(_likeness(part, other, weights) for other in parts) / len(parts) for part in parts
    ]


def _weight(terms: Terms, weights: Weights) -> float:
    return math.fsum(weights.get(term, 0.0) for term in terms)


def _likeness(one: Terms, other: Terms, weights: Weights) -> float:
    """Jaccard of the terms, each with its weight."""
    together = _weight(one | other, weights)
    return _weight(one & other, weights) / together if together else 0.0


def _diverse(parts: Sequence[Terms], values: Sequence[float], weights: Weights) -> list[int]:
    """The sentences by maximal marginal relevance; of equals the earlier first."""
    nearest = [0.0] * len(parts)
    rest = list(range(len(parts)))
    order: list[int] = []
    while rest:
        best = max(rest, key=lambda at: RELEVANCE * values[at] - (1 - RELEVANCE) * nearest[at])
        order.append(best)
        rest.remove(best)
        for at in rest:
            nearest[at] = max(nearest[at], _likeness(parts[at], parts[best], weights))
    return order


def shrink(ratio: float) -> Filter:
    """Shorten each chunk to the sentences that share most with the query, and least with each other.

    Sentences are taken by maximal marginal relevance (0.7 for the share of the query's terms that
    a sentence has, rare terms weighing more; 0.3 for the Jaccard of terms with one that is in),
    while together they have at most `ratio` (above 0, below 1) of the chunk's tokens, and stand
    in their own order.  Without a query, or where a chunk shares no term with it, those that are
    most like the others of the chunk.  A chunk of one sentence stays, and one sentence always
    does.  `PackedChunk.original_tokens` is what the whole had; an exclusion has the whole text.
    Scores and embeddings stay.  O(s^2) for s sentences of a chunk, and s counts.

    Sources: Carbonell, Goldstein, SIGIR 1998; Mihalcea, Tarau, "TextRank", EMNLP 2004 (the
    centrality, of degree).

    Raises INVALID_PARAMETER over arrays without texts.

    >>> from packer import Chunk, pack
    >>> from strategies import greedy
    >>> text = "We are a family shop. Refunds take 5 days. We like cats."
    >>> packed = pack([Chunk(text, 0.9)], shrink(0.5) | greedy, budget=9, query="How long do refunds take?")
    >>> [(chunk.content, chunk.tokens, chunk.original_tokens) for chunk in packed]
    [('Refunds take 5 days.', 5, 14)]
    """
    return Shrink(ratio)


def variants(
    chunks: Iterable[ChunkLike],
    ratio: float,
    *,
    query: str | None = None,
    worth: float = 0.9,
    count_tokens: CountTokens = approximate,
) -> list[Chunk]:
    """The chunks, and after each that `shrink` makes shorter its shorter text as another chunk.

    Both have the same `group` in their metadata (the chunk's own, else its id), so that under
    `exclusive()` the selector chooses between the full text and the shorter one.  The shorter one has the id with ``#shrunk`` (``#shrunk-2`` where that is taken), its own
    `tokens`, and `worth` (0 to 1) of the score.  Cost as `shrink`.

    Raises INVALID_PARAMETER, and what `pack` raises for chunks.

    >>> text = "Refunds take 5 days. We like cats. We are a family shop."
    >>> both = variants([Chunk(text, 1.0, id="faq")], 0.5, query="How long do refunds take?")
    >>> [(chunk.id, chunk.tokens, chunk.score, chunk.metadata["group"]) for chunk in both]
    [('faq', 14, 1.0, 'faq'), ('faq#shrunk', 5, 0.9, 'faq')]
    """
    if not is_finite(worth) or not 0 <= worth <= 1:
        raise refusal("variants", "worth", worth, "a number from 0 to 1")
    pool = Pool.from_chunks(chunks, count_tokens=count_tokens, query=query)
    table = pool.candidates
    kept, ids = pool.table_rows.tolist(), pool.ids
    shorter = _shortened(pool.texts, pool.tokens.tolist(), ids, _ratio(ratio), query, count_tokens)
    texts = {kept[at]: text for at, text in shorter.items()}
    found = []
    taken = {table.id(row) for row in range(len(table))}
    for row in range(len(table)):
        has_vector = table.vectors is not None and table.has_vector[row]
        group = table.metadata[row].get("group")
        whole = Chunk(
            table.text(row),
            float(table.scores[row]),
            id=table.id(row),
            tokens=int(table.tokens[row]),
            embedding=table.vectors[row] if has_vector and table.vectors is not None else None,
            metadata={**table.metadata[row], "group": table.id(row) if group is None else group},
        )
        found.append(whole if row in texts else attrs.evolve(whole, metadata=table.metadata[row]))
        if row in texts:
            score = whole.score - (1 - float(worth)) * abs(whole.score)
            tokens = count(count_tokens, texts[row], f"chunk {whole.id!r}", whole.id)
            id_ = _free(f"{whole.id}#shrunk", taken)
            taken.add(id_)
            short = attrs.evolve(whole, content=texts[row], score=score, id=id_, tokens=tokens)
            found.append(short)
    return found


def _free(name: str, taken: AbstractSet[str]) -> str:
    """The name, with a number where it is taken."""
    numbers = itertools.count(2)
    free = name
    while free in taken:
        free = f"{name}-{next(numbers)}"
    return free
