"""The thin shell: check the call, read the clock, run the policy, build the report."""

import datetime as dt
import time
from collections.abc import Iterable
from typing import Any, TypeAlias, final

import attrs

from .algebra import Policy, Step, advance, audit, checked_policy
from .budget import Budget
from .call import Call, checked_call
from .errors import InvalidParameter, shown
from .intake import ChunkLike, OnInvalid, checked_on_invalid
from .outcome import packed
from .pool import Pool
from .records import Packed, StageTrace
from .rendering import Rendered, fitted
from .replay import Replay
from .selection import Layout, Selection
from .template import Template
from .tokens import CountTokens, approximate
from .watching import Watched

__all__ = ["Packer", "pack"]

_Steps: TypeAlias = tuple[tuple[Step[Any, Any], str], ...]


def pack(
    chunks: Iterable[ChunkLike],
    policy: Policy,
    *,
    budget: int | Budget,
    overhead: int = 0,
    count_tokens: CountTokens = approximate,
    query: str | None = None,
    template: Template | None = None,
    on_invalid: OnInvalid = "raise",
    now: dt.datetime | str | float | None = None,
) -> Packed:
    """Choose which chunks go into the context window, in what order, and say why.

    `chunks`: `Chunk`s, or mappings with the same keys.  `budget`: tokens, an int above 0, or a
    `Budget`.  `overhead`: tokens charged for each chunk (separators, citation marks).
    `count_tokens`: for chunks that come without `tokens`.  `query`: the request's words, for
    stages that look at them.  `template`: how the chunks are written; each is then charged what
    its written form costs, whatever `tokens` says (those stay the tokens of its content), and
    ``count_tokens(packed.text())`` is at most the budget, whatever the counter.  `now`: for stages that look at age; the clock when left out.  `on_invalid`: "raise"
    names all bad chunks at once, "exclude" sets them aside with the reason `invalid`.

    Nothing that fits, or no chunks, gives an empty `Packed` with a full report.

    Raises PackError: INVALID_BUDGET, INVALID_CHUNK, DIMENSION_MISMATCH, INVALID_COUNTER,
    INVALID_POLICY, and what the policy's stages raise.

    >>> from packer import Chunk, pack
    >>> from strategies import greedy, threshold
    >>> packed = pack(
    ...     [Chunk("Refunds take 5 days.", 0.9, id="refund"), Chunk("We ship.", 0.4, id="ship")],
    ...     threshold(0.6) | greedy,
    ...     budget=100,
    ... )
    >>> [chunk.id for chunk in packed], packed.report.tokens_used
    (['refund'], 5)
    >>> print(packed.why("ship"))
    ship is out, below-threshold, by threshold(0.6): score 0.4, floor 0.6
    """
    packer = Packer(
        policy,
        budget=budget,
        overhead=overhead,
        count_tokens=count_tokens,
        template=template,
        on_invalid=on_invalid,
    )
    return packer.pack(chunks, query=query, now=now)


@final
@attrs.frozen
class _Program:
    """A policy taken apart once: its steps, their texts, and what the report calls it."""

    steps: _Steps
    policy: str
    strategy: str
    ordering: str

    @classmethod
    def of(cls, policy: object) -> "_Program":
        steps = checked_policy(policy)
        selectors = [step.name for step in steps if step.gives is Selection]
        orders = [step.name for step in steps if step.gives is Layout]
        return cls(
            steps=tuple((step, repr(step)) for step in steps),
            policy=repr(policy),
            strategy=selectors[0],
            ordering=orders[0] if orders else "natural",
        )


@final
@attrs.frozen
class Packer:
    """A policy with a fixed configuration: `packer(chunks)`, or `packer.pack(chunks)`.

    The arguments are those of `pack`; the policy is prepared once.  Frozen, and safe to share
    between threads.

    >>> from strategies import greedy
    >>> packer = Packer(greedy, budget=10)
    >>> [chunk.content for chunk in packer([{"content": "short", "score": 0.5}])]
    ['short']
    """

    policy: Policy
    budget: int | Budget = attrs.field(kw_only=True)
    overhead: int = attrs.field(default=0, kw_only=True)
    count_tokens: CountTokens = attrs.field(default=approximate, kw_only=True)
    query: str | None = attrs.field(default=None, kw_only=True)
    template: Template | None = attrs.field(default=None, kw_only=True)
    on_invalid: OnInvalid = attrs.field(default="raise", kw_only=True)
    now: dt.datetime | str | float | None = attrs.field(default=None, kw_only=True)
    _program: _Program = attrs.field(init=False, repr=False, eq=False)
    _call: Call = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        checked_on_invalid(self.on_invalid)
        call = checked_call(
            self.budget, self.overhead, self.count_tokens, self.query, self.now, self.template
        )
        object.__setattr__(self, "_call", call)
        object.__setattr__(self, "_program", _Program.of(self.policy))

    def __call__(
        self,
        chunks: Iterable[ChunkLike],
        *,
        query: str | None = None,
        now: dt.datetime | str | float | None = None,
    ) -> Packed:
        """As `pack`; `query` and `now` of this request come before the configured ones."""
        return self.pack(chunks, query=query, now=now)

    def pack(
        self,
        chunks: Iterable[ChunkLike],
        *,
        query: str | None = None,
        now: dt.datetime | str | float | None = None,
    ) -> Packed:
        """Pack these chunks; `query` and `now` of this request come before the configured ones."""
        started = time.perf_counter()
        moment = dt.datetime.now(dt.UTC)
        call = self._call.at(moment, query, now)
        return self._packed(Pool.of_chunks(chunks, call, self.on_invalid), started, moment)

    def pool(self, chunks: Iterable[ChunkLike], *, query: str | None, now: dt.datetime) -> Pool:
        """These chunks, checked, counted and charged once, for `pack_within`."""
        return Pool.of_chunks(chunks, self._call.at(now, query, now), self.on_invalid)

    def pack_within(self, pool: Pool, limit: int, moment: dt.datetime) -> Packed:
        """Pack a pool that `pool` made within another budget than the configured one.

        A limit of 0 leaves room for what costs nothing, one below 0 for nothing at all.
        """
        started = time.perf_counter()
        return self._packed(pool.limited(limit), started, moment, again=_Again(self, pool, moment))

    def _packed(
        self,
        pool: Pool,
        started: float,
        moment: dt.datetime,
        again: "_Again | None" = None,
        begun: "_Begun | None" = None,
    ) -> Packed:
        """Run the policy, or what is left of it; `again`: how it is run within other budgets."""
        again = again or _Again(self, pool, moment)
        layout, rendered, stages = self._run(pool, begun)
        return packed(
            layout,
            policy=self._program.policy,
            strategy=self._program.strategy,
            ordering=self._program.ordering,
            stages=stages,
            timestamp=moment.isoformat(timespec="milliseconds"),
            duration_ms=(time.perf_counter() - started) * 1e3,
            rendered=rendered,
            replay=Replay(again.whole, again.quick) if again.has_rows else Replay(),
        )

    def _filtered(self, pool: Pool) -> tuple[Pool, tuple[StageTrace, ...]]:
        """The pool that the selector is given, and what the stages before it did."""
        traces = []
        for step, text in self._program.steps:
            if step.gives is not Pool:
                break
            started, before = time.perf_counter_ns(), (len(pool), int(pool.costs.sum()))
            pool = advance(step, pool, text)
            after = len(pool), int(pool.costs.sum())
            traces.append(_trace(text, before, after, time.perf_counter_ns() - started))
        return pool, tuple(traces)

    def select(
        self,
        pool: Pool,
        *,
        query: str | None = None,
        now: dt.datetime | str | float | None = None,
    ) -> Layout:
        """The layout of a pool (see `Pool.from_arrays`): `layout.rows` index the caller's arrays.

        The path without records: no report is built, and only for a template is text counted.

        >>> from strategies import greedy
        >>> pool = Pool.from_arrays(scores=[0.2, 0.9, 0.5], tokens=[60, 60, 30])
        >>> Packer(greedy, budget=100).select(pool).rows.tolist()
        [1, 2]
        """
        if not isinstance(pool, Pool):
            message = f"select takes a Pool, not {shown(pool)}; make one by Pool.from_arrays"
            raise InvalidParameter(message, details={"value": pool})
        call = self._call.at(dt.datetime.now(dt.UTC), query, now)
        return self._run(pool.with_call(call))[0]

    def run(self, pool: Pool) -> tuple[Layout, Rendered | None]:
        """The layout of a pool that holds its own call, and its text where there is a template.

        For callers that check calls and make pools themselves, as `packer.arrow` does.
        """
        layout, rendered, _ = self._run(pool)
        return layout, rendered

    def _run(
        self, pool: Pool, begun: "_Begun | None" = None
    ) -> tuple[Layout, Rendered | None, tuple[StageTrace, ...]]:
        """The layout, its text where there is a template, and what each stage did.

        `begun`: what the first stages made of the pool already.
        """
        state: Any = pool if begun is None else begun.pool
        traces = [] if begun is None else list(begun.traces)
        started = time.perf_counter_ns()
        before = len(state), int(state.costs.sum())
        steps = self._program.steps[len(traces) :]
        if self.template is not None:
            filters = sum(step.gives is Pool for step, _ in steps)
            steps, last = steps[:filters], steps[filters:]
        for step, text in steps:
            state = advance(step, state, text)
            after = (len(state), int(state.costs.sum())) if step.gives is not Layout else before
            ended = time.perf_counter_ns()
            traces.append(_trace(text, before, after, ended - started))
            before, started = after, ended
        if self.template is None:
            layout: Layout = state if isinstance(state, Layout) else state.in_order()
            audit(layout, pool)
            return layout, None, tuple(traces)
        rendered, spent = _fitted(state, last)
        audit(rendered.layout, pool)
        after = len(rendered.layout), rendered.used
        for (_, text), nanoseconds in zip(last, spent, strict=True):
            traces.append(_trace(text, before, after, nanoseconds))
            before = after
        return rendered.layout, rendered, tuple(traces)


@final
@attrs.frozen(eq=False)
class _Begun:
    """What the filters of a policy made of a pool, for a call of another budget."""

    pool: Pool
    traces: tuple[StageTrace, ...]


@final
@attrs.define(eq=False)
class _Again:
    """A policy on one pool within other budgets.

    Filters say what a candidate is, and hardly ever look at the budget; where none did, `quick`
    runs them once for all budgets.
    """

    packer: Packer
    pool: Pool
    moment: dt.datetime
    begun: _Begun | None = None
    looked: bool = False

    @property
    def has_rows(self) -> bool:
        """Not where the ends of a template did not fit: all rows were out before the policy."""
        return self.pool.call.fixed <= self.pool.call.limit

    def whole(self, limit: int) -> Packed:
        return self.packer.pack_within(self.pool, limit, self.moment)

    def quick(self, limit: int) -> Packed:
        call = self.pool.call.within(limit)
        if self.begun is None and not self.looked:
            self.begin()
        if self.begun is None or call.fixed > call.limit:
            return self.whole(limit)
        begun = attrs.evolve(self.begun, pool=attrs.evolve(self.begun.pool, call=call))
        start = attrs.evolve(self.pool, call=call)
        return self.packer._packed(start, time.perf_counter(), self.moment, self, begun)  # noqa: SLF001

    def begin(self) -> None:
        """Run the filters, and see whether one looks at the budget."""
        call: Any = Watched(self.pool.call, ("budget", "limit", "within"))
        pool, traces = self.packer._filtered(attrs.evolve(self.pool, call=call))  # noqa: SLF001
        self.looked = call.was_read
        if not self.looked:
            self.begun = _Begun(pool, traces)


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
