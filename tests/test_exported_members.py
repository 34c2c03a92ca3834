import importlib
import importlib.resources
import pkgutil
from types import FunctionType, ModuleType

import pytest

import packer
import strategies

# the command line is an extra, kernels import numba: both are looked at where they are tested
MODULES = [
    importlib.import_module(f"{package.__name__}.{found.name}")
    for package in (packer, strategies)
    for found in pkgutil.iter_modules(package.__path__)
    if not found.ispkg
]


def public(module: ModuleType) -> set[str]:
    """The public names of a module, without the modules and typing names in it."""
    for name in module.__all__:
        getattr(module, name)  # some are imported when they are asked for
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    } - {"TYPE_CHECKING", "Final", "lazy_names"}


def test_all_of_packer_is_what_is_public() -> None:
    assert set(packer.__all__) == public(packer)
    assert set(dir(packer)) == set(packer.__all__)
    assert packer.__all__ == sorted(packer.__all__)


def test_all_of_strategies_is_what_is_public() -> None:
    inner = {"cast", "Policy", "checked_policy", "Catalog"}
    # a stage and the module that it is in may share a name; the stage is what is public
    assert set(strategies.__all__) == public(strategies) - inner - {"parse_stage"}


def test_every_word_of_the_catalog_is_a_name_of_strategies() -> None:
    assert set(strategies.CATALOG) <= set(strategies.__all__)
    for word, stage in strategies.CATALOG.items():
        assert getattr(strategies, word) is stage
    other = set(strategies.__all__) - set(strategies.CATALOG)
    assert other == {
        "CATALOG",
        "Context",
        "field",
        "fit_utility",
        "from_options",
        "fuse",
        "parse",
        "recommended",
        "variants",
    }


def test_the_catalog_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        strategies.CATALOG["mine"] = strategies.greedy  # type: ignore[index]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_all_names_what_a_module_has_sorted(module: ModuleType) -> None:
    names = module.__all__
    assert sorted(names) == sorted(set(names))
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_function_and_class_has_a_docstring(module: ModuleType) -> None:
    for name in module.__all__:
        value = getattr(module, name)
        own = getattr(value, "__module__", None) == module.__name__
        if own and isinstance(value, type | FunctionType):
            assert value.__doc__, name


def test_both_packages_are_typed() -> None:
    for package in (packer, strategies):
        files = importlib.resources.files(package)
        assert (files / "py.typed").is_file()


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'strategies' has no attribute 'nothing'"):
        strategies.nothing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="module 'packer' has no attribute 'nothing'"):
        packer.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_importing_every_module_first_changes_no_name() -> None:
    for name in strategies.__all__:
        assert not isinstance(getattr(strategies, name), ModuleType), name
