"""The cosine similarity of two embeddings of a pool.

`unit` is float32[n, d], C-contiguous, read-only, each row of length 1 or all zero; d may be 0.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from ._jit import kernel, reassociating

# Unit rows of float32 that are equal have a dot product within 1e-5 of 1, for any d up to 1e5.
NEARLY_ONE: Final = 1.0 - 1e-4
BELOW_ONE: Final = 1.0 - 2.0**-53


@reassociating
def dot(unit: npt.NDArray[np.float32], i: int, j: int) -> np.float32:
    """Dot product of rows i and j in float32, within 1e-6 of the exact one. O(d)."""
    left = unit[i]
    right = unit[j]
    total = np.float32(0.0)
    for k in range(len(left)):
        total += left[k] * right[k]
    return total


@reassociating
def dots(
    unit: npt.NDArray[np.float32], i: int, a: int, b: int, c: int, d: int
) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """Dot products of row i with four others, each as precise as `dot`. O(d).

    Half the time of four calls of `dot`, as row i is read once.
    """
    row, left, right, above, below = unit[i], unit[a], unit[b], unit[c], unit[d]
    first, second = np.float32(0.0), np.float32(0.0)
    third, fourth = np.float32(0.0), np.float32(0.0)
    for at in range(len(row)):
        x = row[at]
        first += x * left[at]
        second += x * right[at]
        third += x * above[at]
        fourth += x * below[at]
    return first, second, third, fourth


@kernel
def equal(unit: npt.NDArray[np.float32], i: int, j: int) -> bool:
    """Whether rows i and j are the same vector. O(d)."""
    for k in range(unit.shape[1]):
        if unit[i, k] != unit[j, k]:
            return False
    return True


@kernel
def similarity(unit: npt.NDArray[np.float32], i: int, j: int) -> float:
    """Cosine of rows i and j, in [-1, 1]. O(d).

    Equal rows have exactly 1.0 and rows that differ are below it, so that a threshold of 1.0
    separates them; a zero row has 0.0 to every row, itself included.

    >>> unit = np.array([[1, 0], [0.6, 0.8], [1, 0], [0, 0]], dtype=np.float32)
    >>> unit.flags.writeable = False
    >>> [round(float(similarity(unit, 0, j)), 6) for j in (2, 3, 1)]
    [1.0, 0.0, 0.6]
    """
    return of_dot(unit, i, j, np.float64(dot(unit, i, j)))


@kernel
def of_dot(unit: npt.NDArray[np.float32], i: int, j: int, value: float) -> float:
    """The cosine of rows i and j whose dot product is `value`. O(1), and O(d) close to 1."""
    if value > NEARLY_ONE:
        if equal(unit, i, j):
            return 1.0
        return min(value, BELOW_ONE)
    return max(value, -1.0)


@kernel
def nearest(unit: npt.NDArray[np.float32], i: int, a: int, b: int, c: int, d: int) -> float:
    """The greatest cosine of row i with four others (rows may repeat). O(d)."""
    first, second, third, fourth = dots(unit, i, a, b, c, d)
    most = np.float64(max(first, second, third, fourth))
    if most <= NEARLY_ONE:
        return max(most, -1.0)
    return max(
        of_dot(unit, i, a, np.float64(first)),
        of_dot(unit, i, b, np.float64(second)),
        of_dot(unit, i, c, np.float64(third)),
        of_dot(unit, i, d, np.float64(fourth)),
    )
