"""A Hypothesis state machine that composes policies at random and runs what it composed."""

from collections.abc import Collection
from typing import Any, ClassVar

from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from packer.algebra import Filter, Order, Selector, steps_of
from packer.errors import PackError

from . import laws
from .cases import cases
from .checking import MAY_REFUSE
from .chunk_lists import Profile
from .lawbook import CALL_LAWS
from .vocabulary import Vocabulary, Words, policies, vocabulary

__all__ = ["policy_machine"]


class _PolicyMachine(RuleBasedStateMachine):
    """Policies, some with an order, put together stage by stage."""

    words: ClassVar[Vocabulary]
    profile: ClassVar[Profile]
    may_refuse: ClassVar[Collection[str]]

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
        refuses = any(step.refuses_negative for step in steps_of(policy))
        if stage is None or (stage.gives_negative and refuses):
            return policy
        return stage | policy

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

    @rule(policy=open_, data=st.data())
    def pack(self, policy: Any, data: st.DataObject) -> None:
        self._pack(policy, data)

    @rule(policy=ordered, data=st.data())  # else few of those that are packed have an order
    def pack_in_order(self, policy: Any, data: st.DataObject) -> None:
        self._pack(policy, data)

    def _pack(self, policy: Any, data: st.DataObject) -> None:
        case = data.draw(cases(st.just(policy), self.profile))
        for law in CALL_LAWS:
            try:
                law.holds(case)
            except PackError as error:
                if error.code not in self.may_refuse:
                    _tell(law.name, case.code(law.state))
                    raise
            except Exception:
                _tell(law.name, case.code(law.state))
                raise


def _tell(law: str, code: str) -> None:
    note(f"It breaks the law {law}:\n\n{code}\n")


def policy_machine(
    catalog: Words | None = None,
    *,
    profile: Profile = "mixed",
    may_refuse: Collection[str] = MAY_REFUSE,
) -> type[RuleBasedStateMachine]:
    """A state machine over the stages of a catalog, `strategies.CATALOG` when left out.

    Its rules begin with a selector, put filters before it and an order after it, bracket what
    they have in another way, try what must not compose, and pack chunks of the profile.  Of each
    call all laws hold that `check_policy` tries, but for the text.  `may_refuse`: as for
    `check_stage`.  A stage whose class sets `refuses_negative` is given no scores below 0.

    Its `TestCase` is a unittest that pytest collects: ``TestPolicies = policy_machine().TestCase``.

    Raises INVALID_PARAMETER for a catalog without a selector.
    """
    words = vocabulary(catalog)
    policies(words.catalog)  # refuses a catalog without a selector
    given = {"words": words, "profile": profile, "may_refuse": may_refuse}
    machine: Any = type("PolicyMachine", (_PolicyMachine,), given)
    machine.TestCase.settings = settings(
        deadline=None, max_examples=50, suppress_health_check=list(HealthCheck)
    )
    found: type[RuleBasedStateMachine] = machine
    return found
