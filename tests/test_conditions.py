import copy
import datetime as dt
import enum
import math
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from packer import PackError
from packer.conditions import Condition, Field, Junction
from strategies import field, greedy, parse, top, where

YEAR = field("year")
STATUS = field("status")


@pytest.mark.parametrize(
    ("condition", "text", "passes", "fails"),
    [
        (YEAR == 2023, "year == 2023", [2023, 2023.0], [2022, "2023", None]),
        (YEAR != 2023, "year != 2023", [2022, "2023"], [2023, None]),
        (YEAR < 2023, "year < 2023", [2022], [2023, 2024, "2022", None]),
        (YEAR <= 2023, "year <= 2023", [2022, 2023], [2024, None]),
        (YEAR > 2023, "year > 2023", [2024], [2023, "2024", None, math.nan]),
        (YEAR >= 2023, "year >= 2023", [2023, 2024], [2022, None]),
        (YEAR.is_in([1, "two"]), 'year in [1, "two"]', [1, "two"], [2, "1", None]),
        (YEAR.is_in([]), "year in []", [], [1, None]),
        (YEAR.is_none(), "year is None", [None], [0, "", False]),
        (~YEAR.is_none(), "year is not None", [0, "", False], [None]),
        (YEAR.contains("a"), '"a" in year', ["a", "cat", ["a"], ("b", "a")], ["b", ["cat"], 3]),
        (YEAR.contains(3), "3 in year", [[3], {3: 4}], ["3", 3, None]),
        (~(YEAR == 1), "not year == 1", [2, None], [1]),
        (YEAR == "a", 'year == "a"', ["a"], ["A", 1]),
        (YEAR == True, "year == True", [True, 1], [False]),  # noqa: E712  # builds a condition
        (YEAR == 0.5, "year == 0.5", [0.5], [0.25]),
    ],
)
def test_a_comparison_holds_and_prints(
    condition: Condition, text: str, passes: list[object], fails: list[object]
) -> None:
    assert repr(condition) == text
    assert [condition.holds({"year": value}) for value in passes] == [True] * len(passes)
    assert [condition.holds({"year": value}) for value in fails] == [False] * len(fails)
    assert parse(f"where({text}) | greedy") == where(condition) | parse("greedy")


@pytest.mark.parametrize(
    ("compare", "holds"),
    [
        (lambda key: key == 1, False),
        (lambda key: key != 1, False),
        (lambda key: key < 1, False),
        (lambda key: key.is_in([1]), False),
        (lambda key: key.contains(1), False),
        (lambda key: key.is_none(), True),
        (lambda key: ~(key == 1), True),
    ],
)
def test_a_missing_key_fails_every_comparison_but_is_none(
    compare: Callable[[Field], Condition], *, holds: bool
) -> None:
    assert compare(field("missing")).holds({"year": 1}) is holds


def test_conditions_join_flat_and_print_with_the_brackets_they_need() -> None:
    a, b, c = field("a") == 1, field("b") == 2, field("c") == 3
    assert a & b & c == a & (b & c)
    assert a | b | c == a | (b | c)
    assert repr(a & b & c) == "a == 1 and b == 2 and c == 3"
    assert repr(a & (b | c)) == "a == 1 and (b == 2 or c == 3)"
    assert repr(a & b | c) == "(a == 1 and b == 2) or c == 3"
    assert repr(~(a & b)) == "not (a == 1 and b == 2)"
    assert repr(~~a) == "not not a == 1"
    assert repr(~a & b) == "not a == 1 and b == 2"


@pytest.mark.parametrize(
    ("metadata", "both", "either"),
    [
        ({"a": 1, "b": 2}, True, True),
        ({"a": 1}, False, True),
        ({"b": 2}, False, True),
        ({}, False, False),
    ],
)
def test_and_or_and_not_hold_as_in_logic(
    metadata: Mapping[str, object], *, both: bool, either: bool
) -> None:
    a, b = field("a") == 1, field("b") == 2
    assert (a & b).holds(metadata) is both
    assert (a | b).holds(metadata) is either
    assert (~(a | b)).holds(metadata) is not either


def test_a_condition_says_what_it_looked_at() -> None:
    metadata = {"a": 1, "b": "x" * 100}
    a, b, c = field("a") == 2, field("b") == "y", field("c d") == 3
    assert a.actual(metadata) == "a is 1"
    assert b.actual(metadata) == "b is '" + "x" * 56 + "..."
    assert c.actual(metadata) == 'field("c d") is missing'
    assert (a & c & (a | c)).actual(metadata) == 'a is 1, field("c d") is missing'
    assert (~a).actual(metadata) == "a is 1"
    assert (c | ~(a & ~c)).actual(metadata) == 'field("c d") is missing, a is 1'


# -- dates ----------------------------------------------------------------------------------

MOMENTS: list[Any] = [
    "2024-05-01",
    "2024-05-01T00:00:00Z",
    "2024-05-01T02:00:00+02:00",
    dt.date(2024, 5, 1),
    dt.datetime(2024, 5, 1, tzinfo=dt.UTC),
    dt.datetime(2024, 5, 1),  # noqa: DTZ001  # naive means UTC
    dt.datetime(2024, 5, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))),
]
EPOCHS = [1714521600, 1714521600.0, 1714521600000]


@pytest.mark.parametrize("found", [*MOMENTS, *EPOCHS], ids=repr)
@pytest.mark.parametrize("wanted", MOMENTS, ids=repr)
def test_dates_of_every_kind_compare_with_each_other(found: object, wanted: Any) -> None:
    day = field("day")
    assert (day == wanted).holds({"day": found})
    assert (day >= wanted).holds({"day": found})
    assert not (day > wanted).holds({"day": found})
    assert not (day != wanted).holds({"day": found})
    assert day.is_in([wanted]).holds({"day": found})


@pytest.mark.parametrize("earlier", ["2024-04-30T23:59:59Z", 1714521599, dt.date(2024, 4, 30)])
def test_an_earlier_date_is_less_whatever_its_kind(earlier: Any) -> None:
    assert (field("day") < "2024-05-01").holds({"day": earlier})
    assert (field("day") < dt.date(2024, 5, 1)).holds({"day": earlier})


def test_a_date_is_kept_as_iso_text() -> None:
    assert repr(field("day") >= dt.date(2024, 5, 1)) == 'day >= "2024-05-01"'
    assert repr(field("day") >= dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)) == (
        'day >= "2024-05-01T12:00:00+00:00"'
    )


def test_numbers_and_texts_that_are_no_dates_compare_as_they_are() -> None:
    assert (field("version") == "2024.05").holds({"version": "2024.05"})
    assert not (field("version") == "20240501").holds({"version": 1714521600})
    assert (field("n") < 1714521600).holds({"n": 5})
    assert not (field("day") < "2024-05-01").holds({"day": "yesterday"}), "text order: y after 2"
    assert not (field("day") < "2024-05-01").holds({"day": [1]})


@pytest.mark.parametrize("condition", [YEAR == 1, YEAR != 1, YEAR < 3, YEAR.is_in([1])], ids=repr)
def test_an_array_fails_a_comparison_with_one_value(condition: Condition) -> None:
    assert not condition.holds({"year": np.array([1, 2])})
    assert YEAR.contains(2).holds({"year": np.array([1, 2])})


# -- odd keys and values --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("doc type", 'field("doc type") == 1'),
        ("class", 'field("class") == 1'),
        ("None", 'field("None") == 1'),
        ("", 'field("") == 1'),
        ('a"b', 'field("a\\"b") == 1'),
        ("naïve", 'field("naïve") == 1'),
        ("a\nb", 'field("a\\nb") == 1'),
    ],
)
def test_a_key_that_is_no_identifier_is_written_as_field(key: str, text: str) -> None:
    condition = field(key) == 1
    assert repr(condition) == text
    assert parse(f"where({text}) | greedy") == where(condition) | parse("greedy")


@pytest.mark.parametrize("value", [math.nan, math.inf, [1], None, 1 + 2j, b"a"], ids=repr)
@pytest.mark.parametrize("word", ["__eq__", "__ne__", "__lt__", "__ge__", "contains"])
def test_a_value_that_text_cannot_hold_is_refused(word: str, value: Any) -> None:
    with pytest.raises(PackError, match="a condition cannot compare with") as caught:
        getattr(YEAR, word)(value)
    assert caught.value.code == "INVALID_PARAMETER"
    assert (".is_none()" in caught.value.message) is (value is None)


def test_is_in_takes_a_list_and_no_text() -> None:
    with pytest.raises(PackError, match=r"not the text 'kb'; write \['kb'\]"):
        YEAR.is_in("kb")
    with pytest.raises(PackError, match="cannot compare with None"):
        YEAR.is_in([None])  # type: ignore[list-item]
    with pytest.raises(PackError, match="is_in takes a list of values"):
        YEAR.is_in(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [3, None, b"a"])
def test_field_takes_a_name(name: Any) -> None:
    with pytest.raises(PackError, match="field takes the name of a metadata key") as caught:
        field(name)
    assert caught.value.code == "INVALID_PARAMETER"


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: YEAR == 1 and STATUS == 2,
        lambda: not YEAR.is_none(),
        lambda: 1 < YEAR < 3,
        lambda: bool(YEAR),
        lambda: YEAR in {1: 2},
        lambda: (YEAR == 1) & True,  # type: ignore[operator]
        lambda: (YEAR == 1) | STATUS,  # type: ignore[operator]
    ],
)
def test_a_misuse_that_would_lose_half_of_a_condition_raises(misuse: Callable[[], object]) -> None:
    with pytest.raises((PackError, TypeError)) as caught:
        misuse()
    assert getattr(caught.value, "code", "INVALID_PARAMETER") == "INVALID_PARAMETER"


def test_the_message_on_a_truth_value_says_what_to_write() -> None:
    with pytest.raises(PackError, match=r"write `&`, `|`, `~`") as caught:
        bool(YEAR == 1)
    assert caught.value.details == {"condition": "year == 1"}
    with pytest.raises(PackError, match=r"field\('year'\) has no truth value; compare it"):
        bool(YEAR)


def test_a_condition_is_a_value() -> None:
    one = (YEAR >= 2023) & ~STATUS.is_in(["a"])
    two = (YEAR >= 2023) & ~STATUS.is_in(["a"])
    assert one == two
    assert hash(one) == hash(two)
    assert one != (YEAR >= 2022) & ~STATUS.is_in(["a"])
    for copied in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert copied == one
    assert isinstance(one, Junction)
    with pytest.raises(AttributeError):
        one.word = "or"  # type: ignore[misc]
    assert repr(YEAR) == 'field("year")'


class Level(enum.IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (Level.HIGH, 3),
    ],
)
def test_a_number_of_another_kind_is_compared_as_a_plain_one(value: Any, plain: object) -> None:
    condition = field("level") == value
    assert repr(condition) == f"level == {plain}"
    assert parse(f"where({condition}) | greedy") == where(condition) | greedy


def test_a_number_that_cannot_be_written_out_is_refused() -> None:
    with pytest.raises(PackError, match="cannot compare with"):
        field("level") == 10**5000  # noqa: B015
    with pytest.raises(PackError, match="an int of 0 or more"):
        top(10**5000)
