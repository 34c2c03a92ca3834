"""Which pairs of two blocks of embeddings may reach a given cosine: a filter, never the number.

Both blocks are transposed, so that a vector register holds one dimension of many rows and no sum
runs across a register. Only the first `depth` dimensions are multiplied: what the others can add
is at most the product of the lengths of what is left of both rows (Cauchy & Schwarz), and near
orthogonal rows cannot reach a threshold of 0.85 after a fraction of the dimensions.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from ._jit import kernel, reassociating

BLOCK: Final = 128  # rows of a block; a constant, so that the compiler sees no aliasing below

FLOATS = npt.NDArray[np.float32]
ROWS = npt.NDArray[np.int64]


@kernel
def head(d: int, threshold: float) -> int:
    """How many of `d` dimensions to multiply first: a multiple of 4, d rounded up at most.

    Orthogonal rows are ruled out after a fraction 1 - threshold; twice that leaves room for the
    similarity that the rows of one pool have anyway.
    """
    depth = min(max(2.0 * (1.0 - threshold) * d, 64.0), np.float64(d))
    return 4 * math.ceil(depth / 4.0)


@kernel
def tails(unit: FLOATS, depth: int) -> FLOATS:
    """Length of what is left of each row after `depth` dimensions, float32[n]. O(n d)."""
    n = len(unit)
    rest = np.empty(n, np.float32)
    for row in range(n):
        squares = 0.0
        for k in range(depth, unit.shape[1]):
            squares += np.float64(unit[row, k]) * np.float64(unit[row, k])
        rest[row] = math.sqrt(squares)
    return rest


@kernel
def transpose(
    unit: FLOATS,
    rest: FLOATS,
    rows: ROWS,
    start: int,
    size: int,
    depth: int,
    block: FLOATS,
    block_tails: FLOATS,
) -> None:
    """Write dimension k of row ``rows[start + b]``, b < size, to ``block[k * BLOCK + b]``.

    Zeros stand where there is no row or dimension, up to a multiple of 4 of both.
    """
    d = unit.shape[1]
    for b in range(size):
        block_tails[b] = rest[rows[start + b]]
    for first in range(0, size, 16):  # read 16 rows in step, so that each line is written once
        last = min(first + 16, size)
        for k in range(min(depth, d)):
            for b in range(first, last):
                block[k * BLOCK + b] = unit[rows[start + b], k]
    for k in range(d, depth):
        for b in range(size):
            block[k * BLOCK + b] = 0.0
    for b in range(size, (size + 3) // 4 * 4):
        for k in range(depth):
            block[k * BLOCK + b] = 0.0


@reassociating
def products(left: FLOATS, top: int, right: FLOATS, depth: int, sums: FLOATS) -> None:
    """Dot products of four rows of `left` from `top` on with all rows of `right`.

    Row a with row b goes to ``sums[a * BLOCK + b]``; `depth` is a multiple of 4. The inner loop
    has a constant length, past the last row of `right` too, since that halves its time.
    """
    for at in range(4 * BLOCK):
        sums[at] = 0.0
    for k in range(0, depth, 4):
        at = k * BLOCK + top
        a0, a1, a2, a3 = left[at], left[at + 1], left[at + 2], left[at + 3]
        at += BLOCK
        b0, b1, b2, b3 = left[at], left[at + 1], left[at + 2], left[at + 3]
        at += BLOCK
        c0, c1, c2, c3 = left[at], left[at + 1], left[at + 2], left[at + 3]
        at += BLOCK
        d0, d1, d2, d3 = left[at], left[at + 1], left[at + 2], left[at + 3]
        rows = right[k * BLOCK : (k + 4) * BLOCK]
        for b in range(BLOCK):
            w, x, y, z = rows[b], rows[BLOCK + b], rows[2 * BLOCK + b], rows[3 * BLOCK + b]
            sums[b] += a0 * w + b0 * x + c0 * y + d0 * z
            sums[BLOCK + b] += a1 * w + b1 * x + c1 * y + d1 * z
            sums[2 * BLOCK + b] += a2 * w + b2 * x + c2 * y + d2 * z
            sums[3 * BLOCK + b] += a3 * w + b3 * x + c3 * y + d3 * z


@kernel
def near(
    left: FLOATS,
    left_tails: FLOATS,
    floors: FLOATS,
    left_size: int,
    right: FLOATS,
    right_tails: FLOATS,
    right_size: int,
    depth: int,
    sums: FLOATS,
    passed: npt.NDArray[np.bool_],
    hits: ROWS,
) -> None:
    """Mark the pairs of two transposed blocks that may reach the floor of the left row.

    ``passed[a * BLOCK + b]`` is True if row a of `left` may reach ``floors[a]`` with row b of
    `right`, and means nothing where ``hits[a]``, their count, is 0.
    """
    for top in range(0, left_size, 4):
        products(left, top, right, depth, sums)
        for a in range(top, min(top + 4, left_size)):
            tail = left_tails[a]
            floor = floors[a]
            row = sums[(a - top) * BLOCK : (a - top + 1) * BLOCK]
            count = 0
            for b in range(right_size):
                count += row[b] + tail * right_tails[b] >= floor
            hits[a] = count
            if count > 0:
                flags = passed[a * BLOCK : (a + 1) * BLOCK]
                for b in range(right_size):
                    flags[b] = row[b] + tail * right_tails[b] >= floor
