"""How a chunk came to its value: recorded by columns, told by records, words and the command line."""

import json
import pickle
from typing import Any

import numpy as np
import pytest

from packer import Chunk, Packed, PackError, Pool, ScorePart, ScoreStep, pack
from packer.values import traced
from proofs import laws
from strategies import boost, decay, field, greedy, lexical, neighbours, normalize, parse, threshold

from .planted import Rescores


def talk(id_: str, content: str, score: float, position: int) -> Chunk:
    return Chunk(
        content,
        score,
        id=id_,
        tokens=5,
        metadata={"source": "talk", "position": position, "timestamp": "2024-05-11"},
    )


CHUNKS = [
    talk("ask", "zebra", 0.25, 1),
    talk("say", "refund", 0.75, 2),
    talk("far", "cats", 0.5, 9),
]


def packed(policy: str, budget: int = 10) -> Packed:
    return pack(CHUNKS, parse(policy), budget=budget, query="zebra", now="2024-05-31")


def steps(*told: tuple[str, float, float, dict[str, float]]) -> tuple[ScoreStep, ...]:
    return tuple(
        ScoreStep(
            stage,
            before,
            after,
            tuple(ScorePart(name, amount) for name, amount in parts.items()),
            "product" if "factor" in parts else "sum",
        )
        for stage, before, after, parts in told
    )


def test_value_has_a_step_for_each_scoring_stage() -> None:
    found = packed("lexical() | neighbours() | greedy")
    assert found.value("ask") == steps(
        ("lexical(1.0)", 0.25, 1.0, {"score": 0.0, "bm25": 1.0}),
        ("neighbours(0.5)", 1.0, 1.5, {"score": 1.0, "neighbours": 0.5}),
    )
    assert found.value("far") == steps(  # it is out, and has its value all the same
        ("lexical(1.0)", 0.5, 0.5, {"score": 0.5, "bm25": 0.0}),
        ("neighbours(0.5)", 0.5, 0.5, {"score": 0.5, "neighbours": 0.0}),
    )


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ('normalize("minmax")', ('normalize("minmax")', 0.75, 1.0, {})),
        ('decay("20d")', ('decay("20d")', 0.75, 0.375, {"factor": 0.5})),
        ('boost(source == "talk", 2)', ('boost(source == "talk", 2.0)', 0.75, 1.5, {"factor": 2})),
        (
            "blend(position=0.5, score=2)",
            ("blend(position=0.5, score=2.0)", 0.75, 2.0625, {"score": 2.0, "position": 0.0625}),
        ),
    ],
)
def test_each_scoring_stage_says_what_it_did(stage: str, expected: Any) -> None:
    assert packed(f"{stage} | greedy").value("say") == steps(expected)


def test_a_chunk_that_is_filtered_out_has_the_steps_up_to_there() -> None:
    found = packed('normalize() | threshold(0.4) | boost(source == "talk", 2) | greedy')
    assert [step.stage for step in found.value("ask")] == ['normalize("minmax")']
    assert [step.after for step in found.value("say")] == [1.0, 2.0]


def test_without_scoring_stages_there_are_no_steps() -> None:
    found = packed("threshold(0.3) | greedy")
    assert found.report.values == {}
    assert found.value("say") == found.value("ask") == ()


def test_an_unknown_id_is_refused_with_a_suggestion() -> None:
    for policy in ("greedy", "normalize() | greedy"):
        with pytest.raises(PackError, match=r"no chunk has the id 'asc'; did you mean 'ask'\?"):
            packed(policy).value("asc")


def test_why_tells_how_the_score_changed() -> None:
    found = packed("lexical() | neighbours() | greedy")
    assert found.why("ask") == (
        "ask is in at position 0 of 2: score 0.25, 5 tokens, chosen by greedy; value 0.25 -> 1 by "
        "lexical(1.0) (score 0, bm25 1) -> 1.5 by neighbours(0.5) (score 1, neighbours 0.5)"
    )
    assert found.why("far") == "far is out, budget, by greedy: needs 5 more tokens"
    decayed = packed('decay("20d") | threshold(0.2) | greedy')
    assert decayed.why("ask") == (
        "ask is out, below-threshold, by threshold(0.2): score 0.125, floor 0.2; score 0.125 here, "
        '0.25 as given; value 0.25 -> 0.125 by decay("20d") (factor 0.5)'
    )


def test_a_duplicate_that_was_set_aside_has_no_value() -> None:
    twice = [Chunk("a", 0.5, id="a"), Chunk("b", 0.25, id="a"), Chunk("c", 0.0, id="c")]
    found = pack(twice, normalize() | greedy, budget=9)
    assert found.value("a") == steps(('normalize("minmax")', 0.5, 1.0, {}))
    first, second = found.why("a").splitlines()
    assert first.endswith('; value 0.5 -> 1 by normalize("minmax")')
    assert "value" not in second


def test_values_are_plain_in_a_dict_and_in_json() -> None:
    found = packed('decay("20d") | greedy', budget=5)
    expected = [
        {
            "stage": 'decay("20d")',
            "before": 0.75,
            "after": 0.375,
            "parts": [{"name": "factor", "amount": 0.5}],
            "combine": "product",
        }
    ]
    assert found.to_dict()["report"]["values"]["say"] == expected
    assert json.loads(found.to_json())["report"]["values"]["say"] == expected
    assert set(found.report.values) == {"ask", "say", "far"}


def test_values_survive_pickling() -> None:
    found = packed("lexical() | greedy")
    assert pickle.loads(pickle.dumps(found)).value("ask") == found.value("ask")


def test_nothing_is_built_and_nothing_copied_until_it_is_read() -> None:
    pool = Pool.from_chunks(CHUNKS, query="zebra", now="2024-05-31")
    after = neighbours()(lexical()(pool))
    first, second = after.rescorings
    assert first.before is pool.scores
    assert first.rows is second.rows is pool.table_rows
    assert second.before is first.after
    assert second.after is after.scores
    assert second.parts["score"] is first.after


def test_a_stage_of_ones_own_may_name_its_parts() -> None:
    pool = Pool.from_arrays([0.5, 0.25], [1, 1]).at("mine(1)")
    after = pool.rescore(
        [0.75, 0.5], parts={"base": np.array([0.5, 0.25]), "bonus": np.full(2, 0.25)}
    )
    assert traced(after) == {
        "chunk-0": steps(("mine(1)", 0.5, 0.75, {"base": 0.5, "bonus": 0.25})),
        "chunk-1": steps(("mine(1)", 0.25, 0.5, {"base": 0.25, "bonus": 0.25})),
    }


@pytest.mark.parametrize("part", [[0.5], [[0.5, 0.25]], "ab", [0.5, np.nan], None])
def test_parts_are_numbers_one_for_each_row(part: Any) -> None:
    pool = Pool.from_arrays([0.5, 0.25], [1, 1]).at("mine")
    with pytest.raises(
        PackError, match=r"mine gave the part 'base' as .*; a part is 2 finite numb"
    ):
        pool.rescore([0.75, 0.5], parts={"base": part})


def test_compositions_in_code_and_text_give_the_same_values() -> None:
    policy = decay("20d") | boost(field("source") == "talk", 2) | threshold(0.1) | greedy
    one = pack(CHUNKS, policy, budget=10, now="2024-05-31")
    assert one.report.values == packed(str(policy)).report.values


@pytest.mark.parametrize("combine", ["sum", "product"])
def test_parts_that_make_another_score_break_the_law(combine: Any) -> None:
    def rescored(amount: float) -> Packed:
        def rescore(pool: Pool) -> Pool:
            parts = {"one": np.full(len(pool), 2.0), "other": np.full(len(pool), amount)}
            made = pool.scores * 6.0 if combine == "product" else np.full(len(pool), 5.0)
            return pool.rescore(made, parts=parts, combine=combine)

        return pack(CHUNKS, Rescores(rescore) | greedy, budget=10)

    laws.values_tell_the_way_of_each_score(CHUNKS, rescored(3.0))
    with pytest.raises(AssertionError):
        laws.values_tell_the_way_of_each_score(CHUNKS, rescored(3.5))
