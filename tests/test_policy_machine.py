"""The state machine composes what the library has without a fault, and finds a planted one."""

from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from packer import PackError, Pool, Selection, Selector
from packer.arrays import best_first
from packer.testing import policy_machine
from strategies import greedy, threshold, ushape
from strategies.greedy import fill

few = settings(
    max_examples=15,
    stateful_step_count=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

TestPolicies = policy_machine().TestCase
TestPolicies.settings = few


@attrs.frozen(repr=False)
class OneMore(Selector):
    """Greedy with one token more than there is."""

    name = "one_more"
    is_constant = True

    def __call__(self, pool: Pool, /) -> Selection:
        return pool.select(fill(best_first(pool.scores), pool.costs, pool.capacity + 1))


def test_machine_finds_a_selector_over_budget() -> None:
    machine: Any = policy_machine({"one_more": OneMore(), "ushape": ushape})
    with pytest.raises(PackError, match="a selector must stay within it"):
        run_state_machine_as_test(
            machine, settings=settings(few, max_examples=100, phases=[Phase.generate])
        )


def test_machine_takes_a_catalog_of_a_selector_alone() -> None:
    run_state_machine_as_test(policy_machine({"greedy": greedy}), settings=few)


def test_catalog_without_a_selector_is_refused() -> None:
    with pytest.raises(PackError, match="a policy needs a selector"):
        policy_machine({"threshold": threshold})
