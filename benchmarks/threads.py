"""Two threads against one, on the same number of calls: kernels release the GIL."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from packer import Packer, Pool
from strategies import dedup, greedy, knapsack, mmr

from . import inputs
from .harness import Contender, Effort, Row, measure

__all__ = ["rows"]


def rows(effort: Effort) -> Iterator[Row]:
    """Each kernel, and a whole selection."""
    with ThreadPoolExecutor(2) as threads:
        for name, call, times in _calls():
            yield _row(name, call, times, threads, effort)


def _calls() -> Iterator[tuple[str, Callable[[], object], int]]:
    n = 2_000
    given, tokens = inputs.vectors(n, 384, copies=0.2), inputs.lengths(n, 0)
    vectors = Pool.from_arrays(given.scores, tokens, given.embeddings, budget=32_000)
    near = dedup(0.9, metric="cosine")
    yield "cosine dedup, 2,000 x 384", _stage(near, given.scores, tokens, given.embeddings), 4
    choose = mmr(0.5, metric="cosine")
    yield "MMR, 2,000 x 384", lambda: choose(_anew(vectors)), 20
    texts = Pool.from_arrays(given.scores, tokens, texts=inputs.prose(n), budget=32_000)
    text = dedup(0.9, metric="jaccard")
    yield "text dedup, 2,000 x 1,000 characters", lambda: text(_anew(texts)), 4
    hard = inputs.items("one odd", 1_000, 128_000)
    pool = Pool.from_arrays(hard.scores, hard.weights, budget=hard.budget)
    yield "knapsack, 1,000, hard", lambda: knapsack(pool), 20
    packer = Packer(dedup(0.9) | greedy, budget=5_000)
    columns = given.scores[:100], tokens[:100]
    few = inputs.prose(100)
    yield (
        "dedup and greedy, 100 texts",
        lambda: packer.select(Pool.from_arrays(*columns, texts=few)),
        100,
    )


def _stage(
    stage: Callable[[Pool], object],
    scores: np.typing.NDArray[np.float64],
    tokens: np.typing.NDArray[np.int64],
    embeddings: np.typing.NDArray[np.float32],
) -> Callable[[], object]:
    return lambda: stage(Pool.from_arrays(scores, tokens, embeddings))


def _anew(pool: Pool) -> Pool:
    """The same pool without what it has derived before: another thread's request."""
    table = pool.candidates
    return Pool.from_arrays(
        table.scores, table.tokens, table.vectors, texts=table.texts, budget=pool.budget
    )


def _row(
    name: str,
    call: Callable[[], object],
    times: int,
    threads: ThreadPoolExecutor,
    effort: Effort,
) -> Row:
    def share() -> None:
        for _ in range(times):
            call()

    def together() -> None:
        for done in [threads.submit(share) for _ in range(2)]:
            done.result()

    def one_by_one() -> None:
        share()
        share()

    return measure(
        f"threads/{name}",
        f"{name}; {2 * times} calls",
        Contender("ours", together),
        [Contender("one thread", one_by_one)],
        Effort(effort.quick, seconds=4 * effort.seconds, patience=effort.patience),
        sizes={"calls": 2 * times},
    )
