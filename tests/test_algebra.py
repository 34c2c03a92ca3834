import copy
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from packer import Chunk, Filter, Layout, Order, PackError, Pool, Selection, Selector, pack
from packer.algebra import Chain, Step, advance, checked_policy, steps_of
from strategies import (
    CATALOG,
    by_score,
    dedup,
    greedy,
    mmr,
    natural,
    threshold,
    top,
    ushape,
    where,
)

POLICY = threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape


def test_composition_is_flat_and_associative() -> None:
    a, b, c, d = threshold(0.6), dedup(0.85), mmr(0.7), ushape
    assert (a | b) | (c | d) == a | (b | (c | d)) == ((a | b) | c) | d
    assert hash((a | b) | (c | d)) == hash(a | (b | (c | d)))
    assert steps_of((a | b) | (c | d)) == (a, b, c, d)
    assert repr(a | (b | c)) == "threshold(0.6) | dedup(0.85) | mmr(0.7)"


def test_a_stage_is_a_value() -> None:
    assert threshold(0.6) == threshold(0.6)
    assert threshold(0.6) != threshold(0.7)
    assert threshold(0.6) != top(1)
    assert threshold(0.0) == threshold(-0.0)
    assert hash(threshold(1)) == hash(threshold(1.0))
    assert len({threshold(0.6), threshold(0.6), dedup(0.85), dedup()}) == 2
    assert threshold(0.6) | dedup() | mmr(0.7) | ushape == POLICY
    assert threshold(0.6) | dedup() | mmr(0.7) | by_score != POLICY


@pytest.mark.parametrize("policy", [greedy, threshold(0.6), POLICY], ids=repr)
def test_a_stage_can_be_copied_and_pickled(policy: Any) -> None:
    for twin in (
        copy.copy(policy),
        copy.deepcopy(policy),
        pickle.loads(pickle.dumps(policy)),
    ):
        assert twin == policy
        assert hash(twin) == hash(policy)
        assert repr(twin) == repr(policy)


@pytest.mark.parametrize("policy", [threshold(0.6), POLICY], ids=repr)
def test_a_stage_is_frozen(policy: Any) -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(policy, attrs.fields(type(policy))[0].name, 1)


@pytest.mark.parametrize("policy", [greedy, POLICY], ids=repr)
def test_a_stage_has_no_truth_value(policy: Any) -> None:
    with pytest.raises(PackError, match="a stage has no truth value") as caught:
        policy and ushape  # noqa: B018  # the misuse is the point
    assert caught.value.code == "INVALID_POLICY"
    assert caught.value.details == {"stage": repr(policy)}
    assert f"write {policy!r} | ..." in caught.value.message


@pytest.mark.parametrize("other", [None, 3, "greedy", threshold, [greedy], object()])
def test_what_is_no_stage_is_refused_on_both_sides(other: Any) -> None:
    compositions: list[Callable[[], Any]] = [lambda: greedy | other, lambda: other | ushape]
    for compose in compositions:
        with pytest.raises(PackError, match="is no stage") as caught:
            compose()
        assert caught.value.code == "INVALID_POLICY"
        assert caught.value.details == {"value": other}


def test_a_callable_without_a_name_is_told_to_be_called() -> None:
    class Nameless:
        def __call__(self) -> None: ...

    with pytest.raises(PackError, match=r"call it, as in it\(\.\.\.\)"):
        greedy | Nameless()  # type: ignore[operator]


def test_a_policy_ends_in_a_selection_or_a_layout() -> None:
    assert checked_policy(greedy) == (greedy,)
    assert checked_policy(POLICY)[-1] == ushape
    with pytest.raises(PackError, match="selects nothing; add a selector") as caught:
        checked_policy(threshold(0.6) | dedup())
    assert caught.value.details == {"policy": "threshold(0.6) | dedup(0.85)"}
    with pytest.raises(PackError, match=r"begin with a selector, such as greedy | natural"):
        checked_policy(natural)


def test_the_middle_of_a_policy_is_named_when_it_misfits() -> None:
    with pytest.raises(PackError) as caught:
        (greedy | ushape) | (threshold(0.6) | greedy)  # type: ignore[operator]
    assert caught.value.details == {"before": "ushape", "after": "threshold(0.6)"}


def test_a_chain_made_by_hand_is_checked_too() -> None:
    with pytest.raises(PackError, match="does not compose"):
        Chain((greedy, greedy))


def test_every_stage_of_the_catalog_is_one_or_makes_one() -> None:
    constants = {word for word, stage in CATALOG.items() if isinstance(stage, Step)}
    assert constants == {
        "greedy",
        "prefix",
        "density",
        "knapsack",
        "natural",
        "by_score",
        "ushape",
        "document",
        "reverse",
    }
    for word in constants:
        assert repr(CATALOG[word]) == word
    for word in set(CATALOG) - constants:
        assert callable(CATALOG[word])
        assert not isinstance(CATALOG[word], type)  # a forgotten call must be a type error


# -- running --------------------------------------------------------------------------------


def test_a_composition_is_a_function_of_a_pool() -> None:
    pool = Pool.from_arrays([0.9, 0.5, 0.7], [1, 1, 1], budget=2)
    narrowed = (threshold(0.6) | top(1))(pool)
    assert narrowed.ids == ["chunk-0"]
    assert [(cut.stage, cut.rows.tolist()) for cut in narrowed.cuts] == [
        ("threshold(0.6)", [1]),
        ("top(1)", [2]),
    ]
    assert (threshold(0.6) | greedy)(pool).ids == ["chunk-0", "chunk-2"]
    assert (greedy | ushape)(pool).ids == ["chunk-0", "chunk-2"]
    assert isinstance((greedy | ushape)(pool), Layout)


@attrs.frozen(repr=False)
class Most(Filter):
    """A stage of a user's own: a positional argument, one by name, a default."""

    tokens: int
    slack: int = attrs.field(default=0, kw_only=True)
    label: str = attrs.field(default="x", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        kept = pool.tokens <= self.tokens + self.slack
        return pool.keep(kept, reason="metadata", detail="too long")


class Plain(Selector):
    """A stage without fields, and without attrs."""

    name = "plain"

    def __call__(self, pool: Pool, /) -> Selection:
        return pool.select([])


def test_a_stage_of_ones_own_prints_its_arguments() -> None:
    assert repr(Most(3)) == "Most(3)"
    assert repr(Most(3, slack=2)) == "Most(3, slack=2)"
    assert repr(Most(3, label='a "b"')) == 'Most(3, label="a \\"b\\"")'
    assert repr(Plain()) == "plain()"
    assert Most.name == "Most"


def test_a_stage_of_ones_own_runs_and_is_reported() -> None:
    chunks = [Chunk("a", 0.9, tokens=9, id="long"), Chunk("b", 0.8, tokens=2, id="short")]
    packed = pack(chunks, Most(3, slack=1) | greedy, budget=99)
    assert [one.id for one in packed] == ["short"]
    assert packed.why("long") == "long is out, metadata, by Most(3, slack=1): too long"
    assert pack(chunks, Plain(), budget=99).report.strategy == "plain"


class _Gives(Filter):
    """A filter that breaks its contract by giving what it was told to."""

    def __init__(self, make: Any) -> None:
        self.make = make

    def __call__(self, pool: Pool, /) -> Pool:
        given: Pool = self.make(pool)
        return given

    def __repr__(self) -> str:
        return "gives"


async def _never() -> None: ...


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda pool: None, "gives gave None; it must give candidates (Pool)"),
        (lambda pool: pool.select([]), "it must give candidates (Pool)"),
        (lambda pool: _never(), "it must give candidates (Pool)"),
    ],
    ids=["none", "selection", "coroutine"],
)
def test_a_stage_that_gives_something_else_is_refused(make: Any, shown: str) -> None:
    with pytest.raises(PackError) as caught:
        pack([Chunk("a", 0.9)], _Gives(make) | greedy, budget=9)
    assert caught.value.code == "INVALID_STRATEGY"
    assert caught.value.details == {"stage": "gives"}
    assert shown in caught.value.message


def test_a_filter_that_drops_silently_is_refused() -> None:
    def drops(pool: Pool) -> Pool:
        return attrs.evolve(pool, table_rows=pool.table_rows[:1], scores=pool.scores[:1])

    with pytest.raises(PackError) as caught:
        pack([Chunk("a", 0.9), Chunk("b", 0.8)], _Gives(drops) | greedy, budget=9)
    assert caught.value.code == "INVALID_STRATEGY"
    assert caught.value.message == (
        "gives had 2 chunks to account for and accounts for 1; "
        "narrow a pool by pool.keep, choose by pool.select"
    )


@attrs.frozen(repr=False)
class _Chooses(Selector):
    """A selector that makes its selection by hand, around `pool.select`."""

    name = "chooses"
    make: Any

    def __call__(self, pool: Pool, /) -> Selection:
        made: Selection = self.make(pool)
        return made

    def __repr__(self) -> str:
        return "chooses"


def _over(pool: Pool) -> Selection:
    return attrs.evolve(pool.select([0]), chosen=np.array([0, 1]), pool=pool)


def _twice(pool: Pool) -> Selection:
    return attrs.evolve(pool.select([]), chosen=np.array([0, 0]), pool=pool)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_over, "chooses shows 4 tokens of a budget of 3; choose by pool.select, which checks"),
        (
            _twice,
            (
                "a stage of this policy made its own pool or selection: chunk 'chunk-0' is in or "
                "out 2 times; narrow a pool by pool.keep, choose by pool.select"
            ),
        ),
    ],
)
def test_a_selection_made_by_hand_is_audited(make: Any, message: str) -> None:
    chunks = [Chunk("a", 0.9, tokens=1), Chunk("b", 0.8, tokens=3)]
    with pytest.raises(PackError) as caught:
        pack(chunks, _Chooses(make), budget=3)
    assert caught.value.code == "INVALID_STRATEGY"
    assert caught.value.message == message


def test_a_stage_sees_its_own_text() -> None:
    seen = []

    def looks(pool: Pool) -> Pool:
        seen.append(pool.stage)
        return pool

    advance(_Gives(looks), Pool.from_arrays([0.9], [1]), "its text")
    assert seen == ["its text"]


def test_an_order_of_ones_own_arranges_places() -> None:
    class Swapped(Order):
        name = "swapped"

        def __call__(self, selection: Selection, /) -> Layout:
            return selection.arrange(list(range(len(selection)))[::-1])

    packed = pack([Chunk("a", 0.9), Chunk("b", 0.8)], greedy | Swapped(), budget=9)
    assert packed.text("") == "ba"
    assert packed.report.ordering == "swapped"


def test_where_needs_a_condition() -> None:
    with pytest.raises(PackError, match="at least one condition") as caught:
        where()
    assert caught.value.code == "INVALID_PARAMETER"
