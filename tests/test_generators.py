"""The generators make what they promise: every stage of the catalog, every kind of chunk."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer import Chunk, Filter, Order, PackError, Pool, Selector
from packer.algebra import checked_policy
from packer.errors import OverBudget
from packer.parameters import function, number
from packer.similarity import features
from packer.testing import policies as policies_of
from packer.testing import stages as stages_of
from packer.testing.cases import PINNED, cases
from packer.testing.parameter_values import values_of
from packer.testing.vocabulary import vocabulary
from strategies import CATALOG, greedy, threshold, ushape
from tests.generators import (
    BUDGETS,
    CONSTRAINTS,
    DOMAINS,
    FILTERS,
    FUNCTIONS,
    NOW,
    ORDERS,
    PARSED,
    SCORING,
    SELECTORS,
    Request,
    chunk_lists,
    fields_of,
    holds_function,
    kind_of,
    policies,
    pools,
    requests,
    stages,
)
from tests.planted import Longest
from tests.sampling import sample

few = settings(max_examples=15)


@pytest.mark.parametrize("word", CATALOG)
@few
@given(data=st.data())
def test_every_word_of_the_catalog_yields_its_stages(word: str, data: st.DataObject) -> None:
    stage = data.draw(stages(word, wide=data.draw(st.booleans())))
    assert type(stage) is kind_of(word)
    assert stage.name == word


def test_every_word_of_the_catalog_has_one_role() -> None:
    assert sorted(FILTERS + SCORING + CONSTRAINTS + SELECTORS + ORDERS) == sorted(CATALOG)
    assert all(issubclass(kind_of(word), Filter) for word in FILTERS + SCORING)
    assert all(issubclass(kind_of(word), Selector) for word in SELECTORS)
    assert all(issubclass(kind_of(word), Order) for word in ORDERS)


def test_every_parameter_has_a_domain_that_is_known() -> None:
    for word in CATALOG:
        for field in fields_of(word):
            kind, *rest = field.metadata["domain"]
            assert kind in DOMAINS or (kind == "function" and rest[0] in FUNCTIONS)


def test_words_with_a_function_are_those_that_cannot_be_parsed() -> None:
    assert set(CATALOG) - set(PARSED) == {"custom", "sorted_by"}
    assert {word for word in CATALOG if holds_function(word)} == {"custom", "sorted_by"}


@pytest.mark.parametrize(
    "word",
    [word for word in CATALOG if any(f.default is not attrs.NOTHING for f in fields_of(word))],
)
def test_every_optional_argument_is_at_its_default_and_not(word: str) -> None:
    made = sample(stages(word), 60)
    for field in fields_of(word):
        if field.default is not attrs.NOTHING:
            assert {getattr(stage, field.name) == field.default for stage in made} == {True, False}


@given(policies())
def test_policies_lead_from_a_pool_to_a_selection_or_a_layout(policy: object) -> None:
    assert checked_policy(policy)


@given(requests(named=False))
def test_requests_are_not_refused(request: Request) -> None:
    assert len(request.packed()) <= len(request.chunks)


def _cosines(pool: Pool) -> npt.NDArray[np.float32]:
    unit = features(pool, "auto")[1].unit
    return unit @ unit.T


FEATURES: dict[str, Callable[[Pool], Any]] = {
    "equal folded texts": lambda pool: (
        len({" ".join(t.lower().split()) for t in pool.texts}) < len(pool)
    ),
    "equal scores": lambda pool: len(set(pool.scores.tolist())) < len(pool),
    "scores that differ in the last bit": lambda pool: (
        0.5 in pool.scores and 0.5000000000000001 in pool.scores
    ),
    "a negative score": lambda pool: (pool.scores < 0).any(),
    "a free chunk": lambda pool: (pool.costs == 0).any(),
    "a chunk too long for the budget": lambda pool: (pool.costs > pool.budget).any(),
    "room for all of several": lambda pool: len(pool) > 3 and pool.costs.sum() <= pool.budget,
    "some embedded, some not": lambda pool: (
        pool.has_embedding.any() and not pool.has_embedding.all()
    ),
    "a zero vector": lambda pool: (
        pool.embeddings is not None and (pool.has_embedding & ~pool.embeddings.any(axis=1)).any()
    ),
    "opposite vectors": lambda pool: _cosines(pool).min(initial=0.0) == -1.0,
    "dates of every kind": lambda pool: (
        {int, str, dt.datetime} <= set(map(type, pool.column("timestamp")))
    ),
    "text beyond the BMP": lambda pool: any(max(map(ord, t)) > 0xFFFF for t in pool.texts),
    "text of one character": lambda pool: any(len(t) == 1 for t in pool.texts),
    "what supersedes another chunk": lambda pool: "c0" in pool.column("supersedes"),
}


def test_pools_have_every_feature_that_matters() -> None:
    made = sample(pools(), 500)
    missing = {name for name, has in FEATURES.items() if not any(map(has, made))}
    assert missing == set()


@given(chunk_lists(distinct_scores=True, embedded=True))
def test_scores_are_distinct_and_all_embedded_on_demand(chunks: list[Chunk]) -> None:
    assert len({chunk.score for chunk in chunks}) == len(chunks)
    assert all(chunk.embedding is not None and len(chunk.embedding) == 3 for chunk in chunks)


@given(chunk_lists(embedded=False))
def test_none_is_embedded_on_demand(chunks: list[Chunk]) -> None:
    assert all(chunk.embedding is None for chunk in chunks)
    assert {chunk.id for chunk in chunks} == {f"c{at}" for at in range(len(chunks))}


def test_untidy_chunks_have_missing_and_repeated_ids_and_blank_texts() -> None:
    made = sample(chunk_lists(named=False), 200)
    ids = [[chunk.id for chunk in chunks] for chunks in made]
    assert any({None, "chunk-1"} <= set(names) for names in ids)
    assert any(names.count("c0") > 1 for names in ids)
    assert any(not chunk.content.strip() for chunks in made for chunk in chunks)


def test_calls_are_of_a_fixed_moment_and_of_budgets_small_and_huge() -> None:
    assert NOW.utcoffset() == dt.timedelta(0)
    budgets = sample(BUDGETS, 100)
    assert min(budgets) == 1
    assert max(budgets) > 2**63


# -- catalogs of others ---------------------------------------------------------------------


@attrs.frozen(repr=False)
class Judged(Filter):
    """A field that nothing is known of, and one of a function."""

    name = "judged"
    judge: object
    by: Any = function()

    def __call__(self, pool: Pool, /) -> Pool:
        return pool


def a_filter(floor: float) -> Filter:
    return threshold(floor)


def test_words_may_be_classes_stages_functions_and_strategies() -> None:
    words = {
        "longest": Longest,
        "greedy": greedy,
        "threshold": CATALOG["threshold"],
        "ushape": st.just(ushape),
    }
    found = {repr(step).partition("(")[0] for step in map(_first, sample(policies_of(words), 60))}
    assert {"longest", "greedy", "threshold"} <= found
    made = sample(stages_of("longest", words), 60)
    assert {stage.strict for stage in made} == {True, False}
    assert len({stage.characters for stage in made}) > 5
    assert all(isinstance(stage.share, float) and isinstance(stage.key, str) for stage in made)


def _first(policy: Any) -> Any:
    return getattr(policy, "steps", (policy,))[0]


def test_words_that_say_too_little_are_refused_with_the_mend() -> None:
    with pytest.raises(PackError, match="'mine' is no word of the catalog"):
        stages_of("mine")
    with pytest.raises(PackError, match="no class of stages is known for the word 'mine'"):
        vocabulary({"mine": a_filter}).kind_of("mine")
    with pytest.raises(PackError, match="no values are known for judge of judged"):
        values_of(Judged, "judge")
    with pytest.raises(PackError, match="no values are known for by of judged"):
        values_of(Judged, "by")
    with pytest.raises(PackError, match="a policy needs a selector"):
        policies_of({"threshold": CATALOG["threshold"]})


def test_number_fields_with_a_domain_are_within_it() -> None:
    @attrs.frozen(repr=False)
    class Share(Filter):
        name = "share"
        share: float = number(0.0, 1.0, above=0.0)

        def __call__(self, pool: Pool, /) -> Pool:
            return pool

    made = sample(stages_of("share", {"share": Share}), 50)
    assert all(0.0 < stage.share <= 1.0 for stage in made)


# -- cases ----------------------------------------------------------------------------------


def test_cases_have_pins_quotas_and_budgets_at_the_edge() -> None:
    made = sample(cases(st.just(greedy)), 200)
    assert any(PINNED in chunk.metadata for case in made for chunk in case.chunks)
    assert any("cap" in repr(case.rules) for case in made)
    left = [case.budget - int(case.pool().costs.sum()) for case in made]
    assert {-1, 0, 1} <= set(left)
    places = sample(cases(st.just(ushape)), 100)
    assert any(len(case.selection()) < len(case.selection().pool) for case in places)


def test_rules_of_most_cases_bite() -> None:
    made = [case for case in sample(cases(st.just(greedy)), 200) if case.rules]
    bites = {"pin": 0, "cap": 0, "overlap": 0}
    for case in made:
        free = greedy(case.pool()).ids
        for rule in case.rules:
            try:
                bites[rule.name] += greedy(rule(case.pool())).ids != free
            except OverBudget:  # the pins alone
                continue
    least = {"pin": 15, "cap": 15, "overlap": 3}  # few lists overlap
    assert all(bites[name] > least[name] for name in least), bites


def test_some_generated_calls_charge_a_chunk_less_than_it_has() -> None:
    words = {"overlap": CATALOG["overlap"], "greedy": greedy}
    calls = sample(requests(policies_of(words)), 300)
    packed = [call.packed() for call in calls if "overlap" in repr(call.policy)]
    less = [one for one in packed if any(chunk.charged < chunk.tokens for chunk in one)]
    assert len(less) > 10
