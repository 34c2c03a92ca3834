import datetime as dt
import inspect
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from packer import Chunk, PackError, Policy
from packer.algebra import Step
from strategies import (
    CATALOG,
    Context,
    boost,
    by_score,
    chronological,
    current,
    custom,
    decay,
    dedup,
    density,
    document,
    field,
    fresh,
    greedy,
    knapsack,
    latest,
    max_candidates,
    mmr,
    natural,
    normalize,
    parse,
    prefix,
    reverse,
    stable,
    threshold,
    top,
    ushape,
)


def refused(text: Any) -> tuple[str, dict[str, Any]]:
    with pytest.raises(PackError) as caught:
        parse(text)
    return caught.value.code, dict(caught.value.details)


def place(text: str) -> tuple[int, int, str | None]:
    code, details = refused(text)
    assert code == "INVALID_POLICY"
    assert details["text"] == text
    return details["line"], details["column"], details["suggestion"]


# -- right texts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("greedy", greedy),
        ("prefix | natural", prefix | natural),
        (
            "threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape",
            threshold(0.6) | dedup(0.85) | mmr(0.7) | ushape,
        ),
        (
            "max_candidates(5) | top(3) | density | by_score",
            max_candidates(5) | top(3) | density | by_score,
        ),
        (
            'dedup(0.9, metric="jaccard") | knapsack | reverse',
            dedup(0.9, metric="jaccard") | knapsack | reverse,
        ),
        (
            'current() | latest("source") | greedy | document',
            current() | latest() | greedy | document,
        ),
        (
            'fresh("30d") | decay("12h", at="seen") | greedy',
            fresh("30d") | decay(dt.timedelta(hours=12), at="seen") | greedy,
        ),
        ('boost(source == "kb", 1.5) | greedy', boost(field("source") == "kb", 1.5) | greedy),
        ('normalize("rank") | greedy', normalize("rank") | greedy),
        ("greedy | chronological()", greedy | chronological()),
        (
            "greedy | chronological(newest_first=True)",
            greedy | chronological(newest_first=True),
        ),
        ('greedy | stable(["a", "b"])', greedy | stable(["a", "b"])),
        ("threshold(-1.5) | greedy", threshold(-1.5) | greedy),
        ("threshold(1e-07) | greedy", threshold(1e-7) | greedy),
    ],
)
def test_a_policy_prints_as_its_text_and_reads_back(text: str, policy: Policy) -> None:
    assert str(policy) == repr(policy) == text
    assert parse(text) == policy
    assert hash(parse(text)) == hash(policy)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  greedy  ", "greedy"),
        ("greedy|ushape", "greedy | ushape"),
        ("(greedy) | (ushape)", "greedy | ushape"),
        (
            "threshold(0.6) | (dedup() | (greedy | ushape))",
            "threshold(0.6) | dedup(0.85) | greedy | ushape",
        ),
        ("threshold(1) | mmr()", "threshold(1.0) | mmr(0.5)"),
        ("threshold(floor=0.5) | greedy", "threshold(0.5) | greedy"),
        ("threshold(-0.0) | greedy", "threshold(0.0) | greedy"),
        ("mmr(lambda_=0.7, metric='auto')", "mmr(0.7)"),
        ("\n\tthreshold(0.6)\r\n | greedy\n | ushape\n", "threshold(0.6) | greedy | ushape"),
        ("fresh('720h') | greedy", 'fresh("30d") | greedy'),
        ("greedy | stable(('a',))", 'greedy | stable(["a"])'),
        (
            "where(2023 <= year < 2025) | greedy",
            "where(year >= 2023 and year < 2025) | greedy",
        ),
        ("where('a' == status) | greedy", 'where(status == "a") | greedy'),
        ("where(2023 > year) | greedy", "where(year < 2023) | greedy"),
        ("where('a' not in tags) | greedy", 'where(not "a" in tags) | greedy'),
        ("where(year not in [1, 2]) | greedy", "where(not year in [1, 2]) | greedy"),
        ("where(year is not None) | greedy", "where(year is not None) | greedy"),
        ("where(not (a == 1 or b == 2)) | greedy",) * 2,
        ("where(a == 1 and b == 2 and c == 3) | greedy",) * 2,
        (
            "where(field('doc type') == 'x') | greedy",
            'where(field("doc type") == "x") | greedy',
        ),
    ],
)
def test_a_text_is_read_into_its_normal_form(text: str, normal: str) -> None:
    policy = parse(text)
    assert str(policy) == normal
    assert parse(normal) == policy


def test_a_catalog_of_ones_own_adds_words() -> None:
    mine = {**CATALOG, "half": threshold(0.5), "at_least": threshold}
    assert str(parse("half | at_least(0.7) | greedy", mine)) == (
        "threshold(0.5) | threshold(0.7) | greedy"
    )
    with pytest.raises(PackError, match="there is no stage 'half'"):
        parse("half | greedy")


def test_a_catalog_function_that_gives_no_stage_is_refused() -> None:
    with pytest.raises(PackError, match="3 is no stage") as caught:
        parse("three()", {"three": lambda: 3})  # type: ignore[dict-item, return-value]
    assert caught.value.code == "INVALID_POLICY"


# -- wrong texts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "suggestion"),
    [
        ("", 1, 1, "greedy"),
        ("  \n ", 1, 1, "greedy"),
        ("gredy", 1, 1, "greedy"),
        ("threshold(0.6) | gredy", 1, 18, "greedy"),
        ("threshold(0.6) |\n  gredy", 2, 3, "greedy"),
        ("threshold(0.6)\r\n| gredy", 2, 3, "greedy"),
        ("threshold(0.6)\r| gredy", 2, 3, "greedy"),
        ("where(status == 'gültig 東京') | gredy", 1, 32, "greedy"),
        ("where(status == '🙂')\n| gredy", 2, 3, "greedy"),
        ("   gredy", 1, 4, "greedy"),
        ("threshold | greedy", 1, 1, "threshold(floor)"),
        ("greedy | mmr", 1, 10, "mmr()"),
        ("greedy()", 1, 1, "greedy"),
        ("threshold(0.6) | greedy()", 1, 18, "greedy"),
        ("mmr(lambda=1)", 1, 11, None),  # a word of Python's: a syntax error there
        ("mmr(lamda=1)", 1, 5, "lambda_"),
        ("threshold(0.6) | mmr(0.7, matric='auto')", 1, 27, "metric"),
        ("mmr(lambda_=0.2, lambda_=0.7)", 1, 18, None),
        ("threshold() | greedy", 1, 1, "threshold(floor)"),
        ("threshold(0.6, 0.7) | greedy", 1, 1, "threshold(floor)"),
        ("dedup(0.9, 'cosine') | greedy", 1, 1, "dedup()"),
        ("greedy | threshold(0.6)", 1, 10, None),
        ("threshold(0.6) | ushape", 1, 18, None),
        ("threshold(0.6) | (greedy | mmr()) | ushape", 1, 28, None),
        ("greedy | 3", 1, 10, None),
        ("greedy & ushape", 1, 1, None),
        ("greedy.fill", 1, 1, None),
        ("[greedy]", 1, 1, None),
        ("threshold(x) | greedy", 1, 11, None),
        ("threshold(0.3 + 0.3) | greedy", 1, 11, None),
        ("threshold(__import__('os').getcwd()) | greedy", 1, 11, None),
        ("where(year) | greedy", 1, 7, None),
        ("where(1 == 2) | greedy", 1, 7, None),
        ("where(a == 1 and 3) | greedy", 1, 18, None),
        ("where(year is 3) | greedy", 1, 7, None),
        ("where(year in 3) | greedy", 1, 7, None),
        ("where(year in 'kb') | greedy", 1, 7, None),
        ("where(year == None) | greedy", 1, 7, None),
        ("where(field(3) == 1) | greedy", 1, 7, None),
        ("where(*a) | greedy", 1, 7, None),
        ("mmr(**a)", 1, 7, None),
        ("threshold(0.6", 1, 10, None),
        ("greedy | | ushape", 1, 10, None),
        ("greedy | ushape)", 1, 16, None),
        ("greedy ushape", 1, 8, None),
        ("greedy |", 1, 9, None),
        ("greedy; ushape", 1, 7, None),
    ],
)
def test_a_fault_has_its_line_column_and_suggestion(
    text: str, line: int, column: int, suggestion: str | None
) -> None:
    found = place(text)
    assert found[2] == suggestion
    assert found[:2] == (line, column)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gredy", "line 1, column 1: there is no stage 'gredy'; did you mean greedy?"),
        ("qqqq", "line 1, column 1: there is no stage 'qqqq'; there are threshold, max_candidates"),
        ("mmr", "line 1, column 1: mmr is called; write mmr()"),
        ("greedy()", "line 1, column 1: greedy takes no brackets"),
        ("mmr(lamda=1)", "mmr has no parameter 'lamda'; did you mean lambda_?"),
        ("top(qq=1) | greedy", "top has no parameter 'qq'; it takes n"),
        ("top() | greedy", "top: missing a required argument: 'n'; write top(n)"),
        ("greedy | top(3)", "greedy | top(3) does not compose: greedy takes candidates (Pool)"),
        ("greedy | 3", "line 1, column 10: 3 is no stage; stages are joined by |"),
        ("top(x) | greedy", "x is no literal; arguments are numbers, text in quotes"),
        ("where(1 == 2) | greedy", "1 and 2 are both values; name a metadata key"),
        ("where(a is 3) | greedy", "a cannot be compared like this"),
        ("where(a == 1 and b) | greedy", 'b is no condition; compare a key, as in status == "cur'),
        ("where((a == 1) | (b == 2)) | greedy", "joins conditions as code does; write and, or, no"),
        ("blend", "line 1, column 1: blend is called; write blend(key=1.0)"),
        ("blend(**3) | greedy", "column 9: 3 after ** is no mapping; write **{"),
        ("blend(**{3: 1.0}) | greedy", "{3: 1.0} after ** is no mapping; write **{"),
        ('blend(a=1, **{"a": 2}) | greedy', "column 12: blend has 'a' twice"),
        ('top(**{"n": 2}) | greedy', "top has no parameter None; it takes n"),
        ("blend(a=b) | greedy", "b is no literal"),
        ('blend(a="x") | greedy', "line 1, column 1: blend: a is 'x'; give a finite number"),
        ("", "line 1, column 1: the policy is empty"),
    ],
)
def test_a_fault_says_what_is_wrong_and_what_to_write(text: str, words: str) -> None:
    with pytest.raises(PackError) as caught:
        parse(text)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("dedup(1.5) | greedy", 1, 1),
        ("threshold(0.6) |\n mmr(7)", 2, 2),
        ("where(a == 'é') | dedup(0) | greedy", 1, 19),
        ("top(-1) | greedy", 1, 1),
        ("fresh(30) | greedy", 1, 1),
    ],
)
def test_a_value_outside_its_range_has_its_place_too(text: str, line: int, column: int) -> None:
    code, details = refused(text)
    assert code == "INVALID_PARAMETER"
    assert (details["line"], details["column"], details["text"]) == (line, column, text)
    assert "parameter" in details


@pytest.mark.parametrize("text", ["threshold(0.6)", "ushape", "dedup() | top(3)"])
def test_a_text_that_selects_nothing_is_no_policy(text: str) -> None:
    code, details = refused(text)
    assert code == "INVALID_POLICY"
    assert details["policy"] == str(parse_parts(text))


def parse_parts(text: str) -> object:
    return {"threshold(0.6)": threshold(0.6), "ushape": ushape}.get(text, dedup() | top(3))


@pytest.mark.parametrize("text", [None, 3, b"greedy", greedy])
def test_what_is_no_text_is_refused(text: Any) -> None:
    code, details = refused(text)
    assert (code, list(details)) == ("INVALID_POLICY", ["value"])


@pytest.mark.parametrize(
    "text",
    [
        "(" * 500 + "greedy" + ")" * 500,
        "where(" + "not " * 100_000 + "a == 1) | greedy",
        "greedy | \0",
        "top(" + "9" * 5000 + ") | greedy",
        "lambda: 3",
        "greedy | \ud800",
    ],
    ids=["brackets", "nots", "null", "digits", "lambda", "surrogate"],
)
def test_a_hostile_text_is_no_policy_and_no_crash(text: str) -> None:
    assert refused(text)[0] == "INVALID_POLICY"


def first(chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
    return chunks[:1]


def test_a_text_deeper_than_python_recurses_is_no_policy() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        assert place("where(" + "not " * 2000 + "a == 1) | greedy") == (1, 1, None)
    finally:
        sys.setrecursionlimit(limit)


def test_a_function_cannot_be_named_in_a_text() -> None:
    assert place("custom(first)")[:2] == (1, 8)
    assert str(custom(first)) == "custom(first)"


def test_a_text_with_a_doubtful_escape_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert str(parse(r"where(a == '\d') | greedy")) == r'where(a == "\\d") | greedy'
        assert place("1 is 1")[:2] == (1, 1)


def test_a_comment_never_loses_a_stage() -> None:
    try:
        policy = parse("threshold(0.5) | greedy # note\n| ushape")
    except PackError as error:
        assert error.code == "INVALID_POLICY"  # noqa: PT017  # to refuse is right, to lose is not
        assert (error.details["line"], error.details["column"]) == (1, 25)  # noqa: PT017
    else:
        assert policy == threshold(0.5) | greedy | ushape


@pytest.mark.parametrize("text", ["greedy | stable(None)", "greedy | stable(3)"])
def test_a_value_of_the_wrong_kind_is_an_error_with_its_place(text: str) -> None:
    code, details = refused(text)
    assert code == "INVALID_PARAMETER"
    assert (details["line"], details["column"]) == (1, 10)


def test_a_long_policy_is_flat_and_reads_back() -> None:
    text = " | ".join(["threshold(0.5)"] * 300 + ["greedy"])
    assert str(parse(text)) == text


REQUIRED: dict[str, tuple[Any, ...]] = {
    "threshold": (0.5,),
    "max_candidates": (3,),
    "top": (3,),
    "where": (field("k") == 1,),
    "fresh": ("1d",),
    "decay": ("1d",),
    "boost": (field("k") == 1, 2.0),
    "shrink": (0.5,),
    "pin": (field("k") == 1,),
    "cap": (3,),
    "custom": (lambda chunks, _: chunks,),
    "sorted_by": (lambda chunk: chunk.score,),
    "stable": (["a"],),
}
BY_NAME: dict[str, dict[str, Any]] = {
    "utility": {"intercept": 0.0, "slope": 1.0},
    "blend": {"key": 1.0},
}


@pytest.mark.parametrize("word", [word for word, made in CATALOG.items() if callable(made)])
def test_what_a_stage_takes_by_name_and_by_default_is_the_same_in_text(word: str) -> None:
    """The parameters of the function and the fields of the stage, which are read and written."""
    made: Any = CATALOG[word]
    if isinstance(made, Step):
        assert made.is_constant
        assert repr(made) == word
        return
    stage = made(*REQUIRED.get(word, ()), **BY_NAME.get(word, {}))
    assert not stage.is_constant
    fields = {one.alias: one for one in attrs.fields(type(stage))}
    for parameter in inspect.signature(made).parameters.values():
        one = fields[parameter.name]
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            continue
        assert one.kw_only == (parameter.kind is parameter.KEYWORD_ONLY)
        assert one.default == (
            attrs.NOTHING if parameter.default is parameter.empty else parameter.default
        )
