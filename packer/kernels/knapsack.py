"""The 0/1 knapsack problem, solved exactly without a table over the capacity.

`knapsack_rank` finds the items that matter, `knapsack_core` searches among them (*minknap*,
Pisinger 1997). That is quick unless values are nearly an affine function of weights, where the
linear bound is too weak. A second search then has a second constraint, which holds anyway: how
many items a subset can have at most, or must have at least, to beat the best one known. It is
joined with the first as a surrogate, as *combo* does (Martello, Pisinger & Toth, Dynamic
programming and strong bounds for the 0-1 knapsack problem, Management Science 45(3), 1999).
"""

import numpy as np

from ._jit import kernel
from .knapsack_core import search
from .knapsack_rank import SLACK, Flags, Ints, broken, line, reach

WORK_LIMIT = 2_000_000
"""A `work_limit` that takes about 25 ms and 50 MB when it is reached."""

_UNSHIFTED = 0, 0  # shift, and a count that it makes no difference to
_FAR = 64  # a shift is at most so many times the largest weight
_FIRST = 32  # the first search gets this part of the limit


@kernel
def divisor(numbers: Ints) -> int:
    """The greatest common divisor of positive numbers, in O(n), and usually at once.

    >>> int(divisor(np.array([10, 15])))
    5
    """
    common = 0
    for number in numbers:
        rest = number
        while common:
            rest, common = common, rest % common
        common = rest
        if common == 1:
            break
    return common


def reduced(numbers: Ints) -> tuple[Ints, int]:
    """A copy divided by the greatest common divisor, and this. O(n)."""
    numbers = numbers.copy()  # writable and contiguous: one specialisation of each kernel
    common = divisor(numbers)
    return (numbers if common == 1 else numbers // common), common  # a division costs


def surrogate(values: Ints, weights: Ints, room: int, best: int) -> tuple[int, int]:
    """The (shift, count) for `search` that make the linear bound lowest; (0, 0) for none.

    By bisection over the shift, which the bound is quasi-convex in: O(n log n + n log(weight)).
    """
    n = values.size
    most = int(np.searchsorted(np.cumsum(np.sort(weights)), room, side="right"))
    least = int(np.searchsorted(np.cumsum(np.sort(values)[::-1]), best, side="right")) + 1
    size = broken(values, weights, room, *_UNSHIFTED)[-1]
    if size >= most:
        sign, count, far = 1, most, _FAR * int(weights.max())
    elif size < least < n:
        # Every shifted weight stays above zero, and their sum above the shifted capacity.
        spare = (int(weights.sum()) - room - 1) // (n - least)
        sign, count, far = -1, least, min(int(weights.min()) - 1, spare)
    else:
        return 0, 0

    def linear(shift: int) -> tuple[float, bool]:
        rank, _, _, order, s, value, weight, size = broken(values, weights, room, shift, count)
        bound = value + (room - weight + shift * (count - size)) * rank[order[s]]
        return float(bound), bool((size >= count) == (sign == 1))

    near, far = 0, min(far, (1 << 61) // n)
    while far - near > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if linear(sign * middle)[1] else (near, middle)
    return min((linear(sign * shift)[0], sign * shift) for shift in (near, far))[1], count


def searched_on(
    values: Ints, weights: Ints, room: int, best: int, chosen: Flags, work_limit: int
) -> tuple[int, int, int]:
    """The second search, among the items that the first leaves open; as `search`."""
    rank, _, high, order, s, value, weight, _ = broken(values, weights, room, *_UNSHIFTED)
    linear = line(values, rank, order, s, room - weight)
    far = reach(linear, best + 1 - value)
    if far < 0.0:
        return best, best, 0
    a, b = values.astype(np.float64), weights * linear[0]
    is_open = np.abs(a - b) <= far + (a + b) * SLACK
    inside = rank > high
    inside[order[:s]] = True
    inside &= ~is_open
    base, room = int(values[inside].sum()), room - int(weights[inside].sum())
    (values, unit), (weights, grain) = reduced(values[is_open]), reduced(weights[is_open])
    floor, room = (best - base) // unit, room // grain
    # The break item is open, so not all that is open fits. Now fine steps for the shift, as far
    # as shifted weights and their sums stay exact.
    spare = min(55 - int(weights.sum()).bit_length(), 46 - int(weights.max()).bit_length())
    spare = max(0, spare)
    weights, room = weights << spare, room << spare
    limits = (room, *surrogate(values, weights, room, floor))
    picked = chosen[is_open]
    found, bound, work = search(values, weights, limits, floor, picked, work_limit)
    if found > floor:
        best = base + found * unit
        chosen[:] = inside
        chosen[is_open] = picked
    return best, max(best, base + bound * unit), work


def counted(
    values: Ints, weights: Ints, capacity: int, work_limit: int
) -> tuple[Flags, int, bool, int]:
    """As `solve`, and the work that it took."""
    if weights.sum() <= capacity:
        return np.ones(values.size, dtype=np.bool_), int(values.sum()), True, 0
    chosen = np.zeros(values.size, dtype=np.bool_)
    (values, unit), (weights, grain) = reduced(values), reduced(weights)
    room = capacity // grain
    first = work_limit // _FIRST
    best, bound, work = search(values, weights, (room, *_UNSHIFTED), 0, chosen, first)
    if best < bound:
        best, second, more = searched_on(values, weights, room, best, chosen, work_limit - work)
        bound, work = min(bound, second), work + more
    return chosen, int(bound * unit), bool(best == bound), int(work)


def solve(values: Ints, weights: Ints, capacity: int, work_limit: int) -> tuple[Flags, int, bool]:
    """The subset with the highest total value among those of weight `capacity` or less.

    values[n] >= 1 with a sum below 2**53; weights[n] from 1 to `capacity`, each below 2**44,
    with a sum below 2**62. `work_limit` is the number of states that may be merged, below
    2**31. Returns (chosen[n], bound, proven): no subset has a total above `bound`, and `proven`
    says that the chosen one reaches it; otherwise the limit was hit, and it is the best found.
    Time O(n) and a sort of the items that the bounds leave open, usually a few dozen, and the
    work; memory O(n) and up to 100 bytes a unit of work. Among equal subsets the choice
    depends on nothing but the arguments.

    >>> values, weights = np.array([60, 100, 120]), np.array([10, 20, 30])
    >>> chosen, bound, proven = solve(values, weights, 50, WORK_LIMIT)
    >>> chosen.tolist(), bound, proven
    ([False, True, True], 220, True)
    """
    return counted(values, weights, capacity, work_limit)[:3]
