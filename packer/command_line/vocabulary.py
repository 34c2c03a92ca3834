"""The catalog of stages as what can be listed: signature, role, what it leads from and to.

Functions keep their docstring; a constant's is the string below its assignment, which Python
drops, so it is read from the source.
"""

import ast
import inspect
import re
import sys
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, final

import attrs

from packer.algebra import Constraint, Filter, Order, Scoring, Selector, Stage, Step
from packer.conditions import Condition
from packer.dsl import Catalog

__all__ = ["Entry", "entries"]

ROLES: Final[Mapping[type, str]] = {
    Scoring: "scoring",
    Constraint: "constraint",
    Filter: "filter",
    Selector: "selector",
    Order: "order",
}
"""The narrower role before the wider."""

_SENTENCE: Final = re.compile(r"(?<=[\w)\]`\"'])[.](?=\s+[A-Z`\"]|\s*$)")


@final
@attrs.frozen
class Entry:
    """One stage of a catalog; `in_text` says whether a policy's text can hold it."""

    name: str
    signature: str
    role: str
    takes: str
    gives: str
    doc: str
    in_text: bool

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        paragraph = " ".join(self.doc.strip().partition("\n\n")[0].split())
        return _SENTENCE.split(paragraph, maxsplit=1)[0].rstrip(".") + "."


def entries(catalog: Catalog) -> list[Entry]:
    """Every stage of the catalog, in its order.

    >>> from strategies import CATALOG
    >>> first = entries(CATALOG)[0]
    >>> first.signature, first.role, first.takes, first.gives
    ('threshold(floor: float)', 'filter', 'Pool', 'Pool')
    >>> first.summary
    'Keep the chunks with score >= floor.'
    """
    return [_entry(name, found) for name, found in catalog.items()]


def _entry(name: str, found: Stage[Any, Any] | Callable[..., Stage[Any, Any]]) -> Entry:
    if isinstance(found, Stage):
        kind: Any = type(found)
        module = kind.__module__
        signature, doc, in_text = name, _constant_docs(module).get(name, ""), True
    else:
        kind = typing.get_type_hints(found)["return"]
        module = found.__module__
        signature, doc = f"{name}{_arguments(found)}", inspect.getdoc(found) or ""
        in_text = not any(map(_is_callable, _parameters(found)))
    role = next((word for type_, word in ROLES.items() if issubclass(kind, type_)), kind.__name__)
    takes, gives = (
        (kind.takes.__name__, kind.gives.__name__) if issubclass(kind, Step) else ("?", "?")
    )
    return Entry(name, signature, role, takes, gives, doc, in_text)


@cache
def _constant_docs(module: str) -> Mapping[str, str]:
    """The strings below the assignments of a module, by the name that is assigned."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    docs = {}
    for statement, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if (
            isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            text = inspect.cleandoc(after.value.value)
            docs.update({target.id: text for target in targets if isinstance(target, ast.Name)})
    return docs


# -- signatures -----------------------------------------------------------------------------


_STARS: Final[Mapping[Any, str]] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def _parameters(make: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(make, eval_str=True).parameters.values())


def _arguments(make: Callable[..., Any]) -> str:
    """`(threshold: float = 0.85, *, metric: auto|cosine|jaccard = "auto")`."""
    written = []
    bare_star = False
    for parameter in _parameters(make):
        if parameter.kind is parameter.KEYWORD_ONLY and not bare_star:
            written.append("*")
            bare_star = True
        star = _STARS.get(parameter.kind, "")
        bare_star = bare_star or star == "*"
        text = f"{star}{parameter.name}: {_type_text(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {_literal_text(parameter.default)}"
        written.append(text)
    return f"({', '.join(written)})"


def _type_text(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return "|".join(map(str, arguments))
    if annotation is Condition:
        return "condition"
    if arguments and str in arguments and origin not in (list, tuple) and len(arguments) == 2:
        return "duration"  # dt.timedelta | str
    if _is_function(annotation):
        return "function"
    if arguments:
        return f"list of {_type_text(arguments[0])}"
    return getattr(annotation, "__name__", str(annotation))


def _literal_text(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _is_callable(parameter: inspect.Parameter) -> bool:
    return _is_function(parameter.annotation)


def _is_function(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, Callable)  # type: ignore[arg-type]
