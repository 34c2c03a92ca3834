"""The heap of lazy greedy algorithms, against sorting."""

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import queue

from .similarity_pools import frozen

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FEW = st.sampled_from([0.0, 0.5, 1.0])  # so that ties are common
MANY = st.floats(-1, 1)


@st.composite
def keys(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Bounds and scores of up to 20 rows, with and without ties."""
    n = draw(st.integers(1, 20))
    number = draw(st.sampled_from([FEW, MANY]))
    columns = [draw(st.lists(number, min_size=n, max_size=n)) for _ in range(2)]
    bound, scores = (frozen(np.array(column)) for column in columns)
    return bound, scores


def ordered(rows: Ints, bound: Floats, scores: Floats) -> list[int]:
    """The rows from the first to the last."""
    return sorted(rows.tolist(), key=lambda row: (-bound[row], -scores[row], row))


def heap_of(rows: Ints, spare: int, bound: Floats, scores: Floats) -> Ints:
    """A heap of these rows, with room after it that holds the row that would be first."""
    first = ordered(np.arange(bound.size), bound, scores)[0]
    heap = np.append(rows, np.full(spare, first))
    for at in range(rows.size // 2 - 1, -1, -1):
        queue.sink(heap, at, rows.size, bound, scores)
    return heap


@given(keys())
def test_before_is_the_order_of_sorting(pool: tuple[Floats, Floats]) -> None:
    """Greater bound, then higher score, then lower row; no row goes before itself."""
    bound, scores = pool
    rows = ordered(np.arange(bound.size), bound, scores)
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            assert queue.before(a, b, bound, scores) == (i < j)


@given(keys(), st.data())
def test_rows_leave_in_order_and_the_rival_is_the_next(
    pool: tuple[Floats, Floats], data: st.DataObject
) -> None:
    """Popped one by one; what stands after the heap is neither moved nor looked at."""
    bound, scores = pool
    rows = np.array(data.draw(st.permutations(range(bound.size))))
    size = data.draw(st.integers(1, bound.size))
    heap = heap_of(rows[:size], 3, bound, scores)
    after = heap[size:].tolist()
    expected = ordered(rows[:size], bound, scores)
    for place, row in enumerate(expected):
        assert heap[0] == row
        rival = expected[place + 1] if place + 1 < len(expected) else -1
        assert queue.rival(heap, size, bound, scores) == rival
        size -= 1
        heap[0] = heap[size]
        queue.sink(heap, 0, size, bound, scores)
        assert sorted(heap[:size].tolist()) == sorted(expected[place + 1 :])
    assert heap[len(expected) :].tolist() == after


@given(keys(), st.data())
def test_a_row_whose_bound_falls_sinks_to_its_place(
    pool: tuple[Floats, Floats], data: st.DataObject
) -> None:
    """Every other row stays behind the one above it."""
    bound, scores = pool
    n = bound.size
    heap = heap_of(np.arange(n), 1, bound, scores)
    at = data.draw(st.integers(0, n - 1))
    lower = bound.copy()
    lower[heap[at]] -= data.draw(st.sampled_from([0.0, 0.5, 3.0]))
    queue.sink(heap, at, n, frozen(lower), scores)
    assert sorted(heap[:n].tolist()) == list(range(n))
    for place in range(1, n):
        assert queue.before(heap[(place - 1) // 2], heap[place], frozen(lower), scores)


def test_a_row_sinks_below_the_better_child_and_no_further() -> None:
    """To the bottom of three levels, and to the middle one."""
    bound = frozen(np.array([9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 7.5]))
    for heap in (np.array([3, 1, 2, 7, 4, 5, 6]), np.array([7, 1, 2, 3, 4, 5, 6])):
        queue.sink(heap, 0, 7, bound, frozen(np.zeros(8)))
        assert heap.tolist() == [1, 7, 2, 3, 4, 5, 6]


def test_a_row_without_children_stays() -> None:
    heap = np.array([0, 1, 2])
    for at in (1, 2):
        queue.sink(heap, at, 3, frozen(np.array([1.0, 0.5, 0.5])), frozen(np.zeros(3)))
    assert heap.tolist() == [0, 1, 2]
