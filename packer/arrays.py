"""The array types of the library, named once, and the rule that columns are read-only."""

from typing import Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Ints", "Vectors", "best_first", "frozen", "sealed", "squares"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Vectors: TypeAlias = npt.NDArray[np.float32]

Element = TypeVar("Element", bound=np.generic)


def frozen(array: npt.NDArray[Element]) -> npt.NDArray[Element]:
    """A read-only view of `array`; the array itself stays as it is.

    Every column that flows between stages is one, so that a stage cannot change another's
    input, and so that kernels are compiled for one kind of array.
    """
    view = array.view()
    view.setflags(write=False)
    return view


def sealed(array: npt.NDArray[Element]) -> npt.NDArray[Element]:
    """The array itself, read-only from now on: for one that was just made."""
    array.setflags(write=False)
    return array


def squares(vectors: Vectors) -> Vectors:
    """float32[n]: the squared length of each row, in one pass; NaN or infinite where a row is.

    It is also infinite, or 0, where the square of a finite row leaves float32.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found: Vectors = np.einsum("ij,ij->i", vectors, vectors)
    return found


MANY: Final = 500
"""From so many scores on it pays to look for ties first."""


def best_first(scores: Floats) -> Ints:
    """int64[n]: the rows by score, best first; equal scores keep their order.  O(n log n).

    >>> best_first(np.array([0.2, 0.9, 0.9])).tolist()
    [1, 2, 0]
    """
    if len(scores) > MANY:  # a stable sort takes five times as long, and only ties need it
        order = np.argsort(-scores)
        ranked = scores[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order
    return np.argsort(-scores, kind="stable")
