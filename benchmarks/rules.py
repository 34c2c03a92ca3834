"""Selection under rules beside the same selector without, and the multiple-choice knapsack."""

from collections.abc import Iterator
from functools import reduce
from typing import Any, Final

import numpy as np

from packer import Chunk, Constraint, Packer, Policy, Pool, Selector
from strategies import cap, exclusive, field, greedy, knapsack, mmr, needs, pin

from . import inputs
from .harness import Contender, Effort, Row, measure

__all__ = ["rows"]

PLAIN: Final = "the selector without rules"
BUDGET: Final = 32_000


def rows(effort: Effort) -> Iterator[Row]:
    """Greedy and MMR with one rule of each kind, and with several; then 500 texts x 3."""
    n = 100 if effort.quick else 1_000
    pool = _pool(n)
    several: list[tuple[str, tuple[Constraint, ...]]] = [
        ("cap", (cap(3),)),
        ("pin", (pin(field("group") == "group 3"),)),
        ("exclusive", (exclusive(),)),
        ("cap, exclusive, needs", (cap(3), exclusive(), needs())),
    ]
    selectors: list[tuple[str, Selector]] = [("greedy", greedy), ("mmr", mmr(0.5))]
    for name, selector in selectors:
        for words, rules in several:
            bound = pool
            for rule in rules:
                bound = rule(bound)
            yield measure(
                f"rules/{name}/{words}",
                f"{name}, {words}, n = {n:,}, budget {BUDGET:,}",
                Contender("ours", _calls(selector, bound)),
                [Contender(PLAIN, _calls(selector, pool))],
                effort,
                sizes={"n": n, "budget": BUDGET},
            )
    chunks = [pool.chunk(row) for row in range(n)]
    for words, rules in several:
        bound_policy: Policy = reduce(lambda after, rule: rule | after, reversed(rules), greedy)
        yield measure(
            f"rules/pack, greedy/{words}",
            f"the whole call, greedy, {words}, n = {n:,}, budget {BUDGET:,}",
            Contender("ours", _packs(bound_policy, chunks)),
            [Contender(PLAIN, _packs(greedy, chunks))],
            effort,
            sizes={"n": n, "budget": BUDGET},
        )
    yield _variants(effort)


def _packs(policy: Policy, chunks: list[Chunk]) -> Any:
    packer = Packer(policy, budget=BUDGET)
    return lambda: len(packer(chunks))


def _calls(selector: Selector, pool: Pool) -> Any:
    return lambda: selector(pool).chosen


def _pool(n: int) -> Pool:
    given = inputs.vectors(n, 384)
    metadata = [
        {
            "source": f"source {row % 200}",
            "group": f"group {row // 3}",
            "parent": None if row % 5 else f"chunk-{(row * 7) % n}",
        }
        for row in range(n)
    ]
    return Pool.from_arrays(
        given.scores, inputs.lengths(n, 1), given.embeddings, metadata=metadata, budget=BUDGET
    )


def _variants(effort: Effort) -> Row:
    """500 texts, each in full, as an excerpt and as a summary, at most one of each."""
    rng = np.random.default_rng(5)
    full = rng.lognormal(6.0, 0.5, 500).astype(np.int64) + 40
    costs = np.concatenate([full, full * 2 // 5, full * 3 // 20])
    worth = rng.random(500)
    scores = np.concatenate([worth, worth * 0.8, worth * 0.5]) * rng.uniform(0.95, 1.05, 1500)
    metadata = [{"group": str(row % 500)} for row in range(1500)]
    pool = exclusive()(Pool.from_arrays(scores, costs, metadata=metadata, budget=64_000))

    def call() -> Any:
        return knapsack(pool)

    return measure(
        "rules/knapsack/variants",
        "knapsack, exclusive, 500 texts x 3 variants, budget 64,000",
        Contender("ours", call),
        [],
        effort,
        sizes={"n": 1500, "budget": 64_000},
        facts=lambda found: {
            "proven": found.optimality.proven,
            "gap": found.optimality.gap,
            "value": found.optimality.value,
        },
    )
