"""Spans of sources: what of a chunk is new beside others, and texts that overlap written as one.

A chunk has a span where its metadata says `source`, `start` and `end` (characters, end not
included) and its text is as long as that.  Where two spans of a source have different texts for
the same place, the later one counts as having none: what is not the same is never joined.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, final

import attrs

from .arrays import Ints, sealed
from .columns import Candidates
from .metadata import present
from .numbers import is_int

__all__ = ["Cover", "Spans", "along", "joined", "share", "spans_of"]

Interval: TypeAlias = tuple[int, int]


@final
@attrs.frozen(eq=False)
class Spans:
    """The spans of n rows.

    `source` has the number of each row's source, -1 where it has no span; `start` and `end` are
    its characters; `meets` says whether it overlaps another row; `odd` are rows that say a span
    that is not that of their text.
    """

    source: Sequence[int]
    start: Sequence[int]
    end: Sequence[int]
    meets: Sequence[bool]
    odd: Sequence[int]

    def taken(self, rows: Ints) -> "Spans":
        """The spans of some rows."""
        kept = rows.tolist()
        new = {row: at for at, row in enumerate(kept)}
        source = [self.source[row] for row in kept]
        start, end = [self.start[row] for row in kept], [self.end[row] for row in kept]
        odd = [new[row] for row in self.odd if row in new]
        return Spans(source, start, end, _meeting(source, start, end), odd)

    def beside(self, row: int) -> list[int]:
        """The other rows that overlap a row.  O(n)."""
        if not self.meets[row]:
            return []
        source, start, end = self.source[row], self.start[row], self.end[row]
        return [
            other
            for other, its in enumerate(self.source)
            if its == source
            and other != row
            and self.start[other] < end
            and start < self.end[other]
        ]


def spans_of(table: Candidates, table_rows: Ints) -> Spans:
    """The spans of these rows of the table.  O(n log n + characters)."""
    numbers: dict[object, int] = {}
    source, start, end, odd = [], [], [], []
    for at, row in enumerate(table_rows.tolist()):
        said = _said(table, row)
        if said is None or said[2] - said[1] != len(table.text(row)):
            if said is not None:
                odd.append(at)
            source.append(-1)
            start.append(0)
            end.append(0)
        else:
            source.append(numbers.setdefault(said[0], len(numbers)))
            start.append(said[1])
            end.append(said[2])
    texts = [table.text(row) for row in table_rows.tolist()]
    for at in _disagreeing(source, start, texts):
        source[at] = -1
        odd.append(at)
    return Spans(source, start, end, _meeting(source, start, end), sorted(odd))


def _said(table: Candidates, row: int) -> tuple[object, int, int] | None:
    """The source, start and end that a row says; those of the beginning where it was cut."""
    metadata = table.metadata[row]
    source = present(metadata.get("source"))
    start: Any = metadata.get("start")
    end: Any = metadata.get("end")
    if source is None or not is_int(start) or not is_int(end) or not 0 <= start <= end:
        return None
    if not isinstance(source, str | int | float):
        source = repr(source)
    first, last = int(start), int(end)
    original = table.originals.get(row)
    if original is not None and original.text.startswith(table.text(row)):
        last -= len(original.text) - len(table.text(row))
    return (type(source), source), first, last


def _disagreeing(
    source: Sequence[int], start: Sequence[int], texts: Sequence[str]
) -> Iterator[int]:
    """The rows whose text is not what an earlier span of the source has in the same place."""
    rows = [row for row in range(len(source)) if source[row] >= 0]
    rows.sort(key=lambda row: (source[row], start[row], -len(texts[row]), row))
    last, begin, known = -1, 0, ""
    for row in rows:
        at = start[row] - begin
        if source[row] != last or at >= len(known):
            last, begin, known = source[row], start[row], texts[row]
            continue
        same = min(len(known) - at, len(texts[row]))
        if known[at : at + same] != texts[row][:same]:
            yield row
        else:
            known += texts[row][same:]


def _meeting(source: Sequence[int], start: Sequence[int], end: Sequence[int]) -> list[bool]:
    """Whether each row overlaps another.  O(n log n)."""
    meets = [False] * len(source)
    rows = [row for row in range(len(source)) if source[row] >= 0 and start[row] < end[row]]
    rows.sort(key=lambda row: (source[row], start[row], row))
    furthest = -1  # the row that reaches furthest so far
    for row in rows:
        if furthest >= 0 and source[row] == source[furthest]:
            if start[row] < end[furthest]:
                meets[row] = meets[furthest] = True
            if end[row] > end[furthest]:
                furthest = row
        else:
            furthest = row
    return meets


# -- what is new ----------------------------------------------------------------------------


Counted: TypeAlias = Callable[[int, int, int], int]
"""Of a row, the tokens of its text from a place to another."""


@final
class Cover:
    """What rows that are in cover of their sources; a tool of one function, never shared.

    `full` int64[n] is what each row is charged by itself, `counted` counts a part of its text.
    """

    def __init__(self, spans: Spans, full: Ints, overhead: int, counted: Counted) -> None:
        self.spans = spans
        self.full = full
        self.overhead = overhead
        self.counted = counted
        self.covered: dict[int, list[Interval]] = {}

    def new(self, row: int) -> list[Interval]:
        """What of the row is not covered: disjoint intervals of its source, in order."""
        start, end = self.spans.start[row], self.spans.end[row]
        pieces = []
        for low, high in self.covered.get(self.spans.source[row], ()):
            if high <= start:
                continue
            if low >= end:
                break
            if start < low:
                pieces.append((start, low))
            start = high
        if start < end:
            pieces.append((start, end))
        return pieces

    def cost(self, row: int) -> int:
        """What the row is charged beside what is in: never more than by itself."""
        full = int(self.full[row])
        if not self.spans.meets[row]:
            return full
        begin, end = self.spans.start[row], self.spans.end[row]
        pieces = self.new(row)
        if pieces == [(begin, end)]:
            return full
        parts = (self.counted(row, low - begin, high - begin) for low, high in pieces)
        return min(full, sum(parts) + self.overhead)

    def cost_of(self, rows: Sequence[int]) -> int:
        """What these rows are charged, one after the other."""
        if len(rows) == 1:
            return self.cost(rows[0])
        before = dict(self.covered)  # `take` makes new lists
        total = sum(map(self.take, rows))
        self.covered = before
        return total

    def take(self, row: int) -> int:
        """Let the row in; what it is charged."""
        cost = self.cost(row)
        if self.spans.meets[row]:
            source, start, end = self.spans.source[row], self.spans.start[row], self.spans.end[row]
            kept = []
            for low, high in self.covered.get(source, ()):
                if high < start or low > end:
                    kept.append((low, high))
                else:
                    start, end = min(start, low), max(end, high)
            kept.insert(bisect_left(kept, (start, end)), (start, end))
            self.covered[source] = kept
        return cost


def along(cover: Cover, rows: Iterable[int]) -> Ints:
    """int64[n]: what these rows are charged in their order, and then each other row beside them."""
    costs = cover.full.copy()
    chosen = list(rows)
    for row in chosen:
        costs[row] = cover.take(row)
    inside = set(chosen)
    for row, meets in enumerate(cover.spans.meets):
        if meets and row not in inside:
            costs[row] = cover.cost(row)
    return sealed(costs)


def share(tokens: int, part: int, whole: int) -> int:
    """The tokens of a part of the characters, rounded up.

    >>> share(10, 1, 3)
    4
    """
    return math.ceil(tokens * part / whole) if whole else 0


# -- written as one -------------------------------------------------------------------------


def joined(spans: Spans, rows: Sequence[int], texts: Mapping[int, str]) -> list[tuple[int, str]]:
    """The texts of these rows as they are written: (row, text), each place of a source once.

    Rows that overlap, directly or by way of others, are one text, which stands where the first of
    them stands.

    >>> spans = Spans([0, -1, 0], [0, 0, 3], [5, 1, 8], [True, False, True], [])
    >>> joined(spans, [2, 1, 0], {0: "abcde", 1: "x", 2: "defgh"})
    [(2, 'abcdefgh'), (1, 'x')]
    """
    runs: list[list[int]] = []
    by_start = sorted(rows, key=lambda row: (spans.source[row], spans.start[row], row))
    reach = 0
    for row in by_start:
        last = runs[-1][-1] if runs else row
        together = runs and spans.source[row] == spans.source[last] >= 0
        if together and spans.start[row] < reach:
            runs[-1].append(row)
            reach = max(reach, spans.end[row])
        else:
            runs.append([row])
            reach = spans.end[row]
    place = {row: at for at, row in enumerate(rows)}
    written = []
    for run in runs:
        text, end = "", spans.start[run[0]]
        for row in run:
            if len(run) == 1:
                text = texts[row]
            elif spans.end[row] > end:
                text += texts[row][max(end - spans.start[row], 0) :]
                end = spans.end[row]
        written.append((min(run, key=place.__getitem__), text))
    return sorted(written, key=lambda one: place[one[0]])
