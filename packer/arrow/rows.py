"""One row of a batch: its pool, and what the policy makes of it."""

from typing import Any, Final, final

import attrs
import numpy as np

from packer.arrays import Bools, Ints, frozen, sealed, squares
from packer.call import Call
from packer.columns import Candidates
from packer.intake import Intake, OnInvalid, constant_scores, estimates, from_chunks
from packer.pool import Pool
from packer.records import EMPTY, Warning
from packer.tokens import counts, is_estimate

from .lazily import LazyMetadata, LazyTexts
from .retrieved import Retrieved

__all__ = ["Source"]

_NO_TEXT: Final = "\N{REPLACEMENT CHARACTER}"
"""Stands for the text of a candidate whose batch has none, while it is checked."""


@final
class _Absent:
    """A token count that is missing where no text can be counted; validation shows it."""

    def __repr__(self) -> str:
        return "null, and there is no content to count"


@final
@attrs.frozen(eq=False)
class Source:
    """Makes the pool of any row of a batch.

    `numbers` int64[n], `all_` and `none` bool[n], with n the most candidates that a row has, are
    what usual rows take their columns from.
    """

    batch: Retrieved
    on_invalid: OnInvalid
    numbers: Ints
    all_: Bools
    none: Bools

    @classmethod
    def of(cls, batch: Retrieved, on_invalid: OnInvalid) -> "Source":
        most = int(np.diff(batch.offsets).max(initial=0))
        return cls(
            batch,
            on_invalid,
            sealed(np.arange(most)),
            sealed(np.ones(most, np.bool_)),
            sealed(np.zeros(most, np.bool_)),
        )

    def pool(self, row: int, call: Call) -> Pool:
        """The pool of a row for a call.

        Raises INVALID_CHUNK or DIMENSION_MISMATCH, naming every candidate with a fault, unless
        invalid ones are to be excluded; INVALID_COUNTER for a counter that does not count.
        """
        usual = bool(self.batch.usual[row])
        intake = self._usual(row, call) if usual else self._checked(row, call)
        return Pool.of_intake(intake, call, self.on_invalid)

    def _usual(self, row: int, call: Call) -> Intake:
        batch = self.batch
        start, end = int(batch.offsets[row]), int(batch.offsets[row + 1])
        n = end - start
        scores = batch.scores[start:end]
        texts = None if batch.texts is None else LazyTexts(batch.texts, start, end)
        ids = None if batch.ids is None else LazyTexts(batch.ids, start, end)
        tokens, counted = batch.tokens[start:end], int(batch.counted[row])
        if batch.uncounted is not None and counted:
            tokens = _counted(tokens, batch.uncounted[start:end], ids, texts, call)
        vectors = self._vectors(start, end)
        warnings: tuple[Warning, ...] = ()
        estimated = counted > 0 and is_estimate(call.count_tokens)
        if estimated:
            warnings = (estimates(counted, n, call.count_tokens),)
        if n > 1 and scores[0] == scores[-1] and scores.min() == scores.max():
            warnings = (*warnings, constant_scores(n, scores[0]))
        candidates = Candidates(
            given_ids=ids,
            texts=texts,
            scores=scores,
            tokens=tokens,
            metadata=self._metadata(start, end),
            vectors=vectors,
            squares=None if vectors is None else squares(vectors),
            has_vector=(self.none if vectors is None else self.all_)[:n],
            source_rows=self.numbers[:n],
        )
        return Intake(
            candidates=candidates,
            rows=self.numbers[:n],
            warnings=warnings,
            estimated=estimated,
        )

    def _vectors(self, start: int, end: int) -> Any:
        flat, offsets = self.batch.vectors, self.batch.vector_offsets
        if flat is None or offsets is None or start == end or offsets[start] == offsets[end]:
            return None
        return flat[offsets[start] : offsets[end]].reshape(end - start, -1)

    def _metadata(self, start: int, end: int) -> Any:
        batch = self.batch
        if not batch.extra and batch.maps is None:
            return (EMPTY,) * (end - start)
        return LazyMetadata(batch.extra, batch.maps, start, end)

    def _checked(self, row: int, call: Call) -> Intake:
        """The row's candidates as the chunks of `pack`, with all its checks."""
        batch = self.batch
        intake = from_chunks(self._chunks(row), call.count_tokens, self.on_invalid)
        if batch.texts is not None:
            return intake
        return attrs.evolve(intake, candidates=attrs.evolve(intake.candidates, texts=None))

    def _chunks(self, row: int) -> list[Any]:
        batch = self.batch
        start, end = int(batch.offsets[row]), int(batch.offsets[row + 1])
        n = end - start

        def values(name: str) -> list[Any]:
            found = batch.columns.get(name)
            return [None] * n if found is None else found[start:end].to_pylist()

        there = batch.there[start:end].to_pylist()
        texts = values("content") if batch.texts is not None else [_NO_TEXT] * n
        ids = [None] * n if batch.ids is None else batch.ids[start:end].to_pylist()
        tokens = values("tokens")
        if batch.texts is None:
            tokens = [_Absent() if count is None else count for count in tokens]
        metadata = self._metadata(start, end)
        return [
            {
                "content": texts[at],
                "score": _score(score),
                "id": ids[at],
                "tokens": tokens[at],
                "embedding": embedding,
                "metadata": dict(metadata[at]),
            }
            if there[at]
            else None
            for at, (score, embedding) in enumerate(
                zip(values("score"), values("embedding"), strict=True)
            )
        ]


def _score(value: Any) -> Any:
    """A decimal as the float that it is nearest to; any other as it is."""
    return value if value is None or isinstance(value, int | float) else float(value)


def _counted(
    tokens: Ints, missing: Bools, ids: LazyTexts | None, texts: LazyTexts | None, call: Call
) -> Ints:
    """int64[n]: the tokens with those that are missing counted by the call's counter."""
    assert texts is not None  # or the row is not usual
    rows = np.flatnonzero(missing).tolist()
    names = [f"chunk-{row}" if ids is None else ids[row] for row in rows]
    known = tokens.copy()
    known[missing] = counts(call.count_tokens, [texts[row] for row in rows], names)
    return frozen(known)
