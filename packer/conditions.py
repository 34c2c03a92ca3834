"""Conditions on the metadata of a chunk: `field("year") >= 2023`, joined by `&`, `|`, `~`.

A condition is a frozen value; its `repr` is its text in a policy (`year >= 2023 and not draft is
None`), and the policy parser builds the same value back from it.
"""

import datetime as dt
import keyword
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias, final

import attrs
import numpy as np

from .errors import InvalidParameter, shown
from .literals import literal
from .metadata import present
from .timestamps import instant, is_date_text

__all__ = ["Comparison", "Condition", "Field", "Junction", "Negation", "field"]

MOST_BITS: Final = 1024
"""Integers in conditions are no longer, so that they can be written out."""

Scalar: TypeAlias = str | int | float | bool
_Dates: TypeAlias = dt.datetime | dt.date


class Condition(ABC):
    """A yes or no about a chunk's metadata."""

    __slots__ = ()

    @abstractmethod
    def holds(self, metadata: Mapping[str, object], /) -> bool:
        """Whether the condition holds for this metadata."""

    def each(self, metadata: Sequence[Mapping[str, object]], /) -> list[bool]:
        """Whether it holds for each of these."""
        return list(map(self.holds, metadata))

    @abstractmethod
    def actual(self, metadata: Mapping[str, object], /) -> str:
        """The values it looks at, for a report: `year is 2019`."""

    def __and__(self, other: "Condition", /) -> "Condition":
        return Junction("and", (*_parts("and", self), *_parts("and", other)))

    def __or__(self, other: "Condition", /) -> "Condition":
        return Junction("or", (*_parts("or", self), *_parts("or", other)))

    def __invert__(self) -> "Condition":
        return Negation(self)

    def __bool__(self) -> NoReturn:
        message = (
            "a condition has no truth value of its own, so `and`, `or`, `not` and chained "
            "comparisons would lose half of it; write `&`, `|`, `~` and put brackets around each"
        )
        raise InvalidParameter(message, details={"condition": repr(self)})


def _parts(word: str, condition: object) -> tuple[Condition, ...]:
    """The operands of a junction of the same word, so that junctions stay flat."""
    if isinstance(condition, Junction) and condition.word == word:
        return condition.parts
    if isinstance(condition, Condition):
        return (condition,)
    message = (
        f"{shown(condition)} is no condition; compare a field, as in field('status') == 'current'"
    )
    raise InvalidParameter(message, details={"value": condition})


@final
@attrs.frozen(repr=False)
class Comparison(Condition):
    """One key against one value.  `word` is an operator of the policy text."""

    key: str
    word: str
    wanted: Scalar | tuple[Scalar, ...] | None

    def holds(self, metadata: Mapping[str, object], /) -> bool:
        found = present(metadata.get(self.key))
        if self.word == "is":
            return found is None
        return found is not None and _compare(found, self.word, self.wanted)

    def each(self, metadata: Sequence[Mapping[str, object]], /) -> list[bool]:
        """As `holds` for each; a value that several have is compared once."""
        column = [one.get(self.key) for one in metadata]
        try:
            known = dict(zip(zip(map(type, column), column, strict=True), metadata, strict=True))
        except TypeError:  # a list, say, has no hash
            return list(map(self.holds, metadata))
        held = {value: self.holds(one) for value, one in known.items()}
        return list(map(held.__getitem__, zip(map(type, column), column, strict=True)))

    def actual(self, metadata: Mapping[str, object], /) -> str:
        if self.key not in metadata:
            return f"{_key_text(self.key)} is missing"
        return f"{_key_text(self.key)} is {shown(metadata[self.key])}"

    def __repr__(self) -> str:
        key = _key_text(self.key)
        if self.word == "contains":
            return f"{literal(self.wanted)} in {key}"
        return f"{key} {self.word} {literal(self.wanted)}"


@final
@attrs.frozen(repr=False)
class Junction(Condition):
    """`and` or `or` over two or more conditions."""

    word: str
    parts: tuple[Condition, ...]

    def holds(self, metadata: Mapping[str, object], /) -> bool:
        every = all if self.word == "and" else any
        return every(part.holds(metadata) for part in self.parts)

    def each(self, metadata: Sequence[Mapping[str, object]], /) -> list[bool]:
        """As `holds` for each."""
        every = all if self.word == "and" else any
        return list(map(every, zip(*(part.each(metadata) for part in self.parts), strict=True)))

    def actual(self, metadata: Mapping[str, object], /) -> str:
        return ", ".join(dict.fromkeys(leaf.actual(metadata) for leaf in _leaves(self)))

    def __repr__(self) -> str:
        return f" {self.word} ".join(
            f"({part!r})" if isinstance(part, Junction) else repr(part) for part in self.parts
        )


@final
@attrs.frozen(repr=False)
class Negation(Condition):
    """The opposite of a condition; a missing key fails a comparison and so passes its opposite."""

    part: Condition

    def holds(self, metadata: Mapping[str, object], /) -> bool:
        return not self.part.holds(metadata)

    def each(self, metadata: Sequence[Mapping[str, object]], /) -> list[bool]:
        """As `holds` for each."""
        return [not held for held in self.part.each(metadata)]

    def actual(self, metadata: Mapping[str, object], /) -> str:
        return self.part.actual(metadata)

    def __repr__(self) -> str:
        part = self.part
        if isinstance(part, Comparison) and part.word == "is":
            return f"{_key_text(part.key)} is not None"
        return f"not ({part!r})" if isinstance(part, Junction) else f"not {part!r}"


@final
@attrs.frozen(eq=False, repr=False)
class Field:
    """A metadata key to compare; made by `field(name)`."""

    key: str

    def __eq__(self, other: Scalar | _Dates) -> Condition:  # type: ignore[override]  # a DSL
        return Comparison(self.key, "==", _wanted(other))

    def __ne__(self, other: Scalar | _Dates) -> Condition:  # type: ignore[override]  # a DSL
        return Comparison(self.key, "!=", _wanted(other))

    def __lt__(self, other: Scalar | _Dates) -> Condition:
        return Comparison(self.key, "<", _wanted(other))

    def __le__(self, other: Scalar | _Dates) -> Condition:
        return Comparison(self.key, "<=", _wanted(other))

    def __gt__(self, other: Scalar | _Dates) -> Condition:
        return Comparison(self.key, ">", _wanted(other))

    def __ge__(self, other: Scalar | _Dates) -> Condition:
        return Comparison(self.key, ">=", _wanted(other))

    __hash__ = None  # type: ignore[assignment]  # == builds a condition, so no set can hold it

    def __bool__(self) -> NoReturn:
        message = (
            f"field({self.key!r}) has no truth value; compare it, as in field({self.key!r}) == True"
        )
        raise InvalidParameter(message, details={"field": self.key})

    def is_in(self, values: Iterable[Scalar | _Dates]) -> Condition:
        """Holds when the value equals one of `values`."""
        if not isinstance(values, Iterable):
            message = f"is_in takes a list of values, not {shown(values)}"
            raise InvalidParameter(message, details={"value": values})
        if isinstance(values, str):
            message = f"is_in takes a list of values, not the text {values!r}; write [{values!r}]"
            raise InvalidParameter(message, details={"value": values})
        return Comparison(self.key, "in", tuple(_wanted(value) for value in values))

    def is_none(self) -> Condition:
        """Holds when the key is missing or None."""
        return Comparison(self.key, "is", None)

    def contains(self, value: Scalar | _Dates) -> Condition:
        """Holds when the value is a list that has `value`, or text that has it as a part."""
        return Comparison(self.key, "contains", _wanted(value))

    def __repr__(self) -> str:
        return f"field({literal(self.key)})"


def field(name: str) -> Field:
    """The metadata key `name`, to be compared in `where(...)`, `boost(...)` and their like.

    >>> field("year") >= 2023
    year >= 2023
    >>> (field("doc type") == "faq") | field("tags").contains("refund")
    field("doc type") == "faq" or "refund" in tags
    """
    if not isinstance(name, str):
        message = f"field takes the name of a metadata key, not {shown(name)}"
        raise InvalidParameter(message, details={"value": name})
    return Field(name)


def _leaves(condition: Condition) -> list[Condition]:
    """The comparisons that a condition is made of."""
    if isinstance(condition, Junction):
        return [leaf for part in condition.parts for leaf in _leaves(part)]
    if isinstance(condition, Negation):
        return _leaves(condition.part)
    return [condition]


def _key_text(key: str) -> str:
    # Python's parser would normalise other identifiers, and so compare another key
    if key.isascii() and key.isidentifier() and not keyword.iskeyword(key):
        return key
    return f"field({literal(key)})"


def _wanted(value: Any) -> Scalar:
    """The value to compare with, in the form that policy text can hold."""
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, str):
        return str.__str__(value)  # a subclass, say a StrEnum, may print as something else
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer) and int(value).bit_length() <= MOST_BITS:
        return int(value)
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return float(value)
    hint = "; write .is_none()" if value is None else "; give text, a finite number, or a date"
    message = f"a condition cannot compare with {shown(value)}{hint}"
    raise InvalidParameter(message, details={"value": value})


_COMPARISONS: Final = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _compare(found: object, word: str, wanted: Any) -> bool:
    if word == "in":
        return any(_compare(found, "==", value) for value in wanted)
    if word == "contains":
        if isinstance(found, str):
            return isinstance(wanted, str) and wanted in found
        if isinstance(found, Iterable):
            return any(_compare(value, "==", wanted) for value in found)
        return False
    left, right = _comparable(found, wanted)
    if word not in ("==", "!=") and is_date_text(wanted) and not isinstance(right, float):
        return False  # what is no date is neither before nor after one
    try:
        return bool(_COMPARISONS[word](left, right))
    except (TypeError, ValueError):  # text against a number, or an array: the comparison fails
        return False


def _comparable(found: object, wanted: object) -> tuple[Any, Any]:
    """Both values as instants where either is a date and both can be one, else as they are."""
    if isinstance(found, dt.date) or is_date_text(found) or is_date_text(wanted):
        left, right = instant(found), instant(wanted)
        if left is not None and right is not None:
            return left, right
    return found, wanted
