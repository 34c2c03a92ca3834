"""Lists of chunks: ordinary ones, and profiles of what retrieval gives on its bad days."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias, final, get_args

import attrs
from hypothesis import strategies as st

from packer.errors import InvalidParameter, shown
from packer.records import Chunk

from .material import (
    BOOK,
    CLOSE,
    EMBEDDINGS,
    FAMILIES,
    HOSTILE,
    LENGTHS,
    METADATA,
    SCORES,
    TEXTS,
    Values,
)

__all__ = ["PROFILES", "Profile", "chunks"]

Profile: TypeAlias = Literal[
    "ordinary",
    "near-tie",
    "twins",
    "near-duplicate",
    "adversarial-length",
    "hostile-metadata",
    "overlapping",
    "mixed",
]
"""Which chunks; "mixed" has lists of every profile."""

PROFILES: Final[tuple[Profile, ...]] = tuple(
    profile for profile in get_args(Profile) if profile != "mixed"
)


SHORT: Final = 8
"""A list of free size up to this one is as often long as short, and shrinks well."""


def chunks(
    profile: Profile = "mixed",
    *,
    min_size: int = 0,
    max_size: int = 12,
    scores: Values | None = None,
    distinct_scores: bool = False,
    embedded: bool | None = None,
    named: bool = True,
) -> st.SearchStrategy[list[Chunk]]:
    """Lists of valid chunks, as a Hypothesis strategy.

    `profile`: "near-tie" has scores that are equal or differ in their last bits, and chunks that
    differ in their id alone; "twins" two or three chunks of few scores, each again and again under
    other ids; "near-duplicate" texts and embeddings that hardly differ;
    "adversarial-length" chunks of no tokens and of more than any budget, texts of one and of
    thousands of characters; "hostile-metadata" values of every type under keys that mean something and odd ones; "overlapping"
    windows of one text, mostly with something in common, that say so by `source`, `start` and `end`.
    `scores`: a strategy for them (finite floats).  `distinct_scores`: no two are equal.
    `embedded`: all have an embedding of 3 numbers (True), none has (False), or some (None).
    `named`: the ids are c0, c1, ..., counted up or down from any of them; otherwise ids may be
    missing, repeated or of the form of a made one, and texts may be blank.

    Raises INVALID_PARAMETER for a profile that there is none of.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(chunks("near-tie", max_size=4))
    ... def test(found):
    ...     ids = [chunk.id for chunk in found]
    ...     assert sorted(ids) == ["c0", "c1", "c2", "c3"][: len(found)]
    >>> test()
    """
    if profile == "mixed":
        return st.one_of(
            *(
                chunks(
                    each,
                    min_size=min_size,
                    max_size=max_size,
                    scores=scores,
                    distinct_scores=distinct_scores,
                    embedded=embedded,
                    named=named,
                )
                for each in PROFILES
            )
        )
    if profile not in PROFILES:
        known = ", ".join(map(repr, get_args(Profile)))
        message = f"profile is {shown(profile)}; give one of {known}"
        raise InvalidParameter(message, details={"profile": profile})
    chunk = _chunk(profile, scores, embedded, named=named)
    unique = (lambda chunk: chunk.score) if distinct_scores else None
    repeated = profile == "twins" and not distinct_scores
    one = st.integers(0, 2) if repeated else chunk
    found: Values = st.lists(one, min_size=min_size, max_size=max_size, unique_by=unique)
    if max_size > SHORT:  # lists of free size are mostly short
        half = max(min_size, max_size // 2)
        found |= st.lists(one, min_size=half, max_size=max_size, unique_by=unique)
    if repeated:
        differ = (lambda chunk: chunk.score) if scores is None else None
        kinds = st.lists(chunk, min_size=2, max_size=3, unique_by=differ)
        found = st.builds(_repeated, kinds, found)
    if profile == "ordinary":
        windows = _chunk("overlapping", scores, embedded, named=named)
        found |= st.lists(windows, min_size=min_size, max_size=max_size, unique_by=unique)
    if profile == "near-tie" and not distinct_scores:
        found = st.tuples(found, st.lists(st.integers(0, max_size), max_size=3)).map(
            lambda drawn: _with_twins(*drawn, most=max_size)
        )
    if not named:
        return found
    return st.builds(_numbered, found, st.integers(0, 14), st.sampled_from((1, -1)))


def _chunk(
    profile: Profile, scores: Values | None, embedded: bool | None, *, named: bool
) -> st.SearchStrategy[Chunk]:
    made = _MADE_OF[profile]
    embeddings = made.vectors if embedded else st.none()
    if embedded is None:
        embeddings = st.none() | made.vectors | st.just([])
    found = st.builds(
        Chunk,
        made.words if named else made.words | st.sampled_from(("", " \n")),
        made.scores if scores is None else scores,
        id=st.none()
        if named or profile == "twins"
        else st.sampled_from((None, "c0", "c1", "chunk-1", "é", "")),
        tokens=made.tokens,
        embedding=embeddings,
        metadata=made.metadata,
    )
    return found if made.placed is None else made.placed(found)


def _placed(chunk: Chunk, cut: bool) -> Chunk:  # a draw
    """The chunk, with the text of its span where `cut`."""
    start, end = chunk.metadata.get("start"), chunk.metadata.get("end")
    if cut and isinstance(start, int) and isinstance(end, int) and start < end:
        return attrs.evolve(chunk, content=BOOK[start:end])
    return chunk


def _window(chunk: Chunk, start: int, length: int) -> Chunk:
    """The chunk as a window of the book."""
    start = min(start, len(BOOK) - length)
    span = {"source": "book", "start": start, "end": start + length}
    metadata = {**chunk.metadata, **span}
    return attrs.evolve(chunk, content=BOOK[start : start + length], metadata=metadata)


def _has_ink(text: str) -> bool:
    return not text.isspace()


def _numbered(chunks: list[Chunk], first: int, step: int) -> list[Chunk]:
    """The chunks with ids that rise or fall with their place: ties by id are not ties by place."""
    size = len(chunks)
    return [
        attrs.evolve(chunk, id=f"c{(first + step * at) % size}") for at, chunk in enumerate(chunks)
    ]


def _repeated(kinds: list[Chunk], places: list[int]) -> list[Chunk]:
    """Each place has one of the kinds, so that most chunks have twins."""
    return [kinds[place % len(kinds)] for place in places]


def _with_twins(chunks: list[Chunk], places: list[int], *, most: int) -> list[Chunk]:
    """The chunks, and some of them once more at the end."""
    twins = [chunks[place % len(chunks)] for place in places if chunks]
    return [*chunks, *twins[: most - len(chunks)]]


# -- what the chunks of a profile are made of ----------------------------------------------


@final
@attrs.frozen
class _Material:
    """The values of one profile; where nothing is said, those of any chunk."""

    words: Values = st.sampled_from(TEXTS) | st.text(min_size=1, max_size=12).filter(_has_ink)
    scores: Values = SCORES
    tokens: Values = st.integers(0, 30) | st.sampled_from((None, 0, 10, 10))
    metadata: Values = METADATA
    vectors: Values = EMBEDDINGS
    placed: Callable[[Values], Values] | None = None
    """What puts a chunk into its source."""


_DIGITS: Final = st.sampled_from((5, 50, 500))

_MADE_OF: Final[Mapping[Profile, _Material]] = {
    "ordinary": _Material(
        placed=lambda found: st.builds(_placed, found, st.sampled_from((True, True, False)))
    ),
    "near-tie": _Material(scores=CLOSE, tokens=st.sampled_from((10, 10, 11))),
    "twins": _Material(
        scores=st.sampled_from((0.5, 0.75, 0.25)),
        tokens=st.sampled_from((10, 10, 11, 1)),
        metadata=st.sampled_from(({}, {}, {"source": "kb"}, {"source": "faq", "position": 1})),
    ),
    "near-duplicate": _Material(
        words=st.builds(str.format, st.sampled_from(FAMILIES), _DIGITS, _DIGITS),
        vectors=st.builds(
            lambda base, step: (base[0], base[1] + step, base[2]),
            st.sampled_from(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))),
            st.sampled_from((0.0, 1e-7, 1e-3, 0.1)),
        ),
    ),
    "adversarial-length": _Material(
        words=st.builds(str.__mul__, _Material().words, st.sampled_from((1, 1, 400))),
        tokens=LENGTHS | st.none(),
    ),
    "hostile-metadata": _Material(metadata=HOSTILE),
    "overlapping": _Material(
        tokens=st.none() | st.none() | st.integers(1, 30),
        placed=lambda found: st.builds(
            _window, found, st.integers(0, len(BOOK) - 1), st.integers(8, 40)
        ),
    ),
}
