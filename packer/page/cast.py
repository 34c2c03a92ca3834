"""Every chunk of a result, numbered: those that are in, in output order, then those that are out."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, final

import attrs

from packer.records import Exclusion, Packed, PackedChunk, Reason, Report, StageTrace

from .scale import Scale

if TYPE_CHECKING:
    from packer.values import ScoreStep

__all__ = ["Cast", "Member", "Step", "keyed", "scored", "stops"]

MOST: Final = 2_000
"""Chunks that are out which a page has in full; the rest is counted, for each reason."""


@final
@attrs.frozen
class Step:
    """What a stage did with a chunk: `passed`, `stopped`, or it was `not reached`."""

    stage: str
    state: str
    words: str = ""


@final
@attrs.frozen(eq=False)
class Member:
    """One chunk: `row` is its number on the page, `position` its place in the window, if any.

    `stop`: the number of the stage that stopped it, -1 for before all stages, None for none.
    """

    row: int
    record: PackedChunk | Exclusion
    position: int | None
    stop: int | None

    @property
    def id(self) -> str:
        """Its id."""
        return self.record.id

    @property
    def reason(self) -> Reason | None:
        """Why it is out; None when it is in."""
        return self.record.reason if isinstance(self.record, Exclusion) else None

    @property
    def near(self) -> str | None:
        """The id of the near-duplicate that was kept."""
        return self.record.redundant_with if isinstance(self.record, Exclusion) else None

    @property
    def decided(self) -> str:
        """The number that decided, as it was told."""
        if isinstance(self.record, PackedChunk):
            return ""
        near = None if self.near is None else f"like {self.near}"
        return ": ".join(part for part in (near, self.record.detail) if part)


@final
@attrs.frozen(eq=False)
class Cast:
    """All chunks of a result, by number and by id."""

    packed: Packed
    members: tuple[Member, ...]
    by_id: Mapping[str, Member]
    groups: Mapping[Reason, Sequence[Member]]
    shown: frozenset[int]
    scale: Scale

    @classmethod
    def of(cls, packed: Packed) -> "Cast":
        """The cast of a result.  Of an id that is there twice, the candidate has it. O(n)."""
        inside = [
            Member(place, chunk, chunk.position, None) for place, chunk in enumerate(packed.chunks)
        ]
        outside = [
            Member(row, out, None, stop)
            for row, (out, stop) in enumerate(
                zip(packed.report.excluded, stops(packed.report), strict=True), len(inside)
            )
        ]
        members = (*inside, *outside)
        by_id: dict[str, Member] = {}
        for member in members:
            if member.stop is None or member.stop >= 0:
                by_id.setdefault(member.id, member)
        for member in members:
            by_id.setdefault(member.id, member)
        groups: dict[Reason, list[Member]] = {}
        for member in outside:
            assert member.reason is not None  # it is out
            groups.setdefault(member.reason, []).append(member)
        shares = _shares([len(group) for group in groups.values()], MOST)
        shown = [group[:share] for group, share in zip(groups.values(), shares, strict=True)]
        return cls(
            packed,
            members,
            by_id,
            groups,
            frozenset(member.row for group in (inside, *shown) for member in group),
            Scale.of(
                [member.record.score for member in inside],
                [member.record.score for member in outside],
            ),
        )

    @property
    def report(self) -> Report:
        """The report of the result."""
        return self.packed.report

    @property
    def inside(self) -> tuple[Member, ...]:
        """Those that are in, in output order."""
        return self.members[: self.report.selected_count]

    def value(self, member: Member) -> Sequence["ScoreStep"]:
        """What the scoring stages made of its score; nothing where it did not come to any."""
        return () if member.stop == -1 else self.report.values.get(member.id, ())

    def current(self, member: Member) -> float:
        """Its score after the scoring stages that it met."""
        steps = self.value(member)
        return steps[-1].after if steps else member.record.score

    def way(self, member: Member) -> Iterator[Step]:
        """Its way through the stages."""
        stages = self.report.stages
        if member.stop == -1:
            yield Step("pack", "stopped", member.decided)
        chosen, ordered = _places(self.report, stages)
        told = scored(stages, self.value(member))
        for place, trace in enumerate(stages):
            if member.stop is not None and place >= member.stop:
                at_end = place == member.stop
                yield Step(
                    trace.stage,
                    "stopped" if at_end else "not reached",
                    member.decided if at_end else "",
                )
            elif place == chosen:
                words = f"chosen: score {self.current(member):.6g}, {member.record.tokens:,} tokens"
                yield Step(trace.stage, "passed", words)
            elif place == ordered:
                yield Step(trace.stage, "passed", f"at position {member.position}")
            else:
                yield Step(trace.stage, "passed", told.get(place, ""))


def _shares(sizes: Sequence[int], most: int) -> list[int]:
    """How many of each group are shown: all, or of the large ones the same number.

    >>> _shares([5, 100, 300], 205)
    [5, 100, 100]
    """
    shares, left = [0] * len(sizes), most
    by_size = sorted(range(len(sizes)), key=sizes.__getitem__)
    for done, place in enumerate(by_size):
        shares[place] = min(sizes[place], left // (len(sizes) - done))
        left -= shares[place]
    return shares


def _places(report: Report, stages: tuple[StageTrace, ...]) -> tuple[int, int | None]:
    """The numbers of the selector and of the order among the stages."""
    last = len(stages) - 1
    ordered = report.ordering != "natural" or (stages and stages[-1].stage == "natural")
    return (last - 1, last) if ordered else (last, None)


def stops(report: Report) -> Iterator[int]:
    """The number of the stage that stopped each excluded chunk, -1 for before all stages.

    `excluded` is in the order of the stages, and each stage counted what it let through; so two
    stages with the same text are told apart.  A rule's stage lets all pass; what the selector left
    out for the rule stopped at the selector, though `Exclusion.stage` is the rule's.
    """
    counts = [trace.chunks_in - trace.chunks_out for trace in report.stages]
    yield from (-1 for _ in range(report.excluded_count - sum(counts)))
    for place, count in enumerate(counts):
        yield from (place for _ in range(count))


def scored(stages: Sequence[StageTrace], steps: Sequence["ScoreStep"]) -> dict[int, str]:
    """What the scoring stages made of a chunk's score, by the number of the stage."""
    told = {}
    left = list(steps)
    for place, trace in enumerate(stages):
        if left and left[0].stage == trace.stage:
            step = left.pop(0)
            parts = ", ".join(f"{part.name} {part.amount:.4g}" for part in step.parts)
            words = f"score {step.before:.4g} -> {step.after:.4g}"
            told[place] = words + (f": {parts}" if parts else "")
    return told


def keyed(report: Report, word: str) -> list[str]:
    """The metadata keys that stages of this name ask for: `needs("parent")` for `needs`.

    >>> from packer import pack
    >>> from strategies import greedy, needs
    >>> keyed(pack([], needs("parent") | greedy, budget=1).report, "needs")
    ['parent']
    """
    found = []
    for trace in report.stages:
        if not trace.stage.startswith(f"{word}("):
            continue
        try:
            call = ast.parse(trace.stage, mode="eval").body
        except SyntaxError:  # a caller's own stage, with a repr of its own
            continue
        if isinstance(call, ast.Call):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            found += [
                value.value
                for value in given
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            ]
    return found
