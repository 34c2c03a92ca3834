"""Every Hypothesis strategy of the tests and proofs: chunks, pools, conditions, stages, policies.

Stages are made from `strategies.CATALOG` alone: the signature of a word says which arguments it
takes, the `metadata["domain"]` of its class's fields which values they may have.  So a stage that
is added to the catalog is under every law of its role without a new line here; a new kind of
parameter needs one entry in `DOMAINS`, and `test_generators.py` fails until it has one.

`wide` asks for every value that a parameter takes, for laws about the text of policies.  Without
it the values are those under which a stage runs on the pools made here.
"""

import datetime as dt
import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Final, TypeAlias, cast, final

import attrs
from hypothesis import reject
from hypothesis import strategies as st

from packer import (
    Chunk,
    Constraint,
    Filter,
    Order,
    Packed,
    Pool,
    Scoring,
    Selection,
    Selector,
    pack,
)
from packer.algebra import Policy, Step, steps_of
from packer.conditions import Condition
from packer.errors import Infeasible, OverBudget
from strategies import CATALOG, Context, field

Draw: TypeAlias = st.DrawFn
Values: TypeAlias = st.SearchStrategy[Any]

NOW: Final = dt.datetime(2024, 6, 1, tzinfo=dt.UTC)
"""The moment of every call made here."""

QUERY: Final = "How many days do refunds take, and may I return gifts? 返品は"
"""The request's words in every call made here."""

# -- chunks --------------------------------------------------------------------------------

TEXTS: Final = (
    "Refunds take five days from the day the parcel arrives.",
    "Refunds take five days from the day a parcel arrives.",
    "refunds  take five days\nfrom the day the PARCEL arrives.",  # folds to the first
    "Refunds take 50 days from the day the parcel arrives.",
    "We ship on every working day.",
    "We ship on every working day, and on Saturdays.",
    "返品は三十日以内に限ります。",
    "返品は四十日以内に限ります。",
    "👩‍👩‍👧 🚚 gifts 🎁🎁🎁",
    "👩‍👩‍👧 🚚 gifts 🎁🎁",
    "a",
    " A ",
    "ab",
    "é",
    "e\u0301",
    "a lone \ud800 surrogate",
)

_SCORES: Final = (0.0, 0.25, 0.5, math.nextafter(0.5, 1.0), 0.5 + 1e-9, 0.75, 0.9, 1.0, 2.0)
POSITIVE: Final[Values] = st.sampled_from(_SCORES) | st.floats(0.0, 2.0, allow_subnormal=False)
SCORES: Final[Values] = POSITIVE | st.sampled_from((-0.5, -1.0)) | st.floats(-3.0, 3.0)
CLOSE: Final[Values] = st.sampled_from((0.5, math.nextafter(0.5, 1.0), 0.5 + 1e-13, 0.5 + 1e-9))
"""Scores that differ in their last digits."""

VECTORS: Final = (
    (1.0, 0.0, 0.0),
    (2.0, 0.0, 0.0),  # the same direction
    (1.0, 0.001, 0.0),  # nearly so
    (-1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.6, 0.8, 0.0),
    (1.0, 1.0, 1.0),
    (0.0, 0.0, 0.0),
    (1e-30, 0.0, 1e-30),
    (1e30, 0.0, 0.0),
)
_FLOATS32: Final = st.floats(-1.0, 1.0, width=32, allow_subnormal=False)
EMBEDDINGS: Final[Values] = st.sampled_from(VECTORS) | st.tuples(_FLOATS32, _FLOATS32, _FLOATS32)

DATES: Final[Values] = st.sampled_from(
    (
        "2024-05-01",
        "2024-05-01T12:00:00+02:00",
        "2023-01-31T08:15:00Z",
        1_714_521_600,
        1_714_521_600.5,
        1_714_521_600_000,
        "2024-07-01",  # after NOW
        dt.datetime(2024, 5, 1, 10, 0, tzinfo=dt.UTC),
        dt.datetime(2022, 2, 28, 1, 2, 3),  # noqa: DTZ001  # naive means UTC
        dt.date(2024, 5, 1),
        None,
    )
)
DATE_KEYS: Final = ("timestamp", "updated")
GROUP_KEYS: Final = ("source", "group", "parent", "status", "doc type", "nowhere")

METADATA: Final[Values] = st.fixed_dictionaries(
    {},
    optional={
        "source": st.sampled_from(("kb", "faq", "wiki", None)),
        "position": st.sampled_from((0, 1, 2, 10, 2.5, math.nan, "3", None)),
        "timestamp": DATES,
        "updated": DATES,
        "status": st.sampled_from(("current", "superseded", " Archived", "draft", 3)),
        "supersedes": st.sampled_from(("c0", ("c1", "c2"), "faq", None)),
        "superseded_by": st.sampled_from(("c3", "", None)),
        "group": st.sampled_from(("g", "h")),
        "parent": st.sampled_from(("p", 7, ("a", "b"))),
        "year": st.integers(2020, 2025),
        "tags": st.lists(st.sampled_from(("refund", "vip")), max_size=2),
        "doc type": st.sampled_from(("faq", "policy")),
    },
)


def chunk_lists(
    *,
    min_size: int = 0,
    max_size: int = 12,
    scores: Values = SCORES,
    distinct_scores: bool = False,
    embedded: bool | None = None,
    named: bool = True,
) -> st.SearchStrategy[list[Chunk]]:
    """Lists of valid chunks.

    `distinct_scores`: no two are equal.  `embedded`: all have an embedding (True), none has
    (False), or some (None).  `named`: the ids are c0, c1, ...; otherwise ids may be missing,
    repeated or of the form of a made one, and texts may be blank.
    """
    vectors = EMBEDDINGS if embedded else st.none()
    if embedded is None:
        vectors = st.none() | EMBEDDINGS | st.just([])
    words = st.sampled_from(TEXTS) | st.text(min_size=1, max_size=12).filter(_has_ink)
    ids = st.none() if named else st.sampled_from((None, "c0", "c1", "chunk-1", "é", ""))
    chunk = st.builds(
        Chunk,
        words if named else words | st.sampled_from(("", " \n")),
        scores,
        id=ids,
        tokens=st.integers(0, 30) | st.sampled_from((None, 0, 10, 10)),
        embedding=vectors,
        metadata=METADATA,
    )
    unique = (lambda chunk: chunk.score) if distinct_scores else None
    found = st.one_of(  # the second, as lists of free size are mostly short
        st.lists(chunk, min_size=min_size, max_size=max_size, unique_by=unique),
        st.lists(chunk, min_size=max(min_size, max_size // 2), max_size=max_size, unique_by=unique),
    )
    return found.map(_numbered) if named else found


def _has_ink(text: str) -> bool:
    return not text.isspace()


def _numbered(chunks: list[Chunk]) -> list[Chunk]:
    return [attrs.evolve(chunk, id=f"c{at}") for at, chunk in enumerate(chunks)]


BUDGETS: Final = st.integers(1, 120) | st.sampled_from((1, 10, 10_000, 2**70))
OVERHEADS: Final = st.sampled_from((0, 0, 1, 7))


# -- conditions ----------------------------------------------------------------------------

_SURROGATES: Final = st.characters(categories=["Cs"])
ODD_TEXT: Final[st.SearchStrategy[str]] = st.sampled_from(
    (
        "doc type",
        "class",
        "None",
        'a "quoted" \\ key',
        "it's",
        "line\nbreak\r\ttab",
        "\ufb01le",  # an identifier that Python's parser would spell "file"
        "größe",
        "field",
        "\u2028\x85\x00\x7f\ufeff",
        "👩‍👧",
        "\ud83d\ude00",  # two lone surrogates, no emoji
    )
) | st.text(st.characters() | _SURROGATES, min_size=1, max_size=8)

_KEYS: Final = st.sampled_from(("source", "status", "year", "timestamp", "tags", "doc type", "no"))
_MOMENTS: Final = st.datetimes(
    dt.datetime(1, 1, 2),  # noqa: DTZ001  # bounds are naive by contract
    dt.datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.none() | st.sampled_from((dt.UTC, dt.timezone(dt.timedelta(minutes=-90)))),
)
_VALUES: Final[Values] = st.one_of(
    st.sampled_from(("kb", "current", "refund", "2024-05-01", 2023, 1.5, True, "")),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    ODD_TEXT,
    _MOMENTS,
    st.dates(),
)
_WORDS: Final = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "contains")


def comparisons(keys: Values) -> st.SearchStrategy[Condition]:
    """Comparisons of one of `keys` with any value that a condition takes."""
    return st.one_of(
        st.builds(
            lambda key, word, value: getattr(field(key), word)(value),
            keys,
            st.sampled_from(_WORDS),
            _VALUES,
        ),
        st.builds(
            lambda key, values: field(key).is_in(values), keys, st.lists(_VALUES, max_size=3)
        ),
        st.builds(lambda key: field(key).is_none(), keys),
    )


def conditions(*, wide: bool = False) -> st.SearchStrategy[Condition]:
    """Conditions of some depth; `wide`: on keys of any text."""
    return st.recursive(
        comparisons(_KEYS | ODD_TEXT if wide else _KEYS),
        lambda parts: st.one_of(
            st.builds(lambda left, right: left & right, parts, parts),
            st.builds(lambda left, right: left | right, parts, parts),
            st.builds(lambda part: ~part, parts),
        ),
        max_leaves=5,
    )


# -- parameters ----------------------------------------------------------------------------


def _numbers(low: float, high: float, above: float | None, *, wide: bool) -> Values:
    open_low = above is not None
    least = low if above is None else max(low, above)
    if not wide:  # what boosts a score or floors it, on the scale of the scores above
        least, high = max(least, -3.0), min(high, 3.0)
    nice = [value for value in (0.0, 0.1, 0.5, 0.85, 1.0, 2.0) if least <= value <= high]
    if open_low:
        nice = [value for value in nice if value > least]
    every = st.floats(
        None if math.isinf(least) else least,
        None if math.isinf(high) else high,
        allow_nan=False,
        allow_infinity=False,
        exclude_min=open_low,
        allow_subnormal=wide,
    )
    return st.sampled_from(nice) | every


def _rising(low: float, high: float, *, wide: bool) -> Values:
    limits = () if wide else (max(low, -3.0), min(high, 3.0))
    ends = limits or (None if math.isinf(low) else low, None if math.isinf(high) else high)
    every = st.floats(*ends, allow_nan=False, allow_infinity=False)
    return st.lists(every, min_size=1, max_size=4, unique_by=lambda value: value + 0.0).map(sorted)


def _durations(*, wide: bool) -> Values:
    texts = st.sampled_from(("30d", "12h", "90m", "45s", "2w", "1.5h", "0.000001s"))
    if not wide:
        return texts.filter(lambda text: text != "0.000001s") | st.timedeltas(
            dt.timedelta(minutes=1), dt.timedelta(days=1000)
        )
    return texts | st.timedeltas(dt.timedelta(microseconds=1))


def _key_names(parameter: str, *, wide: bool) -> Values:
    usual = st.sampled_from(DATE_KEYS if parameter == "at" else GROUP_KEYS)
    return usual | ODD_TEXT if wide else usual


def _weights(*, wide: bool) -> Values:
    keys = st.sampled_from(("year", "position", "score", "status", "nowhere"))
    names = keys | ODD_TEXT if wide else keys
    every = _numbers(-math.inf, math.inf, None, wide=wide)
    return st.dictionaries(names, every, min_size=1, max_size=3)


DOMAINS: Final[Mapping[str, Callable[[Any, str, bool], Values]]] = {
    "number": lambda limits, name, wide: _numbers(*limits, wide=wide),
    "numbers": lambda limits, name, wide: _rising(*limits, wide=wide),
    "count": lambda limits, name, wide: st.integers(0, 2**63 - 1 if wide else 13),
    "amount": lambda limits, name, wide: (
        st.none() | st.integers(*((0, 20) if name == "min" else (20, 2**63 - 1 if wide else 60)))
    ),
    "choice": lambda options, name, wide: st.sampled_from(*options),
    "key": lambda limits, name, wide: _key_names(name, wide=wide),
    "flag": lambda limits, name, wide: st.booleans(),
    "condition": lambda limits, name, wide: conditions(wide=wide),
    "conditions": lambda limits, name, wide: st.lists(
        conditions(wide=wide), min_size=1, max_size=3
    ),
    "duration": lambda limits, name, wide: _durations(wide=wide),
    "weights": lambda limits, name, wide: _weights(wide=wide),
    "ids": lambda limits, name, wide: st.lists(
        ODD_TEXT if wide else st.integers(0, 14).map("c{}".format), max_size=5
    ),
}
"""The values of a kind of parameter, by the rest of its domain, its name, and `wide`."""


def everything(chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
    """Choose all, within the budget or not."""
    del context
    return chunks


def shortest(chunks: Sequence[Chunk], context: Context) -> list[Chunk]:
    """Choose the three shortest that cost no more than a third of the budget."""
    small = [chunk for chunk in chunks if 3 * _cost(chunk, context) <= context.budget]
    return sorted(small, key=lambda chunk: _cost(chunk, context))[:3]


def _cost(chunk: Chunk, context: Context) -> int:
    return context.overhead + (chunk.tokens or 0)


def by_length(chunk: Chunk) -> tuple[int, str]:
    """A key that sorts by length, then text."""
    return len(chunk.content), chunk.content


def by_id(chunk: Chunk) -> str:
    """A key that sorts by id."""
    return str(chunk.id)


FUNCTIONS: Final[Mapping[str, Sequence[Callable[..., Any]]]] = {
    "custom": (everything, shortest),
    "sorted_by": (by_length, by_id),
}
"""For each word that takes a Python function, some."""


TOGETHER: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "utility": (("intercept", "slope"), ("knots", "values")),
}
"""For a word whose optional parameters come in sets, the sets; lists in one are of one length."""


# -- stages --------------------------------------------------------------------------------


def kind_of(word: str) -> type[Step[Any, Any]]:
    """The class of a word's stages."""
    made = CATALOG[word]
    if isinstance(made, Step):
        return type(made)
    module = sys.modules[made.__module__]
    [kind] = {
        found
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, Step)
        and found.__dict__.get("name") == word
    }
    return kind


def words_of(role: Any) -> tuple[str, ...]:
    """The words of a role, in the order of the catalog."""
    return tuple(word for word in CATALOG if issubclass(kind_of(word), role))


SCORING: Final = tuple(word for word in words_of(Filter) if issubclass(kind_of(word), Scoring))
CONSTRAINTS: Final = words_of(Constraint)
FILTERS: Final = tuple(word for word in words_of(Filter) if word not in SCORING + CONSTRAINTS)
SELECTORS: Final = words_of(Selector)
ORDERS: Final = words_of(Order)


def fields_of(word: str) -> Sequence["attrs.Attribute[Any]"]:
    """The parameters of a word's stages."""
    kind: Any = kind_of(word)
    return cast("Sequence[attrs.Attribute[Any]]", attrs.fields(kind))


def _domains(word: str) -> dict[str, tuple[Any, ...]]:
    return {field_.name: field_.metadata["domain"] for field_ in fields_of(word)}


def holds_function(word: str) -> bool:
    """Whether the word takes a Python function, so that its text cannot be parsed."""
    return any(domain[0] == "function" for domain in _domains(word).values())


PARSED: Final = tuple(word for word in CATALOG if not holds_function(word))
"""The words whose stages have a text that can be parsed."""


def _arguments(word: str, parameter: str, *, wide: bool) -> Values:
    kind, *rest = _domains(word)[parameter]
    if kind == "function":
        return st.sampled_from(FUNCTIONS[word])
    return DOMAINS[kind](rest, parameter, wide)


@st.composite
def stages(draw: Draw, word: str, *, wide: bool = False) -> Any:
    """Stages of a word, each optional argument given or left out."""
    made = CATALOG[word]
    if isinstance(made, Step):
        return made
    if word in TOGETHER:
        names = draw(st.sampled_from(TOGETHER[word]))
        given = {name: draw(_arguments(word, name, wide=wide)) for name in names}
        lengths = [len(value) for value in given.values() if isinstance(value, list)]
        cut = slice(min(lengths, default=0))
        for name in names if lengths else ():
            given[name] = given[name][cut]
        return cast("Callable[..., Any]", made)(**given)
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in inspect.signature(made).parameters.values():
        if parameter.default is not parameter.empty and draw(st.booleans()):
            continue
        value = draw(_arguments(word, parameter.name, wide=wide))
        if parameter.kind is parameter.VAR_POSITIONAL:
            arguments.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords |= value
        else:
            keywords[parameter.name] = value
    return cast("Callable[..., Any]", made)(*arguments, **keywords)


def some_stage(words: Sequence[str], *, wide: bool = False) -> Values:
    """A stage of any of the words."""
    return st.sampled_from(words).flatmap(lambda word: stages(word, wide=wide))


@st.composite
def policies(
    draw: Draw,
    *,
    filters: Sequence[str] = FILTERS + SCORING + CONSTRAINTS,
    selectors: Sequence[str] = SELECTORS,
    orders: Sequence[str] = ORDERS,
    wide: bool = False,
) -> Policy:
    """Up to three filters, a selector, and an order or none, of these words."""
    steps = draw(st.lists(some_stage(filters, wide=wide), max_size=3))
    steps.sort(key=lambda step: step.name == "blend")  # below 0, which some others refuse
    steps.append(draw(some_stage(selectors, wide=wide)))
    if draw(st.booleans()):
        steps.append(draw(some_stage(orders, wide=wide)))
    return cast("Policy", reduce(lambda left, right: left | right, steps))


def parsed_policies() -> st.SearchStrategy[Policy]:
    """Policies without a Python function, with every value that their parameters take."""
    return policies(
        filters=[word for word in FILTERS + SCORING + CONSTRAINTS if word in PARSED],
        selectors=[word for word in SELECTORS if word in PARSED],
        orders=[word for word in ORDERS if word in PARSED],
        wide=True,
    )


# -- calls ---------------------------------------------------------------------------------


@final
@attrs.frozen
class Request:
    """A call of `pack`."""

    chunks: Sequence[Chunk]
    policy: Policy
    budget: int
    overhead: int

    def over(self, chunks: Sequence[Chunk]) -> "Request":
        """The same call over other chunks."""
        return attrs.evolve(self, chunks=chunks)

    def packed(self) -> Packed:
        """What the call gives."""
        return pack(
            self.chunks,
            self.policy,
            budget=self.budget,
            overhead=self.overhead,
            query=QUERY,
            now=NOW,
        )


def chunks_for(stage: Any, **options: Any) -> st.SearchStrategy[list[Chunk]]:
    """Lists of chunks that the stage (or policy) does not refuse."""
    steps = steps_of(stage)
    if any(getattr(step, "metric", None) == "cosine" for step in steps):
        options["embedded"] = True
    if any(
        step.name in {"decay", "boost", "neighbours"} for step in steps
    ):  # they refuse negative scores
        options["scores"] = options.get("scores", POSITIVE).filter(lambda score: score >= 0)
    return chunk_lists(**options)


@st.composite
def requests(
    draw: Draw, /, policy: st.SearchStrategy[Policy] | None = None, **options: Any
) -> Request:
    """Calls of `pack` that are not refused; `options` as in `chunk_lists`."""
    chosen = draw(policies() if policy is None else policy)
    request = Request(
        chunks=draw(chunks_for(chosen, **options)),
        policy=chosen,
        budget=draw(BUDGETS),
        overhead=draw(OVERHEADS),
    )
    if any(isinstance(step, Constraint) for step in steps_of(chosen)):
        try:
            request.packed()
        except (Infeasible, OverBudget):
            reject()
    return request


@st.composite
def trials(draw: Draw, /, word: str, **options: Any) -> tuple[Any, Pool]:
    """A stage of a word from a pool, and a pool for it."""
    stage = draw(stages(word))
    return stage, draw(pools(chunks_for(stage, **options)))


@st.composite
def pools(draw: Draw, chunks: st.SearchStrategy[list[Chunk]] | None = None) -> Pool:
    """Pools of these chunks with a budget, an overhead and a moment."""
    given = draw(chunk_lists() if chunks is None else chunks)
    return Pool.from_chunks(
        given, budget=draw(BUDGETS), overhead=draw(OVERHEADS), query=QUERY, now=NOW
    )


@st.composite
def twin_pools(draw: Draw, chunks: st.SearchStrategy[list[Chunk]]) -> tuple[Pool, Pool]:
    """A pool, and the same chunks in another order."""
    pool = draw(pools(chunks))
    given = [pool.chunk(row) for row in draw(st.permutations(range(len(pool))))]
    return pool, Pool.from_chunks(
        given, budget=pool.budget, overhead=pool.call.overhead, query=QUERY, now=NOW
    )


@st.composite
def selections(draw: Draw, chunks: st.SearchStrategy[list[Chunk]] | None = None) -> Selection:
    """Selections of any rows in any order, within an ample budget."""
    given = draw(chunk_lists() if chunks is None else chunks)
    pool = Pool.from_chunks(given, overhead=draw(OVERHEADS), now=NOW)
    rows = draw(st.permutations(range(len(pool))))
    return pool.select(rows[: draw(st.just(len(rows)) | st.integers(0, len(rows)))])
