"""Scores -> colours: seven steps from the lowest to the highest score of what is packed."""

import math
from collections.abc import Iterable
from typing import Final, final

import attrs

from .markup import Html, element, joined

__all__ = ["STEPS", "Scale"]

STEPS: Final = 7
"""Colours; the style sheet has `.s0` to `.s6`, lowest to highest."""


@final
@attrs.frozen
class Scale:
    """Equal steps from `lowest` to `highest`; scores beyond have the colour of that end."""

    lowest: float
    highest: float

    @classmethod
    def of(cls, packed: Iterable[float], others: Iterable[float] = ()) -> "Scale":
        """The scale of the scores of what is packed; where those are all equal, of all scores.

        A chunk that is out with three times the score would otherwise leave one colour for all
        that is in.  NaN and infinite scores are left aside.
        """
        inside = [score for score in packed if math.isfinite(score)]
        if len(set(inside)) > 1:
            return cls(min(inside), max(inside))
        finite = inside + [score for score in others if math.isfinite(score)]
        return cls(min(finite, default=0.0), max(finite, default=0.0))

    def step(self, score: float) -> int:
        """The number of its colour, 0 to 6; the middle one where all scores are equal.

        >>> [Scale(0.0, 1.0).step(score) for score in (-1.0, 0.0, 0.5, 0.99, 1.0, 2.0)]
        [0, 0, 3, 6, 6, 6]
        """
        if not math.isfinite(score):
            return 0
        width, low = self.highest / 2 - self.lowest / 2, self.lowest / 2  # halves do not overflow
        if width <= 0:
            return STEPS // 2
        return min(max(int((score / 2 - low) / width * STEPS), 0), STEPS - 1)

    def css(self, score: float) -> str:
        """The class of its colour."""
        return f"s{self.step(score)}" if math.isfinite(score) else "none"

    def legend(self) -> Html:
        """What the colours mean."""
        if self.lowest == self.highest:
            told = f"Width is tokens. The score is {self.lowest:.4g} throughout."
            return element("p", told, class_="legend")
        steps = [
            element("span", class_=f"swatch s{step}", aria_hidden="true") for step in range(STEPS)
        ]
        return element(
            "p",
            f"Width is tokens, colour the score: {self.lowest:.4g} ",
            element("span", joined(*steps), class_="ramp"),
            f" {self.highest:.4g}",
            class_="legend",
        )
