"""What is measured of one pack of one labelled query."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from packer.arrays import Bools, Floats
from packer.selection import Layout

from .cases import Case, holds_answer

__all__ = ["MEASURES", "TITLES", "evidence_recall", "measured", "tokens_to_reach"]

TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "evidence": "evidence recall",
        "all_evidence": "all-evidence rate",
        "answer": "answer-string recall",
        "redundancy": "redundancy",
        "utilization": "utilization",
    }
)
"""What each measure is called, by its key."""

MEASURES: Final = tuple(TITLES)

ALIKE: Final = 0.9
"""Cosine from which a packed chunk repeats an earlier one."""

SLACK: Final = 1e-6
"""As far as cosines of float32 may differ between machines."""


def measured(case: Case, layout: Layout, budget: int) -> tuple[float, ...]:
    """The measures of a pack, in the order of `MEASURES`; NaN where the case cannot have one.

    `evidence`: the share of the reachable groups of which a chunk is in.  `all_evidence`: 1.0
    where that is all of them.  `answer`: 1.0 where a packed text holds an answer; NaN where no
    candidate does.  `redundancy`: the token share of the packed chunks with a cosine of 0.9 or
    more to one chosen before; NaN without embeddings.  `utilization`: tokens, with overhead, of
    the budget.
    """
    packed = _packed(case, layout)
    share = _share(case, packed)
    spent = int(layout.selection.costs.sum())
    return (
        share,
        np.nan if np.isnan(share) else float(share == 1.0),
        _answered(case, layout, packed),
        _repeated(case, layout),
        spent / budget,
    )


def evidence_recall(case: Case, layout: Layout, _: int) -> tuple[float, ...]:
    """The first measure alone."""
    return (_share(case, _packed(case, layout)),)


def _packed(case: Case, layout: Layout) -> Bools:
    packed = np.zeros(len(case.pool.candidates), np.bool_)
    packed[layout.table_rows] = True
    return packed


def _share(case: Case, packed: Bools) -> float:
    covered = case.covered(packed)
    return np.count_nonzero(covered) / len(covered) if len(covered) else np.nan


def _answered(case: Case, layout: Layout, packed: Bools) -> float:
    if not case.holds.any():
        return np.nan
    shortened = layout.pool.candidates.originals
    if not shortened:
        return float(case.holds[packed].any())
    texts = (layout.pool.candidates.text(int(row)) for row in np.flatnonzero(packed & case.holds))
    return float(any(holds_answer(text, case.answers) for text in texts))


def _repeated(case: Case, layout: Layout) -> float:
    if case.unit is None:
        return np.nan
    chosen = layout.selection.table_rows
    tokens = layout.candidates.tokens[chosen]
    total = int(tokens.sum())
    if len(chosen) < 2 or not total:
        return 0.0
    unit = case.unit[chosen]
    nearest = np.tril(unit @ unit.T, -1).max(axis=1)
    return float(tokens[nearest >= ALIKE - SLACK].sum() / total)


def tokens_to_reach(share: float, budgets: Floats, recall: Floats) -> float | None:
    """The budget at which the recall reaches a share, between the budgets by a straight line.

    `budgets` (rising) and `recall` float64[b].  The first budget where it is reached there
    already, None where it never is.

    >>> tokens_to_reach(0.9, np.array([256.0, 512.0]), np.array([0.8, 1.0]))
    384.0
    """
    reached = np.flatnonzero(recall >= share)
    if not len(reached):
        return None
    at = int(reached[0])
    if at == 0:
        return float(budgets[0])
    part = (share - recall[at - 1]) / (recall[at] - recall[at - 1])
    return float(budgets[at - 1] + part * (budgets[at] - budgets[at - 1]))
