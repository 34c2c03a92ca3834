"""Room for what is found: kept while it is enough, else doubled."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from packer.kernels.room import with_room


@pytest.mark.parametrize("shape", [(4,), (4, 3)])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_there_is_room_for_twice_what_is_wanted_when_it_grows(
    shape: tuple[int, ...], dtype: type
) -> None:
    rows: npt.NDArray[Any] = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    assert with_room(rows, 3, 4) is rows or np.shares_memory(with_room(rows, 3, 4), rows)
    more = with_room(rows, 3, 5)
    assert (more.shape, more.dtype) == ((10, *shape[1:]), rows.dtype)
    assert (more[:3] == rows[:3]).all()


def test_of_nothing_it_grows_too() -> None:
    assert len(with_room(np.empty(0, np.int64), 0, 1)) == 2
