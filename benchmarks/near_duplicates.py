"""Near-duplicates of text and of embeddings; everyone drops in score order."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from packer import Pool
from strategies import dedup

from . import inputs
from .harness import Contender, Effort, MissingError, Row, absent, left_out, measure
from .machine import read_bandwidth
from .peers import context_packer, near_duplicate_methods
from .peers.near_duplicate_methods import Dropped

__all__ = ["cosine_rows", "text_rows"]

SETS = "Python sets, size filter"
SKETCH = "datasketch"
LOOP = "numpy, matrix-vector loop"
FULL = "numpy, full matrix"


def text_rows(effort: Effort) -> Iterator[Row]:
    """Three n at two thresholds, and texts of other lengths."""
    for n in (100, 1_000) if effort.quick else (100, 1_000, 10_000):
        for threshold in (0.7, 0.9):
            yield _text(n, 1_000, threshold, effort)
    for length in (250, 500) if effort.quick else (250, 500, 2_000, 4_000):
        yield _text(1_000, length, 0.9, effort)


def cosine_rows(effort: Effort) -> Iterator[Row]:
    """Four n, and a second d."""
    for n in (100, 1_000) if effort.quick else (100, 1_000, 10_000, 50_000):
        yield _cosine(n, 384, effort)
    if not effort.quick:
        yield _cosine(10_000, 1_536, effort)


def _scores(n: int) -> np.typing.NDArray[np.float64]:
    return np.random.default_rng(n).permutation(n) / n


def _order(scores: np.typing.NDArray[np.float64]) -> list[int]:
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order


def _dropped(pool: Pool) -> Dropped:
    """What our filter dropped, as the peers say it."""
    found: Dropped = {}
    for cut in pool.cuts:
        assert cut.redundant_with is not None
        assert cut.similarity is not None
        for row, other, value in zip(
            cut.rows.tolist(), cut.redundant_with.tolist(), cut.similarity.tolist(), strict=True
        ):
            found[row] = other, value
    return found


def _exactly(ours: Pool, theirs: Dropped) -> str:
    mine = _dropped(ours)
    if mine == theirs:
        return "same pairs, bit-equal"
    return _nearly(ours, theirs)


def _nearly(ours: Pool, theirs: Dropped) -> str:
    """Cosines in float32 differ in the last digits."""
    mine = _dropped(ours)
    if mine.keys() != theirs.keys():
        found = len(mine.keys() & theirs.keys())
        extra = len(theirs.keys() - mine.keys())
        return f"finds {found} of our {len(mine)}" + (f", {extra} others" if extra else "")
    worst = max((abs(mine[row][1] - theirs[row][1]) for row in mine), default=0.0)
    pairs = sum(mine[row][0] == theirs[row][0] for row in mine)
    return f"same rows, {pairs} of {len(mine)} same pairs, similarities within {worst:.0e}"


def _recall(ours: Pool, theirs: Dropped) -> str:
    mine = _dropped(ours)
    return f"recall {len(mine.keys() & theirs.keys()) / max(1, len(mine)):.3f}"


def _from_json(found: Sequence[Sequence[Any]]) -> Dropped:
    return {int(row): (int(other), float(value)) for row, other, value in found}


def _typescript(
    chunks: list[dict[str, object]],
    threshold: float,
    metric: str,
    agreement: Any,
    patience: float | None = None,
) -> Contender:
    try:
        return context_packer.contender(
            "dedup",
            chunks,
            {"threshold": threshold, "metric": metric},
            lambda ours, theirs: agreement(ours, _from_json(theirs)),
            note="its deduplicateChunks alone",
            patience=patience,
        )
    except MissingError as error:
        return absent(context_packer.NAME, error)


# -- text --------------------------------------------------------------------------------------


def _text(n: int, length: int, threshold: float, effort: Effort) -> Row:
    texts, scores = inputs.prose(n, length), _scores(n)
    tokens, stage = np.full(n, 250, np.int64), dedup(threshold, metric="jaccard")
    order = _order(scores)
    others = [
        _text_typescript(texts, scores, length, threshold, effort),
        left_out(SETS, "beyond a minute a call")
        if n > 1_000
        else Contender(
            SETS,
            near_duplicate_methods.python_sets(texts, order, threshold),
            agreement=_exactly,
        ),
    ]
    try:
        call = near_duplicate_methods.datasketch(texts, order, threshold)
        others.append(Contender(SKETCH, call, agreement=_recall, note="approximate"))
    except MissingError as error:
        others.append(absent(SKETCH, error))
    return measure(
        f"text dedup/{n}/{length}/{threshold}",
        f"n = {n:,}, {length:,} characters, threshold {threshold:g}",
        Contender("ours", lambda: stage(Pool.from_arrays(scores, tokens, texts=texts))),
        others,
        effort,
        sizes={"n": n, "characters": length, "threshold": threshold},
        facts=lambda pool: {"dropped": n - len(pool)},
    )


def _text_typescript(
    texts: Sequence[str],
    scores: np.typing.NDArray[np.float64],
    length: int,
    threshold: float,
    effort: Effort,
) -> Contender:
    if len(texts) > 1_000:
        return left_out(context_packer.NAME, "beyond an hour a call")
    if len(texts) == 1_000 and (effort.quick or length != 1_000):
        return left_out(context_packer.NAME, "half a minute a call and more")
    chunks: list[dict[str, object]] = [
        {"id": str(row), "content": text, "score": score}
        for row, (text, score) in enumerate(zip(texts, scores.tolist(), strict=True))
    ]
    patience = 140.0 if threshold == 0.9 else None
    return _typescript(chunks, threshold, "jaccard", _exactly, patience)


# -- embeddings --------------------------------------------------------------------------------


def _cosine(n: int, d: int, effort: Effort) -> Row:
    threshold = 0.9
    given, scores = inputs.vectors(n, d, copies=0.2), _scores(n)
    tokens, stage = np.full(n, 250, np.int64), dedup(threshold, metric="cosine")
    order = _order(scores)
    if n > 10_000:
        others = [left_out(name, "beyond a minute a call") for name in (LOOP, FULL)]
    else:
        loop = near_duplicate_methods.matrix_vector(given.embeddings, order, threshold)
        full = near_duplicate_methods.full_matrix(given.embeddings, order, threshold)
        others = [
            Contender(LOOP, loop, agreement=_nearly, note="BLAS on all cores"),
            Contender(FULL, full, agreement=_nearly, note="BLAS on all cores"),
        ]
    if n > 1_000:
        others.append(left_out(context_packer.NAME, "beyond half a minute a call"))
    else:
        chunks: list[dict[str, object]] = [
            {"id": str(row), "content": "x", "score": score, "embedding": vector}
            for row, (score, vector) in enumerate(
                zip(scores.tolist(), given.embeddings.tolist(), strict=True)
            )
        ]
        others.append(_typescript(chunks, threshold, "cosine", _nearly))
    return measure(
        f"cosine dedup/{n}/{d}",
        f"n = {n:,}, d = {d:,}, threshold {threshold:g}",
        Contender("ours", lambda: stage(Pool.from_arrays(scores, tokens, given.embeddings))),
        others,
        effort,
        sizes={"n": n, "d": d},
        facts=lambda pool: {"dropped": n - len(pool)},
        # At the least: the embeddings once for the check, once for the norms, once as unit rows.
        bytes_read=(lambda _: 12.0 * n * d) if n >= 10_000 else None,
        bandwidth=read_bandwidth() if n >= 10_000 else None,
    )
