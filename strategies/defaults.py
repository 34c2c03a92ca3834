"""The policy that we stand behind."""

from packer.algebra import Stage
from packer.pool import Pool
from packer.selection import Selection

from .greedy import greedy
from .scoring import normalize
from .signals import lexical, neighbours

__all__ = ["recommended"]


def recommended(*, query: bool = True) -> Stage[Pool, Selection]:
    """The policy to begin with: a composition of stages, to print, to change, to save as text.

    `query`: whether calls give the request's words.  The weights are round numbers, fitted to
    nothing; `docs/signals.md` says what each stage is for.

    >>> recommended()
    lexical(1.0) | neighbours(0.5) | greedy
    >>> recommended(query=False)
    normalize("minmax") | neighbours(0.5) | greedy
    """
    return (lexical() if query else normalize()) | neighbours() | greedy
