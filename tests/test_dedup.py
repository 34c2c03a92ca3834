import math
from typing import Any

import numpy as np
import pytest

from packer import Chunk, Packed, PackError, Pool, Reason, pack
from packer.outcome import diversity
from packer.similarity import features
from strategies import dedup, field, greedy, mmr, pin, threshold


def run(*chunks: Chunk, **arguments: Any) -> Packed:
    return pack(chunks, dedup(**arguments) | greedy, budget=10_000)


def dropped(packed: Packed) -> dict[str, Any]:
    return {out.id: (out.redundant_with, out.similarity) for out in packed.report.excluded}


def text(id_: str, content: str, score: float, **more: Any) -> Chunk:
    return Chunk(content, score, id=id_, tokens=1, **more)


def vector(id_: str, embedding: Any, score: float) -> Chunk:
    return Chunk(f"{id_} {id_}", score, id=id_, tokens=1, embedding=embedding)


# -- texts ----------------------------------------------------------------------------------


def test_texts_are_compared_by_the_trigrams_of_the_folded_text() -> None:
    # abcd: abc bcd; abce: abc bce: 1 of 3
    packed = run(text("a", "abcd", 0.9), text("b", "abce", 0.8), threshold=0.3)
    assert dropped(packed) == {"b": ("a", 1 / 3)}
    assert dropped(run(text("a", "abcd", 0.9), text("b", "abce", 0.8), threshold=0.34)) == {}


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("Free  SHIPPING\n", "free shipping", True),
        ("ab", "ab", True),
        ("ab", "AB ", True),
        ("ab", "abc", False),
        ("a", "b", False),
        ("返品", "返品", True),
        ("🙂🙂🙂", "🙂🙂🙂🙂", True),  # both are the one trigram
        ("\ud800ab", "\ud800ab", True),
        ("abcabc", "bcabca", True),  # abc bca cab
    ],
)
def test_equal_sets_of_trigrams_are_exact_copies(one: str, two: str, *, same: bool) -> None:
    packed = run(text("a", one, 0.9), text("b", two, 0.8), threshold=1.0)
    assert dropped(packed) == ({"b": ("a", 1.0)} if same else {})


def test_the_survivor_is_the_most_similar_kept_chunk() -> None:
    packed = run(
        text("first", "abcdefgh", 0.9),
        text("second", "abcdefxy", 0.8),  # 4 of 8 trigrams
        text("third", "abcdefxyz", 0.7),  # 4 of 9 with the first, 6 of 7 with the second
        threshold=0.4,
    )
    assert dropped(packed) == {"second": ("first", 0.5), "third": ("first", 4 / 9)}
    packed = run(
        text("first", "abcdefgh", 0.9),
        text("second", "abcdefxy", 0.8),
        text("third", "abcdefxyz", 0.7),
        threshold=0.6,
    )
    assert dropped(packed) == {"third": ("second", 6 / 7)}


def test_what_is_like_a_dropped_chunk_only_stays() -> None:
    packed = run(
        text("a", "abcdef", 0.9),  # abc bcd cde def
        text("b", "bcdefg", 0.8),  # bcd cde def efg: 3 of 5
        text("c", "cdefgh", 0.7),  # cde def efg fgh: 2 of 6 with a, 3 of 5 with b
        threshold=0.5,
    )
    assert dropped(packed) == {"b": ("a", 0.6)}


def test_the_higher_score_survives_wherever_it_stands() -> None:
    packed = run(text("low", "same text", 0.1), text("high", "same text", 0.9))
    assert dropped(packed) == {"low": ("high", 1.0)}
    assert packed.report.excluded[0].reason is Reason.REDUNDANT
    assert packed.report.excluded[0].detail == (
        "similarity 1.0000, limit 0.85; the other has score 0.9"
    )


# -- embeddings -----------------------------------------------------------------------------


def test_embeddings_are_compared_by_cosine() -> None:
    chunks = [vector("a", [3, 4], 0.9), vector("b", [4, 3], 0.8), vector("c", [-3, -4], 0.7)]
    packed = run(*chunks, threshold=0.95)
    assert dropped(packed) == {"b": ("a", pytest.approx(0.96, rel=0, abs=1e-6))}
    assert dropped(run(*chunks, threshold=0.97)) == {}


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_huge_and_tiny_vectors_have_a_direction(scale: float) -> None:
    chunks = [vector("a", [scale, 0], 0.9), vector("b", [1, 0], 0.8), vector("c", [0, scale], 0.7)]
    assert dropped(run(*chunks, threshold=1.0)) == {"b": ("a", 1.0)}


def test_a_pair_without_both_embeddings_is_compared_by_text() -> None:
    chunks = [
        text("a", "same text", 0.9, embedding=[1, 0]),
        text("b", "same text", 0.8, embedding=[0, 1]),  # another direction: no copy of a
        text("c", "same text", 0.7),
    ]
    packed = run(*chunks)
    assert dropped(packed) == {"c": ("a", 1.0)}
    (warning,) = packed.report.warnings
    assert (warning.code, warning.ids) == ("mixed-metrics", ("c",))
    assert warning.message.startswith("1 of 3 chunks have no embedding: ")


def test_jaccard_ignores_embeddings_and_does_not_warn() -> None:
    chunks = [
        text("a", "same text", 0.9, embedding=[1, 0]),
        text("b", "same text", 0.8, embedding=[0, 1]),
        text("c", "another", 0.7),
    ]
    packed = run(*chunks, metric="jaccard")
    assert dropped(packed) == {"b": ("a", 1.0)}
    assert packed.report.warnings == ()


def test_cosine_names_every_chunk_without_an_embedding() -> None:
    chunks = [vector("a", [1, 0], 0.9), *(text(f"t{n}", "x", 0.5 - n / 100) for n in range(6))]
    with pytest.raises(PackError) as caught:
        run(*chunks, metric="cosine")
    assert caught.value.code == "MISSING_EMBEDDINGS"
    assert isinstance(caught.value, ValueError)
    assert caught.value.details == {"ids": ("t0", "t1", "t2", "t3", "t4", "t5")}
    assert caught.value.message == (
        'dedup(0.85, metric="cosine") compares by metric="cosine", and 6 of 7 chunks have no '
        "embedding: 't0', 't1', 't2', 't3', 't4' ...; give them one, or write metric=\"auto\""
    )


def test_cosine_over_one_chunk_compares_nothing_and_needs_nothing() -> None:
    assert len(run(text("a", "x", 0.9), metric="cosine")) == 1
    assert len(run(metric="cosine")) == 0
    assert len(pack([text("a", "x", 0.9)], mmr(metric="cosine"), budget=9)) == 1


def test_zero_vectors_are_no_duplicates_by_cosine() -> None:
    chunks = [vector("a", [0, 0], 0.9), vector("b", [0, 0], 0.8)]
    assert dropped(run(*chunks, metric="cosine", threshold=0.001)) == {}


# -- arrays ---------------------------------------------------------------------------------


def test_arrays_need_what_the_metric_compares() -> None:
    bare = Pool.from_arrays([0.9, 0.8], [1, 1]).at("here")
    with pytest.raises(PackError) as caught:
        dedup(metric="jaccard")(bare)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.message.endswith("made from arrays without `texts`")
    with pytest.raises(PackError) as caught:
        dedup()(bare)
    assert caught.value.code == "MISSING_EMBEDDINGS"
    assert caught.value.details == {"ids": ("chunk-0", "chunk-1")}
    zero = Pool.from_arrays([0.9, 0.8], [1, 1], [[0, 0], [1, 0]])
    with pytest.raises(PackError) as caught:
        dedup()(zero)
    assert caught.value.details == {"ids": ("chunk-0",)}


def test_diversity_of_arrays_without_texts_or_vectors_is_none() -> None:
    bare = Pool.from_arrays([0.9, 0.8], [1, 1])
    assert diversity(bare.select([0, 1]).arrange([0, 1])) is None
    vectors = Pool.from_arrays([0.9, 0.8], [1, 1], np.eye(2))
    assert diversity(vectors.select([0, 1]).arrange([0, 1])) == 1.0


def test_arrays_with_texts_or_embeddings_are_deduplicated() -> None:
    texts = Pool.from_arrays([0.9, 0.8], [1, 1], texts=["same text", "Same text"])
    assert dedup()(texts).ids == ["chunk-0"]
    vectors = Pool.from_arrays([0.8, 0.9], [1, 1], np.ones((2, 4)))
    assert dedup()(vectors).ids == ["chunk-1"]


def test_a_narrowed_pool_takes_its_rows_of_what_was_made_before() -> None:
    chunks = [
        text("a", "alpha beta", 0.9),
        text("b", "alpha beta", 0.8, embedding=[1, 0]),
        text("c", "gamma", 0.7, embedding=[1, 1]),
        text("d", "", 0.6),
        text("e", "gamma", 0.5, embedding=[2, 2]),
        text("f", "delta", 0.4),
    ]
    whole, found = features(Pool.from_chunks(chunks), "auto")
    kept = whole.keep([False, True, True, False, True], reason="metadata")
    _, narrowed = features(kept, "auto")
    _, fresh = features(Pool.from_chunks([chunks[1], chunks[2], chunks[5]]), "auto")
    assert narrowed.unit.tolist() == fresh.unit.tolist() == found.unit[[1, 2, 4]].tolist()
    assert narrowed.embedded.tolist() == fresh.embedded.tolist() == [True, True, False]
    assert narrowed.indptr.tolist() == fresh.indptr.tolist() == [0, 8, 11, 14]
    # numbers of trigrams are a matter of the pool; that equal ones stay equal is not
    assert len(set(narrowed.grams.tolist())) == len(set(fresh.grams.tolist())) == 14


def test_a_stage_before_dedup_changes_nothing_but_the_pool() -> None:
    chunks = [text("a", "same text", 0.9), text("b", "same text", 0.8), text("c", "same text", 0.1)]
    packed = pack(chunks, threshold(0.5) | dedup() | dedup(0.9) | mmr(0.5), budget=9)
    assert [one.id for one in packed] == ["a"]
    assert [out.stage for out in packed.report.excluded] == ["threshold(0.5)", "dedup(0.85)"]


def test_texts_are_folded_to_lower_case_and_single_blanks() -> None:
    same = [text("a", " Free\u00a0 SHIPPING\t\nNow ", 0.9), text("b", "free shipping now", 0.8)]
    assert dropped(run(*same, threshold=1.0)) == {"b": ("a", 1.0)}


@pytest.mark.parametrize("metric", ["euclid", "", None, 1])
def test_an_unknown_metric_is_refused(metric: Any) -> None:
    for make in (dedup, mmr):
        with pytest.raises(PackError, match="give one of 'auto', 'cosine', 'jaccard'") as caught:
            make(metric=metric)
        assert caught.value.code == "INVALID_PARAMETER"


@pytest.mark.parametrize("value", [5e-324, 1, np.float32(0.5)])
def test_a_threshold_is_any_number_above_0_up_to_1(value: Any) -> None:
    assert repr(dedup(value)) == f"dedup({float(value)!r})"
    assert math.isfinite(float(value))


def test_a_pin_that_is_a_copy_of_another_has_copies_of_its_own() -> None:
    def at(degrees: float) -> list[float]:
        return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]

    chunks = [
        Chunk("a", 0.9, id="p1", embedding=at(0), metadata={"k": 1}),
        Chunk("b", 0.8, id="p2", embedding=at(20), metadata={"k": 1}),
        Chunk("c", 0.7, id="q", embedding=at(40)),
        Chunk("d", 0.6, id="r", embedding=at(60)),
    ]
    packed = pack(chunks, pin(field("k") == 1) | dedup(0.906) | greedy, budget=1000)
    assert [chunk.id for chunk in packed] == ["p1", "p2", "r"]
    [out] = packed.report.excluded
    assert (out.id, out.redundant_with) == ("q", "p2")


@pytest.mark.parametrize("guard", ["warn", "keep"])
def test_a_pin_that_stands_in_another_holds_passages_of_its_own(guard: Any) -> None:
    chunks = [
        Chunk("abcdefghijklmnopqrst", 0.5, id="p1", metadata={"k": 1}),
        Chunk("ijklmnopqrstuvwx", 0.4, id="p2", metadata={"k": 1}),
        Chunk("opqrstuvwxyz", 0.9, id="q"),
        Chunk("uvwxyz01234", 0.8, id="r"),
    ]
    policy = pin(field("k") == 1) | dedup(0.7, metric="containment", guard=guard) | greedy
    packed = pack(chunks, policy, budget=1000)
    assert sorted(chunk.id for chunk in packed) == ["p1", "p2", "r"]
    [out] = packed.report.excluded
    assert (out.id, out.redundant_with, out.similarity) == ("q", "p2", 0.8)
