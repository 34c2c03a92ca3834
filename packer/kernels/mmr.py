"""Maximal marginal relevance under a budget (Carbonell & Goldstein 1998), lazily.

The value of a candidate, lambda * score - (1 - lambda) * max similarity to the chosen, only falls
as the chosen grow, so a value computed against fewer of them is an upper bound (Minoux 1978).
Candidates stand in a heap by that bound; only the one at the top is brought up to date, four
comparisons at a time, and only until it falls behind the next.
"""

import numpy as np
import numpy.typing as npt

from . import cosine, queue, trigrams
from ._jit import kernel
from .rules import KEEP, PROBE, Ints, Rules, admit, free, started

LANES = 4
"""With so many chosen rows a candidate is compared at once: it is read once for all."""


def select(
    scores: npt.NDArray[np.float64],
    costs: npt.NDArray[np.int64],
    budget: int,
    lambda_: float,
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    rules: Rules | None = None,
    start: Ints | None = None,
) -> npt.NDArray[np.int64]:
    """The rows that MMR chooses, int64[k], in the order in which it chooses them.

    First the best score among those with cost <= budget, then, until none fits, the best value
    among those that fit what remains. Ties: higher score, then lower row. The result is exactly
    that of the algorithm which scans all candidates at every step.

    Under `rules` a row must be addable, see `packer.kernels.rules`: it has its own value, and
    what it needs comes in just before it. The rows of `start` are in from the beginning: the
    first choice is by value then, they are charged to the budget, and they are not returned.

    `scores` float64[n], finite; `costs` int64[n] >= 0; 0 <= `lambda_` <= 1; the features as in
    `pairs`. O(n k size) time at worst, in practice close to O(n size); O(n) memory and one mark
    per trigram.
    """
    features = unit, embedded, indptr, grams
    return trace(scores, costs, budget, lambda_, *features, rules, start)[0]


def trace(
    scores: npt.NDArray[np.float64],
    costs: npt.NDArray[np.int64],
    budget: int,
    lambda_: float,
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    rules: Rules | None = None,
    start: Ints | None = None,
) -> tuple[npt.NDArray[np.int64], int]:
    """As `select`, with the number of similarities that it computed."""
    rules = free(len(scores)) if rules is None else rules
    start = np.empty(0, np.int64) if start is None else start.copy()
    features = unit, embedded, indptr, grams
    return _select(scores, costs, budget, lambda_, *features, rules, start)


@kernel
def _select(
    scores: npt.NDArray[np.float64],
    costs: npt.NDArray[np.int64],
    budget: int,
    lambda_: float,
    unit: npt.NDArray[np.float32],
    embedded: npt.NDArray[np.bool_],
    indptr: npt.NDArray[np.int64],
    grams: npt.NDArray[np.int32],
    rules: Rules,
    start: Ints,
) -> tuple[npt.NDArray[np.int64], int]:
    n = scores.shape[0]
    compared = 0
    state, left = started(start, costs, budget, rules)
    _, group, amount, _, most, rival_at, rivals, _, parents = rules
    taken, total, _, closure, _, _ = state
    ruled = most.size + rivals.size + parents.size > 0
    chosen = np.empty(n, np.int64)
    picked = 0
    for row in start:
        chosen[picked] = row
        picked += 1
    if picked == 0:
        first = int(np.int64(-1))  # typed, or what takes it is compiled for the literal as well
        for row in range(n):
            if costs[row] <= left and (first < 0 or scores[row] > scores[first]):
                if not ruled or admit(row, costs, left, rules, state, PROBE)[0] == 0:
                    first = row
        if first < 0:
            return chosen[:0], compared
        _, size, cost = admit(first, costs, left, rules, state, KEEP)
        left -= cost
        for i in range(size):
            chosen[picked] = closure[i]
            picked += 1

    heap = np.empty(n, np.int64)
    size = int(np.int64(0))  # as `first`
    bound = np.empty(n, np.float64)
    nearest = np.empty(n, np.float64)  # greatest similarity to the first seen[row] chosen
    seen = np.zeros(n, np.int64)
    for row in range(n):
        if not taken[row] and costs[row] <= left:
            heap[size] = row
            size += 1
            nearest[row] = -1.0 if embedded[row] else 0.0
            bound[row] = lambda_ * scores[row] - (1.0 - lambda_) * nearest[row]
    root = int(np.int64(0))
    for at in range(size // 2 - 1, -1, -1):
        queue.sink(heap, at, size, bound, scores)

    marks = np.zeros(trigrams.vocabulary(indptr, grams), np.int32)
    while size > 0:
        row = heap[0]
        # What is not addable now never will be. What it needs is looked at only before it goes in.
        addable = costs[row] <= left and not taken[row]
        for j in range(most.size):
            if group[j, row] >= 0 and total[j, group[j, row]] + amount[j, row] > most[j]:
                addable = False
        if rivals.size:
            for k in range(rival_at[row], rival_at[row + 1]):
                addable &= not taken[rivals[k]]
        if addable and seen[row] < picked:
            rival = queue.rival(heap, size, bound, scores)
            has_marks = False
            while seen[row] < picked:
                at = seen[row]
                count = 0
                if embedded[row]:
                    while count < LANES and at + count < picked and embedded[chosen[at + count]]:
                        count += 1
                if count > 0:
                    # Always four, so that a pair has one similarity wherever it stands.
                    a, b = chosen[at], chosen[at + min(1, count - 1)]
                    c, d = chosen[at + min(2, count - 1)], chosen[at + count - 1]
                    near = cosine.nearest(unit, row, a, b, c, d)
                else:
                    if not has_marks:
                        trigrams.mark(indptr, grams, row, marks)
                        has_marks = True
                    near = trigrams.marked(indptr, grams, row, marks, chosen[at])
                    count = 1
                seen[row] += count
                compared += count
                if near > nearest[row]:
                    nearest[row] = near
                    bound[row] = lambda_ * scores[row] - (1.0 - lambda_) * near
                    if rival >= 0 and queue.before(rival, row, bound, scores):
                        break
        else:
            if addable:
                reason, count, cost = admit(row, costs, left, rules, state, KEEP)
                if reason == 0:
                    left -= cost
                    for i in range(count):
                        chosen[picked] = closure[i]
                        picked += 1
            size -= 1
            heap[0] = heap[size]
        queue.sink(heap, root, size, bound, scores)
    return chosen[start.size : picked], compared
