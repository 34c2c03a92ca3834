"""BM25: how well texts match the words of a query, each word weighing the more the rarer it is."""

from typing import Final

import numpy as np

from .arrays import Floats, sealed
from .terms import Counts

__all__ = ["bm25"]

K1: Final = 1.2
"""How soon further occurrences of a term add little."""

B: Final = 0.75
"""How much of a text's length, over the mean, counts against it."""


def bm25(counts: Counts) -> Floats:
    """float64[n], 0 or more: the BM25 of each text; the collection is the texts themselves.

    Over the terms t: idf(t) * f (k1 + 1) / (f + k1 (1 - b + b * length / mean length)), with f
    the times that the text has t, and idf(t) = ln(1 + (n - n_t + 0.5) / (n_t + 0.5)) with n_t the
    texts that have it; this form is never negative.  O(n q).

    Source: Robertson, Zaragoza, "The probabilistic relevance framework: BM25 and beyond",
    Foundations and Trends in Information Retrieval 3(4), 2009, section 3; the idf is Lucene's.

    >>> from packer.terms import counted
    >>> bm25(counted(["refund", "return"], ("refund",), "none")).round(6).tolist()
    [0.693147, 0.0]
    """
    texts = len(counts.lengths)
    mean = counts.lengths.sum() / texts if texts else 0.0
    longer = counts.lengths / mean if mean else np.ones(texts)
    damping = K1 * (1.0 - B + B * longer)
    total = np.zeros(texts)
    for times in counts.times.T:  # term by term, so that equal texts get equal sums
        having = np.count_nonzero(times)
        idf = np.log1p((texts - having + 0.5) / (having + 0.5))
        total += idf * (times * (K1 + 1.0) / (times + damping))
    return sealed(total)
