"""The blocks of a Markdown page as tests.

`python` blocks run as Python (doctest where they have prompts), in one namespace a page.  `sh`
blocks run in a shell at the root of the repository, except that `make` only shows what it would
do: running the tests from within the tests has no end.  A `text` block after an `sh` block is what
the last one printed to stdout.  What stands between `<!--- skip: start if(missing("name")) -->` and
`<!--- skip: end -->` needs a package that a developer may not have.
"""

import os
import re
import subprocess
import sys
from doctest import NORMALIZE_WHITESPACE
from pathlib import Path

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

from .integrations.packages import missing

ROOT = Path(__file__).resolve().parents[1]


def run_shell(example: Example) -> str | None:
    script = re.sub(r"(?m)^make ", "make --dry-run ", example.parsed)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    example.namespace["printed"] = done.stdout
    if done.returncode:
        return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return None


def compare_output(example: Example) -> str | None:
    expected, printed = example.parsed.strip(), example.namespace.get("printed", "").strip()
    return None if expected == printed else f"expected:\n{expected}\n\nprinted:\n{printed}"


def start_at_root(namespace: dict[str, object]) -> None:
    namespace["before"] = Path.cwd()
    namespace["missing"] = missing
    os.chdir(ROOT)


def go_back(namespace: dict[str, object]) -> None:
    os.chdir(str(namespace["before"]))


collect = Sybil(
    path=str(ROOT),
    parsers=[
        SkipParser(),
        PythonCodeBlockParser(doctest_optionflags=NORMALIZE_WHITESPACE),
        CodeBlockParser(language="sh", evaluator=run_shell),
        CodeBlockParser(language="text", evaluator=compare_output),
    ],
    patterns=["*.md"],
    excludes=["examples/**"],
    setup=start_at_root,
    teardown=go_back,
).pytest()
