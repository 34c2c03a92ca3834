"""The page on quality: what it says of losses, the peers' orderings, and data that is not there."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import quality
from benchmarks.harness import MissingError
from benchmarks.peers import orderings
from packer import Packer, Pool
from packer.evaluation import CaseSet, Evaluation, case, evaluate
from strategies import density, greedy

from .evaluation_cases import by_hand

POOL = Pool.from_arrays(
    [0.9, 0.8, 0.7], [60, 50, 30], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], query="q"
)


@pytest.fixture(scope="module")
def found() -> Evaluation:
    named = {quality.WITH_QUERY: density, quality.WITHOUT: greedy}
    return evaluate(by_hand(), named, budgets=[40, 100], baseline="prefix", resamples=500)


def test_without_the_data_the_page_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "quality.md"
    page.write_text("as it was")
    where = ["--data", str(tmp_path / "nowhere"), "--into", str(page)]
    monkeypatch.setattr("sys.argv", ["quality", *where])
    quality.main()
    assert "nothing measured" in capsys.readouterr().out
    assert page.read_text() == "as it was"


def test_figures_go_between_the_markers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "quality.md"
    page.write_text(f"before\n{quality.BEGIN}\nold\n{quality.END}\nafter")
    monkeypatch.setattr("sys.argv", ["quality", "--into", str(page)])
    monkeypatch.setattr(quality, "data_sets", lambda _: by_hand())
    monkeypatch.setattr(quality, "markdown", lambda _, jobs: f"new, {jobs} jobs")
    quality.main()
    text = page.read_text()
    assert text == f"before\n{quality.BEGIN}\n\nnew, 2 jobs\n\n{quality.END}\nafter"


def test_every_loss_is_listed_with_whether_it_holds(found: Evaluation) -> None:
    """At 100 tokens density loses all evidence of the manual."""
    text = quality._losses(found)
    assert "`recommended(query=True)` is significantly worse in 1 cell;" in text
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in text.splitlines()]
    (cells,) = [row for row in rows if row[1:3] == ["manual", "100"]]
    assert cells[:4] == ["`recommended(query=True)`", "manual", "100", "-1.000-"]
    assert cells[-1] == "12 and 0"


def test_where_nothing_is_lost_it_says_so() -> None:
    named = {quality.WITH_QUERY: greedy, quality.WITHOUT: greedy}
    found = evaluate(by_hand(), named, budgets=[100], baseline="prefix", resamples=99)
    assert "There is none." in quality._losses(found)


def test_the_head_has_the_mean_over_the_sets(found: Evaluation) -> None:
    text = quality._head(found, by_hand())
    assert "24 queries of 2 sets: faq (12), manual (12)." in text
    assert "| `recommended(query=True)`" in text


def test_the_tables_have_a_heading_for_each_set(found: Evaluation) -> None:
    text = quality._tables(found, ["missing: a peer is not installed"])
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## Every policy, every set",
        "### faq (12 queries)",
        "### manual (12 queries)",
        "### mean of sets",
    ]
    assert "missing: a peer is not installed." in text


def test_halves_have_every_query_once() -> None:
    first, second = quality._halves(by_hand()[0])
    ids = [c.id for half in (first, second) for c in half]
    assert sorted(ids) == sorted(c.id for c in by_hand()[0])
    assert len(first) == len(second) == 6


def test_an_ordering_is_filled_with_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order 1, 0, 2 in 80 tokens: 50, then 60 does not fit, then 30."""
    asked = []

    def diversify(**given: Any) -> Any:
        asked.append(given)
        return SimpleNamespace(indices=np.array([1, 0, 2]))

    module = SimpleNamespace(diversify=diversify, Strategy={"MMR": "mmr", "MSD": "msd"})
    monkeypatch.setattr(orderings, "installed", lambda name, distribution: module)
    packer = Packer(orderings.Pyversity("MSD"), budget=80)
    assert packer.select(POOL).rows.tolist() == [1, 2]
    assert (asked[0]["k"], asked[0]["strategy"]) == (3, "msd")
    assert Packer(orderings.Pyversity("MSD"), budget=140).select(POOL).rows.tolist() == [1, 0, 2]
    assert len(asked) == 1  # ordered once for both budgets


def test_langchain_gets_the_embedding_of_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def relevance(query: Any, given: Any, k: int) -> list[int]:
        asked.append((query.tolist(), len(given), k))
        return [2, 0, 1]

    module = SimpleNamespace(maximal_marginal_relevance=relevance)
    monkeypatch.setattr(orderings, "installed", lambda name, distribution: module)
    vectors = {"q": np.array([0.5, 0.5], np.float32)}
    packer = Packer(orderings.Langchain(vectors), budget=90, query="q")
    assert packer.select(POOL).rows.tolist() == [2, 0]
    assert asked == [([0.5, 0.5], 3, 3)]


def test_peers_that_are_missing_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    record = {
        "query": "q",
        "evidence": ["a"],
        "candidates": [{"id": "a", "content": "a", "score": 0.5, "embedding": [1.0]}],
        "query_embedding": [1.0],
    }

    def installed(name: str, distribution: str) -> Any:
        if name == "pyversity":
            raise MissingError("missing: pyversity is not installed")
        return SimpleNamespace()

    monkeypatch.setattr(orderings, "installed", installed)
    found, missing = orderings.peers([CaseSet("faq", [case(record)])])
    assert list(found) == ["LangChain MMR"]
    assert missing == ["missing: pyversity is not installed"]
