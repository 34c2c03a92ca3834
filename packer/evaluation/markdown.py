"""An evaluation as Markdown, which is also plain text that can be read."""

from packer.counted import number
from packer.errors import InvalidParameter, shown

from .measures import MEASURES, TITLES
from .results import Cell, Evaluation

__all__ = ["brief", "checked_measure", "grid", "markdown"]


def checked_measure(measure: object) -> str:
    """The key of a measure.

    Raises INVALID_PARAMETER for what is none.
    """
    if isinstance(measure, str) and measure in MEASURES:
        return measure
    message = f"measure is {shown(measure)}; give one of {', '.join(MEASURES)}"
    raise InvalidParameter(message, details={"measure": measure})


def brief(cell: Cell, measure: str) -> tuple[str, str, str]:
    """What stands in a table's cell: the figure, the difference, the mark; empty where none is."""
    figure, difference = cell.figures[measure], cell.differences[measure]
    if figure is None:
        return "", "", ""
    if difference is None:
        return f"{figure.value:.3f}", "", ""
    return f"{figure.value:.3f}", f"{difference.value:+.3f}", difference.mark


def markdown(evaluation: Evaluation, measure: str = "evidence") -> str:
    """A table for each set: policies by budgets, the difference to the baseline with its mark."""
    checked_measure(measure)
    parts = []
    for name in evaluation.sets:
        count = len(evaluation.queries.get(name, ()))
        queries = f" ({number(count, 'query', 'queries')})" if count else ""
        head = ["policy", *(f"{budget:,}" for budget in evaluation.budgets)]
        rows = [
            [_code(label), *_cells(evaluation, name, label, measure)]
            for label in evaluation.policies
        ]
        if measure == "evidence" and count:
            head.append("90 % at")
            for row, label in zip(rows, evaluation.policies, strict=True):
                row.append(evaluation.reached(name, label))
        parts.append(f"**{TITLES[measure]}, {name}**{queries}\n\n{grid(head, rows)}")
    return "\n\n".join(parts) + "\n"


def _cells(evaluation: Evaluation, name: str, label: str, measure: str) -> list[str]:
    found = []
    for budget in evaluation.budgets:
        figure, difference, mark = brief(evaluation.cell(name, label, budget), measure)
        found.append(f"{figure} ({difference}){mark}" if difference else figure)
    return found


def _code(text: str) -> str:
    """A policy's text as code in a table, where `|` would end the cell."""
    return "`" + text.replace("|", "\\|") + "`"


def grid(head: list[str], rows: list[list[str]], *, left: int = 1) -> str:
    """A Markdown table, its first `left` columns to the left, the others to the right."""
    widths = [max(3, *map(len, column)) for column in zip(head, *rows, strict=True)]

    rule = [
        ":" + "-" * (width - 1) if at < left else "-" * (width - 1) + ":"
        for at, width in enumerate(widths)
    ]

    def line(cells: list[str]) -> str:
        padded = [
            text.ljust(width) if at < left else text.rjust(width)
            for at, (text, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    return "\n".join(map(line, [head, rule, *rows]))
