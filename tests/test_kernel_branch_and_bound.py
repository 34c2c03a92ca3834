"""The parts of branch and bound, how it shares out its limit, and what it gives on fixed pools."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from packer.kernels import branch_and_bound, multiple_choice
from packer.kernels.branch_and_bound import needed, slots_of
from packer.kernels.rules import Ints, Rules

from . import naive_rules as naive
from .test_kernel_knapsack import spread_out
from .test_kernel_rules import NO_LIMIT, bound_pools, ints, rules_of


def test_slots_are_what_is_left_of_a_quota_in_its_smallest_rows() -> None:
    """For each key; as many as there are rows where the smallest is 0 or no quota binds."""
    other = ([0, 0, 0, 0, 0], [9, 9, 9, 9, 9], 0, 20)
    quota = ([0, 0, 1, 2, -1], [2, 3, 4, 0, 9], 0, 10)
    rule = rules_of(5, quotas=[other, quota])
    grain = ints([2, 4, 0, 2**62])  # the last is that of the rows that are not bound
    for start, expected in (
        ([], [5, 2, 5, 5]),
        ([1], [3, 2, 5, 5]),
        ([0, 1, 2], [2, 1, 5, 5]),
        ([3, 4], [5, 2, 5, 5]),
    ):
        assert slots_of(ints(start), rule, 1, grain).tolist() == expected
    assert slots_of(ints([0, 1]), rule, -1, ints([0])).tolist() == [5]


def kept(values: list[int], costs: list[int], rule: Rules, chosen: set[int]) -> list[int]:
    flags = np.array([row in chosen for row in range(len(values))])
    return np.flatnonzero(needed(flags, ints(values), ints(costs), 10, rule)).tolist()


def test_rows_worth_nothing_stay_where_a_rule_asks_for_them() -> None:
    """A pin, what is needed, and of what counts for a least as much as is short."""
    values, costs = [1, 0, 0, 0, 0, 0], [1] * 6
    everything = set(range(6))
    assert kept(values, costs, rules_of(6), everything) == [0]
    assert kept([1] * 6, costs, rules_of(6), everything) == [0, 1, 2, 3, 4, 5]
    assert kept(values, costs, rules_of(6, pins={4}), everything) == [0, 4]
    assert kept(values, costs, rules_of(6, needs={(0, 3), (3, 5)}), everything) == [0, 3, 5]
    assert kept(values, costs, rules_of(6, needs={(0, 1)}), everything) == [0, 1]
    two = ([0, 0, 0, 1, 1, -1], [1, 1, 1, 0, 1, 1], 2, NO_LIMIT)
    one = ([0, 0, 0, 0, 1, 1], [1] * 6, 1, NO_LIMIT)
    assert kept(values, costs, rules_of(6, quotas=[two]), everything) == [0, 1, 4]
    assert kept(values, costs, rules_of(6, quotas=[one]), everything) == [0, 4]
    assert kept(values, costs, rules_of(6, quotas=[one]), {0, 2, 3, 5}) == [0, 5]
    assert kept(values, costs, rules_of(6, quotas=[one, two]), everything) == [0, 1, 4]
    at_most = ([0] * 6, [1] * 6, 0, 6)
    assert kept(values, costs, rules_of(6, quotas=[at_most]), everything) == [0]
    brought = rules_of(6, quotas=[two], needs={(1, 4)})
    assert kept(values, costs, brought, everything) == [0, 1, 4]


def a_fixed_pool(n: int, kinds: str) -> tuple[Ints, Ints, int, Rules]:
    """A pool that is the same everywhere, under rules of these kinds."""
    numbers = spread_out(6 * n, 10**6).reshape(6, n)
    values, costs = numbers[0], numbers[1] % 300 + 1
    source = (numbers[2] % (n // 6)).tolist()
    quotas = []
    if "q" in kinds:
        quotas.append((source, [1] * n, 0, 2))
    if "t" in kinds:
        quotas.append(([row % 2 for row in range(n)], costs.tolist(), 0, 9 * n))
    if "l" in kinds:
        quotas.append((source, [1] * n, 1, NO_LIMIT))
    pairs = {(row, int(numbers[3, row]) % n) for row in range(0, n, 2)}
    needs = {(row, int(numbers[4, row]) % n) for row in range(1, n, 2)}
    rule = rules_of(
        n,
        pins={n // 2} if "p" in kinds else set(),
        quotas=quotas,
        rivals={(a, b) for a, b in pairs if a != b} if "r" in kinds else set(),
        needs={(a, b) for a, b in needs if a != b} if "n" in kinds else set(),
    )
    return ints(values), ints(costs), 30 * n, rule


@pytest.mark.parametrize(
    ("n", "kinds", "limit", "expected"),
    [
        (12, "q", 0, (2_686_729, 2_699_135)),
        (12, "r", 0, (2_623_482, 2_733_032)),
        (12, "n", 0, (1_721_322, 2_484_945)),
        (12, "n", 1000, (1_721_322, 2_454_147)),
        (12, "rn", 1000, (2_209_492, 2_419_946)),
        (12, "qn", 0, (1_669_724, 2_397_551)),
        (12, "qp", 0, (1_471_209, 2_250_676)),
        (24, "q", 0, (5_276_181, 5_513_091)),
        (24, "t", 0, (3_556_899, 4_488_025)),
        (24, "t", 10_000, (3_962_935, 3_962_935)),
        (24, "r", 10_000, (5_241_157, 5_404_565)),
        (24, "qn", 0, (4_947_433, 5_324_459)),
        (24, "qtrn", 10_000, (3_479_097, 3_479_097)),
        (24, "qtlrnp", 0, (2_456_167, 3_281_297)),
        (24, "qp", 0, (5_173_239, 5_182_850)),
        (24, "tp", 0, (3_453_957, 3_453_957)),
        (40, "q", 0, (8_084_228, 8_256_863)),
        (40, "q", 10_000, (8_127_074, 8_127_074)),
        (40, "n", 0, (8_619_212, 8_695_063)),
        (40, "rn", 0, (8_203_429, 8_601_715)),
        (40, "qn", 10_000, (7_678_968, 7_787_150)),
        (40, "qtrn", 0, (5_859_518, 6_209_875)),
        (40, "ql", 1000, (7_848_834, 8_257_874)),
        (40, "ql", 10_000, (7_922_432, 8_257_874)),
        (40, "p", 0, (8_924_715, 9_028_308)),
        (40, "p", 1000, (8_924_715, 9_019_802)),
        (40, "qp", 0, (7_848_834, 8_256_863)),
    ],
)
def test_fixed_pools_give_what_they_gave(
    n: int, kinds: str, limit: int, expected: tuple[int, int]
) -> None:
    """The total and the bound where the limit ends the search depend on nothing but it."""
    values, costs, capacity, rule = a_fixed_pool(n, kinds)
    chosen, bound, proven, feasible = branch_and_bound.solve(values, costs, capacity, rule, limit)
    total = int(values[chosen].sum())
    assert (total, bound) == expected
    assert feasible
    assert proven == (total == bound)


@given(bound_pools())
def test_with_no_work_it_is_as_good_as_the_density_walk(
    pool: tuple[Ints, Ints, int, Rules],
) -> None:
    """Which takes what the rules ask for, then rows by value per token."""
    values, costs, capacity, rule = pool
    order = np.argsort(-values / np.maximum(costs, 1), kind="stable").tolist()
    met, fine = naive.base(order, costs.tolist(), capacity, rule)
    if fine:
        added = naive.walk(order, costs.tolist(), capacity, rule, met)
        chosen = branch_and_bound.solve(values, costs, capacity, rule, 0)[0]
        assert values[chosen].sum() >= values[[*met, *added]].sum()


def calls_of(
    name: str, monkeypatch: pytest.MonkeyPatch, module: object = branch_and_bound
) -> list[tuple[Any, ...]]:
    """The arguments of each call of a part from here on."""
    calls: list[tuple[Any, ...]] = []
    part: Callable[..., object] = getattr(module, name)

    def called(*args: Any) -> object:
        calls.append(args)
        return part(*args)

    monkeypatch.setattr(module, name, called)
    return calls


@pytest.mark.parametrize(("kinds", "limit", "tries"), [("qn", 9900, 99), ("q", 9900, 0)])
def test_local_searches_take_a_hundredth_of_the_limit(
    kinds: str, limit: int, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after each of three lengths of the steps and one of the density; none where all the
    rules are in the relaxation."""
    values, costs, capacity, rule = a_fixed_pool(40, kinds)
    improved = calls_of("improved", monkeypatch)
    priced = calls_of("priced", monkeypatch)
    branch_and_bound.solve(values, costs, capacity, rule, limit)
    assert [args[-1] for args in improved] == [tries] * 4
    assert [args[-3:-1] for args in priced] == [(1.0, 100), (0.7, 100), (0.5, 100)]


@pytest.mark.parametrize(("value", "rounds"), [(5, 1), (2, 3), (3, 3)])
def test_prices_rest_once_the_bound_is_met(
    value: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A better subset has one more at least; a half row of value 2 adds so much, and one of 3 more.

    The first price is the value per token of the first row that does not fit, the goal what is
    known to be reached.
    """
    priced = calls_of("priced", monkeypatch)
    values, costs = ints([value, 0, value]), ints([2, 0, 2])
    rule = rules_of(3, needs={(0, 1)})
    capacity = 4 if value == 5 else 3
    chosen, *_ = branch_and_bound.solve(values, costs, capacity, rule, 10**6)
    assert chosen.sum() == (3 if value == 5 else 2)
    assert len(priced) == rounds
    assert [args[10] for args in priced] == [0, value, value][:rounds]
    assert priced[0][11] == (0.0 if value == 5 else value / 2)


def test_the_first_price_is_that_of_the_first_row_that_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By value per token; 0 where all fit together."""
    priced = calls_of("priced", monkeypatch)
    rule = rules_of(5, needs={(3, 2)})
    values, costs = ints([12, 9, 3, 1, 7]), ints([2, 2, 1, 2, 0])
    for capacity in (3, 4, 5, 7):
        branch_and_bound.solve(values, costs, capacity, rule, 0)
    starts = [args[11] for args in priced if args[13] == 1.0]
    assert starts == [4.5, 3.0, 0.5, 0.0]


def test_two_pins_and_what_they_need() -> None:
    """All of them are in, though nothing else would be."""
    rule = rules_of(5, pins={0, 3}, needs={(3, 4)})
    result = branch_and_bound.solve(ints([0, 5, 6, 0, 0]), ints([1] * 5), 4, rule, 10**6)
    assert result[0].tolist() == [True, False, True, True, True]
    assert result[1:] == (6, True, True)


def test_a_least_that_only_rows_too_dear_could_meet() -> None:
    """Nothing satisfies it, and all rules that are left are ones of the relaxation."""
    values, costs = ints([5, 0]), ints([1, 9])
    rule = rules_of(2, quotas=[([0, 1], [1, 1], 1, NO_LIMIT)])
    result = branch_and_bound.solve(values, costs, 8, rule, 1000)
    assert not result[0].any()
    assert result[1:] == (0, True, False)
    assert branch_and_bound.solve(ints([0, 0]), costs, 10, rule, 1000)[1:] == (0, True, True)


def test_a_multiple_choice_takes_an_eighth_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state takes more than the visit of a row."""
    calls = calls_of("solve", monkeypatch, multiple_choice)
    rule = rules_of(4, rivals={(0, 1), (2, 3)})
    result = branch_and_bound.solve(ints([5, 4, 3, 9]), ints([2, 1, 1, 2]), 3, rule, 803)
    assert result[1:] == (13, True, True)
    assert [args[-1] for args in calls] == [100]
