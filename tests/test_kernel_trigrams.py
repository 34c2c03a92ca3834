"""How trigrams are named, ranked and compared: every number, by table and by hash alike."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from packer.kernels import trigrams

from . import naive_similarity as naive
from .similarity_pools import TEXTS, built, frozen

Codes = tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]


def coded(texts: Sequence[str]) -> Codes:
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return codes, frozen(np.cumsum([0, *map(len, texts)], dtype=np.int64))


def in_order(text: str) -> list[str]:
    """Distinct trigrams by first appearance; a short text is its own."""
    return list(dict.fromkeys(text[k : k + 3] for k in range(max(len(text) - 2, 1))))


def named(texts: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
    """Where the trigrams of each text end, their numbers, and how many texts hold each."""
    numbers: dict[str, int] = {}
    frequency: list[int] = []
    ends, names = [0], []
    for text in texts:
        for gram in in_order(text):
            if gram not in numbers:
                numbers[gram] = len(numbers)
                frequency.append(0)
            names.append(numbers[gram])
            frequency[numbers[gram]] += 1
        ends.append(len(names))
    return ends, names, frequency


def windows(texts: Sequence[str]) -> int:
    return sum(max(len(text) - 2, 1) for text in texts)


def hashed(codes: Codes, count: int) -> tuple[npt.NDArray[np.int64], ...]:
    symbols, base = trigrams._symbols(codes[0])
    return trigrams._hashed(symbols, codes[1], count, base)  # type: ignore[return-value]


def by_table_or_hash(codes: Codes, count: int) -> tuple[npt.NDArray[np.int64], ...]:
    del count
    return trigrams._named(*codes)  # type: ignore[return-value]


MANY = ["".join(chr(97 + (7 * k * k + k // 9) % 23) for k in range(3000)), "abc", "zz"]
"""Some 2500 trigrams, more than the table of hashes has slots, and more than when it has grown."""


@pytest.mark.parametrize("way", [hashed, by_table_or_hash])
@given(TEXTS)
@example([])
@example(["", "abc", "abcabc", "", "ab", "a", "cab"])
@example(["ab", "zab"])
@example(MANY)
def test_trigrams_are_named_by_first_appearance(
    way: Callable[[Codes, int], tuple[npt.NDArray[np.int64], ...]], texts: list[str]
) -> None:
    """And counted by texts; there is room for each window of a text, and no more."""
    indptr, names, frequency = way(coded(texts), windows(texts))
    expected = named(texts)
    assert (indptr.tolist(), names[: indptr[-1]].tolist(), frequency.tolist()) == expected
    assert len(names) == windows(texts)


@given(TEXTS)
@example(["", "a", "", "ab"])
def test_the_sets_are_sorted_by_frequency_then_first_appearance(texts: list[str]) -> None:
    indptr, grams = built(texts)
    ends, names, frequency = named(texts)
    order = sorted(range(len(frequency)), key=lambda name: (frequency[name], name))
    ranks = [order.index(name) for name in names]
    assert indptr.tolist() == ends
    assert grams.tolist() == [
        rank for begin, end in itertools.pairwise(ends) for rank in sorted(ranks[begin:end])
    ]


@given(TEXTS)
@example([])
@example(["\0", "a\0a", "\U0010ffff"])
def test_characters_and_pairs_are_numbered_from_one(texts: list[str]) -> None:
    """A pair of no character and one stands where a text begins."""
    codes, offsets = coded(texts)
    characters: dict[str, int] = {}
    for character in "".join(texts):
        characters.setdefault(character, len(characters) + 1)
    symbols, base = trigrams._symbols(codes)
    assert symbols.tolist() == [characters[character] for character in "".join(texts)]
    assert base == len(characters) + 1

    pairs: dict[str, int] = {}
    ending = [
        pairs.setdefault(text[at - 1 : at + 1] if at else text[0], len(pairs) + 1)
        for text in texts
        for at in range(len(text))
    ]
    for limit in (base * base, base * base + 1):
        found, count = trigrams._pairs(symbols, offsets, base, limit)
        assert (found.tolist(), count) == (ending, len(pairs) + 1)
    found, count = trigrams._pairs(symbols, offsets, base, base * base - 1)
    assert (found.tolist(), count) == ([0] * len(symbols), 0)


def test_the_tables_grow_with_the_texts_from_half_a_megabyte_on() -> None:
    """Numbers of four bytes: 256 KiB each, and 16 and 32 bytes more for each trigram."""
    assert trigrams._most(0) == (2**18 // 4, 2**18 // 4)
    assert trigrams._most(10**6) == ((2**18 + 16 * 10**6) // 4, (2**18 + 32 * 10**6) // 4)


def test_white_space_is_what_python_strips() -> None:
    """Up to the last of it, U+3000."""
    codes = [*range(0x200), *range(0x1670, 0x1690), *range(0x1FF0, 0x2070), *range(0x2FF0, 0x3010)]
    for code in codes:
        assert trigrams._is_space(code) == chr(code).isspace(), hex(code)


# -- the table of hashes --------------------------------------------------------------------


def test_a_key_is_found_while_a_single_slot_is_free() -> None:
    """Seven keys in eight slots; every other key belongs where none is."""
    keys = np.zeros(8, np.int64)
    slots = {}
    for key in (1, 2, 3, 1 << 40, 77, (5 << 31) + 1, 1 << 31):
        slots[key] = trigrams._slot(keys, key)
        assert keys[slots[key]] == 0
        keys[slots[key]] = key
    assert {key: trigrams._slot(keys, key) for key in slots} == slots
    free = int(np.flatnonzero(keys == 0)[0])
    assert [trigrams._slot(keys, key) for key in range(4, 30)] == [free] * 26


def test_a_table_that_has_grown_holds_the_same_names() -> None:
    keys, names = np.zeros(16, np.int64), np.zeros(16, np.int32)
    for name in range(1, 10):
        slot = trigrams._slot(keys, name * 10**9)
        keys[slot], names[slot] = name * 10**9, name
    wider, moved = trigrams._grown(keys, names)
    assert len(wider) == len(moved) == 4 * 16
    assert [moved[trigrams._slot(wider, name * 10**9)] for name in range(1, 10)] == [*range(1, 10)]
    assert np.count_nonzero(wider) == np.count_nonzero(moved) == 9


@pytest.mark.parametrize("step", [1, 30011, 30011**2, 1 << 31])
def test_keys_that_differ_in_one_character_are_spread(step: int) -> None:
    """In a table that is half full they stand less than two slots off their own, on average."""
    empty, keys = np.zeros(1024, np.int64), np.zeros(1024, np.int64)
    off = 0
    for k in range(1, 512):
        slot = trigrams._slot(keys, k * step)
        off += (slot - trigrams._slot(empty, k * step)) % 1024
        keys[slot] = k * step
    assert off < 2 * 511


# -- comparison -----------------------------------------------------------------------------


@given(TEXTS.filter(bool), st.data())
def test_a_marked_text_is_compared_as_its_twin(texts: list[str], data: st.DataObject) -> None:
    """Whatever was marked before."""
    indptr, grams = built(texts)
    size = trigrams.vocabulary(indptr, grams)
    assert size == len(set().union(*map(naive.trigrams, texts)))
    marks = np.zeros(size, np.int32)
    rows = st.integers(0, len(texts) - 1)
    for i in data.draw(st.lists(rows, min_size=1, max_size=4)):
        trigrams.mark(indptr, grams, i, marks)
        for j, text in enumerate(texts):
            expected = naive.jaccard(naive.trigrams(texts[i]), naive.trigrams(text))
            assert trigrams.marked(indptr, grams, i, marks, j) == expected


def test_a_set_is_read_up_to_its_end() -> None:
    """What stands behind a set is that of the next text, which may be the same."""
    indptr = frozen(np.array([0, 2, 3, 3, 5]))
    grams = frozen(np.array([0, 3, 3, 1, 3], np.int32))
    assert trigrams.vocabulary(indptr, grams) == 4
    assert trigrams.vocabulary(frozen(np.array([0])), frozen(np.zeros(0, np.int32))) == 0
    part = frozen(np.array([2, 3, 5]))  # as the rows of one of several pools
    assert trigrams.vocabulary(part, frozen(np.array([0, 9, 3, 1, 4], np.int32))) == 5
    found = [[trigrams.jaccard(indptr, grams, i, j) for j in range(4)] for i in range(4)]
    assert found == [
        [1, 1 / 2, 0, 1 / 3],
        [1 / 2, 1, 0, 1 / 2],
        [0, 0, 0, 0],
        [1 / 3, 1 / 2, 0, 1],
    ]
