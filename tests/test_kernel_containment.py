"""What stands inside another, by sets of numbers, against a double loop."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import example, given
from hypothesis import strategies as st

from packer.kernels import containment

from .similarity_pools import frozen, only_texts

SETS = st.lists(st.sets(st.integers(0, 7), max_size=6).map(sorted), max_size=9)
SHARES = st.sampled_from([1.0, 0.9, 0.75, 2 / 3, 0.5, 1 / 3, 0.1])


def naive(
    sets: Sequence[set[int]], order: Sequence[int], threshold: float, always: Sequence[bool]
) -> tuple[list[int], list[float]]:
    """The kept row that holds the largest share of each, the one kept first of several."""
    survivor, share = [-1] * len(sets), [0.0] * len(sets)
    kept: list[int] = []
    for row in order:
        for other in () if always[row] or not sets[row] else kept:
            value = len(sets[row] & sets[other]) / len(sets[row])
            if value >= threshold and value > share[row]:
                survivor[row], share[row] = other, value
        if survivor[row] < 0:
            kept.append(row)
    return survivor, share


@given(SETS, SHARES, st.sets(st.integers(0, 8), max_size=2), st.randoms(use_true_random=False))
@example([[0, 1, 2, 3], [0, 2, 4, 5], [2, 6]], 0.5, set(), None)
@example([[2, 3, 4, 5], [1, 2, 6, 7], [1, 2, 3]], 0.6, set(), None)  # the later is met first
@example([[0, 1, 2, 3], [2, 3, 4], [3, 4]], 0.6, set(), None)  # the second holds none, as it goes
@example([[0, 1, 2], [0, 1, 2], [0, 1, 2], [], []], 1.0, {1}, None)
def test_a_row_goes_into_the_kept_row_that_holds_most_of_it(
    texts: list[list[int]], threshold: float, pins: set[int], random: object
) -> None:
    """Ties go to the one kept first, whichever is met first; the pinned stay and hold others."""
    n = len(texts)
    order = [*range(n)]
    if random is not None:
        random.shuffle(order)  # type: ignore[attr-defined]
    always = np.array([row in pins for row in range(n)], np.bool_)
    indptr: npt.NDArray[np.int64] = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    grams = np.array([gram for text in texts for gram in text], np.int32)
    survivor, share = containment.drop(
        frozen(indptr), frozen(grams), frozen(np.array(order, np.int64)), threshold, frozen(always)
    )
    expected = naive([set(text) for text in texts], order, threshold, always.tolist())
    assert (survivor.tolist(), share.tolist()) == expected


def test_the_share_is_of_the_text_that_goes() -> None:
    """abc bcd cde of abcde: two of them stand in xbcdef, which goes into nothing itself."""
    _, _, indptr, grams = only_texts(["xbcdefgh", "abcde", "bcdef"])
    nothing = frozen(np.zeros(3, np.bool_))
    for threshold, expected in [(0.66, [-1, 0, 0]), (0.67, [-1, -1, 0]), (1.0, [-1, -1, 0])]:
        survivor, share = containment.drop(indptr, grams, frozen(np.arange(3)), threshold, nothing)
        assert survivor.tolist() == expected
        assert share.tolist() == [0.0, 2 / 3 if expected[1] == 0 else 0.0, 1.0]
