"""Labelled queries from files and tables: what is read, and what is said of what cannot be."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, PackError
from packer.evaluation import Case, case, cases_from_table, read_cases
from packer.evaluation.reading import _rows

from .evaluation_cases import records

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "evaluation"

CHUNKS = [
    {"id": "a", "content": "We pay.", "score": 0.9, "tokens": 3, "metadata": {"source": "faq"}},
    {"id": "b", "content": "It is red.", "score": 0.4, "tokens": 4},
]
RECORD = {"query": "Who pays?", "evidence": ["a"], "answers": ["we pay"], "candidates": CHUNKS}


def written(path: Path, *records: Mapping[str, Any] | str) -> Path:
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def same(one: Case, other: Case) -> bool:
    tables = one.pool.candidates, other.pool.candidates
    ids, texts, scores, tokens = (
        [list(getattr(table, name)) for table in tables]
        for name in ("given_ids", "texts", "scores", "tokens")
    )
    return (
        all(left == right for left, right in (ids, texts, scores, tokens))
        and [g.tolist() for g in one.groups] == [g.tolist() for g in other.groups]
        and (one.query, one.answers, one.unreachable)
        == (other.query, other.answers, other.unreachable)
    )


@given(records())
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, Any]
) -> None:
    path = written(tmp_path_factory.mktemp("cases") / "faq.jsonl", record)
    found = read_cases(path)
    assert found.name == "faq"
    assert same(found.cases[0], case(record))


def test_blank_lines_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "faq.jsonl.gz"
    text = f"\ufeff{json.dumps(RECORD)}\n\n{json.dumps(RECORD)}\n"
    path.write_bytes(gzip.compress(text.encode()))
    found = read_cases(path, name="mine")
    assert (found.name, [c.id for c in found]) == ("mine", ["0", "1"])


def test_embeddings_stand_beside_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "faq.jsonl", RECORD)
    vectors = np.array([[0.0, 2.0], [1.0, 0.0]], np.float16)
    np.savez(
        tmp_path / "faq.npz", ids=["b", "a"], embeddings=vectors, query_embeddings=[[3.0, 4.0]]
    )
    (found,) = read_cases(path)
    assert found.pool.embeddings is not None
    assert found.pool.embeddings.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert found.unit is not None
    assert found.unit.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert found.query_embedding is not None
    assert found.query_embedding.tolist() == [3.0, 4.0]


def test_the_example_set_is_what_its_builder_says() -> None:
    found = read_cases(EXAMPLE / "support.jsonl.gz")
    labels = [json.loads(line) for line in (EXAMPLE / "labels.jsonl").read_text().splitlines()]
    assert [c.query for c in found] == [label["query"] for label in labels]
    for asked, label in zip(found, labels, strict=True):
        assert len(asked.groups) + asked.unreachable == len(label["evidence_groups"])
        texts = [asked.pool.candidates.text(int(row)) for group in asked.groups for row in group]
        assert not asked.groups or any(
            answer in " ".join(text.split()) for text in texts for answer in label["answers"]
        )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: column 2: Expecting property name"),
        ("[1]", "line 2: it is [1]; write an object with query, candidates and evidence"),
        ({**RECORD, "query": ""}, "line 2: query is ''; give the request's words as text"),
        ({k: v for k, v in RECORD.items() if k != "query"}, "line 2: it has no query"),
        ({**RECORD, "candidates": {}}, "line 2: candidates is {}; give a list of chunks"),
        (
            {"query": "q", "candidates": [], "evidances": []},
            "did you mean evidances to be evidence?",
        ),
        ({**RECORD, "evidence": "a"}, "line 2: evidence is 'a'; give a list of texts"),
        ({**RECORD, "evidence": [1]}, "line 2: evidence is [1]; give a list of texts"),
        (
            {**RECORD, "evidence_groups": "a"},
            "line 2: evidence_groups is 'a'; give a list of lists",
        ),
        ({**RECORD, "evidence_groups": [["a"], "b"]}, "line 2: evidence_groups: group 2 is 'b'"),
        (
            {**RECORD, "evidence_groups_unreachable": -1},
            "line 2: evidence_groups_unreachable is -1; give an int of 0 or more",
        ),
        ({**RECORD, "query_embedding": ["x"]}, "line 2: query_embedding is ['x']"),
        ({**RECORD, "candidates": [{"content": "x"}]}, "line 2: "),
        ({**RECORD, "candidates": [{"content": "x", "score": "high"}]}, "line 2: "),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, line: Any, message: str) -> None:
    path = written(tmp_path / "faq.jsonl", RECORD, line)
    with pytest.raises(PackError) as caught:
        read_cases(path)
    assert message in caught.value.message
    assert caught.value.message.startswith(f"{path}, ")
    assert caught.value.details["line"] == 2


def test_invalid_candidates_may_be_set_aside(tmp_path: Path) -> None:
    bad = {**RECORD, "candidates": [*CHUNKS, {"id": "c", "content": "x", "score": "high"}]}
    (found,) = read_cases(written(tmp_path / "faq.jsonl", bad), on_invalid="exclude")
    assert found.pool.ids == ["a", "b"]


def test_files_that_are_none_are_named(tmp_path: Path) -> None:
    empty = written(tmp_path / "empty.jsonl", "")
    with pytest.raises(PackError, match=r"empty\.jsonl has no queries"):
        read_cases(empty)
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes(b'{"query": "\xe9"}\n')
    with pytest.raises(PackError, match=r"latin\.jsonl, line 1: it is no UTF-8"):
        read_cases(latin)
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(json.dumps(RECORD).encode())[:-9])
    with pytest.raises(PackError, match="no whole gzip file"):
        read_cases(cut)
    with pytest.raises(FileNotFoundError):
        read_cases(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"ids": ["a", "b"]}, "has the arrays ids; it needs ids and embeddings"),
        ({"ids": ["a"], "embeddings": [[1.0], [2.0]]}, "embeddings has a row for each id"),
        ({"ids": ["a"], "embeddings": [[1.0]]}, "has no embedding for the id 'b'"),
        (
            {"ids": ["a", "b"], "embeddings": [[1.0], [2.0]], "query_embeddings": [[1.0], [1.0]]},
            "query_embeddings has 2 rows for 1 query",
        ),
    ],
)
def test_embeddings_that_do_not_fit_are_named(
    tmp_path: Path, arrays: dict[str, Any], message: str
) -> None:
    path = written(tmp_path / "faq.jsonl", RECORD)
    np.savez(tmp_path / "faq.npz", **arrays)
    with pytest.raises(PackError, match=message):
        read_cases(path)


def test_a_file_beside_that_is_no_npz_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "faq.jsonl", RECORD)
    (tmp_path / "faq.npz").write_text("text")
    with pytest.raises(PackError, match=r"faq\.npz: it is no \.npz file"):
        read_cases(path)


# -- tables ---------------------------------------------------------------------------------

LONG = [
    {"query": "Who pays?", "id": "a", "content": "We pay.", "score": 0.9, "tokens": 3,
     "evidence": "payer", "answers": "we pay", "source": "faq"},
    {"query": "What colour?", "id": "c", "content": "Blue.", "score": 0.7, "tokens": 2,
     "evidence": None, "answers": None, "source": None},
    {"query": "Who pays?", "id": "b", "content": "It is we.", "score": 0.4, "tokens": 4,
     "evidence": "payer", "answers": "we pay", "source": "faq"},
]  # fmt: skip


def tables(rows: list[dict[str, Any]]) -> dict[str, Any]:
    import pandas as pd
    import pyarrow as pa

    return {"list": rows, "pandas": pd.DataFrame(rows), "arrow": pa.Table.from_pylist(rows)}


@pytest.mark.parametrize("kind", ["list", "pandas", "arrow"])
def test_rows_of_candidates_become_queries(kind: str) -> None:
    found = cases_from_table(tables(LONG)[kind], name="frame")
    first, second = found.cases
    assert (first.query, second.query) == ("Who pays?", "What colour?")
    assert [g.tolist() for g in first.groups] == [[0, 1]]
    assert first.answers == ("we pay",)
    assert first.holds.tolist() == [True, False]
    assert second.groups == ()
    assert [dict(row) for row in first.pool.metadata] == [{"source": "faq"}, {"source": "faq"}]
    assert dict(second.pool.metadata[0]) == {}
    assert first.pool.tokens.tolist() == [3, 4]


@pytest.mark.parametrize("kind", ["list", "pandas", "arrow"])
def test_rows_of_queries_are_read_as_lines_are(kind: str) -> None:
    table = tables([dict(RECORD), dict(RECORD)])[kind]
    one, other = cases_from_table(table)
    assert same(one, case(RECORD))
    assert same(other, case(RECORD))
    assert [one.id, other.id] == ["0", "1"]


def test_true_is_evidence_of_its_own_and_ids_may_be_missing() -> None:
    rows = [
        {"query_id": 7, "query": "q", "content": text, "score": score, "evidence": mark}
        for text, score, mark in (("x", 0.9, True), ("y", 0.8, False), ("z", 0.7, 1))
    ]
    (found,) = cases_from_table(rows)
    assert found.id == "7"
    assert [g.tolist() for g in found.groups] == [[0], [2]]


def test_embeddings_may_stand_in_cells() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "query": ["q", "q"],
            "content": ["x", "y"],
            "score": [0.9, 0.8],
            "evidence": [True, False],
            "embedding": [np.array([3.0, 4.0]), np.array([0.0, 1.0])],
        }
    )
    (found,) = cases_from_table(frame)
    assert found.pool.embeddings is not None
    assert found.pool.embeddings.tolist() == [[3.0, 4.0], [0.0, 1.0]]


def test_a_parquet_file_is_a_table(tmp_path: Path) -> None:
    import pyarrow.feather
    import pyarrow.parquet

    table = tables(LONG)["arrow"]
    pyarrow.parquet.write_table(table, tmp_path / "faq.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "faq.feather")
    for ending in ("parquet", "feather"):
        found = read_cases(tmp_path / f"faq.{ending}")
        assert (found.name, len(found)) == ("faq", 2)
    (tmp_path / "bad.parquet").write_text("text")
    with pytest.raises(PackError, match=r"bad\.parquet: "):
        read_cases(tmp_path / "bad.parquet")


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(PackError, match=r"pip install \"chunk-packer\[eval\]\""):
        read_cases(tmp_path / "faq.parquet")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "the table has no rows"),
        ("text", "table is 'text'; give a data frame"),
        (3, "table is 3; give a data frame"),
        ([{"query": "q", "content": "x", "score": 0.5}], "table, row 1: it has none of"),
        ([{"query": "q", "evidence": True, "score": 0.5}], "table, row 1: "),
        ([LONG[0], {**LONG[1], "query": None, "query_id": "x"}], "table, row 2: it has no query"),
    ],
)
def test_what_is_no_table_of_queries_is_refused(table: Any, message: str) -> None:
    with pytest.raises(PackError) as caught:
        cases_from_table(table)
    assert message in caught.value.message


MARKED = {"query": "q", "content": "x", "score": 0.5}


@pytest.mark.parametrize(
    ("marks", "groups"),
    [
        (["", " ", "\t", "a"], [[3]]),
        (["True", "False", "false", " TRUE "], [[0], [3]]),
        ([1, 0, 1.0, 0.0], [[0], [2]]),
        ([np.True_, np.False_, np.int64(1), np.str_("a")], [[0], [2], [3]]),
        (["a", True, "a", "chunk-1"], [[0, 2], [1], [3]]),
    ],
)
def test_evidence_is_a_mark_or_a_name(marks: list[Any], groups: list[list[int]]) -> None:
    (found,) = cases_from_table([{**MARKED, "evidence": mark} for mark in marks])
    assert [g.tolist() for g in found.groups] == groups


@pytest.mark.parametrize(
    "mark", [["k"], {"k": 1}, ("k",), 2, 0.5, b"a", "0", "1", "Yes", "no", "None", "null", "nan"]
)
def test_evidence_that_may_mean_anything_is_refused(mark: Any) -> None:
    rows = [{**MARKED, "evidence": True}, {**MARKED, "evidence": mark}]
    with pytest.raises(PackError) as caught:
        cases_from_table(rows)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.message == (
        f"table, row 2: evidence is {mark!r}; give True, False, or the name of the piece of "
        "evidence that the row holds, as text"
    )
    assert (caught.value.details["row"], caught.value.details["field"]) == (2, "evidence")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query": ["a"]}, "query is ['a']; give the request's words as text"),
        ({"query": {"a": 1}}, "query is {'a': 1}; give the request's words as text"),
        ({"query": 5}, "query is 5; give the request's words as text"),
        ({"query_id": [7]}, "query_id is [7]; give a text or a number"),
        ({"query_id": {}}, "query_id is {}; give a text or a number"),
    ],
)
def test_what_names_no_query_is_refused_with_its_row(row: dict[str, Any], message: str) -> None:
    with pytest.raises(PackError) as caught:
        cases_from_table([{**MARKED, "evidence": True}, {**MARKED, "evidence": True, **row}])
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.message == f"table, row 2: {message}"
    assert (caught.value.details["row"], caught.value.details["field"]) == (2, *row)


def test_a_column_is_no_table() -> None:
    import pandas as pd

    with pytest.raises(PackError, match="give a data frame, an Arrow table or a list of mappings"):
        cases_from_table(pd.DataFrame([MARKED])["query"])


@given(
    st.lists(
        st.none() | st.sampled_from(["chunk-0", "chunk-1", "chunk-1-1", "chunk-2"]),
        min_size=1,
        max_size=6,
        unique_by=lambda id_: id_ or object(),
    )
)
def test_an_id_that_is_made_is_no_other_chunk_s(ids: list[str | None]) -> None:
    rows = [{**MARKED, "evidence": True, "id": id_} for id_ in ids]
    (found,) = cases_from_table(rows)
    made = list(found.pool.ids)
    assert len(set(made)) == len(ids)
    assert all(want in (None, have) for want, have in zip(ids, made, strict=True))
    assert [g.tolist() for g in found.groups] == [[at] for at in range(len(ids))]


def test_equal_query_ids_and_queries_are_two_things() -> None:
    rows = [
        {**MARKED, "query": "7", "evidence": True},
        {**MARKED, "query_id": "7", "evidence": True},
    ]
    assert [asked.query for asked in cases_from_table(rows)] == ["7", "q"]


@pytest.mark.parametrize("path", [".", "/", "folder", "folder.jsonl"])
def test_a_directory_is_no_file(tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("folder", "folder.jsonl"):
        (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError):
        read_cases(path)


def test_polars_frames_give_their_rows() -> None:
    class Frame:
        def to_dicts(self) -> list[dict[str, Any]]:
            return [dict(row) for row in LONG]

    assert _rows(Frame()) == LONG
    assert len(cases_from_table(Frame())) == 2


def test_a_query_id_of_none_is_none() -> None:
    assert case({**RECORD, "query_id": None}, number=3).id == "3"
    assert case({**RECORD, "query_id": 0}, number=3).id == "0"


def test_what_no_policy_packs_is_out_of_reach() -> None:
    chunks = [
        {"id": "blank", "content": " ", "score": 0.9},
        {"id": "b", "content": "It is red.", "score": 0.4},
        {"id": "b", "content": "We pay.", "score": 0.3},
    ]
    found = case({**RECORD, "evidence": ["blank", "b"], "candidates": chunks})
    assert [g.tolist() for g in found.groups] == [[1]]
    assert found.unreachable == 1
    assert found.holds.tolist() == [False, False, False]


def test_candidates_may_be_chunks() -> None:
    found = case({**RECORD, "candidates": [Chunk("We pay.", 0.9, id="a")]})
    assert [g.tolist() for g in found.groups] == [[0]]
    with pytest.raises(PackError, match="it is 3; give a mapping"):
        case(3)  # type: ignore[arg-type]
