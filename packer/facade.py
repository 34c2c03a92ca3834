"""The thin shell: check the call, read the clock, run the policy, build the report."""

import datetime as dt
import time
from collections.abc import Iterable
from typing import final

import attrs

from .algebra import Policy
from .budget import Budget
from .call import Call, checked_call
from .errors import InvalidParameter, shown
from .intake import ChunkLike, OnInvalid, checked_on_invalid
from .outcome import packed
from .pool import Pool
from .records import Packed
from .rendering import Rendered
from .replay import Replay
from .running import Filtered, Filters, Program, run
from .selection import Layout
from .template import Template
from .tokens import CountTokens, approximate

__all__ = ["Packer", "pack"]


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
    _program: Program = attrs.field(init=False, repr=False, eq=False)
    _call: Call = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        checked_on_invalid(self.on_invalid)
        call = checked_call(
            self.budget, self.overhead, self.count_tokens, self.query, self.now, self.template
        )
        object.__setattr__(self, "_call", call)
        object.__setattr__(self, "_program", Program.of(self.policy))

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
        pool = Pool.of_chunks(chunks, call, self.on_invalid)
        return self._packed(pool, started, moment, self._replay(pool, moment))

    def pool(self, chunks: Iterable[ChunkLike], *, query: str | None, now: dt.datetime) -> Pool:
        """These chunks, checked, counted and charged once, for `pack_within`."""
        return Pool.of_chunks(chunks, self._call.at(now, query, now), self.on_invalid)

    def pack_within(self, pool: Pool, limit: int, moment: dt.datetime) -> Packed:
        """Pack a pool that `pool` made within another budget than the configured one.

        A limit of 0 leaves room for what costs nothing, one below 0 for nothing at all.
        """
        started = time.perf_counter()
        return self._packed(pool.limited(limit), started, moment, self._replay(pool, moment))

    def _packed(
        self,
        pool: Pool,
        started: float,
        moment: dt.datetime,
        replay: Replay[Packed],
        begun: Filtered | None = None,
    ) -> Packed:
        """Run the policy, or what is left of it; `replay`: how it is run within other budgets."""
        done = run(self._program, pool, begun)
        return packed(
            done.layout,
            policy=self._program.policy,
            strategy=self._program.strategy,
            ordering=self._program.ordering,
            stages=done.stages,
            timestamp=moment.isoformat(timespec="milliseconds"),
            duration_ms=(time.perf_counter() - started) * 1e3,
            rendered=done.rendered,
            replay=replay,
        )

    def _replay(self, pool: Pool, moment: dt.datetime) -> Replay[Packed]:
        """How the pool is packed within other budgets; `quick` runs the filters once for all."""
        if pool.call.fixed > pool.call.limit:
            return Replay()  # the ends of a template did not fit: all rows were out before
        filters = Filters(pool)

        def whole(limit: int) -> Packed:
            return self.pack_within(pool, limit, moment)

        def quick(limit: int) -> Packed:
            call = pool.call.within(limit)
            if call.fixed > call.limit:
                return whole(limit)
            started = time.perf_counter()
            start, begun = attrs.evolve(pool, call=call), filters.begun(self._program)
            return self._packed(start, started, moment, replay, begun.under(call))

        replay = Replay(whole, quick)
        return replay

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
        return run(self._program, pool.with_call(call)).layout

    def run(self, pool: Pool) -> tuple[Layout, Rendered | None]:
        """The layout of a pool that holds its own call, and its text where there is a template.

        For callers that check calls and make pools themselves, as `packer.arrow` does.
        """
        done = run(self._program, pool)
        return done.layout, done.rendered
