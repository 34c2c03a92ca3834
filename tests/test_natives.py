import asyncio
import json
import math
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Packer, PackError, pack
from packer.integrations.natives import note, pack_natives, policy_of, summary
from packer.integrations.vectors import awaited, called
from strategies import dedup, greedy, mmr, trim, ushape
from tests.overlapping import PACKED

from . import generators

ODD = st.builds(
    Chunk,
    st.sampled_from(("", " ", "a text", "a text!", "another text of more words. And one more.")),
    st.sampled_from((0.5, 0.5, 0.9, math.nan)),
    id=st.sampled_from((None, "a", "b", "chunk-1")),
    metadata=st.sampled_from(({}, {"source": "x"})),
)
"""Chunks with no id or that of another, blank, alike, or invalid."""


@given(
    st.lists(ODD, max_size=8) | generators.chunk_lists(named=False),
    st.sampled_from((greedy, dedup(0.9) | mmr(0.7) | ushape, trim(1) | greedy)),
    st.integers(1, 30),
)
def test_every_packed_chunk_is_found_again(given: list[Chunk], policy: Any, budget: int) -> None:
    packer = Packer(policy, budget=budget, on_invalid="exclude")
    packed, places = pack_natives(packer, given, query=None, mend="")
    assert [chunk for _, chunk in places] == list(packed)
    assert len({at for at, _ in places}) == len(places)
    for at, chunk in places:
        assert given[at].content.startswith(chunk.content)
        assert given[at].score == chunk.score
        assert given[at].metadata == chunk.metadata
        assert given[at].id in (chunk.id, None)
    assert packed == pack(given, policy, budget=budget, on_invalid="exclude")


@given(generators.requests())
def test_the_summary_is_json_and_has_every_exclusion(call: generators.Request) -> None:
    report = call.packed().report
    told = json.loads(json.dumps(summary(report), allow_nan=False))
    assert told["tokens_used"] == report.tokens_used
    assert [out["id"] for out in told["excluded"]] == [out.id for out in report.excluded]
    assert not {"content", "metadata"} & {key for out in told["excluded"] for key in out}
    whole = report.to_dict()
    for name, value in told.items():
        if name not in ("excluded", "duration_ms"):
            assert value == json.loads(json.dumps(whole[name])), name


def test_the_summary_has_what_the_report_has() -> None:
    report = pack([Chunk("a", 0.5)], greedy, budget=5).report
    computed = {"conflicts", "diversity", "position_quality", "values"}
    assert set(report.to_dict()) - set(summary(report)) == computed


def test_a_note_says_what_was_shortened_and_merged() -> None:
    given = [
        Chunk("One sentence. Another one.", 0.5, id="a"),
        Chunk("one sentence. another one.", 0.4, id="b"),
    ]
    (chunk,) = pack(given, dedup(0.9) | trim(1) | greedy, budget=4)
    assert note(chunk) == {
        "id": "a",
        "position": 0,
        "score": 0.5,
        "tokens": 4,
        "original_tokens": 7,
        "merged_from": ["b"],
    }
    assert "report" not in note(attrs.evolve(chunk, position=1), {})


def test_a_note_says_what_was_charged_of_what_overlaps() -> None:
    assert note(PACKED.chunks[1]) == {
        "id": "back",
        "position": 1,
        "score": 0.8,
        "tokens": 8,
        "new_tokens": 4,
    }


def test_vectors_of_a_plain_and_of_an_async_function() -> None:
    async def later(texts: Any) -> Any:
        await asyncio.sleep(0)
        return [[float(len(text))] for text in texts]

    def now(texts: Any) -> Any:
        return [[float(len(text))] for text in texts]

    for embed in (now, later):
        assert asyncio.run(awaited(embed, ["a", "ab"], "texts")) == [[1.0], [2.0]]
    assert called(now, ["a", "ab"], "texts") == [[1.0], [2.0]]
    with pytest.raises(PackError, match="call the async form"):
        called(later, ["a"], "texts")
    with pytest.raises(PackError, match="gave 1 vectors for 2 texts"):
        called(lambda _: 7, ["a", "ab"], "texts")  # type: ignore[arg-type, return-value]


def test_a_policy_may_be_its_text() -> None:
    policy = dedup(0.9) | mmr(0.7) | ushape
    assert policy_of(str(policy)) == policy_of(policy) == policy
