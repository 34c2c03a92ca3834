import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from packer import Chunk, PackError, pack
from strategies import fuse, greedy


def ranking(names: str) -> list[Chunk]:
    return [Chunk(f"text {name}", 1.0 - n / 10, id=name) for n, name in enumerate(names)]


def scores(chunks: list[Chunk]) -> dict[str | None, float]:
    return {chunk.id: chunk.score for chunk in chunks}


def test_fuse_sums_one_over_k_plus_rank() -> None:
    fused = fuse(ranking("ab"), ranking("ba"), ranking("c"))
    assert [one.id for one in fused] == ["a", "b", "c"]
    assert scores(fused) == {
        "a": 1 / 61 + 1 / 62,
        "b": 1 / 62 + 1 / 61,
        "c": 1 / 61,
    }


@pytest.mark.parametrize("k", [0, 1, 0.5, 1000, np.int64(60), np.float32(0.5)])
def test_k_is_the_callers(k: float) -> None:
    fused = fuse(ranking("ab"), k=k)
    assert scores(fused) == {
        "a": float(1 / (Fraction(float(k)) + 1)),
        "b": float(1 / (Fraction(float(k)) + 2)),
    }


def test_a_repeat_in_one_list_counts_once_and_takes_no_rank() -> None:
    assert scores(fuse(ranking("aab"))) == {"a": 1 / 61, "b": 1 / 62}


def test_chunks_without_ids_are_the_same_when_their_texts_are() -> None:
    fused = fuse([Chunk("one", 0.9), Chunk("two", 0.8)], [{"content": "two", "score": 3}])
    assert [(one.content, one.score) for one in fused] == [
        ("two", 1 / 62 + 1 / 61),
        ("one", 1 / 61),
    ]
    # a text and an id of the same letters are two things
    assert len(fuse([Chunk("a", 1)], [Chunk("b", 1, id="a")])) == 2


def test_the_record_first_seen_stays() -> None:
    (fused,) = fuse(
        [Chunk("a", 0.9, id="a", tokens=7, metadata={"list": 1})],
        [Chunk("a", 0.1, id="a", tokens=9, metadata={"list": 2})],
    )
    assert (fused.tokens, fused.metadata) == (7, {"list": 1})
    assert fused.score == 2 / 61


def test_no_lists_or_empty_lists_fuse_into_none() -> None:
    assert fuse() == []
    assert fuse([], iter([])) == []


@pytest.mark.parametrize(
    "k", [-1, math.nan, math.inf, True, "60", None, 10**400], ids=lambda k: repr(k)[:9]
)
def test_a_k_that_is_negative_or_not_finite_is_refused(k: Any) -> None:
    with pytest.raises(PackError, match=r"^fuse: k is .*; give a finite number of 0 or more$") as e:
        fuse(ranking("a"), k=k)
    assert e.value.code == "INVALID_PARAMETER"


@pytest.mark.parametrize("item", [3, "text", {"text": "a"}, None, {}, {"content": "a", "id": [1]}])
def test_an_item_that_is_no_chunk_is_refused_with_its_list(item: Any) -> None:
    with pytest.raises(PackError, match=r"^list 1 of fuse has ") as caught:
        fuse(ranking("a"), [item])
    assert caught.value.code == "INVALID_CHUNK"
    assert caught.value.details == {"list": 1, "value": item}


@pytest.mark.parametrize("given", [None, 3])
def test_a_ranking_that_is_no_list_is_refused(given: Any) -> None:
    with pytest.raises(PackError) as caught:
        fuse(ranking("a"), given)
    assert caught.value.code == "INVALID_CHUNK"


def test_a_fused_list_can_be_packed() -> None:
    packed = pack(fuse(ranking("ab"), ranking("b")), greedy, budget=2)
    assert [one.id for one in packed] == ["b"]
