"""Which selections the constraint stages allow, told chunk by chunk and by all subsets."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any

from packer import Chunk, Stage
from packer.conditions import Condition
from tests.naive_similarity import jaccard, trigrams


def similar(left: Chunk, right: Chunk) -> float:
    return jaccard(trigrams(left.content), trigrams(right.content))


def allows(stage: Stage[Any, Any], pool: Sequence[Chunk], chosen: Sequence[Chunk]) -> bool:
    """Whether one constraint stage allows these chunks of the pool."""
    rule: Any = stage
    ids = {chunk.id for chunk in chosen}
    if rule.name == "pin":
        condition: Condition = rule.condition
        return all(chunk.id in ids for chunk in pool if condition.holds(chunk.metadata))
    if rule.name == "distinct":
        return all(similar(a, b) < rule.threshold for a, b in combinations(chosen, 2))
    if rule.name == "needs":
        return all(set(named(chunk.metadata.get(rule.key))) - {chunk.id} <= ids for chunk in chosen)
    least, most, by, unit = bounds(rule)
    for key in {chunk.metadata.get(by) for chunk in pool} - {None}:
        inside = [chunk for chunk in chosen if chunk.metadata.get(by) == key]
        amount = len(inside) if unit == "chunks" else sum(chunk.tokens or 0 for chunk in inside)
        if not least <= amount <= most:
            return False
    return True


def named(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def bounds(rule: Any) -> tuple[int, float, str, str]:
    """least, most, by and unit of a cap, an exclusive or a quota."""
    if rule.name == "cap":
        return 0, rule.n, rule.by, "chunks"
    if rule.name == "exclusive":
        return 0, 1, rule.by, "chunks"
    most = float("inf") if rule.max is None else rule.max
    return rule.min or 0, most, rule.by, rule.unit


def subsets(pool: Sequence[Chunk]) -> Iterator[tuple[Chunk, ...]]:
    return chain.from_iterable(combinations(pool, size) for size in range(len(pool) + 1))


def allowed(
    stages: Sequence[Stage[Any, Any]], pool: Sequence[Chunk], budget: int
) -> list[tuple[Chunk, ...]]:
    """Every subset within the budget that all the stages allow."""
    return [
        some
        for some in subsets(pool)
        if sum(chunk.tokens or 0 for chunk in some) <= budget
        and all(allows(stage, pool, some) for stage in stages)
    ]
