"""What tuning found, and what it says of it."""

from collections.abc import Mapping
from typing import Any, final

import attrs

from packer.algebra import Policy
from packer.counted import number
from packer.plain import json_text

from .gains import Gain

__all__ = ["Tuning"]


@final
@attrs.frozen(kw_only=True)
class Tuning:
    """The policy that tuning chose, and what such a choice gains on queries it was not made by.

    `best`: what was chosen by all queries; `policy`: that where its gain over `current` holds,
    else `current`.  `recall`: for "tuned", "current" and "greedy" the mean evidence recall at each
    budget, of "tuned" on queries that were held back.  `chosen`: how often each policy was the
    choice when a part was held back; one that is always the same is no accident.  `ranking`: the
    best policies of the grid on all queries, with their recall, which is too high for the first:
    it is the best of many on the data that it was ranked by.
    """

    best: Policy
    current: Policy
    over_current: Gain
    over_greedy: Gain
    recall: Mapping[str, Mapping[int, float]] = attrs.field(hash=False)
    chosen: Mapping[str, int] = attrs.field(hash=False)
    ranking: tuple[tuple[str, float], ...]
    queries: int
    sets: int
    tried: int
    folds: int
    rounds: int

    @property
    def holds(self) -> bool:
        """Whether the choice is another than the current policy, and its gain holds."""
        return self.best != self.current and self.over_current.holds

    @property
    def policy(self) -> Policy:
        """What to use: the choice where it holds, else what you have."""
        return self.best if self.holds else self.current

    @property
    def verdict(self) -> str:
        """In words: what to use, and why."""
        gain = self.over_current
        further = number(self.queries, "further query", "further queries")
        between = f"{gain.low:+.3f} to {gain.high:+.3f} on {further}, 95 %"
        if self.holds:
            return (
                f"Use {self.best}: on queries that were held back it packs {gain.value:+.3f} of "
                f"the evidence more than what you have ({between})."
            )
        if self.best == self.current:
            return (
                f"Keep what you have, {self.current}: no policy of {self.tried} is better by more "
                "than one standard error."
            )
        return (
            f"Keep what you have, {self.current}: {self.best} looks better here, but the gain of "
            f"such a choice on queries that were held back is {gain.value:+.3f} ({between})."
        )

    def __str__(self) -> str:
        return self.verdict

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "policy": str(self.policy),
            "holds": self.holds,
            "verdict": self.verdict,
            "best": str(self.best),
            "current": str(self.current),
            "over_current": self.over_current.to_dict(),
            "over_greedy": self.over_greedy.to_dict(),
            "recall": {
                name: [{"budget": budget, "recall": value} for budget, value in of.items()]
                for name, of in self.recall.items()
            },
            "chosen": dict(self.chosen),
            "ranking": [{"policy": policy, "recall": recall} for policy, recall in self.ranking],
            "queries": self.queries,
            "sets": self.sets,
            "tried": self.tried,
            "folds": self.folds,
            "rounds": self.rounds,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json_text(self.to_dict())
