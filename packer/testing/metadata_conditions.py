"""Conditions on metadata, of some depth."""

import datetime as dt
from typing import Final

from hypothesis import strategies as st

from packer.conditions import Condition, field

from .material import Values

__all__ = ["ODD_TEXT", "comparisons", "conditions"]

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
