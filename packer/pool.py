"""What flows between stages, chunks as columns: `Pool` -> `Selection` -> `Layout`.

    Pool         the rows still in play, their current scores, and what was excluded so far
    Selection    a pool and the rows chosen from it, in selection order (`packer.selection`)
    Layout       a selection and the order in which it is shown

All are immutable.  Each phase has one verb that checks what a stage decided and records it:
`Pool.keep` and `Pool.rescore`, `Pool.select`, `Selection.arrange`.

Row numbers count from the thing that they are given to: `pool.select([0])` is the first row of
that pool; `table_rows` are the places in the table that all pools of a call share.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar, final

import attrs
import numpy as np
import numpy.typing as npt

from .arrays import Bools, Floats, Ints, Vectors, sealed
from .call import Call, checked_call
from .charging import charges, lacking, part_tokens
from .columns import Candidates, Combine, Cut, Rescoring, Rows
from .errors import InvalidParameter, InvalidStrategy, shown
from .intake import ChunkLike, Intake, OnInvalid, estimates, from_arrays, from_chunks
from .records import Difference, Exclusion, Optimality, Reason, Warning
from .rules import Overlap, Pin, Rule, in_order
from .selection import Selection
from .spans import Cover, Spans, along, spans_of
from .tokens import CountTokens, approximate, counts, is_estimate
from .validation import STAGE, refusal

__all__ = ["Cutting", "Detail", "Pool"]

T = TypeVar("T")

Detail: TypeAlias = Callable[[int], str | None] | str | None
"""What would have let a row in: a text, or a function of the row that makes it when read."""

NO_PARTS: Final[Mapping[str, npt.ArrayLike]] = MappingProxyType({})

Differing: TypeAlias = Callable[[int], tuple[Difference, ...]]
"""In which facts a row and its near-duplicate differ, when read."""

UNLIMITED: Final = 2**62
"""The budget of a pool that was made without one."""


@final
@attrs.frozen
class Cutting:
    """That the first chunk which does not fit is cut, at least to `min_tokens`.

    `spare`: tokens that stay free, as the rendered text needed them for its joins.
    """

    min_tokens: int
    spare: int = 0


@final
@attrs.frozen(eq=False, kw_only=True)
class Pool(Rows):
    """The candidates still in play, n rows, and what happened so far.

    `table_rows` int64[n] are their places in the table `candidates`, `scores` float64[n] the
    current scores, `costs` int64[n] tokens (with a template, of the rendered form) + overhead.
    `stage` is the text of the stage that is at work.  `calibrated`: the scores are probabilities
    that were fitted to labels, so that they add up.  `spared`: near-duplicates that a guard kept.
    """

    candidates: Candidates
    call: Call
    table_rows: Ints
    scores: Floats
    costs: Ints
    stage: str = "a stage"
    cuts: tuple[Cut, ...] = ()
    rescorings: tuple[Rescoring, ...] = ()
    warnings: tuple[Warning, ...] = ()
    invalid: tuple[Exclusion, ...] = ()
    estimated: bool = False
    cutting: Cutting | None = None
    rules: tuple[Rule, ...] = ()
    calibrated: bool = False
    spared: tuple[Cut, ...] = ()
    _derived: dict[str, Any] = attrs.field(factory=dict, repr=False)
    _above: "tuple[Pool, Ints] | None" = attrs.field(default=None, repr=False)

    # -- making one ------------------------------------------------------------------------

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[ChunkLike],
        *,
        budget: int = UNLIMITED,
        overhead: int = 0,
        count_tokens: CountTokens = approximate,
        query: str | None = None,
        now: object = None,
        on_invalid: OnInvalid = "raise",
    ) -> "Pool":
        """The pool of these chunks, checked; the arguments are those of `packer.pack`.

        Raises what `pack` raises.

        >>> Pool.from_chunks([{"content": "a", "score": 0.9}, {"content": "b", "score": 0.2}]).ids
        ['chunk-0', 'chunk-1']
        """
        call = checked_call(budget, overhead, count_tokens, query, now)
        return cls.of_chunks(chunks, call, on_invalid)

    @classmethod
    def of_chunks(
        cls, chunks: Iterable[ChunkLike], call: Call, on_invalid: OnInvalid = "raise"
    ) -> "Pool":
        """The pool of these chunks for a call that was checked before."""
        return cls.of_intake(from_chunks(chunks, call.count_tokens, on_invalid), call, on_invalid)

    @classmethod
    def from_arrays(
        cls,
        scores: npt.ArrayLike,
        tokens: npt.ArrayLike,
        embeddings: npt.ArrayLike | None = None,
        ids: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        metadata: Sequence[Mapping[str, object]] | None = None,
        *,
        budget: int = UNLIMITED,
        overhead: int = 0,
        query: str | None = None,
        now: object = None,
    ) -> "Pool":
        """A pool straight from arrays, for services that already hold them.

        `scores` float[n]; `tokens` int[n]; `embeddings` float[n, d]; the other columns have n
        entries.  float64, int64 and float32 arrays in C order are not copied.  `Packer.select`
        puts its own call (budget, overhead, query, now) in; give them here to try a stage.

        Raises INVALID_CHUNK, naming the column and the row.

        >>> pool = Pool.from_arrays([0.9, 0.2], [40, 30], budget=50)
        >>> selection = pool.select([0])
        >>> selection.pool.cuts[0].reason, selection.pool.cuts[0].detail(0)
        (<Reason.BUDGET: 'budget'>, 'needs 20 more tokens')
        """
        call = checked_call(budget, overhead, approximate, query, now)
        return cls.of_intake(from_arrays(scores, tokens, embeddings, ids, texts, metadata), call)

    @classmethod
    def of_intake(cls, intake: Intake, call: Call, on_invalid: OnInvalid = "raise") -> "Pool":
        """The pool of columns that were checked before."""
        table, rows = intake.candidates, intake.rows
        whole = len(rows) == len(table)
        pool = cls(
            candidates=table,
            call=call,
            table_rows=rows,
            scores=table.scores if whole else sealed(table.scores[rows]),
            costs=_costs(table, rows, call),
            cuts=intake.cuts,
            warnings=intake.warnings,
            invalid=intake.invalid,
            estimated=intake.estimated,
        )
        return pool if call.template is None else _rendered(pool, on_invalid)

    def with_call(self, call: Call) -> "Pool":
        """The same chunks for another call."""
        pool = self._but(call=call, costs=_costs(self.candidates, self.table_rows, call))
        return pool if call.template is None else _rendered(pool, "raise")

    def limited(self, limit: int) -> "Pool":
        """The same chunks, charged as before, for a caller's budget of `limit`."""
        pool = self._but(call=self.call.within(limit))
        return pool if pool.call.template is None else _without_room(pool)

    def within(self, budget: int) -> "Pool":
        """The same chunks for a call that may charge them so much in all."""
        return self._but(call=attrs.evolve(self.call, budget=budget))

    def narrowed(self, rows: Ints) -> "Pool":
        """These rows alone, with nothing recorded: for a look at a part, as `keep` takes."""
        return self._but(
            table_rows=sealed(self.table_rows[rows]),
            scores=sealed(self.scores[rows]),
            costs=sealed(self.costs[rows]),
            _derived={},
            _above=(self, rows),
        )

    def _but(self, **changes: Any) -> "Pool":
        """The pool with some fields changed; `attrs.evolve` takes three times as long."""
        other = object.__new__(Pool)
        for name, setter in _SETTERS:
            setter(other, changes[name] if name in changes else getattr(self, name))
        return other

    # -- columns ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.table_rows)

    @property
    def original_scores(self) -> Floats:
        """float64[n]: the scores that came in; `scores` are those that scoring stages made."""
        return sealed(self.candidates.scores[self.table_rows])

    @property
    def embeddings(self) -> Vectors | None:
        """float32[n, d] as given (zero rows where `has_embedding` is False), or None."""
        vectors = self.candidates.vectors
        rows = self.table_rows
        if vectors is None or (len(rows) == len(vectors) and (rows[1:] > rows[:-1]).all()):
            return vectors  # all rows, in their order
        return sealed(vectors[self.table_rows])

    @property
    def has_embedding(self) -> Bools:
        """bool[n]: which rows came with an embedding."""
        return sealed(self.candidates.has_vector[self.table_rows])

    @property
    def budget(self) -> int:
        """What may be spent in all, in tokens."""
        return self.call.budget

    @property
    def capacity(self) -> int:
        """The budget, or what all rows cost together where that is less: it fits in int64."""
        return min(self.call.budget, int(np.add.reduce(self.costs)))

    @property
    def query(self) -> str | None:
        """The request's words, where the caller gave them."""
        return self.call.query

    @property
    def now(self) -> dt.datetime | None:
        """The moment of the call, UTC."""
        return self.call.now

    def derive(self, name: str, build: "Callable[[Pool], T]", take: Callable[[T, Ints], T]) -> T:
        """A column made from this pool's own, once.

        Pools narrowed from this one `take` their rows from it, so that, say, a text's trigrams
        are made once in a call however many stages look at them.
        """
        if name not in self._derived:
            above, kept = self._above if self._above is not None else (None, None)
            if above is not None and kept is not None and above.has_derived(name):
                self._derived[name] = take(above.derive(name, build, take), kept)
            else:
                self._derived[name] = build(self)
        found: T = self._derived[name]
        return found

    def has_derived(self, name: str) -> bool:
        """Whether this pool or one that it was narrowed from has made the column."""
        return name in self._derived or (
            self._above is not None and self._above[0].has_derived(name)
        )

    @property
    def pinned(self) -> Bools:
        """bool[n]: the rows that a rule wants in; each pin's condition is read once in a call."""
        found = np.zeros(len(self), np.bool_)
        for rule in self.rules:
            if isinstance(rule, Pin):
                found |= self.meeting(rule)
        return sealed(found)

    def meeting(self, pin: Pin) -> Bools:
        """bool[n]: the rows that meet the condition of a pin."""
        return self.derive(
            pin.stage,
            lambda pool: sealed(np.array(pin.condition.each(pool.metadata), np.bool_)),
            lambda mask, rows: sealed(mask[rows]),
        )

    @property
    def overlapping(self) -> bool:
        """Whether rows are charged only for what is new, and any two have something in common."""
        return any(isinstance(rule, Overlap) for rule in self.rules) and any(self.spans.meets)

    @property
    def spans(self) -> Spans:
        """The spans of the rows in their sources."""
        return self.derive(
            "spans", lambda pool: spans_of(pool.candidates, pool.table_rows), Spans.taken
        )

    def cover(self, *, tokens: bool = False) -> Cover:
        """What nothing covers yet, to charge rows one after the other; `tokens`: of texts alone."""
        known = self.derive("counted parts", lambda _: {}, lambda known, _: known)
        table, call, rows = self.candidates, self.call, self.table_rows.tolist()

        def counted(row: int, start: int, end: int) -> int:
            at = rows[row]
            part = at, start, end
            if part not in known:
                known[part] = part_tokens(table, at, start, end, call)
            return known[part]

        if tokens:
            return Cover(self.spans, self.tokens, 0, counted)
        return Cover(self.spans, self.costs, self.call.overhead, counted)

    def charged(self, rows: Iterable[int]) -> Ints:
        """int64[n]: what each row costs when these are in, chosen in this order.

        `costs`, but where rows are charged only for what is new: of these rows what was new when
        each came, of the others what would be.
        """
        return along(self.cover(), rows) if self.overlapping else self.costs

    # -- verbs -----------------------------------------------------------------------------

    def at(self, stage: str) -> "Pool":
        """The same pool inside a stage: what is excluded next is that stage's doing."""
        return self._but(stage=stage)

    def bind(self, rule: Rule) -> "Pool":
        """The pool with one more rule, which the selector obeys; the order of rules says nothing."""
        return self if rule in self.rules else self._but(rules=in_order((*self.rules, rule)))

    def with_rules(self, rules: Iterable[Rule]) -> "Pool":
        """The same pool under these rules alone."""
        return self._but(rules=tuple(rules))

    def keep(
        self,
        mask: npt.ArrayLike,
        *,
        reason: Reason | str,
        detail: Detail = None,
        redundant_with: Ints | None = None,
        similarity: Floats | None = None,
        differences: Differing | None = None,
    ) -> "Pool":
        """The pool of the rows where `mask` (bool[n]) is True; the others are excluded.

        What a rule of the pool pins stays in any case.  `detail`: a text, or a function of the row.  `redundant_with` (int64[n], rows of this
        pool) and `similarity` (float64[n]) count where the mask is False.  `differences`: a
        function of the row that gives the facts in which it and `redundant_with` differ.

        Raises INVALID_STRATEGY for a mask of another shape, INVALID_PARAMETER for a reason that
        is none of `Reason`.
        """
        kept = np.asarray(mask)
        if kept.shape != self.table_rows.shape or (kept.dtype != np.bool_ and kept.size):
            message = (
                f"{self.stage} kept by a mask of {kept.dtype}{list(kept.shape)}; "
                f"a mask is bool[{len(self)}], one for each row of the pool"
            )
            raise InvalidStrategy(message, details={"stage": self.stage})
        why = _reason(reason)
        if self.rules and not kept.all():
            kept = kept | self.pinned
        within = np.flatnonzero(kept)
        if len(within) == len(self):
            return self
        out = np.flatnonzero(~kept)
        cut = self.cut(
            why,
            out,
            detail,
            redundant_with=redundant_with,
            similarity=similarity,
            differences=differences,
        )
        narrow = self.narrowed(within)
        return narrow._but(cuts=(*self.cuts, cut))  # noqa: SLF001  # its own

    def rescore(
        self,
        scores: npt.ArrayLike,
        *,
        parts: Mapping[str, npt.ArrayLike] = NO_PARTS,
        combine: Combine = "sum",
        calibrated: bool = False,
    ) -> "Pool":
        """The pool with other current scores (float64[n], finite); records keep the original.

        `parts`: what each score is made of, by name float64[n]; `Packed.value` tells of them.
        `combine`: the score is their "sum", or with "product" the score before times each.
        `calibrated`: these are fitted probabilities, of which no selector need warn.

        Raises INVALID_STRATEGY for another shape or a number that is not finite.

        >>> pool = Pool.from_arrays([0.5, 0.25], [1, 1])
        >>> pool.rescore(pool.scores + 0.25, parts={"score": pool.scores, "bonus": [0.25, 0.25]}).scores
        array([0.75, 0.5 ])
        """
        try:
            column = np.array(scores, dtype=np.float64)
        except (TypeError, ValueError):
            column = np.full(len(self), np.nan)
        if column.shape != self.scores.shape or not np.isfinite(column).all():
            message = (
                f"{self.stage} gave {int(np.isfinite(column).sum())} finite scores of shape "
                f"{list(column.shape)}; it must give {len(self)}, one for each row of the pool"
            )
            raise InvalidStrategy(message, details={"stage": self.stage})
        after = sealed(column + 0.0)
        told = {name: self._part(name, part) for name, part in parts.items()}
        done = Rescoring(self.stage, self.table_rows, self.scores, after, told, combine)
        return self._but(scores=after, rescorings=(*self.rescorings, done), calibrated=calibrated)

    def _part(self, name: str, part: npt.ArrayLike) -> Floats:
        try:
            column = np.asarray(part, dtype=np.float64)
        except (TypeError, ValueError):
            column = np.full(0, np.nan)
        if column.shape != self.scores.shape or not np.isfinite(column).all():
            message = (
                f"{self.stage} gave the part {name!r} as {shown(part)}; a part is {len(self)} finite "
                "numbers, one for each row of the pool"
            )
            raise InvalidStrategy(message, details={"stage": self.stage, "part": name})
        return sealed(column.copy()) if column.flags.writeable else column

    def rewrite(self, rows: Ints, texts: Sequence[str]) -> "Pool":
        """The pool with shorter texts in these rows (int64[k]), counted and charged anew.

        Records keep what a text was: `PackedChunk.original_tokens`, and exclusions in full.
        Embeddings stay those of the whole.  O(m), and two calls of the counter a row.

        Raises INVALID_COUNTER for a counter that does not count.
        """
        at = self.table_rows[rows]
        ids = [self.candidates.id(row) for row in at.tolist()]
        table = self.candidates.rewritten(at, texts, counts(self.call.count_tokens, texts, ids))
        costs = self.costs.copy()
        costs[rows] = charges(table, at, self.call)
        return self._but(candidates=table, costs=sealed(costs), _derived={}, _above=None)

    def cut_to_fill(self, min_tokens: int) -> "Pool":
        """The pool whose selector cuts the first chunk that does not fit, to `min_tokens` or more."""
        return self._but(cutting=Cutting(min_tokens))

    def uncut(self) -> "Pool":
        """The pool whose selector cuts nothing."""
        return self._but(cutting=None)

    @property
    def bound(self) -> bool:
        """Whether rules bind the selection, so that no row may go without the others' leave."""
        return bool(self.rules)

    def spare(self, tokens: int) -> "Pool":
        """The pool that leaves so many tokens free where it cuts a chunk to fill."""
        if self.cutting is None:
            return self
        return self._but(cutting=attrs.evolve(self.cutting, spare=tokens))

    def warn(
        self, code: str, message: str, rows: Iterable[int] = (), ids: Iterable[str] = ()
    ) -> "Pool":
        """The pool with a warning for the report, about these rows, and ids that are in none."""
        named = [self.candidates.id(int(self.table_rows[row])) for row in rows] + list(ids)
        warning = Warning(code, message, tuple(named))
        if warning in self.warnings:
            return self
        return self._but(warnings=(*self.warnings, warning))

    def spare_both(self, pairs: Cut) -> "Pool":
        """The pool with pairs for the report that are both in play though they are near-duplicates."""
        return self._but(spared=(*self.spared, pairs))

    def select(
        self,
        rows: npt.ArrayLike,
        *,
        cuts: Sequence[Cut] = (),
        detail: Callable[[int], str | None] | None = None,
        optimality: Optimality | None = None,
    ) -> "Selection":
        """The selection of these rows (int64[k]), in this order.

        The rest is excluded: as `budget` what costs more than remains, as `strategy` what would
        still fit, except for what `cuts` (made by `cut`) exclude for reasons of their own.
        `detail`, a function of the row, may say more than the usual words.

        Raises INVALID_STRATEGY for a row that is not in the pool, one chosen twice, and a choice
        that costs more than the budget.
        """
        chosen, rest = self._checked(rows)
        costs = self.charged(chosen.tolist()) if self.rules else self.costs
        left = self.call.budget - int(np.add.reduce(costs[chosen]))
        if left < 0:
            message = (
                f"{self.stage} chose {self.call.budget - left} tokens of a budget of "
                f"{self.call.budget}; a selector must stay within it"
            )
            raise InvalidStrategy(message, details={"stage": self.stage, "over": -left})
        if cuts:
            ruled = np.zeros(len(self.candidates), np.bool_)
            ruled[np.concatenate([cut.rows for cut in cuts])] = True
            rest &= ~ruled[self.table_rows]
        out = rest.nonzero()[0]
        fits = costs[out] <= left

        def usual(row: int) -> str:
            cost = int(costs[row])
            if cost > left:
                return f"needs {cost - left} more tokens"
            return f"its {cost} tokens would fit in the {left} left"

        def told(row: int) -> str:
            return (detail(row) if detail else None) or usual(row)

        more = [
            *cuts,
            *(
                self.cut(reason, part, told)
                for reason, part in ((Reason.BUDGET, out[~fits]), (Reason.STRATEGY, out[fits]))
                if len(part)
            ),
        ]
        pool = self._but(cuts=(*self.cuts, *more)) if more else self
        charged = None if costs is self.costs else sealed(costs[chosen])
        return Selection(pool=pool, chosen=sealed(chosen), optimality=optimality, charged=charged)

    def cut(
        self,
        reason: Reason,
        out: Ints,
        detail: Detail = None,
        *,
        redundant_with: Ints | None = None,
        similarity: Floats | None = None,
        differences: Differing | None = None,
    ) -> Cut:
        """The exclusion of these rows (int64[c]) by the stage at work, for `select`.

        `redundant_with` (rows), `similarity` and `differences` are of the pool, as for `keep`.
        """
        return Cut(
            self.stage,
            reason,
            self.table_rows[out],
            self.scores[out],
            _told(detail, out),
            None if redundant_with is None else self.table_rows[redundant_with[out]],
            None if similarity is None else similarity[out],
            None if differences is None else lambda place: differences(int(out[place])),
        )

    def _checked(self, rows: npt.ArrayLike) -> tuple[Ints, Bools]:
        """The chosen rows, each once, and a mask of the others."""
        rest = np.ones(len(self), dtype=np.bool_)
        chosen = np.array(rows)
        if chosen.ndim == 1 and not chosen.size:
            return np.empty(0, dtype=np.int64), rest
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            message = f"{self.stage} chose {shown(rows)}; a selection is a list of row numbers"
            raise InvalidStrategy(message, details={"stage": self.stage})
        least, most = int(np.minimum.reduce(chosen)), int(np.maximum.reduce(chosen))
        if least < 0 or most >= len(self):
            foreign = least if least < 0 else most
            message = f"{self.stage} chose row {foreign}; its pool has the rows 0..{len(self) - 1}"
            raise InvalidStrategy(message, details={"stage": self.stage, "row": foreign})
        chosen = chosen.astype(np.int64, copy=False)
        rest[chosen] = False
        if len(self) - np.count_nonzero(rest) < len(chosen):
            twice = self.candidates.id(int(self.table_rows[np.bincount(chosen).argmax()]))
            message = f"{self.stage} chose chunk {twice!r} twice; a chunk can be in once"
            raise InvalidStrategy(message, details={"stage": self.stage, "id": twice})
        return chosen, rest


_SETTERS: Final = [(field.name, getattr(Pool, field.name).__set__) for field in attrs.fields(Pool)]
"""How the slots of a pool are filled, past the guard that keeps it frozen."""


def _costs(table: Candidates, rows: Ints, call: Call) -> Ints:
    """int64[n]: what each of these rows costs, tokens + overhead."""
    if call.template is not None:
        return sealed(charges(table, rows, call))
    tokens = table.tokens if len(rows) == len(table) else table.tokens[rows]
    return sealed(tokens + call.overhead)


def _rendered(pool: Pool, on_invalid: OnInvalid) -> Pool:
    """The pool without what its template cannot write; all are out where its ends do not fit.

    Raises INVALID_CHUNK, naming every chunk that lacks a field, unless `on_invalid` is "exclude".
    """
    table, call, stage = pool.candidates, pool.call, pool.stage
    assert call.template is not None  # or nobody asks
    if table.texts is None:
        message = "a template writes texts, and the pool was made from arrays without `texts`"
        raise InvalidParameter(message, details={"template": call.template})
    lacks, told = lacking(table, pool.table_rows, call.template.keys)
    if told and on_invalid == "raise":
        places = table.source_rows[pool.table_rows[lacks]].tolist()
        ids = {int(at): table.id(row) for row, at in enumerate(table.source_rows.tolist())}
        raise refusal({at: [words] for at, words in zip(places, told, strict=True)}, ids)
    words = dict(zip(np.flatnonzero(lacks).tolist(), told, strict=True))
    pool = pool.at(STAGE).keep(~lacks, reason=Reason.INVALID, detail=words.get)
    pool = _without_room(pool)
    if len(pool) and is_estimate(call.count_tokens) and not pool.estimated:
        warning = estimates(len(pool), len(table), call.count_tokens)
        pool = pool._but(estimated=True, warnings=(*pool.warnings, warning))  # noqa: SLF001
    return pool.at(stage)


def _without_room(pool: Pool) -> Pool:
    """The pool without its rows where the ends of the template alone do not fit."""
    call = pool.call
    if call.fixed <= call.limit:
        return pool
    why = f"header and footer alone cost {call.fixed} tokens of a budget of {max(call.limit, 0)}"
    why = why if call.fixed else "no room is left"
    none = np.zeros(len(pool), np.bool_)
    return pool.at(STAGE).keep(none, reason=Reason.BUDGET, detail=why).at(pool.stage)


def _reason(reason: Reason | str) -> Reason:
    try:
        return Reason(reason)
    except ValueError:
        known = ", ".join(Reason)
        message = f"{shown(reason)} is no reason; write one of {known}"
        raise InvalidParameter(message, details={"reason": reason}) from None


def _told(detail: Detail, rows: Ints) -> Callable[[int], str | None]:
    """The detail as a function of the place in a cut of these rows."""
    if callable(detail):
        tell = detail
        return lambda place: tell(int(rows[place]))
    return lambda _: detail
