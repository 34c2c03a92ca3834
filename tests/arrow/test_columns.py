"""What may come in and what must not: types, names, faults."""

import datetime as dt
import decimal
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Budget, Chunk, Packer, PackError, Pool, Template
from packer.arrow import output_schema, pack_batch
from packer.errors import InvalidBudget, InvalidChunk, InvalidParameter
from strategies import cap, custom, field, greedy, latest, mmr, parse, threshold, trim, where
from tests.generators import NOW
from tests.overlapping import WINDOWS

ONE = {"id": "a", "content": "alpha", "score": 0.9, "tokens": 4}


def lists(*rows: Any, **types: Any) -> Any:
    """A batch of these lists; `types` of fields that are not to be guessed."""
    column = pa.array(list(rows))
    if types:
        inner = column.type.value_type
        fields = [pa.field(each.name, types.get(each.name, each.type)) for each in inner]
        column = pa.array(list(rows), pa.list_(pa.struct(fields)))
    return pa.record_batch({"candidates": column})


def ids(result: Any) -> list[Any]:
    return [
        row if row is None else [chunk["id"] for chunk in row]
        for row in result.column("packed").to_pylist()
    ]


# -- forms ---------------------------------------------------------------------------------


def test_integer_ids_become_text_and_missing_ones_are_made() -> None:
    batch = lists([{"id": 7, "score": 0.5, "tokens": 1}, {"id": None, "score": 0.4, "tokens": 1}])
    assert ids(pack_batch(batch, greedy, budget=9)) == [["7", "chunk-1"]]


def test_without_ids_a_candidate_is_named_by_its_place_in_its_own_list() -> None:
    rows = [[{"score": 0.1, "tokens": 1}, {"score": 0.2, "tokens": 1}]] * 2
    assert ids(pack_batch(lists(*rows), greedy, budget=9)) == [["chunk-1", "chunk-0"]] * 2


@pytest.mark.parametrize(
    "kind", [pa.float16(), pa.float32(), pa.int8(), pa.uint64(), pa.decimal128(9, 4)]
)
def test_scores_of_any_type_of_number(kind: Any) -> None:
    values = [1, 3, 2]
    if pa.types.is_decimal(kind):
        values = [decimal.Decimal(value) for value in values]  # type: ignore[misc]
    elif pa.types.is_float16(kind):
        values = [np.float16(value) for value in values]  # type: ignore[misc]
    rows = [{"score": value, "tokens": 1} for value in values]
    batch = lists(rows, [{"score": None, "tokens": 1}, rows[0]], score=kind)
    result = pack_batch(batch, greedy, budget=9, on_invalid="exclude")
    assert ids(result) == [["chunk-1", "chunk-2", "chunk-0"], ["chunk-1"]]
    assert result.column("packed")[0][0]["score"].as_py() == 3.0


def test_a_list_of_fixed_size_with_an_offset_and_a_null() -> None:
    rows = [[{**ONE, "id": f"{row}-{at}"} for at in range(2)] for row in range(4)]
    rows[2] = None  # type: ignore[call-overload]
    inner = pa.array([[ONE]]).type.value_type
    batch = pa.record_batch({"candidates": pa.array(rows, pa.list_(inner, 2))})
    assert ids(pack_batch(batch.slice(1), greedy, budget=9)) == [
        ["1-0", "1-1"],
        None,
        ["3-0", "3-1"],
    ]


def test_what_a_null_list_hides_is_not_packed() -> None:
    structs = pa.array([ONE, {**ONE, "id": "hidden"}, {**ONE, "id": "b"}])
    column = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), structs, mask=pa.array([False, True, False])
    )
    assert ids(pack_batch(pa.record_batch({"candidates": column}), greedy, budget=9)) == [
        ["a"],
        None,
        ["b"],
    ]


def test_metadata_in_a_map_a_struct_or_beside() -> None:
    policy = where(field("source") == "kb") | greedy
    beside = [{**ONE, "source": source} for source in ("kb", "faq", None)]
    for column in (
        pa.array([beside]),
        pa.array([[{**ONE, "metadata": {"source": one["source"]}} for one in beside]]),
        pa.array(
            [[{**ONE, "id": one["id"], "metadata": [("source", one["source"])]} for one in beside]],
            pa.list_(
                pa.struct(
                    [
                        *pa.array([ONE]).type,
                        pa.field("metadata", pa.map_(pa.string(), pa.string())),
                    ]
                )
            ),
        ),
    ):
        named = pa.record_batch({"candidates": column})
        result = pack_batch(named, policy, budget=99, on_invalid="exclude")
        packed = result.column("packed")[0].as_py()
        assert [chunk["candidate"] for chunk in packed] == [0]


def test_text_as_a_view_and_runs_and_embeddings_as_tensors() -> None:
    rows = [{**ONE, "id": name, "score": score} for name, score in (("a", 0.5), ("b", 0.9))]
    inner = pa.array(rows)
    tensors = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.float32(), [2]),
        pa.array([[1.0, 0.0], [1.0, 0.0]], pa.list_(pa.float32(), 2)),
    )
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["kb"]))
    structs = pa.StructArray.from_arrays(
        [inner.field("id").cast(pa.string_view()), inner.field("score"), inner.field("tokens"),
         inner.field("content").cast(pa.string_view()), tensors, runs],
        ["id", "score", "tokens", "content", "embedding", "source"],
    )  # fmt: skip
    column = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), structs)
    policy = where(field("source") == "kb") | parse('dedup(0.9, metric="cosine") | greedy')
    result = pack_batch(pa.record_batch({"candidates": column}), policy, budget=9)
    assert ids(result) == [["b"]]
    assert result.schema == output_schema(pa.schema({"candidates": column.type}))


def test_nanoseconds_are_read_as_dates() -> None:
    rows = [
        {"score": 0.9, "tokens": 1, "source": "kb", "timestamp": at}
        for at in (1_700_000_000_000_000_001, 1_700_000_000_000_001_000)
    ]
    batch = lists(rows, timestamp=pa.timestamp("ns"))
    assert ids(pack_batch(batch, latest() | greedy, budget=9)) == [["chunk-1"]]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300), st.integers(1, 60))
def test_without_content_a_row_is_packed_as_its_arrays_are(
    scores: list[float], budget: int
) -> None:
    tokens = [1 + at % 7 for at in range(len(scores))]
    rows = [{"score": score, "tokens": count} for score, count in zip(scores, tokens, strict=True)]
    vectors = [[1.0, score, at % 3] for at, score in enumerate(scores)]
    for policy, embedded in ((threshold(0.3) | greedy, False), (mmr(0.5), True)):
        given_ = [
            {**row, "embedding": vector} if embedded else row
            for row, vector in zip(rows, vectors, strict=True)
        ]
        result = pack_batch(lists(given_), policy, budget=budget)
        pool = Pool.from_arrays(scores, tokens, vectors if embedded else None)
        layout = Packer(policy, budget=budget).select(pool)
        packed = result.column("packed")[0].as_py()
        assert [chunk["candidate"] for chunk in packed] == layout.rows.tolist()
        assert "content" not in result.schema.field("packed").type.value_type.names


def test_a_batch_of_many_rows_is_packed_in_parts() -> None:
    rows = [[{"id": f"{row}", "score": 0.5, "tokens": 1 + row % 3}] for row in range(2_500)]
    rows[2_000][0]["score"] = None
    result = pack_batch(lists(*rows), greedy, budget=2, on_error="set-aside")
    expected = [[f"{row}"] if row % 3 < 2 else [] for row in range(2_500)]
    expected[2_000] = None  # type: ignore[call-overload]
    assert ids(result) == expected
    with pytest.raises(InvalidChunk, match=r"^row 2000: ") as caught:
        pack_batch(pa.Table.from_batches([lists(*rows)]), greedy, budget=2)
    assert caught.value.details["row"] == 2_000


def test_carried_fields_keep_their_type_and_order() -> None:
    rows = [
        {**ONE, "id": name, "score": score, "url": url}
        for name, score, url in (("a", 0.1, "x"), ("b", 0.9, None), ("c", 0.5, "y"))
    ]
    batch = lists(rows, url=pa.dictionary(pa.int8(), pa.string()))
    result = pack_batch(batch, greedy, budget=99, carry=["url"])
    assert [chunk["url"] for chunk in result.column("packed")[0].as_py()] == [None, "y", "x"]
    assert result.schema == output_schema(batch.schema, carry=("url",))


def test_without_details_all_else_is_the_same() -> None:
    rows = [{"score": at / 9, "tokens": at} for at in range(9)]
    for text in ("greedy", "top(5) | prefix", "knapsack"):
        with_, without = (
            pack_batch(lists(rows), parse(text), budget=9, details=details)
            for details in (True, False)
        )
        told = [out.pop("detail") for out in with_.column("excluded")[0].as_py()]
        assert all(told)
        for out, other in zip(
            with_.column("excluded")[0].as_py(), without.column("excluded")[0].as_py(), strict=True
        ):
            assert other == {**out, "detail": None}
        assert with_.column("packed") == without.column("packed")


def test_a_shortened_text_comes_out_as_it_was_counted() -> None:
    long = " ".join(f"Sentence number {at} says something." for at in range(30))
    batch = lists(
        [{**ONE, "content": long, "tokens": None}, {**ONE, "id": "b", "score": 0.1}],
        tokens=pa.int64(),
    )
    result = pack_batch(batch, trim(20) | greedy, budget=60)
    whole, cut = result.column("packed")[0].as_py()
    assert (whole["id"], whole["content"], whole["original_tokens"]) == ("b", "alpha", None)
    assert cut["content"].startswith("Sentence number 0 says something.")
    assert len(cut["content"]) < len(long)
    assert cut["tokens"] == math.ceil(len(cut["content"]) / 4) <= 56
    assert cut["original_tokens"] == math.ceil(len(long) / 4)


@pytest.mark.parametrize("overhead", [0, 1])
def test_what_overlaps_is_charged_for_what_is_new(overhead: int) -> None:
    row = [{"content": c.content, "score": c.score, **c.metadata} for c in WINDOWS]
    rows = lists(row, row[:1], None)
    result = pack_batch(rows, parse("overlap() | greedy"), budget=20, overhead=overhead)
    assert result["tokens_used"].to_pylist() == [14 + 2 * overhead, 10 + overhead, None]
    (first, second), (alone,) = result["packed"].to_pylist()[:2]
    assert [(one["tokens"], one["new_tokens"]) for one in (first, second)] == [(10, 10), (8, 4)]
    assert alone["new_tokens"] is None
    plain = pack_batch(rows, parse("greedy"), budget=20)
    assert [one["new_tokens"] for one in plain["packed"][0].as_py()] == [None, None]


def test_a_budget_may_be_a_ledger_and_a_column() -> None:
    batch = lists([ONE], [ONE]).append_column("room", pa.array([3, None], pa.int16()))
    result = pack_batch(batch, greedy, budget=Budget(100, reserve=96), budget_column="room")
    assert ids(result) == [[], ["a"]]


def test_a_counter_of_the_callers_own_counts_what_has_no_tokens() -> None:
    seen = []

    def words(text: str) -> int:
        seen.append(text)
        return len(text.split())

    batch = lists(
        [{**ONE, "tokens": None}, {**ONE, "id": "b", "content": "two words"}], tokens=pa.int64()
    )
    result = pack_batch(batch, greedy, budget=5, count_tokens=words)
    assert result.column("tokens_used").to_pylist() == [5]
    assert seen == ["alpha"]


def test_a_constraint_reads_the_keys_that_it_asks_for() -> None:
    rows = [{**ONE, "id": name, "source": source} for name, source in ("ax", "bx", "cy")]
    assert ids(pack_batch(lists(rows), cap(1) | greedy, budget=99)) == [["a", "c"]]


def test_one_moment_for_the_whole_call() -> None:
    rows = [{**ONE, "timestamp": dt.datetime(2024, 5, 1, tzinfo=dt.UTC)}]
    policy = parse('fresh("60d") | greedy')
    assert ids(pack_batch(lists(rows), policy, budget=9, now=NOW)) == [["a"]]
    assert ids(pack_batch(lists(rows), policy, budget=9, now="2024-12-01")) == [[]]


# -- faults --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([["text"]], "candidates' is list<item: string>; give a list of structs"),
        ([[{"tokens": 1}]], "no field 'score'"),
        ([[{"score": 0.5}]], "neither content nor tokens"),
        ([[{"score": "high", "tokens": 1}]], "candidates.score is string; give a float or integer"),
        ([[{"score": True, "tokens": 1}]], "candidates.score is bool"),
        ([[{"score": 0.5, "tokens": 1.0}]], r"candidates.tokens is double; give an integer type, as in cast"),
        ([[{**ONE, "embedding": "v"}]], "candidates.embedding is string; give lists of numbers"),
        ([[{**ONE, "metadata": "{}"}]], "candidates.metadata is string; give a struct, or a map"),
        ([[{**ONE, "id": 0.5}]], "candidates.id is double; give text or an integer type"),
        ([[{**ONE, "url": 1, "metadata": {"url": 2}}]], "has the metadata key 'url' twice"),
    ],
)  # fmt: skip
def test_fields_of_another_type_are_refused_before_any_row(rows: Any, told: str) -> None:
    batch = pa.record_batch({"candidates": pa.array(rows)})
    with pytest.raises(InvalidParameter, match=told.replace("(", r"\(")):
        pack_batch(batch, greedy, budget=9, on_error="set-aside")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"candidates_column": "hits"}, "no column 'hits'; name it by candidates_column"),
        ({"query_column": "q"}, "no column 'q'; name it by query_column"),
        ({"query_column": "candidates"}, "candidates is list"),
        ({"on_error": "skip"}, "on_error is 'skip'"),
        ({"on_invalid": "drop"}, "on_invalid is 'drop'"),
        ({"carry": "url"}, "carry is 'url'; give a list of names"),
        ({"carry": ["url"]}, "carry names 'url'"),
        ({"carry": ["score"]}, "carry names 'score'"),
        ({"carry": ["x", "x"]}, "carry names a field twice"),
        ({"budget": None}, "give budget, in tokens, or the name of a budget_column"),
        ({"budget": 0}, "budget is 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(PackError, match=told):
        pack_batch(lists([ONE]), greedy, **{"budget": 9, **options})


def test_what_is_no_batch_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="takes a pyarrow RecordBatch or Table, not 3"):
        pack_batch(3, greedy, budget=9)


def test_columns_that_the_result_adds_must_not_be_there() -> None:
    packed = pack_batch(lists([ONE]), greedy, budget=9)
    with pytest.raises(InvalidParameter, match="has a column 'packed' already"):
        pack_batch(packed, greedy, budget=9)
    with_text = lists([ONE]).append_column("text", pa.array(["x"]))
    with pytest.raises(InvalidParameter, match="'text' already"):
        pack_batch(with_text, greedy, budget=9, template=Template("{content}"))


def test_a_row_without_a_budget_says_how_to_give_one() -> None:
    batch = lists([ONE], [ONE]).append_column("room", pa.array([9, None], pa.int64()))
    result = pack_batch(batch, greedy, budget_column="room", on_error="set-aside")
    assert ids(result) == [["a"], None]
    assert result.column("error")[1].as_py() == {
        "code": "INVALID_BUDGET",
        "message": "room is null; fill it, or give budget for the rows that have none",
    }
    with pytest.raises(InvalidBudget, match="row 1: room is null"):
        pack_batch(batch, greedy, budget_column="room")


def test_an_exception_of_the_callers_own_names_its_row() -> None:
    def choose(chunks: Any, context: object) -> Any:
        del context
        if chunks[0].id == "b":
            raise ZeroDivisionError("none left")
        return chunks

    batch = lists([ONE], [{**ONE, "id": "b"}])
    result = pack_batch(batch, custom(choose), budget=9, on_error="set-aside")
    assert ids(result) == [["a"], None]
    assert result.column("error")[1]["code"].as_py() == "ZeroDivisionError"
    assert result.column("error")[1]["message"].as_py().startswith("none left")
    with pytest.raises(ZeroDivisionError) as caught:
        pack_batch(batch, custom(choose), budget=9)
    assert "raised for row 1 of the batch" in caught.value.__notes__


def test_a_package_that_is_missing_is_no_fault_of_the_row() -> None:
    def choose(chunks: Any, context: object) -> Any:
        raise ModuleNotFoundError("no module named nothing")

    with pytest.raises(ModuleNotFoundError):
        pack_batch(lists([ONE]), custom(choose), budget=9, on_error="set-aside")


def test_tokens_that_are_null_need_a_content() -> None:
    batch = lists([{"score": 0.5, "tokens": None}, {"score": 0.4, "tokens": 3}], tokens=pa.int64())
    result = pack_batch(batch, greedy, budget=9, on_invalid="exclude")
    assert ids(result) == [["chunk-1"]]
    told = result.column("excluded")[0][0].as_py()
    assert told["detail"].startswith("tokens is null, and there is no content to count")


def test_repeated_ids_and_blank_texts_are_set_aside_as_by_pack() -> None:
    batch = lists([ONE, {**ONE, "score": 0.95}, {**ONE, "id": "b", "content": "\u2003\x1f"}])
    result = pack_batch(batch, greedy, budget=9)
    assert [chunk["candidate"] for chunk in result.column("packed")[0].as_py()] == [1]
    assert [(out["candidate"], out["reason"]) for out in result.column("excluded")[0].as_py()] == [
        (2, "invalid"),
        (0, "duplicate"),
    ]


def test_a_chunk_of_the_lazy_columns_is_a_plain_record() -> None:
    seen: list[Chunk] = []

    def choose(chunks: Any, context: object) -> Any:
        del context
        seen.extend(chunks)
        return chunks

    batch = lists([{**ONE, "source": "kb", "year": None}], year=pa.int64())
    pack_batch(batch, custom(choose), budget=9)
    assert seen == [Chunk("alpha", 0.9, id="a", tokens=4, metadata={"source": "kb"})]
