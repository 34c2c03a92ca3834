"""The book of laws: which bind a stage of each role, which a call, and what each is tried on."""

from collections.abc import Callable
from typing import Any, Final, final

import attrs

from packer.algebra import Constraint, Filter, Order, Scoring, Selector, Step
from packer.dsl import Catalog
from packer.tokens import approximate

from . import laws
from .cases import Case, State

__all__ = ["CALL_LAWS", "Law", "laws_of", "own_law"]


@final
@attrs.frozen
class Law:
    """A law on what a case makes: `holds(case)` returns, or raises where the law is broken.

    `tier`: 0 for what a stage does to its state, which says most about a fault; 1 and 2 for what
    a call gives, of which the fault may be the cause in the end.
    """

    state: State
    name: str
    statement: str
    holds: Callable[[Case], None] = attrs.field(eq=False, repr=False)
    tier: int = 0

    @classmethod
    def told_by(
        cls,
        function: Callable[..., None],
        holds: Callable[[Case], None],
        state: State = State.CALL,
        tier: int = 1,
    ) -> "Law":
        """The law that a function states: its name and its docstring."""
        statement = " ".join((function.__doc__ or "").split())
        return cls(state, function.__name__, statement, holds, tier)


_MADE: Final[dict[State, Callable[[Case], Any]]] = {
    State.POOL: Case.pool,
    State.RULED_POOL: Case.ruled_pool,
    State.SELECTION: Case.selection,
}


def _law(state: State, function: Callable[..., None]) -> Law:
    """The law of a stage on a state: `function(stage, state)`."""
    made = _MADE[state]
    return Law.told_by(function, lambda case: function(case.stage, made(case)), state, tier=0)


def own_law(stage: Any, function: Callable[[Any, Any], None]) -> Law:
    """A user's law of a stage on the pool, or the selection, that it takes."""
    return _law(State.SELECTION if isinstance(stage, Order) else State.POOL, function)


_SAME: Final = _law(State.POOL, laws.same_pool_same_result)
_REASONS: Final = _law(State.POOL, laws.reasons_are_true)
_TWINS: Final = _law(State.POOL, laws.of_twins_the_earlier_is_first)

LAWS: Final[tuple[tuple[type, tuple[Law, ...]], ...]] = (
    (
        Scoring,
        (
            _law(State.POOL, laws.scoring_keeps_rows),
            _SAME,
            _law(State.POOL, laws.of_twins_the_later_scores_no_higher),
        ),
    ),
    (Constraint, (_law(State.RULED_POOL, laws.constraint_drops_nothing), _SAME)),
    (
        Filter,
        (
            _law(State.POOL, laws.filter_narrows),
            _law(State.POOL, laws.filter_reasons_are_true),
            _law(State.RULED_POOL, laws.pinned_rows_stay),
            _SAME,
            _TWINS,
        ),
    ),
    (
        Selector,
        (
            _law(State.POOL, laws.selection_fits),
            _REASONS,
            _law(State.RULED_POOL, laws.selection_obeys_rules),
            _law(State.POOL, laws.worth_is_a_number_of_each_row),
            _SAME,
            _TWINS,
        ),
    ),
    (
        Order,
        (
            _law(State.SELECTION, laws.order_is_a_permutation),
            _law(State.SELECTION, laws.same_selection_same_order),
        ),
    ),
)
"""The laws of each role, the first that fits."""


def _budget(case: Case) -> None:
    laws.budget_holds(case.packed(), case.budget, case.overhead)


def _pins(case: Case) -> None:
    request = case.request(ruled=True)
    packed = {chunk.id for chunk in request.packed()}
    laws.pins_are_packed(case.ruled_pool(), packed)


def _rendered(case: Case) -> None:
    laws.rendered_text_fits(case.request().packed, approximate)


CALL_LAWS: Final = (
    Law.told_by(laws.budget_holds, _budget),
    Law.told_by(
        laws.input_is_accounted_for,
        lambda case: laws.input_is_accounted_for(case.chunks, case.packed()),
    ),
    Law.told_by(
        laws.exclusions_name_their_stage,
        lambda case: laws.exclusions_name_their_stage(case.packed(), case.request().policy),
    ),
    Law.told_by(laws.report_adds_up, lambda case: laws.report_adds_up(case.chunks, case.packed())),
    Law.told_by(laws.every_id_has_a_why, lambda case: laws.every_id_has_a_why(case.packed())),
    Law.told_by(
        laws.same_input_same_output,
        lambda case: laws.same_input_same_output(case.request().packed),
    ),
    Law.told_by(laws.parts_make_the_score, lambda case: laws.parts_make_the_score(case.packed())),
    Law.told_by(
        laws.input_is_left_as_it_was,
        lambda case: laws.input_is_left_as_it_was(case.chunks, case.request().packed),
    ),
    Law.told_by(laws.rendered_text_fits, _rendered, tier=2),
    Law.told_by(laws.pins_are_packed, _pins, State.RULED_CALL),
)
"""The laws of a whole call of `pack`."""


def laws_of(stage: Any, catalog: Catalog | None = None) -> tuple[Law, ...]:
    """The laws that apply to a stage by its type; those of a call alone to a composition.

    With a `catalog` also that the text of the stage is read back as the stage.

    >>> from strategies import ushape
    >>> [law.name for law in laws_of(ushape)][:2]
    ['order_is_a_permutation', 'same_selection_same_order']
    """
    found: tuple[Law, ...] = ()
    if isinstance(stage, Step):
        found = next((own for role, own in LAWS if isinstance(stage, role)), ())
        if isinstance(stage, Selector) and stage.cuts_the_end:
            found = tuple(law for law in found if law != _REASONS)
    if catalog is not None:
        words = catalog

        def is_its_text(case: Case) -> None:
            laws.policy_is_its_text(case.stage, words)

        found += (Law.told_by(laws.policy_is_its_text, is_its_text),)
    return found + CALL_LAWS
