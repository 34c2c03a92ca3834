"""Stages and their composition: `threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape`.

    Filter:   Pool -> Pool              what is a candidate at all, and its score
    Selector: Pool -> Selection         what is in, within the budget
    Order:    Selection -> Layout       in which order it is shown
    Policy:   Pool -> Selection or Layout

A stage is a frozen value with a `__call__` from one to the next.  Its attrs fields are its
arguments in the text of a policy, and its `repr` is that text.  To make one of your own, subclass
`Filter`, `Selector` or `Order`:

>>> import attrs
>>> from packer.pool import Pool
>>> @attrs.frozen(repr=False)
... class Shorter(Filter):
...     tokens: int
...     def __call__(self, pool: Pool) -> Pool:
...         return pool.keep(pool.tokens <= self.tokens, reason="metadata", detail="too long")
>>> Shorter(100)
Shorter(100)
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NoReturn, TypeAlias, TypeVar, final

import attrs
import numpy as np

from .arrays import Floats
from .awaitables import is_awaitable
from .errors import InvalidPolicy, InvalidStrategy, shown
from .literals import literal
from .pool import Pool
from .rulebook import refuse_without_room
from .ruled_selection import enforce, topped_up
from .selection import Layout, Selection
from .trimming import trimmed

__all__ = [
    "Chain",
    "Constraint",
    "Filter",
    "Order",
    "Policy",
    "Scoring",
    "Selector",
    "Stage",
    "Step",
    "advance",
    "audit",
    "checked_policy",
    "steps_of",
]

A = TypeVar("A", contravariant=True)
B = TypeVar("B", covariant=True)
C = TypeVar("C")


class Stage(ABC, Generic[A, B]):
    """Something that takes an `A` and gives a `B`, and composes with what takes a `B`."""

    __slots__ = ()

    @abstractmethod
    def __call__(self, value: A, /) -> B:
        """Apply the stage: pure, no clock, no randomness, no I/O."""

    def __or__(self, after: "Stage[B, C]", /) -> "Stage[A, C]":
        """First this stage, then `after`.  Always flat, so `|` is associative under `==`.

        Raises INVALID_POLICY when `after` does not take what this stage gives.
        """
        return Chain((*steps_of(self), *steps_of(after, before=self)))

    if not TYPE_CHECKING:  # for a checker the operator is missing, so it refuses `3 | ushape`

        def __ror__(self, before: object, /) -> NoReturn:
            steps_of(before, after=self)
            raise AssertionError

    def __bool__(self) -> NoReturn:
        message = f"a stage has no truth value: `a and b` would drop a; write {self!r} | ..."
        raise InvalidPolicy(message, details={"stage": repr(self)})


class Step(Stage[A, B], ABC):
    """One stage.  Its attrs fields are its arguments (see `packer.parameters`).

    The first, and what has no default, is printed without its name, the others by name and not
    at their default.
    """

    __slots__ = ()

    name: ClassVar[str]
    """Its word in a policy; a subclass that gives none has the name of the class."""
    is_constant: ClassVar[bool] = False
    """Whether it is written without brackets."""
    uses_kernels: ClassVar[bool] = False
    """Whether it calls compiled kernels, which `packer.warm` then makes ready."""
    refuses_negative: ClassVar[bool] = False
    """Whether it refuses scores below 0 (by INVALID_PARAMETER)."""
    gives_negative: ClassVar[bool] = False
    """Whether it may make scores below 0 of scores that are not."""
    reads_spans: ClassVar[bool] = False
    """Whether `start` and `end` decide what it does with chunks of one `source`."""
    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Where optional arguments come in sets of which one is given: the names in each set.  The
    lists in one are of one length."""
    takes: ClassVar[type]
    gives: ClassVar[type]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def __repr__(self) -> str:
        if self.is_constant:
            return self.name
        kind: type = type(self)
        fields = attrs.fields(kind) if attrs.has(kind) else ()
        written = []
        for place, field in enumerate(fields):
            value = getattr(self, field.name)
            text = field.metadata.get("write", literal)(value)
            if not field.kw_only and (place == 0 or field.default is attrs.NOTHING):
                written.append(text)
            elif value != field.default:
                written.append(f"{field.alias}={text}")
        return f"{self.name}({', '.join(written)})"


class Filter(Step[Pool, Pool], ABC):
    """A stage that narrows the candidates, or (see `Scoring`) rescores them."""

    __slots__ = ()
    takes = Pool
    gives = Pool


class Scoring(Filter, ABC):
    """A filter that keeps every row and changes the current scores."""

    __slots__ = ()


class Constraint(Filter, ABC):
    """A filter that drops nothing and binds the selector by a rule (`Pool.bind`)."""

    __slots__ = ()


class Selector(Step[Pool, Selection], ABC):
    """A stage that chooses within the budget.

    One that sets `obeys_rules` chooses under the rules of the pool (`packer.rulebook`); of any
    other the choice is cut to what the rules allow.
    """

    __slots__ = ()
    obeys_rules: ClassVar[bool] = False
    counts_overlap: ClassVar[bool] = False
    """Whether it counts on costs that fall as others come in (`packer.growing`); what overlaps
    free is filled up for one that does not."""
    cuts_the_end: ClassVar[bool] = False
    """Whether what comes after the first that does not fit is out for the budget too, though it
    may fit by itself."""
    takes = Pool
    gives = Selection

    def worth(self, pool: Pool, /) -> Floats:
        """float64[n]: by what it ranks the rows; `trim` cuts the best that was out for the budget."""
        return pool.scores


class Order(Step[Selection, Layout], ABC):
    """A stage that decides the order of what was chosen."""

    __slots__ = ()
    takes = Selection
    gives = Layout


@final
@attrs.frozen(repr=False)
class Chain(Stage[A, B]):
    """Two or more stages one after the other; made by `|`."""

    steps: tuple[Step[Any, Any], ...] = attrs.field()

    @steps.validator
    def _composes(self, _: object, steps: tuple[Step[Any, Any], ...]) -> None:
        for before, after in itertools.pairwise(steps):
            if before.gives is not after.takes:
                raise _misfit(before, after)

    def __call__(self, value: A, /) -> B:
        state: Any = value
        for step in self.steps:
            state = advance(step, state, repr(step))
        result: B = state
        return result

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.steps))


Policy: TypeAlias = Stage[Pool, Selection | Layout]
"""What `pack` runs: a stage from a pool to a selection or a layout."""

_ROLES: Final[Mapping[type, str]] = {
    Pool: "candidates (Pool)",
    Selection: "a selection (Selection)",
    Layout: "a layout",
}


def _misfit(before: Step[Any, Any], after: Step[Any, Any]) -> InvalidPolicy:
    if before.gives is Pool:
        mend = "put a selector between them, such as greedy or mmr(0.7)"
    elif before.gives is Layout:
        mend = "an order ends a policy; leave one of them out"
    elif after.takes is Pool and after.gives is Selection:
        mend = "a policy has one selector; leave one of them out"
    else:
        mend = f"put {after!r} before {before!r}"
    message = (
        f"{before!r} | {after!r} does not compose: {before!r} takes {_ROLES[before.takes]} and "
        f"gives {_ROLES[before.gives]}, {after!r} takes {_ROLES[after.takes]} and gives "
        f"{_ROLES[after.gives]}; {mend}"
    )
    return InvalidPolicy(message, details={"before": repr(before), "after": repr(after)})


def steps_of(
    stage: object, *, before: object = None, after: object = None
) -> tuple[Step[Any, Any], ...]:
    """The single stages that a stage consists of.

    Raises INVALID_POLICY for what is no stage; `before` and `after` are its neighbours.
    """
    if isinstance(stage, Chain):
        return stage.steps
    if isinstance(stage, Step):
        return (stage,)
    where = f" after {before!r}" if before is not None else ""
    where += f" before {after!r}" if after is not None else ""
    if isinstance(stage, str):
        mend = "text becomes a policy by strategies.parse(text)"
    elif callable(stage):
        name = getattr(stage, "__name__", "it")
        mend = (
            f"call it, as in {name}(...); a function of your own becomes a selector by "
            f"custom({name})"
        )
    else:
        mend = "a stage is made by strategies, such as threshold(0.6) or ushape"
    message = f"{shown(stage)}{where} is no stage; {mend}"
    raise InvalidPolicy(message, details={"value": stage})


def checked_policy(policy: object) -> tuple[Step[Any, Any], ...]:
    """The stages of a policy.

    Raises INVALID_POLICY for what does not lead from a pool to a selection or a layout.
    """
    steps = steps_of(policy)
    if steps[0].takes is not Pool:
        message = (
            f"{policy!r} is no policy: it takes {_ROLES[steps[0].takes]}; "
            "begin with a selector, such as greedy | " + repr(steps[0])
        )
        raise InvalidPolicy(message, details={"policy": repr(policy)})
    if steps[-1].gives is Pool:
        message = (
            f"{policy!r} is no policy: it gives {_ROLES[Pool]} and selects nothing; "
            f"add a selector, such as {policy!r} | greedy"
        )
        raise InvalidPolicy(message, details={"policy": repr(policy)})
    return steps


def advance(step: Step[Any, Any], state: Any, text: str) -> Any:
    """Run one stage on a state, under its text, and check that it kept its contract.

    Raises INVALID_STRATEGY when it gives something else than its role says, or loses chunks.
    """
    if isinstance(step, Selector) and state.rules:
        refuse_without_room(state)
    result: Any = step(state.at(text))
    if not isinstance(result, step.gives):
        is_awaitable(result)  # closes a coroutine
        message = f"{text} gave {shown(result)}; it must give {_ROLES[step.gives]}"
        raise InvalidStrategy(message, details={"stage": text})
    if isinstance(step, Selector) and state.rules:
        chosen: Any = result
        if not step.obeys_rules:
            result = enforce(state.at(text), chosen)
        if not step.counts_overlap and state.overlapping:
            result = topped_up(state.at(text), chosen.chosen, result, step.worth)
    if isinstance(step, Selector) and result.pool.cutting is not None:
        result = trimmed(result, lambda pool: advance(step, pool, text), step.worth)
    if _accounted(result) != _accounted(state):
        message = (
            f"{text} had {_accounted(state)} chunks to account for and accounts for "
            f"{_accounted(result)}; narrow a pool by pool.keep, choose by pool.select"
        )
        raise InvalidStrategy(message, details={"stage": text})
    return result


def audit(layout: Layout, start: Pool) -> None:
    """Check that a layout holds what is promised, however its stages were written.  O(m).

    `start` is the pool that the policy was given.

    Raises INVALID_STRATEGY when the layout is of other chunks or another call, when it costs more
    than the budget, or when a chunk is not exactly once among the shown and the excluded.
    """
    pool = layout.pool
    if not _continues(pool, start):
        message = (
            f"{pool.stage} is left with a pool that this call did not begin with; a stage narrows "
            "the pool that it gets, by pool.keep"
        )
        raise InvalidStrategy(message, details={"stage": pool.stage})
    shown_rows = layout.table_rows
    costs = start.candidates.tokens[shown_rows]
    for place, row in enumerate(shown_rows.tolist() if pool.candidates.originals else ()):
        if row in pool.candidates.originals:
            costs[place] = pool.candidates.tokens[row]
    spent = int(np.add.reduce(costs)) + len(layout) * start.call.overhead
    if pool.overlapping:  # of each what is new
        chosen = layout.selection.chosen
        spent = int(pool.charged(chosen.tolist())[chosen].sum())
    if spent > pool.call.budget and start.call.template is None:  # else its text was counted
        message = (
            f"{pool.stage} shows {spent} tokens of a budget of {pool.call.budget}; "
            "choose by pool.select, which checks"
        )
        raise InvalidStrategy(message, details={"stage": pool.stage, "over": spent - pool.budget})
    rows = np.concatenate([layout.table_rows, *(cut.rows for cut in pool.cuts)])
    seen = np.zeros(len(pool.candidates), np.bool_)
    seen[rows] = True
    if len(rows) != len(seen) or not seen.all():
        times = np.bincount(rows, minlength=len(seen))
        wrong = np.flatnonzero(times != 1)
        id_ = pool.candidates.id(int(wrong[0]))
        message = (
            f"a stage of this policy made its own pool or selection: chunk {id_!r} is in or out "
            f"{times[wrong[0]]} times; narrow a pool by pool.keep, choose by pool.select"
        )
        raise InvalidStrategy(message, details={"stage": pool.stage, "id": id_})


def _continues(pool: Pool, start: Pool) -> bool:
    """Whether a pool is of the chunks and the call of another, with shorter texts or less room."""
    if pool.candidates.source_rows is not start.candidates.source_rows:
        return False
    if start.call.template is None:
        return pool.call is start.call
    return pool.call.within(start.call.limit) == start.call


def _accounted(state: Any) -> int:
    """How many chunks a state accounts for: in play or excluded."""
    pool: Pool = state if isinstance(state, Pool) else state.pool
    return len(state) + sum(map(len, pool.cuts))
