"""How a result is made again within another budget."""

from collections.abc import Callable
from typing import Generic, TypeVar, final

__all__ = ["Replay"]

T = TypeVar("T")


@final
class Replay(Generic[T]):
    """From a budget in tokens to what would be packed in it; lost when it is pickled.

    `run` makes all of a result.  `quick` may share work between budgets; what it gives is good for
    what is packed, not for the texts of exclusions.  They hold on to the candidates of the call,
    which a pickle does not take along.
    """

    __slots__ = ("quick", "run")

    def __init__(
        self,
        run: Callable[[int], T] | None = None,
        quick: Callable[[int], T] | None = None,
    ) -> None:
        self.run = run
        self.quick = quick or run

    def __deepcopy__(self, memo: object) -> "Replay[T]":
        return self  # what it holds never changes

    def __reduce__(self) -> tuple[object, ...]:
        return Replay, ()
