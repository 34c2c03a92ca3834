"""How a result is made again within another budget."""

from collections.abc import Callable
from typing import Generic, TypeVar, final

__all__ = ["Replay"]

T = TypeVar("T")


@final
class Replay(Generic[T]):
    """From a budget in tokens to what would be packed in it; lost when it is pickled.

    It holds on to the candidates of the call, which a pickle does not take along.
    """

    __slots__ = ("run",)

    def __init__(self, run: Callable[[int], T] | None = None) -> None:
        self.run = run

    def __deepcopy__(self, memo: object) -> "Replay[T]":
        return self  # what it holds never changes

    def __reduce__(self) -> tuple[object, ...]:
        return Replay, ()
