"""The policy that we stand behind."""

from packer.algebra import Policy

from .greedy import greedy
from .scoring import normalize
from .signals import lexical, neighbours

__all__ = ["recommended"]


def recommended(*, query: bool = True) -> Policy:
    """The policy to begin with: a composition of stages, to print, to change, to save as text.

    `query`: whether calls give the request's words.  `docs/signals.md` says what it rests on.

    >>> recommended()
    lexical(1.0) | neighbours(0.5) | greedy
    >>> recommended(query=False)
    normalize("minmax") | neighbours(0.5) | greedy
    """
    return (lexical() if query else normalize()) | neighbours() | greedy
