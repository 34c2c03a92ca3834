"""From a layout to the records that the caller reads; what is costly waits until it is read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from . import kernels
from .arrays import Floats
from .columns import Cut
from .errors import MissingEmbeddings
from .pool import Pool
from .records import (
    Conflict,
    Deferred,
    Difference,
    Exclusion,
    Packed,
    PackedChunk,
    Reason,
    Report,
    StageTrace,
    Warning,
)
from .rendering import Rendered
from .replay import Replay
from .selection import Layout
from .similarity import features
from .tokens import counter_name
from .validation import STAGE

if TYPE_CHECKING:
    from .values import ScoreStep

__all__ = [
    "conflict_warnings",
    "detail",
    "differing",
    "diversity",
    "new_tokens",
    "packed",
    "position_quality",
    "warnings",
]

FEWEST_FOR_DIVERSITY: Final = 2

FEWEST_FOR_QUALITY: Final = 3
"""Under three chunks every arrangement is equally good."""


def packed(
    layout: Layout,
    *,
    policy: str,
    strategy: str,
    ordering: str,
    stages: tuple[StageTrace, ...],
    timestamp: str,
    duration_ms: float,
    rendered: Rendered | None = None,
    replay: Replay[Packed],
) -> Packed:
    """The result of a call; `rendered`: its text, where a template wrote it."""
    pool = layout.pool
    used = int(layout.selection.costs.sum()) if rendered is None else rendered.used
    conflicts = Deferred(lambda: _conflicts(pool))
    report = Report(
        tokens_used=used,
        budget=max(pool.call.limit, 0),
        selected_count=len(layout),
        excluded_count=len(pool.invalid) + sum(map(len, pool.cuts)),
        policy=policy,
        strategy=strategy,
        ordering=ordering,
        stages=stages,
        optimality=layout.selection.optimality,
        counter=counter_name(pool.call.count_tokens),
        estimated=pool.estimated,
        warnings=Deferred(lambda: (*pool.warnings, *conflict_warnings(conflicts.value))),
        conflicts=conflicts,
        timestamp=timestamp,
        duration_ms=duration_ms,
        excluded=Deferred(lambda: _exclusions(pool)),
        diversity=Deferred(lambda: diversity(layout)),
        position_quality=Deferred(lambda: position_quality(layout.scores)),
        values=Deferred(lambda: _values(pool)),
        rendered_tokens=None if rendered is None else rendered.tokens,
    )
    text = None if rendered is None else rendered.text
    texts = (
        Deferred(lambda: tuple(text for _, text in layout.written())) if pool.overlapping else None
    )
    return Packed(Deferred(lambda: _packed_chunks(layout)), report, text, replay, texts)


def position_quality(scores: Floats) -> float | None:
    """How well the best stand at the edges: float64[k] in output order -> at most 1.0.

    The correlation of score and closeness to the edges over that of the best arrangement; the
    spreads cancel, so covariances do.  None under three, or when all scores are equal.

    >>> position_quality(np.array([0.9, 0.5, 0.4, 0.8]))
    1.0
    """
    count = len(scores)
    if count < FEWEST_FOR_QUALITY or scores.min() == scores.max():
        return None
    closeness = np.abs(2.0 * np.arange(count) - (count - 1)) / (count - 1)
    closeness -= closeness.mean()
    halves = scores / 2.0  # the difference of halves cannot overflow
    scaled = (halves - halves.min()) / (halves.max() - halves.min())
    best = np.sort(scaled) @ np.sort(closeness)
    return float((scaled @ closeness) / best)


def diversity(layout: Layout) -> float | None:
    """Mean of 1 - similarity (`auto`) over the pairs that are shown; None under two.

    O(k d) when all have embeddings, else O(k^2) pairs of trigram sets; None when there is neither
    embedding nor text to compare by.
    """
    count = len(layout)
    if count < FEWEST_FOR_DIVERSITY:
        return None
    try:
        _, found = features(layout.pool.narrowed(np.sort(layout.pool_rows)), "auto")
    except MissingEmbeddings:
        return None
    if found.embedded.all():
        unit = found.unit.astype(np.float64)
        together = unit.sum(axis=0)
        mean = (together @ together - np.einsum("ij,ij->", unit, unit)) / (count * (count - 1))
        return float(1.0 - min(max(mean, -1.0), 1.0))
    return float(1.0 - kernels.pairs.mean_pairwise(*found.arrays))


def _values(pool: Pool) -> "Mapping[str, tuple[ScoreStep, ...]]":
    from .values import traced

    return traced(pool)


def warnings(pool: Pool) -> tuple[Warning, ...]:
    """What a result of this pool warns of: what its stages did, and the dropped that differ."""
    return (*pool.warnings, *conflict_warnings(_conflicts(pool)))


def _conflicts(pool: Pool) -> tuple[Conflict, ...]:
    """The near-duplicates that differ in a fact: those that are both in play, then the dropped."""
    found = []
    ids = pool.candidates.id
    for dropped, cut in [
        *((False, cut) for cut in pool.spared),
        *((True, cut) for cut in pool.cuts),
    ]:
        if cut.differences is None or cut.redundant_with is None or cut.similarity is None:
            continue
        for at in range(len(cut)):
            differences = cut.differences(at)
            if differences:
                kept, other = ids(int(cut.redundant_with[at])), ids(int(cut.rows[at]))
                alike = float(cut.similarity[at])
                found.append(Conflict(cut.stage, kept, other, dropped, alike, differences))
    return tuple(found)


TOLD: Final = 3
"""So many conflicts, and differences of each, are told in words; `Report.conflicts` has all."""


def conflict_warnings(conflicts: Iterable[Conflict]) -> tuple[Warning, ...]:
    """A warning for each stage that dropped a chunk which states another fact."""
    stages: dict[str, list[Conflict]] = {}
    for conflict in conflicts:
        if conflict.dropped:
            stages.setdefault(conflict.stage, []).append(conflict)
    return tuple(
        Warning(
            "conflict",
            f"{stage} dropped {len(found)} near-duplicates that differ in a fact: "
            + "; ".join(
                f"{one.other!r} {differing(one.differences, repr(one.kept))}"
                for one in found[:TOLD]
            )
            + (f"; and {len(found) - TOLD} more" if len(found) > TOLD else "")
            + '; write guard="keep" to keep both',
            tuple(dict.fromkeys(id_ for one in found for id_ in (one.kept, one.other))),
        )
        for stage, found in stages.items()
    )


def differing(differences: Sequence[Difference], kept: str = "the other") -> str:
    """In what a chunk differs from the one that is kept, which the words call `kept`."""
    told = [
        f'has "{one.other}" where {kept} has "{one.kept}"'
        if one.kept and one.other
        else f'has "{one.other}", {kept} has not'
        if one.other
        else f'lacks the "{one.kept}" of {kept}'
        for one in differences[:TOLD]
    ]
    more = f" and {len(differences) - TOLD} more" if len(differences) > TOLD else ""
    return ", ".join(told) + more


def _packed_chunks(layout: Layout) -> tuple[PackedChunk, ...]:
    table = layout.pool.candidates
    merged = _merged(layout.pool)
    new = new_tokens(layout)
    return tuple(
        PackedChunk(
            id=table.id(row),
            content=table.text(row),
            score=float(table.scores[row]),
            tokens=int(table.tokens[row]),
            position=position,
            metadata=table.metadata[row],
            merged_from=tuple(merged.get(row, ())),
            original_tokens=table.originals[row].tokens if row in table.originals else None,
            new_tokens=None if new is None else new[row],
        )
        for position, row in enumerate(layout.table_rows.tolist())
    )


def new_tokens(layout: Layout) -> dict[int, int] | None:
    """For each row of the table that is shown the tokens that were new when it was chosen."""
    pool, selection = layout.pool, layout.selection
    if not pool.overlapping:
        return None
    cover = pool.cover(tokens=True)
    rows = selection.table_rows.tolist()
    return {row: cover.take(at) for row, at in zip(rows, selection.chosen.tolist(), strict=True)}


def _merged(pool: Pool) -> dict[int, list[str]]:
    """For each row of the table the ids of the near-duplicates that it was kept for."""
    merged: dict[int, list[str]] = {}
    for cut in pool.cuts:
        if cut.redundant_with is not None:
            for row, survivor in zip(cut.rows.tolist(), cut.redundant_with.tolist(), strict=True):
                merged.setdefault(survivor, []).append(pool.candidates.id(row))
    return merged


def _exclusions(pool: Pool) -> tuple[Exclusion, ...]:
    cuts = [_exclusion(pool, cut, at) for cut in pool.cuts for at in range(len(cut))]
    return (*pool.invalid, *cuts)


def _exclusion(pool: Pool, cut: Cut, at: int) -> Exclusion:
    table, row = pool.candidates, int(cut.rows[at])
    original = table.original(row)
    near = None if cut.redundant_with is None else int(cut.redundant_with[at])
    return Exclusion(
        id=table.id(row),
        content=original.text,
        score=float(table.scores[row]),
        tokens=original.tokens,
        reason=cut.reason,
        stage=cut.stage,
        redundant_with=None if near is None else table.id(near),
        similarity=None if cut.similarity is None else float(cut.similarity[at]),
        detail=detail(pool, cut, at),
        metadata=table.metadata[row],
    )


def detail(pool: Pool, cut: Cut, at: int) -> str | None:
    """What an exclusion says: what would have let the chunk in, and how it came to stand there."""
    table, row = pool.candidates, int(cut.rows[at])
    score, current = float(table.scores[row]), float(cut.scores[at])
    told = [cut.detail(at)]
    if score != current:
        told.append(f"score {current:.6g} here, {score:.6g} as given")
    differences = cut.differences(at) if cut.differences is not None else ()
    if differences:
        told.append(differing(differences))
    if row in table.originals:
        told.append(f"shortened to {table.tokens[row]} of {table.original(row).tokens} tokens")
    if pool.call.fixed and cut.reason is Reason.BUDGET and cut.stage != STAGE:
        told.append(f"header and footer cost {pool.call.fixed}")
    return "; ".join(text for text in told if text) or None
