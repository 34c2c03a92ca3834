"""The guard of `dedup` and `distinct`: near-copies that state another fact."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Chunk, Conflict, Difference, Packed, Packer, Pool, pack
from packer.disagreements import differences
from packer.facts import signature
from strategies import dedup, distinct, field, greedy, parse, pin
from tests.generators import chunk_lists, pools
from tests.naive_similarity import folded, trigrams

BODY = "Items can be returned within {} of delivery if they are unused and in their own box."
PLANTED = [
    Chunk(BODY.format("30 days"), 0.9, id="policy", tokens=20),
    Chunk(BODY.format("14 days"), 0.8, id="old", tokens=20),
    Chunk(BODY.format("thirty days"), 0.7, id="copy", tokens=20),
    Chunk(BODY.format("14 days"), 0.6, id="old copy", tokens=20),
    Chunk("We ship on every working day.", 0.5, id="ship", tokens=8),
]
DAYS = (Difference("number", "30 days", "14 days"),)


def ids(packed: Packed) -> list[str]:
    return [chunk.id for chunk in packed]


def codes(packed: Packed) -> list[str]:
    return [warning.code for warning in packed.report.warnings]


def both(guard: Any) -> list[Any]:
    return [dedup(0.8, guard=guard), distinct(0.8, guard=guard)]


@pytest.mark.parametrize("stage", both("warn"), ids=repr)
def test_it_warns_and_chooses_as_before(stage: Any) -> None:
    packed = pack(PLANTED, stage | greedy, budget=100)
    assert ids(packed) == ["policy", "ship"]
    found = packed.report.conflicts
    assert [(one.kept, one.other, one.dropped) for one in found] == [
        ("policy", "old", True),
        ("policy", "old copy", True),
    ]
    assert [one.differences for one in found] == [DAYS, DAYS]
    assert {one.stage for one in found} == {repr(stage)}
    assert found[0].similarity > 0.8
    [warning] = packed.report.warnings
    assert (warning.code, warning.ids) == ("conflict", ("policy", "old", "old copy"))
    assert warning.message == (
        f"{stage!r} dropped 2 near-duplicates that differ in a fact: 'old' has \"14 days\" where "
        "'policy' has \"30 days\"; 'old copy' has \"14 days\" where 'policy' has \"30 days\"; "
        'write guard="keep" to keep both'
    )
    assert packed.why("old").endswith('has "14 days" where the other has "30 days"')
    assert "30 days" not in packed.why("copy")


@pytest.mark.parametrize("stage", both("keep"), ids=repr)
def test_it_keeps_both_and_drops_the_copies_of_each(stage: Any) -> None:
    packed = pack(PLANTED, stage | greedy, budget=100)
    assert ids(packed) == ["policy", "old", "ship"]
    assert codes(packed) == []
    out = {one.id: one.redundant_with for one in packed.report.excluded}
    assert out == {"copy": "policy", "old copy": "old"}
    [found] = packed.report.conflicts
    assert (found.kept, found.other, found.dropped) == ("policy", "old", False)
    assert found.differences == DAYS


@pytest.mark.parametrize("stage", both("off"), ids=repr)
def test_off_does_not_look(stage: Any) -> None:
    packed = pack(PLANTED, stage | greedy, budget=100)
    assert ids(packed) == ["policy", "ship"]
    assert (codes(packed), packed.report.conflicts) == ([], ())


def test_many_conflicts_are_one_warning_that_names_three() -> None:
    chunks = [Chunk(BODY.format(f"{n} days"), 1.0 - n / 100, id=f"c{n}") for n in range(2, 8)]
    packed = pack(chunks, dedup(0.8) | greedy, budget=1000)
    messages = [one.message for one in packed.report.warnings if one.code == "conflict"]
    assert len(messages) == 1
    assert messages[0].endswith('; and 2 more; write guard="keep" to keep both')
    assert len(packed.report.conflicts) == 5


def test_embeddings_decide_what_is_near_and_texts_what_is_said() -> None:
    chunks = [
        Chunk("Open until May 1, 2024.", 0.9, id="a", embedding=[1.0, 0.0]),
        Chunk("Open until June 1, 2024.", 0.8, id="b", embedding=[1.0, 0.01]),
    ]
    packed = pack(chunks, dedup(0.95) | greedy, budget=100)
    assert "conflict" in codes(packed)
    assert ids(pack(chunks, dedup(0.95, guard="keep") | greedy, budget=100)) == ["a", "b"]


def test_a_passage_is_guarded_too() -> None:
    """Of the longer text only what the passage contradicts counts."""
    whole = "The warranty is 2 years. It does not cover wear, and it starts on the day of delivery."
    chunks = [
        Chunk(whole, 0.5, id="whole"),
        Chunk("The warranty is 2 years. It does not cover wear, and it starts", 0.9, id="part"),
        Chunk("The warranty is 3 years. It does not cover wear, and it starts", 0.8, id="other"),
    ]
    packed = pack(chunks, dedup(0.8, metric="containment") | greedy, budget=1000)
    assert ids(packed) == ["whole"]
    assert [one.other for one in packed.report.conflicts] == ["other"]
    kept = pack(chunks, dedup(0.8, metric="containment", guard="keep") | greedy, budget=1000)
    assert sorted(ids(kept)) == ["other", "whole"]
    [found] = kept.report.conflicts
    assert (found.kept, found.other) == ("whole", "other")
    assert found.differences == (Difference("number", "2 years", "3 years"),)


def test_what_a_pin_keeps_drops_the_better_copy_and_says_so() -> None:
    policy = pin(field("must") == True) | dedup(0.8) | greedy  # noqa: E712 (a condition)
    chunks = [PLANTED[0], Chunk(PLANTED[1].content, 0.8, id="old", metadata={"must": True})]
    packed = pack(chunks, policy, budget=1000)
    assert ids(packed) == ["old"]
    [found] = packed.report.conflicts
    assert (found.kept, found.other, found.dropped) == ("old", "policy", True)


def test_a_conflict_of_a_rule_counts_only_where_both_are_in() -> None:
    packed = pack(PLANTED, distinct(0.8, guard="keep") | greedy, budget=28)
    assert ids(packed) == ["policy", "ship"]
    assert packed.report.conflicts == ()


def test_arrays_without_texts_have_no_facts() -> None:
    pool = Pool.from_arrays([0.9, 0.8], [1, 1], [[1.0, 0.0], [1.0, 0.0]])
    for guard in ("warn", "keep", "off"):
        assert Packer(dedup(0.9, guard=guard) | greedy, budget=9).select(pool).rows.tolist() == [0]


def test_it_is_part_of_the_text_and_of_the_dict() -> None:
    policy = dedup(0.9, guard="keep") | distinct(0.9, guard="off") | greedy
    text = 'dedup(0.9, guard="keep") | distinct(0.9, guard="off") | greedy'
    assert str(policy) == text
    assert parse(text) == policy
    packed = pack(PLANTED, dedup(0.8) | greedy, budget=100)
    assert packed.to_dict()["report"]["conflicts"][0] == {
        "stage": "dedup(0.8)",
        "kept": "policy",
        "other": "old",
        "dropped": True,
        "similarity": packed.report.conflicts[0].similarity,
        "differences": [{"kind": "number", "kept": "30 days", "other": "14 days"}],
    }
    assert isinstance(packed.report.conflicts[0], Conflict)


@given(pools(chunk_lists()), st.sampled_from([0.3, 0.6, 0.85, 1.0]))
def test_the_default_chooses_what_off_chooses(pool: Pool, threshold: float) -> None:
    warned, plain = dedup(threshold)(pool), dedup(threshold, guard="off")(pool)
    assert warned.table_rows.tolist() == plain.table_rows.tolist()
    assert warned.warnings == plain.warnings


@given(pools(chunk_lists()), st.sampled_from([0.3, 0.6, 0.85]))
def test_what_keep_drops_states_the_facts_of_what_it_names(pool: Pool, threshold: float) -> None:
    """And of two that state the same facts, as near as the threshold, one goes."""
    after = dedup(threshold, metric="jaccard", guard="keep")(pool)
    for cut in after.cuts[len(pool.cuts) :]:
        assert cut.redundant_with is not None
        for row, near in zip(cut.rows.tolist(), cut.redundant_with.tolist(), strict=True):
            texts = pool.candidates.text(row), pool.candidates.text(near)
            assert signature(texts[0]) == signature(texts[1])
            assert near in after.table_rows
    again = dedup(threshold, metric="jaccard", guard="keep")(after)
    assert again.table_rows.tolist() == after.table_rows.tolist()
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, text in enumerate(after.texts):
        groups.setdefault(signature(text), []).append(place)
    for members in groups.values():
        same = after.narrowed(np.array(members))
        assert len(dedup(threshold, metric="jaccard", guard="off")(same)) == len(members)


@pytest.mark.parametrize(
    ("whole", "passage", "kinds"),
    [
        ("Opened items may not be returned.", "Opened items may be returned.", ["negation"]),
        (
            "We never ship to islands. Opened items may not be returned. We do not pay for labels.",
            "Opened items may be returned.",
            ["negation"],
        ),
        (
            "It does not cover wear. Opened items may be returned. We do not pay for labels.",
            "Opened items may be returned.",
            [],
        ),
        ("The box is not sold. The item is sold.", "The item is sold.", []),
        ("The item is sold. The box is not sold.", "The item is sold.", []),
        ("Opened items may be returned.", "Opened items may not be returned.", ["negation"]),
    ],
)
def test_a_negation_within_a_passage_counts_and_one_around_it_does_not(
    whole: str, passage: str, kinds: list[str]
) -> None:
    assert [one.kind for one in differences(whole, passage, inside=True)] == kinds


@pytest.mark.parametrize("guard", ["warn", "keep"])
def test_the_opposite_statement_is_not_dropped_in_silence(guard: Any) -> None:
    chunks = [
        Chunk("Opened items may be returned.", 0.5, id="may"),
        Chunk("Opened items may not be returned.", 0.9, id="not"),
    ]
    packed = pack(chunks, dedup(0.7, metric="containment", guard=guard) | greedy, budget=1000)
    assert ids(packed) == (["not"] if guard == "warn" else ["not", "may"])
    [found] = packed.report.conflicts
    assert (found.kept, found.other, found.dropped) == ("not", "may", guard == "warn")
    assert found.differences == (Difference("negation", "not", ""),)


LONG = "All items can be returned within {} if unused and in the box, at our cost, to Berlin."
PASSAGE = "items can be returned within {} if unused"


def test_a_passage_goes_into_a_text_that_another_contradicts() -> None:
    policy = dedup(0.8, metric="containment", guard="keep") | greedy
    chunks = [
        Chunk(LONG.format("30 days") + " Also by mail.", 0.8, id="30"),
        Chunk(LONG.format("14 days"), 0.4, id="14"),
        Chunk(PASSAGE.format("14 days"), 0.1, id="passage"),
    ]
    packed = pack(chunks, policy, budget=1000)
    assert ids(packed) == ["30", "14"]
    assert [(one.kept, one.other) for one in packed.report.conflicts] == [("30", "14")]
    [out] = packed.report.excluded
    assert (out.id, out.redundant_with, out.similarity) == ("passage", "14", 1.0)


@given(
    texts=st.lists(
        st.tuples(
            st.sampled_from([LONG, LONG + " Also by mail.", PASSAGE, "We ship to {} on Mondays."]),
            st.sampled_from(["30 days", "14 days", "thirty days"]),
        ).map(lambda one: one[0].format(one[1])),
        min_size=1,
        max_size=8,
    ),
    scores=st.lists(st.integers(0, 5), min_size=8, max_size=8),
    threshold=st.sampled_from([0.3, 0.6, 0.8, 1.0]),
)
def test_what_stands_in_a_kept_text_goes_where_it_contradicts_none(
    texts: list[str], scores: list[int], threshold: float
) -> None:
    chunks = [
        Chunk(text, score / 5, id=f"c{at}")
        for at, (text, score) in enumerate(zip(texts, scores, strict=False))
    ]
    sets = {chunk.id: trigrams(folded(chunk.content)) for chunk in chunks}
    kept: list[Chunk] = []
    for chunk in sorted(chunks, key=lambda one: (-len(sets[one.id]), -one.score)):
        mine = sets[chunk.id]
        if not any(
            len(mine & sets[other.id]) / len(mine) >= threshold
            and not differences(other.content, chunk.content, inside=True)
            for other in kept
        ):
            kept.append(chunk)
    policy = dedup(threshold, metric="containment", guard="keep") | greedy
    packed = pack(chunks, policy, budget=10**6)
    assert sorted(ids(packed)) == sorted(str(chunk.id) for chunk in kept)


PARTS = (
    "All items can be returned within {} if unused",
    "and in the box, at our cost, to Berlin.",
    "Also by mail.",
    "The fee is {} for each parcel",
    "that weighs no more than {} with its label.",
)
FACTS = ("30 days", "14 days", "thirty days", "5 euros", "7 euros", "2 kg")


def near_copies(seed: int) -> list[Chunk]:
    """Texts of neighbouring parts, with one fact or another; some that a pin wants in."""
    rng = np.random.default_rng(seed)
    chunks = []
    for at in range(9):
        first = int(rng.integers(0, len(PARTS)))
        text = " ".join(PARTS[first : first + int(rng.integers(1, 4))])
        facts = [FACTS[int(one)] for one in rng.integers(0, len(FACTS), text.count("{}"))]
        must = {"must": True} if rng.random() < 0.4 else {}
        score = float(rng.integers(1, 5)) / 5
        chunks.append(Chunk(text.format(*facts), score, id=f"c{at}", metadata=must))
    return chunks


def share(one: set[str], other: set[str], *, inside: bool) -> float:
    """How much of a set is in another, or of both in both."""
    return len(one & other) / (len(one) if inside else len(one | other))


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.95])
@pytest.mark.parametrize("metric", ["containment", "jaccard"])
@pytest.mark.parametrize("pinned", [False, True])
def test_keep_drops_what_says_the_same_and_tells_what_it_spares(
    metric: Any, threshold: float, *, pinned: bool
) -> None:
    """By hand, one chunk after the other; of what "off" drops both are told where both stay."""
    inside = metric == "containment"
    for seed in range(40):
        chunks = near_copies(seed)
        sets = {chunk.id: trigrams(folded(chunk.content)) for chunk in chunks}
        text = {chunk.id: chunk.content for chunk in chunks}

        def wanted(chunk: Chunk) -> bool:
            return pinned and "must" in chunk.metadata

        def same(one: Chunk, other: Chunk) -> bool:
            if inside:
                return not differences(other.content, one.content, inside=True)
            return signature(one.content) == signature(other.content)

        def rank(chunk: Chunk, all_: Any = sets) -> Any:
            size = len(all_[chunk.id]) if inside else 0
            return -size, not wanted(chunk), -chunk.score

        kept: list[Chunk] = []
        for chunk in sorted(chunks, key=rank):
            if wanted(chunk) or not any(
                share(sets[chunk.id], sets[other.id], inside=inside) >= threshold
                and same(chunk, other)
                for other in kept
            ):
                kept.append(chunk)
        ran = {}
        for guard in ("keep", "off"):
            policy: Any = dedup(threshold, metric=metric, guard=guard) | greedy
            policy = pin(field("must") == True) | policy if pinned else policy  # noqa: E712
            ran[guard] = pack(chunks, policy, budget=10**6)
        stay = set(ids(ran["keep"]))
        assert stay == {str(chunk.id) for chunk in kept}
        for out in ran["keep"].report.excluded:
            assert out.redundant_with in stay
            assert out.similarity == share(sets[out.id], sets[out.redundant_with], inside=inside)
        spared = {
            (out.redundant_with, out.id)
            for out in ran["off"].report.excluded
            if {out.id, out.redundant_with} <= stay
        }
        told = {(one.kept, one.other) for one in ran["keep"].report.conflicts}
        assert told == {
            (one, other)
            for one, other in spared
            if differences(text[one], text[other], inside=inside)
        }
