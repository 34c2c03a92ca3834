"""What is chosen, and how it is shown: `Selection` -> `Layout`.

A selection has one verb, `arrange`, which checks that an order is a permutation.  Places count
from the thing that they are given to: `selection.arrange([0])` is the first of that selection.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, final

import attrs
import numpy as np
import numpy.typing as npt

from .arrays import Floats, Ints, sealed
from .columns import Candidates, Rows
from .errors import InvalidStrategy, shown
from .records import Optimality
from .spans import joined

if TYPE_CHECKING:
    from .pool import Pool

__all__ = ["Layout", "Selection"]


@final
@attrs.frozen(eq=False, kw_only=True)
class Selection(Rows):
    """What a selector chose: `chosen` int64[k], rows of `pool` in selection order.

    `charged` int64[k]: what each costs, where that depends on those before it.
    """

    pool: "Pool"
    chosen: Ints
    optimality: Optimality | None = None
    charged: Ints | None = None

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def candidates(self) -> Candidates:
        """The table of all chunks of the call."""
        return self.pool.candidates

    @property
    def table_rows(self) -> Ints:
        """int64[k]: rows of the table in selection order."""
        return self.pool.table_rows[self.chosen]

    @property
    def scores(self) -> Floats:
        """float64[k]: the current scores in selection order."""
        return sealed(self.pool.scores[self.chosen])

    @property
    def costs(self) -> Ints:
        """int64[k]: tokens + overhead in selection order; under `overlap` of what is new."""
        if self.charged is not None:
            return self.charged
        return sealed(self.pool.costs[self.chosen])

    def best_first(self) -> Ints:
        """int64[k]: the places by score, best first; equal scores in input order."""
        return np.lexsort((self.chosen, -self.scores))

    def in_order(self) -> "Layout":
        """The layout in selection order."""
        return Layout(selection=self, order=sealed(np.arange(len(self))))

    def at(self, stage: str) -> "Selection":
        """The same selection inside a stage."""
        return attrs.evolve(self, pool=self.pool.at(stage))

    def warn(self, code: str, message: str, places: Iterable[int] = ()) -> "Selection":
        """The selection with a warning for the report, about these places."""
        rows = [int(self.chosen[place]) for place in places]
        return attrs.evolve(self, pool=self.pool.warn(code, message, rows))

    def arrange(self, places: npt.ArrayLike) -> "Layout":
        """The layout that shows the chosen in this order (a permutation of 0..k-1).

        Raises INVALID_STRATEGY when something is missing, foreign or there twice.
        """
        order = np.asarray(places)
        if order.ndim == 1 and not order.size:
            order = np.empty(0, dtype=np.int64)
        if (
            order.shape != self.chosen.shape
            or order.dtype.kind not in "iu"
            or not np.array_equal(np.sort(order), np.arange(len(self)))
        ):
            message = (
                f"{self.pool.stage} arranged {shown(places)}; "
                f"an order is a permutation of 0..{len(self) - 1}"
            )
            raise InvalidStrategy(message, details={"stage": self.pool.stage})
        return Layout(selection=self, order=sealed(order.astype(np.int64)))


@final
@attrs.frozen(eq=False, kw_only=True)
class Layout(Rows):
    """What is shown: `order` int64[k], places of `selection` in output order."""

    selection: Selection
    order: Ints

    def __len__(self) -> int:
        return len(self.order)

    @property
    def pool(self) -> "Pool":
        """The pool that it was chosen from, with all that was excluded."""
        return self.selection.pool

    @property
    def pool_rows(self) -> Ints:
        """int64[k]: rows of the pool in output order."""
        return self.selection.chosen[self.order]

    @property
    def table_rows(self) -> Ints:
        """int64[k]: rows of the table in output order."""
        return self.pool.table_rows[self.pool_rows]

    @property
    def rows(self) -> Ints:
        """int64[k]: the places in the caller's input, in output order."""
        return self.pool.candidates.source_rows[self.table_rows]

    @property
    def candidates(self) -> Candidates:
        """The table of all chunks of the call."""
        return self.pool.candidates

    def written(self) -> list[tuple[int, str]]:
        """Each text as it is written, with its row of the table: under `overlap` what is shared once.

        The row is the first of those whose text it is.
        """
        rows, texts = self.pool_rows.tolist(), self.texts
        if not self.pool.overlapping:
            return list(zip(self.table_rows.tolist(), texts, strict=True))
        found = joined(self.pool.spans, rows, dict(zip(rows, texts, strict=True)))
        return [(int(self.pool.table_rows[row]), text) for row, text in found]

    @property
    def scores(self) -> Floats:
        """float64[k]: the current scores in output order."""
        return sealed(self.pool.scores[self.pool_rows])
