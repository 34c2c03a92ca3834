"""The metadata keys that a stage may read, by the texts that stand in its code and its parameters."""

from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, Final

import attrs

from packer.algebra import steps_of

__all__ = ["keys_read"]

LONGEST: Final = 40
"""A longer text is a message, not a key."""


def keys_read(stage: Any) -> tuple[str, ...]:
    """The texts in the code of a stage (or policy), of the functions of its module that it calls,
    and among its parameters: what it reads of the metadata is among them, whatever it is called.

    Sorted, each once; of the library's own stages only the parameters.
    """
    found: set[str] = set()
    seen: set[CodeType] = set()
    for step in steps_of(stage):
        kind: Any = type(step)
        for field in attrs.fields(kind) if attrs.has(kind) else ():
            found.update(_texts(getattr(step, field.name), seen))
        for kind in type(step).__mro__:
            if kind.__module__.partition(".")[0] not in {"builtins", "abc", "packer", "strategies"}:
                for member in vars(kind).values():
                    found.update(_texts(member, seen))
    return tuple(sorted(text for text in found if text.isprintable() and len(text) <= LONGEST))


def _texts(value: Any, seen: set[CodeType]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | frozenset):
        for one in value:
            yield from _texts(one, seen)
    elif isinstance(value, FunctionType) and value.__code__ not in seen:
        for code in _codes(value.__code__):
            seen.add(code)
            yield from _texts(code.co_consts, seen)
            for name in code.co_names:
                used = value.__globals__.get(name)
                own = isinstance(used, FunctionType) and used.__module__ == value.__module__
                if own or not isinstance(used, FunctionType):
                    yield from _texts(used, seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
