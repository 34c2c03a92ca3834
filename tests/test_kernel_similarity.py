"""Trigram sets, pairwise similarity and near-duplicates against their naive twins."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from packer.kernels import cosine, near_duplicates, pairs, trigrams

from . import naive_similarity as naive
from .similarity_pools import (
    TEXTS,
    THRESHOLDS,
    built,
    clustered,
    features,
    frozen,
    kernel_matrix,
    mixed,
    normalised,
    only_embeddings,
    only_texts,
    prose,
)


@given(TEXTS)
@example([])
@example(["", "a", "ab", "abc", "", "ab", "\0", "\0\0"])
def test_the_trigrams_are_those_of_python_sets(texts: list[str]) -> None:
    """Sizes and every intersection agree, and each list is sorted without repeats."""
    indptr, grams = built(texts)
    sets = [naive.trigrams(text) for text in texts]
    rows = [grams[indptr[i] : indptr[i + 1]].tolist() for i in range(len(texts))]
    assert [len(row) for row in rows] == [len(expected) for expected in sets]
    assert all(row == sorted(set(row)) for row in rows)
    for i in range(len(texts)):
        for j in range(len(texts)):
            assert len(set(rows[i]) & set(rows[j])) == len(sets[i] & sets[j])
            assert trigrams.jaccard(indptr, grams, i, j) == naive.jaccard(sets[i], sets[j])


SPACES = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())


@given(st.lists(st.text(st.sampled_from("ab\x1b\x7f\x84\u200b" + SPACES))))
@example([SPACES, f"{SPACES}a{SPACES}b{SPACES}", ""])
def test_white_space_is_folded_as_by_split(texts: list[str]) -> None:
    """Every character that `str.split` cuts at, and those beside them."""
    offsets = np.cumsum([0, *map(len, texts)])
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    folded, ends = trigrams.folded(frozen(codes), frozen(offsets))
    assert [
        folded[begin:end].tobytes().decode("utf-32-le")
        for begin, end in itertools.pairwise(ends.tolist())
    ] == [naive.folded(text) for text in texts]


@given(TEXTS)
def test_rare_trigrams_have_the_small_numbers(texts: list[str]) -> None:
    """The numbers are dense, and the document frequency never falls along them."""
    _, grams = built(texts)
    frequency = np.bincount(grams)
    assert (frequency > 0).all()
    assert (np.diff(frequency) >= 0).all()


def test_a_large_alphabet_is_hashed() -> None:
    """Thousands of distinct characters outgrow the direct table and make the hash table grow."""
    texts = [chr(0x4E00 + k) * 2 + chr(0x20000 + 7 * k) + "文本" for k in range(1500)]
    indptr, grams = built(texts)
    assert indptr.tolist() == list(range(0, 3 * 1500 + 1, 3))
    assert grams.max() + 1 == len(set.union(*map(naive.trigrams, texts)))


@given(mixed())
def test_the_similarity_of_a_pair_is_that_of_its_twin(
    pool: tuple[naive.Features, list[set[str]]],
) -> None:
    """Text pairs to the bit, cosines to 1e-6 and 1.0 for equal rows only; symmetric."""
    found, sets = pool
    matrix = kernel_matrix(found)
    twin = naive.similarity_matrix(found[0], found[1], sets)
    by_text = ~(found[1][:, None] & found[1])
    assert [pairs.similarity(*found, 0, j) for j in range(len(matrix))] == matrix[0].tolist()
    assert (matrix[by_text] == twin[by_text]).all()
    assert np.abs(matrix - twin).max() <= 1e-6
    assert ((matrix == 1.0) == (twin == 1.0)).all()
    assert np.abs(matrix).max() <= 1.0
    if len(matrix) > 1:
        assert pairs.mean_pairwise(*found) == pytest.approx(naive.mean_pairwise(matrix), abs=1e-12)


def test_cosine_separates_equal_rows_from_those_that_differ_in_the_last_bit() -> None:
    """Exactly 1.0, or below it; a zero row has 0.0 to itself, an opposite one -1.0 or more."""
    row = normalised(np.random.default_rng(0).standard_normal((1, 384)))[0]
    other = row.copy()
    other[7] = np.nextafter(other[7], np.float32(1.0))
    unit = frozen(np.stack([row, row, other, 0 * row, -row]))
    assert cosine.similarity(unit, 0, 1) == 1.0
    assert 1.0 - 1e-6 < cosine.similarity(unit, 0, 2) < 1.0
    assert cosine.similarity(unit, 3, 3) == 0.0
    assert -1.0 <= cosine.similarity(unit, 0, 4) < -1.0 + 1e-6


@given(mixed(), THRESHOLDS, st.randoms(use_true_random=False), st.integers(0, 4))
def test_near_duplicates_are_those_of_the_twin(
    pool: tuple[naive.Features, list[set[str]]], threshold: float, random: object, always: int
) -> None:
    """Survivors and similarities to the bit, in any order and mix."""
    found, _ = pool
    order = np.arange(len(found[1]))
    random.shuffle(order)  # type: ignore[attr-defined]
    survivor, similarity = near_duplicates.dedup(*found, frozen(order), threshold, always)
    expected = naive.dedup(kernel_matrix(found), order.tolist(), threshold, always)
    assert (survivor.tolist(), similarity.tolist()) == expected


@given(st.lists(st.text("ab", max_size=9), min_size=1, max_size=30), THRESHOLDS)
def test_near_duplicate_texts_are_those_of_the_twin(texts: list[str], threshold: float) -> None:
    """Few distinct trigrams: many ties and thresholds that are met exactly."""
    found = only_texts(texts)
    order = frozen(np.arange(len(texts)))
    survivor, similarity = near_duplicates.dedup(*found, order, threshold)
    expected = naive.dedup(kernel_matrix(found), order.tolist(), threshold)
    assert (survivor.tolist(), similarity.tolist()) == expected


def test_no_pair_is_lost_where_the_threshold_is_met_exactly() -> None:
    """For every ratio of small integers: J >= fl(a / b) keeps the pair with J = a / b."""
    letters = [chr(0x4E00 + k) for k in range(40)]
    for union in range(1, 24):
        for shared in range(1, union + 1):
            # A cycle of `union` trigrams, and the first `shared` of them.
            whole = "".join(letters[:union]) + letters[30] + letters[31]
            part = whole[: shared + 2]
            found = only_texts([whole, part])
            survivor, similarity = near_duplicates.dedup(
                *found, frozen(np.arange(2)), shared / union
            )
            assert survivor.tolist() == [-1, 0]
            assert similarity[1] == shared / union


@pytest.mark.parametrize("threshold", [0.95, 0.8, 0.3])
def test_near_duplicates_in_prose(threshold: float) -> None:
    """Realistic texts; a high threshold leaves few pairs to compare (counted, not timed)."""
    texts = prose(160)
    found = only_texts(texts)
    sets = [naive.trigrams(text) for text in texts]
    matrix = naive.similarity_matrix(found[0], found[1], sets)
    order = np.random.default_rng(1).permutation(len(texts))
    survivor, similarity, counts = near_duplicates.join(*found, frozen(order), threshold, 0)
    assert (survivor.tolist(), similarity.tolist()) == naive.dedup(
        matrix, order.tolist(), threshold
    )
    assert counts[:2].tolist() == [0, 0]
    if threshold > 0.9:
        assert counts[2] < 0.02 * len(texts) ** 2


@pytest.mark.parametrize(("d", "threshold"), [(18, 0.85), (101, 0.85), (130, 0.6)])
def test_near_duplicates_of_several_blocks(d: int, threshold: float) -> None:
    """More rows than two blocks hold, dimensions that are no multiple of 4 among them."""
    found = only_embeddings(clustered(280, d))
    matrix = kernel_matrix(found)
    order = np.random.default_rng(2).permutation(len(matrix))
    survivor, similarity, counts = near_duplicates.join(*found, frozen(order), threshold, 0)
    assert (survivor.tolist(), similarity.tolist()) == naive.dedup(
        matrix, order.tolist(), threshold
    )
    assert (survivor >= 0).any()
    assert counts[1] < 0.05 * counts[0]


def test_rows_that_the_first_dimensions_do_not_tell_apart() -> None:
    """All pairs agree in the dimensions that are looked at first: the filter gives up on it, and the answer is the same."""
    rows = clustered(280, 100).astype(np.float64)
    rows[:, :64] = 0.1
    found = only_embeddings(normalised(rows))
    matrix = kernel_matrix(found)
    order = np.arange(len(matrix))
    survivor, similarity, counts = near_duplicates.join(*found, frozen(order), 0.95, 0)
    assert (survivor.tolist(), similarity.tolist()) == naive.dedup(matrix, order.tolist(), 0.95)
    assert counts[1] < 0.6 * counts[0]


def test_a_mixed_pool_of_several_blocks() -> None:
    """Embedded and bare rows interleaved, near-duplicates by either measure."""
    texts = prose(150)
    embedded = np.random.default_rng(3).random(150) < 0.9
    found = features(clustered(150, 16), embedded, texts)
    matrix = kernel_matrix(found)
    order = np.arange(150)[::-1]
    survivor, similarity = near_duplicates.dedup(*found, frozen(order), 0.6)
    assert (survivor.tolist(), similarity.tolist()) == naive.dedup(matrix, order.tolist(), 0.6)
    assert (survivor[embedded] >= 0).any()
    assert (survivor[~embedded] >= 0).any()


def test_two_empty_sets_have_nothing_in_common() -> None:
    """As the rows of a pool in which every chunk has an embedding."""
    found = only_embeddings(np.ones((2, 1), np.float32))
    assert trigrams.jaccard(found[2], found[3], 0, 1) == 0.0


def test_an_empty_pool_has_no_near_duplicates() -> None:
    """No rows, with and without dimensions."""
    order = frozen(np.zeros(0, np.int64))
    for found in (only_texts([]), only_embeddings(np.zeros((0, 8), np.float32))):
        survivor, similarity = near_duplicates.dedup(*found, order, 0.9)
        assert len(survivor) == len(similarity) == 0
