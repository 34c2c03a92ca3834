"""What an evaluation found: figures with their intervals, differences with their marks."""

from collections.abc import Mapping
from typing import Any, Final, final

import attrs
import numpy as np

from packer.arrays import Floats
from packer.errors import InvalidParameter, shown
from packer.plain import json_text

from .measures import MEASURES, TITLES

__all__ = ["MEAN_OF_SETS", "Cell", "Change", "Contrast", "Evaluation", "Figure"]

MEAN_OF_SETS: Final = "mean of sets"
"""Stands for a set in the cells that are the plain mean of all sets."""

LIMIT: Final = 0.05
"""A difference is marked where its corrected p-value is below this."""


@final
@attrs.frozen
class Figure:
    """The mean of a measure over queries, with its 95 % interval."""

    value: float = attrs.field(converter=float)
    low: float = attrs.field(converter=float)
    high: float = attrs.field(converter=float)


@final
@attrs.frozen
class Contrast:
    """A mean less that of the baseline, with its 95 % interval.

    `p`: how often signs at random would make as large a difference.  `adjusted`: the same after
    Holm's correction over sets, budgets and policies.  Both are None for a mean of sets.
    """

    value: float = attrs.field(converter=float)
    low: float = attrs.field(converter=float)
    high: float = attrs.field(converter=float)
    p: float | None = None
    adjusted: float | None = None

    @property
    def mark(self) -> str:
        """`+` or `-` where the difference holds after the correction, else nothing."""
        if self.adjusted is None or self.adjusted >= LIMIT:
            return ""
        return "+" if self.value > 0 else "-"


@final
@attrs.frozen
class Cell:
    """One policy on one set at one budget.

    `figures` and `differences` by measure (`MEASURES`): None where no query of the set has the
    measure; the baseline has no differences.
    """

    set: str
    policy: str
    budget: int
    figures: Mapping[str, Figure | None] = attrs.field(hash=False)
    differences: Mapping[str, Contrast | None] = attrs.field(hash=False)

    def figure(self, measure: str) -> Figure:
        """The figure of a measure.

        Raises INVALID_PARAMETER where the set has none.
        """
        found: Figure = self._of(self.figures, measure)
        return found

    def difference(self, measure: str) -> Contrast:
        """The difference of a measure to the baseline.

        Raises INVALID_PARAMETER where there is none.
        """
        found: Contrast = self._of(self.differences, measure)
        return found

    def _of(self, values: Mapping[str, Any], measure: str) -> Any:
        found = values.get(measure)
        if found is None:
            message = (
                f"{self.policy!r} on {self.set!r} at {self.budget} has no {shown(measure)} here; "
                f"measures are {', '.join(MEASURES)}, and the baseline has no differences"
            )
            raise InvalidParameter(message, details={"measure": measure})
        return found


@final
@attrs.frozen
class Change:
    """A query on which a policy does better or worse than the baseline."""

    set: str
    query: str
    value: float
    baseline: float


@final
@attrs.frozen(kw_only=True)
class Evaluation:
    """Policies on sets of labelled queries at budgets; made by `evaluate`.

    `policies`: their texts by their names.  `queries`: the ids of each set.  `cells` in the order
    of sets, policies and budgets; with several sets, behind them their plain mean (`MEAN_OF_SETS`).
    `tokens_to_90`: for (set, policy), the budget at which 90 % of the evidence is in (between
    budgets by a straight line), the lowest budget where it is in already, None where it never is.
    `evidence`: of each set how many pieces of evidence retrieval found, and how many it missed, which
    no policy can mend and which do not count.
    `values`: of each set float64[queries, policies, budgets, measures], NaN where a query does
    not have a measure.
    """

    baseline: str
    policies: Mapping[str, str] = attrs.field(hash=False)
    queries: Mapping[str, tuple[str, ...]] = attrs.field(hash=False, repr=False)
    budgets: tuple[int, ...]
    cells: tuple[Cell, ...] = attrs.field(repr=False)
    tokens_to_90: Mapping[tuple[str, str], float | None] = attrs.field(hash=False, repr=False)
    evidence: Mapping[str, tuple[int, int]] = attrs.field(hash=False, repr=False)
    values: Mapping[str, Floats] = attrs.field(eq=False, repr=False)
    seed: int
    resamples: int
    _by_place: Mapping[tuple[str, str, int], Cell] = attrs.field(init=False, eq=False, repr=False)

    @_by_place.default
    def _(self) -> Mapping[tuple[str, str, int], Cell]:
        return {(cell.set, cell.policy, cell.budget): cell for cell in self.cells}

    @property
    def sets(self) -> tuple[str, ...]:
        """The names of the sets, and of their mean where there are several."""
        return (*self.queries, MEAN_OF_SETS) if len(self.queries) > 1 else tuple(self.queries)

    def cell(self, set: str, policy: str, budget: int) -> Cell:  # noqa: A002 (the field's name)
        """The cell of a set, a policy (its name or its text) and a budget.

        Raises INVALID_PARAMETER for one that was not evaluated.
        """
        found = self._by_place.get((set, self._label(policy), budget))
        if found is not None:
            return found
        message = (
            f"nothing was measured for set {shown(set)} at {shown(budget)}; sets are "
            f"{', '.join(self.sets)}, budgets {', '.join(map(str, self.budgets))}"
        )
        raise InvalidParameter(message, details={"set": set, "budget": budget})

    def _label(self, policy: str) -> str:
        if policy in self.policies:
            return policy
        for label, text in self.policies.items():
            if text == str(policy):
                return label
        message = f"{shown(policy)} was not evaluated; policies are {', '.join(self.policies)}"
        raise InvalidParameter(message, details={"policy": policy})

    def changes(self, policy: str, budget: int, measure: str = "evidence") -> list[Change]:
        """The queries on which a policy differs from the baseline, the greatest losses first.

        Raises INVALID_PARAMETER for what was not evaluated.
        """
        label = self._label(policy)
        if budget not in self.budgets or measure not in MEASURES:
            message = (
                f"nothing was measured for {shown(measure)} at {shown(budget)}; measures are "
                f"{', '.join(MEASURES)}, budgets {', '.join(map(str, self.budgets))}"
            )
            raise InvalidParameter(message, details={"measure": measure, "budget": budget})
        labels = list(self.policies)
        column, row = self.budgets.index(budget), MEASURES.index(measure)
        found = []
        for name, values in self.values.items():
            ours = values[:, labels.index(label), column, row]
            base = values[:, labels.index(self.baseline), column, row]
            found += [
                Change(name, query, float(mine), float(theirs))
                for query, mine, theirs in zip(self.queries[name], ours, base, strict=True)
                if not np.isnan(mine) and mine != theirs
            ]
        return sorted(found, key=lambda change: change.value - change.baseline)

    def reached(self, set: str, policy: str) -> str:  # noqa: A002 (the field's name)
        """`tokens_to_90` in words: "512", "<= 256", "> 4,096"; nothing where there is none."""
        if (set, policy) not in self.tokens_to_90 or not self.evidence[set][0]:
            return ""
        tokens = self.tokens_to_90[set, policy]
        if tokens is None:
            return f"> {self.budgets[-1]:,}"
        return f"<= {self.budgets[0]:,}" if tokens <= self.budgets[0] else f"{tokens:,.0f}"

    @property
    def missed(self) -> str:
        """In words: how much of the evidence retrieval missed; nothing where it missed none."""
        parts = [
            f"{name} {missed:,} of {found + missed:,}"
            for name, (found, missed) in self.evidence.items()
            if missed
        ]
        if not parts:
            return ""
        return f"Evidence that retrieval missed, which does not count: {', '.join(parts)}."

    def table(self, measure: str = "evidence") -> str:
        """The figures of a measure as Markdown, a table for each set, marked where they differ.

        Raises INVALID_PARAMETER for an unknown measure.
        """
        from .markdown import markdown

        return markdown(self, measure)

    def to_html(self, title: str = "Policies compared") -> str:
        """One self-contained page: tables, and curves over the budget."""
        from .page import page

        return page(self, title)

    def _repr_html_(self) -> str:
        from packer.page import framed

        return framed(self.to_html(), "Policies compared")

    def to_dict(self, *, queries: bool = False) -> dict[str, Any]:
        """As plain values for JSON; with `queries` also what was measured of every query."""
        told: dict[str, Any] = {
            "baseline": self.baseline,
            "policies": dict(self.policies),
            "sets": {name: len(ids) for name, ids in self.queries.items()},
            "evidence": {
                name: {"found": found, "missed": missed}
                for name, (found, missed) in self.evidence.items()
            },
            "budgets": list(self.budgets),
            "measures": dict(TITLES),
            "seed": self.seed,
            "resamples": self.resamples,
            "cells": [_cell(cell) for cell in self.cells],
            "tokens_to_90": [
                {"set": name, "policy": policy, "tokens": tokens}
                for (name, policy), tokens in self.tokens_to_90.items()
            ],
        }
        if queries:
            told["queries"] = {
                name: {"ids": list(self.queries[name]), "values": _plain(values)}
                for name, values in self.values.items()
            }
        return told

    def to_json(self, *, queries: bool = False) -> str:
        """`to_dict` as JSON."""
        told = self.to_dict(queries=queries)
        return json_text(told)


def _cell(cell: Cell) -> dict[str, Any]:
    measures = {}
    for name, figure in cell.figures.items():
        if figure is None:
            continue
        found: dict[str, Any] = attrs.asdict(figure)
        difference = cell.differences[name]
        if difference is not None:
            found["difference"] = {**attrs.asdict(difference), "mark": difference.mark}
        measures[name] = found
    return {"set": cell.set, "policy": cell.policy, "budget": cell.budget, "measures": measures}


def _plain(values: Floats) -> list[Any]:
    """Lists of float64[queries, policies, budgets, measures], None for NaN."""
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    listed: list[Any] = plain.tolist()
    return listed
