"""Words for what is computed on numbers and on z3's terms alike.

One step of a model is a function in these words: z3 proves the theorem about it, and
`proofs/conformance` runs it on numbers, in a loop over the input, beside the shipped code.
"""

from typing import Any

import z3

__all__ = ["all_of", "any_of", "larger", "negated", "smaller", "when"]


def when(condition: Any, then: Any, otherwise: Any) -> Any:
    """`then` where the condition holds, else `otherwise`."""
    if isinstance(condition, z3.BoolRef):
        return z3.If(condition, then, otherwise)
    return then if condition else otherwise


def larger(one: Any, other: Any) -> Any:
    """The larger of two numbers."""
    return when(one >= other, one, other)


def smaller(one: Any, other: Any) -> Any:
    """The smaller of two numbers."""
    return when(one <= other, one, other)


def all_of(*conditions: Any) -> Any:
    """Whether all hold."""
    if any(isinstance(condition, z3.BoolRef) for condition in conditions):
        return z3.And(*conditions)
    return all(conditions)


def any_of(*conditions: Any) -> Any:
    """Whether one holds."""
    if any(isinstance(condition, z3.BoolRef) for condition in conditions):
        return z3.Or(*conditions)
    return any(conditions)


def negated(condition: Any) -> Any:
    """Whether it does not hold."""
    return z3.Not(condition) if isinstance(condition, z3.BoolRef) else not condition
