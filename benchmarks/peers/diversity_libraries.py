"""Coverage and determinantal selection elsewhere: apricot and pyversity.  Both choose k, with no budget."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import installed
from benchmarks.inputs import Vectors

__all__ = ["apricot", "plain_numpy", "pyversity"]

Chosen = Sequence[int]


def apricot(given: Vectors, k: int) -> Callable[[], Chosen]:
    """Facility location by its lazy optimizer, of cosines that are computed beforehand, as it asks.

    It knows no relevance: the same choice as ours only with ``relevance=0`` and equal scores.
    """
    module = installed("apricot", "apricot-select")

    def call() -> Chosen:
        norms = np.linalg.norm(given.embeddings, axis=1, keepdims=True)
        unit = given.embeddings / norms
        matrix = np.maximum(unit @ unit.T, 0.0).astype(np.float64)
        selector: Any = module.FacilityLocationSelection(
            k, metric="precomputed", optimizer="lazy", verbose=False
        )
        return [int(row) for row in selector.fit(matrix).ranking]

    return call


def pyversity(given: Vectors, relevance: float, k: int) -> Callable[[], Chosen]:
    """`diversify(strategy="dpp")`; its weight is 2 (1 - diversity) to our relevance / (1 - relevance)."""
    module = installed("pyversity", "pyversity")
    kind, diversity = module.Strategy.DPP, 1.0 - relevance / (1.0 - relevance) / 2.0

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


def plain_numpy(given: Vectors, costs: npt.NDArray[np.int64], budget: int) -> Callable[[], Chosen]:
    """What one writes oneself for facility location: the whole matrix, and all gains at each pick."""

    def call() -> Chosen:
        norms = np.linalg.norm(given.embeddings, axis=1, keepdims=True)
        unit = given.embeddings / norms
        matrix = np.maximum(unit @ unit.T, 0.0)
        cover = np.zeros(len(unit), np.float32)
        open_ = np.ones(len(unit), np.bool_)
        left = budget
        chosen: list[int] = []
        while True:
            fits = open_ & (costs <= left)
            if not fits.any():
                return chosen
            gains = np.maximum(matrix - cover, 0.0).sum(axis=1)
            best = int(np.argmax(np.where(fits, gains, -np.inf)))
            chosen.append(best)
            open_[best] = False
            left -= int(costs[best])
            np.maximum(cover, matrix[best], out=cover)

    return call
