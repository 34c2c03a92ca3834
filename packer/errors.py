"""Every error that the library raises on purpose.

    PackError                     code, message, details
    ├── InvalidBudget             INVALID_BUDGET            ValueError, TypeError
    ├── InvalidChunk              INVALID_CHUNK             ValueError, TypeError
    ├── DimensionMismatch         DIMENSION_MISMATCH        ValueError
    ├── MissingEmbeddings         MISSING_EMBEDDINGS        ValueError
    ├── InvalidParameter          INVALID_PARAMETER         ValueError, TypeError
    ├── InvalidTimestamp          INVALID_TIMESTAMP         ValueError, TypeError
    ├── InvalidCounter            INVALID_COUNTER           ValueError, TypeError
    ├── InvalidPolicy             INVALID_POLICY            ValueError, TypeError
    ├── InvalidStrategy           INVALID_STRATEGY          ValueError, TypeError
    ├── MissingCustomStrategy     MISSING_CUSTOM_STRATEGY   ValueError
    ├── OverBudget                OVER_BUDGET               ValueError
    └── Infeasible                INFEASIBLE                ValueError

A message says which rule was broken, by which value and where, and what to do.  `code` is
stable, `details` holds the same facts for programs.  Each error is also the builtin that a
Python user would catch.
"""

import pickle
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

__all__ = [
    "DimensionMismatch",
    "Infeasible",
    "InvalidBudget",
    "InvalidChunk",
    "InvalidCounter",
    "InvalidParameter",
    "InvalidPolicy",
    "InvalidStrategy",
    "InvalidTimestamp",
    "MissingCustomStrategy",
    "MissingEmbeddings",
    "OverBudget",
    "PackError",
    "shown",
]


class PackError(Exception):
    """A request that cannot be honoured: `code` is stable, `details` holds the facts.

    >>> from packer import Chunk, PackError, pack
    >>> from strategies import greedy
    >>> try:
    ...     pack([Chunk("text", 0.5)], greedy, budget=0)
    ... except PackError as error:
    ...     print(error.code)
    INVALID_BUDGET
    """

    default_code: ClassVar[str] = "PACK_ERROR"

    def __init__(
        self,
        message: str,
        code: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details: Mapping[str, object] = MappingProxyType(dict(details or {}))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.code, dict(map(_portable, self.details.items())))


def _portable(item: tuple[str, object]) -> tuple[str, object]:
    """The detail as it can be pickled: a coroutine, say, as its text."""
    name, value = item
    try:
        pickle.dumps(value)
    except Exception:  # noqa: BLE001  # whatever a caller's own objects raise
        return name, shown(value)
    return item


class InvalidBudget(PackError, ValueError, TypeError):
    """A budget that is not an int above 0, or parts of one that leave nothing."""

    default_code = "INVALID_BUDGET"


class InvalidChunk(PackError, ValueError, TypeError):
    """Chunks that cannot be packed; `details["chunks"]` lists each with its fault."""

    default_code = "INVALID_CHUNK"


class DimensionMismatch(PackError, ValueError):
    """Embeddings of different lengths; `details["chunks"]` lists the odd ones."""

    default_code = "DIMENSION_MISMATCH"


class MissingEmbeddings(PackError, ValueError):
    """The cosine metric met chunks without an embedding; `details["ids"]` names them."""

    default_code = "MISSING_EMBEDDINGS"


class InvalidParameter(PackError, ValueError, TypeError):
    """An argument outside its range or of the wrong kind."""

    default_code = "INVALID_PARAMETER"


class InvalidTimestamp(PackError, ValueError, TypeError):
    """A date that is neither ISO 8601 text, a datetime, nor epoch seconds or milliseconds."""

    default_code = "INVALID_TIMESTAMP"


class InvalidCounter(PackError, ValueError, TypeError):
    """A token counter that is no function, or returned something else than an int >= 0."""

    default_code = "INVALID_COUNTER"


class InvalidPolicy(PackError, ValueError, TypeError):
    """Stages that do not compose, or text that is no policy (`line`, `column`, `suggestion`)."""

    default_code = "INVALID_POLICY"


class InvalidStrategy(PackError, ValueError, TypeError):
    """A stage that broke its contract (say, chose a chunk twice), or an unknown strategy."""

    default_code = "INVALID_STRATEGY"


class MissingCustomStrategy(PackError, ValueError):
    """`strategy="custom"` without a function."""

    default_code = "MISSING_CUSTOM_STRATEGY"


class OverBudget(PackError, ValueError):
    """What must be packed costs more than the budget."""

    default_code = "OVER_BUDGET"


class Infeasible(PackError, ValueError):
    """Rules that contradict each other."""

    default_code = "INFEASIBLE"


def shown(value: object, limit: int = 60) -> str:
    """The value as a message shows it: its `repr`, cut at `limit` characters.

    >>> shown("a" * 100, limit=10)
    "'aaaaaa..."
    """
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  # a repr that fails, say of an int beyond the digit limit
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."
