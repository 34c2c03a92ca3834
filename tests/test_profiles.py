"""The profiles of lists of chunks: each has what it promises."""

import itertools
import math
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, PackError, Pool
from packer.testing import chunks, pools
from packer.testing.chunk_lists import PROFILES, Profile
from packer.testing.material import BOOK
from tests.sampling import sample


def lists(profile: Profile, size: int = 150, **options: Any) -> list[list[Chunk]]:
    return sample(chunks(profile, **options), size)


def test_near_ties_are_equal_scores_last_bits_and_twins() -> None:
    found = lists("near-tie")
    scores = {chunk.score for made in found for chunk in made}
    assert {0.5, math.nextafter(0.5, 1.0)} <= scores
    twins = [
        made
        for made in found
        if len({attrs.evolve(c, id=None).__repr__() for c in made}) < len(made)
    ]
    assert len(twins) > 30
    assert all({c.id for c in made} == {f"c{at}" for at in range(len(made))} for made in found)
    assert all(len(made) <= 12 for made in found)


def test_twins_are_many_of_few_kinds_with_ids_in_any_order() -> None:
    found = lists("twins", 100, min_size=4, max_size=8)
    kinds = [[repr(attrs.evolve(chunk, id=None)) for chunk in made] for made in found]
    assert all(len(set(texts)) <= 3 for texts in kinds)
    rising = [
        str(one.id) < str(other.id)
        for made in found
        for one, other in itertools.pairwise(made)
        if attrs.evolve(one, id=other.id) == other
    ]
    assert min(rising.count(True), rising.count(False)) > 20


def test_near_duplicates_differ_by_a_number_or_a_hair() -> None:
    found = lists("near-duplicate", embedded=True)
    texts = {chunk.content for made in found for chunk in made}
    assert len({text.translate(str.maketrans("", "", "0123456789")) for text in texts}) == 3
    near = set()
    for made in found:
        for chunk in made:
            assert chunk.embedding is not None
            near.add(tuple(np.round(chunk.embedding.astype(float), 8).tolist()))
    assert (1.0, 0.0, 0.0) in near
    assert any(0 < abs(vector[1]) < 1e-6 for vector in near)


def test_adversarial_lengths_are_nothing_and_more_than_anything() -> None:
    made = [chunk for chunks_ in lists("adversarial-length") for chunk in chunks_]
    assert {0, 1, 2**40, None} <= {chunk.tokens for chunk in made}
    lengths = [len(chunk.content) for chunk in made]
    assert min(lengths) == 1
    assert max(lengths) > 2000


def test_hostile_metadata_has_every_type_under_any_key() -> None:
    made = [chunk for chunks_ in lists("hostile-metadata") for chunk in chunks_]
    values = [value for chunk in made for value in chunk.metadata.values()]
    assert {type(None), str, int, float, bool, bytes, list, dict, tuple} <= set(map(type, values))
    assert any(isinstance(value, float) and math.isnan(value) for value in values)
    assert {"", "class", "source"} <= {key for chunk in made for key in chunk.metadata}


def span(chunk: Chunk) -> tuple[int, int]:
    start, end = chunk.metadata["start"], chunk.metadata["end"]
    assert isinstance(start, int)
    assert isinstance(end, int)
    return start, end


def overlapping(made: list[Chunk]) -> bool:
    """Whether two chunks are windows of one source that have characters in common."""
    spans = sorted(span(chunk) for chunk in made if chunk.metadata.get("source") == "book")
    return any(second[0] < first[1] for first, second in itertools.pairwise(spans))


def test_overlapping_lists_are_windows_of_one_text() -> None:
    made = lists("overlapping")
    for chunk in itertools.chain(*made):
        start, end = span(chunk)
        assert chunk.content == BOOK[start:end]
    assert sum(map(overlapping, made)) > 75
    assert sum(map(overlapping, lists("ordinary"))) > 5


def test_mixed_lists_are_of_every_profile() -> None:
    made = lists("mixed", 500)
    assert any(chunk.tokens == 2**40 for chunks_ in made for chunk in chunks_)
    assert any("__class__" in chunk.metadata for chunks_ in made for chunk in chunks_)


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
def test_every_profile_makes_valid_chunks(profile: Profile, data: st.DataObject) -> None:
    named = data.draw(st.booleans())
    given_chunks = data.draw(chunks(profile, named=named, distinct_scores=True))
    assert len({chunk.score for chunk in given_chunks}) == len(given_chunks)
    assert len(Pool.from_chunks(given_chunks)) <= len(given_chunks)
    assert len(data.draw(pools(profile=profile))) <= 12


def test_profile_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(PackError, match="profile is 'nasty'; give one of 'ordinary'"):
        chunks("nasty")  # type: ignore[arg-type]
