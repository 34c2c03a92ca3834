"""The canary for production: silent over what `pack` gives, loud over each forged fault."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given

from packer import Chunk, Packed, Template, pack
from packer.records import Deferred
from packer.testing import InvariantBroken, assert_invariants
from packer.testing.laws import budget_holds
from strategies import greedy, threshold
from tests.generators import Request, requests
from tests.overlapping import PACKED as PACKED_WINDOWS
from tests.overlapping import WINDOWS

CHUNKS = [
    Chunk("Refunds take five days.", 0.9, id="refund", tokens=40),
    Chunk("We ship on every working day.", 0.7, id="ship", tokens=30),
    Chunk("Gift cards cannot be returned.", 0.5, tokens=31),
]
PACKED = pack(CHUNKS, threshold(0.6) | greedy, budget=80, overhead=5)


@given(requests(named=False))
def test_every_call_passes(request: Request) -> None:
    assert_invariants(request.packed(), request.chunks)


def test_calls_with_templates_invalid_chunks_and_mappings_pass() -> None:
    template = Template("[{position}] {content}", header="Sources:\n")
    assert_invariants(pack(CHUNKS, greedy, budget=20, template=template), CHUNKS)
    bad: list[Any] = [*CHUNKS, {"content": "x", "score": float("nan"), "id": "bad"}, CHUNKS[0]]
    assert_invariants(pack(bad, greedy, budget=80, on_invalid="exclude"), bad)
    assert_invariants(pack([], greedy, budget=80), [])


def test_overlapping_windows_pass() -> None:
    assert PACKED_WINDOWS.report.tokens_used == 16
    assert_invariants(PACKED_WINDOWS, WINDOWS)
    full = attrs.evolve(PACKED_WINDOWS, report=attrs.evolve(PACKED_WINDOWS.report, tokens_used=20))
    assert_invariants(full, WINDOWS)  # which an overhead of 3 would give
    odd = attrs.evolve(PACKED_WINDOWS, report=attrs.evolve(PACKED_WINDOWS.report, tokens_used=17))
    with pytest.raises(InvariantBroken, match="17 tokens are used, the chunks cost 14"):
        assert_invariants(odd, WINDOWS)


def test_a_call_over_windows_is_charged_what_is_new() -> None:
    budget_holds(PACKED_WINDOWS, 20, 1)
    more = attrs.evolve(PACKED_WINDOWS.chunks[1], new_tokens=9)
    forged_chunks = (PACKED_WINDOWS.chunks[0], more)
    wrong = attrs.evolve(PACKED_WINDOWS, chunks=Deferred(lambda: forged_chunks))
    with pytest.raises(AssertionError, match="'back' of 8 tokens is charged 9"):
        budget_holds(wrong, 20, 1)


def forged(**changes: Any) -> Packed:
    return attrs.evolve(PACKED, report=attrs.evolve(PACKED.report, **changes))


def with_chunks(change: Callable[[Any], Any]) -> Packed:
    made = tuple(change(PACKED.chunks))
    report = attrs.evolve(PACKED.report, selected_count=len(made))
    return attrs.evolve(PACKED, chunks=Deferred(lambda: made), report=report)


@pytest.mark.parametrize(
    ("packed", "chunks", "invariant"),
    [
        (forged(tokens_used=81), CHUNKS, "budget"),
        (forged(tokens_used=79), CHUNKS, "budget"),
        (forged(tokens_used=69), CHUNKS, "budget"),
        (forged(rendered_tokens=81), CHUNKS, "budget"),
        (forged(selected_count=1), CHUNKS, "counts"),
        (forged(excluded_count=0), CHUNKS, "counts"),
        (PACKED, CHUNKS[:2], "input"),
        (PACKED, [*CHUNKS, CHUNKS[0]], "input"),
        (PACKED, [CHUNKS[0], CHUNKS[2], Chunk("x", 0.5, id="other")], "ids"),
        (with_chunks(lambda chunks: chunks[::-1]), CHUNKS, "positions"),
        (
            with_chunks(lambda chunks: [chunks[0], attrs.evolve(chunks[0], position=1, tokens=30)]),
            CHUNKS,
            "ids",
        ),
        (
            attrs.evolve(
                with_chunks(lambda chunks: []),
                report=attrs.evolve(PACKED.report, selected_count=0, tokens_used=1),
            ),
            CHUNKS,
            "budget",
        ),
    ],
)
def test_forged_fault_is_named(packed: Packed, chunks: list[Chunk], invariant: str) -> None:
    with pytest.raises(InvariantBroken) as caught:
        assert_invariants(packed, chunks)
    assert caught.value.invariant == invariant
    assert str(caught.value).startswith(f"{invariant}: ")


def test_it_needs_no_hypothesis() -> None:
    import subprocess
    import sys

    program = (
        "import sys\nsys.modules['hypothesis'] = None\n"
        "from packer import Chunk, pack\nfrom packer.testing import assert_invariants\n"
        "from strategies import greedy\nchunks = [Chunk('a', 0.5)]\n"
        "assert_invariants(pack(chunks, greedy, budget=5), chunks)\n"
        "try:\n    assert_invariants(pack(chunks, greedy, budget=5), [])\n"
        "except AssertionError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "input: 0 chunks came in, 1 are packed and 0 excluded\n"
