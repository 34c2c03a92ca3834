"""The goals, each read from the rows: what was wanted, what was measured."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from .harness import Row

__all__ = ["GOALS", "Goal", "Outcome", "outcomes"]

Table: TypeAlias = Mapping[str, Row]
TYPESCRIPT: Final = "context-packer (npm)"
TABLE: Final = "table (numba)"
KERNEL: Final = "ours, the kernel alone"
SORT: Final = "numpy argsort alone"


@attrs.frozen
class Goal:
    """`measure` gives a number of the rows, None where what it needs did not run.

    `least`: it should be at least `wanted`; else at most.
    """

    job: str
    what: str
    wanted: float
    measure: Callable[[Table], float | None]
    least: bool = True


@attrs.frozen
class Outcome:
    """What became of a goal."""

    goal: Goal
    measured: float | None

    @property
    def met(self) -> bool | None:
        """None where it was not measured."""
        if self.measured is None:
            return None
        if self.goal.least:
            return self.measured >= self.goal.wanted
        return self.measured <= self.goal.wanted


def outcomes(rows: Sequence[Row]) -> Iterator[Outcome]:
    """Each goal and what the rows say."""
    table = {row.key: row for row in rows}
    for goal in GOALS:
        yield Outcome(goal, goal.measure(table))


def _ratio(key: str, name: str) -> Callable[[Table], float | None]:
    def measure(table: Table) -> float | None:
        other = table[key].other(name) if key in table else None
        return None if other is None else other.ratio

    return measure


def _of_kernel(key: str, name: str) -> Callable[[Table], float | None]:
    """The other's time over that of our kernel alone: solvers know no pools and no reasons."""

    def measure(table: Table) -> float | None:
        ours, theirs = _of_other(key, KERNEL)(table), _of_other(key, name)(table)
        return None if ours is None or theirs is None else theirs / ours

    return measure


def _inverse(key: str, name: str) -> Callable[[Table], float | None]:
    def measure(table: Table) -> float | None:
        found = _ratio(key, name)(table)
        return None if found is None else 1.0 / found

    return measure


def _fact(key: str, name: str) -> Callable[[Table], float | None]:
    def measure(table: Table) -> float | None:
        if key not in table or name not in table[key].facts:
            return None
        return float(table[key].facts[name])

    return measure


def _seconds(key: str) -> Callable[[Table], float | None]:
    return lambda table: table[key].seconds if key in table else None


def _of_other(key: str, name: str) -> Callable[[Table], float | None]:
    def measure(table: Table) -> float | None:
        other = table[key].other(name) if key in table else None
        return None if other is None else other.seconds

    return measure


def _agrees(key: str, name: str, words: str) -> Callable[[Table], float | None]:
    """1 when the other's result is as `words` say, else 0."""

    def measure(table: Table) -> float | None:
        other = table[key].other(name) if key in table else None
        return None if other is None else float(other.agreement.startswith(words))

    return measure


def _kernel_over_sort(table: Table) -> float | None:
    found = _of_kernel(LARGE, SORT)(table)
    return None if found is None else 1.0 / found


def _worst_thread(table: Table) -> float | None:
    found = [
        other.ratio
        for row in table.values()
        if row.job == "threads" and (other := row.other("one thread")) and other.ratio
    ]
    return min(found, default=None)


LOGNORMAL, LARGE = "knapsack/lognormal/1000/128000", "knapsack/lognormal/10000/1000000"
CORRELATED = "knapsack/correlated/1000/128000"
EVEN, ODD = "knapsack/even/1000/128000", "knapsack/one odd/1000/128000"
MMR, MMR_LARGE = "mmr/constant/1000/384/32000", "mmr/constant/10000/1536/32000"
TEXT, TEXT_LARGE = "text dedup/100/1000/0.9", "text dedup/1000/1000/0.9"
COSINE = "cosine dedup/10000/384"
FIRST = "startup/first call/every kernel"

UNRULED: Final = "the selector without rules"
RULED: Final = tuple(
    Goal(
        f"{selector} under {words}",
        "of the selector without",
        2,
        _inverse(f"rules/{selector}/{words}", UNRULED),
        least=False,
    )
    for selector in ("greedy", "mmr", "pack, greedy")
    for words in ("cap", "cap, exclusive, needs")
)

BATCHED: Final = tuple(
    Goal(
        f"1,000 requests of 20, {name}",
        "times pack for each row",
        5,
        _ratio(f"arrow/{name}/20", "pack for each row"),
    )
    for name in (
        "greedy",
        "threshold, greedy, ushape",
        "dedup, mmr, ushape",
        "dedup text, greedy",
        "knapsack",
    )
)

GOALS: Final = (
    *RULED,
    *BATCHED,
    Goal("500 texts x 3 variants, 64k", "proven", 1, _fact("rules/knapsack/variants", "proven")),
    Goal(
        "500 texts x 3 variants, 64k",
        "seconds",
        0.05,
        _seconds("rules/knapsack/variants"),
        least=False,
    ),
    Goal("knapsack 1,000, 128k", "kernel, times the table", 3_000, _of_kernel(LOGNORMAL, TABLE)),
    Goal("knapsack 1,000, 128k", "stage, times the table", 3_000, _ratio(LOGNORMAL, TABLE)),
    Goal("knapsack 1,000, 128k", "kernel, times OR-tools", 50, _of_kernel(LOGNORMAL, "OR-tools")),
    Goal("knapsack 1,000, 128k", "stage, times OR-tools", 50, _ratio(LOGNORMAL, "OR-tools")),
    Goal("knapsack 1,000, 128k", "proven", 1, _fact(LOGNORMAL, "proven")),
    Goal(
        "knapsack 10,000, 1M",
        "kernel, over the time of sorting the items",
        1.5,
        _kernel_over_sort,
        least=False,
    ),
    Goal(
        "knapsack 10,000, 1M",
        "stage, over the time of sorting the items",
        1.5,
        _inverse(LARGE, SORT),
        least=False,
    ),
    Goal("knapsack correlated", "kernel, times the table", 1_000, _of_kernel(CORRELATED, TABLE)),
    Goal("knapsack correlated", "stage, times the table", 1_000, _ratio(CORRELATED, TABLE)),
    Goal("knapsack correlated", "of 20 pools proven", 20, _fact(CORRELATED, "proven of 20")),
    Goal("knapsack, even weights", "gap", 0.005, _fact(EVEN, "gap"), least=False),
    Goal("knapsack, one odd weight", "gap", 0.005, _fact(ODD, "gap"), least=False),
    Goal("MMR 1,000 x 384", "times pyversity", 3, _ratio(MMR, "pyversity")),
    Goal("MMR 1,000 x 384", "times LangChain (lists)", 400, _ratio(MMR, "LangChain (lists)")),
    Goal("MMR 1,000 x 384", "times LangChain (array)", 400, _ratio(MMR, "LangChain (array)")),
    Goal("MMR 1,000 x 384", "times context-packer", 2_000, _ratio(MMR, TYPESCRIPT)),
    Goal("MMR 1,000 x 384", "pyversity's choice", 1, _agrees(MMR, "pyversity", "same choice")),
    Goal("MMR 1,000 x 384", "context-packer's choice", 1, _agrees(MMR, TYPESCRIPT, "same choice")),
    Goal(
        "MMR 10,000 x 1,536",
        "of a full scan read",
        0.25,
        _fact(MMR_LARGE, "share of a full scan"),
        least=False,
    ),
    Goal("MMR 10,000 x 1,536", "times pyversity", 15, _ratio(MMR_LARGE, "pyversity")),
    Goal("text dedup 100, 0.9", "times context-packer", 300, _ratio(TEXT, TYPESCRIPT)),
    Goal("text dedup 1,000, 0.9", "times context-packer", 3_000, _ratio(TEXT_LARGE, TYPESCRIPT)),
    Goal(
        "text dedup 1,000, 0.9",
        "context-packer's pairs, bit-equal",
        1,
        _agrees(TEXT_LARGE, TYPESCRIPT, "same pairs, bit-equal"),
    ),
    Goal(
        "text dedup 1,000, 0.9",
        "times Python sets",
        50,
        _ratio(TEXT_LARGE, "Python sets, size filter"),
    ),
    Goal(
        "cosine dedup 10,000 x 384",
        "times the loop",
        3,
        _ratio(COSINE, "numpy, matrix-vector loop"),
    ),
    Goal(
        "cosine dedup 10,000 x 384",
        "times the embeddings, beyond the input",
        2,
        _fact("memory/dedup/10000/384", "beyond the input, times"),
        least=False,
    ),
    Goal(
        "whole call 100, greedy",
        "times context-packer",
        1,
        _ratio("whole call/greedy/100", TYPESCRIPT),
    ),
    Goal(
        "whole call 100, mmr", "times context-packer", 200, _ratio("whole call/mmr/100", TYPESCRIPT)
    ),
    Goal(
        "whole call 100, knapsack 5k",
        "times context-packer",
        50,
        _ratio("whole call/knapsack/100", TYPESCRIPT),
    ),
    Goal(
        "whole call 100, dedup of text and greedy",
        "times context-packer",
        300,
        _ratio("whole call/dedup text, greedy/100", TYPESCRIPT),
    ),
    Goal("two threads, the least of the jobs", "times one", 1.8, _worst_thread),
    Goal(
        "import packer",
        "of numpy and attrs",
        1.2,
        _inverse("startup/import packer", "import numpy, attrs"),
        least=False,
    ),
    Goal(
        "import packer, strategies",
        "numba imported",
        0,
        _fact("startup/import packer, strategies", "numba imported"),
        least=False,
    ),
    Goal("first call, every kernel, warm cache", "seconds", 0.4, _seconds(FIRST), least=False),
    Goal(
        "first call, every kernel, cold cache",
        "seconds",
        10,
        _of_other(FIRST, "cold cache"),
        least=False,
    ),
)
