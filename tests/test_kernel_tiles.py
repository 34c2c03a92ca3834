"""The filter of embeddings by blocks: every number that it writes, and how many pairs it passes."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from packer.kernels import near_duplicates, tiles
from packer.kernels.tiles import BLOCK

from .similarity_pools import features, frozen, only_embeddings

OTHER = np.float32(99.0)
"""Stands where nothing was written."""


def rows_of(d: int, *rows: dict[int, float]) -> npt.NDArray[np.float32]:
    """Rows of d dimensions, zero but for the ones given."""
    unit = np.zeros((len(rows), d), np.float32)
    for row, given in enumerate(rows):
        for k, value in given.items():
            unit[row, k] = value
    return unit


def counts(unit: npt.NDArray[np.float32], threshold: float) -> list[int]:
    found = only_embeddings(unit)
    _, _, compared = near_duplicates.join(*found, frozen(np.arange(len(unit))), threshold, 0)
    return [int(count) for count in compared]


# -- the first dimensions -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "threshold", "depth"),
    [
        (0, 0.9, 0),
        (1, 0.9, 4),
        (10, 0.85, 12),
        (64, 0.1, 64),
        (65, 1.0, 64),
        (1000, 1.0, 64),
        (1000, 0.9, 200),
        (1000, 0.75, 500),
        (1000, 0.7499, 504),
        (1001, 0.5, 1004),
        (1000, 0.25, 1000),
    ],
)
def test_twice_the_share_that_rules_out_orthogonal_rows_is_multiplied(
    d: int, threshold: float, depth: int
) -> None:
    assert tiles.head(d, threshold) == depth


def test_the_tails_are_the_lengths_of_what_is_left() -> None:
    unit = frozen(np.array([[0.5, -0.5, 0.5, -0.5, 0.0], [0.0, 0.0, 0.0, 0.6, -0.8]], np.float32))
    for depth, expected in [(0, [1, 1]), (3, [0.5, 1]), (4, [0, 0.8]), (5, [0, 0]), (8, [0, 0])]:
        assert tiles.tails(unit, depth) == pytest.approx(expected, rel=1e-6)


# -- blocks ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "size", "d", "depth"),
    [(0, 1, 3, 4), (2, 5, 6, 8), (1, 17, 8, 8), (3, 33, 9, 4), (0, 0, 4, 4), (0, BLOCK, 1, 4)],
)
def test_a_block_is_transposed_with_zeros_up_to_a_multiple_of_four(
    start: int, size: int, d: int, depth: int
) -> None:
    """What it need not write stays as it was."""
    rng = np.random.default_rng(size)
    unit = rng.integers(1, 90, (start + size + 3, d)).astype(np.float32)
    rest = rng.integers(1, 90, len(unit)).astype(np.float32)
    rows = rng.permutation(len(unit))
    block = np.full((depth + 1) * BLOCK, OTHER)
    block_tails = np.full(BLOCK, OTHER)
    tiles.transpose(frozen(unit), rest, rows, start, size, depth, block, block_tails)

    expected = np.full((depth + 1, BLOCK), OTHER)
    expected[:depth, : -(-size // 4) * 4] = 0.0
    for b, row in enumerate(rows[start : start + size]):
        expected[: min(d, depth), b] = unit[row, :depth]
    assert block.reshape(-1, BLOCK).tolist() == expected.tolist()
    assert block_tails[:size].tolist() == rest[rows[start : start + size]].tolist()
    assert (block_tails[size:] == OTHER).all()


def block_of(rng: np.random.Generator, depth: int) -> npt.NDArray[np.float32]:
    """Small integers, whose products and sums are exact."""
    return rng.integers(-9, 10, depth * BLOCK).astype(np.float32)


@pytest.mark.parametrize("top", [0, 4, BLOCK - 4])
@pytest.mark.parametrize("depth", [0, 4, 12])
def test_four_rows_are_multiplied_with_a_block(top: int, depth: int) -> None:
    rng = np.random.default_rng(depth + top)
    left, right = block_of(rng, depth), block_of(rng, depth)
    sums = np.full(4 * BLOCK, OTHER)
    tiles.products(left, top, right, depth, sums)
    rows = left.reshape(depth, BLOCK)[:, top : top + 4]
    assert sums.reshape(4, BLOCK).tolist() == (rows.T @ right.reshape(depth, BLOCK)).tolist()


@pytest.mark.parametrize(
    ("left_size", "right_size"), [(1, 1), (5, 3), (8, BLOCK), (BLOCK, 2), (3, 0)]
)
def test_the_pairs_that_may_reach_the_floor_are_marked(left_size: int, right_size: int) -> None:
    """Those that meet it exactly as well; nothing is marked for a row without any."""
    rng = np.random.default_rng(left_size)
    depth = 4
    left, right = block_of(rng, depth), block_of(rng, depth)
    left_tails, right_tails = rng.integers(0, 5, (2, BLOCK)).astype(np.float32)
    products = left.reshape(depth, BLOCK).T @ right.reshape(depth, BLOCK)
    most = (products + left_tails[:, None] * right_tails)[:left_size, :right_size]
    floors = np.full(BLOCK, OTHER)
    for a in range(left_size):  # met by all, by the best only, by none, by some
        high = most[a].max(initial=0)
        floors[a] = [most[a].min(initial=0), high, high + 1, 20][a % 4]
    passed = np.zeros(BLOCK * BLOCK, np.bool_)
    hits = np.full(BLOCK, -7)
    sums = np.full(4 * BLOCK, OTHER)
    tiles.near(
        left, left_tails, floors, left_size, right, right_tails, right_size, depth, sums, passed,
        hits,
    )  # fmt: skip
    expected = np.zeros((BLOCK, BLOCK), np.bool_)
    expected[:left_size, :right_size] = most >= floors[:left_size, None]
    assert passed.reshape(BLOCK, BLOCK).tolist() == expected.tolist()
    assert hits.tolist() == [*expected.sum(axis=1)[:left_size], *[-7] * (BLOCK - left_size)]


# -- how many pairs are filtered and compared -----------------------------------------------


def test_a_row_is_compared_with_kept_rows_that_pass_the_filter_only() -> None:
    """The third, fifth and sixth are copies of the first; the dropped are compared with no more."""
    unit = rows_of(1, {0: 1}, {0: -1}, {0: 1}, {}, {0: 1}, {0: 1}, {0: -1})
    assert counts(unit, 0.5) == [7 * 7, 4, 0]


def test_each_block_is_filtered_against_all_kept_rows_and_itself() -> None:
    """129 kept rows and 3 more: the blocks end at 128 rows, of either side."""
    unit = np.zeros((BLOCK + 4, 1), np.float32)
    unit[[0, 1]] = 1.0  # the second is dropped
    assert BLOCK == 128
    assert counts(unit, 0.9) == [128 * 128 + 4 * 127 + 4 * 4, 1, 0]
    unit = np.zeros((BLOCK + 1, 1), np.float32)
    unit[[7, BLOCK]] = 1.0  # a block of a single row, which is a copy
    assert counts(unit, 0.9) == [128 * 128 + 128 + 1, 1, 0]
    unit = np.zeros((2 * BLOCK + 3, 1), np.float32)
    assert counts(unit, 0.9) == [2 * 128 * 128 + 3 * 256 + 128 * 128 + 3 * 3, 0, 0]


@pytest.mark.parametrize("nearer", [True, False])
def test_a_row_that_has_found_one_is_compared_with_nearer_ones_only(*, nearer: bool) -> None:
    """At 18 and 41 degrees, cosine 0.92; where one at 0 degrees is kept, 0.95 is to be exceeded."""
    k, r, s = ([math.cos(math.radians(at)), math.sin(math.radians(at))] for at in (0, 41, 18))
    unit = np.zeros((BLOCK + 2, 2), np.float32)
    unit[BLOCK:] = r, s
    if nearer:
        unit[5] = k
    survivor, _, compared = near_duplicates.join(
        *only_embeddings(unit), frozen(np.arange(len(unit))), 0.9, 0
    )
    assert survivor[BLOCK:].tolist() == [-1, 5 if nearer else BLOCK]
    assert compared.tolist() == [128 * 128 + 2 * 128 + 2 * 2, 1, 0]


@pytest.mark.parametrize(("d", "slack"), [(2, 1.05e-5), (100, 3.4e-5), (1000, 2.5e-4)])
def test_the_filter_leaves_room_for_the_rounding_of_so_many_products(d: int, slack: float) -> None:
    """A pair that is below the threshold by less is compared, one that is below by more is not."""
    unit = rows_of(d, {0: 1.0}, {0: 0.96875, 1: 0.248})
    assert counts(unit, 0.96875)[1] == 1
    assert counts(unit, 0.96875 + 0.8 * slack)[1] == 1
    assert counts(unit, 0.96875 + 1.2 * slack)[1] == 0
    found = only_embeddings(unit)
    survivor, similarity = near_duplicates.dedup(*found, frozen(np.arange(2)), 0.96875)
    assert (survivor.tolist(), similarity.tolist()) == ([-1, 0], [0.0, 0.96875])


def test_what_the_first_dimensions_tell_apart_is_not_compared() -> None:
    """Rows with cosine 0.64 that differ in two of the first 64 dimensions, or in two beyond."""
    first = rows_of(200, {0: 0.8, 62: 0.6}, {0: 0.8, 63: 0.6})
    beyond = rows_of(200, {0: 0.8, 64: 0.6}, {0: 0.8, 65: 0.6})
    assert counts(first, 0.9) == [4, 0, 0]
    assert counts(beyond, 0.9) == [4, 1, 0]


@pytest.mark.parametrize(("alike", "gives_up"), [(45, False), (46, True)])
def test_the_first_dimensions_are_given_up_when_a_sixteenth_passes(
    alike: int, *, gives_up: bool
) -> None:
    """45 rows that differ from dimension 64 on have 990 pairs, 46 have 1035, of 16384 filtered."""
    d = 113
    unit = np.zeros((BLOCK + 3, d), np.float32)
    for row in [*range(alike), BLOCK, BLOCK + 1]:
        unit[row, 0] = 0.8
        unit[row, 64 + row % BLOCK] = 0.6
    unit[BLOCK + 1, 64 + 1] = 0.0
    unit[BLOCK + 1, 64 + 47] = 0.6
    unit[BLOCK, 64] = 0.0
    unit[BLOCK, 64 + 46] = 0.6
    unit[[BLOCK - 1, BLOCK + 2], d - 1] = 1.0  # the last dimension counts too
    pairs = alike * (alike - 1) // 2
    later = 1 if gives_up else 1 + 2 * alike + 1
    assert counts(unit, 0.97) == [128 * 128 + 3 * 128 + 3 * 3, pairs + later, 0]


def test_texts_beside_embeddings_are_compared_once() -> None:
    """Two bare texts with the text of an embedded row: one comparison for each of the two."""
    texts = ["same text", "another one", "same text", "same text", "same text"]
    embedded = np.array([True, True, False, False, True])
    unit = rows_of(2, {0: 1}, {0: 1}, {}, {}, {1: 1})
    found = features(unit, embedded, texts)
    survivor, similarity, compared = near_duplicates.join(*found, frozen(np.arange(5)), 0.9, 0)
    assert survivor.tolist() == [-1, 0, 0, 0, -1]
    assert similarity.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert compared.tolist() == [3 * 3, 1, 2]


def test_the_texts_of_a_pool_that_is_embedded_throughout_are_not_looked_at() -> None:
    found = features(rows_of(2, {0: 1}, {1: 1}), np.ones(2, np.bool_), ["same text", "same text"])
    survivor, _, compared = near_duplicates.join(*found, frozen(np.arange(2)), 0.9, 0)
    assert (survivor.tolist(), compared.tolist()) == ([-1, -1], [2 * 2, 0, 0])
