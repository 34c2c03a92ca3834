"""Runs every code block of README.md and docs/: Python as it stands, shell with its output."""

from tests.markdown_examples import collect

pytest_collect_file = collect
