"""How each chunk came to its value: what every scoring stage made of its score."""

from collections.abc import Mapping
from typing import final

import attrs

from .columns import Combine
from .pool import Pool

__all__ = ["ScorePart", "ScoreStep", "traced"]


@final
@attrs.frozen
class ScorePart:
    """One of the numbers that a score is made of."""

    name: str
    amount: float


@final
@attrs.frozen
class ScoreStep:
    """What one stage made of a chunk's score.

    `stage` is its text, `before` and `after` are the current score.  `parts`: what `after` is
    made of, where the stage says so.  `combine`: with "sum" they add up to it, with "product" it is
    `before` times them.
    """

    stage: str
    before: float
    after: float
    parts: tuple[ScorePart, ...] = ()
    combine: Combine = "sum"


def traced(pool: Pool) -> Mapping[str, tuple[ScoreStep, ...]]:
    """By id the steps of each chunk that a scoring stage met, in the order of the stages.

    O(rows) a stage; nothing was copied when the stages ran.
    """
    found: dict[str, list[ScoreStep]] = {}
    for done in pool.rescorings:
        names = list(done.parts)
        columns = [column.tolist() for column in done.parts.values()]
        before, after = done.before.tolist(), done.after.tolist()
        for place, row in enumerate(done.rows.tolist()):
            parts = zip(names, (column[place] for column in columns), strict=True)
            step = ScoreStep(
                done.stage,
                before[place],
                after[place],
                tuple(ScorePart(*part) for part in parts),
                done.combine,
            )
            found.setdefault(pool.candidates.id(row), []).append(step)
    return {id_: tuple(steps) for id_, steps in found.items()}
