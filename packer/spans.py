"""Spans of sources: what of a chunk is new beside others, and texts that overlap written as one.

A chunk has a span where its metadata says `source`, `start` and `end` (characters, end not
included) and its text is as long as that, or shorter by a few blanks that were stripped from its
ends.  Where two spans of a source have different texts for the same place, the later one counts as
having none: what is not the same is never joined.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

import attrs

from .arrays import Ints, sealed
from .columns import Candidates
from .metadata import present
from .numbers import is_int

__all__ = ["Cover", "Spans", "along", "joined", "share", "spans_of"]

Interval: TypeAlias = tuple[int, int]

MOST_BLANKS: Final = 16
"""So much longer than its text a span may be."""


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
    rows = table_rows.tolist()
    texts = [table.text(row) for row in rows]
    numbers: dict[object, int] = {}
    source, start, slack, odd = [-1] * len(rows), [0] * len(rows), [0] * len(rows), []
    for at, row in enumerate(rows):
        said = _said(table, row)
        if said is not None and 0 <= said[2] <= MOST_BLANKS:
            source[at] = numbers.setdefault(said[0], len(numbers))
            start[at], slack[at] = said[1:]
        elif said is not None:
            odd.append(at)
    for at, moved in _placed(source, start, slack, texts):
        if moved is None:
            source[at] = -1
            odd.append(at)
        else:
            start[at] += moved
    end = [first + len(text) for first, text in zip(start, texts, strict=True)]
    return Spans(source, start, end, _meeting(source, start, end), sorted(odd))


def _said(table: Candidates, row: int) -> tuple[object, int, int] | None:
    """The source and start that a row says, and how much longer its span is than its text.

    For a text that was cut, than the whole; a text that was changed has no span.
    """
    metadata = table.metadata[row]
    source = present(metadata.get("source"))
    start: Any = metadata.get("start")
    end: Any = metadata.get("end")
    if source is None or not is_int(start) or not is_int(end) or not 0 <= start <= end:
        return None
    if not isinstance(source, str | int | float):
        source = repr(source)
    whole = table.original(row).text
    if not whole.startswith(table.text(row)):
        return None
    return (type(source), source), int(start), int(end) - int(start) - len(whole)


def _placed(
    source: Sequence[int], start: Sequence[int], slack: Sequence[int], texts: Sequence[str]
) -> Iterator[tuple[int, int | None]]:
    """How far into its span the text of each row begins that overlaps one before it.

    The one place where it says what the earlier has there; None where there is none, or several.
    """
    rows = [row for row in range(len(source)) if source[row] >= 0]
    rows.sort(key=lambda row: (source[row], start[row], -len(texts[row]), row))
    last, begin, known = -1, 0, ""
    for row in rows:
        at, text = start[row] - begin, texts[row]
        if source[row] != last or at >= len(known):
            last, begin, known = source[row], start[row], text
            continue
        fits = [
            moved
            for moved in range(slack[row] + 1)
            if known.startswith(text[: max(len(known) - at - moved, 0)], at + moved)
        ]
        if len(fits) != 1:
            yield row, None
            continue
        yield row, fits[0]
        if at + fits[0] > len(known):  # only a blank of both was in common
            begin, known = start[row] + fits[0], text
        else:
            known += text[len(known) - at - fits[0] :]


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
