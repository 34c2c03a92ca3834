"""Runs every code block of README.md and docs/: Python as it stands, shell with its output."""

from tests.markdown_examples import collect

pytest_collect_file = collect

# They import what a developer may not have; their examples stand in docs/integrations.md.
collect_ignore_glob = [f"packer/integrations/{name}.py" for name in ("haystack", "lang*", "llama*")]
