"""The facts that a text states in words that can be compared: numbers, dates, names, negations.

For telling a near-copy that says something else from one that says the same.  Rules of English
and of digits, no model: what they see and what not stands in `docs/conflicts.md`.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

__all__ = ["KINDS", "Word", "facts", "signature", "words"]

KINDS: Final = ("number", "date", "name", "negation")
"""The kinds of facts."""


class Word(NamedTuple):
    """A word or a fact as it stands in a text: `kind` is "word" or that of a fact.

    `meaning` is equal for two ways to write the same: "1,000" and "1000", "1 May 2024" and
    "2024-05-01", "don't" and "do not".
    """

    kind: str
    meaning: str
    written: str


def facts(text: str) -> tuple[Word, ...]:
    """The numbers, dates, names and negations of a text, in their order.  O(characters).

    >>> [fact.written for fact in facts("Since May 1, 2024 Berlin doesn't ship within 14 days.")]
    ['May 1, 2024', 'Berlin', "doesn't", '14 days']
    """
    return tuple(word for word in words(text) if word.kind != "word")


def signature(text: str) -> tuple[str, ...]:
    """What two texts have in common that state the same facts in the same order.

    >>> signature("Refunds take five days.") == signature("Refunds take 5 days!")
    True
    """
    return tuple(f"{fact.kind} {fact.meaning}" for fact in facts(text))


# -- reading --------------------------------------------------------------------------------

_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_MONTH: Final = "|".join(f"{name}|{name[:3]}\\.?|{name.upper()}" for name in _MONTHS) + "|Sept\\.?"

_BEGIN_DATES: Final = frozenset(name[:3].lower() for name in _MONTHS)

_UNITS: Final[Mapping[str, str]] = {
    **{
        form: one
        for one in ["second", "minute", "hour", "day", "night", "week", "month", "quarter", "year", "person", "people", "guest", "item", "piece", "page", "point", "time", "byte", "meter", "metre", "mile", "inch", "foot", "pound", "ounce", "ton", "percent", "user", "seat", "employee", "degree", "euro", "dollar", "cent"]
        for form in (one, f"{one}s")
    },
    "%": "percent", "per cent": "percent", "pct": "percent",
    "feet": "foot", "inches": "inch",
    "h": "hour", "hr": "hour", "hrs": "hour", "min": "minute", "mins": "minute", "sec": "second",
    "€": "euro", "eur": "euro", "$": "dollar", "usd": "dollar", "£": "gbp", "gbp": "gbp",
    "¥": "yen", "chf": "chf",
    **{
        unit: unit
        for unit in ["km", "m", "cm", "mm", "kg", "g", "mg", "lb", "lbs", "oz", "l", "ml", "kb", "mb", "gb", "tb", "kw", "kwh", "w", "v", "ms", "°c", "°f", "hundred", "thousand", "million", "billion", "trillion"]
    },
}  # fmt: skip
"""How a unit may be written, in lower case, and which it is."""

_SMALL: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SPELLED: Final[Mapping[str, int]] = {
    **{word: number for number, word in enumerate(_SMALL)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    **{
        f"{ten}{dash}{word}": 10 * tens + number
        for tens, ten in enumerate(_TENS, 2)
        for number, word in enumerate(_SMALL[1:10], 1)
        for dash in ("-", " ")
    },
}
_NEGATIONS: Final = frozenset(
    ["not", "no", "never", "none", "neither", "nor", "nobody", "nothing", "nowhere", "without"]
)
_STEMS: Final[Mapping[str, str]] = {"wo": "will", "ca": "can", "sha": "shall"}

_UNIT: Final = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,:]\d+)*"
_YEAR: Final = r"(?:,?\s+\d{4})?"
_ORDINAL: Final = r"(?:st|nd|rd|th)?"
_MEASURE: Final = (
    rf"(?:[\s-]?(?:(?i:business|working|calendar)\s+)?(?P<unit>(?i:{_UNIT})))?(?![A-Za-z0-9])"
)
_TOKEN: Final = re.compile(
    rf"""
    (?P<iso>(?<!\d)\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}(?!\d)
        (?:T\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?)
    | (?P<date>(?<![A-Za-z0-9])\d{{1,2}}{_ORDINAL}\s+(?:of\s+)?(?:{_MONTH}){_YEAR}(?![A-Za-z0-9]))
    | (?P<number>(?<![A-Za-z0-9.])(?P<money>[€$£¥]\s?)?(?P<sign>(?<!\w)[-\u2212](?=\d))?
        (?P<digits>{_NUMBER}){_ORDINAL}{_MEASURE})
    | (?P<code>(?<![A-Za-z0-9])(?=[A-Za-z]*[._-]?\d)[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*)
    | (?P<word>[^\W\d_]+(?:['\u2019][^\W\d_]+)*)
    """,
    re.VERBOSE,
)
_OF_MONTH: Final = re.compile(
    rf"(?:{_MONTH})\s+(?:\d{{1,2}}{_ORDINAL}{_YEAR}|\d{{4}})(?![A-Za-z0-9])"
)
_OF_WORDS: Final = re.compile(
    rf"(?P<spelled>(?i:{'|'.join(sorted(_SPELLED, key=len, reverse=True))})){_MEASURE}"
)
"""Where a word begins a date or a number, what the whole is."""
_STARTS: Final = re.compile(r"[.!?:;\n\r•|#*>\u2013\u2014-]")
"""After one of these a capital letter says nothing."""


def words(text: str) -> Iterator[Word]:
    """The words and facts of a text; a contraction gives two.  O(characters)."""
    end = 0
    while found := _TOKEN.search(text, end):
        before, end = end, found.end()
        if found.lastgroup != "word":
            yield _of_digits(found)
            continue
        written = found.group()
        longer = _longer(text, found)
        if longer is not None:
            end = longer.end()
            yield _of_words(longer)
        else:
            starts = before == 0 or (
                written[0].isupper() and _STARTS.search(text, before, found.start()) is not None
            )
            yield from _of_word(written, starts=starts)


def _longer(text: str, found: "re.Match[str]") -> "re.Match[str] | None":
    """The date or the number that a word begins, None where it begins none."""
    first = found.group().lower()
    if first in _SPELLED:
        return _OF_WORDS.match(text, found.start())
    if first[:3] in _BEGIN_DATES:
        return _OF_MONTH.match(text, found.start())
    return None


def _of_words(found: "re.Match[str]") -> Word:
    written = " ".join(found.group().split())
    if found.re is _OF_MONTH:
        return Word("date", _date(written), written)
    value = str(_SPELLED[found["spelled"].lower()])
    if value in {"0", "1"} and not found["unit"]:  # "one of them"
        return Word("word", value, written)
    return Word("number", _measured(value, found["unit"]), written)


def _of_digits(found: "re.Match[str]") -> Word:
    written = " ".join(found.group().split())
    if found.lastgroup == "code":
        return Word("number", written.casefold(), written)
    if found.lastgroup == "number":
        sign = "-" if found["sign"] else ""
        unit = found["unit"] or (found["money"] or "").strip()
        return Word("number", _measured(sign + _plain(found["digits"]), unit), written)
    return Word("date", _date(written), written)


def _of_word(written: str, *, starts: bool) -> Iterator[Word]:
    folded = written.casefold()
    if not folded.isalpha():
        folded = folded.replace("\u2019", "'")
    if folded in _NEGATIONS:
        yield Word("negation", "not", written)
    elif folded == "cannot" or (folded.endswith("n't") and len(folded) > len("n't")):
        stem = folded.removesuffix("n't").removesuffix("not")
        yield Word("word", _STEMS.get(stem, stem), written)
        yield Word("negation", "not", written)
    elif not written.islower() and (
        sum(map(str.isupper, written)) > 1
        or (written[0].isupper() and not starts and len(written) > 1)
    ):
        yield Word("name", folded.removesuffix("'s"), written)
    else:
        yield Word("word", folded, written)


def _measured(value: str, unit: str | None) -> str:
    written = (unit or "").lower()
    return f"{value} {_UNITS.get(written, written)}".strip()


def _plain(digits: str) -> str:
    """The digits without what only groups them: 1,000.50 and 1000.5 are one number."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        digits = digits.replace(",", "")
    try:
        return f"{Decimal(digits).normalize():f}"
    except InvalidOperation:  # 10:30, 1.2.3
        return digits


def _date(written: str) -> str:
    """Year, month and day, as far as they are written, and the time."""
    numbers = re.findall(r"\d+", written)
    if re.match(r"\d{4}[-/]", written):
        return "-".join(str(int(number)) for number in numbers)
    names = re.search(r"[A-Za-z]{3,}", re.sub(r"\d+(?:st|nd|rd|th)", "", written))
    month = (
        1 + [name[:3].lower() for name in _MONTHS].index(names.group()[:3].lower()) if names else 0
    )
    year = next((number for number in numbers if len(number) == 4), "")
    day = next((str(int(number)) for number in numbers if len(number) <= 2), "")
    return f"{year}-{month}-{day}"
