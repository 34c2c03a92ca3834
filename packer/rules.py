"""What binds a selection: the rules as values, as constraint stages put them on a pool.

A rule says what it wants; `packer.rulebook` turns the rules of a pool into columns, and selectors
obey these.  A filter by key does not bind a chunk that lacks the key, and neither does a rule.
"""

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, final

import attrs

from .conditions import Condition
from .records import Reason

__all__ = [
    "GUARDS",
    "UNBOUNDED",
    "Distinct",
    "Guard",
    "Needs",
    "Overlap",
    "Pin",
    "Quota",
    "Rule",
    "in_order",
]

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


@final
@attrs.frozen
class Overlap:
    """A chunk is charged only for what of its source is new beside those that are in."""

    stage: str


Rule: TypeAlias = Pin | Quota | Distinct | Needs | Overlap

_KINDS: Final = (Pin, Quota, Distinct, Needs, Overlap)


def in_order(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules in an order of their own, so that it says nothing in which they were given."""
    return tuple(sorted(rules, key=lambda rule: (_KINDS.index(type(rule)), rule.stage)))
