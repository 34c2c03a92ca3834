"""Twins with a fault each: CrossHair must find it, else its confirmations would say nothing."""

__all__ = [
    "best_total_of_two",
    "filled_over_by_one",
    "place_beside_the_back",
    "strict_second_threshold",
    "total_beyond_the_room",
]


def filled_over_by_one(c0: int, c1: int, budget: int) -> tuple[bool, bool]:
    """A walk with one token too many.

    pre: c0 >= 0 and c1 >= 0 and budget >= 0
    post: c0 * __return__[0] + c1 * __return__[1] <= budget
    """
    left = budget
    first = c0 <= left
    if first:
        left -= c0
    return first, c1 <= left + 1


def place_beside_the_back(rank: int, n: int) -> int:
    """A u-shape whose odd ranks stand one too far back.

    pre: 0 <= rank < n <= 3
    post: 0 <= __return__ < n
    """
    if rank % 2 == 0:
        return rank // 2
    return n - rank // 2


def strict_second_threshold(score: int, low: int, high: int) -> bool:
    """Two thresholds, of which the second is strict.

    post: __return__ == (score >= max(low, high))
    """
    return score >= low and score > high


def best_total_of_two(v0: int, v1: int, w0: int, w1: int, room: int) -> int:
    """A table that looks at each item alone.

    pre: w0 >= 0 and w1 >= 0 and room >= 0
    post: w0 + w1 > room or __return__ >= v0 + v1
    """
    best = max(v0, 0) if w0 <= room else 0
    return max(best, v1) if w1 <= room else best


def total_beyond_the_room(v0: int, w0: int, room: int) -> int:
    """A table that takes what does not fit.

    pre: w0 >= 0 and room >= 0
    post: __return__ == 0 or (__return__ == v0 and w0 <= room)
    """
    return max(v0, 0)
