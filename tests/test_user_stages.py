"""Stages of a user's own: subclasses of Filter, Selector and Order, under the checks of `pack`."""

from collections.abc import Callable

import attrs
import numpy as np
import pytest

from packer import Chunk, Filter, Layout, Order, Packer, PackError, Pool, Selection, Selector, pack
from packer.algebra import Policy
from packer.errors import InvalidStrategy
from strategies import CATALOG, by_score, greedy, mmr, parse, threshold, ushape

CHUNKS = [
    Chunk("Refunds take five days.", 0.9, id="refund", tokens=40),
    Chunk("We ship on every working day.", 0.7, id="ship", tokens=30),
    Chunk("Gift cards cannot be returned.", 0.5, id="gift", tokens=31),
]


@attrs.frozen(repr=False)
class Shorter(Filter):
    name = "shorter"
    tokens: int

    def __call__(self, pool: Pool, /) -> Pool:
        return pool.keep(pool.tokens <= self.tokens, reason="metadata", detail="too long")


@attrs.frozen(repr=False)
class Choice(Selector):
    """Chooses fixed rows."""

    rows: tuple[int, ...]

    def __call__(self, pool: Pool, /) -> Selection:
        return pool.select(list(self.rows))


@attrs.frozen(repr=False)
class Arrangement(Order):
    """Shows fixed places."""

    places: tuple[int, ...]

    def __call__(self, selection: Selection, /) -> Layout:
        return selection.arrange(list(self.places))


@attrs.frozen(repr=False)
class Does(Filter):
    """Any function in the place of a filter."""

    does: Callable[[Pool], object]

    def __call__(self, pool: Pool, /) -> Pool:
        return self.does(pool)  # type: ignore[return-value]  # what a user may get wrong


@attrs.frozen(repr=False)
class Selects(Selector):
    """Any function in the place of a selector."""

    does: Callable[[Pool], object]

    def __call__(self, pool: Pool, /) -> Selection:
        return self.does(pool)  # type: ignore[return-value]  # what a user may get wrong


@attrs.frozen(repr=False)
class Arranges(Order):
    """Any function in the place of an order."""

    does: Callable[[Selection], object]

    def __call__(self, selection: Selection, /) -> Layout:
        return self.does(selection)  # type: ignore[return-value]  # what a user may get wrong


def refused(policy: Policy, budget: int = 200) -> PackError:
    with pytest.raises(InvalidStrategy) as caught:
        pack(CHUNKS, policy, budget=budget)
    assert caught.value.code == "INVALID_STRATEGY"
    with pytest.raises(InvalidStrategy):  # the path without records checks the same
        Packer(policy, budget=budget).select(Pool.from_chunks(CHUNKS))
    return caught.value


# -- stages that keep the contract ---------------------------------------------------------


def test_own_filter_excludes_under_its_own_text() -> None:
    packed = pack(CHUNKS, Shorter(31) | greedy, budget=100)
    assert [chunk.id for chunk in packed] == ["ship", "gift"]
    [out] = packed.report.excluded
    assert (out.id, out.reason, out.stage, out.detail) == (
        "refund",
        "metadata",
        "shorter(31)",
        "too long",
    )


def test_own_selector_gives_reasons_without_a_line_of_its_own() -> None:
    packed = pack(CHUNKS, Choice((2,)), budget=70)
    assert [chunk.id for chunk in packed] == ["gift"]
    assert {out.id: (out.reason, out.detail) for out in packed.report.excluded} == {
        "refund": ("budget", "needs 1 more tokens"),
        "ship": ("strategy", "its 30 tokens would fit in the 39 left"),
    }
    assert packed.report.strategy == "Choice"


def test_own_order_is_shown() -> None:
    packed = pack(CHUNKS, greedy | Arrangement((1, 2, 0)), budget=200)
    assert [chunk.id for chunk in packed] == ["ship", "gift", "refund"]
    assert packed.report.ordering == "Arrangement"
    assert packed.report.policy == "greedy | Arrangement([1, 2, 0])"


def test_own_stages_compare_hash_and_compose_as_ours() -> None:
    policy = threshold(0.6) | Shorter(31) | greedy | ushape
    assert policy == threshold(0.6) | (Shorter(31) | (greedy | ushape))
    assert policy != threshold(0.6) | Shorter(30) | greedy | ushape
    assert hash(policy) == hash(threshold(0.6) | Shorter(31) | greedy | ushape)
    with pytest.raises(PackError, match="does not compose") as caught:
        _ = Choice((0,)) | Shorter(1)  # type: ignore[operator]
    assert caught.value.code == "INVALID_POLICY"


def test_own_stage_is_parsed_from_a_larger_catalog() -> None:
    policy = Shorter(31) | mmr(0.7)
    assert str(policy) == "shorter(31) | mmr(0.7)"
    assert parse(str(policy), {**CATALOG, "shorter": Shorter}) == policy
    with pytest.raises(PackError, match="there is no stage 'shorter'"):
        parse(str(policy))


# -- selectors that break it ---------------------------------------------------------------


def test_selection_over_budget_by_one_token_is_refused() -> None:
    assert len(pack(CHUNKS, Choice((0, 1)), budget=70)) == 2
    error = refused(Choice((0, 1)), budget=69)
    assert error.details["over"] == 1
    assert error.details["stage"] == "Choice([0, 1])"


def test_overhead_counts_for_the_budget_of_a_selection() -> None:
    assert len(pack(CHUNKS, Choice((0, 1)), budget=72, overhead=1)) == 2
    with pytest.raises(InvalidStrategy) as caught:
        pack(CHUNKS, Choice((0, 1)), budget=71, overhead=1)
    assert caught.value.details["over"] == 1


def test_chunk_chosen_twice_is_refused_by_its_id() -> None:
    error = refused(Choice((1, 0, 1)))
    assert error.details["id"] == "ship"


@pytest.mark.parametrize("row", [3, -1])
def test_foreign_row_is_refused(row: int) -> None:
    error = refused(Choice((0, row)))
    assert error.details["row"] == row


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([0.0, 1.0], id="floats"),
        pytest.param([True, False, True], id="a mask"),
        pytest.param([[0], [1]], id="a matrix"),
        pytest.param(["refund"], id="ids"),
        pytest.param(1, id="one number"),
    ],
)
def test_selection_that_is_no_list_of_rows_is_refused(rows: object) -> None:
    refused(Selects(lambda pool: pool.select(rows)))  # type: ignore[arg-type]


async def _later(pool: Pool) -> Selection:
    return pool.select([0])


@pytest.mark.parametrize(
    "does",
    [
        pytest.param(lambda _: None, id="None"),
        pytest.param(lambda _: [0, 1], id="rows"),
        pytest.param(lambda pool: pool, id="the pool"),
        pytest.param(lambda pool: pool.select([0]).arrange([0]), id="a layout"),
        pytest.param(_later, id="a coroutine"),
    ],
)
def test_selector_that_gives_no_selection_is_refused(does: Callable[[Pool], object]) -> None:
    error = refused(Selects(does))
    assert "it must give a selection (Selection)" in error.message


def test_selection_that_forgets_the_rest_is_refused() -> None:
    error = refused(Selects(lambda pool: Selection(pool=pool, chosen=np.array([0, 1]))))
    assert "had 3 chunks to account for and accounts for 2" in error.message


def test_selection_over_budget_made_around_the_check_is_refused() -> None:
    every = Selects(lambda pool: Selection(pool=pool, chosen=np.arange(3)))
    assert pack(CHUNKS, every, budget=101).report.tokens_used == 101
    refused(every, budget=100)


def test_chunk_twice_made_around_the_check_is_refused() -> None:
    refused(Selects(lambda pool: attrs.evolve(pool.select([0, 1]), chosen=np.array([0, 0]))))


# -- filters that break it -----------------------------------------------------------------


def test_filter_that_drops_silently_is_refused() -> None:
    def drop(pool: Pool) -> Pool:
        return attrs.evolve(pool, table_rows=pool.table_rows[:1], scores=pool.scores[:1])

    error = refused(Does(drop) | greedy)
    assert "had 3 chunks to account for and accounts for 1" in error.message


def test_filter_that_forgets_what_was_excluded_before_is_refused() -> None:
    error = refused(threshold(0.6) | Does(lambda pool: attrs.evolve(pool, cuts=())) | greedy)
    assert "had 3 chunks to account for and accounts for 2" in error.message


def test_filter_that_doubles_a_row_in_the_place_of_another_is_refused() -> None:
    refused(Does(lambda pool: attrs.evolve(pool, table_rows=pool.table_rows[[0, 0, 1]])) | greedy)


@pytest.mark.parametrize(
    "does",
    [
        pytest.param(lambda _: None, id="None"),
        pytest.param(lambda pool: pool.select([0]), id="a selection"),
        pytest.param(lambda pool: pool.keep([True], reason="metadata"), id="a short mask"),
        pytest.param(lambda pool: pool.keep([0, 1, 2], reason="metadata"), id="rows for a mask"),
        pytest.param(lambda pool: pool.rescore([1.0]), id="too few scores"),
        pytest.param(lambda pool: pool.rescore([1.0, float("nan"), 0.0]), id="NaN"),
        pytest.param(lambda pool: pool.rescore([1.0, float("inf"), 0.0]), id="infinity"),
    ],
)
def test_filter_that_gives_no_pool_of_its_rows_is_refused(does: Callable[[Pool], object]) -> None:
    refused(Does(does) | greedy)


def test_filter_cannot_write_into_the_columns() -> None:
    def write(pool: Pool) -> Pool:
        pool.scores[0] = 5.0
        return pool

    with pytest.raises(ValueError, match="read-only"):
        pack(CHUNKS, Does(write) | greedy, budget=100)


# -- orders that break it ------------------------------------------------------------------


@pytest.mark.parametrize(
    "places",
    [
        pytest.param((0, 1), id="drops one"),
        pytest.param((0, 1, 1), id="shows one twice"),
        pytest.param((0, 1, 3), id="shows a foreign one"),
        pytest.param((0, 1, 2, 0), id="adds one"),
        pytest.param((), id="drops all"),
    ],
)
def test_order_that_is_no_permutation_is_refused(places: tuple[int, ...]) -> None:
    error = refused(greedy | Arrangement(places))
    assert "an order is a permutation of 0..2" in error.message


def test_order_that_gives_a_selection_is_refused() -> None:
    error = refused(greedy | Arranges(lambda selection: selection))
    assert "it must give a layout" in error.message


def test_order_that_drops_around_the_check_is_refused() -> None:
    def forge(selection: Selection) -> Layout:
        return Layout(selection=selection, order=np.array([0]))

    refused(greedy | Arranges(forge))


def test_order_that_changes_the_selection_around_the_check_is_refused() -> None:
    def forge(selection: Selection) -> Layout:
        other = selection.pool.keep([True, True, False], reason="metadata").select([0, 1])
        return by_score(other)

    refused(threshold(0.6) | greedy | Arranges(forge))
