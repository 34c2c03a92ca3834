"""The examples run as they stand, and tell of one knowledge base whatever holds it."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from .packages import need_in_test

FOLDER = Path(__file__).parents[2] / "examples" / "integrations"
STORES = {
    "chroma_query": "chromadb",
    "faiss_index": "faiss",
    "lancedb_search": "lancedb",
    "pgvector_rows": "sqlite3",
    "qdrant_points": "qdrant_client",
}
FRAMEWORKS = {
    "haystack_pipeline": "haystack",
    "langchain_chain": "langchain_core",
    "llama_index_query_engine": "llama_index.core",
}


def printed(name: str, capsys: Any, monkeypatch: Any) -> str:
    monkeypatch.syspath_prepend(str(FOLDER))
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    out: str = capsys.readouterr().out
    return out


def knowledge(monkeypatch: Any) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    import knowledge  # type: ignore[import-not-found]

    return knowledge


def by_hand(monkeypatch: Any) -> str:
    """The prompt text of the best 50 by brute force."""
    import numpy as np

    from packer import Chunk, pack
    from strategies import parse

    base = knowledge(monkeypatch)
    rows = base.documents()
    vectors = np.array(base.embed([row["content"] for row in rows]))
    asked = np.array(base.embed([base.QUESTION])[0])
    chunks = [
        Chunk(row["content"], float(vector @ asked), embedding=vector, metadata=row["metadata"])
        for row, vector in zip(rows, vectors, strict=True)
    ]
    best = sorted(chunks, key=lambda chunk: -chunk.score)[:50]
    return pack(best, parse(base.POLICY), budget=base.BUDGET).text()


def test_every_example_is_tried() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*STORES, *FRAMEWORKS, "knowledge"}


@pytest.mark.parametrize("name", STORES)
def test_every_store_leads_to_one_prompt(name: str, capsys: Any, monkeypatch: Any) -> None:
    need_in_test(STORES[name])
    text, _, why = printed(name, capsys, monkeypatch).rstrip().rpartition("\n")
    assert text == by_hand(monkeypatch)
    assert why.endswith("is out, superseded, by current(): status is 'superseded'")


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_framework_leads_to_a_prompt(name: str, capsys: Any, monkeypatch: Any) -> None:
    need_in_test(FRAMEWORKS[name])
    text = printed(name, capsys, monkeypatch)
    base = knowledge(monkeypatch)
    contents = {row["id"]: row["content"] for row in base.documents()}
    within = {id_ for id_, content in contents.items() if content in text}
    assert len(within) >= 4
    assert not any("2023" in id_ for id_ in within)
    assert base.QUESTION in text
    assert "returns-policy-2023#1 is out, superseded, by current(): status is 'superseded'" in text
    if name == "langchain_chain":
        assert by_hand(monkeypatch) in text


def teardown_module() -> None:
    sys.modules.pop("knowledge", None)
