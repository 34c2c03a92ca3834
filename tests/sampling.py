"""Values of a Hypothesis strategy, the same in every run."""

from typing import TypeVar

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

__all__ = ["sample"]

T = TypeVar("T")


def sample(strategy: st.SearchStrategy[T], size: int = 400) -> list[T]:
    """So many values of a strategy, the same every time."""
    found: list[T] = []

    @settings(
        max_examples=size, derandomize=True, database=None, phases=[Phase.generate], deadline=None
    )
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found
