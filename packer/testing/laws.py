"""What holds for every stage of a role and every policy: each law one function.

The docstring is the statement.  A law takes plain values, returns None, and raises AssertionError
(or the PackError that the library refuses the stage with) where it is broken.  It knows nothing
of Hypothesis; `check_stage` and `check_policy` try the laws on generated values.
"""

import collections
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import numpy as np

from packer.algebra import Policy, advance, steps_of
from packer.dsl import Catalog, parse_stage
from packer.errors import PackError
from packer.pool import Pool
from packer.records import Chunk, Packed, PackedChunk, Reason
from packer.rules import Quota
from packer.selection import Layout, Selection
from packer.template import Template
from packer.tokens import CountTokens

__all__ = [
    "budget_holds",
    "composes_only_what_fits",
    "composition_is_associative",
    "constraint_drops_nothing",
    "every_id_has_a_why",
    "exclusions_name_their_stage",
    "filter_narrows",
    "filter_reasons_are_true",
    "input_is_accounted_for",
    "input_is_left_as_it_was",
    "of_twins_the_earlier_is_first",
    "of_twins_the_later_scores_no_higher",
    "order_is_a_permutation",
    "parts_make_the_score",
    "pinned_rows_stay",
    "pins_are_packed",
    "policy_is_its_text",
    "reasons_are_true",
    "rendered_text_fits",
    "report_adds_up",
    "run",
    "same_input_same_output",
    "same_pool_same_result",
    "same_selection_same_order",
    "scoring_keeps_rows",
    "selection_fits",
    "selection_obeys_rules",
    "worth_is_a_number_of_each_row",
]

SET_ASIDE: Final = {Reason.INVALID, Reason.DUPLICATE}
"""The reasons of the shell, which no stage can give."""
NOT_CHOSEN: Final = {Reason.BUDGET, Reason.STRATEGY}
"""The reasons of a selector, beside those of the rules."""


def run(stage: Any, state: Any) -> Any:
    """One stage on one state, under the checks that `pack` makes."""
    return advance(stage, state, repr(stage))


def _ids(pool: Pool, table_rows: Sequence[int]) -> list[str]:
    return [pool.candidates.id(row) for row in table_rows]


def _same_call(before: Any, after: Any) -> None:
    """Whether a state goes on from another: the same table of chunks, the same call."""
    start: Pool = before if isinstance(before, Pool) else before.pool
    end: Pool = after if isinstance(after, Pool) else after.pool
    assert end.candidates.source_rows is start.candidates.source_rows, (
        f"it gives other chunks than it was given: {_ids(end, end.table_rows.tolist())}"
    )
    assert end.call is start.call, "it changed the call (its budget, overhead, query or now)"
    assert end.cuts[: len(start.cuts)] == start.cuts, "it changed what was excluded before it"


# -- a whole call --------------------------------------------------------------------------


def budget_holds(packed: Packed, budget: int, overhead: int) -> None:
    """What is packed is charged its tokens (under `overlap` the new ones) and the overhead of each,
    together never above the budget.
    """
    for chunk in packed:
        words = f"{chunk.id!r} of {chunk.tokens} tokens is charged {chunk.charged}"
        assert 0 <= chunk.charged <= chunk.tokens, words
    spent = sum(chunk.charged + overhead for chunk in packed)
    assert spent <= budget, f"{spent} tokens are packed in a budget of {budget}"
    told = packed.report.tokens_used
    assert told == spent, f"the report says {told} tokens, what is packed costs {spent}"
    assert packed.report.budget == budget


def input_is_accounted_for(chunks: Sequence[Chunk], packed: Packed) -> None:
    """Packed + excluded = input, each chunk exactly once."""
    came = collections.Counter((chunk.content, chunk.score) for chunk in chunks)
    went = collections.Counter((_whole(one, chunks), one.score) for one in packed)
    went.update((out.content, out.score) for out in packed.report.excluded)
    lost, invented = came - went, went - came
    assert not lost, f"neither packed nor excluded: {sorted(lost)}"
    assert not invented, f"packed or excluded, but not in the input (so often): {sorted(invented)}"
    named = [chunk.id for chunk in packed] + [
        out.id for out in packed.report.excluded if out.reason is not Reason.DUPLICATE
    ]
    missing = {chunk.id for chunk in chunks} - {None} - set(named)
    assert not missing, f"ids that are neither packed nor excluded: {missing}"


def exclusions_name_their_stage(packed: Packed, policy: Policy) -> None:
    """Each exclusion has the text of a stage of the policy (or `pack`) that can give its reason."""
    role = {repr(step): step.gives for step in steps_of(policy)}
    for out in packed.report.excluded:
        told = f"{out.id!r} is out by {out.stage!r} as {out.reason}"
        if out.stage == "pack":
            assert out.reason in SET_ASIDE, told
            continue
        assert out.stage in role, f"{told}; the policy has {list(role)}"
        if role[out.stage] is Pool:
            assert out.reason not in SET_ASIDE | NOT_CHOSEN, f"{told}; no filter can say so"
        else:
            assert role[out.stage] is Selection, f"{told}, which selects nothing"
            assert out.reason not in SET_ASIDE, f"{told}; only pack can say so"


def _whole(one: PackedChunk, chunks: Sequence[Chunk]) -> str:
    """The content that a packed chunk came in with; what a stage left of it is a part of that."""
    if one.original_tokens is None:
        return one.content
    made = (f"chunk-{at}" if chunk.id is None else chunk.id for at, chunk in enumerate(chunks))
    named = list(zip(made, chunks, strict=True))
    exact = [chunk for id_, chunk in named if one.id == id_ and chunk.score == one.score]
    near = [chunk for id_, chunk in named if one.id.startswith(id_) and chunk.score == one.score]
    whole = (exact or near)[0].content  # a made id has a suffix where it was taken
    assert one.content.strip(), f"{one.id!r} is packed without text"
    assert len(one.content) < len(whole), f"{one.id!r} was shortened to a text no shorter"
    return whole


def pins_are_packed(pool: Pool, packed: Collection[str]) -> None:
    """What a rule pins is packed.  (`pool`: the candidates under the rules; `packed`: ids.)"""
    pins = np.flatnonzero(pool.pinned)
    missing = set(_ids(pool, pool.table_rows[pins].tolist())) - set(packed)
    assert not missing, f"{sorted(missing)} are not packed; {_rules(pool)} wants them in"


def every_id_has_a_why(packed: Packed) -> None:
    """`why` tells of every id whether it is in or out, and by which stage."""
    for chunk in packed:
        assert packed.why(chunk.id).startswith(f"{chunk.id} is in at position {chunk.position} ")
    for out in packed.report.excluded:
        told = f"{out.id} is out, {out.reason}, by {out.stage}"
        assert told in packed.why(out.id)


def same_input_same_output(call: Callable[[], Packed]) -> None:
    """Two runs of one call give equal results, those that are computed late too."""
    once, again = call(), call()
    for place, (one, other) in enumerate(zip(once, again, strict=False)):
        assert one == other, f"at {place} first {one.id!r} is packed, then {other.id!r}"
    assert len(once) == len(again), f"first {len(once)} chunks are packed, then {len(again)}"
    assert once == again, "two runs of one call give different reports"
    assert once.report.excluded == again.report.excluded, "two runs give different exclusions"
    assert once.report.diversity == again.report.diversity
    assert once.report.position_quality == again.report.position_quality


def input_is_left_as_it_was(chunks: Sequence[Chunk], call: Callable[[], Packed]) -> None:
    """A call changes nothing in the chunks that it is given, nor in the lists in their metadata."""
    before = [(repr(chunk), repr(dict(chunk.metadata))) for chunk in chunks]
    call()
    for chunk, was in zip(chunks, before, strict=True):
        is_ = repr(chunk), repr(dict(chunk.metadata))
        assert is_ == was, f"{chunk.id!r} came in with metadata {was[1]} and has {is_[1]} now"


def parts_make_the_score(packed: Packed) -> None:
    """The parts of a score, where its stage gives some, add up to it, or it is the one before times
    them, as the stage says.
    """
    for id_, steps in packed.report.values.items():
        for step in steps:
            amounts = [part.amount for part in step.parts]
            if not amounts:
                continue
            if step.combine == "sum":
                made = math.fsum(amounts)
                close = 1e-12 * max(map(abs, amounts))
            else:
                made, close = math.prod(amounts, start=step.before), 5e-324
            assert math.isclose(made, step.after, rel_tol=1e-12, abs_tol=close), (
                f"{step.stage} gives {id_!r} a score of {step.after!r}, and its parts make {made!r}"
            )


def report_adds_up(chunks: Sequence[Chunk], packed: Packed) -> None:
    """Used + remaining = budget; the counts are those of the records; positions count from 0; the
    stages chain, each taking in what the one before gave, from the input to the output.
    """
    report = packed.report
    assert report.tokens_used + report.tokens_remaining == report.budget
    assert report.utilization == report.tokens_used / report.budget
    assert 0.0 <= report.utilization <= 1.0
    assert report.selected_count == len(packed) == len(packed.chunks)
    assert report.excluded_count == len(report.excluded)
    assert report.selected_count + report.excluded_count == len(chunks)
    assert [chunk.position for chunk in packed] == list(range(len(packed)))
    outside = sum(out.stage == "pack" for out in report.excluded)
    assert report.stages[0].chunks_in == len(chunks) - outside
    assert report.stages[-1].chunks_out == len(packed)
    assert report.stages[-1].tokens_out == report.tokens_used
    for before, after in itertools.pairwise(report.stages):
        assert before.chunks_out == after.chunks_in
        assert before.tokens_out == after.tokens_in
    assert " | ".join(trace.stage for trace in report.stages) == report.policy


def rendered_text_fits(call: Callable[[Template], Packed], count: CountTokens) -> None:
    """With a template, the count of the very text that is rendered is never above the budget."""
    packed = call(Template("[{position}] {content}"))
    tokens, budget = count(packed.text()), packed.report.budget
    assert tokens <= budget or not len(packed), (
        f"the rendered text counts {tokens} tokens, the budget is {budget}"
    )


# -- any stage from a pool -----------------------------------------------------------------


def same_pool_same_result(stage: Any, pool: Pool) -> None:
    """Two runs of a stage on one pool keep, choose and exclude the same, with equal scores."""
    once, again = run(stage, pool), run(stage, pool)
    for one, other in zip(_outcome(once), _outcome(again), strict=True):
        assert one == other, f"first it gives {one}, then {other}"


def _outcome(state: Any) -> Iterator[object]:
    pool: Pool = state if isinstance(state, Pool) else state.pool
    yield state.ids
    yield state.scores.tolist()
    yield pool.rules
    for cut in pool.cuts:
        yield (
            _ids(pool, cut.rows.tolist()),
            str(cut.reason),
            [cut.detail(k) for k in range(len(cut))],
        )


def of_twins_the_earlier_is_first(stage: Any, pool: Pool) -> None:
    """Ties go by input order: of chunks that differ in their id and place alone, the earlier is
    kept or chosen where only one is, and comes first in the selection order.
    """
    after = run(stage, pool)
    place = {row: at for at, row in enumerate(after.table_rows.tolist())}
    for earlier, later in _twins(pool):
        first, second = place.get(earlier), place.get(later)
        if second is None:
            continue
        ids = _ids(pool, [earlier, later])
        assert first is not None, f"{ids[1]!r} is in and its earlier twin {ids[0]!r} is out"
        assert first < second, f"{ids[1]!r} comes before its earlier twin {ids[0]!r}"


def _twins(pool: Pool) -> Iterator[tuple[int, int]]:
    """Rows of the table that differ in their id and place alone, which no metadata names."""
    table = pool.candidates
    last: dict[object, int] = {}
    named = "\n".join(repr(dict(row)) for row in table.metadata)
    for at, row in enumerate(pool.table_rows.tolist()):
        if repr(table.id(row))[1:-1] in named:
            continue
        vector = None if table.vectors is None else table.vectors[row].tobytes()
        key = (
            table.text(row),
            float(pool.scores[at]),
            int(pool.costs[at]),
            bool(table.has_vector[row]),
            vector,
            repr(dict(table.metadata[row])),
        )
        if key in last:
            yield last[key], row
        last[key] = row


# -- filters, scoring and constraints ------------------------------------------------------


def filter_narrows(stage: Any, pool: Pool) -> None:
    """A filter keeps some rows in input order as they came in, and excludes the others."""
    after = run(stage, pool)
    _same_call(pool, after)
    came, kept = pool.table_rows.tolist(), after.table_rows.tolist()
    foreign = set(kept) - set(came)
    assert not foreign, f"it keeps {_ids(pool, sorted(foreign))}, which it was not given"
    expected = [row for row in came if row in set(kept)]
    assert kept == expected, (
        f"it gives {_ids(pool, kept)}; the input order is {_ids(pool, expected)}"
    )
    assert after.original_scores.tolist() == [pool.candidates.scores[row] for row in kept]
    assert np.isfinite(after.scores).all(), f"its scores are {after.scores.tolist()}"
    out = [row for cut in after.cuts[len(pool.cuts) :] for row in cut.rows.tolist()]
    assert sorted([*out, *kept]) == sorted(came), (
        f"it was given {pool.ids}, keeps {after.ids} and excludes {_ids(pool, out)}"
    )


def filter_reasons_are_true(stage: Any, pool: Pool) -> None:
    """A filter's exclusions bear its text, a reason that a filter can give, and their scores."""
    after = run(stage, pool)
    score = dict(zip(pool.table_rows.tolist(), pool.scores.tolist(), strict=True))
    for cut in after.cuts[len(pool.cuts) :]:
        assert cut.stage == repr(stage), f"it excludes under the text {cut.stage!r}"
        assert cut.reason not in SET_ASIDE | NOT_CHOSEN, f"no filter can say {cut.reason}"
        assert cut.scores.tolist() == [score[row] for row in cut.rows.tolist()]


def pinned_rows_stay(stage: Any, pool: Pool) -> None:
    """What a rule of the pool pins is kept by every filter."""
    after = run(stage, pool)
    pins = np.flatnonzero(pool.pinned)
    gone = set(pool.table_rows[pins].tolist()) - set(after.table_rows.tolist())
    assert not gone, f"it drops {_ids(pool, sorted(gone))}, which {_rules(pool)} wants in"
    assert set(pool.rules) <= set(after.rules), "it drops rules that bind the selector"


def _rules(pool: Pool) -> str:
    return ", ".join(rule.stage for rule in pool.rules)


def scoring_keeps_rows(stage: Any, pool: Pool) -> None:
    """A scoring stage keeps all rows and the scores that came in; the current ones are finite."""
    after = run(stage, pool)
    _same_call(pool, after)
    assert after.table_rows.tolist() == pool.table_rows.tolist(), (
        f"it was given {pool.ids} and gives {after.ids}; a scoring stage keeps all"
    )
    assert after.cuts == pool.cuts
    assert after.original_scores.tolist() == pool.original_scores.tolist()
    assert np.isfinite(after.scores).all(), f"its scores are {after.scores.tolist()}"


def of_twins_the_later_scores_no_higher(stage: Any, pool: Pool) -> None:
    """Of chunks that differ in their id and place alone, a later one gets no higher score than an
    earlier one, which it would be packed before.
    """
    after = run(stage, pool)
    score = dict(zip(after.table_rows.tolist(), after.scores.tolist(), strict=True))
    for earlier, later in _twins(pool):
        ids = _ids(pool, [earlier, later])
        assert not score[later] > score[earlier], (
            f"{ids[1]!r} gets {score[later]}, its earlier twin {ids[0]!r} {score[earlier]}"
        )


def constraint_drops_nothing(stage: Any, pool: Pool) -> None:
    """A constraint keeps all rows and scores and the rules before it, and adds to the rules."""
    after = run(stage, pool)
    _same_call(pool, after)
    assert after.table_rows.tolist() == pool.table_rows.tolist(), (
        f"it was given {pool.ids} and gives {after.ids}; a constraint keeps all"
    )
    assert after.scores.tolist() == pool.scores.tolist()
    assert after.cuts == pool.cuts
    assert set(pool.rules) <= set(after.rules), "it drops rules of earlier stages"


# -- selectors -----------------------------------------------------------------------------


def selection_fits(stage: Any, pool: Pool) -> None:
    """A selector chooses rows of its pool, each at most once, within the budget."""
    selection = run(stage, pool)
    _same_call(pool, selection)
    rows = selection.table_rows.tolist()
    cost = dict(zip(pool.table_rows.tolist(), pool.costs.tolist(), strict=True))
    foreign = set(rows) - set(cost)
    assert not foreign, f"it chooses {_ids(pool, sorted(foreign))}, which it was not given"
    assert len(set(rows)) == len(rows), f"it chooses a chunk twice: {selection.ids}"
    spent = sum(cost[row] for row in rows)
    assert spent <= pool.budget, f"it chooses {spent} tokens of a budget of {pool.budget}"
    out = [row for cut in selection.pool.cuts[len(pool.cuts) :] for row in cut.rows.tolist()]
    assert sorted([*rows, *out]) == sorted(cost), (
        f"it was given {pool.ids}, chooses {selection.ids} and excludes {_ids(pool, out)}"
    )


def reasons_are_true(stage: Any, pool: Pool) -> None:
    """What a selector leaves out is `budget` if it costs more than remains, else `strategy`.

    (But for what the rules of the pool leave out.)
    """
    selection = run(stage, pool)
    left = pool.budget - sum(selection.costs.tolist())
    cost = dict(zip(pool.table_rows.tolist(), pool.costs.tolist(), strict=True))
    for cut in selection.pool.cuts[len(pool.cuts) :]:
        if cut.reason not in NOT_CHOSEN and pool.rules:
            continue
        assert cut.reason in NOT_CHOSEN, f"no selector can say {cut.reason}"
        for row in cut.rows.tolist():
            assert (cut.reason is Reason.BUDGET) == (cost[row] > left), (
                f"{pool.candidates.id(row)!r} is out as {cut.reason}; it costs {cost[row]} tokens "
                f"and {left} are left"
            )


def selection_obeys_rules(stage: Any, pool: Pool) -> None:
    """What the rules of the pool pin is chosen, and of each key no more than a quota allows."""
    selection = run(stage, pool)
    chosen = set(selection.table_rows.tolist())
    pins = np.flatnonzero(pool.pinned)
    missing = set(pool.table_rows[pins].tolist()) - chosen
    assert not missing, (
        f"it leaves out {_ids(pool, sorted(missing))}, which {_rules(pool)} wants in"
    )
    for rule in pool.rules:
        if isinstance(rule, Quota) and rule.unit == "chunks":
            sizes = collections.Counter(
                value for value in selection.column(rule.by) if isinstance(value, str)
            )
            for value, size in sizes.items():
                assert size <= rule.most, f"it chooses {size} of {value!r}; {rule.stage}"


def worth_is_a_number_of_each_row(stage: Any, pool: Pool) -> None:
    """`worth`, by which a cut may be made, is one number for each row, and never NaN."""
    worth = np.asarray(stage.worth(pool))
    assert worth.shape == (len(pool),), (
        f"worth has the shape {worth.shape}, the pool {len(pool)} rows"
    )
    assert not np.isnan(worth).any(), f"worth is {worth.tolist()}"


# -- orders --------------------------------------------------------------------------------


def order_is_a_permutation(stage: Any, selection: Selection) -> None:
    """An order shows what was chosen, each once, and changes nothing else."""
    layout: Layout = run(stage, selection)
    _same_call(selection, layout)
    assert sorted(layout.order.tolist()) == list(range(len(selection))), (
        f"it shows the places {layout.order.tolist()} of {len(selection)}"
    )
    assert sorted(layout.ids) == sorted(selection.ids), (
        f"it was given {selection.ids} and shows {layout.ids}"
    )
    assert layout.pool.scores.tolist() == selection.pool.scores.tolist()
    assert sum(layout.pool.costs[layout.pool_rows].tolist()) == sum(selection.costs.tolist())


def same_selection_same_order(stage: Any, selection: Selection) -> None:
    """Two runs of an order on one selection show it in the same order."""
    once, again = run(stage, selection).ids, run(stage, selection).ids
    assert once == again, f"first it shows {once}, then {again}"


# -- the algebra ---------------------------------------------------------------------------


def composition_is_associative(steps: Sequence[Any], at: int) -> None:
    """However a composition is bracketed, it is one value with one hash and one text."""
    one_by_one = _composed(steps)
    halves = _composed(steps[:at]) | _composed(steps[at:])
    from_the_right = steps[-1]
    for step in reversed(steps[:-1]):
        from_the_right = step | from_the_right
    for other in (halves, from_the_right):
        assert other == one_by_one
        assert hash(other) == hash(one_by_one)
        assert repr(other) == repr(one_by_one)


def _composed(steps: Sequence[Any]) -> Any:
    composed = steps[0]
    for step in steps[1:]:
        composed = composed | step
    return composed


def composes_only_what_fits(steps: Sequence[Any]) -> None:
    """`|` composes stages where each takes what the one before gives, and refuses all others."""
    fits = all(left.gives is right.takes for left, right in itertools.pairwise(steps))
    try:
        outcome: object = steps_of(_composed(steps))
    except PackError as refusal:
        outcome = refusal.code
    assert outcome == (tuple(steps) if fits else "INVALID_POLICY")


def policy_is_its_text(policy: Any, catalog: Catalog | None = None) -> None:
    """`parse(str(policy)) == policy`, with equal hash and equal text."""
    if catalog is None:
        from strategies import CATALOG

        catalog = CATALOG
    text = str(policy)
    parsed = parse_stage(text, catalog)
    assert parsed == policy, f"{text} is read as another policy, which prints {parsed!r}"
    assert hash(parsed) == hash(policy)
    assert str(parsed) == text
