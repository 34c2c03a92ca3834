"""What a project registers with pytest becomes a test for each law of each stage."""

from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from hypothesis import strategies as st

from packer import Filter, PackError, Pool
from packer.testing import LawBroken, laws_of
from packer.testing.parameter_values import shortest
from packer.testing.registered import parametrize, registered
from strategies import custom, greedy, threshold
from tests.planted import Longest

STAGES = [threshold(0.5), threshold(0.5) | greedy]
FILTERS = {
    "longest": Longest,
    "drawn": st.just(threshold(0.5)),
    "by_function": custom(shortest),
}
NOTHING = 3


def test_registered_lists_and_catalogs_become_laws() -> None:
    here = __name__
    listed = [(entry.name, entry.catalog) for entry in registered(f"{here}:STAGES")]
    assert listed == [("threshold(0.5)", None), ("threshold(0.5) | greedy", None)]
    entries = {entry.name: entry for entry in registered(f"{here}:FILTERS")}
    assert type(entries["longest"].sample) is Longest
    read = {name: entry.catalog is FILTERS for name, entry in entries.items()}
    assert read == {"longest": True, "drawn": False, "by_function": False}
    assert entries["drawn"].catalog is entries["by_function"].catalog is None
    given_options = {"packer_stages": [f"{here}:STAGES", f"{here}:FILTERS"], "packer_examples": "5"}
    config = SimpleNamespace(getini=given_options.__getitem__)
    found: dict[str, Any] = {}
    metafunc: Any = SimpleNamespace(
        config=config, parametrize=lambda name, trials: found.update({name: trials})
    )
    parametrize(metafunc)
    names = [trial.id for trial in found["packer_law"]]
    own = len(laws_of(threshold(0.5)))
    of_custom, of_policy = laws_of(custom(shortest)), laws_of(threshold(0.5) | greedy)
    assert len(names) == 3 * own + 1 + len(of_custom) + len(of_policy)
    assert "threshold(0.5)-filter_narrows" in names
    assert [name for name in names if "its_text" in name] == ["longest-policy_is_its_text"]
    for trial in found["packer_law"][:3]:
        trial.values[0]()


@attrs.frozen(repr=False)
class Mislabelled(Filter):
    """Its text is another word than that which the catalog has."""

    name = "mislabeled"
    is_constant = True

    def __call__(self, pool: Pool, /) -> Pool:
        return pool


MISLABELLED = {"mislabelled": Mislabelled()}


def test_text_of_a_registered_catalog_is_read_back() -> None:
    getini = {"packer_stages": [f"{__name__}:MISLABELLED"], "packer_examples": "5"}.__getitem__
    found: dict[str, Any] = {}
    metafunc: Any = SimpleNamespace(
        config=SimpleNamespace(getini=getini),
        parametrize=lambda name, trials: found.update({trial.id: trial for trial in trials}),
    )
    parametrize(metafunc)
    found["mislabelled-filter_narrows"].values[0]()
    with pytest.raises(LawBroken, match="there is no stage 'mislabeled'"):
        found["mislabelled-policy_is_its_text"].values[0]()


def test_registered_wrong_is_told() -> None:
    for path, told in (
        (f"{__name__}:NOTHING", "is 3; give a mapping or a list of stages"),
        (f"{__name__}:MISSING", "cannot be imported"),
        ("nowhere:STAGES", "cannot be imported"),
        ("", "cannot be imported"),
    ):
        with pytest.raises(PackError, match=told):
            list(registered(path))
    config = SimpleNamespace(getini={"packer_stages": [], "packer_examples": "5"}.__getitem__)
    metafunc: Any = SimpleNamespace(config=config)
    with pytest.raises(pytest.UsageError, match="set packer_stages"):
        parametrize(metafunc)
