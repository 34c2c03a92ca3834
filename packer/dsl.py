"""From the text of a policy to the policy, over a given catalog; nothing is evaluated.

    threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape

The text is read with `ast`: `|`, names, calls with literal arguments, and conditions on metadata
keys (``where(status == "current" and not year < 2023)``).  Line breaks count as blanks.
"""

import ast
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, final

import attrs

from .algebra import Stage, steps_of
from .conditions import Condition, Field
from .errors import InvalidPolicy, PackError, shown

__all__ = ["Catalog", "parse_stage"]

Catalog: TypeAlias = Mapping[str, Stage[Any, Any] | Callable[..., Stage[Any, Any]]]
"""The words of the language: a stage, or a function that makes one."""

MOST_SHOWN = 60
"""Characters of a policy's text that a message repeats."""

_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def parse_stage(text: str, catalog: Catalog) -> Stage[Any, Any]:
    """The stage, or composition of stages, that the text names.  O(length).

    Raises INVALID_POLICY with `line`, `column` (from 1) and where possible a `suggestion`;
    INVALID_PARAMETER, with the place too, for an argument outside its range.

    >>> from strategies import CATALOG
    >>> parse_stage("greedy | ushape", CATALOG)
    greedy | ushape
    """
    if not isinstance(text, str):
        message = f"a policy's text is a str, not {shown(text)}"
        raise InvalidPolicy(message, details={"value": text})
    return _Reader(text, catalog).stage()


@final
@attrs.frozen
class _Reader:
    text: str
    catalog: Catalog

    def stage(self) -> Stage[Any, Any]:
        flat = self.flat()
        if not flat.strip():
            raise self.fault("the policy is empty", 0, suggestion="greedy")
        indent = len(flat) - len(flat.lstrip(" "))
        flat = flat.strip(" ")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # ours to judge, not the compiler's
                tree = ast.parse(flat, mode="eval")
            return self.composed(tree.body, indent, flat)
        except SyntaxError as error:
            inside = error.lineno == 1 and error.offset
            at = indent + (error.offset - 1 if inside and error.offset else len(flat))
            raise self.fault(f"this is no policy: {error.msg}", at) from None
        except (RecursionError, MemoryError, ValueError) as error:
            if isinstance(error, PackError):
                raise
            raise self.fault(f"this is no policy: {error}", 0) from None

    def flat(self) -> str:
        """The text on one line of the same length: line breaks and comments become blanks."""
        flat, quote, comment, escaped = [], "", False, False
        for character in self.text:
            if character in "\r\n\t":
                comment = comment and character == "\t"
                flat.append(" ")
            elif comment:
                flat.append(" ")
            elif not quote and character == "#":
                comment = True
                flat.append(" ")
            else:
                if escaped:
                    escaped = False
                elif quote and character == "\\":
                    escaped = True
                elif character in ("'", '"') and quote in ("", character):
                    quote = "" if quote else character
                flat.append(character)
        return "".join(flat)

    def composed(self, node: ast.expr, indent: int, flat: str) -> Stage[Any, Any]:
        nodes = [node]
        while isinstance(nodes[0], ast.BinOp) and isinstance(nodes[0].op, ast.BitOr):
            nodes[0:1] = [nodes[0].left, nodes[0].right]
        place = _Places(indent, flat)
        stages = [
            self.composed(part, indent, flat)
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr)  # in brackets
            else self.single(part, place)
            for part in nodes
        ]
        composition = stages[0]
        for part, stage in zip(nodes[1:], stages[1:], strict=True):
            try:
                composition = composition | stage
            except InvalidPolicy as error:
                raise self.fault(error.message, place.of(part), details=error.details) from None
        return composition

    def single(self, node: ast.expr, place: "_Places") -> Stage[Any, Any]:
        if isinstance(node, ast.Name):
            found = self.word(node.id, place.of(node))
            if isinstance(found, Stage):
                return found
            raise self.fault(
                f"{node.id} is called; write {_call_text(node.id, found)}",
                place.of(node),
                suggestion=_call_text(node.id, found),
            )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found = self.word(node.func.id, place.of(node))
            if isinstance(found, Stage):
                message = f"{node.func.id} takes no brackets"
                raise self.fault(message, place.of(node), suggestion=node.func.id)
            return self.called(node.func.id, found, node, place)
        raise self.fault(
            f"{_source(node)} is no stage; stages are joined by |",
            place.of(node),
        )

    def word(self, name: str, at: int) -> Any:
        if name in self.catalog:
            return self.catalog[name]
        import difflib

        near = difflib.get_close_matches(name, self.catalog, n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(self.catalog)}"
        raise self.fault(
            f"there is no stage {name!r}{hint}", at, suggestion=near[0] if near else None
        )

    def called(
        self, name: str, make: Callable[..., Any], node: ast.Call, place: "_Places"
    ) -> Stage[Any, Any]:
        signature = inspect.signature(make)
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        parameters = signature.parameters.values()
        known = [parameter.name for parameter in parameters if parameter.kind not in variadic]
        names_keys = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        arguments = [self.argument(argument, place) for argument in node.args]
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None and names_keys:
                given = self.keys_and_values(keyword.value, place)
            elif keyword.arg in known or (keyword.arg is not None and names_keys):
                given = {str(keyword.arg): self.argument(keyword.value, place)}
            else:
                raise self.unknown(name, known, keyword, place)
            for word, value in given.items():
                if word in keywords:
                    message = f"{name} has {word!r} twice"
                    raise self.fault(message, place.of(keyword))
                keywords[word] = value
        try:
            signature.bind(*arguments, **keywords)
        except TypeError as error:
            suggestion = _call_text(name, make)
            raise self.fault(
                f"{name}: {error}; write {suggestion}", place.of(node), suggestion=suggestion
            ) from None
        try:
            stage = make(*arguments, **keywords)
        except PackError as error:
            line, column = self.line_column(place.of(node))
            details = {**error.details, "line": line, "column": column, "text": self.text}
            message = f"line {line}, column {column}: {error.message}"
            raise type(error)(message, details=details) from None
        steps_of(stage)
        return stage  # type: ignore[no-any-return]  # steps_of refuses what is no stage

    def unknown(
        self, name: str, known: list[str], keyword: ast.keyword, place: "_Places"
    ) -> InvalidPolicy:
        import difflib

        near = difflib.get_close_matches(str(keyword.arg), known, n=1, cutoff=0.5)
        hint = f"; it takes {', '.join(known)}" if known else "; to compare a key, write =="
        if near:
            hint = f"; did you mean {near[0]}?"
        return self.fault(
            f"{name} has no parameter {keyword.arg!r}{hint}",
            place.of(keyword.value) if keyword.arg is None else place.of(keyword),
            suggestion=near[0] if near else None,
        )

    def keys_and_values(self, node: ast.expr, place: "_Places") -> dict[str, Any]:
        """What `**{"doc score": 0.5}` gives: names that no keyword can have."""
        found = self.literal(node, place)
        if isinstance(found, dict) and all(isinstance(key, str) for key in found):
            return found
        message = f'{_source(node)} after ** is no mapping; write **{{"a key": 1.0}}'
        raise self.fault(message, place.of(node))

    def argument(self, node: ast.expr, place: "_Places") -> Any:
        if isinstance(node, ast.Compare | ast.BoolOp) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        ):
            return self.condition(node, place)
        return self.literal(node, place)

    def literal(self, node: ast.expr, place: "_Places") -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
                message = f"{_source(node)} joins conditions as code does; write and, or, not"
                raise self.fault(message, place.of(node)) from None
            message = (
                f"{_source(node)} is no literal; arguments are numbers, text in quotes, lists of "
                "these, and comparisons of metadata keys (Python functions only in code)"
            )
            raise self.fault(message, place.of(node)) from None

    # -- conditions ------------------------------------------------------------------------

    def condition(self, node: ast.expr, place: "_Places") -> Condition:
        if isinstance(node, ast.BoolOp):
            parts = [self.condition(part, place) for part in node.values]
            joined = parts[0]
            for part in parts[1:]:
                joined = joined & part if isinstance(node.op, ast.And) else joined | part
            return joined
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self.condition(node.operand, place)
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            pairs = zip(operands, node.ops, operands[1:], strict=False)
            parts = [self.comparison(left, op, right, place) for left, op, right in pairs]
            joined = parts[0]
            for part in parts[1:]:
                joined = joined & part
            return joined
        raise self.fault(
            f'{_source(node)} is no condition; compare a key, as in status == "current"',
            place.of(node),
        )

    def comparison(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, place: "_Places"
    ) -> Condition:
        key, mirrored = _key(left), False
        if key is None:
            key, mirrored = _key(right), True
        if key is None:
            message = f"{_source(left)} and {_source(right)} are both values; name a metadata key"
            raise self.fault(message, place.of(left))
        value = self.literal(left if mirrored else right, place)
        negated = isinstance(op, ast.NotIn | ast.IsNot)
        try:
            found = _compared(Field(key), op, value, mirrored=mirrored)
        except PackError as error:
            raise self.fault(error.message, place.of(left)) from None
        if found is None:
            raise self.fault(f"{_source(left)} cannot be compared like this", place.of(left))
        return ~found if negated else found

    # -- places ----------------------------------------------------------------------------

    def line_column(self, at: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character of the text."""
        before = self.text[:at].replace("\r\n", " \n").replace("\r", "\n")
        return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1

    def fault(
        self,
        message: str,
        at: int,
        *,
        suggestion: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> InvalidPolicy:
        line, column = self.line_column(at)
        place = {"line": line, "column": column, "text": self.text, "suggestion": suggestion}
        text = f"line {line}, column {column}: {message}"
        return InvalidPolicy(text, details={**(details or {}), **place})


@final
@attrs.frozen
class _Places:
    """From a node's place, which counts UTF-8 bytes of the stripped text, to a character."""

    indent: int
    flat: str

    def of(self, node: ast.expr | ast.keyword) -> int:
        encoded = self.flat.encode("utf-8", "surrogatepass")
        return self.indent + len(encoded[: node.col_offset].decode("utf-8", "ignore"))


def _source(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."


def _key(node: ast.expr) -> str | None:
    """The metadata key that a node names: `status`, or `field("doc type")`."""
    if isinstance(node, ast.Name):
        return node.id
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "field"
        and len(node.args) == 1
        and not node.keywords
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    ):
        return node.args[0].value
    return None


def _compared(key: Field, op: ast.cmpop, value: Any, *, mirrored: bool) -> Condition | None:
    if isinstance(op, ast.Is | ast.IsNot):
        return key.is_none() if value is None else None
    if isinstance(op, ast.In | ast.NotIn):
        if mirrored:
            return key.contains(value)
        return key.is_in(value) if isinstance(value, Iterable) else None
    word = _COMPARISONS[type(op)]
    return {
        "==": key.__eq__,
        "!=": key.__ne__,
        "<": key.__lt__,
        "<=": key.__le__,
        ">": key.__gt__,
        ">=": key.__ge__,
    }[_MIRRORED[word] if mirrored else word](value)


def _call_text(name: str, make: Callable[..., Any]) -> str:
    """How the stage is called: `mmr(lambda_=0.5)`, without what may be left out."""
    parameters = inspect.signature(make).parameters.values()
    shown_ones = [
        "key=1.0"
        if parameter.kind is parameter.VAR_KEYWORD
        else parameter.name
        if parameter.default is parameter.empty
        else f"{parameter.name}={parameter.default!r}"
        for parameter in parameters
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    if all(parameter.default is not parameter.empty for parameter in parameters):
        return f"{name}()"
    return f"{name}({', '.join(shown_ones)})"
