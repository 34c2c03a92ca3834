"""How a window is split between the sections of a prompt."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, final

import attrs

from .algebra import Policy, checked_policy
from .budget import Budget, available
from .errors import Infeasible, InvalidParameter, shown
from .numbers import is_int
from .template import Template

__all__ = ["Section", "check_minima", "checked_names", "sections"]

_AS_IT_IS: Final = Template("{content}")


def _refusal(section: object, parameter: str, value: object, wanted: str) -> InvalidParameter:
    message = f"section {shown(section)}: {parameter} is {shown(value)}; give {wanted}"
    return InvalidParameter(message, details={"parameter": parameter, "value": value})


@final
@attrs.frozen
class Section:
    """A part of a prompt: its policy, how it is written, and how much room it may have.

    `minimum` and `maximum`: tokens that it gets for sure where it has use for them, and at most.
    `share`: of the window, 0 to 1, before the rest is given out by priority.  `template`: how its
    chunks are written; a title goes into its header.

    Raises INVALID_PARAMETER, INVALID_POLICY.

    >>> from strategies import greedy
    >>> Section("documents", greedy, minimum=500, share=0.6).name
    'documents'
    """

    name: str
    policy: Policy
    minimum: int = attrs.field(default=0, kw_only=True)
    maximum: int | None = attrs.field(default=None, kw_only=True)
    share: float = attrs.field(default=0.0, kw_only=True)
    template: Template = attrs.field(default=_AS_IT_IS, kw_only=True)

    def __attrs_post_init__(self) -> None:
        name, most = self.name, self.maximum
        if not isinstance(name, str) or not name:
            raise _refusal(name, "name", name, "text")
        checked_policy(self.policy)
        if not is_int(self.minimum) or self.minimum < 0:
            raise _refusal(name, "minimum", self.minimum, "an int of 0 or more, in tokens")
        if most is not None and (not is_int(most) or most < self.minimum):
            raise _refusal(name, "maximum", most, f"an int of at least {self.minimum}, or None")
        is_number = isinstance(self.share, int | float) and not isinstance(self.share, bool)
        if not is_number or not 0 <= self.share <= 1:
            raise _refusal(name, "share", self.share, "a number from 0 to 1")
        if not isinstance(self.template, Template):
            raise _refusal(name, "template", self.template, "a Template")


def sections(
    budget: int | Budget, parts: Iterable[Section], demands: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The tokens of each section: name -> tokens.

    `demands`: what each has use for; all that it may have when left out.  First every section
    gets its minimum, then up to its share, then up to its maximum, each time the first section
    first; none gets more than its demand, so what one leaves flows to the others in that order.
    The sum is the budget, or all demands where these are less.  Pure; O(number of sections).

    Raises INFEASIBLE for minima that do not fit, with the numbers; INVALID_BUDGET,
    INVALID_PARAMETER.

    >>> from strategies import greedy
    >>> parts = [Section("rules", greedy, maximum=200), Section("documents", greedy, minimum=500)]
    >>> sections(1000, parts)
    {'rules': 200, 'documents': 800}
    >>> sections(1000, parts, {"rules": 50, "documents": 5000})
    {'rules': 50, 'documents': 950}
    """
    window, listed = available(budget), checked_names(parts)
    check_minima(window, listed)
    asked = _checked_demands(demands, listed)
    caps = [
        min(window if part.maximum is None else part.maximum, asked.get(part.name, window), window)
        for part in listed
    ]
    floors = [min(part.minimum, cap) for part, cap in zip(listed, caps, strict=True)]
    goals = [
        min(max(int(part.share * window), floor), cap)
        for part, floor, cap in zip(listed, floors, caps, strict=True)
    ]
    got = [0] * len(listed)
    left = window
    for wanted in (floors, goals, caps):
        for at, most in enumerate(wanted):
            more = min(max(most - got[at], 0), left)
            got[at] += more
            left -= more
    return {part.name: tokens for part, tokens in zip(listed, got, strict=True)}


def checked_names(parts: Any) -> tuple[Section, ...]:
    """The sections, each with a name of its own and shares of at most 1 in all.

    Raises INVALID_PARAMETER.
    """
    listed = tuple(parts) if isinstance(parts, Iterable) else ()
    if not listed or not all(isinstance(part, Section) for part in listed):
        message = f"sections is {shown(parts)}; give a list of Section"
        raise InvalidParameter(message, details={"sections": parts})
    names = [part.name for part in listed]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        message = f"two sections are named {twice!r}; give each a name of its own"
        raise InvalidParameter(message, details={"name": twice})
    shares = sum(part.share for part in listed)
    if shares > 1 + 1e-9:
        told = " + ".join(f"{part.name} {part.share:g}" for part in listed if part.share)
        message = f"the shares {told} are {shares:g} of the window; they may be 1 in all"
        raise InvalidParameter(message, details={"shares": shares})
    return listed


def check_minima(window: int, listed: Iterable[Section], joins: int = 0) -> None:
    """Refuse minima that do not fit, with what the separators between sections cost.

    Raises INFEASIBLE.
    """
    minima = {part.name: part.minimum for part in listed if part.minimum}
    total = sum(minima.values()) + joins
    if minima and total > window:
        told = " + ".join(f"{name} {minimum}" for name, minimum in minima.items())
        told += f" + separators {joins}" if joins else ""
        message = f"the minima {told} = {total} tokens do not fit in a budget of {window}"
        raise Infeasible(message, details={"minima": minima, "budget": window})


def _checked_demands(demands: Any, listed: Iterable[Section]) -> Mapping[str, int]:
    names = [part.name for part in listed]
    for name, tokens in (demands or {}).items():
        if name not in names:
            import difflib

            near = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            message = f"there is no section {shown(name)}; {hint}"
            raise InvalidParameter(message, details={"name": name})
        if not is_int(tokens) or tokens < 0:
            raise _refusal(name, "demand", tokens, "an int of 0 or more, in tokens")
    return dict(demands or {})
