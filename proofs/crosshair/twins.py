"""What the stages do, on three items, as plain as it can be said.

No attrs, no arrays, no loops over lists of unknown length: every path ends, so all are
walked.  `proofs/conformance` compares each function with the shipped stage.
"""

Three = tuple[int, int, int]
Flags = tuple[bool, bool, bool]

__all__ = [
    "best_total",
    "deduplicated",
    "filled",
    "left_out_as_budget",
    "place_of_rank",
    "prefix_filled",
    "thresholded",
]


def filled(c0: int, c1: int, c2: int, budget: int) -> Flags:
    """What `greedy` takes of three costs, in the order of the ranking.

    pre: c0 >= 0 and c1 >= 0 and c2 >= 0 and budget >= 0
    post: c0 * __return__[0] + c1 * __return__[1] + c2 * __return__[2] <= budget
    post: __return__[0] == (c0 <= budget)
    post: __return__[1] or c1 + c0 * __return__[0] > budget
    post: __return__[2] or c2 + c1 * __return__[1] + c0 * __return__[0] > budget
    """
    left = budget
    first = c0 <= left
    if first:
        left -= c0
    second = c1 <= left
    if second:
        left -= c1
    return first, second, c2 <= left


def prefix_filled(c0: int, c1: int, c2: int, budget: int) -> Flags:
    """What `prefix` takes of three costs, in the order of the ranking.

    pre: c0 >= 0 and c1 >= 0 and c2 >= 0 and budget >= 0
    post: c0 * __return__[0] + c1 * __return__[1] + c2 * __return__[2] <= budget
    post: __return__[0] or not __return__[1]
    post: __return__[1] or not __return__[2]
    post: all(__return__) == (c0 + c1 + c2 <= budget)
    """
    if c0 > budget:
        return False, False, False
    if c0 + c1 > budget:
        return True, False, False
    return True, True, c0 + c1 + c2 <= budget


def left_out_as_budget(cost: int, used: int, budget: int) -> bool:
    """Whether a chunk that was not chosen is out as `budget`; else it is out as `strategy`.

    The first: where `greedy`, with so much used, would not take it; the second: what was used
    and the chunk stay within.

    pre: cost >= 0 and 0 <= used <= budget
    post: __return__ != filled(used, cost, 0, budget)[1]
    post: __return__ or used + cost <= budget
    """
    left = budget - used
    return cost > left


def place_of_rank(rank: int, n: int) -> int:
    """Where `ushape` shows a rank of n chunks.

    pre: 0 <= rank < n <= 3
    post: 0 <= __return__ < n
    post: min(__return__, n - 1 - __return__) == rank // 2
    post: (2 * __return__ if 2 * __return__ < n else 2 * (n - 1 - __return__) + 1) == rank
    """
    if rank % 2 == 0:
        return rank // 2
    return n - 1 - rank // 2


def thresholded(s0: int, s1: int, s2: int, low: int, high: int) -> Flags:
    """What `threshold(low) | threshold(high)` keeps of three scores.

    post: __return__ == (s0 >= max(low, high), s1 >= max(low, high), s2 >= max(low, high))
    """
    once = s0 >= low, s1 >= low, s2 >= low
    return once[0] and s0 >= high, once[1] and s1 >= high, once[2] and s2 >= high


def deduplicated(near01: bool, near02: bool, near12: bool) -> Flags:
    """What `dedup` keeps of three rows, best first, of which these pairs are near-duplicates.

    post: __return__[0]
    post: not (__return__[0] and __return__[1] and near01)
    post: not (__return__[0] and __return__[2] and near02)
    post: not (__return__[1] and __return__[2] and near12)
    post: __return__[1] or near01
    post: __return__[2] or near02 or (near12 and __return__[1])
    """
    second = not near01
    third = not near02 and not (near12 and second)
    return True, second, third


def best_total(values: Three, w0: int, w1: int, w2: int, room: int) -> int:
    """The best total of three items by the table's recursion, item by item.

    pre: w0 >= 0 and w1 >= 0 and w2 >= 0 and room >= 0
    post: __return__ >= 0
    post: w0 > room or __return__ >= values[0]
    post: w1 > room or __return__ >= values[1]
    post: w2 > room or __return__ >= values[2]
    post: w0 + w1 > room or __return__ >= values[0] + values[1]
    post: w0 + w2 > room or __return__ >= values[0] + values[2]
    post: w1 + w2 > room or __return__ >= values[1] + values[2]
    post: w0 + w1 + w2 > room or __return__ >= sum(values)
    post: _is_of_a_subset(__return__, values, w0, w1, w2, room)
    """
    v0, v1, v2 = values
    best = _of_two(v0, v1, w0, w1, room)
    if w2 <= room:
        best = max(best, v2 + _of_two(v0, v1, w0, w1, room - w2))
    return best


def _of_two(v0: int, v1: int, w0: int, w1: int, room: int) -> int:
    best = max(v0, 0) if w0 <= room else 0
    if w1 <= room:
        rest = max(v0, 0) if w0 <= room - w1 else 0
        best = max(best, v1 + rest)
    return best


def _is_of_a_subset(total: int, values: Three, w0: int, w1: int, w2: int, room: int) -> bool:
    """Whether a subset that fits has this total."""
    v0, v1, v2 = values
    return (
        total == 0
        or (total == v0 and w0 <= room)
        or (total == v1 and w1 <= room)
        or (total == v2 and w2 <= room)
        or (total == v0 + v1 and w0 + w1 <= room)
        or (total == v0 + v2 and w0 + w2 <= room)
        or (total == v1 + v2 and w1 + w2 <= room)
        or (total == v0 + v1 + v2 and w0 + w1 + w2 <= room)
    )
