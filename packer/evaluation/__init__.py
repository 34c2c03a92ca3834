"""Policies measured on labelled queries: which one packs the answer, and how sure that is.

    budgets.py     those that are taken when none are given
    cases.py       labelled queries
    reading.py     files and tables -> labelled queries
    measures.py    what is measured of a pack
    runs.py        policies x queries x budgets -> measures
    resampling.py  bootstrap intervals, sign-flip p-values, Holm
    evaluating.py  `evaluate`
    results.py     `Evaluation`, what it found
    markdown.py    an evaluation as Markdown
    page.py        an evaluation as one HTML page
    curves.py      the curves on it
    page.css       its style, beside that of every page
    tuning.py      `tune`: a policy chosen, and what the choice gains on other queries
    search_space.py  what tuning tries
    gains.py       gains on queries that were held back, and their intervals
    tuned.py       `Tuning`, what it found

It stands on `strategies`; `import packer` imports none of it.
"""

from typing import TYPE_CHECKING, Final

from packer.lazy_names import lazy_names

if TYPE_CHECKING:
    from .budgets import BUDGETS, TUNING_BUDGETS
    from .cases import Case, CaseSet, case
    from .evaluating import evaluate
    from .gains import Gain
    from .measures import MEASURES, TITLES
    from .reading import cases_from_table, read_cases
    from .results import MEAN_OF_SETS, Cell, Change, Contrast, Evaluation, Figure
    from .tuned import Tuning
    from .tuning import tune

__all__ = [
    "BUDGETS",
    "MEAN_OF_SETS",
    "MEASURES",
    "TITLES",
    "TUNING_BUDGETS",
    "Case",
    "CaseSet",
    "Cell",
    "Change",
    "Contrast",
    "Evaluation",
    "Figure",
    "Gain",
    "Tuning",
    "case",
    "cases_from_table",
    "evaluate",
    "read_cases",
    "tune",
]

_HOMES: Final = {
    "BUDGETS": "budgets",
    "TUNING_BUDGETS": "budgets",
    "Case": "cases",
    "CaseSet": "cases",
    "case": "cases",
    "evaluate": "evaluating",
    "MEASURES": "measures",
    "TITLES": "measures",
    "cases_from_table": "reading",
    "read_cases": "reading",
    "MEAN_OF_SETS": "results",
    "Cell": "results",
    "Change": "results",
    "Contrast": "results",
    "Evaluation": "results",
    "Figure": "results",
    "Gain": "gains",
    "Tuning": "tuned",
    "tune": "tuning",
}
"""The modules that are imported when one of their names is asked for: `packer pack` needs none."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
