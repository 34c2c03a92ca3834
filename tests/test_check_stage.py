"""Stages with a planted fault of each kind: the kit finds each within 200 cases, as code."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import attrs
import numpy as np
import pytest

from packer import Chunk, Layout, Packed, PackError, Pool, Selection, Selector, pack
from packer.arrays import Floats, best_first
from packer.records import Deferred
from packer.rules import Pin
from packer.testing import (
    LawBroken,
    calls,
    check_policy,
    check_stage,
    laws_of,
    policies,
    stages,
)
from packer.testing.keys_read import keys_read
from packer.testing.material import NOW, QUERY
from packer.tokens import approximate
from strategies import CATALOG, by_score, custom, decay, field, greedy, mmr, pin, threshold, ushape
from strategies.greedy import fill

from .planted import Arranges, Binds, Narrows, Obeys, Rescores, Selects


def broken(stage: Any, law: str, **options: Any) -> LawBroken:
    with pytest.raises(LawBroken) as caught:
        check_stage(stage, max_examples=200, **options)
    assert caught.value.law == law
    return caught.value


def rebuilt(code: str) -> dict[str, Any]:
    """What the code of a counterexample makes."""
    names: dict[str, Any] = {}
    exec(code, names)
    return names


# -- the six faults ------------------------------------------------------------------------


def greedy_with_one_token_more(pool: Pool) -> Selection:
    return pool.select(fill(best_first(pool.scores), pool.costs, pool.capacity + 1))


def test_over_budget_by_one_that_select_refuses() -> None:
    error = broken(Selects(greedy_with_one_token_more), "selection_fits")
    case = error.case
    assert case.pool().costs.sum() == case.budget + 1
    assert "INVALID_STRATEGY" in str(error)


def test_over_budget_by_one_made_around_select() -> None:
    def choose(pool: Pool) -> Selection:
        roomy = pool.within(pool.budget + 1)
        found = greedy(roomy)
        return attrs.evolve(found, pool=found.pool.within(pool.budget))

    broken(Selects(choose), "selection_fits")


def test_dropped_chunk() -> None:
    def drop(pool: Pool) -> Pool:
        return pool.narrowed(np.flatnonzero(pool.scores > 0.5))

    error = broken(Narrows(drop), "filter_narrows")
    assert len(error.case.chunks) == 1
    assert "accounts for 0" in str(error)


def test_dropped_chunk_in_whose_place_another_is_excluded_twice() -> None:
    def choose(pool: Pool) -> Selection:
        found = greedy(pool)
        cuts = tuple(cut.only(np.zeros(len(cut), np.int64)) for cut in found.pool.cuts)
        return attrs.evolve(found, pool=attrs.evolve(found.pool, cuts=cuts))

    broken(Selects(choose), "selection_fits")


def test_unstable_on_ties() -> None:
    def backwards(pool: Pool) -> Selection:
        order = np.argsort(pool.scores, kind="stable")[::-1]
        return pool.select(fill(order, pool.costs, pool.capacity))

    error = broken(Selects(backwards), "of_twins_the_earlier_is_first")
    one, other = error.case.chunks
    assert (one.content, one.score) == (other.content, other.score)


def test_filter_unstable_on_ties() -> None:
    def last_of_the_best(pool: Pool) -> Pool:
        mask = np.zeros(len(pool), np.bool_)
        mask[np.argsort(pool.scores, kind="stable")[::-1][:1]] = True
        return pool.keep(mask, reason="max-candidates")

    broken(Narrows(last_of_the_best), "of_twins_the_earlier_is_first")


def test_reordered() -> None:
    def best_comes_first(pool: Pool) -> Pool:
        return pool.narrowed(best_first(pool.scores))

    error = broken(Narrows(best_comes_first), "filter_narrows")
    assert "; the input order is [" in str(error)
    one, other = error.case.chunks
    assert one.score < other.score


def test_invented_chunk_in_a_filter() -> None:
    def add(pool: Pool) -> Pool:
        given = [pool.chunk(row) for row in range(len(pool))]
        other = [Chunk("An invented text.", 1.0, id="new"), *given[1:]]
        return Pool.from_chunks(other, budget=pool.budget, overhead=pool.call.overhead, now=NOW)

    error = broken(Narrows(add), "filter_narrows")
    assert len(error.case.chunks) <= 1


def test_invented_chunk_in_a_selector() -> None:
    def choose(pool: Pool) -> Selection:
        other = pool.from_chunks([Chunk("An invented text.", 1.0, id="new")] * bool(len(pool)))
        return other.select(range(len(other)))

    broken(Selects(choose), "selection_fits")


def test_row_that_is_not_there() -> None:
    error = broken(Selects(lambda pool: pool.select([0])), "selection_fits")
    assert list(error.case.chunks) == []


def test_pin_ignored_by_a_selector() -> None:
    def choose(pool: Pool) -> Selection:
        return greedy(pool.with_rules(rule for rule in pool.rules if not isinstance(rule, Pin)))

    error = broken(Obeys(choose), "selection_obeys_rules")
    assert any(chunk.metadata.get("pinned") for chunk in error.case.chunks)
    assert 'pool = pin(field("pinned") == True)(pool)' in error.code


def test_quota_ignored_by_a_selector() -> None:
    def choose(pool: Pool) -> Selection:
        pins = [rule for rule in pool.rules if isinstance(rule, Pin)]
        return greedy(pool.with_rules(pins))

    error = broken(Obeys(choose), "selection_obeys_rules")
    assert "cap(1)" in str(error)


def test_pin_ignored_by_a_filter() -> None:
    def drop(pool: Pool) -> Pool:
        rules = pool.rules
        return pool.with_rules(()).keep(pool.scores > 0.5, reason="metadata").with_rules(rules)

    broken(Narrows(drop), "pinned_rows_stay")


def test_rules_forgotten_by_a_filter() -> None:
    broken(Narrows(lambda pool: pool.with_rules(())), "pinned_rows_stay")


# -- further faults ------------------------------------------------------------------------


def test_answers_that_differ_from_run_to_run() -> None:
    turns = count()

    def flip(pool: Pool) -> Pool:
        return pool.keep(np.full(len(pool), next(turns) % 2 == 0), reason="metadata")

    broken(Narrows(flip), "same_pool_same_result", without=["of_twins_the_earlier_is_first"])


def test_order_that_differs_from_run_to_run() -> None:
    turns = count()

    def turn(selection: Selection) -> Layout:
        places = np.arange(len(selection))
        return selection.arrange(places[:: 1 if next(turns) % 2 else -1])

    broken(Arranges(turn), "same_selection_same_order")


@pytest.mark.parametrize(
    ("stage", "law"),
    [
        (Arranges(lambda s: s.arrange(np.arange(len(s))[:1])), "order_is_a_permutation"),
        (Arranges(lambda s: s.arrange([0] * len(s))), "order_is_a_permutation"),
        (Arranges(lambda s: by_score(greedy(s.pool))), "order_is_a_permutation"),
        (Rescores(lambda p: p.keep(p.scores > 0, reason="metadata")), "scoring_keeps_rows"),
        (Rescores(lambda p: p.rescore(np.log(p.scores))), "scoring_keeps_rows"),
        (Binds(lambda p: p.keep(p.scores > 0, reason="metadata")), "constraint_drops_nothing"),
        (Binds(lambda p: p.with_rules(())), "constraint_drops_nothing"),
        (Narrows(lambda p: p.keep(p.scores > 0, reason="budget")), "filter_reasons_are_true"),
        (
            Narrows(lambda p: p.at("other(1)").keep(p.scores > 0, reason="metadata")),
            "filter_reasons_are_true",
        ),
        (
            Selects(
                lambda p: p.select(
                    [],
                    cuts=[p.cut("budget", np.arange(len(p)))],  # type: ignore[arg-type]
                )
            ),
            "reasons_are_true",
        ),
        (Narrows(lambda p: p.limited(p.budget + 1)), "filter_narrows"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fault_breaks_the_law_of_its_role(stage: Any, law: str) -> None:
    broken(stage, law)


def test_error_of_ones_own_is_a_counterexample() -> None:
    def best(pool: Pool) -> Pool:
        return pool.keep(pool.scores == max(pool.scores.tolist()), reason="metadata")

    error = broken(Narrows(best), "filter_narrows")
    assert list(error.case.chunks) == []
    assert "ValueError: max()" in str(error)


# -- faults of a call ----------------------------------------------------------------------


@attrs.frozen(repr=False)
class ByPage(Selector):
    """Breaks ties by a key that only its own code names, and takes it for a number."""

    name = "by_page"
    is_constant = True

    def __call__(self, pool: Pool, /) -> Selection:
        pages = [(metadata.get("page") or 0) + 0 for metadata in pool.metadata]  # type: ignore[operator]
        order = np.lexsort((np.array(pages, float), -pool.scores))
        return pool.select(fill(order, pool.costs, pool.capacity))


@attrs.frozen(repr=False)
class AThird(Selector):
    """Charges a third where chunks overlap."""

    name = "a_third"
    is_constant = True
    counts_overlap = True

    def __call__(self, pool: Pool, /) -> Selection:
        costs = (pool.costs + 2) // 3 if pool.overlapping else pool.costs
        return pool.select(fill(best_first(pool.scores), costs, pool.capacity))


@attrs.frozen(repr=False)
class ThreeTooMany(Selector):
    """Says what more rows than there are would be worth."""

    name = "three_too_many"
    is_constant = True

    def worth(self, pool: Pool, /) -> Floats:
        return np.zeros(len(pool) + 3)

    def __call__(self, pool: Pool, /) -> Selection:
        return greedy(pool)


def page_of(metadata: Any, depth: int = 1) -> object:
    return page_of(metadata["inner"], depth - 1) if depth else metadata.get("page")


def test_keys_are_read_of_functions_that_call_themselves_and_of_inner_ones() -> None:
    def choose(pool: Pool) -> Selection:
        return pool.select(sorted(range(len(pool)), key=lambda row: page_of(pool.metadata[row])))  # type: ignore[arg-type, return-value]

    assert {"page", "inner"} <= set(keys_read(Selects(choose)))


def test_metadata_is_hostile_under_the_keys_that_a_stage_names() -> None:
    assert "page" in keys_read(ByPage())
    error = broken(ByPage(), "selection_fits", profile="hostile-metadata")
    assert any("page" in chunk.metadata for chunk in error.case.chunks)


def test_selector_that_counts_overlap_is_tried_under_it() -> None:
    error = broken(AThird(), "selection_obeys_rules", profile="overlapping")
    assert "overlap()" in error.code


def test_worth_of_another_length() -> None:
    broken(ThreeTooMany(), "worth_is_a_number_of_each_row")


def test_parts_that_do_not_make_the_score() -> None:
    def rescored(pool: Pool) -> Pool:
        return pool.rescore(pool.scores + 1.0, parts={"a": np.full(len(pool), 7.0)})

    broken(Rescores(rescored), "parts_make_the_score")


def test_list_in_the_metadata_that_a_stage_changes() -> None:
    def marked(pool: Pool) -> Pool:
        for metadata in pool.metadata:
            for value in metadata.values():
                if isinstance(value, list):
                    value.append(1)
        return pool

    broken(Narrows(marked), "input_is_left_as_it_was", profile="hostile-metadata")


def broken_call(policy: Any, law: str, **options: Any) -> LawBroken:
    with pytest.raises(LawBroken) as caught:
        check_policy(policy, max_examples=200, **options)
    assert caught.value.law == law
    return caught.value


def test_order_that_turns_in_every_call() -> None:
    turns = count()

    def turn(selection: Selection) -> Layout:
        places = np.arange(len(selection))
        return selection.arrange(places[:: 1 if next(turns) % 2 else -1])

    error = broken_call(greedy | Arranges(turn), "same_input_same_output")
    assert len(error.case.chunks) == 2
    assert "at 0 first" in str(error)


def test_policy_that_is_another_in_every_call() -> None:
    turns = count()

    def flip(pool: Pool) -> Pool:
        return pool.rescore(pool.scores if next(turns) % 2 else -pool.scores)

    broken_call(Rescores(flip) | greedy, "same_input_same_output")

    def some(pool: Pool) -> Pool:
        return pool.keep(np.arange(len(pool)) < next(turns) % 2, reason="metadata")

    broken_call(Narrows(some) | greedy, "same_input_same_output")


def test_call_that_differs_in_a_detail_alone() -> None:
    turns = count()

    def told(pool: Pool) -> Pool:
        return pool.keep(pool.scores > 0.5, reason="metadata", detail=f"run {next(turns)}")

    error = broken_call(Narrows(told) | greedy, "same_input_same_output")
    assert "two runs of one call give different reports" in str(error)


def test_exclusion_under_the_text_of_another_stage() -> None:
    def under_another(pool: Pool) -> Pool:
        return pool.at("other(1)").keep(pool.scores > 0.5, reason="metadata")

    error = broken_call(Narrows(under_another) | greedy, "exclusions_name_their_stage")
    assert "is out by 'other(1)' as metadata; the policy has" in str(error)


def test_pin_that_a_call_forgets() -> None:
    policy = Narrows(lambda pool: pool.with_rules(())) | greedy
    error = broken_call(policy, "pins_are_packed")
    assert "are not packed; pin(pinned == True) wants them in" in str(error)


def of_report(**changes: Callable[[Packed], Any]) -> Callable[[Packed], Packed]:
    def forge(packed: Packed) -> Packed:
        made = {name: change(packed) for name, change in changes.items()}
        return attrs.evolve(packed, report=attrs.evolve(packed.report, **made))

    return forge


def without_the_first_exclusion(packed: Packed) -> Packed:
    fewer = packed.report.excluded[1:]
    return of_report(
        excluded=lambda _: Deferred(lambda: fewer), excluded_count=lambda _: len(fewer)
    )(packed)


def without_the_last_chunk(packed: Packed) -> Packed:
    fewer = packed.chunks[:-1]
    return attrs.evolve(packed, chunks=Deferred(lambda: fewer))


def placed_from_one(packed: Packed) -> Packed:
    made = tuple(attrs.evolve(chunk, position=chunk.position + 1) for chunk in packed)
    return attrs.evolve(packed, chunks=Deferred(lambda: made))


def of_template(packed: Packed) -> Packed:
    """With a template: as if the budget had been a token less than what was rendered."""
    if packed.report.rendered_tokens is None or not len(packed):
        return packed
    return of_report(budget=lambda packed: approximate(packed.text()) - 1)(packed)


@pytest.mark.parametrize(
    ("forge", "law", "told"),
    [
        (of_report(tokens_used=lambda p: p.report.tokens_used + 1), "budget_holds", "the report"),
        (of_report(budget=lambda p: p.report.budget + 1), "budget_holds", "assertion fails"),
        (without_the_first_exclusion, "input_is_accounted_for", "neither packed nor excluded"),
        (of_report(excluded_count=lambda p: 0), "report_adds_up", "assertion fails"),
        (of_report(policy=lambda p: "greedy | "), "report_adds_up", "assertion fails"),
        (placed_from_one, "report_adds_up", "assertion fails"),
        (of_template, "rendered_text_fits", "the rendered text counts"),
    ],
)
def test_fault_of_pack_itself_breaks_the_law_of_a_call(
    forge: Callable[[Packed], Packed], law: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No stage can do this, since `pack` checks what its stages did: so here `pack` does it."""
    monkeypatch.setattr(calls, "pack", lambda *given, **options: forge(pack(*given, **options)))
    assert told in str(broken_call(greedy, law))


def test_chunk_that_is_neither_packed_nor_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*given: Any, **options: Any) -> Packed:
        return without_the_last_chunk(pack(*given, **options))

    monkeypatch.setattr(calls, "pack", without)
    error = broken_call(greedy, "input_is_accounted_for", without=["budget_holds"])
    assert len(error.case.chunks) == 1


@pytest.mark.parametrize("words", ["", "c0 is in at position 0 ..."])
def test_id_without_a_why(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Packed, "why", lambda packed, id_: words)
    broken_call(greedy, "every_id_has_a_why")


# -- the report ----------------------------------------------------------------------------


def test_code_of_a_counterexample_rebuilds_and_repeats_it() -> None:
    stage = Selects(greedy_with_one_token_more)
    error = broken(stage, "selection_fits", profile="hostile-metadata")
    names = rebuilt(error.code)
    assert list(map(repr, names["chunks"])) == list(map(repr, error.case.chunks))
    with pytest.raises(PackError, match="a selector must stay within it"):
        stage(names["pool"])


def test_code_of_a_call_and_of_an_order_rebuilds_too() -> None:
    error = broken(
        Arranges(lambda selection: selection.arrange([0] * len(selection))),
        "order_is_a_permutation",
    )
    assert len(rebuilt(error.code)["selection"]) == len(error.case.chunks) == 2
    policy = threshold(0.5) | Selects(greedy_with_one_token_more)
    with pytest.raises(LawBroken) as caught:
        check_policy(policy, without=["pins_are_packed"])  # under a pin it spends too much as well
    assert caught.value.law == "budget_holds"
    code = caught.value.code.replace("...", "greedy").replace(
        "import Chunk", "import Chunk\nfrom strategies import greedy\nfrom packer import Chunk"
    )
    assert len(rebuilt(code)["packed"].report.excluded) == 1


def test_report_says_law_case_and_fault() -> None:
    text = str(broken(Narrows(lambda pool: pool.narrowed(pool.table_rows[:0])), "filter_narrows"))
    assert text.startswith("Narrows(test_report_says_law_case_and_fault.<locals>.<lambda>) breaks")
    assert "A filter keeps some rows in input order as they came in" in text
    assert QUERY in text


def test_the_same_counterexample_is_found_in_every_run() -> None:
    stage = Selects(greedy_with_one_token_more)
    assert str(broken(stage, "selection_fits")) == str(broken(stage, "selection_fits"))


# -- options -------------------------------------------------------------------------------


def test_law_that_is_broken_on_purpose_is_left_out_by_name() -> None:
    def last(pool: Pool) -> Pool:
        mask = np.zeros(len(pool), np.bool_)
        mask[-1:] = True
        return pool.keep(mask | (pool.scores > 0.5), reason="max-candidates")

    stage = Narrows(last)
    broken(stage, "of_twins_the_earlier_is_first")
    check_stage(stage, without=["of_twins_the_earlier_is_first"], max_examples=50)


def test_unknown_law_is_told_before_the_search() -> None:
    ran: list[Pool] = []

    def run(pool: Pool) -> Pool:
        ran.append(pool)
        return pool

    told = r"without names \['of_twins'\], which no law of the stage is called; it has budget_h"
    with pytest.raises(PackError, match=told):
        check_stage(Narrows(run), without=["of_twins"])
    with pytest.raises(PackError, match=r"without names \['keeps_two'\]"):
        check_stage(Narrows(run), without=["keeps_two", "filter_narrows"])
    with pytest.raises(PackError, match=r"without names \['filter_narrows'\]"):
        check_policy(Narrows(run) | greedy, without=["filter_narrows"])
    assert not ran
    with pytest.raises(PackError, match=told):
        check_stage(stages("threshold"), without=["of_twins"], max_examples=5)


def test_further_law_of_ones_own() -> None:
    def keeps_two(stage: Any, pool: Pool) -> None:
        """At most two chunks stay."""
        assert len(stage(pool)) <= 2, "more than two stay"

    error = broken(threshold(0.5), "keeps_two", also=[keeps_two])
    assert len(error.case.chunks) == 3

    def starts_with_the_best(stage: Any, selection: Selection) -> None:
        """The best is shown first."""
        assert stage(selection).ids[:1] == by_score(selection).ids[:1]

    check_stage(ushape, also=[starts_with_the_best], max_examples=30)


def test_refusal_is_a_fault_unless_it_is_allowed() -> None:
    from packer.testing import chunks

    lists = chunks("ordinary")  # with negative scores, which decay refuses
    with pytest.raises(LawBroken, match="INVALID_PARAMETER"):
        check_stage(decay("30d"), chunks=lists)
    check_stage(decay("30d"), chunks=lists, may_refuse=["INVALID_PARAMETER"], max_examples=50)


def test_stage_that_refuses_every_case_is_an_error() -> None:
    from packer.testing import chunks

    with pytest.raises(AssertionError, match="refused all of 20 cases"):
        check_policy(
            mmr(metric="cosine"),
            chunks=chunks("ordinary", embedded=False, min_size=2, named=True),
            max_examples=20,
        )


def test_text_is_tried_with_a_catalog() -> None:
    check_stage(threshold(0.5), catalog=CATALOG, max_examples=10)
    error = broken(Narrows(lambda pool: pool), "policy_is_its_text", catalog=CATALOG)
    assert "INVALID_POLICY" in str(error)


def test_what_is_no_stage_or_policy_is_refused() -> None:
    with pytest.raises(PackError, match="is no stage"):
        check_stage("greedy")  # type: ignore[arg-type]
    with pytest.raises(PackError, match="selects nothing"):
        check_policy(threshold(0.5))  # type: ignore[arg-type]


def test_composition_of_filters_is_tried_as_a_call() -> None:
    check_stage(threshold(0.5) | pin(field("pinned") == True), max_examples=20)  # noqa: E712
    assert all(law.state.is_call for law in laws_of(threshold(0.5) | threshold(0.6)))


def test_function_as_a_selector_is_exempt_from_the_reasons_that_it_does_not_keep() -> None:
    def everything(chunks: Sequence[Chunk], context: object) -> Sequence[Chunk]:
        return chunks

    assert "reasons_are_true" not in [law.name for law in laws_of(custom(everything))]
    check_stage(custom(everything), max_examples=50)


# -- the library under its own kit ---------------------------------------------------------


@pytest.mark.parametrize("word", CATALOG)
def test_every_stage_of_the_catalog_passes(word: str) -> None:
    check_stage(stages(word), max_examples=12)


def test_policies_of_the_catalog_pass() -> None:
    check_policy(policies(), max_examples=25)
