"""What is read as a fact, and in which facts two texts differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.disagreements import differences
from packer.facts import KINDS, facts, signature, words
from packer.records import Difference
from tests.generators import TEXTS

ODD = st.sampled_from(TEXTS) | st.text() | st.text("aN't0159 .,-:$%\n\u2019MayAugust", max_size=40)


@given(ODD)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert differences(text, text) == ()
    assert signature(text) == signature(text)


@given(ODD, ODD)
def test_what_differs_is_written_in_the_texts(kept: str, other: str) -> None:
    """Any texts are read, and what is named stands in the one or the other."""
    for found in differences(kept, other):
        assert found.kind in KINDS
        assert found.kept or found.other
        assert found.kept in " ".join(kept.split())
        assert found.other in " ".join(other.split())
    if signature(kept) == signature(other):
        assert differences(kept, other) == ()


@given(ODD)
def test_words_cover_the_letters_and_the_digits(text: str) -> None:
    """Nothing between two words is a letter or a digit, but for what no pattern takes."""
    for word in words(text):
        assert word.written in " ".join(text.split())
        assert word.meaning


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("within 30 days", ["number 30 day"]),
        ("within thirty days", ["number 30 day"]),
        ("twenty-five guests, one of them", ["number 25 guest"]),
        ("one day", ["number 1 day"]),
        ("€1,000.50 or 1000.5 EUR", ["number 1000.5 euro", "number 1000.5 euro"]),
        ("20 % or 20 percent", ["number 20 percent", "number 20 percent"]),
        ("5-7 business days at -5 °C", ["number 5", "number 7 day", "number -5 °c"]),
        ("the 2nd of 10,000 at 10:30", ["number 2", "number 10000", "number 10:30"]),
        ("version v2.1 of SKU-12", ["number v2.1", "number sku-12"]),
        ("on 1 May 2024", ["date 2024-5-1"]),
        ("on May 1st, 2024", ["date 2024-5-1"]),
        ("on the 1st of May", ["date -5-1"]),
        ("on 2024-05-01", ["date 2024-5-1"]),
        ("in Sept. 2021, and you may go", ["date 2021-9-"]),
        ("at 2024-05-01T10:30:00Z", ["date 2024-5-1-10-30-0"]),
        ("it isn't, cannot, won't, never", ["negation not"] * 4),
        ("Ask Berlin. Ask DHL.", ["name berlin", "name dhl"]),
        ("Ask Berlin's mayor", ["name berlin"]),
        ("返品は30日以内", ["number 30"]),
        ("I saw it", []),
    ],
)
def test_worked_facts(text: str, found: list[str]) -> None:
    assert list(signature(text)) == found


def test_two_ways_to_write_a_thing_are_one() -> None:
    for left, right in [
        ("It does not ship.", "It doesn't ship."),
        ("You can not.", "You cannot."),
        ("It won\u2019t do.", "It will not do."),
        ("5 EUR", "€5"),
        ("3 hrs", "3 hours"),
    ]:
        assert [word.meaning for word in words(left)] == [word.meaning for word in words(right)]


@pytest.mark.parametrize(
    ("kept", "other", "found"),
    [
        ("Returns within 30 days.", "Returns within 14 days.", [("number", "30 days", "14 days")]),
        ("Returns within 30 days.", "Returns within thirty days!", []),
        ("It takes 30 days.", "It takes 30 hours.", [("number", "30 days", "30 hours")]),
        (
            "A costs 5 and B costs 3.",
            "A costs 3 and B costs 5.",
            [("number", "5", "3"), ("number", "3", "5")],
        ),
        ("Pay 5 EUR within 30 days.", "Within 30 days pay 5 EUR.", []),
        (
            "Open from May 1, 2024.",
            "Open from 2 May 2024.",
            [("date", "May 1, 2024", "2 May 2024")],
        ),
        ("Open from May 1, 2024.", "Open from 2024-05-01.", []),
        (
            "Our office in Berlin opens.",
            "Our office in Munich opens.",
            [("name", "Berlin", "Munich")],
        ),
        ("Refundable within reason.", "Not refundable within reason.", [("negation", "", "Not")]),
        ("It is not refundable.", "It is refundable.", [("negation", "not", "")]),
        ("It is not refundable.", "It is never refundable.", []),
        ("It costs 5 EUR.", "It costs 5 EUR, 3 for members.", [("number", "", "3")]),
        ("It costs 5 EUR, 3 for members.", "It costs 5 EUR.", []),
        ("Free shipping today.", "Free delivery now.", []),
        ("We pay 5 EUR for it.", "Seven people walked in Berlin.", []),  # nothing in common
        ("It costs 5 EUR.", "It costs 5 EUR. " + "more words follow here " * 3 + "9.", []),
        (
            "It costs 5 EUR.",
            "It costs 5 EUR. " + "more words follow " * 3 + "9.",
            [("number", "", "9")],
        ),
    ],
)
def test_worked_differences(kept: str, other: str, found: list[tuple[str, str, str]]) -> None:
    assert list(differences(kept, other)) == [Difference(*one) for one in found]


def test_a_passage_lacks_the_negation_of_what_stands_around_it() -> None:
    whole, passage = "We ship daily. We do not ship abroad.", "We ship daily."
    assert differences(whole, passage, inside=True) == ()
    assert differences(whole, passage) == (Difference("negation", "not", ""),)


def test_facts_keep_how_they_are_written() -> None:
    assert [fact.written for fact in facts("Since  May\n1, 2024 it's 5 %.")] == [
        "May 1, 2024",
        "5 %",
    ]
