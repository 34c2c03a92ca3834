"""Values as code: what is pasted makes what was found."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.testing import chunks
from packer.testing.chunk_lists import PROFILES, Profile
from packer.testing.pasting import chunks_source, source


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
def test_code_of_any_chunks_rebuilds_them(profile: Profile, data: st.DataObject) -> None:
    given_chunks = data.draw(chunks(profile, named=False))
    names: dict[str, Any] = {}
    exec(f"import datetime\nfrom packer import Chunk\n{chunks_source(given_chunks)}", names)
    assert list(map(repr, names["chunks"])) == list(map(repr, given_chunks))


def test_sets_and_numpy_values_are_code_too() -> None:
    assert source({"b", "a"}) == "set(['a', 'b'])"
    assert source(frozenset()) == "frozenset([])"
    assert source((np.float32(0.5), np.arange(2))) == "(0.5, [0, 1])"
    assert source(-math.inf) == "float('-inf')"
    assert eval(source("\u202e\ud800 \u00e9")) == "\u202e\ud800 \u00e9"
