"""What a stage says of itself by its class: the library's stages say what is so, the kit heeds it."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from packer import Chunk, Filter, Pool, Scoring, Selection, Selector
from packer.algebra import Step
from packer.errors import InvalidParameter
from packer.parameters import function, number, numbers
from packer.testing import LawBroken, check_stage, laws_of, policies, stages
from packer.testing.calls import chunks_for
from packer.testing.material import NOW, QUERY
from packer.testing.parameter_values import by_id, by_length
from strategies import CATALOG, greedy, overlap
from tests.generators import SCORING, kind_of
from tests.sampling import sample

SCORES = (0.9, 0.5, 0.0, 0.25)


def pool_of(*scores: float) -> Pool:
    metadata = [{"source": "kb", "position": at, "year": at % 3} for at in range(len(scores))]
    given = [
        Chunk(f"Text {at}.", score, tokens=1, metadata=metadata[at])
        for at, score in enumerate(scores)
    ]
    return Pool.from_chunks(given, query=QUERY, now=NOW)


@pytest.mark.parametrize("word", SCORING)
def test_a_stage_that_refuses_negative_scores_says_so(word: str) -> None:
    refused = 0
    made = sample(stages(word), 20)
    for stage in made:
        try:
            stage(pool_of(*SCORES, -0.5))
        except InvalidParameter:
            refused += 1
    assert refused == (len(made) if kind_of(word).refuses_negative else 0)


@pytest.mark.parametrize("word", SCORING)
def test_a_stage_that_makes_negative_scores_says_so(word: str) -> None:
    least = min(stage(pool_of(*SCORES)).scores.min() for stage in sample(stages(word), 40))
    assert (least < 0) == kind_of(word).gives_negative


# -- a user's own stages -------------------------------------------------------------------


@attrs.frozen(repr=False)
class Root(Scoring):
    """The root of the score, which is none below 0."""

    name = "root"

    def __call__(self, pool: Pool, /) -> Pool:
        if (pool.scores < 0).any():
            raise InvalidParameter("root takes scores of 0 and more")
        return pool.rescore(np.sqrt(pool.scores))


class ToldRoot(Root):
    """The same, which says so."""

    name = "root"
    refuses_negative = True


def test_a_refusal_of_negative_scores_is_no_fault_where_it_is_told() -> None:
    with pytest.raises(LawBroken, match="root takes scores of 0 and more"):
        check_stage(Root())
    check_stage(ToldRoot(), max_examples=50)


@attrs.frozen(repr=False)
class Less(Scoring):
    """Lower by one."""

    name = "less"
    gives_negative = True

    def __call__(self, pool: Pool, /) -> Pool:
        return pool.rescore(pool.scores - 1.0)


def test_what_makes_negative_scores_stands_after_what_refuses_them() -> None:
    words = {"less": Less(), "root": ToldRoot(), "greedy": greedy}
    made = [repr(policy) for policy in sample(policies(words), 100)]
    both = [text for text in made if "less" in text and "root" in text]
    assert len(both) > 10
    assert all(text.rindex("root") < text.index("less") for text in both)


@attrs.frozen(repr=False)
class Listed(Selector):
    """What comes before the first that does not fit, all others out for the budget."""

    name = "listed"

    def __call__(self, pool: Pool, /) -> Selection:
        fit = int(np.searchsorted(np.cumsum(pool.costs), pool.budget, side="right"))
        beyond = np.arange(fit, len(pool))
        return pool.select(range(fit), cuts=[pool.cut("budget", beyond)])  # type: ignore[arg-type]


class ToldListed(Listed):
    """The same, which says so."""

    name = "listed"
    cuts_the_end = True


def test_the_end_may_be_out_for_the_budget_where_it_is_told() -> None:
    with pytest.raises(LawBroken) as caught:
        check_stage(Listed())
    assert caught.value.law == "reasons_are_true"
    assert "reasons_are_true" not in [law.name for law in laws_of(ToldListed())]
    check_stage(ToldListed(), max_examples=50)


@attrs.frozen(repr=False)
class Joined(Filter):
    """A filter by spans."""

    name = "joined"

    def __call__(self, pool: Pool, /) -> Pool:
        return pool


class ToldJoined(Joined):
    """The same, which says so."""

    name = "joined"
    reads_spans = True


def test_a_stage_that_reads_spans_gets_windows_of_one_text() -> None:
    def share(stage: Any) -> float:
        made = sample(chunks_for(stage), 100)
        of_book = [all(c.metadata.get("source") == "book" for c in one) for one in made if one]
        return sum(of_book) / len(of_book)

    assert share(Joined()) < 0.4
    assert min(share(ToldJoined()), share(overlap())) > 0.5


@attrs.frozen(repr=False)
class Line(Scoring):
    """One number, or points on a line."""

    name = "line"
    alternatives = (("slope",), ("knots", "values"))
    slope: float | None = number(kw_only=True, optional=True)
    knots: tuple[float, ...] | None = numbers(kw_only=True, optional=True)
    values: tuple[float, ...] | None = numbers(kw_only=True, optional=True)

    def __call__(self, pool: Pool, /) -> Pool:
        return pool


def test_of_alternatives_one_is_given() -> None:
    made = sample(stages("line", {"line": Line}), 60)
    given = {tuple(f.name for f in attrs.fields(Line) if getattr(m, f.name)) for m in made}
    assert given == {(), ("slope",), ("knots", "values")}  # a slope of 0.0 is none here
    assert all(len(m.knots) == len(m.values) for m in made if m.knots is not None)


@attrs.frozen(repr=False)
class Ranked(Scoring):
    """By a function of a chunk."""

    name = "ranked"
    by: Callable[[Chunk], Any] = function("key")

    def __call__(self, pool: Pool, /) -> Pool:
        return pool


def test_a_function_with_a_role_is_generated() -> None:
    made = sample(stages("ranked", {"ranked": Ranked}), 30)
    assert {stage.by for stage in made} == {by_length, by_id}


def test_the_defaults_hold_for_most_stages() -> None:
    facts = ("refuses_negative", "gives_negative", "reads_spans", "alternatives")
    assert [getattr(Step, fact) for fact in facts] == [False, False, False, ()]
    told = {word for word in CATALOG if any(getattr(kind_of(word), fact) for fact in facts)}
    assert told == {"decay", "boost", "neighbours", "blend", "utility", "overlap"}
