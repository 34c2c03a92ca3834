import datetime as dt
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from packer import Chunk, PackError, Pool, Reason, pack
from packer.records import EMPTY
from strategies import dedup, greedy


def faults(*chunks: Any) -> list[tuple[str, int, list[str]]]:
    with pytest.raises(PackError) as caught:
        Pool.from_chunks(chunks)
    found: Any = caught.value.details["chunks"]
    return [(one["id"], one["position"], one["faults"]) for one in found]


def code(call: Callable[[], object]) -> tuple[str, dict[str, object]]:
    with pytest.raises(PackError) as caught:
        call()
    return caught.value.code, dict(caught.value.details)


# -- chunks ---------------------------------------------------------------------------------


def test_an_empty_input_is_an_empty_pool() -> None:
    pool = Pool.from_chunks([])
    assert (len(pool), pool.ids, pool.texts, pool.scores.tolist()) == (0, [], [], [])
    assert pool.embeddings is None
    assert pool.capacity == 0


def test_chunks_become_columns() -> None:
    pool = Pool.from_chunks(
        [
            Chunk("one", 1, id="a", tokens=3, metadata={"source": "faq"}),
            {"content": "four four", "score": np.float32(0.5)},
            {"content": "x", "score": -0.0, "embedding": [3, 4], "metadata": None, "id": None},
        ],
        overhead=2,
        budget=9,
        query="what?",
        now=0,
    )
    assert pool.ids == ["a", "chunk-1", "chunk-2"]
    assert pool.texts == ["one", "four four", "x"]
    assert pool.scores.tolist() == [1.0, 0.5, 0.0]
    assert math.copysign(1, pool.scores[2]) == 1
    assert pool.tokens.tolist() == [3, 3, 1]  # given, ceil(9 / 4), ceil(1 / 4)
    assert pool.costs.tolist() == [5, 5, 3]
    assert pool.metadata == [{"source": "faq"}, {}, {}]
    assert pool.column("source") == ["faq", None, None]
    assert pool.has_embedding.tolist() == [False, False, True]
    assert pool.embeddings is not None
    assert pool.embeddings.tolist() == [[0, 0], [0, 0], [3, 4]]
    assert (pool.budget, pool.capacity, pool.query) == (9, 9, "what?")
    assert pool.now == dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert pool.estimated
    for column in (pool.scores, pool.tokens, pool.costs, pool.table_rows, pool.embeddings):
        assert not column.flags.writeable


def test_any_iterable_of_chunks_will_do() -> None:
    def stream() -> Iterator[Chunk]:
        yield Chunk("a", 0.5)
        yield Chunk("b", 0.4)

    assert Pool.from_chunks(stream()).texts == ["a", "b"]


@pytest.mark.parametrize("chunks", ["text", {"content": "a", "score": 1}, Chunk("a", 1), 3, None])
def test_what_is_no_list_of_chunks_is_refused(chunks: Any) -> None:
    with pytest.raises(PackError, match="give a list of Chunk or of mappings") as caught:
        Pool.from_chunks(chunks)
    assert caught.value.code == "INVALID_CHUNK"


def test_an_item_that_is_no_chunk_is_named() -> None:
    assert faults(3, Chunk("fine", 0.5)) == [
        ("chunk-0", 0, ["it is 3; give a Chunk or a mapping with its keys"])
    ]


def test_a_mapping_with_unknown_or_missing_keys_is_named() -> None:
    assert faults({"text": "a", "content": "a"}, {"score": 0.5}, {}) == [
        (
            "chunk-0",
            0,
            [
                (
                    "it has the unknown key 'text'; a chunk has content, score, id, tokens, "
                    "embedding, metadata"
                ),
                "it has no score",
            ],
        ),
        ("chunk-1", 1, ["it has no content"]),
        ("chunk-2", 2, ["it has no content", "it has no score"]),
    ]


@pytest.mark.parametrize(
    ("chunk", "fault"),
    [
        (Chunk(3, 0.5), "content is 3; give text"),  # type: ignore[arg-type]
        (Chunk(b"a", 0.5), "content is b'a'; give text"),  # type: ignore[arg-type]
        (Chunk("a", None), "score is None; give a finite number"),  # type: ignore[arg-type]
        (Chunk("a", "1"), "score is '1'; give a finite number"),  # type: ignore[arg-type]
        (Chunk("a", True), "score is True; give a finite number"),
        (Chunk("a", -math.inf), "score is -inf; give a finite number"),
        (Chunk("a", 1, id=7), "id is 7; give text, or None to have one made"),  # type: ignore[arg-type]
        (Chunk("a", 1, metadata=3), "metadata is 3; give a mapping"),
        (Chunk("a", 1, embedding="b"), "embedding is 'b'; give a list of numbers"),
        (Chunk("a", 1, embedding=[1, math.inf]), "embedding is inf at 1; give finite numbers"),
        (Chunk("a", 1, embedding=[1e300]), "embedding is inf at 0; give finite numbers"),
    ],
)
def test_a_chunk_with_a_fault_is_named_with_it(chunk: Chunk, fault: str) -> None:
    assert [found for _, _, found in faults(chunk)] == [[fault]]


def test_an_embedding_with_two_axes_is_refused() -> None:
    (found,) = faults(Chunk("a", 1, embedding=[[1, 2]]))
    assert found[2][0].endswith("; give a list of numbers")


@pytest.mark.parametrize("score", [10**400, -(10**400)], ids=["huge", "-huge"])
def test_an_int_score_beyond_float_is_refused(score: int) -> None:
    (found,) = faults(Chunk("a", score))
    assert found[2][0].endswith("; give a finite number")


def test_all_faults_are_named_at_once() -> None:
    chunks = [Chunk("a", math.nan, id=f"c{n}", tokens=-1) for n in range(7)]
    with pytest.raises(PackError) as caught:
        pack([Chunk("fine", 0.5), *chunks], greedy, budget=9)
    message = caught.value.message
    assert message.startswith("7 chunks are invalid: 'c0' at 1: score is nan; give a finite number")
    assert "tokens is -1; give an int of 0 or more" in message
    assert message.endswith(
        '; and 2 more. Mend them, or set such chunks aside with on_invalid="exclude"'
    )
    assert isinstance(caught.value.details["chunks"], list)
    assert len(caught.value.details["chunks"]) == 7


def test_embeddings_of_another_length_than_most_are_a_dimension_mismatch() -> None:
    chunks = [Chunk("a", 1, embedding=[1]), *(Chunk("b", 1, embedding=[1, 2]) for _ in range(2))]
    found, details = code(lambda: pack(chunks, greedy, budget=9))
    assert found == "DIMENSION_MISMATCH"
    assert details == {
        "chunks": [
            {
                "id": "chunk-0",
                "position": 0,
                "faults": ["embedding has 1 dimensions, most have 2"],
            }
        ]
    }
    # of as many of each length the first is right; with any other fault it is INVALID_CHUNK
    assert [at for _, at, _ in faults(*chunks[:2])] == [1]
    assert code(lambda: pack([*chunks, Chunk("c", math.nan)], greedy, budget=9))[0] == (
        "INVALID_CHUNK"
    )


def test_an_empty_embedding_is_no_embedding() -> None:
    pool = Pool.from_chunks([Chunk("a", 1, embedding=[]), Chunk("b", 0, embedding=[1, 2])])
    assert pool.has_embedding.tolist() == [False, True]
    assert Pool.from_chunks([Chunk("a", 1, embedding=[])]).embeddings is None


def test_exclude_sets_bad_chunks_aside_with_as_much_as_is_right() -> None:
    chunks: list[Any] = [
        Chunk("fine", 0.5, id="fine"),
        Chunk("nan", math.nan, id="nan", tokens=4, metadata={"source": "faq"}),
        Chunk(3, 0.5, tokens=-2),  # type: ignore[arg-type]
        {"score": 0.25, "metadata": 3},
        7,
    ]
    packed = pack(chunks, greedy, budget=9, on_invalid="exclude")
    found = packed.report.excluded
    assert [one.id for one in packed] == ["fine"]
    assert packed.report.excluded_count == 4
    assert [(out.id, out.content, out.tokens, out.metadata) for out in found] == [
        ("nan", "nan", 4, {"source": "faq"}),
        ("chunk-2", "3", 0, {}),
        ("chunk-3", "", 0, {}),
        ("chunk-4", "", 0, {}),
    ]
    assert [out.score for out in found[1:3]] == [0.5, 0.25]
    assert math.isnan(found[0].score)
    assert math.isnan(found[3].score)
    assert {(out.reason, out.stage) for out in found} == {(Reason.INVALID, "pack")}
    assert found[2].detail == "it has no content, metadata is 3; give a mapping"


def test_exclude_drops_nothing_but_the_bad_chunks() -> None:
    chunks = [Chunk("a", 0.5, embedding=[1, 2]), Chunk("b", 0.4, embedding=[math.nan, 0])]
    packed = pack([*chunks, Chunk("c", 0.3)], greedy, budget=9, on_invalid="exclude")
    assert [one.content for one in packed] == ["a", "c"]
    assert [out.content for out in packed.report.excluded] == ["b"]


@pytest.mark.parametrize("on_invalid", ["ignore", None, True])
def test_an_unknown_on_invalid_is_refused(on_invalid: Any) -> None:
    found = code(lambda: pack([], greedy, budget=1, on_invalid=on_invalid))
    assert found == ("INVALID_PARAMETER", {"on_invalid": on_invalid})


def test_a_blank_chunk_is_set_aside_under_raise_too_and_is_not_counted() -> None:
    def count(text: str) -> int:
        assert text.strip()
        return 1

    packed = pack([Chunk("\u2003\u00a0", 1), Chunk("b", 0.5)], greedy, budget=9, count_tokens=count)
    assert [one.content for one in packed] == ["b"]
    assert packed.why("chunk-0") == "chunk-0 is out, invalid, by pack: its text is blank"


def test_a_blank_chunk_does_not_win_over_a_chunk_with_its_id() -> None:
    packed = pack([Chunk("", 0.9, id="x"), Chunk("text", 0.1, id="x")], greedy, budget=9)
    assert [one.content for one in packed] == ["text"]
    assert [out.reason for out in packed.report.excluded] == [Reason.INVALID]


def test_of_two_equal_ids_with_equal_scores_the_earlier_stays() -> None:
    chunks = [Chunk(text, 0.5, id="x") for text in ("one", "two")]
    packed = pack(chunks, greedy, budget=9)
    assert packed.text() == "one"
    assert packed.report.excluded[0].detail == (
        "same id as the chunk at 0 with score 0.5; its text differs"
    )


def test_made_ids_avoid_every_given_one() -> None:
    names = ["chunk-2", "chunk-2-2", None, None]
    pool = Pool.from_chunks([Chunk(str(n), n, id=name) for n, name in enumerate(names)])
    assert pool.ids == ["chunk-2", "chunk-2-2", "chunk-2-3", "chunk-3"]


@pytest.mark.parametrize("plain", [True, False])
def test_numpy_numbers_are_as_good_as_pythons(*, plain: bool) -> None:
    number: Any = (lambda value: value) if plain else np.float64
    whole: Any = (lambda value: value) if plain else np.int32
    chunks = [Chunk("a", number(0.5), tokens=whole(3)), Chunk("b", number(0.25), tokens=whole(0))]
    pool = Pool.from_chunks(chunks)
    assert (pool.scores.tolist(), pool.tokens.tolist()) == ([0.5, 0.25], [3, 0])
    assert type(pool.chunk(0).tokens) is int


# -- the call -------------------------------------------------------------------------------


def test_the_calls_own_arguments_are_checked_before_the_chunks() -> None:
    bad: Any = [Chunk("a", math.nan)]
    assert code(lambda: pack(bad, greedy, budget=0)) == ("INVALID_BUDGET", {"budget": 0})
    assert code(lambda: pack(bad, greedy, budget=1, overhead=-1)) == (
        "INVALID_PARAMETER",
        {"overhead": -1},
    )
    assert code(lambda: pack(bad, greedy, budget=1, count_tokens=4)) == (  # type: ignore[arg-type]
        "INVALID_COUNTER",
        {"count_tokens": 4},
    )
    assert code(lambda: pack(bad, greedy, budget=1, query=4)) == (  # type: ignore[arg-type]
        "INVALID_PARAMETER",
        {"query": 4},
    )
    assert code(lambda: pack(bad, greedy, budget=1, now="soon")) == (
        "INVALID_TIMESTAMP",
        {"now": "soon"},
    )


def test_a_numpy_budget_is_an_int() -> None:
    packed = pack([Chunk("abcd", 0.5)], greedy, budget=np.int64(1))  # type: ignore[arg-type]
    assert type(packed.report.budget) is int
    assert len(packed) == 1


def test_a_budget_beyond_int64_holds_everything() -> None:
    packed = pack([Chunk("a", 0.5, tokens=2**43)] * 1, greedy, budget=10**30)
    assert packed.report.tokens_remaining == 10**30 - 2**43


@pytest.mark.parametrize(
    ("now", "moment"),
    [
        (dt.datetime(2024, 5, 1), dt.datetime(2024, 5, 1, tzinfo=dt.UTC)),  # noqa: DTZ001
        ("2024-05-01T02:00:00+02:00", dt.datetime(2024, 5, 1, tzinfo=dt.UTC)),
        (1714521600, dt.datetime(2024, 5, 1, tzinfo=dt.UTC)),
        (1714521600000, dt.datetime(2024, 5, 1, tzinfo=dt.UTC)),
        (dt.date(2024, 5, 1), dt.datetime(2024, 5, 1, tzinfo=dt.UTC)),
        (None, None),
    ],
)
def test_now_is_any_kind_of_date(now: object, moment: dt.datetime | None) -> None:
    assert Pool.from_chunks([], now=now).now == moment


@pytest.mark.parametrize("now", [True, math.nan, "yesterday", [], 1e300], ids=repr)
def test_a_now_that_is_no_date_is_refused(now: Any) -> None:
    assert code(lambda: Pool.from_chunks([], now=now))[0] == "INVALID_TIMESTAMP"


# -- warnings -------------------------------------------------------------------------------


def test_counting_by_an_estimate_is_reported_with_the_number() -> None:
    chunks = [Chunk("a", 0.5), Chunk("b", 0.4, tokens=3), Chunk(" ", 0.3)]
    report = pack(chunks, greedy, budget=9).report
    assert report.estimated
    assert report.counter == "approximate"
    (warning,) = report.warnings
    assert (warning.code, warning.ids) == ("estimated-tokens", ())
    assert warning.message.startswith("1 of 3 token counts are estimates (approximate); ")


def test_counting_by_a_plain_function_is_no_estimate() -> None:
    report = pack([Chunk("a", 0.5)], greedy, budget=9, count_tokens=len).report
    assert (report.estimated, report.warnings, report.counter) == (False, (), "len")


def test_one_chunk_has_no_constant_score() -> None:
    assert pack([Chunk("a", 0.5, tokens=1)], greedy, budget=9).report.warnings == ()


# -- arrays ---------------------------------------------------------------------------------


def test_arrays_that_fit_are_not_copied() -> None:
    scores = np.array([0.9, 0.2])
    tokens = np.array([3, 4], np.int64)
    vectors = np.ones((2, 3), np.float32)
    table = Pool.from_arrays(scores, tokens, vectors).candidates
    assert np.shares_memory(table.scores, scores)
    assert np.shares_memory(table.tokens, tokens)
    assert table.vectors is not None
    assert np.shares_memory(table.vectors, vectors)
    assert scores.flags.writeable  # the caller's own array stays as it is
    assert not table.scores.flags.writeable


def test_arrays_of_other_kinds_are_converted() -> None:
    pool = Pool.from_arrays(
        np.array([1, 0], np.int8), [3, 4], np.ones((2, 3)), budget=5, overhead=1, query="q", now=0
    )
    assert pool.scores.tolist() == [1.0, 0.0]
    assert pool.costs.tolist() == [4, 5]
    assert pool.embeddings is not None
    assert pool.embeddings.dtype == np.float32
    assert (pool.ids, pool.texts, pool.metadata) == (["chunk-0", "chunk-1"], ["", ""], [EMPTY] * 2)
    assert (pool.budget, pool.query) == (5, "q")
    assert Pool.from_arrays([], []).ids == []
    assert Pool.from_arrays([0.5], [1], np.ones((1, 0))).embeddings is None


def test_arrays_carry_ids_texts_and_metadata() -> None:
    pool = Pool.from_arrays(
        [0.9, 0.2, 0.4],
        [3, 4, 5],
        ids=["a", "b", "a"],
        texts=["one", " ", "two"],
        metadata=[{"source": "faq"}, {}, {}],
    )
    assert (pool.ids, pool.texts, pool.column("source")) == (["a"], ["one"], ["faq"])
    assert [(cut.reason, cut.rows.tolist()) for cut in pool.cuts] == [
        (Reason.INVALID, [1]),
        (Reason.DUPLICATE, [2]),
    ]


@pytest.mark.parametrize(
    ("arrays", "details"),
    [
        ({"scores": [[0.5]]}, {"column": "scores"}),
        ({"scores": ["a"]}, {"column": "scores"}),
        ({"scores": [True]}, {"column": "scores"}),
        ({"scores": [math.nan]}, {"column": "scores", "rows": [0]}),
        ({"tokens": [1.0]}, {"column": "tokens"}),
        ({"tokens": [-1]}, {"column": "tokens", "rows": [0]}),
        ({"tokens": [2**43 + 1]}, {"column": "tokens", "rows": [0]}),
        ({"tokens": np.array([2**63], np.uint64)}, {"column": "tokens", "rows": [0]}),
        ({"tokens": [1, 2]}, {"column": "tokens"}),
        ({"embeddings": [1.0]}, {"column": "embeddings"}),
        ({"embeddings": [[math.inf]]}, {"column": "embeddings", "rows": [0]}),
        ({"embeddings": [[1], [2]]}, {"column": "embeddings"}),
        ({"ids": ["a", "b"]}, {"column": "ids"}),
        ({"ids": [3]}, {"column": "ids", "rows": [0]}),
        ({"texts": []}, {"column": "texts"}),
        ({"texts": [None]}, {"column": "texts", "rows": [0]}),
        ({"metadata": [3]}, {"column": "metadata", "rows": [0]}),
    ],
    ids=repr,
)
def test_a_faulty_array_is_refused_with_its_column_and_rows(
    arrays: dict[str, Any], details: dict[str, object]
) -> None:
    found = code(lambda: Pool.from_arrays(**{"scores": [0.5], "tokens": [1], **arrays}))
    assert found == ("INVALID_CHUNK", details)


def test_the_message_on_a_faulty_array_says_which_numbers_it_takes() -> None:
    with pytest.raises(PackError) as caught:
        Pool.from_arrays([1.0], [1.5])
    assert caught.value.message == "tokens is float64[1]; give a vector of ints"
    with pytest.raises(PackError) as caught:
        Pool.from_arrays(["x"], [1])
    assert caught.value.message.endswith("; give a vector of numbers")


def test_the_message_on_a_faulty_array_counts_the_other_rows() -> None:
    with pytest.raises(
        PackError,
        match=r"^scores in row 1 is .*; give finite numbers \(and 2 more rows are wrong\)$",
    ):
        Pool.from_arrays([1, math.nan, math.inf, math.nan], [1, 1, 1, 1])
    with pytest.raises(
        PackError, match=r"^texts has 1 rows, scores has 2; give one for each chunk$"
    ):
        Pool.from_arrays([1, 2], [1, 1], texts=["a"])
    with pytest.raises(PackError, match=r"^tokens is float64\[1\]; give a vector of ints$"):
        Pool.from_arrays([1], [1.5])


def test_a_zero_vector_in_a_matrix_is_reported() -> None:
    (warning, *_) = Pool.from_arrays([0.9, 0.2], [1, 1], [[0, 0], [1, 0]]).warnings
    assert (warning.code, warning.ids) == ("zero-vector", ("chunk-0",))


# -- verbs of a pool ------------------------------------------------------------------------


def test_keep_records_what_is_out_and_derived_columns_follow() -> None:
    chunks = [Chunk(text, 0.5, id=text, tokens=1) for text in ("aaaa", "bbbb", "aaaa ", "cccc")]
    packed = pack(chunks, dedup(1.0) | dedup(0.9) | greedy, budget=9)
    assert [one.id for one in packed] == ["aaaa", "bbbb", "cccc"]
    assert packed.report.excluded[0].stage == "dedup(1.0)"


@pytest.mark.parametrize(
    ("mask", "shape"),
    [([True], "bool[1]"), ([1, 0], "int64[2]"), ([[True], [False]], "bool[2, 1]")],
)
def test_a_mask_of_another_shape_or_kind_is_refused(mask: Any, shape: str) -> None:
    pool = Pool.from_arrays([0.9, 0.2], [1, 1]).at("mine")
    with pytest.raises(PackError) as caught:
        pool.keep(mask, reason="metadata")
    assert caught.value.code == "INVALID_STRATEGY"
    assert caught.value.message == (
        f"mine kept by a mask of {shape}; a mask is bool[2], one for each row of the pool"
    )


def test_an_unknown_reason_is_refused() -> None:
    pool = Pool.from_arrays([0.9, 0.2], [1, 1])
    found, details = code(lambda: pool.keep([True, False], reason="boring"))
    assert (found, details) == ("INVALID_PARAMETER", {"reason": "boring"})
    assert code(lambda: pool.keep([True, True], reason="boring"))[0] == "INVALID_PARAMETER"


def test_keeping_every_row_gives_the_same_pool() -> None:
    pool = Pool.from_arrays([0.9, 0.2], [1, 1])
    assert pool.keep([True, True], reason="metadata") is pool
    assert len(Pool.from_arrays([], []).keep([], reason="metadata")) == 0


@pytest.mark.parametrize("scores", [[1.0], [1.0, math.nan], [[1.0, 2.0]], ["a", "b"]])
def test_scores_of_another_shape_or_not_finite_are_refused(scores: Any) -> None:
    pool = Pool.from_arrays([0.9, 0.2], [1, 1]).at("mine")
    assert code(lambda: pool.rescore(scores)) == ("INVALID_STRATEGY", {"stage": "mine"})


def test_rescore_keeps_the_original_scores() -> None:
    given = np.array([-0.0, 5.0])
    pool = Pool.from_arrays([0.9, 0.2], [1, 1]).rescore(given)
    given[1] = 7.0
    assert pool.scores.tolist() == [0.0, 5.0]
    assert pool.original_scores.tolist() == [0.9, 0.2]


def test_a_warning_is_given_once() -> None:
    pool = Pool.from_arrays([0.9, 0.2], [1, 1])
    warned = pool.warn("odd", "so odd", [1])
    assert warned.warn("odd", "so odd", [1]) is warned
    assert [(one.code, one.message, one.ids) for one in warned.warnings] == [
        ("odd", "so odd", ("chunk-1",))
    ]


def test_select_sorts_the_rest_into_budget_and_strategy() -> None:
    pool = Pool.from_arrays([0.9, 0.2, 0.5], [40, 30, 10], budget=55).at("mine")
    selection = pool.select([0])
    told = {
        cut.reason: [(int(row), cut.detail(at)) for at, row in enumerate(cut.rows)]
        for cut in selection.pool.cuts
    }
    assert told == {
        Reason.BUDGET: [(1, "needs 15 more tokens")],
        Reason.STRATEGY: [(2, "its 10 tokens would fit in the 15 left")],
    }
    assert (selection.ids, selection.scores.tolist(), selection.costs.tolist()) == (
        ["chunk-0"],
        [0.9],
        [40],
    )
    assert selection.texts == [""]
    assert selection.metadata == [{}]


def test_what_would_fit_exactly_in_what_is_left_is_out_by_strategy() -> None:
    selection = Pool.from_arrays([0.9, 0.2, 0.5], [40, 11, 10], budget=50).select([0])
    assert [(cut.reason, cut.rows.tolist(), cut.detail(0)) for cut in selection.pool.cuts] == [
        (Reason.BUDGET, [1], "needs 1 more tokens"),
        (Reason.STRATEGY, [2], "its 10 tokens would fit in the 10 left"),
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([0, 0], "mine chose chunk 'chunk-0' twice"),
        ([2], "mine chose row 2; its pool has the rows 0..1"),
        ([-1], "mine chose row -1; its pool has the rows 0..1"),
        ([0, 1], "mine chose 70 tokens of a budget of 55; a selector must stay within it"),
        ([0.0], "mine chose [0.0]; a selection is a list of row numbers"),
        ([[0]], "mine chose [[0]]; a selection is a list of row numbers"),
        ([True], "mine chose [True]; a selection is a list of row numbers"),
    ],
)
def test_a_selection_that_breaks_its_contract_is_refused(rows: Any, words: str) -> None:
    pool = Pool.from_arrays([0.9, 0.2], [40, 30], budget=55).at("mine")
    with pytest.raises(PackError) as caught:
        pool.select(rows)
    assert caught.value.code == "INVALID_STRATEGY"
    assert words in caught.value.message


@pytest.mark.parametrize("places", [[0], [0, 0], [0, 2], [0.0, 1.0], [[0, 1]], []])
def test_an_order_that_is_no_permutation_is_refused(places: Any) -> None:
    selection = Pool.from_arrays([0.9, 0.2], [1, 1]).at("mine").select([0, 1])
    with pytest.raises(PackError, match=r"an order is a permutation of 0\.\.1") as caught:
        selection.arrange(places)
    assert caught.value.code == "INVALID_STRATEGY"


def test_a_layout_points_into_the_callers_arrays() -> None:
    pool = Pool.from_arrays([0.1, 0.9, 0.5], [1, 1, 1], texts=["", "b", "c"])
    layout = pool.select([1, 0]).arrange([1, 0])  # rows of a pool without its blank first
    assert layout.rows.tolist() == [1, 2]
    assert layout.ids == ["chunk-1", "chunk-2"]
    assert layout.scores.tolist() == [0.9, 0.5]
    assert len(layout) == 2
    assert len(pool.select([]).arrange([])) == 0


def test_a_record_of_a_row_has_its_id_tokens_and_embedding() -> None:
    pool = Pool.from_chunks([Chunk("abcde", 0.5, embedding=[1, 2]), Chunk("b", 0.4)])
    assert pool.chunk(0) == Chunk("abcde", 0.5, id="chunk-0", tokens=2, embedding=[1, 2])
    assert pool.chunk(1) == Chunk("b", 0.4, id="chunk-1", tokens=1)
