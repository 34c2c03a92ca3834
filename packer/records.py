"""The records at the edge: what comes in (`Chunk`) and what goes out (`Packed`).

Records are frozen and know nothing of stages.  Inside, data moves as columns (`packer.pool`);
what is costly to build (the exclusions, the diversity) is built when it is first read.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import attrs
import numpy as np

from .arrays import frozen
from .budget import available
from .errors import InvalidParameter, shown
from .literals import escaped_surrogates
from .replay import Replay

if TYPE_CHECKING:
    from .frontier import Frontier
    from .values import ScoreStep

__all__ = [
    "Chunk",
    "Conflict",
    "Deferred",
    "Difference",
    "Exclusion",
    "Metadata",
    "Optimality",
    "Packed",
    "PackedChunk",
    "Reason",
    "Report",
    "StageTrace",
    "Warning",
]

T = TypeVar("T")


class Reason(StrEnum):
    """Why a chunk is out."""

    BUDGET = "budget"
    """It does not fit in what remains of the budget at the end."""
    REDUNDANT = "redundant"
    """It is too similar to a chunk that was kept."""
    STRATEGY = "strategy"
    """It would still fit, the selector did not want it."""
    MAX_CANDIDATES = "max-candidates"
    """It stands beyond the number of candidates that were asked for."""
    BELOW_THRESHOLD = "below-threshold"
    """Its score is below the floor."""
    METADATA = "metadata"
    """Its metadata does not meet a condition."""
    SUPERSEDED = "superseded"
    """A newer version replaces it."""
    STALE = "stale"
    """It is too old."""
    QUOTA = "quota"
    """Its key has all the room that it may have."""
    EXCLUSIVE = "exclusive"
    """Another variant of it is in."""
    NEEDS = "needs"
    """A chunk that it needs is out."""
    DUPLICATE = "duplicate"
    """Another chunk has the same id."""
    INVALID = "invalid"
    """It is no valid chunk, or its text is blank."""


@final
class Metadata(Mapping[str, object]):
    """An immutable mapping that can be pickled and copied.

    >>> Metadata({"source": "faq"})["source"]
    'faq'
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, object] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, key: str) -> object:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def get(self, key: str, default: object = None) -> object:
        """The value of a key; as `Mapping.get`, which would look it up by way of an exception."""
        return self._items.get(key, default)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


EMPTY = Metadata()


def _metadata(value: Any) -> Any:
    if isinstance(value, Metadata):
        return value
    if isinstance(value, Mapping):
        return Metadata(value) if value else EMPTY
    return EMPTY if value is None else value


def _embedding(value: Any) -> Any:
    """A read-only float32 vector; what cannot become one stays, for validation to name."""
    if value is None:
        return None
    if isinstance(value, np.ndarray) and value.dtype == np.float32 and not value.flags.writeable:
        return value
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.array(value)
            if array.dtype.kind in "iuf" or not array.size:
                return frozen(array.astype(np.float32))
            return value
    except (TypeError, ValueError, OverflowError):
        return value


def _same_array(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    return bool(np.array_equal(left, right))


@final
@attrs.frozen
class Chunk:
    """A retrieved piece of text and how relevant retrieval found it.

    `score`: higher is better, any finite number.  `id`: unique within a call; a missing one
    becomes ``chunk-N``, N the input position.  `tokens`: its cost as an int >= 0; a missing one
    is counted.  `embedding`: kept as a read-only float32 vector of shape (d,).  `metadata`: kept
    as an immutable mapping; keys with a meaning are `source`, `position`, `start`, `end`,
    `timestamp`, `status`, `supersedes`, `superseded_by`, `parent` and `group`.

    A chunk refuses no value; `pack` validates, so that it can set bad ones aside.

    >>> Chunk("Returns take 30 days.", 0.9, id="returns", tokens=6).tokens
    6
    """

    content: str
    score: float
    id: str | None = attrs.field(default=None, kw_only=True)
    tokens: int | None = attrs.field(default=None, kw_only=True)
    embedding: Any = attrs.field(
        default=None,
        kw_only=True,
        converter=_embedding,
        eq=attrs.cmp_using(eq=_same_array),
        hash=False,
        repr=False,
    )
    metadata: Mapping[str, object] = attrs.field(
        default=EMPTY, kw_only=True, converter=_metadata, hash=False
    )


@final
@attrs.frozen
class PackedChunk:
    """A chunk that is in: `position` is its place in the output, `tokens` those of `content`.

    `merged_from`: the ids of the near-duplicates that it stands for.  `original_tokens`: where
    `trim` or `shrink` made the content shorter, the tokens of the whole.  `new_tokens`: under
    `overlap`, those of what no chunk before it had, which is what it was charged.
    """

    id: str
    content: str
    score: float
    tokens: int
    position: int
    metadata: Mapping[str, object] = attrs.field(default=EMPTY, hash=False)
    merged_from: tuple[str, ...] = ()
    original_tokens: int | None = None
    new_tokens: int | None = None

    @property
    def charged(self) -> int:
        """What its text was charged, without the overhead of the call, and without a template.

        >>> PackedChunk("back", "We ship.", 0.8, tokens=8, position=1, new_tokens=4).charged
        4
        """
        return self.tokens if self.new_tokens is None else self.new_tokens


@final
@attrs.frozen
class Exclusion:
    """A chunk that is out, and why.

    `stage` is the text of the stage that excluded it (`pack` for what was set aside before all
    stages), `redundant_with` and `similarity` name its near-duplicate, `detail` says what would
    have let it in.  `score` is NaN where an invalid chunk had none.
    """

    id: str
    content: str
    score: float = attrs.field(eq=str)  # NaN equals NaN here
    tokens: int
    reason: Reason
    stage: str
    redundant_with: str | None = None
    similarity: float | None = None
    detail: str | None = None
    metadata: Mapping[str, object] = attrs.field(default=EMPTY, hash=False)


@final
@attrs.frozen
class Warning:  # noqa: A001 (the contract's name; not exported by `packer`)
    """Something that is allowed and that the caller should know: a stable code, and whom."""

    code: str
    message: str
    ids: tuple[str, ...] = ()


@final
@attrs.frozen
class Difference:
    """A fact in which two near-duplicates differ, as each writes it, "" where one lacks it.

    `kind`: "number", "date", "name" or "negation".
    """

    kind: str
    kept: str
    other: str


@final
@attrs.frozen
class Conflict:
    """Two near-duplicates that differ in a fact: `kept` is in play, `other` where not `dropped`.

    `stage`: the text of the stage that compared them, `similarity` as it measured it.
    """

    stage: str
    kept: str
    other: str
    dropped: bool
    similarity: float
    differences: tuple[Difference, ...]


@final
@attrs.frozen
class StageTrace:
    """What one stage did: its text, chunks and tokens (with overhead) in and out, its time."""

    stage: str
    chunks_in: int
    chunks_out: int
    tokens_in: int
    tokens_out: int
    microseconds: float = attrs.field(eq=False)


@final
@attrs.frozen
class Optimality:
    """How good a selection is known to be.

    `value`: total score of what is selected (of `coverage`, the value of its objective).
    `bound`: no selection has a higher one, rounding included.  `gap`: (bound - value) / bound, 0.0
    when they meet.  `proven`: no selection has a higher total of the scores as scaled to integers.
    """

    value: float
    bound: float
    gap: float
    proven: bool

    @classmethod
    def of(cls, value: float, bound: float, *, proven: bool) -> "Optimality":
        """With its gap; a bound below the value, by rounding, is the value.

        >>> Optimality.of(3.0, 4.0, proven=False).gap
        0.25
        """
        bound = max(bound, value)
        gap = (bound - value) / bound if 0 < bound < math.inf else 0.0
        return cls(value=value, bound=bound, gap=gap, proven=proven)


@final
class Deferred(Generic[T]):
    """A value that is computed when it is first read; equal and pickled as its value."""

    __slots__ = ("_compute", "_value")

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute: Callable[[], T] | None = compute
        self._value: T | None = None

    @property
    def value(self) -> T:
        compute = self._compute  # bound once: another thread may set it to None meanwhile
        if compute is not None:
            self._value = compute()
            self._compute = None
        return self._value  # type: ignore[return-value]  # set above, and None may be a T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deferred) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]  # as a list: what it holds may not hash

    def __repr__(self) -> str:
        return repr(self.value)

    def __reduce__(self) -> tuple[object, ...]:
        return _known, (self.value,)


def _no_values() -> "Deferred[Mapping[str, tuple[ScoreStep, ...]]]":
    return Deferred(dict)


def _known(value: T) -> Deferred[T]:
    return Deferred(lambda: value)


def _deferred(value: Any) -> Any:
    """A value that may be known already."""
    return value if isinstance(value, Deferred) else _known(value)


@final
@attrs.frozen(kw_only=True, unsafe_hash=False)
class Report:
    """What was packed, at what cost, and why the rest was not.

    `tokens_used` includes overhead, and `tokens_used + tokens_remaining == budget`.
    `rendered_tokens`: with a template, what the text of `Packed.text` costs, counted as a whole;
    `tokens_used` is then that and the overhead.  `values`: what scoring stages made of the scores.
    `policy` is the text of the policy, `strategy`
    and `ordering` the names of its selector and order.
    `estimated` says whether a token count in it comes from an estimate.  `timestamp` (ISO 8601,
    UTC), `duration_ms` and the times of the stages are left out of `==`.
    """

    tokens_used: int
    budget: int
    selected_count: int
    policy: str
    strategy: str
    ordering: str
    stages: tuple[StageTrace, ...]
    optimality: Optimality | None
    counter: str
    estimated: bool
    _warnings: Deferred[tuple[Warning, ...]] = attrs.field(converter=_deferred)
    timestamp: str = attrs.field(eq=False)
    duration_ms: float = attrs.field(eq=False)
    _excluded: Deferred[tuple[Exclusion, ...]]
    excluded_count: int
    _diversity: Deferred[float | None] = attrs.field(eq=False)
    _position_quality: Deferred[float | None] = attrs.field(eq=False)
    rendered_tokens: int | None = None
    _values: "Deferred[Mapping[str, tuple[ScoreStep, ...]]]" = attrs.field(
        eq=False, factory=_no_values
    )
    _conflicts: Deferred[tuple[Conflict, ...]] = attrs.field(default=(), converter=_deferred)

    __hash__ = None  # type: ignore[assignment]  # metadata in it need not hash

    @property
    def tokens_remaining(self) -> int:
        """What is left of the budget."""
        return self.budget - self.tokens_used

    @property
    def utilization(self) -> float:
        """Tokens used as a share of the budget, 0 to 1."""
        return self.tokens_used / self.budget if self.budget else 0.0

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """Every chunk that is out, in the order of the stages that excluded it."""
        return self._excluded.value

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """What is allowed and the caller should know."""
        return self._warnings.value

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The near-duplicates that differ in a number, a date, a name or a negation."""
        return self._conflicts.value

    @property
    def diversity(self) -> float | None:
        """Mean of 1 - similarity (metric `auto`) over the pairs packed; None under two."""
        return self._diversity.value

    @property
    def position_quality(self) -> float | None:
        """How well the best stand at the edges: 1.0 is the best arrangement, None under three.

        Correlation of the score with closeness to the edges, ``|2i - (n-1)| / (n-1)``, divided by
        that of the best arrangement; None when all scores are equal.
        """
        return self._position_quality.value

    @property
    def values(self) -> "Mapping[str, tuple[ScoreStep, ...]]":
        """By id what each scoring stage made of the score, for every chunk that one met."""
        return self._values.value

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values that JSON can hold, every public name a key."""
        return {name: _plain(getattr(self, name)) for name in _REPORT_NAMES}


_REPORT_NAMES = (
    "tokens_used",
    "budget",
    "tokens_remaining",
    "utilization",
    "selected_count",
    "excluded_count",
    "policy",
    "strategy",
    "ordering",
    "excluded",
    "values",
    "stages",
    "diversity",
    "position_quality",
    "optimality",
    "counter",
    "estimated",
    "rendered_tokens",
    "warnings",
    "conflicts",
    "timestamp",
    "duration_ms",
)


@final
@attrs.frozen(unsafe_hash=False)
class Packed:
    """What goes into the context window, in order, and the report that says why."""

    _chunks: Deferred[tuple[PackedChunk, ...]]
    report: Report
    _rendered: str | None = attrs.field(default=None, repr=False)
    _replay: "Replay[Packed]" = attrs.field(factory=Replay, repr=False, eq=False)
    _joined: Deferred[tuple[str, ...]] | None = attrs.field(default=None, repr=False)

    __hash__ = None  # type: ignore[assignment]  # metadata in it need not hash

    @property
    def chunks(self) -> tuple[PackedChunk, ...]:
        """The packed chunks in output order."""
        return self._chunks.value

    def __len__(self) -> int:
        return self.report.selected_count

    def __iter__(self) -> Iterator[PackedChunk]:
        return iter(self.chunks)

    def text(self, separator: str | None = None) -> str:
        """The contents in order, joined by `separator` (two line breaks when left out).

        Under `overlap` chunks of one source that overlap are one text.  With a template the very
        text that was counted; the separator is the template's then.

        Raises INVALID_PARAMETER for a separator beside a template.
        """
        if self._rendered is None:
            between = "\n\n" if separator is None else separator
            if self._joined is not None:
                return between.join(self._joined.value)
            return between.join(chunk.content for chunk in self.chunks)
        if separator is not None:
            message = f"the text is the template's; give its separator as Template(separator={separator!r})"
            raise InvalidParameter(message, details={"separator": separator})
        return self._rendered

    def why(self, id: str) -> str:  # noqa: A002 (the name of the chunk's field)
        """One line on why the chunk is in or out; one more for each duplicate of its id.

        Raises INVALID_PARAMETER when no chunk has the id.
        """
        lines = [
            f"{chunk.id} is in at position {chunk.position} of {len(self)}: score "
            f"{chunk.score:g}, {_tokens_text(chunk)}, chosen by {self.report.strategy}"
            for chunk in self.chunks
            if chunk.id == id
        ]
        value = _value_text(self.report.values.get(id, ()))
        lines = [line + value for line in lines]
        lines += [
            _why_out(out) + (value if out.reason not in _BEFORE_STAGES else "")
            for out in self.report.excluded
            if out.id == id
        ]
        if not lines:
            raise self._unknown(id)
        return "\n".join(lines)

    def within(self, budget: int) -> "Packed":
        """What the same policy packs of the same chunks within another budget, in tokens.

        The moment, the query and the token counts stay those of the call.  A result that was
        pickled has let its candidates go.

        Raises INVALID_BUDGET, INVALID_PARAMETER for a result that cannot be packed again, and
        what the policy's stages raise.

        >>> from packer import Chunk, pack
        >>> from strategies import greedy
        >>> packed = pack([Chunk("a", 0.9, tokens=60), Chunk("b", 0.8, tokens=50)], greedy, budget=60)
        >>> [chunk.content for chunk in packed.within(110)]
        ['a', 'b']
        """
        limit = available(budget)
        if self._replay.run is None:
            message = (
                "this result cannot be packed again: it was pickled, made by hand, or its "
                "template's header and footer alone were over the budget; call pack(chunks, "
                "policy, budget=...) again"
            )
            raise InvalidParameter(message, details={"budget": budget})
        return self._replay.run(limit)

    @property
    def replayable(self) -> bool:
        """Whether `within` and `frontier` can pack again; not once the result was pickled."""
        return self._replay.run is not None

    def frontier(self, budgets: Iterable[int] | None = None) -> "Frontier":
        """What would be packed at other budgets: which chunk enters, which leaves, at what value.

        `budgets`: tokens, ints above 0; where the pack changes when left out (see
        `packer.frontier`).

        Raises as `within`; what the policy itself refuses at a budget stands in that point.
        """
        from .frontier import frontier

        return frontier(self, budgets, self._replay.quick)

    def to_html(self, *, budgets: Iterable[int] | None = None) -> str:
        """A page that shows the pack: one file, self-contained, for a browser.

        `budgets`: those of its slider, as for `frontier`; none, ``()``, leaves the slider out,
        and so does a result that cannot be packed again.
        """
        from .page import page

        return page(self, budgets)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for notebooks."""
        from .page import framed

        return framed(self.to_html())

    def value(self, id: str) -> "tuple[ScoreStep, ...]":  # noqa: A002 (as above)
        """How the chunk came to its current score: a step for each scoring stage that it met.

        Raises INVALID_PARAMETER when no chunk has the id.

        >>> from packer import Chunk, pack
        >>> from strategies import field, boost, greedy
        >>> faq = Chunk("We ship.", 0.5, id="faq", metadata={"source": "faq"})
        >>> [step] = pack([faq], boost(field("source") == "faq", 1.5) | greedy, budget=9).value("faq")
        >>> step.before, step.after, step.parts
        (0.5, 0.75, (ScorePart(name='factor', amount=1.5),))
        """
        steps = self.report.values.get(id)
        if steps is None and all(
            one.id != id for some in (self.chunks, self.report.excluded) for one in some
        ):
            raise self._unknown(id)
        return steps or ()

    def _unknown(self, id_: str) -> InvalidParameter:
        import difflib

        known = [chunk.id for chunk in self.chunks] + [out.id for out in self.report.excluded]
        near = difflib.get_close_matches(str(id_), known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        message = f"no chunk has the id {shown(id_)}{hint}"
        return InvalidParameter(message, details={"id": id_, "suggestion": [*near, None][0]})

    def to_dict(self) -> dict[str, Any]:
        """`{"chunks": [...], "report": {...}}` as plain values that JSON can hold."""
        return {"chunks": [_plain(chunk) for chunk in self.chunks], "report": self.report.to_dict()}

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as JSON text; NaN becomes null, dates become ISO 8601 text."""
        import json

        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)
        return escaped_surrogates(text)


def _tokens_text(chunk: PackedChunk) -> str:
    shortened = "" if chunk.original_tokens is None else f" of {chunk.original_tokens}"
    new = "" if chunk.charged == chunk.tokens else f" ({chunk.charged} new)"
    return f"{chunk.tokens}{shortened} tokens{new}"


_BEFORE_STAGES = frozenset({Reason.DUPLICATE, Reason.INVALID})


def _value_text(steps: "Sequence[ScoreStep]") -> str:
    """`; value 0.6 -> 1.9 by lexical(1.0) (score 0.9, bm25 1)`; nothing where none changed it."""
    changes = [step for step in steps if step.before != step.after]
    if not changes:
        return ""
    told = [f"-> {step.after:.4g} by {step.stage}{_parts_text(step)}" for step in changes]
    return " ".join([f"; value {changes[0].before:.4g}", *told])


def _parts_text(step: "ScoreStep") -> str:
    parts = ", ".join(f"{part.name} {part.amount:.4g}" for part in step.parts)
    return f" ({parts})" if parts else ""


def _why_out(out: Exclusion) -> str:
    near = None if out.redundant_with is None else f"like {out.redundant_with}"
    told = ", ".join(text for text in (near, out.detail) if text)
    return f"{out.id} is out, {out.reason}, by {out.stage}" + (f": {told}" if told else "")


def _plain(value: Any) -> Any:
    """The value as JSON can hold it."""
    if attrs.has(type(value)):
        return {name.name: _plain(getattr(value, name.name)) for name in attrs.fields(type(value))}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=repr)  # a set has no order of its own
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    return value if value is None or isinstance(value, bool | int | str) else str(value)
