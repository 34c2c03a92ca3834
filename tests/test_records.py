import copy
import datetime as dt
import json
import math
import pickle
from typing import Any

import attrs
import numpy as np
import pytest

from packer import (
    Chunk,
    Exclusion,
    Optimality,
    Packed,
    PackedChunk,
    PackError,
    Reason,
    Report,
    StageTrace,
    pack,
)
from packer.records import EMPTY, Deferred, Metadata, Warning
from strategies import dedup, greedy, knapsack, threshold, ushape

MOMENT = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


def example() -> Packed:
    chunks = [
        Chunk("alpha beta gamma", 0.9, id="a", tokens=5, metadata={"source": "faq"}),
        Chunk("alpha beta gamma", 0.8, id="copy", tokens=5),
        Chunk("something else", 0.7, id="b", tokens=7),
        Chunk("out of room", 0.6, id="c", tokens=50),
        Chunk("low", 0.1, id="d", tokens=1),
    ]
    return pack(
        chunks, threshold(0.5) | dedup(0.9) | knapsack | ushape, budget=20, overhead=1, now=MOMENT
    )


RECORDS: list[Any] = [
    Metadata({"source": "faq", "tags": ["a"]}),
    Chunk("text", 0.5, id="a", tokens=3, embedding=[1, 2], metadata={"year": 2024}),
    Chunk("text", math.inf),
    PackedChunk("a", "text", 0.5, 3, 0),
    Exclusion("a", "text", math.nan, 3, Reason.INVALID, "pack", detail="its text is blank"),
    Warning("undated", "1 chunks have no timestamp", ("a",)),
    StageTrace("greedy", 3, 2, 30, 20, 12.5),
    Optimality(1.5, 1.5, 0.0, proven=True),
    Deferred(lambda: (1, 2)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_a_record_can_be_copied_and_pickled(record: Any, copied: Any) -> None:
    twin = copied(record)
    assert twin == record
    assert repr(twin) == repr(record)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
@pytest.mark.parametrize("read_first", [False, True])
def test_a_result_can_be_copied_and_pickled(copied: Any, *, read_first: bool) -> None:
    packed = example()
    if read_first:
        packed.to_dict()
    twin = copied(packed)
    assert twin == packed
    assert twin.to_dict() == packed.to_dict()
    assert copied(packed.report) == packed.report


@pytest.mark.parametrize(
    "record", [*RECORDS[1:8], example(), example().report], ids=lambda one: type(one).__name__
)
def test_a_record_is_frozen(record: Any) -> None:
    name = attrs.fields(type(record))[0].name
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(record, name, 1)
    with pytest.raises((AttributeError, TypeError)):
        record.another = 1


# -- chunks and metadata --------------------------------------------------------------------


def test_a_chunk_keeps_an_embedding_as_a_read_only_float32_vector() -> None:
    given = np.array([1.0, 2.0])
    chunk = Chunk("text", 0.5, embedding=given)
    assert chunk.embedding.dtype == np.float32
    assert not chunk.embedding.flags.writeable
    given[0] = 9
    assert chunk.embedding.tolist() == [1.0, 2.0]


def test_a_read_only_float32_vector_is_not_copied() -> None:
    vector = np.array([1, 2], np.float32)
    vector.setflags(write=False)
    assert Chunk("text", 0.5, embedding=vector).embedding is vector


@pytest.mark.parametrize("value", ["vector", [[1], [1, 2]], object()])
def test_what_cannot_become_a_vector_stays_for_validation_to_name(value: Any) -> None:
    assert Chunk("text", 0.5, embedding=value).embedding is value


def test_chunks_with_equal_fields_are_equal_and_hash_alike() -> None:
    one, two = (
        Chunk("text", 0.5, id="a", embedding=[1, 2], metadata={"tags": ["x"]}) for _ in range(2)
    )
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1
    assert one != attrs.evolve(one, embedding=[1, 3])
    assert one != attrs.evolve(one, embedding=None)
    assert one != attrs.evolve(one, metadata={})
    assert one != attrs.evolve(one, content="other")


def test_the_repr_of_a_chunk_leaves_the_embedding_out() -> None:
    assert repr(Chunk("text", 0.5, id="a", embedding=[1, 2], metadata={"year": 2024})) == (
        "Chunk(content='text', score=0.5, id='a', tokens=None, metadata={'year': 2024})"
    )


def test_a_chunk_refuses_no_value() -> None:
    given: list[Any] = [None, "high", 3, -1.5, 7]
    content, score, id_, tokens, metadata = given
    chunk = Chunk(content, score, id=id_, tokens=tokens, metadata=metadata)
    assert [chunk.content, chunk.score, chunk.id, chunk.tokens, chunk.metadata] == given


def test_metadata_is_an_immutable_copy_of_what_was_given() -> None:
    given = {"source": "faq"}
    metadata = Chunk("text", 0.5, metadata=given).metadata
    given["source"] = "changed"
    assert metadata == {"source": "faq"}
    assert dict(metadata) == {"source": "faq"}
    assert len(metadata) == 1
    assert "source" in metadata
    assert metadata.get("missing") is None
    with pytest.raises(TypeError):
        metadata["source"] = "other"  # type: ignore[index]
    assert Chunk("text", 0.5, metadata={}).metadata is EMPTY
    assert Chunk("text", 0.5, metadata=None).metadata is EMPTY
    assert Chunk("text", 0.5, metadata=metadata).metadata is metadata


def test_exclusions_with_nan_scores_are_equal() -> None:
    one, two = (Exclusion("a", "", float("nan"), 0, Reason.INVALID, "pack") for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != attrs.evolve(one, score=0.0)


def test_a_reason_is_its_text() -> None:
    assert [str(reason) for reason in Reason] == [
        "budget",
        "redundant",
        "strategy",
        "max-candidates",
        "below-threshold",
        "metadata",
        "superseded",
        "stale",
        "quota",
        "exclusive",
        "needs",
        "duplicate",
        "invalid",
    ]
    assert Reason("budget") is Reason.BUDGET


# -- what is deferred -----------------------------------------------------------------------


def test_a_deferred_value_is_computed_once_and_only_when_read() -> None:
    calls: list[None] = []
    deferred = Deferred(lambda: calls.append(None) or 7)  # type: ignore[func-returns-value]
    assert calls == []
    assert (deferred.value, deferred.value) == (7, 7)
    assert len(calls) == 1
    assert deferred == Deferred(lambda: 7)
    assert deferred != Deferred(lambda: 8)
    assert deferred != 7
    assert repr(deferred) == "7"
    with pytest.raises(TypeError, match="unhashable"):
        hash(deferred)


def test_a_deferred_none_is_computed_once_too() -> None:
    calls: list[None] = []
    deferred: Deferred[None] = Deferred(lambda: calls.append(None))
    assert deferred.value is None
    assert deferred.value is None
    assert len(calls) == 1


# -- the result -----------------------------------------------------------------------------


def test_a_result_has_a_length_an_iterator_and_a_text() -> None:
    packed = example()
    assert len(packed) == 2
    assert [(one.id, one.position, one.tokens) for one in packed] == [("a", 0, 5), ("b", 1, 7)]
    assert packed.text() == "alpha beta gamma\n\nsomething else"
    assert packed.text(" / ") == "alpha beta gamma / something else"
    assert list(packed) == list(packed.chunks)


def test_why_says_in_one_line_why_a_chunk_is_in_or_out() -> None:
    packed = example()
    assert packed.why("a") == (
        "a is in at position 0 of 2: score 0.9, 5 tokens, chosen by knapsack"
    )
    assert packed.why("copy") == (
        "copy is out, redundant, by dedup(0.9): like a, similarity 1.0000, limit 0.9; "
        "the other has score 0.9"
    )
    assert packed.why("c") == "c is out, budget, by knapsack: needs 45 more tokens"
    assert packed.why("d") == ("d is out, below-threshold, by threshold(0.5): score 0.1, floor 0.5")


def test_why_has_one_more_line_for_each_duplicate_of_an_id() -> None:
    chunks = [Chunk("text", score, id="x", tokens=1) for score in (0.1, 0.9, 0.5)]
    twin = "same id as the chunk at 1 with score 0.9; its text is the same"
    assert pack(chunks, greedy, budget=5).why("x").splitlines() == [
        "x is in at position 0 of 1: score 0.9, 1 tokens, chosen by greedy",
        *[f"x is out, duplicate, by pack: {twin}"] * 2,
    ]


def test_why_of_an_exclusion_without_detail_ends_at_the_stage() -> None:
    packed = example()
    bare = attrs.evolve(packed.report.excluded[0], detail=None, redundant_with=None)
    report = attrs.evolve(packed.report, excluded=Deferred(lambda: (bare,)))
    assert attrs.evolve(packed, report=report).why("d") == (
        "d is out, below-threshold, by threshold(0.5)"
    )


def test_why_of_an_unknown_id_suggests_the_nearest() -> None:
    packed = example()
    with pytest.raises(
        PackError, match="no chunk has the id 'copi'; did you mean 'copy'"
    ) as caught:
        packed.why("copi")
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details == {"id": "copi", "suggestion": "copy"}
    with pytest.raises(PackError, match=r"no chunk has the id 'zzzzzz'$") as caught:
        packed.why("zzzzzz")
    assert caught.value.details["suggestion"] is None
    with pytest.raises(PackError, match=r"no chunk has the id 7$"):
        packed.why(7)  # type: ignore[arg-type]


def test_the_report_as_a_dict_has_every_public_name() -> None:
    report = example().report
    names = {name for name in dir(report) if not name.startswith("_")} - {"to_dict"}
    assert set(report.to_dict()) == names
    assert isinstance(report, Report)


def test_the_report_as_a_dict_has_plain_values() -> None:
    plain = example().report.to_dict()
    del plain["timestamp"], plain["duration_ms"]
    for stage in plain["stages"]:
        assert stage.pop("microseconds") >= 0
    assert plain == {
        "tokens_used": 14,
        "budget": 20,
        "tokens_remaining": 6,
        "utilization": 0.7,
        "selected_count": 2,
        "excluded_count": 3,
        "policy": "threshold(0.5) | dedup(0.9) | knapsack | ushape",
        "strategy": "knapsack",
        "ordering": "ushape",
        "excluded": [
            {
                "id": "d",
                "content": "low",
                "score": 0.1,
                "tokens": 1,
                "reason": "below-threshold",
                "stage": "threshold(0.5)",
                "redundant_with": None,
                "similarity": None,
                "detail": "score 0.1, floor 0.5",
                "metadata": {},
            },
            {
                "id": "copy",
                "content": "alpha beta gamma",
                "score": 0.8,
                "tokens": 5,
                "reason": "redundant",
                "stage": "dedup(0.9)",
                "redundant_with": "a",
                "similarity": 1.0,
                "detail": "similarity 1.0000, limit 0.9; the other has score 0.9",
                "metadata": {},
            },
            {
                "id": "c",
                "content": "out of room",
                "score": 0.6,
                "tokens": 50,
                "reason": "budget",
                "stage": "knapsack",
                "redundant_with": None,
                "similarity": None,
                "detail": "needs 45 more tokens",
                "metadata": {},
            },
        ],
        "values": {},
        "stages": [
            {"stage": stage, "chunks_in": a, "chunks_out": b, "tokens_in": c, "tokens_out": d}
            for stage, a, b, c, d in [
                ("threshold(0.5)", 5, 4, 73, 71),
                ("dedup(0.9)", 4, 3, 71, 65),
                ("knapsack", 3, 2, 65, 14),
                ("ushape", 2, 2, 14, 14),
            ]
        ],
        "diversity": 1.0,  # the two texts share no trigram
        "position_quality": None,
        "optimality": {"value": 1.6, "bound": 1.6, "gap": 0.0, "proven": True},
        "counter": "approximate",
        "estimated": False,
        "rendered_tokens": None,
        "warnings": [],
        "conflicts": [],
    }


def test_a_result_as_json_holds_nan_dates_and_numpy_values() -> None:
    metadata = {
        "nan": math.nan,
        "when": MOMENT,
        "day": dt.date(2026, 1, 2),
        "time": dt.time(3, 4),
        "number": np.float32(0.5),
        "count": np.int64(3),
        "array": np.array([[1, 2]]),
        "nested": {"set": {1}, "tuple": (1, None), 3: "key"},
        "reason": Reason.STALE,
        "flag": True,
        "other": 1 + 2j,
    }
    chunks = [
        Chunk("naïve 🙂", 0.5, id="a", metadata=metadata),
        Chunk("bad", math.nan, id="b", metadata={"inf": -math.inf}),
    ]
    packed = pack(chunks, greedy, budget=9, on_invalid="exclude")
    read = json.loads(packed.to_json())
    assert read["chunks"] == [
        {
            "id": "a",
            "content": "naïve 🙂",
            "score": 0.5,
            "tokens": 2,
            "position": 0,
            "metadata": {
                "nan": None,
                "when": "2026-01-02T03:04:05+00:00",
                "day": "2026-01-02",
                "time": "03:04:00",
                "number": 0.5,
                "count": 3,
                "array": [[1, 2]],
                "nested": {"set": [1], "tuple": [1, None], "3": "key"},
                "reason": "stale",
                "flag": True,
                "other": "(1+2j)",
            },
            "merged_from": [],
            "original_tokens": None,
            "new_tokens": None,
        }
    ]
    (out,) = read["report"]["excluded"]
    assert out["score"] is None
    assert out["metadata"] == {"inf": None}
    assert "naïve 🙂" in packed.to_json()
    assert packed.to_json(indent=2).startswith('{\n  "chunks": [\n')
    assert json.loads(packed.to_json(indent=2)) == read == packed.to_dict()


def test_metadata_that_json_cannot_hold_is_named() -> None:
    loop: dict[str, Any] = {"a": [1]}
    loop["a"].append(loop)
    large = 10**5000
    for metadata, words in (
        (loop, "chunk 'x': a value holds itself, or is nested too deeply to be written"),
        (
            {"sizes": [1, large]},
            "chunks[1].metadata.held.sizes[1] cannot be written as JSON: Exceeds",
        ),
        ({large: 1}, "chunk 'x': a value cannot be written: Exceeds"),
    ):
        chunks = [
            Chunk("ok", 0.9, id="ok", tokens=1, metadata={"size": 10**4000}),
            Chunk("text", 0.5, id="x", tokens=1, metadata={"held": metadata}),
        ]
        packed = pack(chunks, greedy, budget=9)
        with pytest.raises(PackError) as caught:
            packed.to_json()
        assert caught.value.code == "INVALID_PARAMETER"
        assert caught.value.message.startswith(words)
