"""Arrays that grow with what is found: the one rule by how much."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ._jit import kernel

Rows = TypeVar("Rows", bound=npt.NDArray[Any])


@kernel
def with_room(rows: Rows, used: int, wanted: int) -> Rows:
    """The array, where it has `wanted` places; else its first `used` in one of twice as many.

    Along the first axis. O(1), or O(places) when it grows: so O(1) for each place in the end.
    """
    if len(rows) >= wanted:
        return rows
    more = np.empty((2 * wanted, *rows.shape[1:]), rows.dtype)
    more[:used] = rows[:used]
    return more  # type: ignore[return-value]  # of the same dtype and axes
