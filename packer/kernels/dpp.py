"""Greedy MAP of a determinantal point process under a budget, lazily (Chen, Zhang & Zhou 2018).

The rows that are in have the matrix of their similarities, S = V V' by Cholesky, with a row of V for
each. Another row of the pool gets its own, one entry for each that is in, and what that leaves of
its 1, the *residual*, is the factor by which it multiplies det S. Entries never change once they are
computed and residuals only fall, so that a value computed against fewer rows is an upper bound
(Minoux 1978): only the row at the top of a heap is brought up to date, one entry at a time.
"""

import numpy as np
import numpy.typing as npt

from . import cosine, queue, trigrams
from ._jit import kernel, reassociating
from .rules import KEEP, Ints, Rules, admit, free, started

Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Grams = npt.NDArray[np.int32]
Features = tuple[Vectors, Flags, Ints, Grams]

SPANNED = 1e-5
"""A residual that is 0 but for the rounding of float32 similarities."""


def select(
    scores: Floats,
    quality: Floats,
    weight: float,
    costs: Ints,
    budget: int,
    unit: Vectors,
    embedded: Flags,
    indptr: Ints,
    grams: Grams,
    rules: Rules | None = None,
    start: Ints | None = None,
) -> tuple[Ints, Floats, int]:
    """The rows that the greedy algorithm chooses, the residuals, and how many entries it took.

    Until none fits, the row with the greatest quality + weight * log(residual) among those that
    fit, ties: higher score, then lower row. With weight > 0 a row whose residual is at most
    `SPANNED` is never chosen. `scores`, `quality` float64[n], finite; `weight` >= 0; `costs`
    int64[n] >= 0; the features as in `pairs`; `rules` and `start` as in `mmr.select`.

    The rows, int64[k], in order; of those left out the residuals, float64[n], are upper bounds.
    Exactly what scanning all rows at every step gives. O(n k (size + k)) time at worst, memory
    O(n k) for the rows of V.
    """
    rules = free(len(scores)) if rules is None else rules
    start = np.empty(0, np.int64) if start is None else start.copy()
    marks = np.zeros(trigrams.vocabulary(indptr, grams), np.int32)
    features = unit, embedded, indptr, grams
    return _select(scores, quality, weight, costs, budget, *features, marks, rules, start)


@kernel
def _select(
    scores: Floats,
    quality: Floats,
    weight: float,
    costs: Ints,
    budget: int,
    unit: Vectors,
    embedded: Flags,
    indptr: Ints,
    grams: Grams,
    marks: Grams,
    rules: Rules,
    start: Ints,
) -> tuple[Ints, Floats, int]:
    n = scores.size
    features = unit, embedded, indptr, grams
    state, left = started(start, costs, budget, rules)
    _, group, amount, _, most, rival_at, rivals, _, _ = rules
    taken, total, _, closure, _, _ = state
    chosen = np.empty(n, np.int64)
    residual = np.ones(n, np.float64)
    entries = np.empty((n, min(n, 16)), np.float64)
    seen = np.zeros(n, np.int64)
    picked = 0
    computed = 0
    if weight > 0.0:
        for row in start:
            computed += _entries(row, picked, chosen, entries, seen, residual, marks, features)
            chosen[picked] = row
            picked += 1
            entries = _room(entries, picked)
    heap = np.empty(n, np.int64)
    size = int(np.int64(0))  # typed, or what takes it is compiled for the literal as well
    bound = quality.copy()
    for row in range(n):
        if not taken[row] and costs[row] <= left:
            heap[size] = row
            size += 1
    root = int(np.int64(0))
    for at in range(size // 2 - 1, -1, -1):
        queue.sink(heap, at, size, bound, scores)
    begin = picked
    while size > 0:
        row = heap[0]
        # What is not addable now never will be. What it needs is looked at only before it goes in.
        addable = costs[row] <= left and not taken[row] and bound[row] > -np.inf
        for j in range(most.size):
            if group[j, row] >= 0 and total[j, group[j, row]] + amount[j, row] > most[j]:
                addable = False
        if rivals.size:
            for k in range(rival_at[row], rival_at[row + 1]):
                addable &= not taken[rivals[k]]
        if addable and weight > 0.0 and seen[row] < picked:
            rival = queue.rival(heap, size, bound, scores)
            marked = False
            while seen[row] < picked and bound[row] > -np.inf:
                if rival >= 0 and queue.before(rival, row, bound, scores):
                    break
                if not marked:
                    trigrams.mark(indptr, grams, row, marks)
                    marked = True
                _entry(row, chosen, entries, seen, residual, marks, features)
                computed += 1
                bound[row] = -np.inf
                if residual[row] > SPANNED:
                    bound[row] = quality[row] + weight * np.log(residual[row])
        else:
            if addable:
                reason, count, cost = admit(row, costs, left, rules, state, KEEP)
                if reason == 0:
                    left -= cost
                    for i in range(count):
                        added = closure[i]
                        if weight > 0.0:
                            computed += _entries(
                                added, picked, chosen, entries, seen, residual, marks, features
                            )
                        chosen[picked] = added
                        picked += 1
                        if weight > 0.0:
                            entries = _room(entries, picked)
            size -= 1
            heap[0] = heap[size]
        queue.sink(heap, root, size, bound, scores)
    return chosen[begin:picked], residual, computed


@kernel
def _entries(
    row: int,
    picked: int,
    chosen: Ints,
    entries: Floats,
    seen: Ints,
    residual: Floats,
    marks: Grams,
    features: Features,
) -> int:
    """Bring a row up to date with all that are in; how many entries that took."""
    first = seen[row]
    trigrams.mark(features[2], features[3], row, marks)
    while seen[row] < picked:
        _entry(row, chosen, entries, seen, residual, marks, features)
    return int(picked - first)


@kernel
def _entry(
    row: int,
    chosen: Ints,
    entries: Floats,
    seen: Ints,
    residual: Floats,
    marks: Grams,
    features: Features,
) -> None:
    """The next entry of a row, which is the one marked last. O(size + k)."""
    unit, embedded, indptr, grams = features
    place = seen[row]
    other = chosen[place]
    if embedded[row] and embedded[other]:
        value = cosine.similarity(unit, row, other)
    else:
        value = trigrams.marked(indptr, grams, row, marks, other)
    value -= inner(entries, row, other, place)
    # One that a rule forced in, and that the others span, adds nothing to what they span.
    entry = value / np.sqrt(residual[other]) if residual[other] > SPANNED else 0.0
    entries[row, place] = entry
    residual[row] -= entry * entry
    seen[row] += 1


@reassociating
def inner(entries: Floats, row: int, other: int, size: int) -> float:
    """The product of the first `size` entries of two rows. O(size)."""
    left = entries[row]
    right = entries[other]
    total = 0.0
    for at in range(size):
        total += left[at] * right[at]
    return total


@kernel
def _room(entries: Floats, picked: int) -> Floats:
    """The same entries, with a column for each that is in: twice the columns where one is lacking."""
    n, columns = entries.shape
    if picked <= columns:
        return entries
    wider = np.empty((n, min(n, 2 * columns)), np.float64)
    for row in range(n):
        for at in range(columns):
            wider[row, at] = entries[row, at]
    return wider
