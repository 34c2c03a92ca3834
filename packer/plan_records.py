"""What a plan gives: its sections as they are packed, the whole text, and one report for all."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, final

import attrs

from .errors import InvalidParameter, shown
from .plain import json_text
from .records import Packed, Report

__all__ = ["PackedPlan", "PlanReport"]


@final
@attrs.frozen(kw_only=True, unsafe_hash=False)
class PlanReport:
    """What a whole prompt costs, and the report of each section.

    `tokens_used` is the count of the whole text; it is what the sections use and what the joins
    between them cost (`joins`, negative where they merge), and with `tokens_remaining` it is the
    budget.  `allotted`: what each section could spend in the end.
    """

    tokens_used: int
    budget: int
    sections: Mapping[str, Report]
    allotted: Mapping[str, int]
    counter: str
    estimated: bool
    timestamp: str = attrs.field(eq=False)
    duration_ms: float = attrs.field(eq=False)

    __hash__ = None  # type: ignore[assignment]  # the reports in it do not hash

    @property
    def tokens_remaining(self) -> int:
        """What is left of the budget."""
        return self.budget - self.tokens_used

    @property
    def utilization(self) -> float:
        """Tokens used as a share of the budget, 0 to 1."""
        return self.tokens_used / self.budget

    @property
    def joins(self) -> int:
        """What the whole text costs beyond its sections."""
        return self.tokens_used - sum(report.tokens_used for report in self.sections.values())

    @property
    def selected_count(self) -> int:
        """How many chunks are in."""
        return sum(report.selected_count for report in self.sections.values())

    @property
    def excluded_count(self) -> int:
        """How many chunks are out."""
        return sum(report.excluded_count for report in self.sections.values())

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values that JSON can hold, every public name a key."""
        plain = {name: getattr(self, name) for name in _NAMES}
        parts = {name: report.to_dict() for name, report in self.sections.items()}
        return {**plain, "allotted": dict(self.allotted), "sections": parts}


_NAMES: Final = (
    "tokens_used",
    "budget",
    "tokens_remaining",
    "utilization",
    "joins",
    "selected_count",
    "excluded_count",
    "counter",
    "estimated",
    "timestamp",
    "duration_ms",
)


@final
@attrs.frozen(unsafe_hash=False)
class PackedPlan:
    """A whole prompt: `sections`, name -> what is packed in it, in the plan's order."""

    sections: Mapping[str, Packed]
    report: PlanReport
    _text: str = attrs.field(repr=False)

    __hash__ = None  # type: ignore[assignment]  # the reports in it do not hash

    def __getitem__(self, name: str) -> Packed:
        return self.sections[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sections)

    def __len__(self) -> int:
        return len(self.sections)

    def text(self) -> str:
        """The whole text, as it was counted."""
        return self._text

    def why(self, id: str) -> str:  # noqa: A002 (the name of the chunk's field)
        """One line for each section that has a chunk with this id.

        Raises INVALID_PARAMETER when none has.
        """
        lines = []
        for name, packed in self.sections.items():
            try:
                lines.append(f"{name}: {packed.why(id)}")
            except InvalidParameter:
                continue
        if not lines:
            message = f"no chunk of any section has the id {shown(id)}"
            raise InvalidParameter(message, details={"id": id})
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """`{"sections": {name: {"chunks": [...]}}, "text": ..., "report": ...}` for JSON."""
        chunks = {
            name: {"chunks": packed.to_dict()["chunks"]} for name, packed in self.sections.items()
        }
        return {"sections": chunks, "text": self._text, "report": self.report.to_dict()}

    def to_html(self) -> str:
        """A page that shows every section: one file, self-contained, for a browser."""
        from .page import plan_page

        return plan_page(self.sections, self.report.tokens_used, self.report.budget)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for notebooks."""
        from .page import framed

        return framed(self.to_html())

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as JSON text; lone surrogates stand as escapes."""
        return json_text(self.to_dict(), indent)
