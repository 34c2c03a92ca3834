import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from packer import Chunk, Packed, Packer, Policy, Pool
from strategies import dedup, density, greedy, knapsack, mmr, threshold, ushape

POLICIES = [
    greedy | ushape,
    density,
    knapsack,
    mmr(0.6),
    threshold(0.1) | dedup(0.8) | mmr(0.7) | ushape,
    dedup(0.7, metric="jaccard") | knapsack,
]


def requests(count: int) -> list[list[Chunk]]:
    rng = np.random.default_rng(7)
    words = [
        "refund",
        "policy",
        "returns",
        "order",
        "parcel",
        "label",
        "damaged",
        "day",
        "form",
        "mail",
        "invoice",
    ]
    return [
        [
            Chunk(
                " ".join(rng.choice(words, 12)),
                float(rng.random()),
                tokens=int(rng.integers(1, 60)),
                embedding=rng.normal(size=8),
            )
            for _ in range(int(rng.integers(1, 30)))
        ]
        for _ in range(count)
    ]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_one_packer_gives_the_same_in_every_thread(policy: Policy) -> None:
    packer = Packer(policy, budget=150, overhead=2)
    chunks = requests(40)
    alone = [packer(some) for some in chunks]
    start = threading.Barrier(8)

    def all_of_them(_: int) -> list[Packed]:
        start.wait()
        return [packer(some) for some in chunks]

    with ThreadPoolExecutor(8) as threads:
        for together in threads.map(all_of_them, range(8)):
            assert together == alone


def test_one_pool_gives_the_same_in_every_thread() -> None:
    rng = np.random.default_rng(11)
    scores, tokens = rng.random(200), rng.integers(1, 60, 200)
    vectors = rng.normal(size=(200, 16)).astype(np.float32)
    packer = Packer(dedup(0.6) | mmr(0.5), budget=900)
    alone = packer.select(Pool.from_arrays(scores, tokens, vectors)).rows.tolist()
    shared = Pool.from_arrays(
        scores, tokens, vectors
    )  # its derived columns are made by all at once
    with ThreadPoolExecutor(8) as threads:
        for rows in threads.map(lambda _: packer.select(shared).rows.tolist(), range(64)):
            assert rows == alone
