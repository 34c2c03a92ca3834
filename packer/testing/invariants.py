"""A canary for production: what must be true of every result, checked in O(n), without Hypothesis."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import final

from packer.intake import ChunkLike
from packer.records import Packed, Reason

__all__ = ["InvariantBroken", "assert_invariants"]


@final
class InvariantBroken(AssertionError):
    """A result that no call can give: `invariant` is the name of what is broken."""

    def __init__(self, message: str, *, invariant: str) -> None:
        super().__init__(message)
        self.invariant = invariant


def assert_invariants(packed: Packed, chunks: Iterable[ChunkLike]) -> None:
    """Check what every result of a call over `chunks` has, however its stages were written.

    The budget holds, of the rendered text too; packed and excluded are the chunks, each once by
    its id; the counts and the positions add up.  `chunks`: what `pack` was given, not an iterator
    that it used up.  O(n): it reads ids and counts, no text, and builds the exclusions, which
    `report.excluded` would do anyway.  Works under ``python -O`` too.

    Raises InvariantBroken, an AssertionError, naming the first that is broken.

    >>> from packer import Chunk, pack
    >>> from strategies import greedy
    >>> chunks = [Chunk("We ship.", 0.5, tokens=2), Chunk("We pack.", 0.4, tokens=2)]
    >>> assert_invariants(pack(chunks, greedy, budget=3), chunks)
    >>> assert_invariants(pack(chunks, greedy, budget=3), chunks[:1])
    Traceback (most recent call last):
    packer.testing.invariants.InvariantBroken: input: 1 chunks came in, 1 are packed and 1 excluded
    """
    _budget(packed)
    _counts(packed, (given := list(chunks)))
    _ids(packed, given)


def _require(holds: bool, invariant: str, message: str) -> None:  # a condition
    if not holds:
        raise InvariantBroken(f"{invariant}: {message}", invariant=invariant)


def _budget(packed: Packed) -> None:
    report = packed.report
    used, budget = report.tokens_used, report.budget
    _require(used <= budget, "budget", f"{used} tokens are used of {budget}")
    _require(
        used + report.tokens_remaining == budget,
        "budget",
        f"{used} used and {report.tokens_remaining} left do not make {budget}",
    )
    if report.rendered_tokens is not None:
        told = f"the rendered text has {report.rendered_tokens} tokens, {used} of {budget} are used"
        _require(report.rendered_tokens <= used, "budget", told)
        return
    own = sum(chunk.charged for chunk in packed.chunks)
    over = used - own
    told = f"{used} tokens are used, the chunks cost {own} and each is charged the same on top"
    fits = over % len(packed.chunks) == 0 if packed.chunks else over == 0
    _require(over >= 0 and fits, "budget", told)


def _counts(packed: Packed, chunks: list[ChunkLike]) -> None:
    report = packed.report
    inside, outside = len(packed.chunks), len(report.excluded)
    _require(
        (report.selected_count, report.excluded_count) == (inside, outside),
        "counts",
        f"the report counts {report.selected_count} and {report.excluded_count}, "
        f"there are {inside} and {outside}",
    )
    _require(
        inside + outside == len(chunks),
        "input",
        f"{len(chunks)} chunks came in, {inside} are packed and {outside} excluded",
    )
    places = [chunk.position for chunk in packed.chunks]
    _require(places == list(range(inside)), "positions", f"the positions are {places}")


def _ids(packed: Packed, chunks: list[ChunkLike]) -> None:
    aside = {Reason.DUPLICATE, Reason.INVALID}  # these may bear the id of another
    went = Counter(chunk.id for chunk in packed.chunks)
    went.update(out.id for out in packed.report.excluded if out.reason not in aside)
    twice = [id_ for id_, times in went.items() if times > 1]
    _require(not twice, "ids", f"in or out more than once: {twice}")
    given = {
        id_
        for chunk in chunks
        if isinstance(
            id_ := chunk.get("id") if isinstance(chunk, Mapping) else getattr(chunk, "id", None),
            str,
        )
    }
    told = {out.id for out in packed.report.excluded}
    missing = sorted(given - set(went) - told)
    _require(not missing, "ids", f"neither in nor out: {missing}")
