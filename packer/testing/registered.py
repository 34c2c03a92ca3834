"""The laws over the stages that a project registers with pytest; the plugin is `pytest_packer`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any, final

import attrs
import pytest
from hypothesis import find, settings
from hypothesis import strategies as st

from packer.algebra import Step, steps_of
from packer.dsl import Catalog
from packer.errors import InvalidParameter, shown

from .checking import check_policy, check_stage
from .lawbook import laws_of
from .vocabulary import Vocabulary

__all__ = ["Entry", "parametrize", "registered"]


@final
@attrs.frozen
class Entry:
    """What a project registered: its text or word, its stages, one of them.

    `catalog`: the words that their text is read back with; None where it cannot be.
    """

    name: str
    stages: st.SearchStrategy[Any]
    sample: Any
    catalog: Catalog | None = None


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Give the test of `metafunc` the fixture `packer_law`, once for each stage and law."""
    config = metafunc.config
    paths = config.getini("packer_stages")
    told = config.getini("packer_examples")
    if not (told.isdecimal() and int(told)):
        message = f"packer_examples is {told!r}; give a whole number of 1 or more"
        raise pytest.UsageError(message)
    examples = int(told)
    if not paths:
        message = (
            "packer_law has no stages; set packer_stages = myproject.stages:STAGES in pytest's "
            "configuration, where STAGES is a list of stages or a catalog (word to stage)"
        )
        raise pytest.UsageError(message)
    trials = [
        pytest.param(partial(one, max_examples=examples), id=f"{name}-{law}")
        for path in paths
        for name, law, one in _laws(path)
    ]
    if not trials:
        message = f"packer_law has no stages: there are none at {', '.join(paths)}"
        raise pytest.UsageError(message)
    metafunc.parametrize("packer_law", trials)


def _laws(path: str) -> Iterator[tuple[str, str, Callable[..., None]]]:
    """(name of the stage, name of the law, the check of that law alone)."""
    for entry in registered(path):
        check: Callable[..., None] = check_stage if isinstance(entry.sample, Step) else check_policy
        every = [law.name for law in laws_of(entry.sample, entry.catalog)]
        for law in every:
            others = [one for one in every if one != law]
            one = partial(check, entry.stages, catalog=entry.catalog, without=others)
            yield entry.name, law, one


def registered(path: str) -> Iterator[Entry]:
    """The stages and policies at a path ``module:name``.

    There stands a mapping of words to stages, to what makes them, or to Hypothesis strategies of
    them (as a catalog), or an iterable of stages and policies.  The text of a stage is read back
    with the mapping, unless its word stands for a strategy or it takes a Python function.

    Raises INVALID_PARAMETER where there is no such thing.
    """
    module, _, name = path.partition(":")
    try:
        value = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        message = f"packer_stages: {path!r} cannot be imported ({error}); write module:name"
        raise InvalidParameter(message, details={"path": path}) from error
    if isinstance(value, Mapping):
        words = Vocabulary(value)
        for word in value:
            stages = words.stages(word)
            sample = find(stages, lambda _: True, settings=settings(database=None))
            read = not isinstance(value[word], st.SearchStrategy) and not words.holds_function(word)
            yield Entry(word, stages, sample, value if read else None)
    elif isinstance(value, Iterable):
        for stage in value:
            steps_of(stage)  # refuses what is no stage
            yield Entry(repr(stage), st.just(stage), stage)
    else:
        message = f"packer_stages: {path!r} is {shown(value)}; give a mapping or a list of stages"
        raise InvalidParameter(message, details={"path": path})
