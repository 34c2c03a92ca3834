"""The window as a ledger: what the answer, the system prompt and the history leave for chunks."""

from typing import Any, Final, final

import attrs

from .errors import InvalidBudget, shown
from .numbers import is_int

__all__ = ["Budget", "available"]

_PARTS: Final = ("reserve", "system", "history", "margin")


def _tokens(value: Any, _: object, attribute: "attrs.Attribute[Any]") -> int:
    least = 1 if attribute.name == "window" else 0
    if not is_int(value) or value < least:
        wanted = "above 0" if least else "of 0 or more"
        message = f"Budget: {attribute.name} is {shown(value)}; give an int {wanted}, in tokens"
        raise InvalidBudget(message, details={attribute.name: value})
    return int(value)


def _part(default: Any = 0) -> Any:
    converter = attrs.Converter(_tokens, takes_self=True, takes_field=True)
    return attrs.field(default=default, converter=converter)


@final
@attrs.frozen
class Budget:
    """A model's window and what is taken from it before chunks, in tokens.

    `reserve`: for the answer.  `system`: the system prompt and tools.  `history`: the turns so
    far.  `margin`: what you keep free for safety, once per prompt.  A `Budget` may stand wherever
    an int budget may; what it leaves is `available`.

    Raises INVALID_BUDGET, with every part, when nothing is left.

    >>> Budget(8192, reserve=1024, system=300).available
    6868
    """

    window: int = _part(attrs.NOTHING)
    reserve: int = _part()
    system: int = _part()
    history: int = _part()
    margin: int = _part()

    def __attrs_post_init__(self) -> None:
        if self.available < 1:
            message = f"Budget: {self} leaves nothing for chunks; widen the window or lower a part"
            parts = {name: getattr(self, name) for name in ("window", *_PARTS)}
            raise InvalidBudget(message, details={**parts, "available": self.available})

    @property
    def available(self) -> int:
        """What is left for chunks."""
        return self.window - self.reserve - self.system - self.history - self.margin

    def __str__(self) -> str:
        """The ledger.

        >>> print(Budget(100, reserve=60, system=20))
        window 100 - reserve 60 - system 20 = 20
        """
        parts = [f" - {name} {getattr(self, name)}" for name in _PARTS if getattr(self, name)]
        return f"window {self.window}{''.join(parts)} = {self.available}"


def available(budget: Any) -> int:
    """The tokens of a budget that is an int or a `Budget`.

    Raises INVALID_BUDGET.
    """
    if isinstance(budget, Budget):
        return budget.available
    if not is_int(budget) or budget < 1:
        message = f"budget is {shown(budget)}; give an int above 0, in tokens, or a Budget"
        raise InvalidBudget(message, details={"budget": budget})
    return int(budget)
