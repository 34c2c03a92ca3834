"""Scores -> colours: seven steps from the lowest to the highest score on the page."""

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
    """Equal steps from `lowest` to `highest`."""

    lowest: float
    highest: float

    @classmethod
    def of(cls, scores: Iterable[float]) -> "Scale":
        """The scale of these scores, NaN and infinite ones left aside."""
        finite = [score for score in scores if math.isfinite(score)]
        return cls(min(finite, default=0.0), max(finite, default=0.0))

    def step(self, score: float) -> int:
        """The number of its colour, 0 to 6; the middle one where all scores are equal.

        >>> [Scale(0.0, 1.0).step(score) for score in (0.0, 0.5, 0.99, 1.0)]
        [0, 3, 6, 6]
        """
        if not math.isfinite(score):
            return 0
        half, low = self.highest / 2 - self.lowest / 2, self.lowest / 2  # halves do not overflow
        if half <= 0:
            return STEPS // 2
        return min(int((score / 2 - low) / half * STEPS), STEPS - 1)

    def css(self, score: float) -> str:
        """The class of its colour."""
        return f"s{self.step(score)}" if math.isfinite(score) else "none"

    def legend(self) -> Html:
        """What the colours mean."""
        if self.lowest == self.highest:
            return element("p", f"All scores are {self.lowest:.4g}.", class_="legend")
        steps = [
            element("span", class_=f"swatch s{step}", aria_hidden="true") for step in range(STEPS)
        ]
        return element(
            "p",
            f"Colour is the score: {self.lowest:.4g} ",
            element("span", joined(*steps), class_="ramp"),
            f" {self.highest:.4g}. Width is tokens.",
            class_="legend",
        )
