"""Our choice from arrays, as row numbers, and how far another's is the same."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from packer import Packer, Pool

from . import inputs

__all__ = ["agreement", "choosing"]


def choosing(
    packer: Packer, given: inputs.Vectors, costs: npt.NDArray[np.int64]
) -> Callable[[], list[int]]:
    """The call that we are measured by: from arrays to row numbers."""

    def ours() -> list[int]:
        pool = Pool.from_arrays(given.scores, costs, given.embeddings)
        chosen: list[int] = packer.select(pool).rows.tolist()
        return chosen

    return ours


def agreement(ours: Sequence[int], theirs: Sequence[int]) -> str:
    """Whether two choices are the same, or how much of ours is in theirs.

    >>> agreement([1, 2], [1, 2]), agreement([1, 2], [2, 1]), agreement([1, 2], [2, 3])
    ('same choice', 'same choice, another order', '1 of 2 the same')
    """
    if list(ours) == list(theirs):
        return "same choice"
    shared = len(set(ours) & set(theirs))
    if shared == len(ours) == len(theirs):
        return "same choice, another order"
    return f"{shared} of {len(ours)} the same"
