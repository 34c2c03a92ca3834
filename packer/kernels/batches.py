"""The commonest stages for many pools at once: one call for a batch of requests.

The candidates of all pools stand one after the other; pool r has ``offsets[r]:offsets[r + 1]``,
and rows count from the first candidate of the batch.  Each pool is treated as by the kernel or
stage for one pool, to the last bit.
"""

import numpy as np
import numpy.typing as npt

from . import cosine, trigrams
from ._jit import kernel
from .mmr import _select as _mmr_select
from .rules import Rules, free

Ints = npt.NDArray[np.int64]


@kernel
def fill(
    order: Ints,
    costs: Ints,
    offsets: Ints,
    budgets: Ints,
    stop: bool,  # noqa: FBT001  # as `prefix` or as `greedy`
) -> tuple[Ints, Ints]:
    """The rows taken when going down `order` in each pool, and where those of each pool end.

    `order` int64[n]: the rows of each pool, best first, at the places of that pool; `costs`
    int64[n] >= 0, `budgets` int64[p].  What does not fit is skipped, or with `stop` ends the
    choice of its pool.  Gives int64[k] and int64[p + 1].  O(n).

    >>> order, costs = np.array([1, 0, 3, 2]), np.array([3, 5, 4, 4])
    >>> taken, ends = fill(order, costs, np.array([0, 2, 4]), np.array([7, 8]), False)
    >>> taken.tolist(), ends.tolist()
    ([1, 3, 2], [0, 1, 3])
    """
    pools = len(offsets) - 1
    chosen = np.empty(len(order), np.int64)
    ends = np.zeros(pools + 1, np.int64)
    size = int(np.int64(0))
    for pool in range(pools):
        left = budgets[pool]
        for place in range(offsets[pool], offsets[pool + 1]):
            row = order[place]
            if costs[row] <= left:
                left -= costs[row]
                chosen[size] = row
                size += 1
            elif stop:
                break
        ends[pool + 1] = size
    return chosen[:size], ends


def mmr(
    scores: npt.NDArray[np.float64],
    costs: Ints,
    offsets: Ints,
    budgets: Ints,
    lambda_: float,
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: Ints,
    grams: npt.NDArray[np.int32],
) -> tuple[Ints, Ints]:
    """What `packer.kernels.mmr.select` chooses in each pool, and where the choices of each end.

    The features as there, for all candidates of the batch.  Gives int64[k] and int64[p + 1].
    """
    most = int(np.diff(offsets).max(initial=0))
    features = unit, embedded, indptr, grams
    return _mmr(scores, costs, offsets, budgets, lambda_, *features, free(most))


@kernel
def _mmr(
    scores: npt.NDArray[np.float64],
    costs: Ints,
    offsets: Ints,
    budgets: Ints,
    lambda_: float,
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: Ints,
    grams: npt.NDArray[np.int32],
    rules: Rules,
) -> tuple[Ints, Ints]:
    pools = len(offsets) - 1
    chosen = np.empty(len(scores), np.int64)
    ends = np.zeros(pools + 1, np.int64)
    nothing = np.empty(0, np.int64)
    size = int(np.int64(0))
    for pool in range(pools):
        start, end = offsets[pool], offsets[pool + 1]
        rows, _ = _mmr_select(
            scores[start:end],
            costs[start:end],
            budgets[pool],
            lambda_,
            unit[start:end],
            embedded[start:end],
            indptr[start : end + 1],
            grams,
            rules,
            nothing,
        )
        for row in rows:
            chosen[size] = start + row
            size += 1
        ends[pool + 1] = size
    return chosen[:size], ends


@kernel
def dedup(
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: Ints,
    grams: npt.NDArray[np.int32],
    order: Ints,
    offsets: Ints,
    threshold: float,
) -> tuple[Ints, npt.NDArray[np.float64]]:
    """As `packer.kernels.near_duplicates.dedup` in each pool: (survivor[n], similarity[n]).

    Each row is compared with every kept one, which is the quickest way in small pools: O(n k) of
    them for k kept.  `order` as in `fill`.
    """
    n = len(order)
    survivor = np.full(n, -1, np.int64)
    similarity = np.zeros(n, np.float64)
    marks = np.zeros(trigrams.vocabulary(indptr, grams), np.int32)
    for pool in range(len(offsets) - 1):
        start = offsets[pool]
        for place in range(start, offsets[pool + 1]):
            row = order[place]
            has_marks = False
            for before in range(start, place):
                other = order[before]
                if survivor[other] >= 0:
                    continue
                if embedded[row] and embedded[other]:
                    value = cosine.similarity(unit, row, other)
                else:
                    if not has_marks:
                        trigrams.mark(indptr, grams, row, marks)
                        has_marks = True
                    value = trigrams.marked(indptr, grams, row, marks, other)
                if value >= threshold and value > similarity[row]:
                    survivor[row] = other
                    similarity[row] = value
    return survivor, similarity
