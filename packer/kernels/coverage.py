"""Budgeted submodular coverage with relevance, lazily (Lin & Bilmes 2010, 2011; Minoux 1978).

The value of a set is ``sum(worth[i])`` over its rows and, over all rows v, ``weights[v]`` times how
much v is covered: by the greatest similarity to a row of the set (facility location), or by the sum
of the similarities, at most ``ceiling[v]`` (saturated coverage). Negative similarities count as 0,
so the value is monotone and submodular: what a row adds only falls as the set grows.

Similarities are computed when they are needed, and kept for the `LINES` rows that were looked at
first, which are mostly those that are looked at again: no n x n matrix.
"""

import numpy as np
import numpy.typing as npt

from . import cosine, queue, trigrams
from ._jit import kernel
from .rules import KEEP, Ints, Rules, admit, free, started

Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Grams = npt.NDArray[np.int32]
Features = tuple[Vectors, Flags, Ints, Grams]
Near = tuple[Floats, Ints, Grams]

SLACK = 1.0 + 1e-9
"""More than the rounding of a sum in another order, so that a first bound is one."""

LINES = 512
"""Rows whose similarities to all rows are kept."""

BLOCK = 32
"""Embeddings compared with each other while they are in the cache."""


def totals(
    weights: Floats, unit: Vectors, embedded: Flags, indptr: Ints, grams: Grams
) -> tuple[Floats, Floats]:
    """For each row, the sum over all rows of similarity times `weights`, and of similarity.

    Both float64[n], each row with itself included. O(n^2 size / 2) time, O(n) memory.
    """
    marks = np.zeros(trigrams.vocabulary(indptr, grams), np.int32)
    return _totals(weights, marks, unit, embedded, indptr, grams)


@kernel
def _totals(
    weights: Floats, marks: Grams, unit: Vectors, embedded: Flags, indptr: Ints, grams: Grams
) -> tuple[Floats, Floats]:
    n = weights.size
    weighted = np.zeros(n, np.float64)
    plain = np.zeros(n, np.float64)
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        for other in range(end):
            if not embedded[other]:
                continue
            for row in range(max(begin, other), end):
                if embedded[row]:
                    _count(
                        row, other, cosine.similarity(unit, row, other), weights, weighted, plain
                    )
    if indptr[n] > 0:
        for row in range(n):
            trigrams.mark(indptr, grams, row, marks)
            for other in range(row + 1):
                if not (embedded[row] and embedded[other]):
                    value = trigrams.marked(indptr, grams, row, marks, other)
                    _count(row, other, value, weights, weighted, plain)
    return weighted, plain


@kernel
def _count(
    row: int, other: int, similarity: float, weights: Floats, weighted: Floats, plain: Floats
) -> None:
    """Add the similarity of two rows to both their sums."""
    if similarity > 0.0:
        weighted[row] += weights[other] * similarity
        plain[row] += similarity
        if row != other:
            weighted[other] += weights[row] * similarity
            plain[other] += similarity


def select(
    scores: Floats,
    worth: Floats,
    weights: Floats,
    ceiling: Floats,
    upper: Floats,
    rate: Floats,
    costs: Ints,
    budget: int,
    unit: Vectors,
    embedded: Flags,
    indptr: Ints,
    grams: Grams,
    rules: Rules | None = None,
    start: Ints | None = None,
    *,
    lead: bool = False,
) -> tuple[Ints, float, float, int]:
    """The rows that the greedy algorithm chooses, their value, a bound, and how many gains it took.

    `worth`, `weights` float64[n] >= 0; `ceiling` float64[n] >= 0, or empty for facility location;
    `upper` float64[n]: at least what each row alone is worth; `rate` float64[n] > 0: the row with
    the greatest gain * rate goes next, ties: higher score, then lower row, until none fits.
    `costs` int64[n] >= 0. `lead`: the first goes by gain alone.

    The rows, int64[k], in order; the value is that of them and of `start`. No set within the
    budget is worth more than the bound: the value and the best fractional filling of the budget
    with what each other row still adds (Leskovec et al. 2007). Exactly what scanning all rows at
    every step gives. `rules` and `start` as in `mmr.select`. O(n size) time for the first gain of
    a row, O(n) for the next where its line was kept; memory O(LINES n).
    """
    rules = free(len(costs)) if rules is None else rules
    start = np.empty(0, np.int64) if start is None else start.copy()
    marks = np.zeros(trigrams.vocabulary(indptr, grams), np.int32)
    columns = scores, worth, weights, ceiling, upper, rate, costs, budget
    features = unit, embedded, indptr, grams
    return _select(*columns, *features, marks, rules, start, np.bool_(lead))


@kernel
def _select(
    scores: Floats,
    worth: Floats,
    weights: Floats,
    ceiling: Floats,
    upper: Floats,
    rate: Floats,
    costs: Ints,
    budget: int,
    unit: Vectors,
    embedded: Flags,
    indptr: Ints,
    grams: Grams,
    marks: Grams,
    rules: Rules,
    start: Ints,
    lead: np.bool_,
) -> tuple[Ints, float, float, int]:
    n = costs.size
    features = unit, embedded, indptr, grams
    lines = np.empty((min(n, LINES) + 1, n), np.float64)
    line_of = np.full(n + 1, -1, np.int64)  # of each row; the last: how many are kept, - 1
    near = lines, line_of, marks
    state, left = started(start, costs, budget, rules)
    taken, closure = state[0], state[3]
    cover = np.zeros(n, np.float64)
    value = 0.0
    gains = 0
    picked = 0
    chosen = np.empty(n, np.int64)
    for row in start:
        value += _gain(row, worth, weights, ceiling, cover, near, features)
        _cover(row, ceiling, cover, near, features)
    gain = np.empty(n, np.float64)
    bound = np.empty(n, np.float64)
    seen = np.full(n, -1, np.int64)
    heap = np.empty(n, np.int64)
    size = int(np.int64(0))  # typed, or what takes it is compiled for the literal as well
    for row in range(n):
        gain[row] = upper[row] * SLACK
        bound[row] = gain[row] if lead else gain[row] * rate[row]
        if not taken[row] and costs[row] <= left:
            heap[size] = row
            size += 1
    _order(heap, size, bound, scores)
    root = int(np.int64(0))
    while size > 0:
        row = heap[0]
        # What is not addable now never will be.
        addable = costs[row] <= left and not taken[row]
        if addable and seen[row] < picked:
            gain[row] = _gain(row, worth, weights, ceiling, cover, near, features)
            bound[row] = gain[row] if lead else gain[row] * rate[row]
            seen[row] = picked
            gains += 1
            queue.sink(heap, root, size, bound, scores)
            continue
        size -= 1
        heap[0] = heap[size]
        if size:
            queue.sink(heap, root, size, bound, scores)
        if addable:
            reason, count, cost = admit(row, costs, left, rules, state, KEEP)
            if reason == 0:
                left -= cost
                for i in range(count):
                    added = closure[i]
                    value += _gain(added, worth, weights, ceiling, cover, near, features)
                    _cover(added, ceiling, cover, near, features)
                    chosen[picked] = added
                    picked += 1
                if lead:
                    lead = np.bool_(False)
                    for i in range(size):
                        bound[heap[i]] = gain[heap[i]] * rate[heap[i]]
                    _order(heap, size, bound, scores)

    size = int(np.int64(0))
    more = 0.0
    left = budget
    for row in range(n):
        if not taken[row] and costs[row] == 0:  # a rule keeps it out
            more += _gain(row, worth, weights, ceiling, cover, near, features)
        elif not taken[row] and costs[row] <= budget:
            heap[size] = row
            size += 1
            bound[row] = gain[row] / costs[row]
    _order(heap, size, bound, scores)
    while size > 0 and left > 0:
        row = heap[0]
        if seen[row] < picked:
            gain[row] = _gain(row, worth, weights, ceiling, cover, near, features)
            bound[row] = gain[row] / costs[row]
            seen[row] = picked
            gains += 1
            queue.sink(heap, root, size, bound, scores)
            continue
        share = 1.0 if costs[row] <= left else left / costs[row]
        more += gain[row] * share
        left -= min(left, costs[row])
        size -= 1
        heap[0] = heap[size]
        if size:
            queue.sink(heap, root, size, bound, scores)
    return chosen[:picked], value, value + more, gains


@kernel
def _order(heap: Ints, size: int, bound: Floats, scores: Floats) -> None:
    """Make a heap of the first `size` rows. O(size)."""
    for at in range(size // 2 - 1, -1, -1):
        queue.sink(heap, at, size, bound, scores)


@kernel
def _line(row: int, near: Near, features: Features) -> int:
    """Where `lines` has the similarities of a row to all rows, negative ones as 0. O(n size)."""
    lines, line_of, marks = near
    unit, embedded, indptr, grams = features
    n = embedded.size
    if line_of[row] >= 0:
        return int(line_of[row])
    place = line_of[n] + 1
    if place + 1 < lines.shape[0]:
        line_of[n] = place
        line_of[row] = place
    trigrams.mark(indptr, grams, row, marks)
    for other in range(n):
        if embedded[row] and embedded[other]:
            value = cosine.similarity(unit, row, other)
        else:
            value = trigrams.marked(indptr, grams, row, marks, other)
        lines[place, other] = max(value, 0.0)
    return int(place)


@kernel
def _gain(
    row: int,
    worth: Floats,
    weights: Floats,
    ceiling: Floats,
    cover: Floats,
    near: Near,
    features: Features,
) -> float:
    """What a row adds to the value. It only falls as `cover` grows, rounding included."""
    lines = near[0]
    line = _line(row, near, features)
    total = 0.0
    if ceiling.size:
        for other in range(weights.size):
            value = min(lines[line, other], ceiling[other] - cover[other])
            total += weights[other] * value
    else:
        for other in range(weights.size):
            value = max(lines[line, other] - cover[other], 0.0)
            total += weights[other] * value
    return float(worth[row]) + total


@kernel
def _cover(row: int, ceiling: Floats, cover: Floats, near: Near, features: Features) -> None:
    """Bring `cover` up to date with a row that is in now."""
    lines = near[0]
    line = _line(row, near, features)
    for other in range(cover.size):
        value = lines[line, other]
        if ceiling.size:
            cover[other] = min(cover[other] + value, ceiling[other])
        else:
            cover[other] = max(cover[other], value)
