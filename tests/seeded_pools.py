"""Small pools of a seed, as the kernels take them: ties, copies and free rows, under each kind of rule."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from packer.kernels import rules
from packer.kernels.rules import Ints, Rules

from .naive_similarity import Features
from .similarity_pools import features, frozen, normalised, only_embeddings, only_texts
from .test_kernel_rules import NO_LIMIT, Pairs, ints, rules_of

Floats = npt.NDArray[np.float64]

BOUND_BY: Final = ("nothing", "quotas", "rivals", "needs", "all")


class Seeded(NamedTuple):
    """A pool and what binds it; `start` is empty, or what the rules ask for."""

    found: Features
    scores: Floats
    costs: Ints
    budget: int
    rules: Rules
    start: Ints


def pools(number: int, *, ruled: bool = True) -> Iterator[Seeded]:
    """So many of them; features and rules of every kind take turns."""
    for seed in range(number):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 13))
        costs = ints(rng.integers(0, 7, n))
        bound = _rules(rng, costs, BOUND_BY[seed // 3 % 5]) if ruled else rules.free(n)
        budget = int(rng.integers(0, 4 * n))
        start = ints([])
        if seed % 2:
            start = frozen(rules.base(ints(rng.permutation(n)), costs, budget, bound)[0])
        scores = frozen(rng.choice([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0], n))
        yield Seeded(_features(rng, n, seed % 3), scores, costs, budget, bound, start)


def _features(rng: np.random.Generator, n: int, kind: int) -> Features:
    """Of texts and embeddings, of embeddings, or of texts; two of three rows, others are copies."""
    source = np.where(rng.random(n) < 0.7, np.arange(n), rng.integers(0, n, n))
    unit = normalised(rng.choice([-1.0, 0.0, 0.0, 0.5, 1.0, 2.0], (n, int(rng.choice([2, 7])))))
    texts = ["".join(rng.choice(list("aab "), int(rng.integers(0, 9)))) for _ in range(n)]
    if kind == 0:
        return features(unit[source], rng.random(n) < 0.7, [texts[at] for at in source])
    return only_embeddings(unit[source]) if kind == 1 else only_texts([texts[at] for at in source])


def _rules(rng: np.random.Generator, costs: Ints, kind: str) -> Rules:
    """Rules of one kind, or of all and a pin."""
    n = len(costs)

    def pairs() -> Pairs:
        found = rng.integers(0, n, (n // 2, 2)).tolist()
        return {(left, right) for left, right in found if left != right}

    quotas = []
    if kind in {"quotas", "all"}:
        key = rng.integers(-1, 3, n).tolist()
        quotas.append((key, [1] * n, int(rng.integers(0, 2)), int(rng.integers(1, 3))))
        key = rng.integers(-1, 2, n).tolist()
        quotas.append((key, costs.tolist(), 0, int(rng.choice([6, 12, NO_LIMIT]))))
    return rules_of(
        n,
        pins={int(rng.integers(0, n))} if kind in {"needs", "all"} else set(),
        quotas=quotas,
        rivals=pairs() if kind in {"rivals", "all"} else set(),
        needs=pairs() if kind in {"needs", "all"} else set(),
    )
