"""A policy run: taken apart once, each stage timed, its filters run once for all budgets."""

import time
from collections.abc import Hashable
from typing import Any, Final, TypeAlias, final

import attrs

from .algebra import Step, advance, audit, checked_policy
from .call import Call
from .pool import Pool
from .records import StageTrace
from .rendering import Rendered, fitted
from .selection import Layout, Selection
from .watching import Watched

__all__ = ["Filtered", "Filters", "Program", "Run", "run"]

_Steps: TypeAlias = tuple[tuple[Step[Any, Any], str], ...]

LOOKS: Final = ("budget", "limit", "within")
"""What a stage reads of a call that depends on the budget."""


@final
@attrs.frozen
class Program:
    """A policy taken apart once: its steps, their texts, and what the report calls it."""

    steps: _Steps
    policy: str
    strategy: str
    ordering: str

    @classmethod
    def of(cls, policy: object) -> "Program":
        """The program of a policy.

        Raises INVALID_POLICY for what is none.
        """
        steps = checked_policy(policy)
        selectors = [step.name for step in steps if step.gives is Selection]
        orders = [step.name for step in steps if step.gives is Layout]
        return cls(
            steps=tuple((step, repr(step)) for step in steps),
            policy=repr(policy),
            strategy=selectors[0],
            ordering=orders[0] if orders else "natural",
        )

    @property
    def filters(self) -> _Steps:
        """The steps before the selector."""
        return tuple(pair for pair in self.steps if pair[0].gives is Pool)


@final
@attrs.frozen(eq=False)
class Filtered:
    """What the first stages of a program made of a pool, and what each did."""

    pool: Pool
    traces: tuple[StageTrace, ...] = ()

    def under(self, call: Call) -> "Filtered":
        """The same for a call of another budget."""
        return attrs.evolve(self, pool=attrs.evolve(self.pool, call=call))


@final
@attrs.frozen(eq=False)
class Filters:
    """The filters of programs on one pool, each run once for all budgets.

    Filters say what a candidate is, and hardly ever look at the budget.  One that does is run
    again for every budget, and so are those after it.
    """

    pool: Pool
    _known: dict[tuple[Hashable, ...], Filtered | None] = attrs.field(factory=dict, init=False)

    def begun(self, program: Program) -> Filtered:
        """What the filters of a program make of the pool, up to the first that sees a budget.

        Raises what they raise.
        """
        found = Filtered(self.pool)
        steps: tuple[Hashable, ...] = ()
        for step, text in program.filters:
            steps = (*steps, _key(step))
            if steps not in self._known:
                self._known[steps] = _unseeing(found, self.pool.call, step, text)
            after = self._known[steps]
            if after is None:
                break
            found = after
        return found


@final
@attrs.frozen(eq=False)
class _Itself:
    """Stands for a stage of a caller's own that cannot be hashed: equal to itself alone."""

    step: Step[Any, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.step is self.step

    def __hash__(self) -> int:
        return id(self.step)


def _key(step: Step[Any, Any]) -> Hashable:
    try:
        hash(step)
    except TypeError:
        return _Itself(step)
    return step


def _unseeing(before: Filtered, call: Call, step: Step[Any, Any], text: str) -> Filtered | None:
    """One filter more; None where it looks at the budget."""
    watched: Any = Watched(call, LOOKS)
    found = _advanced(before.under(watched), step, text)
    return None if watched.was_read else found.under(call)


def _advanced(before: Filtered, step: Step[Any, Any], text: str) -> Filtered:
    started = time.perf_counter_ns()
    pool = advance(step, before.pool, text)
    spent = time.perf_counter_ns() - started
    trace = _trace(text, _size(before.pool), _size(pool), spent)
    return Filtered(pool, (*before.traces, trace))


@final
@attrs.frozen(eq=False)
class Run:
    """What came of a run: the layout, its text where there is a template, what each stage did."""

    layout: Layout
    rendered: Rendered | None
    stages: tuple[StageTrace, ...]


def run(program: Program, pool: Pool, begun: Filtered | None = None) -> Run:
    """Run a program on a pool.  `begun`: what its first stages made of the pool already.

    Raises what the stages raise.
    """
    state: Any = pool if begun is None else begun.pool
    traces = [] if begun is None else list(begun.traces)
    started = time.perf_counter_ns()
    before = _size(state)
    steps = program.steps[len(traces) :]
    last: _Steps = ()
    templated = pool.call.template is not None
    if templated:
        filters = len(program.filters) - len(traces)
        steps, last = steps[:filters], steps[filters:]
    for step, text in steps:
        state = advance(step, state, text)
        after = _size(state) if step.gives is not Layout else before
        ended = time.perf_counter_ns()
        traces.append(_trace(text, before, after, ended - started))
        before, started = after, ended
    if not templated:
        layout: Layout = state if isinstance(state, Layout) else state.in_order()
        audit(layout, pool)
        return Run(layout, None, tuple(traces))
    rendered, spent = _fitted(state, last)
    audit(rendered.layout, pool)
    after = len(rendered.layout), rendered.used
    for (_, text), nanoseconds in zip(last, spent, strict=True):
        traces.append(_trace(text, before, after, nanoseconds))
        before = after
    return Run(rendered.layout, rendered, tuple(traces))


def _fitted(pool: Pool, steps: _Steps) -> tuple[Rendered, list[int]]:
    """The text that a selector, and an order where there is one, make; and how long each took.

    The first time is of all but the order: of the selector's choices, and of the counts.
    """
    (selector, word), *orders = steps
    arranging = [0] * len(orders)

    def arrange(selection: Selection) -> Layout:
        if not orders:
            return selection.in_order()
        began = time.perf_counter_ns()
        layout: Layout = advance(orders[0][0], selection, orders[0][1])
        arranging[0] += time.perf_counter_ns() - began
        return layout

    began = time.perf_counter_ns()
    rendered = fitted(pool, lambda candidates: advance(selector, candidates, word), arrange)
    return rendered, [time.perf_counter_ns() - began - sum(arranging), *arranging]


def _trace(
    text: str, before: tuple[int, int], after: tuple[int, int], nanoseconds: int
) -> StageTrace:
    return StageTrace(text, before[0], after[0], before[1], after[1], nanoseconds / 1e3)


def _size(state: Any) -> tuple[int, int]:
    """Chunks and tokens."""
    return len(state), int(state.costs.sum())
