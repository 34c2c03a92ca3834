"""The stage `dpp`: what it prefers, what it leaves out, and its text."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from packer import Chunk, Packer, PackError, Pool, Reason, pack
from strategies import dpp, greedy, mmr, parse
from tests.generators import pools


@given(pools())
def test_of_relevance_alone_it_is_greedy(pool: Pool) -> None:
    assert dpp(1.0)(pool).chosen.tolist() == greedy(pool).chosen.tolist()


def chunk(id_: str, score: float, vector: list[float]) -> Chunk:
    return Chunk(f"text of {id_}", score, id=id_, tokens=10, embedding=vector)


MIXTURE = [
    chunk("a", 0.9, [1.0, 0.0, 0.0]),
    chunk("b", 0.8, [0.0, 1.0, 0.0]),
    chunk("both", 0.7, [0.70, 0.70, 0.14]),  # cosines of 0.7 to a and b, and hardly more to say
    chunk("c", 0.6, [0.71, 0.0, 0.71]),  # as near to a, and half new
]


def test_it_sees_a_mixture_of_what_is_in_where_mmr_does_not() -> None:
    assert [one.id for one in pack(MIXTURE, mmr(0.5), budget=30)] == ["a", "b", "both"]
    assert [one.id for one in pack(MIXTURE, dpp(), budget=30)] == ["a", "b", "c"]


def test_an_exact_copy_stays_out_and_says_why() -> None:
    chunks = [
        chunk("a", 0.9, [1.0, 0.0]),
        chunk("copy", 0.8, [2.0, 0.0]),
        chunk("b", 0.1, [0.0, 1.0]),
    ]
    packed = pack(chunks, dpp(0.9), budget=100)
    assert [one.id for one in packed] == ["a", "b"]
    [out] = packed.report.excluded
    assert (out.id, out.reason) == ("copy", Reason.STRATEGY)
    assert out.detail == "what is in spans it, so that with it the determinant is 0"
    assert packed.report.optimality is None


def test_a_copy_beyond_the_budget_is_out_for_the_budget() -> None:
    chunks = [chunk("a", 0.9, [1.0, 0.0]), chunk("copy", 0.8, [2.0, 0.0])]
    packed = pack(chunks, dpp(), budget=15)
    assert packed.why("copy").endswith("needs 5 more tokens")


def test_scores_of_any_scale_choose_the_same() -> None:
    rng = np.random.default_rng(2)
    scores, tokens = rng.random(40), rng.integers(20, 90, 40)
    vectors = rng.standard_normal((40, 16))
    packer = Packer(dpp(), budget=500)
    chosen = [
        packer.select(Pool.from_arrays(scaled, tokens, vectors)).rows.tolist()
        for scaled in (scores, 30.0 * scores, scores - 5.0, scores * 1e307)
    ]
    assert chosen[0] == chosen[1] == chosen[2] == chosen[3]


def test_it_reads_back_and_refuses_what_is_out_of_range() -> None:
    policy: Any = dpp(0.7, metric="jaccard")
    assert str(policy) == 'dpp(0.7, metric="jaccard")'
    assert parse(str(policy)) == policy
    with pytest.raises(PackError) as caught:
        dpp(1.5)
    assert caught.value.code == "INVALID_PARAMETER"
    with pytest.raises(PackError) as caught:
        pack([Chunk("a", 1.0), Chunk("b", 0.5)], dpp(metric="cosine"), budget=9)
    assert caught.value.code == "MISSING_EMBEDDINGS"


@pytest.mark.parametrize(
    ("budget", "detail"), [(29, "needs 1 more tokens"), (30, "what is in spans it, so that")]
)
def test_what_is_spanned_says_so_only_where_it_would_fit(budget: int, detail: str) -> None:
    """The copy is looked at while there is room for it, and then another takes the room."""
    chunks = [
        chunk("a", 0.9, [1.0, 0.0]),
        chunk("copy", 0.8, [2.0, 0.0]),
        chunk("b", 0.1, [0.0, 1.0]),
    ]
    packed = pack(chunks, dpp(0.9), budget=budget)
    assert [one.id for one in packed] == ["a", "b"]
    [out] = packed.report.excluded
    assert out.id == "copy"
    assert str(out.detail).startswith(detail)


def test_it_weighs_relevance_in_standard_deviations() -> None:
    """Scores 1, 0.5 and 0 are 1.2247, 0 and -1.2247; b adds 0.5 of itself, c all."""
    chunks = [
        chunk("a", 1.0, [1.0, 0.0, 0.0]),
        chunk("b", 0.5, [1.0, 1.0, 0.0]),
        chunk("c", 0.0, [0.0, 0.0, 1.0]),
    ]
    # b before c where relevance * 1.2247 > (1 - relevance) * log 2: from 0.3614 on
    for relevance, second in ((0.35, "c"), (0.37, "b")):
        assert [one.id for one in pack(chunks, dpp(relevance), budget=20)] == ["a", second]
