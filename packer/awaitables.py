"""Functions that a caller gives must be plain; what an async one returns is told apart here."""

import inspect

__all__ = ["is_awaitable"]


def is_awaitable(value: object) -> bool:
    """Whether the value waits to be awaited.  A coroutine is closed, so that it does not warn."""
    if inspect.iscoroutine(value):
        value.close()
        return True
    return hasattr(value, "__await__")
