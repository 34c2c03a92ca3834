"""Rules that hold inside the selection, with back-fill: stages Pool -> Pool that bind every selector.

They compose in any order with the same meaning.
"""

from typing import Final, Literal, TypeAlias, final

import attrs

from packer.algebra import Constraint
from packer.conditions import Condition
from packer.needing import edges_of
from packer.parameters import choice, condition, count, key, number, refusal
from packer.pool import Pool
from packer.quotas import keys_of
from packer.records import Reason
from packer.rules import GUARDS, UNBOUNDED, Distinct, Guard, Needs, Pin, Quota
from packer.similarity import METRICS, Metric
from packer.validation import STAGE

__all__ = ["cap", "distinct", "exclusive", "needs", "pin", "quota"]

SHOWN: Final = 5
"""So many chunks are named in a warning; its `ids` have them all."""

Unit: TypeAlias = Literal["chunks", "tokens"]
UNITS: Final = ("chunks", "tokens")


@final
@attrs.frozen(repr=False)
class PinStage(Constraint):
    name = "pin"
    condition: Condition = condition()

    def __call__(self, pool: Pool, /) -> Pool:
        rule = Pin(repr(self), self.condition)
        bound, matches = pool.bind(rule), pool.meeting(rule).any()
        gone = _gone(pool, self.condition, early=bool(matches))
        if gone:
            told = ", ".join(f"{id_!r} ({words})" for id_, words in gone[:SHOWN])
            told += f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""
            message = f"{self!r} wants in what is out before it: {told}"
            return bound.warn("unmatched-pin", message, ids=[id_ for id_, _ in gone])
        if len(pool) and not matches:
            return bound.warn("unmatched-pin", f"no chunk meets {self!r}")
        return bound


def _gone(pool: Pool, condition: Condition, *, early: bool) -> list[tuple[str, str]]:
    """The ids of what meets the condition and is out, and why; `early`: before all stages only.

    A repeat of an id counts where the chunk that has it now does not meet the condition.
    """
    table = pool.candidates
    found = [
        (out.id, _reason(out.reason, out.detail))
        for out in pool.invalid
        if condition.holds(out.metadata)
    ]
    cuts = [cut for cut in pool.cuts if cut.stage == STAGE or not early]
    here: set[str] = set()
    if any(cut.reason is Reason.DUPLICATE for cut in cuts):
        held = condition.each(pool.metadata)
        here = {id_ for id_, meets in zip(pool.ids, held, strict=True) if meets}
    for cut in cuts:
        for at, row in enumerate(cut.rows.tolist()):
            same = cut.reason is Reason.DUPLICATE and table.id(row) in here
            if not same and condition.holds(table.metadata[row]):
                found.append((table.id(row), _reason(cut.reason, cut.detail(at))))
    return found


def _reason(reason: Reason, detail: str | None) -> str:
    return f"{reason}: {detail}" if detail else str(reason)


def pin(condition: Condition) -> Constraint:
    """What meets the condition must be in, and is charged first; no later filter drops it.

    In code ``pin(field("source") == "system")``, in text ``pin(source == "system")``.

    The selector raises OVER_BUDGET when the pins alone do not fit, INFEASIBLE when another rule
    forbids one.  The report warns (`unmatched-pin`) where nothing meets the condition, or where
    what meets it was set aside before: invalid, blank, a repeat of an id.

    >>> from strategies import field
    >>> pin(field("source") == "system")
    pin(source == "system")
    """
    return PinStage(condition)


def _bound(pool: Pool, rule: Quota) -> Pool:
    """The pool with the rule, whose key is read here and not while the selector is at work."""
    keys_of(pool, rule.by)
    return pool.bind(rule)


@final
@attrs.frozen(repr=False)
class Cap(Constraint):
    name = "cap"
    n: int = count()
    by: str = key(default="source", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        return _bound(pool, Quota(repr(self), self.by, 0, self.n, "chunks", Reason.QUOTA))


def cap(n: int, *, by: str = "source") -> Constraint:
    """At most n chunks of each value of the key; the room goes to the next of other keys.

    Excludes as `quota`.  A chunk without the key is not bound.
    """
    return Cap(n, by=by)


@final
@attrs.frozen(repr=False)
class Exclusive(Constraint):
    name = "exclusive"
    by: str = key(default="group")

    def __call__(self, pool: Pool, /) -> Pool:
        return _bound(pool, Quota(repr(self), self.by, 0, 1, "chunks", Reason.EXCLUSIVE))


def exclusive(by: str = "group") -> Constraint:
    """At most one chunk of each value of the key: variants of one text, full, excerpt, summary.

    Under `knapsack` this is the multiple-choice knapsack, still exact.  Excludes as `exclusive`.
    """
    return Exclusive(by)


@final
@attrs.frozen(repr=False)
class DistinctStage(Constraint):
    name = "distinct"
    threshold: float = number(0.0, 1.0, above=0.0, default=0.85)
    metric: Metric = choice(METRICS, default="auto", kw_only=True)
    guard: Guard = choice(GUARDS, default="warn", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        return pool.bind(Distinct(repr(self), self.threshold, self.metric, self.guard))


def distinct(
    threshold: float = 0.85, *, metric: Metric = "auto", guard: Guard = "warn"
) -> Constraint:
    """Near-duplicates exclude each other during selection.

    Unlike `dedup`, which drops the worse before anything is chosen: here a cheaper copy comes in
    when the better one does not fit.  Threshold, metric and guard as in `dedup`; with
    ``guard="keep"`` two that do not state the same facts may both be in.  Excludes as `redundant`.
    Memory: the pairs at or above the threshold.
    """
    return DistinctStage(threshold, metric=metric, guard=guard)


@final
@attrs.frozen(repr=False)
class NeedsStage(Constraint):
    name = "needs"
    key: str = key(default="parent")

    def __call__(self, pool: Pool, /) -> Pool:
        edges_of(pool, self.key)  # read here and not while the selector is at work
        return pool.bind(Needs(repr(self), self.key))


def needs(key: str = "parent") -> Constraint:
    """A chunk is in only together with the chunk (or list of chunks) whose id it names.

    For a section's heading, or a table's header.  What names a chunk that is not a candidate
    cannot be in.  Excludes as `needs`.
    """
    return NeedsStage(key)


@final
@attrs.frozen(repr=False)
class QuotaStage(Constraint):
    name = "quota"
    min: int | None = count(kw_only=True, optional=True)
    max: int | None = count(kw_only=True, optional=True)
    by: str = key(default="source", kw_only=True)
    unit: Unit = choice(UNITS, default="tokens", kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise refusal("quota", "min", self.min, f"at most max, which is {self.max}")

    def __call__(self, pool: Pool, /) -> Pool:
        most = UNBOUNDED if self.max is None else self.max
        rule = Quota(repr(self), self.by, self.min or 0, most, self.unit, Reason.QUOTA)
        return _bound(pool, rule)


def quota(
    *,
    min: int | None = None,  # noqa: A002 (the words of the field)
    max: int | None = None,  # noqa: A002
    by: str = "source",
    unit: Unit = "tokens",
) -> Constraint:
    """For each value of the key that a candidate has: at least `min` and at most `max` are in.

    `unit`: "tokens" (with overhead) or "chunks".  A chunk without the key is not bound.  Excludes
    as `quota`; the selector raises INFEASIBLE when a `min` cannot be met.

    >>> quota(max=500, by="source")
    quota(max=500)
    """
    return QuotaStage(min=min, max=max, by=by, unit=unit)
