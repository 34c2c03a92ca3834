"""Counts in words."""

__all__ = ["number"]


def number(count: int, one: str, more: str | None = None) -> str:
    """A count with its noun: `1 chunk`, `2 chunks`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
