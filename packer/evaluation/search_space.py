"""The policies that tuning tries: a grid of compositions of a few stages, plain ones first.

    scoring     as it is, or lexical(0.5 | 1 | 2), then nothing or neighbours(0.25 | 0.5 | 1)
    filter      none, overlap(), dedup(0.95), dedup(0.9)
    selector    greedy, mmr(0.9 | 0.8), and without a filter coverage(0.7), dpp(0.8)

and, fitted to the labels that it is given, for each of three scorings

    scoring | utility(...) | knapsack

The numbers are few and far apart on purpose: with some dozen queries, finer steps only find
what happens to suit them.  `neighbours` and `overlap` are left out where no chunk has what they read.
"""

import operator
from collections.abc import Container, Mapping, Sequence
from functools import reduce
from itertools import product
from types import MappingProxyType
from typing import Any, Final, final

import attrs
import numpy as np

from packer.algebra import Policy, Stage, Step, advance, steps_of
from packer.arrays import Floats, Ints
from packer.dsl import parse_stage
from packer.errors import PackError
from packer.pool import Pool
from packer.selection import Selection
from strategies import CATALOG, fit_utility, parse

from .cases import Case
from .measures import evidence_recall
from .runs import Setting, outcomes

__all__ = ["FITTED", "Fitted", "Scored", "grid"]

LEXICAL: Final = ("", "lexical(1.0)", "lexical(0.5)", "lexical(2.0)")
NEIGHBOURS: Final = ("", "neighbours(0.5)", "neighbours(0.25)", "neighbours(1.0)")
FILTERS: Final = ("", "overlap()", "dedup(0.95)", "dedup(0.9)")
SELECTORS: Final = ("greedy", "mmr(0.9)", "mmr(0.8)")
DIVERSE: Final = ("coverage(0.7)", "dpp(0.8)")
"""Selectors that see near-duplicates by themselves."""

SCALE: Final = 'normalize("minmax")'
"""Stands before `neighbours` where `lexical`, which scales by itself, does not."""


READS: Final[Mapping[str, str]] = MappingProxyType({"neighbours": "position", "overlap": "start"})
"""Without this key in its metadata a chunk is nothing to the stage."""


def grid(keys: Container[str]) -> list[Policy]:
    """The policies of the grid, each once, by the number of their stages.

    `keys`: those that the metadata of the chunks has.

    >>> grid({"position", "start"})[:2], len(grid({"position", "start"})), len(grid({}))
    ([greedy, mmr(0.9)], 224, 44)
    """
    found = []
    choosing = [*product(FILTERS, SELECTORS), *product(("",), DIVERSE)]
    for lexical, neighbours, rest in product(LEXICAL, NEIGHBOURS, choosing):
        scale = SCALE if neighbours and not lexical else ""
        stages = [word for word in (scale, lexical, neighbours, *rest) if word]
        names = [word.partition("(")[0] for word in stages]
        if all(READS[name] in keys for name in names if name in READS):
            found.append(stages)
    found.sort(key=len)
    return [parse(" | ".join(stages)) for stages in found]


@final
@attrs.frozen
class Fitted:
    """A policy with a utility that is fitted to labels: `scoring | utility(...) | selector`."""

    scoring: str
    selector: str = "knapsack"

    def __str__(self) -> str:
        return f"{self.scoring} | utility(...) | {self.selector}"


@final
@attrs.frozen(eq=False)
class Scored:
    """A template over queries whose scoring was run: what remains is to fit, and to pack.

    `cases`: with pools of which the scores are those of `scoring`.
    """

    template: Fitted
    scoring: tuple[Step[Any, Any], ...]
    cases: Sequence[Case]
    setting: Setting

    @classmethod
    def of(cls, template: Fitted, cases: Sequence[Case], setting: Setting) -> "Scored":
        """The template over these cases."""
        steps = steps_of(parse_stage(template.scoring, CATALOG))
        return cls(template, steps, [_scored(case, steps) for case in cases], setting)

    def crossed(self, rows: Ints, generator: np.random.Generator) -> Floats:
        """float64[rows, budgets]: the recall on each half of the rows, fitted to the other.

        NaN where one of them cannot be fitted to, as without evidence.
        """
        found = np.full((len(rows), len(self.setting.budgets)), np.nan)
        order = generator.permutation(len(rows))
        halves = order[::2], order[1::2]
        for fit, test in (halves, halves[::-1]):
            try:
                found[test] = self.recall(rows[fit], rows[test])
            except PackError:
                found[:] = np.nan
                break
        return found

    def recall(self, fit: Ints, test: Ints) -> Floats:
        """float64[test, budgets]: the recall on some queries, fitted to others."""
        policy = self._utility(fit) | _selector(self.template)
        cases = [self.cases[int(row)] for row in test]
        return outcomes(cases, [policy], self.setting, measure=evidence_recall)[:, 0, :, 0]

    def policy(self, fit: Ints) -> Policy:
        """The whole policy, fitted to these queries."""
        stages: list[Any] = [*self.scoring, self._utility(fit), _selector(self.template)]
        policy: Policy = reduce(operator.or_, stages)
        return policy

    def _utility(self, fit: Ints) -> Stage[Pool, Pool]:
        cases = [self.cases[int(row)] for row in fit]
        labels = [case.evidence[case.pool.table_rows] for case in cases]
        return fit_utility([case.pool for case in cases], labels)


def _selector(template: Fitted) -> Stage[Pool, Selection]:
    return parse_stage(template.selector, CATALOG)


def _scored(case: Case, steps: Sequence[Step[Any, Any]]) -> Case:
    pool = reduce(lambda pool, step: advance(step, pool, repr(step)), steps, case.pool)
    return attrs.evolve(case, pool=pool)


FITTED: Final = (
    Fitted("lexical(1.0) | neighbours(0.5)"),
    Fitted("lexical(1.0)"),
    Fitted(SCALE),
)
