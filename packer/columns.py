"""The columns of a call: made once by `packer.intake`, shared by every pool, never changed."""

from collections.abc import Callable, Mapping, Sequence
from typing import final

import attrs

from .arrays import Bools, Floats, Ints, Vectors
from .records import Reason

__all__ = ["Candidates", "Cut"]


@final
@attrs.frozen(eq=False, kw_only=True)
class Candidates:
    """The valid chunks of a call as columns of m rows.

    `scores` float64[m], finite; `tokens` int64[m], >= 0; `vectors` float32[m, d] as given (zero
    rows where `has_vector`, bool[m], is False), or None when no chunk has an embedding;
    `source_rows` int64[m], the place of each in the caller's input.  `texts` is None for arrays
    that came without.
    """

    ids: Sequence[str]
    texts: Sequence[str] | None
    scores: Floats
    tokens: Ints
    metadata: Sequence[Mapping[str, object]]
    vectors: Vectors | None
    has_vector: Bools
    source_rows: Ints

    def __len__(self) -> int:
        return len(self.scores)

    def text(self, row: int) -> str:
        """The content of a row, empty where the arrays came without texts."""
        return "" if self.texts is None else self.texts[row]


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
