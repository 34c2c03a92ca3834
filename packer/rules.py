"""What binds a selection: the rules as values, as constraint stages put them on a pool.

A rule says what it wants; `packer.rulebook` turns the rules of a pool into columns, and selectors
obey these.  A filter by key does not bind a chunk that lacks the key, and neither does a rule.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias, final

import attrs
import numpy as np

from .arrays import Bools
from .conditions import Condition
from .records import Reason

__all__ = ["GUARDS", "UNBOUNDED", "Distinct", "Guard", "Needs", "Pin", "Quota", "Rule", "pinned"]

Guard: TypeAlias = Literal["warn", "keep", "off"]
GUARDS: Final = ("warn", "keep", "off")
"""What a stage does with near-duplicates that differ in a fact."""

UNBOUNDED: Final = 2**62
"""The `most` of a quota without one."""


@final
@attrs.frozen
class Pin:
    """What meets the condition must be in."""

    stage: str
    condition: Condition


@final
@attrs.frozen
class Quota:
    """For every value of the key, the chunks or tokens that are in lie in least..most."""

    stage: str
    by: str
    least: int
    most: int
    unit: Literal["chunks", "tokens"]
    reason: Reason


@final
@attrs.frozen
class Distinct:
    """Of two chunks as similar as the threshold at most one is in.

    `guard`: "keep" lets both in where they differ in a fact, "warn" says so.
    """

    stage: str
    threshold: float
    metric: Literal["auto", "cosine", "jaccard"]
    guard: Guard = "off"


@final
@attrs.frozen
class Needs:
    """A chunk is in only with the chunks (ids) that it names under the key."""

    stage: str
    key: str


Rule: TypeAlias = Pin | Quota | Distinct | Needs


def pinned(rules: Sequence[Rule], metadata: Sequence[Mapping[str, object]]) -> Bools:
    """bool[n]: the rows that a pin wants in."""
    pins = [rule.condition for rule in rules if isinstance(rule, Pin)]
    if not pins:
        return np.zeros(len(metadata), np.bool_)
    return np.array([any(pin.holds(row) for pin in pins) for row in metadata], np.bool_)
