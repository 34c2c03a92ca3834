"""The rules of a pool as columns, what they demand, and what they keep out.

A pool without rules has no rulebook, and selectors take their plain way.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias, final

import attrs
import numpy as np

from . import kernels
from .arrays import Bools, Floats, Ints, best_first, frozen, sealed
from .columns import Cut
from .errors import Infeasible, OverBudget
from .metadata import names, present
from .pool import Pool
from .quotas import numbered
from .records import Difference, Optimality, Reason
from .rules import Distinct, Needs, Pin, Quota, Rule, pinned
from .selection import Selection
from .similarity import features
from .validation import STAGE

__all__ = ["Rulebook", "rulebook"]

Spared: TypeAlias = tuple[str, Ints, Ints, Floats]
"""The text of a stage, and pairs of rows with their similarities."""


@final
@attrs.frozen(eq=False, kw_only=True)
class Rulebook:
    """The rules of a pool of n rows, as `kernels.rules` takes them, and their words.

    `costs` int64[n]: those of the pool, but more than the budget for a row that needs a chunk
    which is no candidate (`missing` has that id), so that it can never come.  `spared`: the
    near-duplicates that may both be in, as they differ in a fact.
    """

    pool: Pool
    columns: tuple[Bools, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]
    costs: Ints
    quotas: tuple[Quota, ...]
    keys: tuple[tuple[object, ...], ...]
    likeness: Floats
    missing: dict[int, str]
    spared: tuple[Spared, ...] = ()

    def base(self, order: Ints) -> Ints | None:
        """The rows that must be in: pins with what they need, then what the minima ask for.

        Going down `order`, or by `solve` where that meets no minimum; None: they cannot be.
        """
        capacity = self.pool.capacity
        rows, complete = kernels.rules.base(frozen(order), self.costs, capacity, self.columns)
        if complete:
            return sealed(rows)
        if not self.pinned_fit(rows):
            return None
        found = self.solve(np.ones(len(self.pool), np.int64))
        return None if found is None else sealed(np.flatnonzero(found[0]))

    def pinned_fit(self, rows: Ints) -> bool:
        """Whether every pinned row is among these."""
        return bool(np.isin(np.flatnonzero(self.columns[0]), rows).all())

    def walk(self, order: Ints, start: Ints, *, stop: bool = False) -> Ints:
        """`start`, then the rows of `order` as they are addable, each after what it needs."""
        added = kernels.rules.walk(
            frozen(order), self.costs, self.pool.capacity, self.columns, start, stop
        )
        return np.concatenate([start, added])

    def solve(self, values: Ints) -> tuple[Bools, int, bool] | None:
        """The best rows by these values, a bound and whether it is proven; None: no selection.

        Raises INFEASIBLE when none was found within the work limit.
        """
        solve, limit = kernels.branch_and_bound.solve, kernels.branch_and_bound.WORK_LIMIT
        chosen, bound, proven, feasible = solve(
            frozen(values), self.costs, self.pool.capacity, self.columns, limit
        )
        if feasible:
            return chosen, int(bound), bool(proven)
        if not proven:
            rules = tuple(rule.stage for rule in self.pool.rules)
            message = (
                f"{self.pool.stage} found no selection within its work limit that satisfies "
                f"{', '.join(rules)}; loosen one"
            )
            raise Infeasible(message, details={"rules": rules})
        return None

    def without_idle(self, chosen: Ints) -> Ints:
        """The rows without those of a score <= 0 that no pin, minimum or other row asks for."""
        pool = self.pool
        group, amount, least = self.columns[1], self.columns[2], self.columns[3]
        at, parents = self.columns[7], self.columns[8]
        kept = dict.fromkeys(chosen.tolist())
        idle = [row for row in kept if pool.scores[row] <= 0 and not self.columns[0][row]]
        dropped = True
        while dropped:
            dropped = False
            for row in idle:
                if row not in kept:
                    continue
                asked = any(
                    row in parents[at[other] : at[other + 1]] for other in kept if other != row
                )
                rest = np.array([other for other in kept if other != row], np.int64)
                needed = any(
                    group[j, row] >= 0
                    and int(amount[j, rest[group[j, rest] == group[j, row]]].sum()) < least[j]
                    for j in range(len(least))
                )
                if not asked and not needed:
                    del kept[row]
                    dropped = True
        return np.array(list(kept), np.int64)

    # -- what is left out ------------------------------------------------------------------

    def select(
        self,
        rows: Ints,
        *,
        detail: Callable[[int], str | None] | None = None,
        optimality: Optimality | None = None,
    ) -> Selection:
        """The selection of these rows; what a rule keeps out is excluded by that rule."""
        pool = self.pool
        chosen = np.zeros(len(pool), np.bool_)
        chosen[rows] = True
        out = np.flatnonzero(~chosen)
        codes = self._codes(out, chosen)
        cuts = [*self._over_quota(out, codes), *self._rivals(out, codes, chosen)]
        needy = out[codes == kernels.rules.NEEDS]
        unfit = out[codes == kernels.rules.BUDGET]
        lacking = np.isin(unfit, list(self.missing))
        needy = np.concatenate([needy, unfit[lacking]]) if lacking.any() else needy
        cuts += self._cuts(Reason.NEEDS, needy, self._needs_detail, Needs)
        left = pool.budget - int(pool.costs[rows].sum())
        bundled = unfit[~lacking]
        bundled = bundled[pool.costs[bundled] <= left]  # it would fit, what it needs does not
        cuts += self._cuts(
            Reason.BUDGET,
            bundled,
            lambda _: f"what it needs does not fit in the {left} left",
            Needs,
        )
        for pairs in self._both_in(chosen) if self.spared else ():
            pool = pool.spare_both(pairs)
        return pool.select(rows, cuts=cuts, detail=detail, optimality=optimality)

    def _codes(self, out: Ints, chosen: Bools) -> Ints:
        """int64[len(out)]: why each row is not addable, as `kernels.rules.reasons` says it."""
        rules, pool = kernels.rules, self.pool
        if len(self.columns[6]) or len(self.columns[8]) or self.missing:
            return rules.reasons(
                sealed(out), frozen(chosen), self.costs, pool.capacity, self.columns
            )
        left = pool.capacity - int(pool.costs[chosen].sum())
        codes = np.where(pool.costs[out] <= left, rules.ADDABLE, rules.BUDGET)
        for number in reversed(range(len(self.quotas))):  # quotas alone: the first one counts
            group, amount = self.columns[1][number], self.columns[2][number]
            total = np.zeros(len(self.keys[number]) + 1, np.int64)  # the last is of no key
            np.add.at(total, group[chosen], amount[chosen])
            full = total[group[out]] + amount[out] > self.quotas[number].most
            codes[full & (group[out] >= 0)] = rules.QUOTA + number
        return codes

    def _over_quota(self, out: Ints, codes: Ints) -> list[Cut]:
        cuts = []
        for number, rule in enumerate(self.quotas):
            rows = out[codes == kernels.rules.QUOTA + number]
            if len(rows):
                detail = self._quota_detail(number)
                cuts.append(
                    attrs.evolve(self.pool.cut(rule.reason, rows, detail), stage=rule.stage)
                )
        return cuts

    def _quota_detail(self, number: int) -> Callable[[int], str]:
        rule, group, keys = self.quotas[number], self.columns[1][number], self.keys[number]
        return lambda row: f"{rule.by} {keys[group[row]]!r} has all of its {rule.most} {rule.unit}"

    def _rivals(self, out: Ints, codes: Ints, chosen: Bools) -> list[Cut]:
        rows = out[codes == kernels.rules.RIVAL]
        if not len(rows):
            return []
        at, rivals = self.columns[5], self.columns[6]
        other = np.zeros(len(self.pool), np.int64)
        similarity = np.zeros(len(self.pool))
        for row in rows.tolist():
            places = np.arange(at[row], at[row + 1])
            places = places[chosen[rivals[places]]]
            if not len(places):  # the rival is one that it needs
                places = np.arange(at[row], at[row + 1])
            best = places[np.argmax(self.likeness[places])]
            other[row], similarity[row] = rivals[best], self.likeness[best]
        guarded = any(
            isinstance(rule, Distinct) and rule.guard == "warn" for rule in self.pool.rules
        )
        cut = self.pool.cut(
            Reason.REDUNDANT,
            rows,
            lambda row: f"similarity {similarity[row]:.4f}, one of the two can be in",
            redundant_with=other,
            similarity=similarity,
            differences=(lambda row: self._differing(int(other[row]), row)) if guarded else None,
        )
        return [attrs.evolve(cut, stage=self.stage_of(Distinct))]

    def _differing(self, kept: int, other: int) -> tuple[Difference, ...]:

        from .comparison import differences

        table, rows = self.pool.candidates, self.pool.table_rows
        return differences(table.text(int(rows[kept])), table.text(int(rows[other])))

    def _both_in(self, chosen: Bools) -> Iterator[Cut]:
        """The near-duplicates that are both in, as if the worse were cut."""
        pool = self.pool
        rank = np.empty(len(pool), np.int64)
        rank[best_first(pool.scores)] = np.arange(len(pool))
        for stage, left, right, similarity in self.spared:
            both = np.flatnonzero(chosen[left] & chosen[right])
            better = rank[left[both]] < rank[right[both]]
            kept = np.where(better, left[both], right[both])
            other = np.where(better, right[both], left[both])
            yield Cut(
                stage,
                Reason.REDUNDANT,
                pool.table_rows[other],
                pool.scores[other],
                lambda _: None,
                pool.table_rows[kept],
                similarity[both],
                partial(self._differing_at, kept, other),
            )

    def _differing_at(self, kept: Ints, other: Ints, place: int) -> tuple[Difference, ...]:
        return self._differing(int(kept[place]), int(other[place]))

    def _cuts(
        self, reason: Reason, rows: Ints, detail: Callable[[int], str], kind: type[Rule]
    ) -> list[Cut]:
        if not len(rows):
            return []
        return [attrs.evolve(self.pool.cut(reason, rows, detail), stage=self.stage_of(kind))]

    def stage_of(self, kind: type) -> str:
        """The text of the first stage that made a rule of this kind."""
        return next(
            (rule.stage for rule in self.pool.rules if isinstance(rule, kind)), self.pool.stage
        )

    def _needs_detail(self, row: int) -> str:
        if row in self.missing:
            return f"needs {self.missing[row]!r}, which is no candidate"
        at, parents, pool = self.columns[7], self.columns[8], self.pool
        rows = pool.table_rows[parents[at[row] : at[row + 1]]].tolist()
        return f"needs {', '.join(repr(pool.candidates.id(parent)) for parent in rows)}"


# -- making one -----------------------------------------------------------------------------


def rulebook(pool: Pool) -> Rulebook | None:
    """The rules of a pool as columns; None when it has none.

    O(n) per rule; `Distinct` compares pairs (see `kernels.alike`).

    Raises MISSING_EMBEDDINGS, with the ids, for a `Distinct` by cosine.
    """
    if not pool.rules:
        return None
    _refuse_without_room(pool)
    quotas = tuple(rule for rule in pool.rules if isinstance(rule, Quota))
    group = np.full((len(quotas), len(pool)), -1, np.int64)
    amount = np.ones((len(quotas), len(pool)), np.int64)
    keys = []
    for number, rule in enumerate(quotas):
        keys.append(numbered(pool.column(rule.by), group[number]))
        if rule.unit == "tokens":
            amount[number] = pool.costs
    parent_at, parents, missing = _parents(pool)
    costs = np.array(pool.costs)
    costs[list(missing)] = pool.capacity + 1
    rival_at, rivals, likeness, spared = _rival_columns(pool)
    columns = (
        _pinned(pool),
        group,
        amount,
        np.array([rule.least for rule in quotas], np.int64),
        np.array([rule.most for rule in quotas], np.int64),
        rival_at,
        rivals,
        parent_at,
        parents,
    )
    for column in columns:
        sealed(column)
    return Rulebook(
        pool=pool,
        columns=columns,
        costs=sealed(costs),
        quotas=quotas,
        keys=tuple(keys),
        likeness=likeness,
        missing=missing,
        spared=spared,
    )


def _refuse_without_room(pool: Pool) -> None:
    """Raise OVER_BUDGET when what a rule wants in is out because no room is left for any chunk."""
    table = pool.candidates
    rows = [
        row
        for cut in pool.cuts
        if cut.stage == STAGE and cut.reason is Reason.BUDGET
        for row in cut.rows.tolist()
    ]
    for rule in pool.rules if rows else ():
        wanted = [
            table.id(row)
            for row in rows
            if (isinstance(rule, Pin) and rule.condition.holds(table.metadata[row]))
            or (
                isinstance(rule, Quota)
                and rule.least > 0
                and present(table.metadata[row].get(rule.by)) is not None
            )
        ]
        if wanted:
            message = (
                f"{rule.stage} wants {wanted[0]!r} in, and header and footer alone leave no room "
                f"in a budget of {max(pool.call.limit, 0)} tokens; raise the budget"
            )
            raise OverBudget(message, details={"ids": tuple(wanted), "rule": rule.stage})


def _pinned(pool: Pool) -> Bools:
    """bool[n]: the rows that must be in; the metadata is read only where a rule pins."""
    if any(isinstance(rule, Pin) for rule in pool.rules):
        return pinned(pool.rules, pool.metadata)
    return np.zeros(len(pool), np.bool_)


def _parents(pool: Pool) -> tuple[Ints, Ints, dict[int, str]]:
    """The rows that each row needs, and for a row that cannot come the id that is missing."""
    missing: dict[int, str] = {}
    keys = [rule.key for rule in pool.rules if isinstance(rule, Needs)]
    if not keys:
        return np.zeros(len(pool) + 1, np.int64), np.empty(0, np.int64), missing
    ids = pool.ids
    row_of = dict(zip(ids, range(len(ids)), strict=True))
    edges: dict[tuple[int, int], None] = {}  # each once, whichever rules it comes from
    for row, value in (
        found for key in keys for found in enumerate(pool.column(key)) if found[1] is not None
    ):
        for name in names(value):
            parent = row_of.get(name)
            if parent is None:
                missing.setdefault(row, name)
            elif parent != row:
                edges[row, parent] = None
    rows, parents = [row for row, _ in edges], [parent for _, parent in edges]
    _spread(missing, rows, parents, ids)
    children = np.array(rows, np.int64)
    at = np.zeros(len(pool) + 1, np.int64)
    np.cumsum(np.bincount(children, minlength=len(pool)), out=at[1:])
    return at, np.array(parents, np.int64)[np.argsort(children, kind="stable")], missing


def _spread(
    missing: dict[int, str], rows: Sequence[int], parents: Sequence[int], ids: Sequence[str]
) -> None:
    """Add to `missing` what needs a row that cannot come."""
    if not missing:
        return
    children: dict[int, list[int]] = {}
    for row, parent in zip(rows, parents, strict=True):
        children.setdefault(parent, []).append(row)
    waiting = list(missing)
    while waiting:
        row = waiting.pop()
        for child in children.get(row, ()):
            if child not in missing:
                missing[child] = ids[row]
                waiting.append(child)


def _rival_columns(pool: Pool) -> tuple[Ints, Ints, Floats, tuple[Spared, ...]]:
    """For each row those that it excludes, and how similar they are: symmetric, CSR.

    And the near-duplicates that a guard spares.
    """
    left, right, alike, spared = [], [], [], []
    for rule in pool.rules:
        if isinstance(rule, Distinct) and len(pool) > 1:
            _, found = features(pool, rule.metric)
            rows, others, similarity = kernels.alike.pairs(*found.arrays, rule.threshold)
            if rule.guard == "keep" and len(rows):
                same = _same_facts(pool, rows, others)
                spared.append((rule.stage, rows[~same], others[~same], similarity[~same]))
                rows, others, similarity = rows[same], others[same], similarity[same]
            left.append(rows)
            right.append(others)
            alike.append(similarity)
    if not left:
        return np.zeros(len(pool) + 1, np.int64), np.empty(0, np.int64), np.empty(0), ()
    rows = np.concatenate([*left, *right])
    others = np.concatenate([*right, *left])
    similarity = np.concatenate([*alike, *alike])
    order = np.lexsort((-similarity, others, rows))
    pair = rows[order] * len(pool) + others[order]
    order = order[np.unique(pair, return_index=True)[1]]  # of two rules' pairs the more similar
    rows = rows[order]
    at = np.zeros(len(pool) + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=len(pool)), out=at[1:])
    return at, others[order], similarity[order], tuple(spared)


def _same_facts(pool: Pool, rows: Ints, others: Ints) -> Bools:
    """Which of these pairs state the same facts.  Each text is read once."""
    from .facts import signature

    named: dict[tuple[str, ...], int] = {}
    number = np.zeros(len(pool), np.int64)
    for row in np.union1d(rows, others).tolist():
        text = pool.candidates.text(int(pool.table_rows[row]))
        number[row] = named.setdefault(signature(text), len(named))
    same: Bools = number[rows] == number[others]
    return same
