"""What other libraries put first, filled to the budget: they choose k chunks and know no tokens."""

from collections.abc import Mapping
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt

from benchmarks.harness import MissingError, installed
from packer import Pool, Selection, Selector
from packer.evaluation import CaseSet
from strategies.greedy import fill

__all__ = ["PYVERSITY", "Langchain", "Pyversity", "peers"]

PYVERSITY: Final = ("MMR", "MSD", "DPP", "COVER", "SSD")


@final
@attrs.frozen(repr=False)
class Pyversity(Selector):
    """A strategy of pyversity at its own defaults: all candidates ordered, then filled with skip."""

    name = "pyversity"
    strategy: str = "MMR"

    def __call__(self, pool: Pool, /) -> Selection:
        module = installed("pyversity", "pyversity")
        if not len(pool):
            return pool.select([])
        found: Any = module.diversify(
            embeddings=np.array(pool.embeddings),
            scores=np.array(pool.scores),
            k=len(pool),
            strategy=module.Strategy[self.strategy],
        )
        return _filled(pool, found.indices)


@final
@attrs.frozen(repr=False, eq=False)
class Langchain(Selector):
    """LangChain's MMR at its default lambda of 0.5, over the embedding of the query."""

    name = "langchain_mmr"
    queries: Mapping[str, npt.NDArray[np.float32]]

    def __call__(self, pool: Pool, /) -> Selection:
        module = installed("langchain_core.vectorstores.utils", "langchain-core")
        if not len(pool):
            return pool.select([])
        query, given = self.queries[str(pool.query)], np.array(pool.embeddings)
        return _filled(pool, module.maximal_marginal_relevance(query, given, k=len(pool)))


def _filled(pool: Pool, order: Any) -> Selection:
    rows = np.array([int(row) for row in order], np.int64)
    return pool.select(fill(rows, pool.costs, pool.capacity))


def peers(sets: list[CaseSet]) -> tuple[dict[str, Selector], list[str]]:
    """The orderings that are installed, by name, and a line for each that is missing."""
    found: dict[str, Selector] = {}
    missing = []
    for name, distribution in (
        ("pyversity", "pyversity"),
        ("langchain_core.vectorstores.utils", "langchain-core"),
    ):
        try:
            installed(name, distribution)
        except MissingError as error:
            missing.append(str(error))
            continue
        if distribution == "pyversity":
            found.update({f"pyversity {kind}": Pyversity(kind) for kind in PYVERSITY})
        else:
            asked = [case for part in sets for case in part if case.query_embedding is not None]
            vectors = {case.query: case.query_embedding for case in asked}
            found["LangChain MMR"] = Langchain(
                {query: vector for query, vector in vectors.items() if vector is not None}
            )
    return found, missing
