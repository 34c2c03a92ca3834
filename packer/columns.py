"""The columns of a call: made once by `packer.intake`, shared by every pool, never changed."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, final

import attrs

from .arrays import Bools, Floats, Ints, Vectors, sealed
from .records import Reason

__all__ = ["Candidates", "Cut", "Original"]


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
    `source_rows` int64[m], the place of each in the caller's input.  `texts` is None for arrays
    that came without.  `originals`: of each row whose text a stage shortened, what it was.
    """

    ids: Sequence[str]
    texts: Sequence[str] | None
    scores: Floats
    tokens: Ints
    metadata: Sequence[Mapping[str, object]]
    vectors: Vectors | None
    has_vector: Bools
    source_rows: Ints
    originals: Mapping[int, Original] = _NONE

    def __len__(self) -> int:
        return len(self.scores)

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


@final
@attrs.frozen(eq=False)
class Cut:
    """The rows of the table that one stage excluded for one reason.

    `rows` int64[c]; `scores` float64[c], current at that time; `detail`, a function of the
    place 0..c-1 that says what would have let it in; `redundant_with` int64[c], rows of the
    table; `similarity` float64[c].
    """

    stage: str
    reason: Reason
    rows: Ints
    scores: Floats
    detail: Callable[[int], str | None]
    redundant_with: Ints | None = None
    similarity: Floats | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, places: Ints) -> "Cut":
        """The cut of some of its rows: those at these places."""
        near, similarity = self.redundant_with, self.similarity
        return Cut(
            self.stage,
            self.reason,
            self.rows[places],
            self.scores[places],
            lambda place: self.detail(int(places[place])),
            None if near is None else near[places],
            None if similarity is None else similarity[places],
        )
