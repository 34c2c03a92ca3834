"""The mutants of a module: cosmic-ray makes each, one slip in one place."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any, Final, final

import attrs

ROOT: Final = Path(__file__).resolve().parents[2]

OPERATORS: Final = (
    "core/ReplaceBinaryOperator_Add_Sub",
    "core/ReplaceBinaryOperator_Sub_Add",
    "core/ReplaceBinaryOperator_Mul_Add",
    "core/ReplaceBinaryOperator_Div_Mul",
    "core/ReplaceBinaryOperator_FloorDiv_Mul",
    "core/ReplaceBinaryOperator_Mod_Add",
    "core/ReplaceBinaryOperator_RShift_LShift",
    "core/ReplaceBinaryOperator_LShift_RShift",
    "core/ReplaceBinaryOperator_BitAnd_BitOr",
    "core/ReplaceComparisonOperator_Lt_LtE",
    "core/ReplaceComparisonOperator_LtE_Lt",
    "core/ReplaceComparisonOperator_Gt_GtE",
    "core/ReplaceComparisonOperator_GtE_Gt",
    "core/ReplaceComparisonOperator_Lt_Gt",
    "core/ReplaceComparisonOperator_Gt_Lt",
    "core/ReplaceComparisonOperator_Eq_NotEq",
    "core/ReplaceComparisonOperator_NotEq_Eq",
    "core/ReplaceUnaryOperator_Delete_USub",
    "core/ReplaceUnaryOperator_Delete_Invert",
    "core/ReplaceUnaryOperator_Delete_Not",
    "core/AddNot",
    "core/ReplaceTrueWithFalse",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceAndWithOr",
    "core/ReplaceOrWithAnd",
    "core/ReplaceBreakWithContinue",
    "core/ReplaceContinueWithBreak",
    "core/NumberReplacer",
    "core/ZeroIterationForLoop",
)
"""One wrong variant for each kind of slip; the others of cosmic-ray repeat these."""

CONTROL: Final = "none"
"""The operator of a control: the module as it is, which no test may kill."""

EQUIVALENT: Final = "strict=True"
"""A line with it is as good without: it only says that two lists have one length."""


@final
@attrs.frozen
class Mutant:
    """A module with one slip."""

    module: str
    operator: str
    occurrence: int
    line: int
    """The first line that differs, from 1."""
    before: str
    after: str
    source: str = attrs.field(repr=False)
    inside: bool
    """Whether the slip is inside a function, so that a new code of it is all that it takes."""


def modules() -> list[str]:
    """The stages and kernels, each by its module; packages only name what they export."""
    found = [*(ROOT / "strategies").glob("*.py"), *(ROOT / "packer" / "kernels").glob("*.py")]
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in found)
    return sorted(name for name in names if not name.endswith("__init__"))


def path_of(module: str) -> Path:
    """The file of a module."""
    return ROOT / f"{module.replace('.', '/')}.py"


def mutants(module: str) -> list[Mutant]:
    """Every mutant of a module that is another program."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    original = path_of(module).read_text()
    lines = original.splitlines()
    found = []
    for name in OPERATORS:
        operator = get_operator(name)()
        occurrence = 0
        while (source := mutate_code(original, operator, occurrence)) is not None:
            occurrence += 1
            changed = source.splitlines()
            at = next(
                (at for at, (a, b) in enumerate(zip(lines, changed, strict=False)) if a != b), None
            )
            if at is None or (EQUIVALENT in lines[at] and "True" in name):
                continue
            mutant = Mutant(
                module, name, occurrence - 1, at + 1, lines[at], changed[at], source, inside=False
            )
            if code_of(mutant):
                found.append(attrs.evolve(mutant, inside=bool(changed_functions(mutant))))
    return found


def controls(module: str) -> list[Mutant]:
    """The module without a slip, to be tried in both ways: what kills it is no test."""
    source = path_of(module).read_text()
    return [Mutant(module, CONTROL, 0, 1, "", "", source, inside=way) for way in (True, False)]


def code_of(mutant: Mutant) -> CodeType | None:
    """The code of a mutant; None where it is no program."""
    try:
        return compile(mutant.source, path_of(mutant.module), "exec", dont_inherit=True)
    except SyntaxError:
        return None


def changed_functions(mutant: Mutant) -> dict[CodeType, CodeType] | None:
    """The code of each function that is another in the mutant, by what it was.

    None where the slip is outside all functions (a constant, a default, a class attribute): then
    only a fresh import shows it.
    """
    path = path_of(mutant.module)
    original = compile(path.read_text(), path, "exec", dont_inherit=True)
    if not _in_a_body(ast.parse(path.read_text()), mutant.line):
        return None
    old, new = list(_functions(original)), list(_functions(code_of(mutant)))
    if len(old) != len(new):
        return None
    return {a: b for a, b in zip(old, new, strict=True) if a != b} or None


def statement_at(tree: ast.AST, line: int) -> range:
    """The lines of the innermost statement around a line; of one with a body, its head."""
    head = range(line, line + 1)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.end_lineno and node.lineno <= line:
            body: list[Any] = getattr(node, "body", [])
            last = body[0].lineno - 1 if body else node.end_lineno
            if line <= max(last, node.lineno):
                head = range(node.lineno, max(last, node.lineno) + 1)
    return head


def _in_a_body(tree: ast.AST, line: int) -> bool:
    functions = (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return any(each.body[0].lineno <= line <= (each.end_lineno or 0) for each in functions)


def _functions(code: CodeType | None) -> Iterator[CodeType]:
    for constant in code.co_consts if code else ():
        if isinstance(constant, CodeType):
            yield constant
            yield from _functions(constant)
