"""Values of a Hypothesis strategy, the same in every run."""

from itertools import count
from typing import Final, TypeVar

from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

__all__ = ["sample"]

T = TypeVar("T")


EACH: Final = 20
"""So many values of each seed: within one search Hypothesis likes to vary what it has drawn."""


def sample(strategy: st.SearchStrategy[T], size: int = 400) -> list[T]:
    """So many values of a strategy, the same every time for the same loaded modules."""
    found: list[T] = []
    once = settings(max_examples=EACH, database=None, phases=[Phase.generate], deadline=None)

    def collect(value: T) -> None:
        found.append(value)

    for number in count():
        seed(number)(once(given(strategy)(collect)))()
        if len(found) >= size:
            break
    return found[:size]
