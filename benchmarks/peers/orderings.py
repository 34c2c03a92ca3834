"""What other libraries put first, filled to the budget: they choose k chunks and know no tokens."""

from collections.abc import Callable, Mapping
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt

from benchmarks.harness import MissingError, installed
from packer import Pool, Selection, Selector
from packer.algebra import Policy
from packer.arrays import Ints
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
        return _filled(pool, repr(self), self._order)

    def _order(self, pool: Pool) -> Ints:
        module = installed("pyversity", "pyversity")
        found: Any = module.diversify(
            embeddings=np.array(pool.embeddings),
            scores=np.array(pool.scores),
            k=len(pool),
            strategy=module.Strategy[self.strategy],
        )
        return np.array([int(row) for row in found.indices], np.int64)


@final
@attrs.frozen(repr=False, eq=False)
class Langchain(Selector):
    """LangChain's MMR at its default lambda of 0.5, over the embedding of the query."""

    name = "langchain_mmr"
    is_constant = True  # so that its text is not all of its queries
    queries: Mapping[str, npt.NDArray[np.float32]]

    def __call__(self, pool: Pool, /) -> Selection:
        return _filled(pool, self.name, self._order)

    def _order(self, pool: Pool) -> Ints:
        module = installed("langchain_core.vectorstores.utils", "langchain-core")
        query, given = self.queries[str(pool.query)], np.array(pool.embeddings)
        found: Any = module.maximal_marginal_relevance(query, given, k=len(pool))
        return np.array([int(row) for row in found], np.int64)


def _filled(pool: Pool, name: str, order: Callable[[Pool], Ints]) -> Selection:
    """What fits going down an order, which is made once for all budgets of a query."""
    rows = pool.derive(name, order, lambda found, kept: found[np.isin(found, kept)])
    return pool.select(fill(rows, pool.costs, pool.capacity))


def peers(sets: list[CaseSet]) -> tuple[dict[str, Policy], list[str]]:
    """The orderings that are installed, by name, and a line for each that is missing."""
    found: dict[str, Policy] = {}
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
