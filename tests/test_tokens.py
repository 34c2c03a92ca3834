import asyncio
import math
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from packer import (
    Chunk,
    PackError,
    TokenCounter,
    approximate,
    pack,
    tokenizer,
    utf8_estimate,
    utf8_upper_bound,
)
from packer.tokens import MOST_TOKENS, counter_name, counts, is_estimate
from strategies import greedy

TEXTS = ["", "a", "abcd", "abcde", "返品", "🙂", "\ud800"]


@pytest.mark.parametrize(
    ("counter", "expected"),
    [
        (approximate, [0, 1, 1, 2, 1, 1, 1]),
        (utf8_estimate, [0, 1, 1, 2, 2, 1, 1]),
        (utf8_upper_bound, [0, 1, 4, 5, 6, 4, 3]),
    ],
    ids=repr,
)
def test_the_estimates(counter: TokenCounter, expected: list[int]) -> None:
    assert [counter(text) for text in TEXTS] == expected
    assert is_estimate(counter)
    assert counter_name(counter) == repr(counter) == counter.name


def test_a_counter_of_ones_own_is_no_estimate_and_has_a_name() -> None:
    class Words:
        def __call__(self, text: str) -> int:
            return len(text.split())

    assert not is_estimate(len)
    assert counter_name(len) == "len"
    assert counter_name(Words()) == "Words"
    assert counter_name(TokenCounter("mine", len, estimated=False)) == "mine"


def test_a_name_that_is_no_text_is_not_used() -> None:
    class Odd:
        name = 7

        def __call__(self, text: str) -> int:
            return 1

    assert counter_name(Odd()) == "Odd"


@pytest.mark.parametrize("number", [0, 7, np.int64(7), np.uint8(7), MOST_TOKENS], ids=repr)
def test_a_count_is_any_int_of_0_or_more(number: Any) -> None:
    found = counts(lambda _: number, ["a"], ["id"])
    assert found == [int(number)]
    assert type(found[0]) is int


@pytest.mark.parametrize(
    "number",
    [math.nan, 1.0, 1.5, True, np.True_, -1, np.int8(-1), "3", None, MOST_TOKENS + 1, math.inf],
    ids=repr,
)
def test_any_other_count_is_an_error_that_names_the_chunk(number: Any) -> None:
    def count(text: str) -> Any:
        return 1 if text == "fine" else number

    chunks = [Chunk("fine", 0.5, id="a"), Chunk("odd", 0.4, id="b")]
    with pytest.raises(PackError) as caught:
        pack(chunks, greedy, budget=9, count_tokens=count)
    assert caught.value.code == "INVALID_COUNTER"
    assert caught.value.details["id"] == "b"
    assert caught.value.details["value"] is number
    assert caught.value.message.endswith(
        f"count gave {number!r} for chunk 'b'; it must return an int of 0 or more (at most 2**43)"
    )


def test_an_async_count_is_closed_so_that_nothing_warns() -> None:
    async def count(text: str) -> int:
        await asyncio.sleep(0)
        return 1

    with pytest.raises(PackError, match="it must not be async") as caught:
        counts(count, ["a"], ["id"])  # type: ignore[arg-type]
    assert caught.value.code == "INVALID_COUNTER"
    closed: Any = caught.value.details["value"]
    assert closed.cr_frame is None


def test_an_error_of_the_counter_passes_with_a_note_on_the_chunk() -> None:
    def count(text: str) -> int:
        raise OSError("no vocabulary")

    with pytest.raises(OSError, match="no vocabulary") as caught:
        pack([Chunk("a", 0.5, id="first")], greedy, budget=9, count_tokens=count)
    assert caught.value.__notes__ == ["raised by the token counter for chunk 'first'"]


def test_a_chunk_with_tokens_is_not_counted() -> None:
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return 1

    pack(
        [Chunk("given", 0.5, tokens=0), Chunk("counted", 0.4)],
        greedy,
        budget=9,
        count_tokens=count,
    )
    assert seen == ["counted"]


# -- real tokenizers ------------------------------------------------------------------------


def test_a_real_tokenizer_counts_exactly_and_special_tokens_as_text() -> None:
    pytest.importorskip("quicktok")
    exact = tokenizer("o200k_base")
    assert (exact.name, exact.estimated) == ("o200k_base", False)
    assert exact("") == 0
    assert exact("hello world") == 2
    assert exact("<|endoftext|>") > 1
    assert exact("lone \ud800 surrogate") >= 3
    packed = pack([Chunk("hello world", 0.5)], greedy, budget=2, count_tokens=exact)
    assert (len(packed), packed.report.counter, packed.report.estimated) == (1, "o200k_base", False)
    assert packed.report.warnings == ()


@pytest.mark.parametrize(
    ("name", "count"), [("cl100k_base", 2), ("o200k_base", 2), ("llama3", 2), ("qwen3", 2)]
)
def test_every_vocabulary_in_the_wheel_loads(name: str, count: int) -> None:
    pytest.importorskip("quicktok")
    assert tokenizer(name)("hello world") == count


def test_a_tokenizer_can_be_pickled_and_counts_the_same() -> None:
    pytest.importorskip("quicktok")
    exact = tokenizer("o200k_base")
    twin = pickle.loads(pickle.dumps(exact))
    assert twin == exact
    assert twin("hello world") == 2


def _without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)


def test_a_tokenizer_without_its_packages_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "quicktok", "tiktoken")
    with pytest.raises(PackError) as caught:
        tokenizer("o200k_base")
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details == {
        "name": "o200k_base",
        "faults": ["quicktok is not installed", "tiktoken is not installed"],
    }
    assert caught.value.message == (
        "no tokenizer 'o200k_base' (quicktok is not installed; tiktoken is not installed); "
        "check the name, or install chunk-packer[tokenizer] or chunk-packer[tiktoken]"
    )


def test_an_unknown_tokenizer_is_refused_with_what_each_package_says() -> None:
    with pytest.raises(PackError) as caught:
        tokenizer("no_such_vocabulary")
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details["name"] == "no_such_vocabulary"
    faults: Any = caught.value.details["faults"]
    assert [fault.split(":")[0].split(" ")[0] for fault in faults] == ["quicktok", "tiktoken"]


def test_tiktoken_is_asked_when_quicktok_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    class Encoding:
        @staticmethod
        def encode_ordinary(text: str) -> list[int]:
            return [len(word) for word in text.split()]

    class Tiktoken:
        @staticmethod
        def get_encoding(name: str) -> type[Encoding]:
            assert name == "mine"
            return Encoding

    _without(monkeypatch, "quicktok")
    monkeypatch.setitem(sys.modules, "tiktoken", Tiktoken)
    assert tokenizer("mine")("three short words") == 3


@pytest.mark.parametrize("counter", [len, utf8_upper_bound], ids=counter_name)
def test_a_result_with_any_counter_can_be_pickled(counter: Callable[[str], int]) -> None:
    packed = pack([Chunk("a", 0.5)], greedy, budget=9, count_tokens=counter)
    assert pickle.loads(pickle.dumps(packed)) == packed
