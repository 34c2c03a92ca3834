import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import terms as terms_module
from packer.stop_words import STOP_WORDS
from packer.terms import LANGUAGES, counted, folded, query_terms, split
from tests.generators import TEXTS

WESTERN = st.text(
    st.characters(max_codepoint=0x2BFF).filter(
        lambda letter: not terms_module._BEYOND.search(letter)
    )
    | st.sampled_from("“”’–… ")  # noqa: RUF001
)
ANY = st.text() | st.lists(st.sampled_from(TEXTS)).map(" ".join)


# -- words and bigrams ----------------------------------------------------------------------


@given(WESTERN)
def test_western_text_is_split_alike_by_both_patterns(text: str) -> None:
    form = folded(text)
    beyond = " \u0b95"  # a Tamil letter, which the quick pattern leaves to the full one
    assert split(form + beyond) == [*split(form), "\u0b95"]


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_ascii_is_split_alike_by_all_patterns(text: str) -> None:
    assert split(text + " é") == [*split(text), "é"]


@given(
    st.text("aeiouybdgilnsxt", min_size=1, max_size=7),
    st.sampled_from(("", "s", "ed", "eds", "ing", "ings", "ies", "ly", "ied", "ying", "y")),
)
def test_the_english_stemmer_leaves_what_counting_relies_on(stem: str, ending: str) -> None:
    word = stem + ending
    [term] = query_terms(word, "english")
    assert counted([word], (term,), "english").times.tolist() == [[1]]


@given(ANY, ANY)
def test_texts_that_are_joined_have_the_terms_of_both(left: str, right: str) -> None:
    assert split(folded(left) + "\n" + folded(right)) == split(folded(left)) + split(folded(right))


@given(ANY)
def test_terms_are_parts_of_the_text_without_blanks_and_marks(text: str) -> None:
    form = folded(text)
    for term in split(form):
        assert term in form
        assert re.search(r"[\s_.,;:!?]", term) is None


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("...", []),
        ("Refunds: 5 days", ["refunds", "5", "days"]),
        ("max_tokens=3.5", ["max", "tokens", "3", "5"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("ﬁle ＡＢＣ", ["file", "abc"]),  # noqa: RUF001
        ("cafe\u0301 café", ["café", "café"]),
        ("re\xadfund می\u200cخواهم", ["refund", "میخواهم"]),  # noqa: RUF001
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("返品は三十日", ["返品", "品は", "は三", "三十", "十日"]),
        ("Python3で書く", ["python3", "で書", "書く"]),
        ("猫。犬", ["猫", "犬"]),
        ("환불은 가능", ["환불", "불은", "가능"]),
        ("サーバー", ["サー", "ーバ", "バー"]),
        ("ไทย", ["ไท", "ทย"]),
    ],
)
def test_split(text: str, terms: list[str]) -> None:
    assert split(folded(text)) == terms


# -- terms of a query -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "language", "terms"),
    [
        ("How long do refunds take?", "english", ("long", "refund", "take")),
        ("What's the refund's policy? We'll see.", "english", ("refund", "polici", "see")),
        ("refund refunds refunded", "english", ("refund",)),
        ("Who are you?", "english", ("who", "are", "you")),
        ("Who are you?", "none", ("who", "are", "you")),
        ("vitamin D", "english", ("vitamin", "d")),
        ("O'Brien", "english", ("brien",)),
        ("Beyoncé’s Dvořák", "english", ("beyonc", "dvorak")),  # noqa: RUF001
        ("Beyoncé", "none", ("beyoncé",)),
        ("이메일 환불", "english", ("이메", "메일", "환불")),
        ("ガイド", "english", ("ガイ", "イド")),
        ("'s", "english", ("s",)),
        ("?!", "english", ()),
        ("", "english", ()),
        ("Wie lange dauern Rückerstattungen?", "german", ("lang", "dau", "ruckerstatt")),
        ("Qu'est-ce que l'économie d'énergie ?", "french", ("économ", "énerg")),
        ("返品は何日", "english", ("返品", "品は", "は何", "何日")),
        ("猫", "none", ("猫",)),
    ],
)
def test_query_terms(query: str, language: str, terms: tuple[str, ...]) -> None:
    assert query_terms(query, language) == terms


@given(ANY, st.sampled_from(LANGUAGES))
def test_terms_of_a_query_are_distinct_and_there_where_it_has_words(
    query: str, language: str
) -> None:
    terms = query_terms(query, language)
    assert len(set(terms)) == len(terms)
    assert bool(terms) == bool(split(folded(query, language)))


def test_every_language_has_a_stemmer() -> None:
    import Stemmer

    assert set(LANGUAGES) - {"none"} <= set(Stemmer.algorithms())


def test_lists_of_stop_words_are_folded_words_of_known_languages() -> None:
    assert set(STOP_WORDS) <= set(LANGUAGES)
    for words in STOP_WORDS.values():
        assert {word for word in words if split(folded(word)) != [word]} == set()


@pytest.mark.parametrize("word", ["first", "state", "computer", "research", "us", "won", "new"])
def test_words_that_people_ask_for_are_no_stop_words(word: str) -> None:
    assert word not in STOP_WORDS["english"]


@given(st.text("eéèëuüñcçøsrty", min_size=1, max_size=9))
def test_in_english_accents_make_no_difference(word: str) -> None:
    bare = folded(word, "english")
    assert query_terms(bare, "english") == query_terms(word, "english")
    terms = query_terms(bare, "english")
    assert counted([word], terms, "english").times.tolist() == [[1] * len(terms)]


# -- counting -------------------------------------------------------------------------------


@given(st.lists(ANY, max_size=5), ANY, st.sampled_from(("english", "none", "german", "arabic")))
def test_counts_are_those_of_the_stems_of_each_text(
    texts: list[str], query: str, language: str
) -> None:
    import Stemmer

    stem: Any = (lambda word: word) if language == "none" else Stemmer.Stemmer(language).stemWord
    terms = tuple(term for term in query_terms(query, language) if len(term) > 1)
    found = counted(texts, terms, language)
    words = [[stem(word) for word in split(folded(text, language))] for text in texts]
    assert found.lengths.tolist() == [len(text) for text in words]
    assert found.times.tolist() == [[text.count(term) for term in terms] for text in words]
    assert not found.times.flags.writeable
    assert not found.lengths.flags.writeable


def test_one_ideograph_is_found_inside_longer_runs() -> None:
    found = counted(["猫が好き", "黒猫と白猫", "犬", "a cat 猫"], ("猫", "a"), "none")
    assert found.times.tolist() == [[1, 0], [2, 0], [0, 0], [1, 1]]


def test_rows_of_counts_can_be_taken() -> None:
    found = counted(["a b", "b", "c"], ("b", "c"), "none").take(np.array([2, 0]))
    assert found.times.tolist() == [[0, 1], [1, 0]]
    assert found.lengths.tolist() == [1, 2]
