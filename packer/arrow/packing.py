"""`pack_batch`: every row of a batch is a request, packed as `pack` packs it."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np
import pyarrow as pa

from packer.algebra import Policy
from packer.arrays import Ints
from packer.budget import Budget, available
from packer.call import Call, checked_call
from packer.errors import InvalidBudget, InvalidParameter, PackError, shown
from packer.facade import Packer
from packer.intake import OnInvalid
from packer.template import Template
from packer.tokens import CountTokens, approximate

from .ledger import Ledger
from .retrieved import Retrieved, retrieved
from .rows import Source
from .schema import Checked, Names, added_fields, checked, plain
from .together import UNLIMITED, Program, program

__all__ = ["OnError", "pack_batch"]

ROWS: Final = 1024
"""Rows that are packed at a time, so that what a stage makes of them stays small."""

OnError: TypeAlias = Literal["raise", "set-aside"]


def pack_batch(
    batch: Any,
    policy: Policy,
    *,
    budget: int | Budget | None = None,
    budget_column: str | None = None,
    candidates_column: str = "candidates",
    query_column: str | None = None,
    overhead: int = 0,
    count_tokens: CountTokens = approximate,
    template: Template | None = None,
    on_invalid: OnInvalid = "raise",
    on_error: OnError = "raise",
    now: dt.datetime | str | float | None = None,
    carry: Sequence[str] = (),
    details: bool = True,
) -> Any:
    """Pack every row of a `pyarrow.RecordBatch` or `Table`; the same with more columns.

    `candidates_column`: lists of structs with `score` and `content` or `tokens` (or both), and
    where you have them `id`, `embedding` and `metadata` (a struct or a map); every other field is
    metadata too.  `budget`: tokens a row, or `budget_column`; with both, the first is for rows
    where the second is null.  `query_column`: the request's words.  `overhead`, `count_tokens`,
    `template`, `on_invalid` and `now` as in `pack`; the clock is read once a call.

    Adds `packed` (list of struct<id, candidate, position, score, tokens, original_tokens,
    new_tokens, content>; `candidate` is the place in the row's list, `carry` names more of its fields), `tokens_used`,
    `excluded` (list of struct<id, candidate, score, tokens, reason, stage, redundant_with,
    similarity, detail>), `optimality` (struct<value, bound, gap, proven>, of selectors that know
    it), `warnings` (list of struct<code, message>), `error` (struct<code, message>, null where all
    is well) and with a template `text`.  ``details=False`` leaves
    `detail` null, which saves its texts.  A row without a list (null) has null in all of them.

    ``on_error="set-aside"``: a row that `pack` would refuse has null but for `error`; "raise"
    raises what `pack` raises, with the row in `details` and in the message.

    Columns throughout: a text, an id or a metadata value becomes Python only where a stage asks
    for it.  O(size of the batch), beside what the stages need.

    Raises INVALID_PARAMETER for a batch of another shape, INVALID_BUDGET, INVALID_POLICY.

    >>> import pyarrow as pa
    >>> from strategies import greedy
    >>> candidates = [{"id": "a", "score": 0.9, "tokens": 60}, {"id": "b", "score": 0.8, "tokens": 50}]
    >>> table = pa.table({"query": ["refunds?"], "candidates": [candidates]})
    >>> packed = pack_batch(table, greedy, budget=100)
    >>> packed["packed"][0][0]["id"].as_py(), packed["tokens_used"][0].as_py()
    ('a', 60)
    >>> packed["excluded"][0][0]["detail"].as_py()
    'needs 10 more tokens'
    """
    if not isinstance(batch, pa.RecordBatch | pa.Table):
        message = f"pack_batch takes a pyarrow RecordBatch or Table, not {shown(batch)}"
        raise InvalidParameter(message, details={"batch": type(batch).__name__})
    if on_error not in ("raise", "set-aside"):
        message = f'on_error is {shown(on_error)}; write "raise" or "set-aside"'
        raise InvalidParameter(message, details={"on_error": on_error})
    if budget is None and budget_column is None:
        message = "give budget, in tokens, or the name of a budget_column"
        raise InvalidBudget(message, details={"budget": None})
    moment = dt.datetime.now(dt.UTC) if now is None else now
    packer = Packer(
        policy,
        budget=1 if budget is None else budget,
        overhead=overhead,
        count_tokens=count_tokens,
        template=template,
        on_invalid=on_invalid,
        now=moment,
    )
    job = _Job(
        packer=packer,
        call=checked_call(packer.budget, overhead, count_tokens, None, moment, template),
        limit=None if budget is None else available(budget),
        names=Names(candidates_column, query_column, budget_column, _carried(carry)),
        on_error=on_error,
        details=details,
        program=None if template is not None else program(policy),
    )
    found = checked(batch.schema, job.names, template=template is not None)
    if isinstance(batch, pa.RecordBatch):
        return _packed(batch, found, job, 0)
    return pa.Table.from_batches(
        list(_in_turn(batch, found, job)), _schema(batch.schema, found, job)
    )


@attrs.frozen(eq=False)
class _Job:
    """What is asked for, the same for every row."""

    packer: Packer
    call: Call
    limit: int | None
    names: Names
    on_error: OnError
    details: bool
    program: Program | None

    @property
    def templated(self) -> bool:
        return self.packer.template is not None


def _carried(carry: Any) -> tuple[str, ...]:
    names = tuple(carry) if not isinstance(carry, str) else None
    if names is None or not all(isinstance(name, str) for name in names):
        message = f"carry is {shown(carry)}; give a list of names of fields"
        raise InvalidParameter(message, details={"carry": carry})
    if len(set(names)) < len(names):
        message = f"carry names a field twice: {shown(names)}"
        raise InvalidParameter(message, details={"carry": names})
    return names


def _schema(schema: Any, found: Checked, job: _Job) -> Any:
    for field in added_fields(found, template=job.templated):
        schema = schema.append(field)
    return schema


def _in_turn(table: Any, found: Checked, job: _Job) -> Iterator[Any]:
    """The packed batches of a table."""
    row = 0
    for batch in table.to_batches():
        yield _packed(batch, found, job, row)
        row += batch.num_rows


def _packed(batch: Any, found: Checked, job: _Job, first: int) -> Any:
    """The batch with its new columns; its first row is the row `first` of what was given."""
    parts = [
        _columns(batch.slice(start, ROWS), found, job, first + start)
        for start in range(0, max(batch.num_rows, 1), ROWS)
    ]
    added = [pa.concat_arrays(columns) for columns in zip(*parts, strict=True)]
    schema = _schema(batch.schema, found, job)
    return pa.RecordBatch.from_arrays([*batch.columns, *added], schema=schema)


def _columns(batch: Any, found: Checked, job: _Job, first: int) -> list[Any]:
    """The columns that a result adds to these rows."""
    names = job.names
    rows = retrieved(batch.column(names.candidates), found, job.call.count_tokens)
    ledger = Ledger(rows, details=job.details)
    limits = _limits(batch, rows, ledger, job, first)
    waiting = rows.given & (limits > 0)
    if job.program is not None:
        together = waiting & job.program.takes(rows)
        if together.any():
            job.program.run(rows, ledger, together, limits, job.call)
        waiting &= ~together
    if waiting.any():
        _one_by_one(batch, rows, ledger, np.flatnonzero(waiting), limits, job, first)
    return ledger.columns(found, template=job.templated)


def _limits(batch: Any, rows: Retrieved, ledger: Ledger, job: _Job, first: int) -> Ints:
    """int64[r]: the budget of each row, 0 where there is none; above 2**62 is as 2**62."""
    if job.names.budget is None:
        assert job.limit is not None  # one of the two is given
        return np.full(len(rows), min(job.limit, UNLIMITED))
    limits = np.zeros(len(rows), np.int64)
    given = plain(batch.column(job.names.budget)).to_pylist()
    for row in np.flatnonzero(rows.given).tolist():
        try:
            limits[row] = min(_limit(given[row], job), UNLIMITED)
        except InvalidBudget as error:
            _refuse(error, row, ledger, job, first)
    return limits


def _one_by_one(
    batch: Any, rows: Retrieved, ledger: Ledger, waiting: Ints, limits: Ints, job: _Job, first: int
) -> None:
    """Pack each of these rows as `pack` does."""
    source = Source.of(rows, job.packer.on_invalid)
    queries = None if job.names.query is None else plain(batch.column(job.names.query)).to_pylist()
    for row in waiting.tolist():
        try:
            call = job.call
            if queries is not None:
                call = attrs.evolve(call, query=queries[row])
            if job.names.budget is not None:
                call = call.within(int(limits[row]))
            ledger.add_row(row, *job.packer.run(source.pool(row, call)))
        except (MemoryError, ImportError):  # no fault of the row
            raise
        except Exception as error:  # noqa: BLE001  # whatever a caller's own functions raise
            _refuse(error, row, ledger, job, first)


def _refuse(error: Exception, row: int, ledger: Ledger, job: _Job, first: int) -> None:
    """Set a row aside for an error, or raise it with the row where it arose."""
    ours = isinstance(error, PackError)
    if job.on_error == "set-aside":
        code = error.code if isinstance(error, PackError) else type(error).__name__
        ledger.fail(row, code, error.message if isinstance(error, PackError) else _told(error))
        return
    if not ours:
        error.add_note(f"raised for row {first + row} of the batch")
        raise error
    assert isinstance(error, PackError)
    raise _placed(error, first + row) from error


def _limit(given: Any, job: _Job) -> int:
    """The tokens of a row.  Raises INVALID_BUDGET."""
    if given is None and job.limit is not None:
        return job.limit
    if given is None:
        message = f"{job.names.budget} is null; fill it, or give budget for the rows that have none"
        raise InvalidBudget(message, details={"budget": None})
    return available(given)


def _placed(error: PackError, row: int) -> PackError:
    """The same error with the row where it arose."""
    details = {**error.details, "row": row}
    return type(error)(f"row {row}: {error.message}", error.code, details)


def _told(error: Exception) -> str:
    """The text of an error that is not ours, with its notes."""
    notes = getattr(error, "__notes__", [])
    return "; ".join(str(text) for text in (error, *notes) if str(text)) or type(error).__name__
