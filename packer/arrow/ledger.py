"""What became of each candidate, collected row by row or for many rows at once, as columns."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from packer.arrays import Ints
from packer.columns import Cut
from packer.outcome import detail, new_tokens, warnings
from packer.pool import Pool
from packer.records import Conflict, Optimality, Reason, Warning
from packer.rendering import Rendered
from packer.selection import Layout

from .retrieved import Retrieved
from .schema import ERROR, EXCLUDED, OPTIMALITY, WARNING, Checked, packed_type

__all__ = ["Excluded", "Ledger", "Picked"]

NONE: Final = -1


@final
@attrs.frozen(eq=False)
class Picked:
    """Candidates that are in: their rows, in output order within each, and places among all.

    `rows`, `at` and `tokens` int64[k]; `originals`: of each place whose text was shortened, its
    text now and the tokens that it had.  `new` int64[k]: what each was charged under `overlap`.
    """

    rows: Ints
    at: Ints
    tokens: Ints
    originals: Mapping[int, tuple[str, int]] = attrs.field(factory=dict)
    new: Ints | None = None


@final
@attrs.frozen(eq=False)
class Excluded:
    """Candidates that are out, as `Picked`; `details` is an array of texts or a list of them.

    `near` int64[c] is the place of the near-duplicate, -1 where there is none.  `conflicts`: those
    that differ from it in a fact, each with its row.
    """

    rows: Ints
    at: Ints
    tokens: Ints
    reason: Reason
    stage: str
    details: Any
    near: Ints | None = None
    similarity: Any = None
    conflicts: Sequence[tuple[int, Conflict]] = ()


@final
class Ledger:
    """The outcome of a batch while it is made: parts in any order of the rows."""

    def __init__(self, batch: Retrieved, *, details: bool) -> None:
        self._batch = batch
        self.details = details
        self._picked: list[Picked] = []
        self._excluded: list[Excluded] = []
        self._used = np.zeros(len(batch), np.int64)
        self._failed = ~batch.given
        self._errors: dict[int, tuple[str, str]] = {}
        self._warnings: dict[int, list[tuple[str, str]]] = {}
        self._optimality: dict[int, Optimality] = {}
        self._texts: dict[int, str] = {}
        self._names: dict[int, str] = {}

    @property
    def failures(self) -> Mapping[int, tuple[str, str]]:
        """The rows that failed, each with a code and a message."""
        return self._errors

    # -- entries ---------------------------------------------------------------------------

    def fail(self, row: int, code: str, message: str) -> None:
        """A row is set aside."""
        self._failed[row] = True
        self._errors[row] = code, message

    def warn(self, row: int, warnings: Sequence[Warning]) -> None:
        """A row has these warnings."""
        if warnings:
            self._warnings[row] = [(one.code, one.message) for one in warnings]

    def judge(self, row: int, optimality: Optimality | None) -> None:
        """How good the choice of a row is known to be."""
        if optimality is not None:
            self._optimality[row] = optimality

    def add(self, picked: Picked, excluded: Sequence[Excluded], rows: Ints, used: Ints) -> None:
        """The outcome of many rows; `excluded` in the order of the stages."""
        self._picked.append(picked)
        self._excluded.extend(excluded)
        self._used[rows] = used

    def add_row(self, row: int, layout: Layout, rendered: Rendered | None) -> None:
        """The outcome of one row."""
        pool, start = layout.pool, int(self._batch.offsets[row])
        table, shown = pool.candidates, layout.table_rows
        originals = {
            start + int(table.source_rows[at]): (table.text(at), table.originals[at].tokens)
            for at in (shown.tolist() if table.originals else ())
            if at in table.originals
        }
        places = start + layout.rows
        new = new_tokens(layout)
        charged = None if new is None else np.array([new[at] for at in shown.tolist()], np.int64)
        picked = Picked(np.full(len(places), row), places, table.tokens[shown], originals, charged)
        excluded = [*self._invalid(row, pool), *(self._cut(row, pool, cut) for cut in pool.cuts)]
        used = int(layout.selection.costs.sum()) if rendered is None else rendered.used
        self._picked.append(picked)
        self._excluded.extend(excluded)
        self._used[row] = used
        self.warn(row, warnings(pool))
        self.judge(row, layout.selection.optimality)
        if rendered is not None:
            self._texts[row] = rendered.text
        if self._batch.ids is not None and not self._batch.usual[row]:
            self._name(start, pool)

    def _cut(self, row: int, pool: Pool, cut: Cut) -> Excluded:
        table, start = pool.candidates, int(self._batch.offsets[row])
        tokens = table.tokens[cut.rows]
        if table.originals:
            tokens = np.array([table.original(at).tokens for at in cut.rows.tolist()], np.int64)
        near = cut.redundant_with
        return Excluded(
            rows=np.full(len(cut), row),
            at=start + table.source_rows[cut.rows],
            tokens=tokens,
            reason=cut.reason,
            stage=cut.stage,
            details=[detail(pool, cut, at) for at in range(len(cut))] if self.details else None,
            near=None if near is None else start + table.source_rows[near],
            similarity=cut.similarity,
        )

    def _invalid(self, row: int, pool: Pool) -> list[Excluded]:
        if not pool.invalid:
            return []
        places = self._out_of(row, pool)
        told = [out.detail for out in pool.invalid]
        return [
            Excluded(
                rows=np.full(len(places), row),
                at=places,
                tokens=np.array([out.tokens for out in pool.invalid], np.int64),
                reason=Reason.INVALID,
                stage=pool.invalid[0].stage,
                details=told if self.details else None,
            )
        ]

    def _out_of(self, row: int, pool: Pool) -> Ints:
        """int64[c]: the places of what never became a row of the table, in input order."""
        start, end = self._batch.offsets[row : row + 2].tolist()
        there = np.zeros(end - start, np.bool_)
        there[pool.candidates.source_rows] = True
        found: Ints = start + np.flatnonzero(~there)
        return found

    def _name(self, start: int, pool: Pool) -> None:
        """Keep the ids that were made where there was none."""
        table = pool.candidates
        row = int(np.searchsorted(self._batch.offsets, start, side="right")) - 1
        for at, place in enumerate(table.source_rows.tolist()):
            self._names[start + place] = table.id(at)
        for out, at in zip(pool.invalid, self._out_of(row, pool).tolist(), strict=True):
            self._names[at] = out.id

    # -- columns ---------------------------------------------------------------------------

    def columns(self, found: Checked, *, template: bool) -> list[Any]:
        """The columns that a result adds, in the order of `schema.added_fields`."""
        columns = [
            self._packed(found),
            pa.array(self._used, pa.int64(), mask=self._failed),
            self._out(),
            self._judged(),
            self._warned(),
            self._error(),
        ]
        if template:
            given = [self._texts.get(row) for row in range(len(self._batch))]
            columns.append(pa.array(given, pa.string()))
        return columns

    def _lists(self, rows: Ints, values: Any) -> Any:
        """The values, sorted by row, as a list for each row; null where the row failed."""
        ends = np.cumsum(np.bincount(rows, minlength=len(self._batch)))
        offsets = pa.array(np.concatenate([[0], ends]), pa.int32())
        mask = pa.array(self._failed) if self._failed.any() else None
        return pa.ListArray.from_arrays(offsets, values, mask=mask)

    def _packed(self, found: Checked) -> Any:
        parts = self._picked
        rows = _joined([part.rows for part in parts])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        at = _joined([part.at for part in parts])[order]
        tokens = _joined([part.tokens for part in parts])[order]
        originals = {place: was for part in parts for place, was in part.originals.items()}
        cut = [originals.get(place) for place in at.tolist()] if originals else None
        begins = np.searchsorted(rows, rows, side="left")
        local = at - self._batch.offsets[rows]
        kind = packed_type(found)
        columns = [
            self._ids(at, local),
            pa.array(local, pa.int32()),
            pa.array(np.arange(len(rows)) - begins, pa.int32()),
            pa.array(self._batch.scores[at]),
            pa.array(tokens),
            pa.nulls(len(at), pa.int64())
            if cut is None
            else pa.array([None if was is None else was[1] for was in cut], pa.int64()),
            _or_null([(part.new, len(part.rows)) for part in parts], order),
        ]
        places = pa.array(at)
        if found.content is not None:
            contents = self._batch.columns["content"].take(places)
            if cut is not None:
                texts = pa.array([None if was is None else was[0] for was in cut], contents.type)
                contents = pc.coalesce(texts, contents)
            columns.append(contents)
        columns += [
            _fitted(self._batch.children[field.name].take(places), field.type)
            for field in found.carried
        ]
        return self._lists(rows, pa.StructArray.from_arrays(columns, fields=list(kind)))

    def _out(self) -> Any:
        parts = self._excluded
        rows = _joined([part.rows for part in parts])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        at = _joined([part.at for part in parts])[order]
        local = at - self._batch.offsets[rows]
        sizes = [len(part.rows) for part in parts]
        scores = self._batch.scores[at]
        near = _joined([_or_none(part.near, len(part.rows)) for part in parts])[order]
        similarity = np.concatenate(
            [np.zeros(0), *(_or_nan(part.similarity, len(part.rows)) for part in parts)]
        )[order]
        columns = [
            self._ids(at, local),
            pa.array(local, pa.int32()),
            pa.array(scores, mask=~np.isfinite(scores)),
            pa.array(_joined([part.tokens for part in parts])[order]),
            _words([part.reason for part in parts], sizes, order),
            _words([part.stage for part in parts], sizes, order),
            self._ids(near, near - self._batch.offsets[rows]),
            pa.array(similarity, mask=np.isnan(similarity)),
            self._told(parts, order),
        ]
        return self._lists(rows, pa.StructArray.from_arrays(columns, fields=list(EXCLUDED)))

    def _told(self, parts: Sequence[Excluded], order: Ints) -> Any:
        if not self.details:
            return pa.nulls(len(order), pa.string())
        whole: list[Any] = []
        loose: list[Any] = []
        for part in parts:
            if isinstance(part.details, list):
                loose += part.details
                continue
            whole += [pa.array(loose, pa.string()), part.details]
            loose = []
        whole.append(pa.array(loose, pa.string()))
        return pa.concat_arrays(whole).take(pa.array(order))

    def _ids(self, at: Ints, local: Ints) -> Any:
        """The ids of these places; null where a place is negative."""
        nowhere = at < 0
        places = pa.array(at, mask=nowhere) if nowhere.any() else pa.array(at)
        if self._batch.ids is None:
            numbers = pa.array(local, mask=nowhere).cast(pa.string())
            return pc.binary_join_element_wise("chunk-", numbers, "")
        ids = self._batch.ids.take(places)
        if not self._names:
            return ids
        names = [self._names.get(place) for place in at.tolist()]
        return pc.coalesce(pa.array(names, pa.string()), ids)

    def _judged(self) -> Any:
        count = len(self._batch)
        if not self._optimality:
            return pa.nulls(count, OPTIMALITY)
        known = map(self._optimality.get, range(count))
        found = [None if one is None else attrs.asdict(one) for one in known]
        return pa.array(found, OPTIMALITY)

    def _warned(self) -> Any:
        rows = sorted(row for row in self._warnings if not self._failed[row])
        found = [(row, one) for row in rows for one in self._warnings[row]]
        values = pa.array([{"code": code, "message": text} for _, (code, text) in found], WARNING)
        return self._lists(np.array([row for row, _ in found], np.int64), values)

    def _error(self) -> Any:
        codes, messages = (
            [
                self._errors[row][part] if row in self._errors else None
                for row in range(len(self._batch))
            ]
            for part in (0, 1)
        )
        return pa.StructArray.from_arrays(
            [pa.array(codes, pa.string()), pa.array(messages, pa.string())],
            fields=list(ERROR),
            mask=pa.array([code is None for code in codes], pa.bool_()),
        )


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _or_none(near: Ints | None, count: int) -> Ints:
    return np.full(count, NONE) if near is None else near


def _or_null(parts: Sequence[tuple[Ints | None, int]], order: Ints) -> Any:
    """The numbers of all parts in an order, null where a part has none."""
    if all(new is None for new, _ in parts):
        return pa.nulls(len(order), pa.int64())
    numbers = _joined([_or_none(new, count) for new, count in parts])[order]
    return pa.array(numbers, mask=numbers == NONE)


def _or_nan(similarity: Any, count: int) -> Any:
    return np.full(count, np.nan) if similarity is None else similarity


def _words(words: Sequence[str], sizes: Sequence[int], order: Ints) -> Any:
    """The word of each part, as often as it is long, in an order."""
    different = sorted(set(map(str, words)))
    code = {word: place for place, word in enumerate(different)}
    codes = np.repeat(np.array([code[str(word)] for word in words], np.int32), sizes)[order]
    return pa.array(different, pa.string()).take(pa.array(codes))


def _fitted(array: Any, kind: Any) -> Any:
    return array if array.type == kind else array.cast(kind)
