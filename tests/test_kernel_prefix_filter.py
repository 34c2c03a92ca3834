"""The prefix filter of texts: what is indexed, what is looked up and what is ruled out."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from packer.kernels import prefix_filter

from .similarity_pools import THRESHOLDS, Grams, frozen


def sets_of(texts: Sequence[Sequence[int]]) -> Grams:
    """Sets of numbers as the kernels take them."""
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    grams = np.array([gram for text in texts for gram in text], np.int32)
    return frozen(ends), frozen(grams)


SETS = st.lists(st.sets(st.integers(0, 12), max_size=9).map(sorted), max_size=8)


@pytest.mark.parametrize(
    ("overlap", "whole"),
    [(0.0, 1), (0.3, 1), (2.0, 2), (2 + 5e-7, 2), (2 + 2e-6, 3), (2.5, 3), (3 - 5e-7, 3)],
)
def test_an_overlap_is_rounded_up_but_for_errors_of_rounding(overlap: float, whole: int) -> None:
    assert prefix_filter.least(overlap) == whole


@pytest.mark.parametrize(
    ("size", "threshold", "length"),
    [(0, 0.5, 0), (1, 0.5, 1), (1, 1.0, 1), (4, 0.5, 3), (4, 1.0, 1), (10, 0.9, 2), (3, 0.01, 3)],
)
def test_the_prefix_leaves_out_one_less_than_must_be_shared(
    size: int, threshold: float, length: int
) -> None:
    indptr = frozen(np.array([0, 7, 7 + size, 99]))
    assert prefix_filter.prefix(indptr, 1, threshold) == length


def prefix(text: Sequence[int], threshold: float) -> Sequence[int]:
    return text[: len(text) - math.ceil(threshold * len(text) - 1e-6) + 1] if text else []


@given(SETS, THRESHOLDS)
@example([[0, 3], [1, 3], [3]], 0.5)
@example([], 0.5)
def test_the_index_has_room_for_every_prefix(texts: list[list[int]], threshold: float) -> None:
    prefixes = [prefix(text, threshold) for text in texts]
    gram = max((max(text) for text in texts if text), default=-1) + 1
    expected = [sum(g < k for text in prefixes for g in text) for k in range(gram + 1)]
    assert prefix_filter.room(*sets_of(texts), threshold).tolist() == expected


@given(SETS, THRESHOLDS)
def test_texts_stand_in_the_lists_of_their_prefixes(
    texts: list[list[int]], threshold: float
) -> None:
    """Each with its place in the prefix, in the order in which they were inserted."""
    indptr, grams = sets_of(texts)
    begins = prefix_filter.room(indptr, grams, threshold)
    ends = begins[:-1].copy()
    index = np.full(2 * begins[-1], -5, np.int32)
    rows = range(len(texts) - 1, -1, -1)
    for row in rows:
        prefix_filter.insert(indptr, grams, row, threshold, ends, index)
    assert ends.tolist() == begins[1:].tolist()
    expected = [
        number
        for gram in range(len(ends))
        for row in rows
        for at, found in enumerate(prefix(texts[row], threshold))
        if found == gram
        for number in (row, at)
    ]
    assert index.tolist() == expected


def probed(
    texts: Sequence[Sequence[int]], embedded: Sequence[bool], threshold: float
) -> dict[int, int]:
    """What the last text finds among those before it, and how much of the prefixes they share.

    -1 where, at a trigram of both, those before it and all the rest of the shorter one are fewer
    than |A & B| = J / (1 + J) (|A| + |B|).
    """
    row = len(texts) - 1
    mine = prefix(texts[row], threshold)
    found: dict[int, int] = {}
    for at, gram in enumerate(mine):
        for other, text in enumerate(texts[:-1]):
            theirs = prefix(text, threshold)
            if gram not in theirs or (embedded[row] and embedded[other]):
                continue
            held = found.setdefault(other, 0)
            if held < 0:
                continue
            rest = min(len(texts[row]) - at, len(text) - theirs.index(gram))
            needed = threshold / (1 + threshold) * (len(texts[row]) + len(text))
            found[other] = held + 1 if held + rest >= needed - 1e-6 else -1
    return found


@given(SETS.filter(bool), st.lists(st.booleans(), min_size=9, max_size=9), THRESHOLDS)
@example([[0, 1, 2, 3], [0, 1, 2, 3]], [False] * 9, 0.5)
@example([[3, 4], [0, 1, 2, 3], [0, 3, 5, 6]], [False] * 9, 0.6)
@example([[0, 1], [0, 2], [0, 1]], [True, False, True], 0.5)
@example([[0, 1, 2, 3, 4, 5, 6], [0, 1], [0, 1, 7]], [False] * 9, 0.5)
@example([[5, 6, 7, 8], [0, 1, 2, 5]], [False] * 9, 0.25)
@example([[0, 1, 2, 5], [5, 6, 7, 8]], [False] * 9, 0.25)
def test_the_texts_that_may_be_like_one_are_found_with_what_they_share(
    texts: list[list[int]], embedded: list[bool], threshold: float
) -> None:
    """As by going through all of them; by their first common trigram, then as inserted."""
    n = len(texts)
    indptr, grams = sets_of(texts)
    begins = prefix_filter.room(indptr, grams, threshold)
    ends = begins[:-1].copy()
    index = np.zeros(2 * begins[-1], np.int32)
    for row in range(n - 1):
        prefix_filter.insert(indptr, grams, row, threshold, ends, index)
    shared: npt.NDArray[np.int32] = np.zeros(n, np.int32)
    candidates = np.empty(n, np.int64)
    marked = frozen(np.array(embedded[:n]))
    count = prefix_filter.probe(
        indptr, grams, marked, n - 1, threshold, begins, ends, index, shared, candidates
    )
    expected = probed(texts, embedded, threshold)
    assert candidates[:count].tolist() == list(expected)
    assert {other: int(shared[other]) for other in candidates[:count]} == expected
    assert (np.delete(shared, candidates[:count]) == 0).all()
