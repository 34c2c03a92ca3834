"""A template as the command line has it: its text, or a file that holds it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from packer.template import Template

from .faults import InputFault

__all__ = ["read_table", "read_template", "template_of"]

KEYS: Final = tuple(field.name for field in attrs.fields(Template) if field.init)


def read_template(given: str) -> Template:
    r"""The template of an option: a text with a field, in which ``\n`` and ``\t`` are blanks; a
    `.toml` file with the keys chunk, separator, header and footer; or any other file, as the text
    of a chunk (without its last line break).

    Raises InputFault for a file that cannot be read, INVALID_PARAMETER for what is no template.

    >>> read_template(r"[{position}]\n{content}").chunk
    '[{position}]\n{content}'
    """
    if given.endswith(".toml") and "{" not in given:
        return template_of(read_table(given), given)
    if "{" in given:
        return Template(given.replace("\\n", "\n").replace("\\t", "\t"))
    return Template(read_text(given, "; a template's text has a field, such as {content}"))


def template_of(value: Any, where: str) -> Template:
    """The template that a string (the text of a chunk) or a table of a TOML file is.

    Raises InputFault, INVALID_PARAMETER.
    """
    if isinstance(value, str):
        return Template(value)
    if not isinstance(value, Mapping) or not set(value) <= set(KEYS):
        message = f"{where}: a template is text, or a table with the keys {', '.join(KEYS)}"
        raise InputFault(message)
    return Template(**value)


def read_text(path: str, hint: str = "") -> str:
    """The text of a file, without its last line break.

    Raises InputFault.
    """
    try:
        return Path(path).read_text("utf-8").removesuffix("\n")
    except OSError as error:
        message = f"cannot read {path}: {error.strerror or error}{hint}"
        raise InputFault(message) from None
    except UnicodeDecodeError:
        message = f"{path}: this is not UTF-8"
        raise InputFault(message) from None


def read_table(path: str) -> dict[str, Any]:
    """The table of a TOML file.

    Raises InputFault, with the line.
    """
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        message = f"{path}: this is no TOML: {error}"
        raise InputFault(message) from None
