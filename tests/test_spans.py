"""A chunk is charged only for what is new beside those that are in, and nothing is written twice."""

import math
from functools import reduce
from itertools import combinations
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer import (
    Chunk,
    Packed,
    PackError,
    Pool,
    Selection,
    Selector,
    Template,
    kernels,
    pack,
    tokenizer,
    warm,
)
from packer.errors import Infeasible, OverBudget
from packer.similarity import features
from packer.spans import Cover, spans_of
from strategies import (
    cap,
    coverage,
    custom,
    density,
    dpp,
    exclusive,
    field,
    greedy,
    knapsack,
    mmr,
    needs,
    overlap,
    parse,
    pin,
    prefix,
    quota,
    trim,
    ushape,
)
from tests.counters import COUNTERS
from tests.generators import SELECTORS, some_stage
from tests.similarity_pools import kernel_matrix

BOOK = "".join(chr(ord("a") + at % 26) for at in range(26)) * 2
SELECTORS_HERE = (greedy, prefix, density, mmr(0.6), knapsack, custom(lambda chunks, _: chunks))


def piece(start: int, end: int, score: float, id: str, **metadata: object) -> Chunk:  # noqa: A002
    said = {"source": "book", "start": start, "end": end, **metadata}
    return Chunk(BOOK[start:end], score, id=id, metadata=said)


@st.composite
def pieces(draw: st.DrawFn, most: int = 8) -> list[Chunk]:
    found = []
    for at in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, 20))
        found.append(
            piece(
                start,
                start + draw(st.integers(1, 15)),
                draw(st.sampled_from((0.1, 0.3, 0.5, 0.7, 0.9, -0.2))),
                f"c{at}",
                source=draw(st.sampled_from(("book", "other", None))),
                group=draw(st.sampled_from(("g", None))),
                parent=draw(st.sampled_from((None, None, "c0", "c1"))),
            )
        )
    return found


def covered(chunks: list[Chunk]) -> set[Any]:
    """Each character of a source once; those of chunks without one are of the chunk's own."""
    return {
        (chunk.metadata["source"] or chunk.id, at)
        for chunk in chunks
        for at in range(chunk.metadata["start"], chunk.metadata["end"])  # type: ignore[call-overload]
    }


def chosen(chunks: list[Chunk], packed: Packed) -> list[Chunk]:
    by_id = {chunk.id: chunk for chunk in chunks}
    return [by_id[one.id] for one in packed]


# -- what is charged ------------------------------------------------------------------------


def needs_vectors(selector: Any) -> bool:
    return getattr(selector, "metric", None) == "cosine"


@settings(max_examples=300)
@given(
    pieces(),
    some_stage(SELECTORS).filter(lambda selector: not needs_vectors(selector)),
    st.integers(1, 60),
)
def test_what_is_spent_is_what_is_written(chunks: list[Chunk], selector: Any, budget: int) -> None:
    packed = pack(chunks, overlap() | selector, budget=budget, count_tokens=len)
    inside = chosen(chunks, packed)
    report = packed.report
    assert report.tokens_used == len(covered(inside)) == len(packed.text("")) <= budget
    out = [one.id for one in report.excluded]
    assert sorted([*(str(one.id) for one in inside), *out]) == sorted(str(c.id) for c in chunks)
    if any(one.new_tokens is not None for one in packed):
        assert sum(one.new_tokens or 0 for one in packed) == report.tokens_used


@given(pieces(), st.integers(1, 60))
def test_greedy_is_its_naive_twin(chunks: list[Chunk], budget: int) -> None:
    expected: list[Chunk] = []
    while True:
        fits = [
            chunk
            for chunk in chunks
            if chunk not in expected and len(covered([*expected, chunk])) <= budget
        ]
        if not fits:
            break
        expected.append(max(fits, key=lambda chunk: (chunk.score, -chunks.index(chunk))))
    packed = pack(chunks, overlap() | greedy, budget=budget, count_tokens=len)
    assert [one.id for one in packed] == [chunk.id for chunk in expected]


@given(pieces(), st.integers(1, 60))
def test_density_is_its_naive_twin(chunks: list[Chunk], budget: int) -> None:
    expected: list[Chunk] = []

    def dense(chunk: Chunk) -> tuple[float, float, int]:
        cost = len(covered([*expected, chunk])) - len(covered(expected))
        worth = chunk.score / cost if cost else np.copysign(np.inf, chunk.score)
        return float(worth), chunk.score, -chunks.index(chunk)

    while True:
        fits = [
            chunk
            for chunk in chunks
            if chunk not in expected and len(covered([*expected, chunk])) <= budget
        ]
        if not fits:
            break
        expected.append(max(fits, key=dense))
    packed = pack(chunks, overlap() | density, budget=budget, count_tokens=len)
    assert [one.id for one in packed] == [chunk.id for chunk in expected]


@given(pieces(6), st.integers(1, 60))
def test_the_bound_of_the_knapsack_holds(chunks: list[Chunk], budget: int) -> None:
    best = 0.0
    for mask in range(2 ** len(chunks)):
        some = [chunk for at, chunk in enumerate(chunks) if mask >> at & 1]
        if len(covered(some)) <= budget:
            best = max(best, sum(max(chunk.score, 0.0) for chunk in some))
    found = pack(chunks, overlap() | knapsack, budget=budget, count_tokens=len).report.optimality
    assert found is not None
    assert found.bound >= best - 1e-9
    if found.proven:
        assert found.value == pytest.approx(best)


@settings(max_examples=300)
@given(
    pieces(),
    st.lists(
        st.sampled_from(
            (cap(2), exclusive(), needs(), pin(field("parent") == "c0"), quota(max=20), trim(2))
        ),
        max_size=3,
        unique_by=repr,
    ),
    st.sampled_from(SELECTORS_HERE),
    st.sampled_from(COUNTERS),
    st.integers(3, 90),
    st.none()
    | st.sampled_from((Template("[{position}] {content}"), Template("{tokens} {content}"))),
)
def test_the_budget_and_the_rules_hold_together(
    chunks: list[Chunk],
    rules: list[Any],
    selector: Any,
    count: Any,
    budget: int,
    template: Template | None,
) -> None:
    policy: Any = reduce(lambda left, right: left | right, [overlap(), *rules, selector])
    try:
        packed = pack(chunks, policy, budget=budget, count_tokens=count, template=template)
    except (Infeasible, OverBudget):
        return
    assert packed.report.tokens_used <= budget
    if template is not None:
        assert (count(packed.text()) if len(packed) else 0) <= budget
    ids = [one.id for one in packed]
    assert sorted([*ids, *(out.id for out in packed.report.excluded)]) == sorted(
        str(chunk.id) for chunk in chunks
    )
    names = [repr(rule) for rule in rules]
    sources = [one.metadata["source"] for one in packed if one.metadata["source"]]
    if "cap(2)" in names:
        assert all(sources.count(key) <= 2 for key in sources)
    if 'exclusive("group")' in names:
        assert sum(one.metadata["group"] == "g" for one in packed) <= 1
    if 'needs("parent")' in names:
        assert {one.metadata["parent"] for one in packed} <= {*ids, None}
    if any(name.startswith("pin") for name in names):
        assert {c.id for c in chunks if c.metadata["parent"] == "c0"} <= set(ids)


@given(pieces(), st.permutations(range(8)))
def test_intervals_are_sets_of_characters(chunks: list[Chunk], order: list[int]) -> None:
    pool = Pool.from_chunks(chunks, count_tokens=len)
    cover = Cover(spans_of(pool.candidates, pool.table_rows), pool.costs, 0, lambda _, a, b: b - a)
    before: list[Chunk] = []
    for row in [at for at in order if at < len(chunks)]:
        new = len(covered([*before, chunks[row]])) - len(covered(before))
        assert cover.cost(row) == new
        assert cover.take(row) == new
        before.append(chunks[row])


# -- by hand --------------------------------------------------------------------------------


def test_what_overlaps_is_written_once_where_its_first_stands() -> None:
    chunks = [
        piece(0, 10, 0.9, "a"),
        piece(30, 40, 0.8, "far"),
        piece(8, 15, 0.7, "b"),
        piece(3, 6, 0.6, "inside"),
        piece(40, 45, 0.5, "next"),  # touches, and shares nothing
    ]
    packed = pack(chunks, overlap() | greedy, budget=100, count_tokens=len)
    assert packed.text("|") == "|".join((BOOK[:15], BOOK[30:40], BOOK[40:45]))
    assert [(one.id, one.tokens, one.new_tokens) for one in packed] == [
        ("a", 10, 10),
        ("far", 10, 10),
        ("b", 7, 5),
        ("inside", 3, 0),
        ("next", 5, 5),
    ]
    assert packed.report.tokens_used == 30
    assert "7 tokens (5 new)" in packed.why("b")
    last_first = pack(chunks[:3], overlap() | greedy | ushape, budget=100, count_tokens=len)
    assert [one.id for one in last_first] == ["a", "b", "far"]
    assert last_first.text("|") == "|".join((BOOK[:15], BOOK[30:40]))
    plain = pack(chunks, greedy, budget=100, count_tokens=len)
    assert plain.text("|").count("|") == 4
    assert plain.chunks[0].new_tokens is None


def test_a_template_writes_a_joined_text_as_one() -> None:
    chunks = [piece(0, 10, 0.9, "a"), piece(8, 15, 0.8, "b"), piece(30, 35, 0.7, "c")]
    template = Template("[{position}] {id} {tokens}: {content}", separator="\n")
    packed = pack(chunks, overlap() | greedy, budget=100, count_tokens=len, template=template)
    assert packed.text() == f"[1] a 15: {BOOK[:15]}\n[2] c 5: {BOOK[30:35]}"
    assert packed.report.tokens_used == len(packed.text())


def test_a_chunk_that_another_covers_gets_cheap_enough() -> None:
    chunks = [piece(0, 20, 0.9, "long"), piece(0, 8, 0.8, "short"), piece(30, 42, 0.7, "far")]
    packed = pack(chunks, overlap() | greedy, budget=25, count_tokens=len)
    assert [one.id for one in packed] == ["long", "short"]
    assert pack(chunks, greedy, budget=25, count_tokens=len).report.tokens_used == 20
    assert packed.why("far") == "far is out, budget, by greedy: needs 7 more tokens"


def test_pins_that_overlap_are_charged_once() -> None:
    chunks = [piece(0, 10, 0.5, "a", p=1), piece(5, 15, 0.5, "b", p=1), piece(30, 40, 0.9, "c")]
    rules = overlap() | pin(field("p") == 1)
    for selector in (greedy, density, mmr(0.5), knapsack):
        packed = pack(chunks, rules | selector, budget=15, count_tokens=len)
        assert {one.id for one in packed} == {"a", "b"}
    with pytest.raises(PackError, match="pins a and b need 15 of 14 tokens"):
        pack(chunks, rules | greedy, budget=14, count_tokens=len)


def test_what_is_no_span_of_its_text_is_charged_in_full_and_told() -> None:
    chunks = [
        piece(0, 10, 0.9, "a"),
        Chunk("xxxxxxxxxx", 0.8, id="other", metadata={"source": "book", "start": 5, "end": 15}),
        Chunk("short", 0.7, id="short", metadata={"source": "book", "start": 0, "end": 10}),
        Chunk("bare", 0.6, id="bare"),
    ]
    packed = pack(chunks, overlap() | greedy, budget=100, count_tokens=len)
    [told] = packed.report.warnings
    assert (told.code, told.ids) == ("odd-spans", ("other", "short"))
    assert packed.report.tokens_used == 10 + 10 + 5 + 4
    assert packed.text("|") == f"{BOOK[:10]}|xxxxxxxxxx|short|bare"
    [told] = pack(chunks[3:], overlap() | greedy, budget=100, count_tokens=len).report.warnings
    assert told.code == "no-spans"


def test_blanks_stripped_from_the_ends_of_a_span_are_no_matter() -> None:
    text = "Refunds take 5 days.\n\nWe ship on Monday. We like cats. "
    spans = (
        (0, 22, 0.9),
        (15, 40, 0.8),
        (40, 55, 0.7),
    )  # "... days.", "days. ... Monday.", " We ..."
    chunks = [
        Chunk(text[a:b].strip(), score, metadata={"source": "faq", "start": a, "end": b})
        for a, b, score in spans
    ]
    assert [len(chunk.content) for chunk in chunks] == [20, 25, 13]
    packed = pack(chunks, overlap() | greedy, budget=100, count_tokens=len)
    assert not packed.report.warnings
    assert packed.text("|") == "Refunds take 5 days.\n\nWe ship on Monday.|We like cats."
    assert packed.report.tokens_used == 20 + 20 + 13
    led = [
        chunks[0],
        Chunk("days.\n\nWe ship", 0.8, metadata={"source": "faq", "start": 14, "end": 30}),
    ]
    packed = pack(led, overlap() | greedy, budget=100, count_tokens=len)
    assert packed.text("|") == "Refunds take 5 days.\n\nWe ship"  # it begins one into its span


def test_a_place_that_is_not_sure_is_in_full() -> None:
    said = {"source": "s"}
    chunks = [
        Chunk("abcaaa", 0.9, id="a", metadata={**said, "start": 0, "end": 6}),
        Chunk("aaaxyz", 0.8, id="b", metadata={**said, "start": 3, "end": 10}),  # at 3, 4 or 5
    ]
    packed = pack(chunks, overlap() | greedy, budget=100, count_tokens=len)
    assert packed.text("|") == "abcaaa|aaaxyz"
    assert [told.code for told in packed.report.warnings] == ["odd-spans"]


def test_what_a_chunk_brings_is_charged_together() -> None:
    chunks = [
        piece(0, 10, 0.9, "row", parent="head"),
        piece(5, 15, 0.1, "head"),
        piece(30, 36, 0.8, "other"),
    ]
    packed = pack(chunks, overlap() | needs() | greedy, budget=15, count_tokens=len)
    assert [one.id for one in packed] == ["head", "row"]
    packed = pack(chunks, overlap() | needs() | greedy, budget=14, count_tokens=len)
    assert [one.id for one in packed] == ["other"]


class FirstFew(Selector):
    """Chooses from the front by full costs, and knows nothing of spans or rules."""

    name = "first_few"

    def __call__(self, pool: Pool, /) -> Selection:
        return pool.select(np.flatnonzero(np.cumsum(pool.costs) <= pool.budget))


def test_what_overlaps_free_is_filled_for_a_selector_that_does_not_count_on_it() -> None:
    chunks = [
        piece(0, 10, 0.5, "a"),
        piece(5, 15, 0.4, "b"),
        piece(30, 35, 0.3, "c"),
        piece(12, 16, 0.9, "d"),
    ]
    packed = pack(chunks, overlap() | FirstFew(), budget=21, count_tokens=len)
    assert [(one.id, one.new_tokens) for one in packed] == [("a", 10), ("b", 5), ("d", 1), ("c", 5)]
    assert packed.report.tokens_used == 21
    packed = pack(chunks, overlap() | FirstFew(), budget=16, count_tokens=len)
    assert [one.id for one in packed] == ["a", "b"]  # c and d had room, and it left them out
    capped = pack(chunks, overlap() | cap(2) | FirstFew(), budget=30, count_tokens=len)
    assert [one.id for one in capped] == ["a", "b"]


def test_tokens_of_another_counter_are_shared_by_characters() -> None:
    chunks = [
        Chunk(BOOK[a:b], score, tokens=7, metadata={"source": "s", "start": a, "end": b})
        for a, b, score in ((0, 10, 0.9), (6, 16, 0.8))
    ]
    packed = pack(chunks, overlap() | greedy, budget=100, count_tokens=len)
    assert [one.new_tokens for one in packed] == [7, 5]  # six of ten characters: 4.2
    assert packed.report.estimated
    assert [told.code for told in packed.report.warnings] == ["estimated-tokens"]
    exact = pack(
        chunks,
        overlap() | greedy,
        budget=100,
        count_tokens=lambda text: 7 if len(text) == 10 else 3,
    )
    assert [one.new_tokens for one in exact] == [7, 3]
    assert not exact.report.estimated


def test_a_real_tokenizer_counts_what_is_new() -> None:
    count = tokenizer("o200k_base")
    text = "Refunds take five days. We ship on every working day. Gift cards never expire."
    chunks = [
        Chunk(text[a:b], score, id=id_, metadata={"source": "faq", "start": a, "end": b})
        for id_, a, b, score in (("a", 0, 53, 0.9), ("b", 24, len(text), 0.8))
    ]
    packed = pack(chunks, overlap() | greedy, budget=100, count_tokens=count)
    assert packed.chunks[1].new_tokens == count(text[53:])
    assert packed.text() == text


def test_the_overhead_is_charged_for_each_chunk() -> None:
    chunks = [piece(0, 10, 0.9, "a"), piece(8, 15, 0.8, "b")]
    packed = pack(chunks, overlap() | greedy, budget=19, overhead=2, count_tokens=len)
    assert packed.report.tokens_used == 10 + 2 + 5 + 2


def test_a_cut_chunk_keeps_the_span_of_what_is_left() -> None:
    chunks = [piece(0, 10, 0.9, "a"), piece(20, 40, 0.8, "b")]
    packed = pack(chunks, overlap() | trim(2) | greedy, budget=15, count_tokens=len)
    assert packed.report.tokens_used <= 15
    assert packed.text("") == BOOK[:10] + packed.chunks[1].content


def test_a_policy_with_overlap_can_be_warmed() -> None:
    warm(overlap() | mmr(0.5))
    assert getattr(kernels.pairs.beside, "signatures", True)  # there are none where numba is off


def test_overlap_is_a_word_of_the_policy_text() -> None:
    assert repr(parse("overlap() | greedy")) == "overlap() | greedy"
    with pytest.raises(PackError, match="without `texts`"):
        overlap()(Pool.from_arrays([0.5], [3]))


# -- what must be in ------------------------------------------------------------------------


CHEAP_TOGETHER = [piece(0, 10, 0.5, "a", must=1), piece(1, 11, 0.4, "b", must=1)]
EVERY_SELECTOR = (*SELECTORS_HERE, coverage(), dpp())


@pytest.mark.parametrize("selector", EVERY_SELECTOR, ids=repr)
@pytest.mark.parametrize(
    "more",
    [
        [],
        [piece(11, 26, 0.9, "better")],
        [piece(11, 26, 0.9, "better"), piece(30, 38, 0.2, "cheaper alone")],
    ],
    ids=len,
)
def test_a_minimum_is_met_by_what_is_cheap_together(selector: Any, more: list[Chunk]) -> None:
    policy = overlap() | quota(min=2, unit="chunks") | selector
    packed = pack([*CHEAP_TOGETHER, *more], policy, budget=12, count_tokens=len)
    assert {one.id for one in packed} == {"a", "b"}
    assert packed.report.tokens_used == 11
    with pytest.raises(Infeasible, match=r"^found no selection within 10 tokens that satisfies"):
        pack([*CHEAP_TOGETHER, *more], policy, budget=10, count_tokens=len)


@pytest.mark.parametrize("selector", EVERY_SELECTOR, ids=repr)
def test_pins_need_room_for_what_is_new_of_each(selector: Any) -> None:
    policy = overlap() | pin(field("must") == 1) | selector
    packed = pack(CHEAP_TOGETHER, policy, budget=12, count_tokens=len)
    assert {one.id for one in packed} == {"a", "b"}
    with pytest.raises(OverBudget, match="pins a and b need 11 of 10 tokens"):
        pack(CHEAP_TOGETHER, policy, budget=10, count_tokens=len)


@given(pieces(6), st.integers(2, 3), st.integers(1, 40))
def test_what_is_refused_cannot_be(chunks: list[Chunk], least: int, budget: int) -> None:
    """And of a minimum of two chunks of one source no selection is missed."""
    chunks = [piece(c.metadata["start"], c.metadata["end"], c.score, str(c.id)) for c in chunks]  # type: ignore[arg-type]
    possible = any(
        len(covered(list(some))) <= budget
        for size in range(least, len(chunks) + 1)
        for some in combinations(chunks, size)
    )
    policy = overlap() | quota(min=least, unit="chunks") | greedy
    found, message = 0, ""
    try:
        found = len(pack(chunks, policy, budget=budget, count_tokens=len))
    except Infeasible as error:
        message = error.message
    if message:
        assert not possible or (least > 2 and message.startswith("found no selection"))
    else:
        assert possible
        assert found >= least


@pytest.mark.parametrize("lambda_", [0.3, 0.5, 0.8])
def test_mmr_is_its_naive_twin(lambda_: float) -> None:
    """By text, by embeddings, some of which are opposite, or by either."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        chunks = []
        for at in range(7):
            start = int(rng.integers(0, 20))
            one = piece(start, start + int(rng.integers(2, 15)), float(rng.random()), f"c{at}")
            vector = None if seed % 3 == at % (1 + seed % 2) else rng.choice([-1.0, 0.5, 1.0], 2)
            chunks.append(attrs.evolve(one, embedding=None if seed % 3 == 0 else vector))
        budget = int(rng.integers(5, 40))
        pool = Pool.from_chunks(chunks)
        matrix = kernel_matrix(features(pool, "auto")[1].arrays)
        expected: list[int] = []

        def worth(
            row: int, inside: list[int] = expected, like: Any = matrix, all_: Any = chunks
        ) -> Any:
            score = all_[row].score
            if not inside:
                return score, score, -row
            near = max(float(like[row, other]) for other in inside)
            return lambda_ * score - (1.0 - lambda_) * near, score, -row

        while True:
            inside = [chunks[row] for row in expected]
            fits = [
                row
                for row, one in enumerate(chunks)
                if row not in expected and len(covered([*inside, one])) <= budget
            ]
            if not fits:
                break
            expected.append(max(fits, key=worth))
        packed = pack(chunks, overlap() | mmr(lambda_), budget=budget, count_tokens=len)
        assert [one.id for one in packed] == [f"c{row}" for row in expected]


def test_the_knapsack_is_the_best_of_three_with_its_bound() -> None:
    """By full costs and then filled up by score, by score, and by score per new character."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        chunks = []
        for at in range(7):
            start = int(rng.integers(0, 6 if seed % 2 else 20))
            score = float(rng.choice([-0.5, 0.0, 0.2, 0.4, 0.6, 0.8]))
            source = ["book", "other", None][int(rng.choice([0, 0, 1, 2]))]
            chunks.append(
                piece(
                    start,
                    start + int(rng.integers(1, 5 if seed % 2 else 12)),
                    score,
                    f"c{at}",
                    source=source,
                )
            )
        budget = int(rng.integers(2, 8 if seed % 2 else 35))
        useful = [chunk for chunk in chunks if chunk.score > 0]

        def cost(chunk: Chunk, inside: list[Chunk]) -> int:
            return len(covered([*inside, chunk])) - len(covered(inside))

        def grown(
            inside: list[Chunk], rank: Any, *, most: int = budget, of: Any = useful
        ) -> list[Chunk]:
            while True:
                fits = [
                    one for one in of if one not in inside and len(covered([*inside, one])) <= most
                ]
                if not fits:
                    return inside
                best = max(fits, key=lambda one: (rank(one, inside), one.score, -of.index(one)))
                inside = [*inside, best]

        by_full_cost = chosen(chunks, pack(chunks, knapsack, budget=budget, count_tokens=len))
        tries = [
            grown(by_full_cost, lambda one, _: one.score),
            grown([], lambda one, _: one.score),
            grown([], lambda one, inside: one.score / max(cost(one, inside), 0.5)),
        ]
        best = max(tries, key=lambda one: math.fsum(chunk.score for chunk in one))
        packed = pack(chunks, overlap() | knapsack, budget=budget, count_tokens=len)
        assert [one.id for one in packed] == [one.id for one in best]
        meets = [
            one
            for one in useful
            if any(
                covered([one]) & covered([other])
                for other in chunks
                if other is not one and one.metadata["source"]
            )
        ]
        if not any(covered([one]) & covered([other]) for one, other in combinations(chunks, 2)):
            continue  # as without the rule
        rest = [one for one in useful if one not in meets]
        rest.sort(key=lambda one: -one.score / cost(one, []))
        bound, spent = [one.score for one in meets], 0
        for one in rest:
            bound.append(one.score)  # the first that does not fit counts as a whole
            spent += cost(one, [])
            if spent > budget:
                break
        told = packed.report.optimality
        assert told is not None
        assert told.value == math.fsum(one.score for one in best)
        assert told.bound == max(math.fsum(bound), told.value)
        assert told.proven == (told.value >= math.fsum(bound))
