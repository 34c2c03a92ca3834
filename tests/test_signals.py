"""What a chunk is worth beyond its score: the query's words, its neighbours, further scores."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Packer, PackError, Pool, pack
from packer.bm25 import bm25
from packer.terms import counted, folded, query_terms, split
from strategies import blend, greedy, lexical, neighbours, normalize, parse, recommended, top
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
    assert warning.message == (
        "lexical(1.0) finds no word of the query in any chunk, so it adds nothing"
    )


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


@pytest.mark.parametrize("position", ["3", math.inf, True, None, math.nan])
def test_a_chunk_without_a_number_as_position_stays_untouched(position: Any) -> None:
    metadata = [{"source": "a", "position": 3}, {"source": "a", "position": position}]
    after = neighbours()(Pool.from_arrays([0.5, 1.0], [1, 1], metadata=metadata))
    assert after.scores.tolist() == [0.5, 1.0]
    missing = position is None or math.isnan(float(position))
    assert [(one.code, one.ids) for one in after.warnings] == (
        [] if missing else [("unplaced", ("chunk-1",))]
    )


@pytest.mark.parametrize("source", [None, "", math.nan])
def test_chunks_without_a_source_are_not_beside_each_other(source: Any) -> None:
    metadata = [{"source": source, "position": 3}, {"source": source, "position": 4}]
    pool = Pool.from_arrays([0.5, 1.0], [1, 1], metadata=metadata)
    assert neighbours()(pool).scores.tolist() == [0.5, 1.0]


def test_neighbours_refuses_negative_scores() -> None:
    with pytest.raises(PackError) as caught:
        neighbours()(Pool.from_arrays([0.5, -0.25], [1, 1]))
    assert caught.value.message == (
        "neighbours adds a share of the neighbours' scores, and chunk 'chunk-1' has the negative "
        'score -0.25; put normalize("minmax") or normalize("sigmoid") before it'
    )


# -- blend ----------------------------------------------------------------------------------

COLUMNS = st.lists(
    st.tuples(
        st.sampled_from((0.0, 0.5, 1.0)) | st.floats(-3, 3, allow_subnormal=False),
        st.none() | st.sampled_from((0.0, 7.5, -2.5)) | st.floats(-9, 9, allow_subnormal=False),
        st.none() | st.integers(-3, 3),
    ),
    min_size=1,
    max_size=10,
)


@pytest.mark.parametrize("scale", ["minmax", "zscore", "rank"])
@given(COLUMNS, st.floats(-2, 2), st.floats(-2, 2), st.none() | st.floats(0, 2))
def test_blend_adds_each_score_on_its_scale(
    scale: Any, rows: list[Any], dense: float, sparse: float, own: float | None
) -> None:
    scores, denses, sparses = zip(*rows, strict=True)
    metadata = [{"dense": one, "sparse": other} for _, one, other in rows]
    weights: dict[str, Any] = {"dense": dense, "sparse": sparse}
    weights |= {} if own is None else {"score": own}
    pool = Pool.from_arrays(scores, [1] * len(rows), metadata=metadata)
    after = blend(scale=scale, **weights)(pool)
    naive = getattr(naive_signals, scale)
    columns = {"dense": denses, "sparse": sparses}
    expected = naive_signals.blend(scores, columns, weights, naive)
    assert after.scores.tolist() == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_blend_by_hand() -> None:
    metadata: list[dict[str, object]] = [{"a": 1, "b": 10}, {"a": 3, "b": 30}, {"a": 2, "b": 30}]
    pool = Pool.from_arrays([0.5, 0.25, 0.0], [1, 1, 1], metadata=metadata)
    assert blend(a=1, b=0.5)(pool).scores.tolist() == [1.0, 2.0, 1.0]
    assert blend(a=1, score=0)(pool).scores.tolist() == [0.0, 1.0, 0.5]
    assert blend(b=-1, scale="rank")(pool).scores.tolist() == [
        1 - 1 / 3,
        2 / 3 - 1,
        1 / 3 - 1,
    ]
    assert blend(b=1, score=0, scale="zscore")(pool).scores.tolist() == pytest.approx(
        [-math.sqrt(2), math.sqrt(0.5), math.sqrt(0.5)], rel=1e-15
    )


@pytest.mark.parametrize("value", [None, math.nan, math.inf, "3", True, 10**400])
def test_without_a_finite_number_a_chunk_counts_as_the_lowest(value: Any) -> None:
    metadata = [{"a": 5}, {"a": value}, {"a": 2}]
    pool = Pool.from_arrays([0.5, 0.5, 0.5], [1, 1, 1], metadata=metadata)
    after = blend(a=1)(pool)
    assert after.scores.tolist() == [2.0, 1.0, 1.0]
    assert [(one.code, one.ids) for one in after.warnings[1:]] == [("missing-scores", ("chunk-1",))]
    assert after.warnings[1].message == (
        "1 of 3 chunks have no finite number as 'a'; they count as the lowest that there is"
    )


@pytest.mark.parametrize("scale", ["minmax", "zscore", "rank"])
def test_a_key_that_no_chunk_has_adds_nothing(scale: Any) -> None:
    pool = Pool.from_arrays([0.25, 0.5], [1, 1])
    after = blend(a=1, scale=scale)(pool)
    assert after.scores.tolist() == blend(score=1, scale=scale)(pool).scores.tolist()
    assert after.warnings[0].message == "no chunk has a finite number as 'a', so it adds nothing"


@pytest.mark.parametrize("weight", [math.nan, math.inf, True, "1", None])
def test_blend_refuses_a_weight_that_is_not_finite(weight: Any) -> None:
    with pytest.raises(PackError, match=r"^blend: a is .*; give a finite number, the weight of"):
        blend(a=weight)


def test_blend_needs_a_key() -> None:
    with pytest.raises(PackError, match="give at least one key and its weight, as in blend"):
        blend()
    with pytest.raises(PackError, match="weights is ''; give the name of a metadata key"):
        blend(**NAMELESS)


def test_blend_is_the_same_in_any_order_of_its_keys() -> None:
    assert blend(a=1, b=2) == blend(b=2, a=1)
    assert hash(blend(a=1, b=2)) == hash(blend(b=2, a=1))


ODD_KEYS: dict[str, Any] = {"doc score": 1}
NAMELESS: dict[str, Any] = {"": 1.0}
NO_KEYWORDS: dict[str, Any] = {"class": 1, "größe": 2}


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (blend(b=1, a=0.5), "blend(a=0.5, b=1.0)"),
        (blend(a=1, scale="rank"), 'blend(a=1.0, scale="rank")'),
        (blend(a=-2, **ODD_KEYS), 'blend(a=-2.0, **{"doc score": 1.0})'),
        (
            blend(scale="zscore", **NO_KEYWORDS),
            'blend(**{"class": 1.0, "größe": 2.0}, scale="zscore")',
        ),
    ],
)
def test_blend_is_its_text(stage: Any, text: str) -> None:
    assert str(stage) == text
    assert parse(f"{text} | greedy") == stage | greedy


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
