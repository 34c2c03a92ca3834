"""MMR elsewhere: pyversity, LangChain, and plain numpy.  The first two choose k, with no budget."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import installed
from benchmarks.inputs import Vectors

__all__ = ["langchain", "plain_numpy", "pyversity"]

Chosen = Sequence[int]


def pyversity(given: Vectors, lambda_: float, k: int) -> Callable[[], Chosen]:
    """`diversify(strategy="mmr")`; its diversity is 1 - lambda."""
    module = installed("pyversity", "pyversity")
    kind, diversity = module.Strategy.MMR, 1.0 - lambda_

    def call() -> Chosen:
        found: Any = module.diversify(
            embeddings=given.embeddings,
            scores=given.scores,
            k=k,
            strategy=kind,
            diversity=diversity,
        )
        return [int(row) for row in found.indices]

    return call


def langchain(given: Vectors, lambda_: float, k: int, *, lists: bool) -> Callable[[], Chosen]:
    """langchain-core's function as published; it makes the scores itself, from the query.

    `lists`: fed with lists of floats, as its signature says; else with an array, which it accepts
    and which is quicker.
    """
    module = installed("langchain_core.vectorstores.utils", "langchain-core")
    fed: Any = given.embeddings.tolist() if lists else given.embeddings

    def call() -> Chosen:
        found: Any = module.maximal_marginal_relevance(given.query, fed, lambda_mult=lambda_, k=k)
        return [int(row) for row in found]

    return call


def plain_numpy(
    given: Vectors, costs: npt.NDArray[np.int64], budget: int, lambda_: float
) -> Callable[[], Chosen]:
    """What one writes oneself: a matrix-vector product a pick, with our budget rule."""

    def call() -> Chosen:
        norms = np.linalg.norm(given.embeddings, axis=1, keepdims=True)
        unit = given.embeddings / norms
        nearest = np.full(len(unit), -np.inf, np.float32)
        open_ = np.ones(len(unit), np.bool_)
        left = budget
        chosen: list[int] = []
        value = given.scores
        while True:
            fits = open_ & (costs <= left)
            if not fits.any():
                return chosen
            best = int(np.argmax(np.where(fits, value, -np.inf)))
            chosen.append(best)
            open_[best] = False
            left -= int(costs[best])
            np.maximum(nearest, unit @ unit[best], out=nearest)
            value = lambda_ * given.scores - (1.0 - lambda_) * nearest

    return call
