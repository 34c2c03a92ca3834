import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Pool, pack
from strategies import dedup, greedy, mmr
from tests.naive_similarity import folded, trigrams

SENTENCES = [
    "Refunds take five days.",
    "We pay for the label.",
    "The box need not be the original one.",
    "Gift cards cannot be returned.",
    "Parcels travel by rail and by lorry.",
]


def naive(chunks: list[Chunk], threshold: float) -> dict[str, tuple[str, float]]:
    """id -> the kept chunk that holds most of it, and how much; the largest text first."""
    sets = {chunk.id: trigrams(folded(chunk.content)) for chunk in chunks}
    order = sorted(chunks, key=lambda chunk: (-len(sets[chunk.id]), -chunk.score))
    kept: list[Chunk] = []
    dropped = {}
    for chunk in order:
        mine = sets[chunk.id]
        share, _, holder = max(
            ((len(mine & sets[other.id]) / len(mine), -at, other) for at, other in enumerate(kept)),
            key=lambda found: found[:2],
            default=(0.0, 0, chunk),
        )
        if share >= threshold:
            dropped[str(chunk.id)] = (str(holder.id), share)
        else:
            kept.append(chunk)
    return dropped


@given(
    texts=st.lists(
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4).map(" ".join)
        | st.text("ab ", min_size=1, max_size=8).filter(lambda text: bool(text.strip())),
        min_size=1,
        max_size=9,
    ),
    scores=st.lists(st.integers(0, 5), min_size=9, max_size=9),
    threshold=st.sampled_from([0.3, 0.5, 0.8, 0.9, 1.0]),
)
def test_what_stands_inside_another_is_dropped(
    texts: list[str], scores: list[int], threshold: float
) -> None:
    chunks = [
        Chunk(text, score / 5, id=f"c{at}")
        for at, (text, score) in enumerate(zip(texts, scores, strict=False))
    ]
    packed = pack(chunks, dedup(threshold, metric="containment") | greedy, budget=10**6)
    found = {out.id: (out.redundant_with, out.similarity) for out in packed.report.excluded}
    assert found == naive(chunks, threshold)
    for chunk in packed:
        inside = [id_ for id_, (holder, _) in found.items() if holder == chunk.id]
        assert sorted(chunk.merged_from) == sorted(inside)


def test_of_overlapping_windows_the_larger_survives_with_the_better_score() -> None:
    window, middle = " ".join(SENTENCES), SENTENCES[2]
    chunks = [
        Chunk(middle, 0.9, id="middle"),
        Chunk(window, 0.6, id="window"),
        Chunk("Something else entirely.", 0.8, id="other"),
    ]
    packed = pack(chunks, dedup(0.9, metric="containment") | greedy, budget=1000)
    assert [chunk.id for chunk in packed] == ["window", "other"]
    assert packed.chunks[0].merged_from == ("middle",)
    assert packed.chunks[0].score == 0.6  # as it came in
    [out] = packed.report.excluded
    assert (out.reason, out.redundant_with, out.similarity) == ("redundant", "window", 1.0)
    assert len(pack(chunks, dedup(0.9) | greedy, budget=1000)) == 3


def test_the_same_text_from_two_lists_is_one_with_both_origins() -> None:
    chunks = [Chunk("the same text", 0.4, id="a"), Chunk("the same text", 0.7, id="b")]
    packed = pack(chunks, dedup(1.0) | greedy, budget=100)
    assert [(chunk.id, chunk.score, chunk.merged_from) for chunk in packed] == [("b", 0.7, ("a",))]


def test_only_dedup_knows_containment() -> None:
    with pytest.raises(ValueError, match="metric is 'containment'"):
        mmr(0.5, metric="containment")  # type: ignore[arg-type]
    assert repr(dedup(0.9, metric="containment")) == 'dedup(0.9, metric="containment")'


def test_many_windows_over_one_text_leave_the_windows_that_differ() -> None:
    rng = np.random.default_rng(3)
    words = [f"word{number}" for number in rng.integers(0, 500, 400)]
    chunks = [
        Chunk(" ".join(words[at : at + 40]), 1 - at / 1000, id=str(at)) for at in range(0, 360, 40)
    ]
    inner = [
        Chunk(" ".join(words[at + 5 : at + 25]), 0.5, id=f"in {at}") for at in range(0, 360, 40)
    ]
    packed = pack([*chunks, *inner], dedup(1.0, metric="containment") | greedy, budget=10**6)
    assert len(packed) == len(chunks)
    assert math.isclose(sum(len(chunk.merged_from) for chunk in packed), len(inner))


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_passage_lends_its_score_to_the_text_that_holds_it(first: int) -> None:
    """Wherever in the pool that text stands."""
    inside = [Chunk(SENTENCES[at], 0.9 - 0.1 * at, id=f"inside-{at}") for at in range(2)]
    chunks = [*inside[:first], Chunk(" ".join(SENTENCES[:3]), 0.2, id="whole"), *inside[first:]]
    pool = dedup(0.9, metric="containment")(Pool.from_chunks(chunks, budget=100))
    assert pool.ids == ["whole"]
    assert pool.scores.tolist() == [0.9]
