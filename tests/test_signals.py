"""What a chunk is worth beyond its score: the query's words, its neighbours, further scores."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Packer, PackError, Pool, pack
from packer.bm25 import bm25
from packer.terms import counted, folded, query_terms, split
from strategies import greedy, lexical, neighbours, normalize, parse, recommended, top
from tests import naive_signals
from tests.generators import NOW, POSITIVE, QUERY, TEXTS, chunk_lists

QUERIES = st.sampled_from((QUERY, "ship on saturdays", "返品", "gifts 🎁", "refund refunds", "日"))


def of_texts(*texts: str, scores: Any = None, query: str | None = None) -> Pool:
    given_ = [0.5] * len(texts) if scores is None else scores
    return Pool.from_arrays(given_, [1] * len(texts), texts=list(texts), query=query)


# -- BM25 -----------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8), QUERIES)
def test_bm25_is_the_formula(texts: list[str], query: str) -> None:
    terms = query_terms(query, "none")
    found = bm25(counted(texts, terms, "none"))
    words = [split(folded(text)) for text in texts]
    long = [term for term in terms if len(term) > 1]
    if len(long) == len(terms) and any(words):
        assert found.tolist() == pytest.approx(naive_signals.bm25(words, terms), rel=1e-12)
    assert (found >= 0).all()


def test_bm25_by_hand() -> None:
    # n = 2, one has the term: idf = ln(1 + 1.5/1.5) = ln 2; lengths 1 and 3, mean 2
    found = bm25(counted(["refund", "we sell cats"], ("refund",), "none"))
    assert found.tolist() == [math.log(2) * (2.2 / (1 + 1.2 * (0.25 + 0.75 * 0.5))), 0.0]


def test_bm25_of_texts_without_words_is_0() -> None:
    assert bm25(counted(["...", "!"], ("refund",), "none")).tolist() == [0.0, 0.0]
    assert bm25(counted([], ("refund",), "none")).tolist() == []


# -- lexical --------------------------------------------------------------------------------


@given(chunk_lists(min_size=1), QUERIES, st.sampled_from((0.0, 0.3, 1.0, 5.0)))
def test_lexical_is_minmax_and_the_share_of_the_best_bm25(
    chunks: list[Chunk], query: str, weight: float
) -> None:
    pool = Pool.from_chunks(chunks, query=query, now=NOW)
    after = lexical(weight)(pool)
    matches = bm25(counted(pool.texts, query_terms(query, "english"), "english"))
    scaled = normalize()(pool).scores
    for score, base, match in zip(after.scores, scaled, matches, strict=True):
        assert score == base + (weight * (match / matches.max()) if match else 0.0)
    assert after.scores.min() >= 0.0
    assert after.scores.max() <= 1.0 + weight


def test_lexical_by_hand() -> None:
    pool = of_texts("refund", "we sell cats", scores=[0.25, 0.75], query="Refunds?")
    assert lexical()(pool).scores.tolist() == [1.0, 1.0]
    assert lexical(0.5)(pool).scores.tolist() == [0.5, 1.0]
    assert lexical(0)(pool).scores.tolist() == [0.0, 1.0]


def test_a_rare_word_counts_more_than_one_that_all_have() -> None:
    pool = of_texts("refund form", "refund rx7", "refund us", "refund me", query="refund rx7")
    scores = lexical()(pool).scores.tolist()
    assert scores[1] == 2.0
    assert max(scores[0], scores[2], scores[3]) < 1.2


def test_stems_are_those_of_the_language() -> None:
    texts = "die Rückerstattung", "Katzen"
    scores = lexical(language="german")(of_texts(*texts, query="Rückerstattungen")).scores
    assert scores.tolist() == [2.0, 1.0]
    unmatched = lexical(language="none")(of_texts(*texts, query="Rückerstattungen"))
    assert [one.code for one in unmatched.warnings[1:]] == ["unmatched-query"]


def test_scripts_without_blanks_match_by_pairs_of_characters() -> None:
    pool = of_texts("返品は三十日以内に限ります。", "配送は三日です。", query="返品できますか")
    assert lexical()(pool).scores.tolist() == [2.0, 1.0]
    thai = of_texts("คืนเงินภายในห้าวัน", "เราส่งของ", query="คืนเงิน")
    assert lexical()(thai).scores.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("query", ["", " ", "?", "zebra"])
def test_a_query_that_matches_nothing_leaves_minmax_and_warns(query: str) -> None:
    packed = pack(
        [Chunk("refund", 0.4, id="a"), Chunk("cats", 0.8, id="b")],
        lexical() | greedy,
        budget=9,
        query=query,
    )
    assert [chunk.id for chunk in packed] == ["b", "a"]
    [warning] = [one for one in packed.report.warnings if one.code == "unmatched-query"]
    assert "lexical(1.0)" in warning.message


def test_without_a_query_lexical_says_what_to_pass() -> None:
    with pytest.raises(PackError) as caught:
        pack([Chunk("refund", 0.4)], lexical() | greedy, budget=9)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.message == (
        "lexical(1.0) matches the words of the query, and this call has none; give the request's "
        "words as query=..., or leave the stage out"
    )
    assert caught.value.details == {"stage": "lexical(1.0)", "parameter": "query"}


def test_over_arrays_without_texts_lexical_is_refused() -> None:
    with pytest.raises(PackError, match="made from arrays without `texts`") as caught:
        Packer(lexical() | greedy, budget=9).select(Pool.from_arrays([0.5], [1]), query="refund")
    assert caught.value.code == "INVALID_PARAMETER"


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, True, "1", None])
def test_lexical_refuses_a_weight_below_0(weight: Any) -> None:
    with pytest.raises(PackError, match=r"^lexical: weight is .*; give a number of at least 0"):
        lexical(weight)


def test_lexical_refuses_a_language_without_a_stemmer() -> None:
    with pytest.raises(
        PackError, match=r"^lexical: language is 'klingon'; give one of 'english', "
    ):
        lexical(language="klingon")


def test_texts_are_counted_once_for_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    from strategies import signals

    calls: list[int] = []

    def counting(texts: Any, *others: Any) -> Any:
        calls.append(len(texts))
        return counted(texts, *others)

    monkeypatch.setattr(signals, "counted", counting)
    pool = of_texts("refund", "cats", "dogs", query="refund")
    packer = Packer(lexical() | top(2) | lexical(2.0) | greedy, budget=9)
    assert packer.select(pool, query="refund").rows.tolist() == [0, 1]
    assert packer.select(pool, query="refund").rows.tolist() == [0, 1]
    assert calls == [3]
    assert packer.select(pool, query="dogs").rows.tolist() == [2, 0]
    assert calls == [3, 3, 2]


# -- neighbours -----------------------------------------------------------------------------

PLACES = st.tuples(
    st.sampled_from(("a", "b", None)),
    st.sampled_from((None, 0, 1, 2, 3, 7, 7, 2.5, -1)) | st.integers(0, 12),
)


@given(
    st.lists(st.tuples(POSITIVE, PLACES), max_size=12),
    st.sampled_from((0.0, 0.5, 1.0)),
    st.integers(0, 4),
)
def test_neighbours_adds_a_share_of_the_best_beside(
    rows: list[tuple[float, tuple[Any, Any]]], weight: float, width: int
) -> None:
    scores, places = [score for score, _ in rows], [place for _, place in rows]
    metadata = [{"source": source, "position": position} for source, position in places]
    pool = Pool.from_arrays(scores, [1] * len(rows), metadata=metadata)
    after = neighbours(weight, width=width)(pool)
    assert after.scores.tolist() == naive_signals.neighbours(scores, places, weight, width)


def test_neighbours_by_hand() -> None:
    metadata: list[dict[str, object]] = [
        {"source": "talk", "position": position} for position in (1, 3, 4, 7)
    ]
    metadata += [{"source": "other", "position": 3}, {"position": 3}, {"source": "talk"}]
    pool = Pool.from_arrays([0.25, 0.5, 1.0, 0.75, 0.5, 0.5, 0.5], [1] * 7, metadata=metadata)
    assert neighbours()(pool).scores.tolist() == [0.5, 1.0, 1.25, 0.75, 0.5, 0.5, 0.5]
    assert neighbours(1, width=3)(pool).scores.tolist() == [1.25, 1.5, 1.75, 1.75, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("position", ["3", None, math.nan, math.inf, True])
def test_a_chunk_without_a_number_as_position_stays_untouched(position: Any) -> None:
    metadata = [{"source": "a", "position": 3}, {"source": "a", "position": position}]
    pool = Pool.from_arrays([0.5, 1.0], [1, 1], metadata=metadata)
    assert neighbours()(pool).scores.tolist() == [0.5, 1.0]


def test_neighbours_refuses_negative_scores() -> None:
    with pytest.raises(PackError) as caught:
        neighbours()(Pool.from_arrays([0.5, -0.25], [1, 1]))
    assert caught.value.message == (
        "neighbours adds a share of the neighbours' scores, and chunk 'chunk-1' has the negative "
        'score -0.25; put normalize("minmax") or normalize("sigmoid") before it'
    )


# -- the default ----------------------------------------------------------------------------


def test_recommended_is_a_composition_that_parses_back() -> None:
    assert recommended() == lexical() | neighbours() | greedy
    assert recommended(query=False) == normalize() | neighbours() | greedy
    for policy in (recommended(), recommended(query=False)):
        assert parse(str(policy)) == policy


@given(chunk_lists(), st.integers(1, 100))
def test_recommended_takes_chunks_of_every_kind(chunks: list[Chunk], budget: int) -> None:
    for policy in (recommended(), recommended(query=False)):
        packed = pack(chunks, policy, budget=budget, query=QUERY, now=NOW)
        assert packed.report.tokens_used <= budget
