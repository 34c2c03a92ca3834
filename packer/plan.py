"""Several sections in one window: each with its own policy, what one leaves flows to the others."""

import datetime as dt
import time
from collections.abc import Iterable, Mapping
from typing import Any, final

import attrs

from .allotment import Section, check_minima, checked_names, sections
from .budget import Budget, available
from .call import checked_call
from .errors import Infeasible, InvalidParameter, OverBudget, PackError, shown
from .facade import Packer
from .intake import ChunkLike, OnInvalid
from .plan_records import PackedPlan, PlanReport
from .pool import Pool
from .records import Chunk, Packed
from .tokens import CountTokens, TokenCounter, approximate, count, counter_name, is_estimate

__all__ = ["PackedPlan", "Plan", "PlanReport"]


def _listed(value: Any) -> tuple[Section, ...]:
    return checked_names(value)


@final
@attrs.frozen
class Plan:
    """Sections that share one window, in the order in which they are written and served.

    Each section gets what `packer.sections` gives it of what it has use for; what its chunks
    then leave over flows to the others, the first first.  The text is the texts of the sections
    that have any, with `separator` between; it is counted as a whole, and while it is too long
    the last section that has more than its minimum, and that its own rules let, gives way.
    ``count_tokens(packed.text())`` is
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
        self.between = count(self.count, plan.separator, "the separator") if plan.separator else 0
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
        self.packed: dict[str, Packed] = {}
        self.demands: dict[str, int] = {}
        self.floors: dict[str, int] = {}

    def within(self, name: str, limit: int) -> Packed:
        """The section within a limit.

        Raises what its policy raises, with the name of the section.
        """
        try:
            return self.packers[name].pack_within(self.pools[name], limit, self.moment)
        except PackError as error:
            message = f"section {name!r}: {error.message}"
            raise type(error)(message, error.code, {**error.details, "section": name}) from error

    def tried(self, name: str, limit: int) -> Packed | None:
        """The section within a limit; None where its rules do not hold in there."""
        try:
            return self.within(name, limit)
        except (Infeasible, OverBudget):
            return None

    def room(self, *more: str) -> int:
        """What the sections may use when these are in beside those that have something."""
        inside = {name for name, packed in self.packed.items() if len(packed)}.union(more)
        return max(self.window - self.between * max(len(inside) - 1, 0), 0)

    def most(self, part: Section) -> int:
        return self.window if part.maximum is None else min(part.maximum, self.window)

    def used(self, name: str) -> int:
        return self.packed[name].report.tokens_used

    def share(self) -> None:
        """Each section what it would use alone; where that is too much, what it is allotted.

        What the rules of a section want in comes before all shares.

        Raises OVER_BUDGET where that alone is too much.
        """
        for part in self.plan.sections:
            self.packed[part.name] = self.within(part.name, self.most(part))
            self.demands[part.name] = self.used(part.name)
            self.floors[part.name] = 0
        if sum(self.demands.values()) <= self.room():
            return
        while True:
            listed = [self._part(part) for part in self.plan.sections]
            room, demands = self._demands(listed)
            allotted = sections(max(room, 1), listed, demands)
            refused = [name for name, tokens in allotted.items() if not self._allot(name, tokens)]
            if not refused:
                return
            for name in refused:
                self.floors[name] = self._least(name, allotted[name])
            self._check_floors()

    def _demands(self, listed: Iterable[Section]) -> tuple[int, dict[str, int]]:
        """The room, and the demands, without the last sections whose separators minima need."""
        demands = {name: used for name, used in self.demands.items() if used}
        minima = {part.name: part.minimum for part in listed if part.minimum}
        for name in [name for name in reversed(list(demands)) if name not in minima]:
            if sum(minima.values()) <= self.window - self.between * (len(demands) - 1):
                break
            del demands[name]
        room = self.window - self.between * max(len(demands) - 1, 0)
        return room, {name: demands.get(name, 0) for name in self.demands}

    def _part(self, part: Section) -> Section:
        """The section with the minimum that it has use for, or needs."""
        floor = self.floors[part.name]
        minimum = max(min(part.minimum, self.demands[part.name]), floor)
        return attrs.evolve(part, minimum=minimum)

    def _check_floors(self) -> None:
        """Refuse what must be in where it does not fit.

        Raises OVER_BUDGET, naming the sections.
        """
        needed = {name: floor for name, floor in self.floors.items() if floor}
        joins = self.between * max(len(needed) - 1, 0)
        total = sum(needed.values()) + joins
        if total > self.window:
            told = " + ".join(f"{name} {floor}" for name, floor in needed.items())
            told += f" + separators {joins}" if joins else ""
            message = (
                f"what must be in the sections {told} = {total} tokens does not fit in a budget "
                f"of {self.window}; raise the budget, or pin less"
            )
            details = {"sections": needed, "tokens": total, "budget": self.window}
            raise OverBudget(message, details=details)

    def _allot(self, name: str, tokens: int) -> bool:
        """Pack the section within what it is allotted; whether its rules hold in there."""
        if tokens < self.demands[name]:
            packed = self.tried(name, tokens)
            if packed is None:
                return False
            self.packed[name] = packed
        return True

    def _least(self, name: str, least: int) -> int:
        """The least limit in which the rules of a section hold, above `least`."""
        most = self.demands[name]
        least += 1
        while least < most:
            middle = (least + most) // 2
            if self.tried(name, middle) is None:
                least = middle + 1
            else:
                most = middle
        return most

    def flow(self) -> None:
        """What the sections left over goes to those that have use for more, the first first."""
        for part in self.plan.sections:
            left = self.room(part.name) - sum(map(self.used, self.packed))
            used = self.used(part.name)
            if left > 0 and used < self.demands[part.name]:
                again = self.tried(part.name, min(used + left, self.most(part)))
                if again and used < again.report.tokens_used <= used + left:
                    self.packed[part.name] = again

    def fit(self) -> tuple[str, int]:
        """The whole text and its tokens; while it is too long, the last sections give way.

        Those above their minimum first; one that the rules of its policy hold to what it has lets
        the others give way.  Then what that or cheap joins left goes to who has use for it.

        Raises OVER_BUDGET where none can give way.
        """
        floors = {part.name: part.minimum for part in self.plan.sections}
        steps = dict.fromkeys(floors, 1)  # doubled, so that no section is asked often
        while True:
            text, used = self.written(self.packed)
            if used <= self.window:
                return self.gained(text, used)
            backwards = [name for name in reversed(self.packed) if len(self.packed[name])]
            wealthy = [name for name in backwards if self.used(name) > floors[name]]
            turns = [(name, floors[name]) for name in wealthy] + [(name, -1) for name in backwards]
            if not any(self._give_way(*turn, used - self.window, steps) for turn in turns):
                names = ", ".join(map(repr, self.packed))
                message = (
                    f"the sections {names} cost {used} tokens together as they are written, of a "
                    f"budget of {self.window}, and what is in them must be in; raise the budget"
                )
                raise OverBudget(message, details={"sections": tuple(self.packed), "tokens": used})

    def _give_way(self, name: str, floor: int, over: int, steps: dict[str, int]) -> bool:
        """Pack a section in less, down to the floor; whether that changed anything."""
        before = self.packed[name]
        less = max(self.used(name) - steps[name] * over, floor)
        steps[name] *= 2
        for limit in dict.fromkeys((less, self.used(name) - 1)):
            again = self.tried(name, limit)
            if again is not None and _ids(again) != _ids(before):
                self.packed[name] = again
                return True
        return False

    def written(self, packed: Mapping[str, Packed]) -> tuple[str, int]:
        """The whole text of these sections, and its tokens."""
        texts = [one.text() for one in packed.values() if len(one)]
        text = self.plan.separator.join(texts)
        return text, count(self.count, text, "the whole text") if texts else 0

    def gained(self, text: str, used: int) -> tuple[str, int]:
        """The text with what each section can add in the room that the whole text leaves."""
        for part in self.plan.sections:
            has, left = self.used(part.name), self.window - used
            if left > 0 and has < self.demands[part.name]:
                again = self.tried(part.name, min(has + left, self.most(part)))
                if again is None or again.report.tokens_used <= has:
                    continue
                more, cost = self.written({**self.packed, part.name: again})
                if cost <= self.window:
                    self.packed[part.name], text, used = again, more, cost
        return text, used


def _ids(packed: Packed) -> list[tuple[str, int]]:
    return [(chunk.id, chunk.tokens) for chunk in packed]


def _remembering(count_tokens: CountTokens) -> TokenCounter:
    """The counter, asked once for each text of a run."""
    known: dict[str, int] = {}

    def counted(text: str) -> int:
        if text not in known:
            known[text] = count_tokens(text)
        return known[text]

    name = counter_name(count_tokens)
    return TokenCounter(name, counted, estimated=is_estimate(count_tokens))
