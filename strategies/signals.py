"""Signals of worth beyond retrieval's score: the query's words, the neighbours, further scores."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, final

import attrs
import numpy as np

from packer.algebra import Scoring
from packer.arrays import Floats, Ints
from packer.bm25 import bm25
from packer.errors import InvalidParameter
from packer.numbers import is_finite
from packer.parameters import choice, count, number, weights
from packer.pool import Pool
from packer.terms import LANGUAGES, Counts, counted, query_terms

from .scales import minmax, rank, refuse_negative, zscore

__all__ = ["blend", "lexical", "neighbours"]

Scale: TypeAlias = Literal["minmax", "zscore", "rank"]
SCALES: Final[Mapping[str, Callable[[Floats], Floats]]] = MappingProxyType(
    {"minmax": minmax, "zscore": zscore, "rank": rank}
)
"""What a score of another kind is brought to before it is added."""


# -- the words of the query -----------------------------------------------------------------

COUNTS: Final = "lexical counts"
"""The name of the column that is derived once for all pools narrowed from one."""


@final
@attrs.frozen(repr=False)
class Lexical(Scoring):
    name = "lexical"
    weight: float = number(0.0, default=1.0)
    language: str = choice(LANGUAGES, default="english", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        if pool.query is None:
            message = (
                f"{pool.stage} matches the words of the query, and this call has none; give the "
                "request's words as query=..., or leave the stage out"
            )
            raise InvalidParameter(message, details={"stage": pool.stage, "parameter": "query"})
        if pool.candidates.texts is None:
            message = f"{pool.stage} reads texts, and the pool was made from arrays without `texts`"
            raise InvalidParameter(message, details={"stage": pool.stage, "parameter": "texts"})
        if not len(pool):
            return pool
        matches = bm25(_counts(pool, query_terms(pool.query, self.language), self.language))
        best = matches.max()
        if not best:
            message = f"{pool.stage} finds no word of the query in any chunk, so it adds nothing"
            pool = pool.warn("unmatched-query", message)
        score = minmax(pool.scores)
        shares = self.weight * (matches / best if best else matches)
        return pool.rescore(score + shares, parts={"score": score, "bm25": shares})


def _counts(pool: Pool, terms: tuple[str, ...], language: str) -> Counts:
    """How often these terms are in the pool's texts, counted once for one query."""
    found: Counts = pool.derive(
        COUNTS,
        lambda whole: counted(whole.texts, terms, language),
        lambda all_, kept: all_.take(kept),
    )
    if (found.terms, found.language) == (terms, language):
        return found
    return counted(pool.texts, terms, language)


def lexical(weight: float = 1.0, *, language: str = "english") -> Scoring:
    """Add how well the text matches the words of the call's `query`.

    The new score is minmax(score) + weight * BM25 / (the largest BM25 of the pool), so 0 to
    1 + weight; `weight` is 0 or more.  BM25 (`packer.bm25`) takes the pool as its collection: a
    word that every candidate has counts little.  Terms are stems by Snowball's stemmer for
    `language`, which is one of `packer.terms.LANGUAGES`, and "none" takes words as they are; stop
    words of the query are left out; Chinese, Japanese, Korean, Thai and other scripts without
    blanks are matched by pairs of characters, under every `language`.  O(characters).

    Best where `score` comes from embeddings alone: exact names, numbers and rare words are what
    these miss.  Where it is a hybrid score already, little is left to gain.

    Warns with `unmatched-query` when no word is in any chunk; the scores are then minmax(score).

    Raises INVALID_PARAMETER for a call without `query`, and over arrays without texts.

    >>> from packer import Chunk, pack
    >>> from strategies import greedy
    >>> chunks = [
    ...     Chunk("Parcels travel by road.", 0.62, id="road"),
    ...     Chunk("Form RX-7 asks for a refund.", 0.60, id="form"),
    ...     Chunk("We like cats.", 0.40, id="cats"),
    ... ]
    >>> packed = pack(chunks, lexical() | greedy, budget=7, query="Where is form RX-7?")
    >>> [chunk.id for chunk in packed]
    ['form']
    """
    return Lexical(weight, language=language)


# -- the chunks beside it -------------------------------------------------------------------


@final
@attrs.frozen(repr=False)
class Neighbours(Scoring):
    name = "neighbours"
    refuses_negative = True
    weight: float = number(0.0, default=0.5)
    width: int = count(default=2, kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        refuse_negative(pool, self.name, "adds a share of the neighbours' scores")
        near = np.zeros(len(pool))
        placed, unplaced = _by_source(pool)
        if unplaced:
            message = (
                f"{len(unplaced)} chunks have a position that is no number: nobody is beside them"
            )
            pool = pool.warn("unplaced", message, unplaced)
        for rows, positions in placed.values():
            near[rows] = _best_beside(pool.scores[rows], positions, self.width)
        with np.errstate(over="ignore"):  # rescore refuses what is not finite
            share = self.weight * near
            return pool.rescore(
                pool.scores + share, parts={"score": pool.scores, "neighbours": share}
            )


def _by_source(pool: Pool) -> tuple[dict[str, tuple[list[int], list[Any]]], list[int]]:
    """Of each source the rows that have a position, and these, in the order of the positions.

    And the rows whose position is no number.
    """
    found: dict[str, list[tuple[Any, int]]] = {}
    unplaced = []
    for row, (source, position) in enumerate(
        zip(pool.column("source"), pool.column("position"), strict=True)
    ):
        if source is None or position is None or not str(source):
            continue
        if is_finite(position):
            exact = position.item() if isinstance(position, np.generic) else position
            found.setdefault(str(source), []).append((exact, row))
        else:
            unplaced.append(row)
    ordered = {source: sorted(places) for source, places in found.items()}
    placed = {
        source: ([row for _, row in places], [position for position, _ in places])
        for source, places in ordered.items()
    }
    return placed, unplaced


def _best_beside(scores: Floats, positions: Sequence[Any], width: int) -> Floats:
    """Of each place the best score of the others within `width`, 0.0 where there is none.  O(n)."""
    values = scores.tolist()
    before = _best_before(values, positions, width)
    mirrored = [-position for position in reversed(positions)]
    after = _best_before(values[::-1], mirrored, width)[::-1]
    return np.array([max(pair) for pair in zip(before, after, strict=True)], np.float64)


def _best_before(values: Sequence[float], positions: Sequence[Any], width: int) -> list[float]:
    """Of each place the best value among the earlier ones within `width`: a sliding maximum."""
    best: list[float] = []
    window: deque[int] = deque()  # places whose values fall: the first is the best
    for place, position in enumerate(positions):
        while window and position - positions[window[0]] > width:
            window.popleft()
        best.append(values[window[0]] if window else 0.0)
        while window and values[window[-1]] <= values[place]:
            window.pop()
        window.append(place)
    return best


def neighbours(weight: float = 0.5, *, width: int = 2) -> Scoring:
    """Add `weight` times the best score among the chunks beside it in its source.

    Beside it are the chunks of the pool with the same `source` whose `position` (a number) is at
    most `width` away.  A chunk without these keys, or with nobody beside it, keeps its score; where
    a position is no number, the report warns with `unplaced`.
    What answers a question is often said around the passage that asks it, in meetings and
    manuals above all.  `weight` and `width` are 0 or more.  O(n log n).

    Raises INVALID_PARAMETER for negative scores, which this would lower: normalize first.

    >>> places = [{"source": "talk", "position": at} for at in (4, 5, 9)] + [{}]
    >>> pool = Pool.from_arrays([0.25, 0.75, 0.5, 0.5], [1, 1, 1, 1], metadata=places)
    >>> neighbours()(pool).scores.tolist()
    [0.625, 0.875, 0.5, 0.5]
    """
    return Neighbours(weight, width=width)


# -- further scores -------------------------------------------------------------------------


@final
@attrs.frozen(repr=False)
class Blend(Scoring):
    name = "blend"
    gives_negative = True  # by weights below 0, or as z-scores
    weights: tuple[tuple[str, float], ...] = weights()
    scale: Scale = choice(tuple(SCALES), default="minmax", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        scaled = SCALES[self.scale]
        parts = {"score": scaled(pool.scores)}
        with np.errstate(over="ignore", invalid="ignore"):  # rescore refuses what is not finite
            for key, weight in self.weights:
                if key == "score":
                    parts[key] = weight * parts[key]
                    continue
                values, missing = _numbers(pool, key)
                if len(missing):
                    pool = _warn_missing(pool, key, missing)
                parts[key] = weight * scaled(values) if len(missing) < len(pool) else values
            total = np.zeros(len(pool))
            for part in parts.values():
                total += part
        return pool.rescore(total, parts=parts)


def _numbers(pool: Pool, key: str) -> tuple[Floats, Ints]:
    """The values of a key, the lowest where there is no finite number; and these rows."""
    column = pool.column(key)
    known = np.array([is_finite(value) for value in column], np.bool_)
    values = np.zeros(len(pool))
    values[known] = [float(value) for value in column if is_finite(value)]  # type: ignore[arg-type]
    if known.any():
        values[~known] = values[known].min()
    return values, np.flatnonzero(~known)


def _warn_missing(pool: Pool, key: str, missing: Ints) -> Pool:
    if len(missing) == len(pool):
        message = f"no chunk has a finite number as {key!r}, so it adds nothing"
    else:
        message = (
            f"{len(missing)} of {len(pool)} chunks have no finite number as {key!r}; they count as "
            "the lowest that there is"
        )
    return pool.warn("missing-scores", message, missing.tolist())


def blend(*, scale: Scale = "minmax", **weights: float) -> Scoring:
    """Add further scores that chunks carry in their metadata, each on the same scale.

    ``blend(dense=0.5, rerank=2.0)``: the new score is that of the chunk, weighing 1, and `weight`
    times the number under each key; `score` as a key gives the chunk's own score another weight.
    Before they are added all are brought to one `scale` over the pool: "minmax" to 0..1, "zscore"
    to a mean of 0 and a deviation of 1, "rank" to (n - number of better) / n, which forgets how
    far apart they are, as reciprocal ranks do.  Weights are finite; below 0 they count against.
    Keys that are no Python names: ``blend(**{"doc score": 0.5})``, in text too.  O(n) a key,
    "rank" O(n log n).

    A chunk without a finite number under a key counts as the lowest that there is, as one that
    this retriever did not return, with the warning `missing-scores`; where no chunk has one, the
    key adds nothing.

    >>> chunks = [{"dense": 0.2, "rerank": 7.5}, {"dense": 0.6, "rerank": -2.5}]
    >>> pool = Pool.from_arrays([0.5, 0.7], [1, 1], metadata=chunks)
    >>> blend(dense=0.5, rerank=2.0)(pool).scores.tolist()
    [2.0, 1.5]
    >>> blend(rerank=1, scale="rank")
    blend(rerank=1.0, scale="rank")
    """
    return Blend(weights, scale=scale)  # type: ignore[arg-type]  # the field makes a tuple
