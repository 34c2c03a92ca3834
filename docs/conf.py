"""The documentation as a site: `make docs` writes it to build/docs."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = "chunk-packer"
copyright = "the authors of chunk-packer"  # noqa: A001  # Sphinx's name
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["conf.py"]

html_theme = "furo"
html_title = "chunk-packer"
html_static_path: list[str] = []

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]

# Docstrings are plain prose: a word in backticks is code, whatever it names.
default_role = "code"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
nitpicky = False
