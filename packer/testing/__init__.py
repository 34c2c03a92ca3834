"""Laws and generators for those who write stages of their own (the extra `testing`).

    chunks, pools, policies, stages     Hypothesis strategies
    check_stage, check_policy           every law that applies, to the least case that breaks one
    policy_machine                      a Hypothesis state machine that composes at random
    assert_invariants                   a canary for production: O(n), needs no Hypothesis
    packer_law                          a pytest fixture: the laws over a project's stages

>>> from packer.testing import check_stage
>>> from strategies import dedup
>>> check_stage(dedup(0.9), max_examples=20)

Importing this package imports nothing; each name is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Final

from packer.lazy_names import lazy_names

if TYPE_CHECKING:
    from .broken import LawBroken
    from .calls import pools
    from .checking import check_policy, check_stage
    from .chunk_lists import chunks
    from .invariants import InvariantBroken, assert_invariants
    from .lawbook import laws_of
    from .machine import policy_machine
    from .vocabulary import policies, stages

__all__ = [
    "InvariantBroken",
    "LawBroken",
    "assert_invariants",
    "check_policy",
    "check_stage",
    "chunks",
    "laws_of",
    "policies",
    "policy_machine",
    "pools",
    "stages",
]

_HOMES: Final = {
    "InvariantBroken": "invariants",
    "LawBroken": "broken",
    "assert_invariants": "invariants",
    "check_policy": "checking",
    "check_stage": "checking",
    "chunks": "chunk_lists",
    "laws_of": "lawbook",
    "policies": "vocabulary",
    "policy_machine": "machine",
    "pools": "calls",
    "stages": "vocabulary",
}

if not TYPE_CHECKING:
    _named = lazy_names(__name__, _HOMES)

    def __getattr__(name: str) -> object:
        try:
            return _named(name)
        except ModuleNotFoundError as error:
            if error.name != "hypothesis":
                raise
            message = f"{__name__}.{name} needs Hypothesis: pip install 'chunk-packer[testing]'"
            raise ModuleNotFoundError(message, name=error.name) from error


def __dir__() -> list[str]:
    return __all__
