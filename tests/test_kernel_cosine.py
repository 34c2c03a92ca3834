"""Cosines of unit rows, one at a time and four at a time, at both ends of their range."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.kernels import cosine

from .similarity_pools import ROWS, frozen


@given(ROWS, st.data())
def test_the_nearest_of_four_has_the_greatest_cosine(
    rows: npt.NDArray[np.float32], data: st.DataObject
) -> None:
    """Whichever of them it is, and to the bit where rows are equal."""
    unit = frozen(rows)
    row = st.integers(0, len(unit) - 1)
    i, *others = data.draw(st.lists(row, min_size=5, max_size=5))
    found = cosine.nearest(unit, i, *others)
    most = max(cosine.similarity(unit, i, other) for other in others)
    assert found == pytest.approx(most, abs=1e-6)
    assert (found == 1.0) == (most == 1.0)


@pytest.mark.parametrize("at", range(4))
def test_each_of_four_can_be_the_nearest(at: int) -> None:
    """The copy, one that differs in the last bit, and one in the same plane."""
    copy, hair, off = [0.6, 0.8], [0.6, np.nextafter(np.float32(0.8), np.float32(0.0))], [1, 0]
    unit = frozen(np.array([[0.6, 0.8], [-0.8, 0.6], copy, hair, off, [-0.6, -0.8]], np.float32))
    for row, least, most in [(2, 1.0, 1.0), (3, 1 - 1e-6, 1 - 2**-53), (4, 0.599999, 0.600001)]:
        others = [5, 5, 5, 5]
        others[at] = row
        assert least <= cosine.nearest(unit, 0, *others) <= most
    assert -1.0 <= cosine.nearest(unit, 0, 5, 5, 5, 5) < -1.0 + 1e-6
    long = np.nextafter(np.float32(1.0), np.float32(2.0))  # as rounding may leave a row
    assert cosine.nearest(frozen(np.array([[long], [-long]])), 0, 1, 1, 1, 1) == -1.0
    assert cosine.nearest(unit, 0, 1, 1, 5, 1) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("at", range(4))
def test_four_products_stand_in_the_order_of_the_rows(at: int) -> None:
    unit = frozen(np.array([[1, 2, 3], [4, 0, -1], [0, 5, 0], [1, 1, 1], [2, 0, 0]], np.float32))
    others = [1 + (at + k) % 4 for k in range(4)]
    assert [*cosine.dots(unit, 0, *others)] == [[1.0, 10.0, 6.0, 2.0][k - 1] for k in others]
    assert cosine.dot(unit, 0, 1 + at) == [1.0, 10.0, 6.0, 2.0][at]


def test_rounding_takes_no_cosine_out_of_its_range() -> None:
    """Above 1 only equal rows have 1.0; a product of 0.99991 is as it is, unless they are equal."""
    unit = frozen(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
    below = 1.0 - 2.0**-53
    assert [cosine.of_dot(unit, 0, 1, value) for value in (1.0000001, 0.99991)] == [1.0, 1.0]
    assert [cosine.of_dot(unit, 0, 2, value) for value in (1.0000001, 0.99991)] == [below, 0.99991]
    assert [cosine.of_dot(unit, 0, 1, value) for value in (0.5, -1.0000001)] == [0.5, -1.0]
    assert [cosine.equal(unit, 0, j) for j in range(3)] == [True, True, False]
    assert cosine.equal(frozen(np.array([[3, 7], [3, 8]], np.float32)), 0, 1) is False
