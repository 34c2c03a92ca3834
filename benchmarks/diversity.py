"""Coverage and DPP from arrays to row numbers, against libraries and against plain numpy."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from packer import Packer, Pool
from packer.algebra import Selector
from strategies import coverage, dpp

from . import inputs
from .harness import Contender, Effort, MissingError, Row, absent, left_out, measure
from .peers import diversity_libraries
from .selecting import agreement, choosing

__all__ = ["coverage_rows", "dpp_rows"]

RELEVANCE = 0.5
TOKENS = 250
"""Each chunk costs the same, so that a choice of k and a choice by budget are the same job."""
BUDGETS = {100: 8_000, 1_000: 32_000, 10_000: 32_000}


def coverage_rows(effort: Effort) -> Iterator[Row]:
    """Facility location alone on equal scores, which is what the others do; then as it is by default."""
    for n in (100,) if effort.quick else (100, 1_000, 4_000):
        given = attrs.evolve(inputs.vectors(n, 384), scores=np.ones(n))
        yield _row("coverage", coverage(0.0, metric="cosine"), given, effort, _covering)
        yield _row("coverage with relevance", coverage(), inputs.vectors(n, 384), effort)


def dpp_rows(effort: Effort) -> Iterator[Row]:
    """At each n."""
    for n in (100,) if effort.quick else (100, 1_000, 10_000):
        stage = dpp(RELEVANCE, metric="cosine")
        yield _row("dpp", stage, inputs.vectors(n, 384), effort, _determinantal)


def _row(
    job: str,
    stage: Selector,
    given: inputs.Vectors,
    effort: Effort,
    others: Callable[[inputs.Vectors, int, int], Iterator[Contender]] | None = None,
) -> Row:
    n, d = given.embeddings.shape
    budget = BUDGETS.get(n, 32_000)
    costs = np.full(n, TOKENS, np.int64)
    packer = Packer(stage, budget=budget)
    ours = choosing(packer, given, costs)
    pool = Pool.from_arrays(given.scores, costs, given.embeddings)
    told = packer.select(pool).selection.optimality
    k = len(ours())
    return measure(
        f"{job}/{n}/{d}/{budget}",
        f"n = {n:,}, d = {d:,}, budget {budget:,}",
        Contender("ours", ours),
        others(given, budget, k) if others else iter(()),
        effort,
        sizes={"n": n, "d": d, "budget": budget, "k": k},
        facts=lambda _: {"picked": k} | ({} if told is None else {"gap": told.gap}),
    )


def _peer(name: str, make: Callable[[], Any]) -> Contender:
    try:
        return Contender(name, make(), agreement=agreement, note="no budget: given our k")
    except MissingError as error:
        return absent(name, error)


def _covering(given: inputs.Vectors, budget: int, k: int) -> Iterator[Contender]:
    yield _peer("apricot, lazy", lambda: diversity_libraries.apricot(given, k))
    if len(given.scores) > 1_000:
        yield left_out("plain numpy", "beyond half a minute a call")
    else:
        costs = np.full(len(given.scores), TOKENS, np.int64)
        call = diversity_libraries.plain_numpy(given, costs, budget)
        yield Contender("plain numpy, full matrix", call, agreement=agreement)


def _determinantal(given: inputs.Vectors, budget: int, k: int) -> Iterator[Contender]:
    del budget
    yield _peer("pyversity", lambda: diversity_libraries.pyversity(given, RELEVANCE, k))
