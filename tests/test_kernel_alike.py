"""All pairs of near-duplicates, and the room that is made for them."""

import numpy as np
import pytest
from hypothesis import given

from packer.kernels import alike, pairs

from . import naive_similarity as naive
from .similarity_pools import THRESHOLDS, kernel_matrix, mixed, only_embeddings, only_texts


def expected_pairs(found: naive.Features, threshold: float) -> dict[tuple[int, int], float]:
    matrix = kernel_matrix(found)
    return {
        (row, other): float(matrix[row, other])
        for row in range(len(matrix))
        for other in range(row)
        if matrix[row, other] >= threshold
    }


def pairs_found(found: naive.Features, threshold: float) -> dict[tuple[int, int], float]:
    rows, others, values = alike.pairs(*found, threshold)
    assert len(rows) == len(others) == len(values) == len({*zip(rows, others, strict=True)})
    named = zip(rows.tolist(), others.tolist(), strict=True)
    return dict(zip(named, values.tolist(), strict=True))


@given(mixed(), THRESHOLDS)
def test_the_pairs_are_those_of_the_matrix(
    pool: tuple[naive.Features, list[set[str]]], threshold: float
) -> None:
    """Each once, the later row first, with the similarity to the bit."""
    found, _ = pool
    assert pairs_found(found, threshold) == expected_pairs(found, threshold)


def test_there_is_room_for_any_number_of_pairs() -> None:
    """Thirty copies of a text and thirty of a vector: 435 pairs of either."""
    texts = only_texts(["same text"] * 30)
    vectors = only_embeddings(np.ones((30, 1), np.float32))
    for found in (texts, vectors):
        mine = pairs_found(found, 1.0)
        assert mine == expected_pairs(found, 1.0)
        assert len(mine) == 30 * 29 // 2


def test_pairs_stand_where_they_stood_when_there_is_more_room() -> None:
    found = (np.empty(0, np.int64), np.empty(0, np.float64))
    for count in range(500):
        found = alike.noted(found, count, count + 3, -count, count / 4)
        rows, values = found
        assert len(rows) == 2 * len(values)
        if count in {0, 1, 2, 3, 254, 255, 499}:
            assert rows[: 2 * count + 2].reshape(-1, 2).tolist() == [
                [k + 3, -k] for k in range(count + 1)
            ]
            assert values[: count + 1].tolist() == [k / 4 for k in range(count + 1)]


@given(mixed())
def test_one_row_beside_all_is_a_row_of_the_matrix(
    pool: tuple[naive.Features, list[set[str]]],
) -> None:
    found, _ = pool
    matrix = kernel_matrix(found)
    for row in range(len(matrix)):
        assert pairs.beside(*found, row).tolist() == matrix[row].tolist()


def test_the_mean_is_over_pairs_of_different_chunks() -> None:
    """Two of three texts are alike: (1 + 1/3 + 1/3) / 3; vectors count as such."""
    assert pairs.mean_pairwise(*only_texts(["abcd", "abcd", "abce"])) == pytest.approx(5 / 9)
    unit = np.array([[1, 0], [0, 1], [-1, 0], [1, 0]], np.float32)
    assert pairs.mean_pairwise(*only_embeddings(unit)) == pytest.approx(-1 / 6)
