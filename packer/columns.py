"""The columns of a call: made once by `packer.intake`, shared by every pool, never changed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, final

import attrs

from .arrays import Bools, Floats, Ints, Vectors, sealed
from .metadata import present
from .records import Chunk, Difference, Reason

__all__ = ["Candidates", "Combine", "Cut", "Original", "Rescoring", "Rows"]

Combine: TypeAlias = Literal["sum", "product"]
"""How a score is made of its parts: their sum, or the score before times them."""


@final
@attrs.frozen
class Original:
    """The text and the tokens of a chunk as it came in, where a stage wrote another text."""

    text: str
    tokens: int


_NONE: Final[Mapping[int, Original]] = MappingProxyType({})


@final
@attrs.frozen(eq=False, kw_only=True)
class Candidates:
    """The valid chunks of a call as columns of m rows.

    `scores` float64[m], finite; `tokens` int64[m], >= 0; `vectors` float32[m, d] as given (zero
    rows where `has_vector`, bool[m], is False), or None when no chunk has an embedding;
    `squares` float32[m], the squared length of each, infinite or 0 where float32 cannot hold it;
    `source_rows` int64[m], the place of each in the caller's input.  `given_ids` and `texts` are
    None for arrays that came without.  `originals`: of each row whose text a stage shortened,
    what it was.
    """

    given_ids: Sequence[str] | None
    texts: Sequence[str] | None
    scores: Floats
    tokens: Ints
    metadata: Sequence[Mapping[str, object]]
    vectors: Vectors | None
    squares: Vectors | None
    has_vector: Bools
    source_rows: Ints
    originals: Mapping[int, Original] = _NONE

    def __len__(self) -> int:
        return len(self.scores)

    def id(self, row: int) -> str:
        """The id of a row; `chunk-N` where the arrays came without ids."""
        return f"chunk-{row}" if self.given_ids is None else self.given_ids[row]

    def text(self, row: int) -> str:
        """The content of a row, empty where the arrays came without texts."""
        return "" if self.texts is None else self.texts[row]

    def original(self, row: int) -> Original:
        """The text and the tokens of a row as they came in."""
        return self.originals.get(row) or Original(self.text(row), int(self.tokens[row]))

    def rewritten(self, rows: Ints, texts: Sequence[str], tokens: Sequence[int]) -> "Candidates":
        """The table with other texts and tokens in these rows.  O(m)."""
        changed = dict(enumerate(self.texts or ()))
        changed.update(zip(rows.tolist(), texts, strict=True))
        counted = self.tokens.copy()
        counted[rows] = tokens
        originals = {row: self.original(row) for row in rows.tolist()}
        return attrs.evolve(
            self,
            texts=list(changed.values()),
            tokens=sealed(counted),
            originals={**self.originals, **originals},
        )


class Rows(ABC):
    """Some rows of the table: what a pool, a selection and a layout have in common."""

    __slots__ = ()

    @property
    @abstractmethod
    def candidates(self) -> Candidates:
        """The table of all chunks of the call."""

    @property
    @abstractmethod
    def table_rows(self) -> Ints:
        """int64: their places in the table."""

    @property
    def ids(self) -> list[str]:
        """The ids."""
        given, rows = self.candidates.given_ids, self.table_rows.tolist()
        if given is None:
            return [self.candidates.id(row) for row in rows]
        return [given[row] for row in rows]

    @property
    def texts(self) -> list[str]:
        """The contents (empty where arrays came without texts)."""
        return [self.candidates.text(row) for row in self.table_rows.tolist()]

    @property
    def metadata(self) -> list[Mapping[str, object]]:
        """The metadata."""
        metadata = self.candidates.metadata
        return [metadata[row] for row in self.table_rows.tolist()]

    @property
    def tokens(self) -> Ints:
        """int64: what each text costs, without overhead."""
        return sealed(self.candidates.tokens[self.table_rows])

    def column(self, key: str) -> list[object]:
        """The values of a metadata key, None where a chunk lacks it or has NaN."""
        values = [one.get(key) for one in self.metadata]
        if any(issubclass(kind, float) for kind in set(map(type, values))):
            return list(map(present, values))
        return values

    def chunk(self, row: int) -> Chunk:
        """The record of a row, with its id and token count filled in."""
        table, at = self.candidates, int(self.table_rows[row])
        vector = table.vectors[at] if table.vectors is not None and table.has_vector[at] else None
        return Chunk(
            table.text(at),
            float(table.scores[at]),
            id=table.id(at),
            tokens=int(table.tokens[at]),
            embedding=vector,
            metadata=table.metadata[at],
        )


@final
@attrs.frozen(eq=False)
class Cut:
    """The rows of the table that one stage excluded for one reason.

    `rows` int64[c]; `scores` float64[c], current at that time; `detail`, a function of the
    place 0..c-1 that says what would have let it in; `redundant_with` int64[c], rows of the
    table; `similarity` float64[c].  `differences`, a function of the place: the facts in which the
    row and its near-duplicate differ, None where nobody asked.
    """

    stage: str
    reason: Reason
    rows: Ints
    scores: Floats
    detail: Callable[[int], str | None]
    redundant_with: Ints | None = None
    similarity: Floats | None = None
    differences: Callable[[int], tuple[Difference, ...]] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, places: Ints) -> "Cut":
        """The cut of some of its rows: those at these places."""
        near, similarity, differences = self.redundant_with, self.similarity, self.differences
        return Cut(
            self.stage,
            self.reason,
            self.rows[places],
            self.scores[places],
            lambda place: self.detail(int(places[place])),
            None if near is None else near[places],
            None if similarity is None else similarity[places],
            None if differences is None else lambda place: differences(int(places[place])),
        )


@final
@attrs.frozen(eq=False)
class Rescoring:
    """That one stage gave rows of the table another current score, and what it is made of.

    `rows` int64[c]; `before` and `after` float64[c]; `parts`: by name float64[c] each, of which
    `after` is the sum, or `before` times them the product.
    """

    stage: str
    rows: Ints
    before: Floats
    after: Floats
    parts: Mapping[str, Floats]
    combine: Combine = "sum"
