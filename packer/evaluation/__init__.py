"""Policies measured on labelled queries: which one packs the answer, and how sure that is.

    cases.py       labelled queries
    reading.py     files and tables -> labelled queries
    measures.py    what is measured of a pack
    runs.py        policies x queries x budgets -> measures
    resampling.py  bootstrap intervals, sign-flip p-values, Holm
    comparison.py  `evaluate`
    results.py     `Evaluation`, what it found
    tables.py      an evaluation as Markdown
    page.py        an evaluation as one HTML page
    curves.py      the curves on it

It stands on `strategies`; `import packer` imports none of it.
"""

from .cases import Case, CaseSet, case
from .comparison import BUDGETS, evaluate
from .measures import MEASURES, TITLES
from .reading import cases_from_table, read_cases
from .results import MEAN_OF_SETS, Cell, Change, Difference, Evaluation, Figure

__all__ = [
    "BUDGETS",
    "MEAN_OF_SETS",
    "MEASURES",
    "TITLES",
    "Case",
    "CaseSet",
    "Cell",
    "Change",
    "Difference",
    "Evaluation",
    "Figure",
    "case",
    "cases_from_table",
    "evaluate",
    "read_cases",
]
