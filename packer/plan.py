"""Several sections in one window: each with its own policy, what one leaves flows to the others."""

import datetime as dt
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, final

import attrs

from .allotment import Section, check_minima, checked_names, sections
from .budget import Budget, available
from .call import checked_call
from .errors import InvalidParameter, PackError, shown
from .facade import Packer
from .intake import ChunkLike, OnInvalid
from .pool import Pool
from .records import Chunk, Packed, Report
from .tokens import CountTokens, TokenCounter, approximate, count, counter_name, is_estimate

__all__ = ["PackedPlan", "Plan", "PlanReport"]


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

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as JSON text."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)


def _listed(value: Any) -> tuple[Section, ...]:
    return checked_names(value)


@final
@attrs.frozen
class Plan:
    """Sections that share one window, in the order in which they are written and served.

    Each section gets what `packer.sections` gives it of what it has use for; what its chunks
    then leave over flows to the others, the first first.  The text is the texts of the sections
    that have any, with `separator` between; it is counted as a whole, and while it is too long
    the last section that has more than its minimum gives way.  ``count_tokens(packed.text())`` is
    at most the budget, whatever the counter.

    Raises INFEASIBLE for minima that do not fit, INVALID_PARAMETER, INVALID_BUDGET.

    >>> from packer import Section
    >>> from strategies import greedy, mmr
    >>> plan = Plan(
    ...     [Section("instructions", greedy, minimum=10), Section("examples", mmr(0.5), share=0.3)],
    ...     budget=40,
    ... )
    >>> packed = plan.pack({"instructions": "Answer in one line.", "examples": []})
    >>> packed.text(), packed.report.tokens_used
    ('Answer in one line.', 5)
    """

    sections: tuple[Section, ...] = attrs.field(converter=_listed)
    budget: int | Budget = attrs.field(kw_only=True)
    separator: str = attrs.field(default="\n\n", kw_only=True)
    count_tokens: CountTokens = attrs.field(default=approximate, kw_only=True)
    on_invalid: OnInvalid = attrs.field(default="raise", kw_only=True)

    def __attrs_post_init__(self) -> None:
        checked_call(self.budget, 0, self.count_tokens, None, None)
        if not isinstance(self.separator, str):
            message = f"Plan: separator is {shown(self.separator)}; give text"
            raise InvalidParameter(message, details={"separator": self.separator})
        minima = sum(part.minimum > 0 for part in self.sections)
        joins = self._between() * max(minima - 1, 0)
        check_minima(available(self.budget), self.sections, joins)

    def _between(self) -> int:
        return count(self.count_tokens, self.separator, "the separator") if self.separator else 0

    def pack(
        self,
        chunks: Mapping[str, Iterable[ChunkLike] | str],
        *,
        query: str | None = None,
        now: dt.datetime | str | float | None = None,
    ) -> PackedPlan:
        """Pack the chunks of each section, by its name; a text stands for one chunk of it.

        A section that is left out has no chunks.  `query` and `now` as in `packer.pack`.

        Raises INVALID_PARAMETER for a name that is no section's, and what `packer.pack` raises.
        """
        started = time.perf_counter()
        found = _Packing(self, _chunks_of(self.sections, chunks), query, now)
        found.share()
        found.flow()
        text, used = found.fit()
        report = PlanReport(
            tokens_used=used,
            budget=found.window,
            sections={name: packed.report for name, packed in found.packed.items()},
            allotted={name: packed.report.budget for name, packed in found.packed.items()},
            counter=counter_name(self.count_tokens),
            estimated=any(packed.report.estimated for packed in found.packed.values()),
            timestamp=found.moment.isoformat(timespec="milliseconds"),
            duration_ms=(time.perf_counter() - started) * 1e3,
        )
        return PackedPlan(found.packed, report, text)


def _chunks_of(parts: Iterable[Section], chunks: Any) -> dict[str, list[ChunkLike]]:
    names = [part.name for part in parts]
    if not isinstance(chunks, Mapping) or not set(chunks) <= set(names):
        given = [name for name in chunks if name not in names] if isinstance(chunks, Mapping) else 0
        message = (
            f"chunks is {shown(given or chunks)}; give a mapping from the names of sections "
            f"({', '.join(names)}) to their chunks"
        )
        raise InvalidParameter(message, details={"sections": tuple(names)})
    found: dict[str, list[ChunkLike]] = {}
    for name in names:
        given = chunks.get(name, ())
        found[name] = [Chunk(given, 1.0, id=name)] if isinstance(given, str) else list(given)
    return found


class _Packing:
    """One run of a plan: what each section has packed so far.  `packed` is what changes."""

    def __init__(
        self, plan: Plan, chunks: Mapping[str, list[ChunkLike]], query: str | None, now: Any
    ) -> None:
        self.plan = plan
        self.window = available(plan.budget)
        self.count = _remembering(plan.count_tokens)
        call = checked_call(self.window, 0, self.count, query, now)
        self.moment = call.now or dt.datetime.now(dt.UTC)
        self.packers: dict[str, Packer] = {}
        self.pools: dict[str, Pool] = {}
        for part in plan.sections:
            packer = Packer(
                part.policy,
                budget=self.window,
                count_tokens=self.count,
                template=part.template,
                on_invalid=plan.on_invalid,
            )
            self.packers[part.name] = packer
            try:
                pool = packer.pool(chunks[part.name], query=query, now=self.moment)
            except PackError as error:
                error.details = {**error.details, "section": part.name}
                error.add_note(f"in the section {part.name!r}")
                raise
            self.pools[part.name] = pool
        with_chunks = sum(len(pool) > 0 for pool in self.pools.values())
        self.room = max(self.window - plan._between() * max(with_chunks - 1, 0), 0)  # noqa: SLF001
        self.packed: dict[str, Packed] = {}
        self.demands: dict[str, int] = {}

    def within(self, name: str, limit: int) -> Packed:
        return self.packers[name].pack_within(self.pools[name], limit, self.moment)

    def most(self, part: Section) -> int:
        return self.room if part.maximum is None else min(part.maximum, self.room)

    def used(self, name: str) -> int:
        return self.packed[name].report.tokens_used

    def share(self) -> None:
        """Each section what it would use alone; where that is too much, what it is allotted."""
        for part in self.plan.sections:
            self.packed[part.name] = self.within(part.name, self.most(part))
            self.demands[part.name] = self.used(part.name)
        if sum(self.demands.values()) <= self.room:
            return
        listed = [
            attrs.evolve(part, minimum=min(part.minimum, self.demands[part.name]))
            for part in self.plan.sections
        ]
        allotted = sections(max(self.room, 1), listed, self.demands)
        for name, tokens in allotted.items():
            if tokens < self.demands[name]:
                self.packed[name] = self.within(name, tokens)

    def flow(self) -> None:
        """What the sections left over goes to those that have use for more, the first first."""
        for part in self.plan.sections:
            left = self.room - sum(map(self.used, self.packed))
            used = self.used(part.name)
            if left > 0 and used < self.demands[part.name]:
                again = self.within(part.name, min(used + left, self.most(part)))
                if used < again.report.tokens_used <= used + left:
                    self.packed[part.name] = again

    def fit(self) -> tuple[str, int]:
        """The whole text and its tokens; while it is too long, the last sections give way."""
        floors = {part.name: part.minimum for part in self.plan.sections}
        steps = dict.fromkeys(floors, 1)  # doubled, so that no section is asked often
        while True:
            texts = [packed.text() for packed in self.packed.values() if len(packed)]
            if not texts:
                return "", 0
            text = self.plan.separator.join(texts)
            used = count(self.count, text, "the whole text")
            if used <= self.window:
                return text, used
            backwards = [name for name in reversed(self.packed) if len(self.packed[name])]
            wealthy = [name for name in backwards if self.used(name) > floors[name]]
            name = next(iter(wealthy or backwards))
            floor = floors[name] if wealthy else -1
            less = self.used(name) - steps[name] * (used - self.window)
            self.packed[name] = self.within(name, max(less, floor))
            steps[name] *= 2


def _remembering(count_tokens: CountTokens) -> TokenCounter:
    """The counter, asked once for each text of a run."""
    known: dict[str, int] = {}

    def counted(text: str) -> int:
        if text not in known:
            known[text] = count_tokens(text)
        return known[text]

    name = counter_name(count_tokens)
    return TokenCounter(name, counted, estimated=is_estimate(count_tokens))
