"""Whether somebody looked: an object that notes when some of its attributes are read."""

from collections.abc import Container
from typing import Any, final

__all__ = ["Watched"]


@final
class Watched:
    """Stands for another object; `was_read` once one of the `names` was asked for.

    >>> seen = Watched(3 + 4j, ["imag"])
    >>> seen.real, seen.was_read, seen.imag, seen.was_read
    (3.0, False, 4.0, True)
    """

    __slots__ = ("_names", "_object", "was_read")

    def __init__(self, watched: object, names: Container[str]) -> None:
        self._object = watched
        self._names = names
        self.was_read = False

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            self.was_read = True
        return getattr(self._object, name)
