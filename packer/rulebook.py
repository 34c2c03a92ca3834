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
from .needing import Edges, edges_of
from .pool import Pool
from .quotas import detail_of, keys_of, over
from .records import Difference, Optimality, Reason
from .rules import Distinct, Needs, Pin, Quota
from .selection import Selection
from .similarity import features
from .validation import STAGE

__all__ = ["Rulebook", "refuse_without_room", "rulebook"]

Spared: TypeAlias = tuple[str, Ints, Ints, Floats]
"""The text of a stage, and pairs of rows with their similarities."""


@final
@attrs.frozen(eq=False, kw_only=True)
class Rulebook:
    """The rules of a pool of n rows, as `kernels.rules` takes them, and their words.

    `costs` int64[n]: those of the pool, but more than the budget for a row that needs a chunk
    which is no candidate, so that it can never come (`missing` has that id, and the stage that wants
    it).  `likeness` and `rival_by` say of each pair of rivals how similar it is, and the place in
    `pool.rules` of the rule that forbids it.  `spared`: the near-duplicates that may both be in, as
    they differ in a fact.
    """

    pool: Pool
    columns: tuple[Bools, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]
    costs: Ints
    quotas: tuple[Quota, ...]
    keys: tuple[tuple[object, ...], ...]
    likeness: Floats
    rival_by: Ints
    missing: dict[int, tuple[str, str]]
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

    def solve(self, values: Ints, *, limited: bool = True) -> tuple[Bools, int, bool] | None:
        """The best rows by these values, a bound and whether it is proven; None: no selection.

        Without `limited` at any budget.

        Raises INFEASIBLE when none was found within the work limit.
        """
        solve, limit = kernels.branch_and_bound.solve, kernels.branch_and_bound.WORK_LIMIT
        costs, capacity = self.costs, self.pool.capacity
        if not limited:
            costs, capacity = np.zeros(len(costs), np.int64), 0
            costs[list(self.missing)] = 1
        chosen, bound, proven, feasible = solve(
            frozen(values), frozen(costs), capacity, self.columns, limit
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
        if not (len(self.columns[6]) or len(self.columns[8]) or self.missing or self.spared):
            return pool.select(rows, cuts=over(pool, rows), detail=detail, optimality=optimality)
        codes = kernels.rules.reasons(
            sealed(out), frozen(chosen), self.costs, pool.capacity, self.columns
        )
        cuts = [*self._over_quota(out, codes), *self._rivals(out, codes, chosen)]
        needy = out[codes == kernels.rules.NEEDS]
        unfit = out[codes == kernels.rules.BUDGET]
        lacking = np.isin(unfit, list(self.missing)) if self.missing else unfit < 0
        needy = np.concatenate([needy, unfit[lacking]]) if lacking.any() else needy
        cuts += self._needy(Reason.NEEDS, needy, self._needs_detail)
        left = pool.budget - int(pool.costs[rows].sum())
        bundled = unfit[~lacking]
        bundled = bundled[pool.costs[bundled] <= left]  # it would fit, what it needs does not
        words = f"what it needs does not fit in the {left} left"
        cuts += self._needy(Reason.BUDGET, bundled, lambda _: words)
        for pairs in self._both_in(chosen) if self.spared else ():
            pool = pool.spare_both(pairs)
        return pool.select(rows, cuts=cuts, detail=detail, optimality=optimality)

    def _over_quota(self, out: Ints, codes: Ints) -> list[Cut]:
        cuts = []
        for number, rule in enumerate(self.quotas):
            rows = out[codes == kernels.rules.QUOTA + number]
            if len(rows):
                cut = self.pool.cut(rule.reason, rows, detail_of(rule, keys_of(self.pool, rule.by)))
                cuts.append(attrs.evolve(cut, stage=rule.stage))
        return cuts

    def _rivals(self, out: Ints, codes: Ints, chosen: Bools) -> list[Cut]:
        rows = out[codes == kernels.rules.RIVAL]
        if not len(rows):
            return []
        at, rivals = self.columns[5], self.columns[6]
        other = np.zeros(len(self.pool), np.int64)
        similarity = np.zeros(len(self.pool))
        by = np.zeros(len(self.pool), np.int64)
        for row in rows.tolist():
            places = np.arange(at[row], at[row + 1])
            places = places[chosen[rivals[places]]]
            if not len(places):  # the rival is one that it needs
                places = np.arange(at[row], at[row + 1])
            best = places[np.argmax(self.likeness[places])]
            other[row], similarity[row] = rivals[best], self.likeness[best]
            by[row] = self.rival_by[best]

        def differing(row: int) -> tuple[Difference, ...]:
            return self._differing(int(other[row]), row)

        return [
            attrs.evolve(
                self.pool.cut(
                    Reason.REDUNDANT,
                    rows[by[rows] == number],
                    lambda row: f"similarity {similarity[row]:.4f}, one of the two can be in",
                    redundant_with=other,
                    similarity=similarity,
                    differences=differing if self._warns(number) else None,
                ),
                stage=self.pool.rules[number].stage,
            )
            for number in np.unique(by[rows]).tolist()
        ]

    def _needy(self, reason: Reason, rows: Ints, detail: Callable[[int], str]) -> list[Cut]:
        """The exclusions of rows for what they need, by the stage that wants it."""
        needs = [rule for rule in self.pool.rules if isinstance(rule, Needs)]
        found: dict[str, list[int]] = {}
        if len(needs) == 1 and len(rows):
            found[needs[0].stage] = rows.tolist()
        for row in rows.tolist() if len(needs) > 1 else ():
            found.setdefault(self._wanted(row)[1], []).append(row)
        return [
            attrs.evolve(self.pool.cut(reason, np.array(those), detail), stage=stage)
            for stage, those in sorted(found.items())
        ]

    def _warns(self, number: int) -> bool:
        """Whether a rule wants to be told of rivals that differ in a fact."""
        rule = self.pool.rules[number]
        return isinstance(rule, Distinct) and rule.guard == "warn"

    def _differing(self, kept: int, other: int) -> tuple[Difference, ...]:
        from .disagreements import differences

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

    def _wanted(self, row: int) -> tuple[list[str], str]:
        """The ids that a row needs, and the stage that says so."""
        if row in self.missing:
            return [self.missing[row][0]], self.missing[row][1]
        pool, at, parents = self.pool, self.columns[7], self.columns[8]
        wanted = pool.table_rows[parents[at[row] : at[row + 1]]].tolist()
        ids = [pool.candidates.id(parent) for parent in wanted]
        metadata = pool.candidates.metadata[int(pool.table_rows[row])]
        needs = [rule for rule in pool.rules if isinstance(rule, Needs)]
        return ids, next(
            (one.stage for one in needs if not set(ids).isdisjoint(names(metadata.get(one.key)))),
            needs[0].stage,
        )

    def _needs_detail(self, row: int) -> str:
        told = ", ".join(map(repr, self._wanted(row)[0]))
        return f"needs {told}" + (", which is no candidate" if row in self.missing else "")


# -- making one -----------------------------------------------------------------------------


def rulebook(pool: Pool) -> Rulebook | None:
    """The rules of a pool as columns; None when it has none.

    O(n) per rule; `Distinct` compares pairs (see `kernels.alike`).

    Raises MISSING_EMBEDDINGS, with the ids, for a `Distinct` by cosine.
    """
    if not pool.rules:
        return None
    quotas = tuple(rule for rule in pool.rules if isinstance(rule, Quota))
    group = np.full((len(quotas), len(pool)), -1, np.int64)
    amount = np.ones((len(quotas), len(pool)), np.int64)
    keys = []
    for number, rule in enumerate(quotas):
        found = keys_of(pool, rule.by)
        keys.append(found.values)
        group[number] = found.numbers
        if rule.unit == "tokens":
            amount[number] = pool.costs
    parent_at, parents, missing = _parents(pool)
    costs = np.array(pool.costs)
    costs[list(missing)] = pool.capacity + 1
    rival_at, rivals, likeness, rival_by, spared = _rival_columns(pool)
    columns = (
        pool.pinned,
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
        rival_by=rival_by,
        missing=missing,
        spared=spared,
    )


def refuse_without_room(pool: Pool) -> None:
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


def _parents(pool: Pool) -> tuple[Ints, Ints, dict[int, tuple[str, str]]]:
    """The rows that each row needs, and for a row that cannot come the id that is missing.

    The latter with the stage that wants it.
    """
    missing: dict[int, tuple[str, str]] = {}
    needs = [rule for rule in pool.rules if isinstance(rule, Needs)]
    found = [edges_of(pool, rule.key) for rule in needs]
    if not any(len(edges.child) for edges in found):
        return np.zeros(len(pool) + 1, np.int64), np.empty(0, np.int64), missing
    for rule, edges in zip(needs, found, strict=True):
        for edge in np.flatnonzero(edges.parent < 0).tolist():
            missing.setdefault(int(edges.child[edge]), (edges.wanted[edge], rule.stage))
    if missing:
        _spread(missing, needs, found, pool.ids)
    child = np.concatenate([edges.child for edges in found])
    parent = np.concatenate([edges.parent for edges in found])
    pairs, first = np.unique(child * (len(pool) + 1) + parent + 1, return_index=True)
    first = np.sort(first[pairs % (len(pool) + 1) > 0])  # each once, as it was named first
    first = first[np.argsort(child[first], kind="stable")]
    at = np.zeros(len(pool) + 1, np.int64)
    np.cumsum(np.bincount(child[first], minlength=len(pool)), out=at[1:])
    return at, parent[first], missing


def _spread(
    missing: dict[int, tuple[str, str]],
    needs: Sequence[Needs],
    found: Sequence[Edges],
    ids: Sequence[str],
) -> None:
    """Add to `missing` what needs a row that cannot come."""
    needing: dict[int, list[tuple[int, str]]] = {}
    for rule, edges in zip(needs, found, strict=True):
        for row, parent in zip(edges.child.tolist(), edges.parent.tolist(), strict=True):
            needing.setdefault(parent, []).append((row, rule.stage))
    waiting = list(missing)
    while waiting:
        row = waiting.pop()
        for child, stage in needing.get(row, ()):
            if child not in missing:
                missing[child] = ids[row], stage
                waiting.append(child)


_Pairs: TypeAlias = tuple[Ints, Ints, Floats]


def _pairs(pool: Pool, rule: Distinct) -> _Pairs:
    """The pairs of rows that a rule lets not be in together, and how similar they are."""

    def build(made: Pool) -> _Pairs:
        _, found = features(made, rule.metric)
        return kernels.alike.pairs(*found.arrays, rule.threshold)

    def take(pairs: _Pairs, rows: Ints) -> _Pairs:
        left, right, alike = pairs
        place = np.full(1 + max(int(part.max(initial=0)) for part in (rows, left, right)), -1)
        place[rows] = np.arange(len(rows))
        kept = (place[left] >= 0) & (place[right] >= 0)
        return sealed(place[left[kept]]), sealed(place[right[kept]]), sealed(alike[kept])

    return pool.derive(f"pairs {rule.threshold!r} {rule.metric}", build, take)


def _rival_columns(pool: Pool) -> tuple[Ints, Ints, Floats, Ints, tuple[Spared, ...]]:
    """For each row those that it excludes, how similar they are, and by which rule of the pool.

    Symmetric, CSR.  And the near-duplicates that a guard spares.
    """
    left, right, alike, by, spared = [], [], [], [], []
    for number, rule in enumerate(pool.rules):
        if isinstance(rule, Distinct) and len(pool) > 1:
            rows, others, similarity = _pairs(pool, rule)
            if rule.guard == "keep" and len(rows):
                same = _same_facts(pool, rows, others)
                spared.append((rule.stage, rows[~same], others[~same], similarity[~same]))
                rows, others, similarity = rows[same], others[same], similarity[same]
            left.append(rows)
            right.append(others)
            alike.append(similarity)
            by.append(np.full(len(rows), number))
    if not left:
        none = np.empty(0, np.int64)
        return np.zeros(len(pool) + 1, np.int64), none, np.empty(0), none, tuple(spared)
    rows = np.concatenate([*left, *right])
    others = np.concatenate([*right, *left])
    similarity = np.concatenate([*alike, *alike])
    which = np.concatenate([*by, *by])
    order = np.lexsort((which, -similarity, others, rows))
    pair = rows[order] * len(pool) + others[order]
    order = order[np.unique(pair, return_index=True)[1]]  # of two rules' pairs the more similar
    rows = rows[order]
    at = np.zeros(len(pool) + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=len(pool)), out=at[1:])
    return at, others[order], similarity[order], which[order], tuple(spared)


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
