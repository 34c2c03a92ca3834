"""MMR from arrays to row numbers, against libraries and against plain numpy."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from packer import Packer, Pool, kernels
from packer.arrays import frozen
from packer.similarity import features
from strategies import mmr

from . import inputs
from .harness import Contender, Effort, MissingError, Row, absent, left_out, measure
from .machine import read_bandwidth
from .peers import context_packer, mmr_libraries
from .selecting import agreement, choosing

__all__ = ["rows"]

LAMBDA = 0.5
TOKENS = 250
"""Each chunk costs the same, so that a choice of k and a choice by budget are the same job."""
LISTS = "LangChain (lists)"
ARRAY = "LangChain (array)"
BUDGETS = {100: 8_000, 1_000: 32_000, 10_000: 32_000}


def rows(effort: Effort) -> Iterator[Row]:
    """Equal lengths at each n and d; then lognormal lengths at three budgets."""
    for n in (100, 1_000) if effort.quick else (100, 1_000, 10_000):
        for d in (384,) if effort.quick else (384, 1_536):
            given = inputs.vectors(n, d)
            yield _row(n, d, given, np.full(n, TOKENS, np.int64), BUDGETS[n], effort)
    for n in (1_000,):
        for budget in (4_000, 32_000, 128_000):
            lengths = inputs.lengths(n, 0)
            yield _row(n, 384, inputs.vectors(n, 384), lengths, budget, effort)


def _row(
    n: int,
    d: int,
    given: inputs.Vectors,
    costs: np.typing.NDArray[np.int64],
    budget: int,
    effort: Effort,
) -> Row:
    packer = Packer(mmr(LAMBDA, metric="cosine"), budget=budget)
    ours = choosing(packer, given, costs)
    alike = bool((costs == costs[0]).all())
    k = len(ours())
    compared = _compared(given, costs, budget)
    scanned = sum(n - pick for pick in range(1, k))
    return measure(
        f"mmr/{'constant' if alike else 'lognormal'}/{n}/{d}/{budget}",
        f"n = {n:,}, d = {d:,}, budget {budget:,}" + ("" if alike else ", lognormal lengths"),
        Contender("ours", ours),
        _others(n, given, costs, budget, k, alike=alike, effort=effort),
        effort,
        sizes={"n": n, "d": d, "budget": budget, "k": k},
        facts=lambda _: {
            "picked": k,
            "similarities": compared,
            "share of a full scan": compared / max(1, scanned),
        },
        # The pool's check of the input, the norms, the copy at length 1, and the comparisons.
        bytes_read=(lambda _: 4.0 * d * (3 * n + compared)) if n == 10_000 else None,
        bandwidth=read_bandwidth() if n == 10_000 else None,
    )


def _compared(given: inputs.Vectors, costs: np.typing.NDArray[np.int64], budget: int) -> int:
    """How many similarities the kernel computes."""
    pool, found = features(Pool.from_arrays(given.scores, costs, given.embeddings), "cosine")
    scores, paid = frozen(pool.scores), frozen(pool.costs)
    return int(kernels.mmr.trace(scores, paid, budget, LAMBDA, *found.arrays)[1])


def _others(
    n: int,
    given: inputs.Vectors,
    costs: np.typing.NDArray[np.int64],
    budget: int,
    k: int,
    *,
    alike: bool,
    effort: Effort,
) -> Iterator[Contender]:
    free = "no budget: given our k"
    makers: list[tuple[str, Any]] = [
        ("pyversity", lambda: mmr_libraries.pyversity(given, LAMBDA, k)),
        (ARRAY, lambda: mmr_libraries.langchain(given, LAMBDA, k, lists=False)),
        (LISTS, lambda: mmr_libraries.langchain(given, LAMBDA, k, lists=True)),
    ]
    for name, make in makers:
        if not alike:
            yield left_out(name, "it knows no lengths")
        elif name == LISTS and n > 1_000:
            yield left_out(name, "beyond half a minute a call")
        elif "LangChain" in name and effort.quick and n > 100:
            yield left_out(name, "quick mode")
        else:
            try:
                yield Contender(name, make(), agreement=agreement, note=free)
            except MissingError as error:
                yield absent(name, error)
    yield Contender(
        "plain numpy",
        mmr_libraries.plain_numpy(given, costs, budget, LAMBDA),
        agreement=agreement,
    )
    yield _typescript(given, costs, budget, effort)


def _typescript(
    given: inputs.Vectors,
    costs: np.typing.NDArray[np.int64],
    budget: int,
    effort: Effort,
) -> Contender:
    n = len(costs)
    if n > 1_000:
        return left_out(context_packer.NAME, "beyond half a minute a call")
    if budget > 32_000:
        return left_out(context_packer.NAME, "beyond half a minute a call")
    if effort.quick and n > 100:
        return left_out(context_packer.NAME, "quick mode")
    chunks = [
        {"id": str(row), "content": "x", "score": score, "tokens": tokens, "embedding": vector}
        for row, (score, tokens, vector) in enumerate(
            zip(given.scores.tolist(), costs.tolist(), given.embeddings.tolist(), strict=True)
        )
    ]
    try:
        return context_packer.contender(
            "pack",
            chunks,
            {
                "budget": budget,
                "strategy": "mmr",
                "lambda": LAMBDA,
                "similarityMetric": "cosine",
            },
            lambda ours, theirs: agreement(ours, [int(name) for name in theirs]),
            note="its whole call",
        )
    except MissingError as error:
        return absent(context_packer.NAME, error)
