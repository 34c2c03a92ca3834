"""The state machine composes what the library has without a fault, and finds a planted one."""

from itertools import count
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from packer import Layout, Packed, PackError, Pool, Selection, Selector, pack
from packer.arrays import best_first
from packer.errors import InvalidParameter
from packer.testing import calls, policy_machine
from strategies import greedy, threshold, ushape
from strategies.greedy import fill

from .planted import Arranges, Narrows, Selects

few = settings(
    max_examples=15,
    stateful_step_count=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

many = settings(few, max_examples=500, phases=[Phase.generate])

TestPolicies = policy_machine().TestCase
TestPolicies.settings = few


@attrs.frozen(repr=False)
class OneMore(Selector):
    """Greedy with one token more than there is."""

    name = "one_more"
    is_constant = True

    def __call__(self, pool: Pool, /) -> Selection:
        return pool.select(fill(best_first(pool.scores), pool.costs, pool.capacity + 1))


def found(error: type[Exception], told: str, **words: Any) -> str:
    """What the machine finds in the words, and what it says beside the error."""
    with pytest.raises(error, match=told) as caught:
        run_state_machine_as_test(policy_machine(words), settings=many)
    return "\n".join(caught.value.__notes__)


def test_machine_finds_a_selector_over_budget() -> None:
    told = found(PackError, "a selector must stay within it", one_more=OneMore(), ushape=ushape)
    assert "It breaks the law " in told
    assert "from packer import Chunk, pack\n" in told


def test_machine_finds_an_error_of_a_stage_of_the_kind_that_refusals_have() -> None:
    def choose(pool: Pool) -> Selection:
        if len(pool) > 1:
            raise InvalidParameter("a slip of its own")
        return greedy(pool)

    words = {"slips": Selects(choose)}
    found(PackError, "a slip of its own", **words)
    machine = policy_machine(words, may_refuse=["INVALID_PARAMETER"])
    run_state_machine_as_test(machine, settings=few)


def test_machine_finds_a_filter_that_forgets_pins() -> None:
    words = {"forgets": Narrows(lambda pool: pool.with_rules(())), "greedy": greedy}
    assert "the law pins_are_packed" in found(AssertionError, "are not packed; pin", **words)


def test_machine_finds_an_order_that_turns() -> None:
    turns = count()

    def turn(selection: Selection) -> Layout:
        places = np.arange(len(selection))
        return selection.arrange(places[:: 1 if next(turns) % 2 else -1])

    words = {"greedy": greedy, "turns": Arranges(turn)}
    found(AssertionError, "at 0 first .* is packed, then", **words)


def test_machine_finds_a_text_over_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_one_token(*given: Any, **options: Any) -> Packed:
        packed = pack(*given, **options)
        if options["template"] is None or not len(packed):
            return packed
        return attrs.evolve(packed, report=attrs.evolve(packed.report, budget=1))

    monkeypatch.setattr(calls, "pack", in_one_token)
    told = found(AssertionError, "tokens, the budget is 1", greedy=greedy)
    assert "the law rendered_text_fits" in told


def test_machine_finds_an_id_without_a_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Packed, "why", lambda packed, id_: "")
    found(AssertionError, "breaks the law every_id_has_a_why", greedy=greedy)


def test_machine_takes_a_catalog_of_a_selector_alone() -> None:
    run_state_machine_as_test(policy_machine({"greedy": greedy}), settings=few)


def test_catalog_without_a_selector_is_refused() -> None:
    with pytest.raises(PackError, match="a policy needs a selector"):
        policy_machine({"threshold": threshold})
