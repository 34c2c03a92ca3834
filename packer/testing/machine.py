"""A Hypothesis state machine that composes policies at random and runs what it composed."""

from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from packer.algebra import Filter, Order, Selector, steps_of
from packer.errors import PackError

from . import laws
from .calls import OVERHEADS, Request, budgets_for, options_for
from .checking import MAY_REFUSE
from .chunk_lists import Profile, chunks
from .material import QUERY
from .vocabulary import Vocabulary, Words, policies, vocabulary

__all__ = ["policy_machine"]

_REFUSALS = {*MAY_REFUSE, "INVALID_PARAMETER"}


class _PolicyMachine(RuleBasedStateMachine):
    """Policies, some with an order, put together stage by stage."""

    words: ClassVar[Vocabulary]
    profile: ClassVar[Profile]

    open_: Bundle[Any] = Bundle("open_")
    ordered: Bundle[Any] = Bundle("ordered")

    def _stage(self, data: st.DataObject, role: type) -> Any:
        """A stage of a role; None where the catalog has none."""
        found = self.words.words_of(role)
        return data.draw(self.words.some_stage(found)) if found else None

    @initialize(target=open_, data=st.data())
    def begin(self, data: st.DataObject) -> Any:
        return self._stage(data, Selector)

    @rule(target=open_, data=st.data())
    def select(self, data: st.DataObject) -> Any:
        return self._stage(data, Selector)

    @rule(target=open_, policy=open_, data=st.data())
    def narrow(self, policy: Any, data: st.DataObject) -> Any:
        stage = self._stage(data, Filter)
        return policy if stage is None else stage | policy

    @rule(target=ordered, policy=open_, data=st.data())
    def order(self, policy: Any, data: st.DataObject) -> Any:
        stage = self._stage(data, Order)
        return policy if stage is None else policy | stage

    @rule(policy=open_ | ordered, data=st.data())
    def bracket(self, policy: Any, data: st.DataObject) -> None:
        steps = steps_of(policy)
        if len(steps) > 1:
            laws.composition_is_associative(steps, data.draw(st.integers(1, len(steps) - 1)))

    @rule(one=open_ | ordered, other=open_ | ordered)
    def compose_what_does_not_fit(self, one: Any, other: Any) -> None:
        laws.composes_only_what_fits([*steps_of(one), *steps_of(other)])

    @rule(policy=open_ | ordered, overhead=OVERHEADS, data=st.data())
    def pack(self, policy: Any, overhead: int, data: st.DataObject) -> None:
        options = options_for(policy)
        given = data.draw(chunks(self.profile, max_size=8, **options), label="chunks")
        budget = data.draw(budgets_for(given, overhead), label="budget")
        request = Request(given, policy, budget, overhead, QUERY)
        try:
            packed = request.packed()
        except PackError as error:
            if error.code in _REFUSALS:
                return
            raise
        laws.budget_holds(packed, budget, overhead)
        laws.input_is_accounted_for(given, packed)
        laws.exclusions_name_their_stage(packed, policy)
        laws.report_adds_up(given, packed)
        laws.same_input_same_output(request.packed)


def policy_machine(
    catalog: Words | None = None, *, profile: Profile = "mixed"
) -> type[RuleBasedStateMachine]:
    """A state machine over the stages of a catalog, `strategies.CATALOG` when left out.

    Its rules begin with a selector, put filters before it and an order after it, bracket what
    they have in another way, try what must not compose, and pack chunks of the profile.  After
    each call the laws of a call hold: the budget, packed + excluded = input, the report adds up,
    two runs agree.  No failure are the refusals that `check_stage` allows and INVALID_PARAMETER,
    by which a stage refuses chunks that it does not take.

    Its `TestCase` is a unittest that pytest collects: ``TestPolicies = policy_machine().TestCase``.

    Raises INVALID_PARAMETER for a catalog without a selector.
    """
    words = vocabulary(catalog)
    policies(words.catalog)  # refuses a catalog without a selector
    machine: Any = type("PolicyMachine", (_PolicyMachine,), {"words": words, "profile": profile})
    machine.TestCase.settings = settings(
        deadline=None, max_examples=50, suppress_health_check=list(HealthCheck)
    )
    found: type[RuleBasedStateMachine] = machine
    return found
