"""The pytest plugin of chunk-packer: the fixture `packer_law` tries the laws on a project's stages.

Set ``packer_stages = myproject.stages:STAGES`` in pytest's configuration and write one test::

    def test_laws(packer_law):
        packer_law()

It stands outside `packer`, because pytest loads the plugins of every installed distribution:
until a test asks for the fixture this file imports nothing.
"""

from typing import Any

__all__ = ["pytest_addoption", "pytest_generate_tests"]


def pytest_addoption(parser: Any) -> None:
    """The options of the plugin."""
    told = "stages under the laws of packer: lines of module:name, a mapping or list of stages"
    parser.addini("packer_stages", told, type="linelist", default=[])
    told = "so many cases for each law in packer_law"
    parser.addini("packer_examples", told, default="100")


def pytest_generate_tests(metafunc: Any) -> None:
    """A test for each law of each registered stage, where a test takes `packer_law`."""
    if "packer_law" in metafunc.fixturenames:
        from packer.testing.registered import parametrize

        parametrize(metafunc)
