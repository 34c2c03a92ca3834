r"""The terms that lexical matching counts: folded words by their stem, bigrams without blanks.

Stems are Snowball's (the package PyStemmer, imported where it is used).  Scripts that put no
blanks between words, and Hangul, whose words carry their particles, are taken by overlapping
pairs of characters.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, final

import attrs
import numpy as np

from .arrays import Ints, sealed

__all__ = ["LANGUAGES", "Counts", "counted", "is_word_in", "query_terms"]

LANGUAGES: Final = (
    "english",
    "none",
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "czech",
    "danish",
    "dutch",
    "esperanto",
    "estonian",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "persian",
    "polish",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "sesotho",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
)
"""Those that have a stemmer, and "none", which takes words as they are."""

_BLANKED: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_TYPESET: Final = (
    *((mark, "") for mark in "\xad\u200c\u200d\ufeff"),  # unseen, inside words
    *((mark, "'") for mark in "\u2018\u2019"),
    *((mark, " ") for mark in "\xa0\u2013\u2014\u201c\u201d\u2026"),
)
"""What typesetting adds to plain text, and what it stands for: without it most English is ASCII."""
_WORDS: Final = re.compile(r"[^\W_]+")
_BEYOND: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u1dff\u20d0-\u20ff\u2c00-\U0010ffff]"
)
"""What may be a mark of its own or a script without blanks; of the rest `_WORDS` has the words."""

_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_TERMS: Final = (
    rf"(?V1)(?P<run>[[{_UNSPACED}]&&[\p{{L}}\p{{N}}]][[{_UNSPACED}\p{{M}}]&&[\p{{L}}\p{{N}}\p{{M}}]]*+)"
    rf"|[[\p{{L}}\p{{N}}]--[{_UNSPACED}]][[\p{{L}}\p{{N}}\p{{M}}]--[{_UNSPACED}]]*+"
)
_ELIDED: Final = re.compile(r"\b[^\W\d_]{1,2}'(?:[^\W\d_]{1,2}\b)?|'[^\W\d_]{1,2}\b")
"""What stands beside an apostrophe in "l'eau", "what's" and "we'll"."""


@final
@attrs.frozen(eq=False)
class Counts:
    """How often each of q terms is in each of n texts: int64[n, q], and their lengths int64[n]."""

    terms: tuple[str, ...]
    language: str
    times: Ints
    lengths: Ints

    def take(self, rows: Ints) -> "Counts":
        """Those of these texts."""
        times, lengths = sealed(self.times[rows]), sealed(self.lengths[rows])
        return Counts(self.terms, self.language, times, lengths)


def folded(text: str, language: str = "none") -> str:
    r"""The text in lower case and, beyond ASCII, in Unicode's compatibility form.

    Under "english" without accents too, which writers of English leave out of names.  Elsewhere
    they tell words apart, and the stemmer of the language knows of them.

    >>> folded("Beyoncé\u2019s ﬁlm", "english"), folded("Müller", "german")
    ("beyonce's film", 'müller')
    """
    if text.isascii():
        return text.lower()
    for mark, plain in _TYPESET:
        text = text.replace(mark, plain)
    if text.isascii():
        return text.lower()
    if language != "english":
        return unicodedata.normalize("NFKC", text.casefold())
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare)


def split(text: str) -> list[str]:
    """The words and bigrams of a folded text, in its order.  O(length).

    >>> split("refunds: 5 days, 返品は5日"), split("猫")
    (['refunds', '5', 'days', '返品', '品は', '5', '日'], ['猫'])
    """
    if text.isascii():
        return text.translate(_BLANKED).split()
    if not _BEYOND.search(text):
        return _WORDS.findall(text)
    import regex

    found: list[str] = []
    for match in regex.finditer(_TERMS, text):
        term = match.group()
        if match.group("run") and len(term) > 1:
            found += map("".join, itertools.pairwise(term))
        else:
            found.append(term)
    return found


def query_terms(query: str, language: str) -> tuple[str, ...]:
    """The distinct terms of a query in its order, without stop words.

    A query of stop words alone keeps them all: "The Who" asks for something.

    >>> query_terms("How long do refunds take? What's the refund policy?", "english")
    ('long', 'refund', 'take', 'polici')
    >>> query_terms("Who are you?", "english")
    ('who', 'are', 'you')
    """
    from .stop_words import STOP_WORDS

    text = folded(query, language)
    words = split(_ELIDED.sub(" ", text)) or split(text)
    left_out = STOP_WORDS.get(language, frozenset())
    telling = [word for word in words if word not in left_out] or words
    return tuple(dict.fromkeys(_stems(telling, language)))


def counted(texts: Sequence[str], terms: tuple[str, ...], language: str) -> Counts:
    """How often each of these terms is in each text.  O(characters).

    A term of one ideograph is counted inside runs too, where texts have it in pairs alone.

    >>> found = counted(["Refund policy: refunds", "No returns"], ("refund", "polici"), "english")
    >>> found.times.tolist(), found.lengths.tolist()
    ([[2, 1], [0, 0]], [3, 2])
    """
    forms = [folded(text, language) for text in texts]
    words = [split(form) for form in forms]
    vocabulary = _like(set().union(*words), terms, language)
    wanted = {term: at for at, term in enumerate(terms)}
    places = {
        word: wanted[stem]
        for word, stem in zip(vocabulary, _stems(vocabulary, language), strict=True)
        if stem in wanted
    }
    times = np.zeros((len(texts), len(terms)), np.int64)
    for row, found in enumerate(words):
        hits = [places[word] for word in found if word in places]
        if hits:
            times[row] = np.bincount(hits, minlength=len(terms))
    for at, term in enumerate(terms):
        if len(term) == 1 and _is_unspaced(term):
            times[:, at] = [form.count(term) for form in forms]
    lengths = np.array([len(found) for found in words], np.int64)
    return Counts(terms, language, sealed(times), sealed(lengths))


def is_word_in(text: str, word: str) -> bool:
    """Whether a word is in the text and no part of a longer one.

    Scripts without blanks, and Hangul with its particles, do not say where a word ends: an edge of
    the word in one of them, or beside one, is an end.  O(length).

    >>> is_word_in("in 1935", "35"), is_word_in("35歳です", "35"), is_word_in("首都は東京です", "東京")
    (False, True, True)
    """
    if not word or word not in text:
        return False
    if text.isascii():
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
    import regex

    inside = rf"[\w--[{_UNSPACED}]]"
    before = "" if _is_unspaced(word[0]) else f"(?<!{inside})"
    after = "" if _is_unspaced(word[-1]) else f"(?!{inside})"
    return regex.search(f"(?V1){before}{regex.escape(word)}{after}", text) is not None


def _like(words: Iterable[str], terms: Sequence[str], language: str) -> Sequence[str]:
    """The words whose stem may be one of the terms: to stem them all is most of the work.

    The English stemmer leaves the first two letters, but for a y that becomes i ("dying", "die").
    """
    if language != "english":
        return list(words)
    heads = {term[:2].replace("y", "i") for term in terms}
    single = {head for head in heads if len(head) == 1}  # as what it makes of "oed"
    return [
        word for word in words if (head := word[:2].replace("y", "i")) in heads or head[0] in single
    ]


def _is_unspaced(character: str) -> bool:
    if character.isascii():
        return False
    import regex

    return regex.match(rf"[{_UNSPACED}]", character) is not None


def _stems(words: Sequence[str], language: str) -> Sequence[str]:
    if language == "none":
        return words
    import Stemmer

    stems: list[str] = Stemmer.Stemmer(language).stemWords(words)
    return stems
