import datetime as dt
import math
from typing import Any

import numpy as np
import pytest

from packer import Chunk, Packed, PackError, Policy, Pool, Reason, pack
from packer.durations import duration_text, parse_duration
from packer.timestamps import instant, is_date_text
from strategies import current, decay, fresh, greedy, latest

NOW = dt.datetime(2024, 5, 31, tzinfo=dt.UTC)


def chunk(id_: str, score: float = 0.5, **metadata: object) -> Chunk:
    return Chunk(f"text {id_}", score, id=id_, tokens=1, metadata=metadata)


def run(stage: Any, *chunks: Chunk) -> Packed:
    policy: Policy = stage | greedy
    return pack(chunks, policy, budget=99, now=NOW)


def kept(stage: Any, *chunks: Chunk) -> list[str]:
    return sorted(one.id for one in run(stage, *chunks))


def told(packed: Packed) -> dict[str, str | None]:
    return {out.id: out.detail for out in packed.report.excluded}


# -- current --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status",
    [
        *("superseded", "archived", "deprecated", "expired", "obsolete", "outdated", "replaced"),
        *("retired", "withdrawn", " Archived ", "SUPERSEDED"),
    ],
)
def test_current_drops_what_its_status_marks(status: str) -> None:
    packed = run(current(), chunk("old", status=status), chunk("new", status="current"))
    assert told(packed) == {"old": f"status is {status!r}"}
    assert packed.report.excluded[0].reason is Reason.SUPERSEDED


@pytest.mark.parametrize("status", ["current", "draft", "", None, 3, ["superseded"]])
def test_current_keeps_any_other_status(status: object) -> None:
    assert kept(current(), chunk("a", status=status)) == ["a"]


@pytest.mark.parametrize(
    ("successor", "detail"),
    [
        ("b", "superseded by b"),
        (["b", "c"], "superseded by b, c"),
        (7, "superseded by 7"),
        (np.array(["b", "c"]), "superseded by b, c"),
    ],
)
def test_current_drops_what_names_its_successor(successor: object, detail: str) -> None:
    assert told(run(current(), chunk("a", superseded_by=successor))) == {"a": detail}


@pytest.mark.parametrize("successor", [None, "", False, []])
def test_an_empty_successor_is_none(successor: object) -> None:
    assert kept(current(), chunk("a", superseded_by=successor)) == ["a"]


def test_current_drops_what_another_chunk_supersedes_by_id_or_source() -> None:
    packed = run(
        current(),
        chunk("a1", source="handbook-2019"),
        chunk("a2", source="handbook-2019"),
        chunk("b", source="handbook-2024", supersedes="handbook-2019"),
        chunk("c"),
        chunk("d", supersedes=["c", "elsewhere"]),
        chunk("e", supersedes="e"),
    )
    assert [one.id for one in packed] == ["b", "d", "e"]  # e names itself, which is no other
    assert told(packed) == {
        "a1": "superseded by b",
        "a2": "superseded by b",
        "c": "superseded by d",
    }


def test_a_chunk_that_supersedes_its_own_source_does_not_drop_its_neighbours() -> None:
    chunks = [chunk("a", source="s", supersedes="s"), chunk("b", source="s")]
    assert kept(current(), *chunks) == ["a", "b"]


def test_a_version_of_the_same_source_supersedes_by_id() -> None:
    packed = run(
        current(), chunk("v1", source="s"), chunk("v2", source="s", supersedes="v1"), chunk("c")
    )
    assert told(packed) == {"v1": "superseded by v2"}


# -- latest ---------------------------------------------------------------------------------


def test_latest_keeps_all_chunks_of_the_newest_version() -> None:
    packed = run(
        latest(),
        chunk("old", source="faq", timestamp="2023-01-01"),
        chunk("new-1", source="faq", timestamp="2024-01-01"),
        chunk("new-2", source="faq", timestamp=dt.datetime(2024, 1, 1)),  # noqa: DTZ001
        chunk("other", source="blog", timestamp="2010-01-01"),
        chunk("bare", timestamp="2001-01-01"),
        chunk("undated", source="faq"),
        chunk("alone", source="note"),
    )
    assert sorted(one.id for one in packed) == [
        "alone",
        "bare",
        "new-1",
        "new-2",
        "other",
        "undated",
    ]
    assert told(packed) == {"old": "timestamp is 2023-01-01, faq has a version of 2024-01-01"}
    assert [(one.code, one.message, one.ids) for one in packed.report.warnings if one.ids] == [
        ("undated", "2 chunks have no timestamp", ("undated", "alone"))
    ]


def test_latest_takes_other_keys_and_keys_that_do_not_hash() -> None:
    chunks = [
        chunk("old", doc=["a", 1], seen=1_700_000_000),
        chunk("new", doc=["a", 1], seen=1_714_521_600_000),
        chunk("other", doc=["a", 2], seen=1),
    ]
    assert kept(latest("doc", at="seen"), *chunks) == ["new", "other"]


def test_latest_passes_over_what_has_no_date_or_no_key() -> None:
    """Also where it comes first: it is neither a version nor older than one."""
    chunks = [
        chunk("undated", source="faq"),
        chunk("old", source="faq", timestamp="2023-01-01"),
        chunk("new", source="faq", timestamp="2024-01-01"),
        chunk("bare", timestamp="2024-01-01"),
        chunk("bare-and-older", timestamp="2001-01-01"),
        chunk("bare-and-undated"),
    ]
    found = ["bare", "bare-and-older", "bare-and-undated", "new", "undated"]
    assert sorted(kept(latest(), *chunks)) == found


# -- fresh ----------------------------------------------------------------------------------


def test_fresh_drops_what_is_older_at_the_moment_of_the_call() -> None:
    packed = run(
        fresh("30d"),
        chunk("exact", timestamp="2024-05-01"),
        chunk("older", timestamp="2024-04-30T12:00:00Z"),
        chunk("future", timestamp="2030-01-01"),
        chunk("undated"),
        chunk("seconds", timestamp=NOW.timestamp() - 86400),
        chunk("milliseconds", timestamp=(NOW.timestamp() - 31 * 86400) * 1000),
    )
    assert sorted(one.id for one in packed) == ["exact", "future", "seconds", "undated"]
    assert told(packed) == {
        "older": "30.5 days old, at most 30d",
        "milliseconds": "31.0 days old, at most 30d",
    }
    assert {out.reason for out in packed.report.excluded} == {Reason.STALE}
    assert [one.ids for one in packed.report.warnings if one.code == "undated"] == [("undated",)]


def test_fresh_reads_the_key_that_it_is_told() -> None:
    chunks = [chunk("old", seen="2020-01-01"), chunk("new", seen="2024-05-30")]
    assert kept(fresh(dt.timedelta(hours=48), at="seen"), *chunks) == ["new"]


def test_the_clock_of_the_call_is_read_when_no_now_is_given() -> None:
    today = dt.datetime.now(dt.UTC).isoformat()
    chunks = [chunk("today", timestamp=today), chunk("old", timestamp="2020-01-01")]
    assert [one.id for one in pack(chunks, fresh("1d") | greedy, budget=9)] == ["today"]


@pytest.mark.parametrize("stage", [fresh("30d"), decay("30d")], ids=repr)
def test_age_needs_a_moment(stage: Any) -> None:
    with pytest.raises(PackError, match="give the pool a `now`") as caught:
        stage(Pool.from_arrays([0.5], [1]))
    assert caught.value.code == "INVALID_PARAMETER"


# -- dates ----------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [fresh("30d"), latest(), decay("1d")], ids=repr)
@pytest.mark.parametrize("value", ["yesterday", "", True, math.inf, ["2024-01-01"], "01/02/2024"])
def test_a_date_that_cannot_be_read_is_an_error_with_the_ids(stage: Any, value: object) -> None:
    chunks = [chunk("fine", source="s", timestamp="2024-01-01")]
    with pytest.raises(PackError) as caught:
        run(stage, *chunks, chunk("bad", source="s", timestamp=value))
    assert caught.value.code == "INVALID_TIMESTAMP"
    assert caught.value.details == {"ids": ("bad",), "key": "timestamp"}
    assert caught.value.message == (
        f"timestamp is no date: 'bad' has {value!r}; "
        "give ISO 8601 text, a datetime, or epoch seconds"
    )


def test_the_error_on_dates_names_five_and_counts_the_rest() -> None:
    with pytest.raises(PackError, match="'c4' has 'x' and 2 more; give ISO 8601") as caught:
        run(fresh("30d"), *(chunk(f"c{n}", timestamp="x") for n in range(7)))
    assert caught.value.details["ids"] == tuple(f"c{n}" for n in range(7))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (0, 0.0),
        (-86400, -86400.0),
        (99_999_999_999, 99_999_999_999.0),
        (100_000_000_000, 100_000_000.0),
        (-100_000_000_000, -100_000_000.0),
        (np.int64(5), 5.0),
        (np.float32(5), 5.0),
        ("1970-01-01T00:00:01.5", 1.5),
        (" 1970-01-02 ", 86400.0),
        ("19700102", 86400.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        (dt.date(1969, 12, 31), -86400.0),
        (True, None),
        (np.True_, None),
        (math.inf, None),
        (10**400, None),
        ("soon", None),
        (None, None),
        (b"1970-01-01", None),
    ],
)
def test_an_instant_is_seconds_since_1970(value: object, seconds: float | None) -> None:
    assert instant(value) == seconds


def test_only_text_with_dashes_is_taken_for_a_date_in_a_comparison() -> None:
    assert is_date_text("2024-05-01")
    assert is_date_text("2024-05-01T12:00:00Z")
    assert not is_date_text("20240501")
    assert not is_date_text("2024-05")
    assert not is_date_text("2024-13-01")
    assert not is_date_text(dt.date(2024, 5, 1))


# -- durations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [
        ("30d", dt.timedelta(days=30), "30d"),
        ("2w", dt.timedelta(days=14), "14d"),
        ("12h", dt.timedelta(hours=12), "12h"),
        ("48h", dt.timedelta(days=2), "2d"),
        ("90m", dt.timedelta(minutes=90), "90m"),
        ("120m", dt.timedelta(hours=2), "2h"),
        ("45s", dt.timedelta(seconds=45), "45s"),
        ("1.5h", dt.timedelta(minutes=90), "90m"),
        ("0.000001s", dt.timedelta(microseconds=1), "0.000001s"),
        (" 3 d ", dt.timedelta(days=3), "3d"),
        ("100s", dt.timedelta(seconds=100), "100s"),
    ],
)
def test_a_duration_is_read_and_written_exactly(
    text: str, length: dt.timedelta, shown: str
) -> None:
    assert parse_duration(text) == length
    assert duration_text(length) == shown
    assert parse_duration(shown) == length
    assert repr(fresh(text)) == f'fresh("{shown}")' == repr(fresh(length))


@pytest.mark.parametrize("text", ["30", "d", "-1d", "1y", "1e3d", "٣d", "99999999999d", "", "1d2h"])
def test_a_text_that_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize("stage", [fresh, decay])
@pytest.mark.parametrize("value", [30, 1.5, "30", "0d", dt.timedelta(0), dt.timedelta(-1), None])
def test_a_duration_is_a_timedelta_above_0_or_text(stage: Any, value: Any) -> None:
    with pytest.raises(PackError, match='give a timedelta above 0 or text such as "30d"') as caught:
        stage(value)
    assert caught.value.code == "INVALID_PARAMETER"
    assert caught.value.details["value"] is value


@pytest.mark.parametrize("stage", [lambda at: fresh("1d", at=at), latest])
@pytest.mark.parametrize("key", ["", 3, None])
def test_a_key_is_text(stage: Any, key: Any) -> None:
    with pytest.raises(PackError, match="give the name of a metadata key"):
        stage(key)


def test_stages_of_versions_print_as_text() -> None:
    assert repr(latest("doc", at="seen")) == 'latest("doc", at="seen")'
    assert repr(fresh("1d", at="seen")) == 'fresh("1d", at="seen")'
    assert repr(current()) == "current()"


def test_a_chunk_named_by_its_id_and_by_its_source_is_superseded_by_either() -> None:
    chunks = [
        Chunk("old", 0.5, id="old", metadata={"source": "faq"}),
        Chunk("new", 0.5, id="new", metadata={"source": "kb", "supersedes": "faq"}),
        Chunk("same", 0.5, id="same", metadata={"source": "faq", "supersedes": ["old"]}),
    ]
    pool = Pool.from_chunks(chunks)
    once = current()(pool)
    assert once.ids == current()(once).ids == ["new"]


@pytest.mark.parametrize(
    ("n", "words"), [(5, "'c4' has 'x'; give"), (6, "'c4' has 'x' and 1 more; give")]
)
def test_five_that_have_no_date_are_named(n: int, words: str) -> None:
    chunks = [Chunk("x", 0.5, id=f"c{at}", metadata={"timestamp": "x"}) for at in range(n)]
    with pytest.raises(PackError, match="is no date") as caught:
        pack(chunks, latest() | greedy, budget=9)
    assert words in caught.value.message
    assert "'c5'" not in caught.value.message
    assert caught.value.details["ids"] == tuple(f"c{at}" for at in range(n))
