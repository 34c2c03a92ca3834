"""How similar two chunks are: cosine of embeddings, or Jaccard of character trigrams.

    cosine    dot product of the normalised embeddings, -1 to 1
    jaccard   |A & B| / |A | B| of the sets of character trigrams of the folded text, 0 to 1
    auto      cosine for a pair that has both embeddings, else jaccard

A zero vector is similar to nothing by `cosine` and counts as no embedding by `auto`; an empty
vector counts as none everywhere.  Text is folded to lower case with single blanks; a text of
under three characters is one element by itself.
"""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, final

import attrs
import numpy as np

from . import kernels
from .arrays import Bools, Ints, Vectors, frozen, sealed
from .errors import InvalidParameter, MissingEmbeddings
from .pool import Pool

__all__ = [
    "METRICS",
    "Features",
    "Metric",
    "features",
    "take_trigrams",
    "trigrams_of",
    "unit_vectors",
]

Metric: TypeAlias = Literal["auto", "cosine", "jaccard"]
METRICS: Final = ("auto", "cosine", "jaccard")


@final
@attrs.frozen(eq=False)
class Features:
    """What the kernels compare, for n chunks, read-only.

    `unit` float32[n, d]: rows of length 1 or zero (d is 0 when no pair is compared by cosine);
    `embedded` bool[n]: two such rows are compared by cosine, any other pair by trigrams;
    `indptr` int64[n+1] and `grams` int32[indptr[n]]: the sorted trigrams of each row.
    """

    unit: Vectors
    embedded: Bools
    indptr: Ints
    grams: np.typing.NDArray[np.int32]

    @property
    def arrays(self) -> tuple[Vectors, Bools, Ints, np.typing.NDArray[np.int32]]:
        """The columns as every kernel takes them."""
        return self.unit, self.embedded, self.indptr, self.grams


def features(pool: Pool, metric: Metric) -> tuple[Pool, Features]:
    """The features of the pool's rows under a metric, and the pool with what to warn of.

    Normalising is O(n d), trigrams O(characters); each is done once per chunk and call.

    Raises MISSING_EMBEDDINGS, with the ids, when `cosine` has two chunks to compare and one of
    them has no embedding, or when neither text nor embedding is there; INVALID_PARAMETER when
    `jaccard` meets arrays without texts.
    """
    count = len(pool)
    unit = _no_vectors(count)
    embedded: Bools = np.zeros(count, np.bool_)
    if metric == "cosine" and count > 1:
        _all_embedded(pool)
    if metric != "jaccard" and pool.has_embedding.any():
        unit, nonzero = pool.derive("unit vectors", _unit, _take_unit)
        embedded = pool.has_embedding if metric == "cosine" else nonzero
    if metric == "cosine" or embedded.all():
        return pool, Features(unit, frozen(embedded), *_no_trigrams(count))
    if pool.candidates.texts is None:
        raise _no_texts(pool, metric, ~embedded)
    if embedded.any():
        bare = np.flatnonzero(~embedded)
        pool = pool.warn(
            "mixed-metrics",
            f"{len(bare)} of {count} chunks have no embedding: their similarities are of trigrams, "
            "the others' of embeddings, and the two are not on one scale",
            bare.tolist(),
        )
    else:
        unit = _no_vectors(count)
    grams = pool.derive("trigrams", _trigrams, take_trigrams)
    return pool, Features(unit, frozen(embedded), *grams)


def _all_embedded(pool: Pool) -> None:
    if pool.has_embedding.all():
        return
    bare = [id_ for id_, has in zip(pool.ids, pool.has_embedding, strict=True) if not has]
    if bare:
        named = ", ".join(map(repr, bare[:5])) + (" ..." if len(bare) > 5 else "")
        message = (
            f'{pool.stage} compares by metric="cosine", and {len(bare)} of {len(pool)} chunks have '
            f'no embedding: {named}; give them one, or write metric="auto"'
        )
        raise MissingEmbeddings(message, details={"ids": tuple(bare)})


def _no_texts(pool: Pool, metric: Metric, bare: Bools) -> InvalidParameter | MissingEmbeddings:
    if metric == "jaccard":
        message = f"{pool.stage} compares texts, and the pool was made from arrays without `texts`"
        return InvalidParameter(message, details={"metric": metric})
    ids = tuple(id_ for id_, lacks in zip(pool.ids, bare, strict=True) if lacks)
    message = f"{len(ids)} chunks have neither an embedding nor a text to compare by"
    return MissingEmbeddings(message, details={"ids": ids})


def _no_vectors(count: int) -> Vectors:
    return sealed(np.zeros((count, 0), np.float32))


def _unit(pool: Pool) -> tuple[Vectors, Bools]:
    table, vectors = pool.candidates, pool.embeddings
    assert vectors is not None  # some row has an embedding, or nobody asks
    assert table.squares is not None
    return unit_vectors(vectors, table.squares[pool.table_rows])


def unit_vectors(vectors: Vectors, lengths: Vectors) -> tuple[Vectors, Bools]:
    """The vectors (float32[n, d]) at length 1, and which of them are not zero.  O(n d).

    `lengths`: float32[n], their `packer.arrays.squares`.
    """
    squares = lengths.copy()
    nonzero = np.ones(len(squares), np.bool_)
    squares[np.abs(squares - 1.0) <= _UNIT] = 1.0
    if np.add.reduce(squares == 1.0) == len(squares):
        return vectors, sealed(nonzero)
    extreme = np.flatnonzero(~((squares > _SAFE[0]) & (squares < _SAFE[1])))
    squares[extreme] = 1.0
    unit: Vectors = np.divide(vectors, np.sqrt(squares)[:, None], dtype=np.float32)
    if len(extreme):  # their squares leave float32: again in float64
        rows = vectors[extreme].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        nonzero[extreme] = norms > 0.0
        norms[norms == 0.0] = 1.0
        unit[extreme] = rows / norms[:, None]
    return sealed(unit), sealed(nonzero)


_UNIT: Final = 2e-6
"""A row whose squared length is so close to 1, as near as float32 sums tell, is taken as it is: most
embeddings come so, and normalising again would copy the matrix to move a cosine by less than this."""

_SAFE: Final = (1e-25, 1e35)
"""Between these a sum of float32 squares has neither lost nor overflowed anything."""


def _take_unit(unit: tuple[Vectors, Bools], kept: Ints) -> tuple[Vectors, Bools]:
    vectors, nonzero = unit
    return sealed(vectors[kept]), sealed(nonzero[kept])


Trigrams: TypeAlias = tuple[Ints, np.typing.NDArray[np.int32]]


def _no_trigrams(count: int) -> Trigrams:
    return sealed(np.zeros(count + 1, np.int64)), sealed(np.empty(0, np.int32))


def _trigrams(pool: Pool) -> Trigrams:
    return trigrams_of(pool.texts)


def trigrams_of(given: Sequence[str]) -> Trigrams:
    """The `indptr` and `grams` of texts.  O(characters)."""
    texts = [text.lower() for text in given]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    codes, offsets = kernels.trigrams.folded(frozen(codes), frozen(offsets))
    indptr, grams = kernels.trigrams.build(frozen(codes), frozen(offsets))
    return frozen(indptr), frozen(grams)


def take_trigrams(trigrams: Trigrams, kept: Ints) -> Trigrams:
    """The trigrams of these texts alone."""
    indptr, grams = trigrams
    sizes = np.diff(indptr)[kept]
    narrowed = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(sizes, out=narrowed[1:])
    places = np.repeat(indptr[kept] - narrowed[:-1], sizes) + np.arange(narrowed[-1])
    return sealed(narrowed), sealed(grams[places])
