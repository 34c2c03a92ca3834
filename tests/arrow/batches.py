"""Batches of Arrow for Hypothesis, and the slow, obvious twin of `pack_batch`."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast, final

import attrs
import pyarrow as pa
from hypothesis import strategies as st

from packer import Packed, PackError, Template, pack
from packer.algebra import Policy
from packer.testing.material import FAMILIES
from tests.generators import BUDGETS, CLOSE, EMBEDDINGS, NOW, OVERHEADS, SCORES, TEXTS, policies

SAYABLE: Final = tuple(text for text in TEXTS if text.isprintable() or "\n" in text)
"""The texts that Arrow can hold: all but those with lone surrogates."""

_DIGITS: Final = st.sampled_from((5, 50, 500))
COPIES: Final = st.builds(str.format, st.sampled_from(FAMILIES), _DIGITS, _DIGITS)
"""Near-copies that differ in a number."""

CONTENTS: Final = st.sampled_from([text for text in SAYABLE if "\ud800" not in text]) | COPIES
FEW: Final = 6
"""Candidates of a row, where each may have faults; of longer lists none has."""

MOMENTS: Final = st.datetimes(
    dt.datetime(2023, 1, 1),  # noqa: DTZ001  # bounds are naive by contract
    dt.datetime(2024, 7, 1),  # noqa: DTZ001
    timezones=st.just(dt.UTC),
)

METADATA: Final[Mapping[str, tuple[Any, st.SearchStrategy[Any]]]] = {
    "source": (pa.string(), st.sampled_from(("kb", "faq", None))),
    "position": (pa.float64(), st.sampled_from((0.0, 1.0, 2.5, math.nan, None))),
    "timestamp": (pa.timestamp("us", tz="UTC"), MOMENTS | st.none()),
    "updated": (pa.string(), st.sampled_from(("2024-05-01", "2023-01-31T08:15:00Z", None))),
    "status": (pa.string(), st.sampled_from(("current", "superseded", None))),
    "supersedes": (pa.list_(pa.string()), st.sampled_from((["c1", "faq"], [], None))),
    "group": (pa.string(), st.sampled_from(("g", "h", None))),
    "parent": (pa.string(), st.sampled_from(("p", "c0", None))),
    "year": (pa.int64(), st.integers(2020, 2025) | st.none()),
    "doc type": (pa.string(), st.sampled_from(("faq", "policy", None))),
}


def candidates(fields: Sequence[str], *, odd: bool, most: int) -> st.SearchStrategy[list[Any]]:
    """Lists of candidates with these fields; `odd`: with faults, repeated ids, blanks and nulls."""
    numbers = SCORES | st.sampled_from((math.nan, math.inf, None, -0.0)) if odd else SCORES
    if most > FEW:
        numbers = CLOSE | st.floats(0.5, 0.9)  # which no selector by score per token should get
    contents = CONTENTS | st.sampled_from(("", " \n\x1c", None)) if odd else CONTENTS
    tokens = st.integers(0, 30) | (st.none() if most == FEW else st.integers(1, 60))
    if odd:
        tokens |= st.sampled_from((-1, 2**43 + 1))
    vectors: st.SearchStrategy[Any] = EMBEDDINGS.map(list)
    if odd:
        vectors |= st.sampled_from((None, [], [1.0], [math.nan, 0.0, 0.0], [None, 1.0, 2.0]))
    ids = st.sampled_from(("a", "b", None, "chunk-1")) if odd else st.uuids().map(str)
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "id": ids,
        "content": contents,
        "score": numbers,
        "tokens": tokens,
        "embedding": vectors,
        **{key: values for key, (_, values) in METADATA.items()},
    }
    one: st.SearchStrategy[Any] = st.fixed_dictionaries({name: kinds[name] for name in fields})
    if odd:
        one |= st.none()
    return st.lists(one, max_size=most) | st.lists(one, min_size=most // 2, max_size=most)


TYPES: Final[Mapping[str, Any]] = {
    "id": pa.string(),
    "content": pa.string(),
    "score": pa.float64(),
    "tokens": pa.int64(),
    "embedding": pa.list_(pa.float32()),
    **{key: kind for key, (kind, _) in METADATA.items()},
}


@final
@attrs.frozen(eq=False)
class Job:
    """A batch and what to do with it."""

    batch: Any
    policy: Policy
    options: Mapping[str, Any]


@st.composite
def jobs(draw: st.DrawFn, policy: st.SearchStrategy[Policy] | None = None, *, most: int = 6) -> Job:
    """Batches of any form, policies, and calls; of at most so many candidates a row."""
    odd = most == FEW and draw(st.booleans())
    fields = ["content", "score"]
    fields += [name for name in ("id", "tokens", "embedding") if draw(st.booleans())]
    keys = draw(st.lists(st.sampled_from(list(METADATA)), unique=True))
    lists = draw(
        st.lists(
            st.none() | candidates([*fields, *keys], odd=odd, most=most), min_size=1, max_size=4
        )
    )
    queries = draw(
        st.lists(st.sampled_from(("refund", "", None)), min_size=len(lists), max_size=len(lists))
    )
    limits = st.sampled_from((1, 10, 40, None, 0, -3)) if odd else st.sampled_from((1, 10, 40))
    budgets = draw(st.lists(limits, min_size=len(lists), max_size=len(lists)))
    batch = pa.table(
        {
            "query": pa.array(queries, pa.string()),
            "window": pa.array(budgets, pa.int64()),
            "candidates": column(draw, lists, fields, keys),
        }
    )
    begin = draw(st.integers(0, len(lists) - 1))
    batch = batch.slice(begin, draw(st.integers(0, len(lists) - begin)))
    if draw(st.booleans()):
        batch = pa.concat_tables([batch, batch.slice(0, 1)])
    options: dict[str, Any] = {
        "overhead": draw(OVERHEADS),
        "query_column": draw(st.sampled_from(("query", None))),
        "on_invalid": draw(st.sampled_from(("raise", "exclude"))),
        "template": draw(st.sampled_from((None, None, Template("[{position}] {content} {id}")))),
        "now": NOW,
    }
    which = draw(st.sampled_from(("budget", "budget_column", "both")))
    if which != "budget_column":
        options["budget"] = draw(BUDGETS)
    if which != "budget":
        options["budget_column"] = "window"
    return Job(batch, draw(policies() if policy is None else policy), options)


def column(draw: st.DrawFn, lists: list[Any], fields: Sequence[str], keys: Sequence[str]) -> Any:
    """The lists as an array: of one of the list types, with metadata beside or below."""
    item = draw(st.sampled_from(("item", "element", "chunk")))
    types = {name: TYPES[name] for name in fields}
    if "embedding" in types and draw(st.booleans()):
        types["embedding"] = pa.large_list(pa.float64())
    if draw(st.booleans()):
        types["content"] = pa.dictionary(pa.int32(), pa.large_string())
    inner = {key: TYPES[key] for key in keys}
    below = bool(inner) and draw(st.booleans())
    if below:
        types["metadata"] = pa.struct(inner)
        lists = [None if found is None else [_below(one, keys) for one in found] for found in lists]
    else:
        types |= inner
    child = pa.field(item, pa.struct(types))
    kind = draw(st.sampled_from((pa.list_, pa.large_list, pa.list_view, pa.large_list_view)))
    return pa.array(lists, kind(child))


def _below(one: Any, keys: Sequence[str]) -> Any:
    if one is None:
        return None
    rest = {name: value for name, value in one.items() if name not in keys}
    return {**rest, "metadata": {key: one[key] for key in keys}}


# -- the twin ------------------------------------------------------------------------------


def row_by_row(job: Job) -> list[dict[str, Any] | None]:
    """What `pack` says of every row, as the columns that `pack_batch` adds; None for no list."""
    return [_packed(row, job) for row in job.batch.to_pylist()]


def _packed(row: Mapping[str, Any], job: Job) -> dict[str, Any] | None:
    if row["candidates"] is None:
        return None
    options = dict(job.options)
    limit = options.pop("budget", None)
    if options.pop("budget_column", None) is not None and row["window"] is not None:
        limit = row["window"]
    query = options.pop("query_column")
    if query is not None:
        options["query"] = row[query]
    try:
        packed = pack(
            cast("Any", [_chunk(one) for one in row["candidates"]]),
            job.policy,
            budget=limit,
            **options,
        )
        return _row(packed, templated=options["template"] is not None)
    except PackError as error:
        if limit is None:
            return {"error": "INVALID_BUDGET"}
        return {"error": error.code, "message": error.message}


def _chunk(one: Mapping[str, Any] | None) -> Any:
    if one is None:
        return None
    known = ("id", "content", "score", "tokens", "embedding")
    rest = {key: value for key, value in one.items() if key not in (*known, "metadata")}
    metadata = {**rest, **(one.get("metadata") or {})}
    return {
        **{name: one[name] for name in known if name in one},
        "metadata": {key: value for key, value in metadata.items() if value is not None},
    }


def _row(packed: Packed, *, templated: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "packed": [
            {
                "id": chunk.id,
                "position": chunk.position,
                "score": chunk.score,
                "tokens": chunk.tokens,
                "original_tokens": chunk.original_tokens,
                "new_tokens": chunk.new_tokens,
                "content": chunk.content,
            }
            for chunk in packed
        ],
        "tokens_used": packed.report.tokens_used,
        "excluded": [
            {
                "id": out.id,
                "score": out.score if math.isfinite(out.score) else None,
                "tokens": out.tokens,
                "reason": str(out.reason),
                "stage": out.stage,
                "redundant_with": out.redundant_with,
                "similarity": out.similarity,
                "detail": out.detail,
            }
            for out in packed.report.excluded
        ],
        "optimality": None
        if packed.report.optimality is None
        else attrs.asdict(packed.report.optimality),
        "warnings": [{"code": one.code, "message": one.message} for one in packed.report.warnings],
        "error": None,
    }
    if templated:
        found["text"] = packed.text()
    return found


def as_rows(result: Any) -> list[dict[str, Any] | None]:
    """The columns that were added, row by row, as the twin has them.

    `candidate` is checked here: where an id was given it is that of the candidate.
    """
    return [_as_row(row) for row in result.to_pylist()]


def _as_row(row: dict[str, Any]) -> dict[str, Any] | None:
    added = ("packed", "tokens_used", "excluded", "optimality", "warnings")
    if row["error"] is not None:
        assert all(row[name] is None for name in added)
        code = row["error"]["code"]
        return {"error": code, "message": row["error"]["message"]}
    if row["candidates"] is None:
        assert all(row[name] is None for name in added)
        return None
    out = {name: row[name] for name in (*added, "error", "text") if name in row}
    places = [chunk.pop("candidate") for chunk in (*row["packed"], *row["excluded"])]
    assert sorted(places) == list(range(len(row["candidates"])))
    for place, chunk in zip(places, (*row["packed"], *row["excluded"]), strict=True):
        given = row["candidates"][place]
        if given is not None and given.get("id") is not None:
            assert chunk["id"] == given["id"]
    return out
