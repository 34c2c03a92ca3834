"""In which facts two near-duplicates differ."""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from .facts import KINDS, Word, signature, words
from .records import Difference

__all__ = ["differences"]

LONGEST: Final = 12
"""Words of a change in which facts are compared."""


def differences(kept: str, other: str, *, inside: bool = False) -> tuple[Difference, ...]:
    """In which facts the other text contradicts the one that is kept, or goes beyond it.

    The words of both are aligned.  A fact that stands where the kept text has another one differs;
    one that is only in the other differs, too, as with it something would be lost; one that is only
    in the kept does not, unless it is a negation (with `inside`, for a passage of a longer text,
    only one between words of the passage, not before or after them).  What only moved does not differ.  A change of more than `LONGEST` words is
    another passage and no other fact, and texts of which less than half is the same are no
    near-copies: neither is looked at.  O(words) for texts that differ in one place,
    O(words^2) at worst.

    >>> differences("Returns within 30 days.", "Returns within 14 days.")
    (Difference(kind='number', kept='30 days', other='14 days'),)
    """
    if signature(kept) == signature(other):
        return ()
    left, right = list(words(kept)), list(words(other))
    found: list[Difference] = []
    spare: tuple[list[Word], list[Word]] = ([], [])
    around: list[Word] = []  # of the longer text, what stands before or after the passage
    changes = list(_changes(left, right, inside=inside))
    shared = len(left) - sum(end - begin for begin, end, _, _ in changes)
    if 2 * shared < min(len(left), len(right)):
        return ()
    for begin, end, start, stop in changes:
        if max(end - begin, stop - start) > LONGEST:
            continue
        known = len(spare[0])
        found += _replaced(left[begin:end], right[start:stop], spare)
        if inside and not 0 < start <= stop < len(right):
            around += spare[0][known:]
    for kind in KINDS:
        only = [[fact for fact in side if fact.kind == kind] for side in spare]
        lost, gone = _apart(*only)
        found += [Difference(kind, "", fact.written) for fact in gone]
        if kind == "negation":
            found += [Difference(kind, fact.written, "") for fact in _without(lost, around)]
    return tuple(found)


def _changes(
    left: Sequence[Word], right: Sequence[Word], *, inside: bool
) -> Iterator[tuple[int, int, int, int]]:
    """The places where the words differ, as ranges of both.

    A passage may begin or end as the longer text does, and stand elsewhere in it.
    """
    a, b = [word.meaning for word in left], [word.meaning for word in right]
    first = last = 0
    while not inside and first < min(len(a), len(b)) and a[first] == b[first]:
        first += 1
    while not inside and last < min(len(a), len(b)) - first and a[-1 - last] == b[-1 - last]:
        last += 1
    middle = a[first : len(a) - last], b[first : len(b) - last]
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=False)
    for tag, begin, end, start, stop in matcher.get_opcodes():
        if tag != "equal":
            yield first + begin, first + end, first + start, first + stop


def _replaced(
    left: Sequence[Word], right: Sequence[Word], spare: tuple[list[Word], list[Word]]
) -> Iterator[Difference]:
    """The facts of one change that stand for each other; what has no partner becomes spare."""
    for kind in KINDS:
        ours, theirs = _apart(
            [word for word in left if word.kind == kind],
            [word for word in right if word.kind == kind],
        )
        if kind == "negation":  # one is as good as another, and a pair of them is none
            ours, theirs = ours[len(theirs) :], theirs[len(ours) :]
        for mine, other in zip_longest(ours, theirs):
            if mine and other:
                yield Difference(kind, mine.written, other.written)
            elif mine:
                spare[0].append(mine)
            else:
                spare[1].append(other)


def _apart(left: Sequence[Word], right: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """What each has that the other has not, as often."""
    return _without(left, right), _without(right, left)


def _without(words: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    common = Counter(word.meaning for word in others)
    rest = []
    for word in words:
        if common[word.meaning] > 0:
            common[word.meaning] -= 1
        else:
            rest.append(word)
    return rest
