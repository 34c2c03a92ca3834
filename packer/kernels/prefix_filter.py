"""The prefix filter of a set similarity join: which kept texts may reach a Jaccard threshold.

Two sets with Jaccard >= t share at least ceil(t * size) elements, hence one of the rarest
size - ceil(t * size) + 1 elements of each (Bayardo, Ma & Srikant 2007, "Scaling up all pairs
similarity search"); only these are indexed and looked up. The sizes and the positions of what is
shared bound the overlap of the rest (PPJoin: Xiao, Wang, Lin & Yu 2008).
"""

import math

import numpy as np
import numpy.typing as npt

from . import trigrams
from ._jit import kernel

INDPTR = npt.NDArray[np.int64]
GRAMS = npt.NDArray[np.int32]


@kernel
def least(overlap: float) -> int:
    """ceil(overlap), at least 1, and never above it for a rounding error (sets below 1e9)."""
    return max(math.ceil(overlap - 1e-6), 1)


@kernel
def prefix(indptr: INDPTR, row: int, threshold: float) -> int:
    """How many of the rarest trigrams of text `row` are indexed and looked up."""
    size = indptr[row + 1] - indptr[row]
    return int(size - least(threshold * size) + 1)


@kernel
def room(indptr: INDPTR, grams: GRAMS, threshold: float) -> INDPTR:
    """Where the list of each trigram begins in an index of all prefixes, and the end. O(size)."""
    begins = np.zeros(trigrams.vocabulary(indptr, grams) + 1, np.int64)
    for row in range(len(indptr) - 1):
        for p in range(indptr[row], indptr[row] + prefix(indptr, row, threshold)):
            begins[grams[p] + 1] += 1
    for gram in range(len(begins) - 1):
        begins[gram + 1] += begins[gram]
    return begins


@kernel
def insert(
    indptr: INDPTR, grams: GRAMS, row: int, threshold: float, ends: INDPTR, index: GRAMS
) -> None:
    """Append text `row` to the lists of its prefix: pairs (row, position) in `index`."""
    first = indptr[row]
    for at in range(prefix(indptr, row, threshold)):
        gram = grams[first + at]
        slot = 2 * ends[gram]
        index[slot] = row
        index[slot + 1] = at
        ends[gram] += 1


@kernel
def probe(
    indptr: INDPTR,
    grams: GRAMS,
    embedded: npt.NDArray[np.bool_],
    row: int,
    threshold: float,
    begins: INDPTR,
    ends: INDPTR,
    index: GRAMS,
    shared: GRAMS,
    candidates: INDPTR,
) -> int:
    """Collect the indexed texts that may reach the threshold with `row`, return how many.

    ``shared[other]`` (zeros at first) counts the trigrams that both prefixes hold; it is -1
    where the rest of the two sets is too short. Pairs that are both `embedded` are left out.
    """
    first = indptr[row]
    size = indptr[row + 1] - first
    share = threshold / (1.0 + threshold)  # of both sizes, added
    count = 0
    for at in range(prefix(indptr, row, threshold)):
        gram = grams[first + at]
        for slot in range(begins[gram], ends[gram]):
            other = index[2 * slot]
            held = shared[other]
            if held < 0:
                continue
            if held == 0:
                if embedded[row] and embedded[other]:
                    continue
                candidates[count] = other
                count += 1
            other_size = indptr[other + 1] - indptr[other]
            rest = min(size - at, other_size - index[2 * slot + 1])
            if held + rest >= least(share * (size + other_size)):
                shared[other] = held + 1
            else:
                shared[other] = -1
    return count
