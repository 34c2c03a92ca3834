"""The laws of a whole call."""

from hypothesis import given
from hypothesis import strategies as st

from packer.algebra import Policy
from packer.testing import laws as kit_laws
from proofs import laws
from strategies import ushape
from tests.generators import (
    CLOSE,
    FILTERS,
    ORDERS,
    SCORES,
    SCORING,
    SELECTORS,
    Request,
    policies,
    requests,
    some_stage,
)

# Chunks as they come: ids missing and repeated, blank texts, scores of any size.
untidy = requests(named=False)
# Scores whose sums overflow or vanish; to raise them is refused, as it may give infinity.
huge = requests(
    policies(filters=[word for word in FILTERS + SCORING if word not in {"boost", "neighbours"}]),
    scores=st.sampled_from((1.7e308, 1e308, 1e300, 0.5, 1e-300, 5e-324, 0.0, -1e-300, -1.7e308)),
)


@given(untidy)
def test_budget_holds(request: Request) -> None:
    kit_laws.budget_holds(request.packed(), request.budget, request.overhead)


@given(untidy)
def test_nothing_is_lost(request: Request) -> None:
    laws.nothing_is_lost(request.chunks, request.packed(), request.policy)


@given(huge)
def test_huge_and_tiny_scores_break_nothing(request: Request) -> None:
    packed = request.packed()
    kit_laws.budget_holds(packed, request.budget, request.overhead)
    laws.nothing_is_lost(request.chunks, packed, request.policy)
    laws.no_arrangement_is_better(packed)


@given(requests(named=False, scores=st.sampled_from((0.25, 0.5))))
def test_of_one_id_the_best_stays(request: Request) -> None:
    laws.of_one_id_the_best_stays(request.chunks, request.packed())


@given(untidy)
def test_every_id_has_a_why(request: Request) -> None:
    kit_laws.every_id_has_a_why(request.packed())


@given(untidy)
def test_same_input_same_output(request: Request) -> None:
    kit_laws.same_input_same_output(request.packed)


@given(untidy)
def test_report_adds_up(request: Request) -> None:
    kit_laws.report_adds_up(request.chunks, request.packed())


@given(untidy)
def test_values_tell_the_way_of_each_score(request: Request) -> None:
    laws.values_tell_the_way_of_each_score(request.chunks, request.packed())


# `max_candidates` is about input order; scoring may make equal scores, which input order
# decides; `knapsack` has a law of its own, and a function may look at the order.
of_the_set = policies(
    filters=[word for word in FILTERS if word != "max_candidates"],
    selectors=[word for word in SELECTORS if word not in {"knapsack", "custom"}],
)


@given(requests(of_the_set, distinct_scores=True), st.data())
def test_order_of_input_is_no_matter(request: Request, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(request.chunks))
    laws.order_of_input_is_no_matter(request.packed(), request.over(shuffled).packed())


shown_as_u: st.SearchStrategy[Policy] = some_stage(SELECTORS).map(lambda stage: stage | ushape)


@given(requests(shown_as_u, min_size=3))
def test_ushape_has_full_quality(request: Request) -> None:
    laws.ushape_has_full_quality(request.packed())


@given(requests(shown_as_u, min_size=3, scores=CLOSE))
def test_ushape_has_full_quality_for_scores_that_hardly_differ(request: Request) -> None:
    laws.ushape_has_full_quality(request.packed())


@given(requests(policies(filters=FILTERS, orders=ORDERS), min_size=3, scores=SCORES | CLOSE))
def test_no_arrangement_is_better_than_the_best(request: Request) -> None:
    laws.no_arrangement_is_better(request.packed())
