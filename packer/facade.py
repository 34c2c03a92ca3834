"""The thin shell: check the call, read the clock, run the policy, build the report."""

import datetime as dt
import time
from collections.abc import Iterable
from typing import Any, final

import attrs

from .algebra import Policy, Step, advance, audit, checked_policy
from .call import Call, checked_call
from .errors import InvalidParameter, shown
from .intake import ChunkLike, OnInvalid, checked_on_invalid
from .outcome import packed
from .pool import Pool
from .records import Packed, StageTrace
from .selection import Layout, Selection
from .tokens import CountTokens, approximate

__all__ = ["Packer", "pack"]


def pack(
    chunks: Iterable[ChunkLike],
    policy: Policy,
    *,
    budget: int,
    overhead: int = 0,
    count_tokens: CountTokens = approximate,
    query: str | None = None,
    on_invalid: OnInvalid = "raise",
    now: dt.datetime | str | float | None = None,
) -> Packed:
    """Choose which chunks go into the context window, in what order, and say why.

    `chunks`: `Chunk`s, or mappings with the same keys.  `budget`: tokens, an int above 0.
    `overhead`: tokens charged for each chunk (separators, citation marks).  `count_tokens`: for
    chunks that come without `tokens`.  `query`: the request's words, for stages that look at
    them.  `now`: for stages that look at age; the clock when left out.  `on_invalid`: "raise"
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
        on_invalid=on_invalid,
    )
    return packer.pack(chunks, query=query, now=now)


@final
@attrs.frozen
class _Program:
    """A policy taken apart once: its steps, their texts, and what the report calls it."""

    steps: tuple[tuple[Step[Any, Any], str], ...]
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
    budget: int = attrs.field(kw_only=True)
    overhead: int = attrs.field(default=0, kw_only=True)
    count_tokens: CountTokens = attrs.field(default=approximate, kw_only=True)
    query: str | None = attrs.field(default=None, kw_only=True)
    on_invalid: OnInvalid = attrs.field(default="raise", kw_only=True)
    now: dt.datetime | str | float | None = attrs.field(default=None, kw_only=True)
    _program: _Program = attrs.field(init=False, repr=False, eq=False)
    _call: Call = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        checked_on_invalid(self.on_invalid)
        call = checked_call(self.budget, self.overhead, self.count_tokens, self.query, self.now)
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
        call = self._call_at(moment, query, now)
        pool = Pool.of_chunks(chunks, call, self.on_invalid)
        layout, stages = self._run(pool)
        return packed(
            layout,
            policy=self._program.policy,
            strategy=self._program.strategy,
            ordering=self._program.ordering,
            stages=stages,
            timestamp=moment.isoformat(timespec="milliseconds"),
            duration_ms=(time.perf_counter() - started) * 1e3,
        )

    def select(
        self,
        pool: Pool,
        *,
        query: str | None = None,
        now: dt.datetime | str | float | None = None,
    ) -> Layout:
        """The layout of a pool (see `Pool.from_arrays`): `layout.rows` index the caller's arrays.

        The path without records: nothing is counted, and no report is built.

        >>> from strategies import greedy
        >>> pool = Pool.from_arrays(scores=[0.2, 0.9, 0.5], tokens=[60, 60, 30])
        >>> Packer(greedy, budget=100).select(pool).rows.tolist()
        [1, 2]
        """
        if not isinstance(pool, Pool):
            message = f"select takes a Pool, not {shown(pool)}; make one by Pool.from_arrays"
            raise InvalidParameter(message, details={"value": pool})
        call = self._call_at(dt.datetime.now(dt.UTC), query, now)
        layout, _ = self._run(pool.with_call(call))
        return layout

    def _call_at(self, moment: dt.datetime, query: str | None, now: object) -> Call:
        if query is None and now is None:
            return self._call.at(moment)
        return checked_call(
            self.budget,
            self.overhead,
            self.count_tokens,
            self.query if query is None else query,
            next(given for given in (now, self._call.now, moment) if given is not None),
        )

    def _run(self, pool: Pool) -> tuple[Layout, tuple[StageTrace, ...]]:
        state: Any = pool
        traces = []
        chunks, tokens = len(pool), int(pool.costs.sum())
        for step, text in self._program.steps:
            started = time.perf_counter_ns()
            state = advance(step, state, text)
            spent = (time.perf_counter_ns() - started) / 1e3
            before = chunks, tokens
            if step.gives is not Layout:
                chunks, tokens = len(state), int(state.costs.sum())
            traces.append(StageTrace(text, before[0], chunks, before[1], tokens, spent))
        layout: Layout = state if isinstance(state, Layout) else state.in_order()
        audit(layout, pool)
        return layout, tuple(traces)
