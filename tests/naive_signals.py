"""The slow, obvious twins of the signals: one text, one word, one pair at a time."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def bm25(texts: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    """Of each text, a list of terms, its BM25; k1 = 1.2, b = 0.75, straight from the formula."""
    mean = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for term in dict.fromkeys(query):
            having = sum(term in other for other in texts)
            idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            times = text.count(term)
            if times:
                score += idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(text) / mean))
        scores.append(score)
    return scores


def neighbours(
    scores: Sequence[float], places: Sequence[tuple[Any, Any]], weight: float, width: int
) -> list[float]:
    """Every pair of (source, position) looked at; None has no neighbours."""
    found = []
    for at, (source, position) in enumerate(places):
        near = [
            scores[other]
            for other, (its_source, its_position) in enumerate(places)
            if other != at
            and None not in (source, position, its_source, its_position)
            and source == its_source
            and abs(position - its_position) <= width
        ]
        found.append(scores[at] + weight * max(near, default=0.0))
    return found


def minmax(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def zscore(values: Sequence[float]) -> list[float]:
    mean, spread = statistics.fmean(values), statistics.pstdev(values)
    return [(value - mean) / spread if max(values) > min(values) else 0.0 for value in values]


def rank(values: Sequence[float]) -> list[float]:
    return [sum(other <= value for other in values) / len(values) for value in values]


def blend(
    scores: Sequence[float],
    columns: Mapping[str, Sequence[float | None]],
    weights: Mapping[str, float],
    scale: Callable[[Sequence[float]], list[float]],
) -> list[float]:
    """The chunk's own score weighs 1 or what "score" says; None is the lowest of its column."""
    total = [weights.get("score", 1.0) * score for score in scale(scores)]
    for key, column in columns.items():
        known = [value for value in column if value is not None]
        if known:
            full = [min(known) if value is None else value for value in column]
            total = [
                before + weights[key] * more
                for before, more in zip(total, scale(full), strict=True)
            ]
    return total
