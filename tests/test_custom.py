from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest

from packer import Chunk, Packed, PackError, Reason, approximate, pack
from strategies import Context, custom, ushape


def run(choose: Any, *tokens: int, budget: int = 100, overhead: int = 0) -> Packed:
    chunks = [Chunk(f"text {n}", 0.5, id=f"c{n}", tokens=count) for n, count in enumerate(tokens)]
    return pack(chunks, custom(choose), budget=budget, overhead=overhead)


def backwards(chunks: Sequence[Chunk], context: Context) -> list[Chunk]:
    return list(chunks)[::-1]


def code(choose: Any) -> tuple[str, str]:
    with pytest.raises(PackError) as caught:
        run(choose, 10, 20)
    return caught.value.code, caught.value.message


def test_a_function_chooses_in_its_own_order() -> None:
    packed = run(backwards, 10, 20)
    assert [one.id for one in packed] == ["c1", "c0"]
    assert packed.report.strategy == "custom"
    assert packed.report.policy == "custom(backwards)"


def test_a_function_gets_checked_chunks_and_the_call() -> None:
    seen: list[tuple[tuple[Chunk, ...], Context]] = []

    def choose(chunks: tuple[Chunk, ...], context: Context) -> list[Chunk]:
        seen.append((chunks, context))
        return []

    packed = pack(
        [{"content": "abcde", "score": 0.5, "embedding": [1, 2]}, Chunk("b", 0.4, id="mine")],
        custom(choose),  # type: ignore[arg-type]
        budget=9,
        overhead=1,
    )
    assert seen == [
        (
            (
                Chunk("abcde", 0.5, id="chunk-0", tokens=2, embedding=[1, 2]),
                Chunk("b", 0.4, id="mine", tokens=1),
            ),
            Context(budget=9, overhead=1, count_tokens=approximate),
        )
    ]
    assert {out.detail for out in packed.report.excluded} == {
        "its 3 tokens would fit in the 9 left",
        "its 2 tokens would fit in the 9 left",
    }


def test_any_iterable_of_chunks_may_be_returned() -> None:
    def choose(chunks: Sequence[Chunk], context: Context) -> Iterator[Chunk]:
        yield chunks[1]

    assert [one.id for one in run(choose, 10, 20)] == ["c1"]
    assert [one.id for one in run(lambda chunks, _: {chunks[0]: 1}, 10, 20)] == ["c0"]
    assert len(run(lambda chunks, _: (), 10, 20)) == 0


def test_an_equal_copy_of_a_chunk_is_that_chunk() -> None:
    packed = run(lambda chunks, _: [attrs.evolve(chunks[0])], 10, 20)
    assert [one.id for one in packed] == ["c0"]


def test_what_exceeds_the_budget_is_cut_from_the_end() -> None:
    packed = run(backwards, 60, 50, 40, budget=100)
    assert [one.id for one in packed] == ["c2", "c1"]
    (out,) = packed.report.excluded
    assert (out.id, out.reason, out.detail) == (
        "c0",
        Reason.BUDGET,
        "the function chose it, beyond the budget",
    )
    charged = run(backwards, 60, 50, 40, budget=100, overhead=6)
    assert [one.id for one in charged] == ["c2"]


def test_a_cut_chunk_is_excluded_as_budget_also_where_it_would_fit() -> None:
    packed = run(lambda chunks, _: chunks, 50, 60, 5, budget=100)
    assert [one.id for one in packed] == ["c0"]
    assert {out.id: out.reason for out in packed.report.excluded} == {
        "c1": Reason.BUDGET,
        "c2": Reason.BUDGET,
    }


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (lambda chunks, _: None, "returned None; it must return a list of some of its chunks"),
        (lambda chunks, _: 3, "returned 3; it must return a list of some of its chunks"),
        (lambda chunks, _: "c0", "returned 'c0'; it must return a list of some of its chunks"),
        (lambda chunks, _: ["c0"], "returned 'c0', which it was not given"),
        (lambda chunks, _: [None], "returned None, which it was not given"),
        (lambda chunks, _: [0], "returned 0, which it was not given"),
        (lambda chunks, _: [chunks[0], chunks[0]], "returned chunk 'c0' twice"),
        (
            lambda chunks, _: [attrs.evolve(chunks[0], tokens=1)],
            "returned Chunk(content='text 0', score=0.5, id='c0', tokens=1, metadata...",
        ),
        (lambda chunks, _: [Chunk("other", 0.5, id="x")], "which it was not given"),
    ],
)
def test_what_a_function_returns_is_checked(returned: Any, words: str) -> None:
    found, message = code(returned)
    assert found == "INVALID_STRATEGY"
    assert "<lambda>" in message
    if "..." not in words:
        assert words in message
    else:
        assert "which it was not given" in message


async def _never(chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
    return chunks


class _Awaitable:
    def __await__(self) -> Iterator[None]:
        yield


@pytest.mark.parametrize("choose", [_never, lambda chunks, _: _Awaitable()])
def test_an_async_function_is_refused(choose: Any) -> None:
    found, message = code(choose)
    assert found == "INVALID_STRATEGY"
    assert message.endswith("is async; give a plain function, and await before you pack")


def test_an_error_of_the_function_passes() -> None:
    def choose(chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        run(choose, 10)


def test_no_function_is_an_error_of_its_own() -> None:
    with pytest.raises(PackError) as caught:
        custom(None)  # type: ignore[arg-type]
    assert caught.value.code == "MISSING_CUSTOM_STRATEGY"
    with pytest.raises(PackError, match=r"^custom: fn is 3; give a function$") as caught:
        custom(3)  # type: ignore[arg-type]
    assert caught.value.code == "INVALID_PARAMETER"


def test_a_custom_selector_is_a_value_and_composes() -> None:
    assert custom(backwards) == custom(backwards)
    assert hash(custom(backwards)) == hash(custom(backwards))
    assert repr(custom(backwards) | ushape) == "custom(backwards) | ushape"

    class Choose:
        def __call__(self, chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
            return chunks

        def __repr__(self) -> str:
            return "Choose()"

    assert repr(custom(Choose())) == "custom(Choose())"
