"""Values that chunks are made of: texts, scores, vectors, dates and metadata that differ little."""

import copy
import datetime as dt
import math
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

__all__ = [
    "BOOK",
    "CLOSE",
    "DATES",
    "DATE_KEYS",
    "EMBEDDINGS",
    "FAMILIES",
    "GROUP_KEYS",
    "HOSTILE",
    "HOSTILE_VALUES",
    "LENGTHS",
    "METADATA",
    "NOW",
    "POSITIVE",
    "QUERY",
    "SCORES",
    "TEXTS",
    "VECTORS",
    "Values",
]

Values: TypeAlias = st.SearchStrategy[Any]

NOW: Final = dt.datetime(2024, 6, 1, tzinfo=dt.UTC)
"""The moment of every call made here."""

QUERY: Final = "How many days do refunds take, and may I return gifts? 返品は"
"""The request's words in every call made here."""

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

BOOK: Final = "Refunds take five days. We ship on every working day. Gift cards never expire."
"""What chunks with `start` and `end` in their metadata are mostly cut from."""

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
        "start": st.sampled_from((0, 8, 24, 30, "0")),
        "end": st.sampled_from((23, 24, 40, 52, len(BOOK))),
    },
)

# -- what is hard --------------------------------------------------------------------------

FAMILIES: Final = (
    "The parcel arrives in {} days, and the refund is paid {} days later by the same way.",
    "Gift cards bought after {} March cannot be returned; those of {} April can.",
    "\u8fd4\u54c1\u306f{}\u65e5\u4ee5\u5185\u3001\u8fd4\u91d1\u306f{}\u65e5\u4ee5\u5185\u306b\u9650\u308a\u307e\u3059\u3002",
)
"""Texts that differ by two numbers."""

LENGTHS: Final[Values] = st.sampled_from((0, 1, 1, 2, 10, 10, 1_000, 2**31 - 1, 2**31, 2**40))
"""Token counts from nothing to more than any budget."""

_UNHASHABLE: Final[tuple[object, ...]] = (
    [],
    ["kb", None],
    {"kb": {"deep": [1, {"deeper": math.nan}]}},
)
HOSTILE_VALUES: Final[Values] = st.sampled_from(
    (
        *("", " ", "kb\x00", "\ud83d", "\u202eright to left", "a" * 300, b"bytes"),
        *(None, 0, -1, True, False, 10**40, 1.0, -0.0, math.nan, math.inf, -math.inf),
        *((), (1, (2, (3,)))),
        dt.date(2024, 5, 1),
        dt.datetime(2024, 5, 1, 10, 0, tzinfo=dt.UTC),
        *(_UNHASHABLE * 3),  # what stages trip over most: each is drawn more often
    )
).map(copy.deepcopy)  # a stage that changes one changes no other case
_READ: Final = ("source", "position", "status", "group", "parent", "start", "end", "tags", "year")
_HOSTILE_KEYS: Final = st.sampled_from(
    (
        *(_READ * 3),  # more often too: a value that no stage reads shows nothing
        *(("source",) * 6),
        *("doc type", "", "class", "content", "__class__", "id", "\ud800", "a.b", "{}", "kb\n"),
    )
)
HOSTILE: Final[Values] = st.dictionaries(_HOSTILE_KEYS, HOSTILE_VALUES, max_size=5)
"""Metadata of every type under keys that mean something and keys that nobody expects."""
