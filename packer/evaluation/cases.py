"""Labelled queries: what was asked, what was retrieved for it, and what a good pack must hold."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, final

import attrs
import numpy as np

from packer.arrays import Bools, Ints, Vectors, frozen, sealed
from packer.counted import number
from packer.errors import InvalidParameter, PackError, shown
from packer.intake import OnInvalid
from packer.numbers import is_int
from packer.pool import Pool
from packer.records import Chunk
from packer.terms import is_word_in
from packer.tokens import CountTokens, approximate

__all__ = ["Case", "CaseSet", "case", "holds_answer"]

LABELS: Final = ("evidence_groups", "evidence", "answers")
"""The keys that say what a good pack holds; a case has one of them at least."""

SHORT: Final = 4
"""Characters up to which an answer must be a word of its own: "35" is not in "1935"."""

_CHUNK: Final = frozenset(field.name for field in attrs.fields(Chunk))


@final
@attrs.frozen(eq=False, kw_only=True)
class Case:
    """One labelled query and its candidates; made by `case`.

    `groups`: for each piece of evidence that retrieval found, the rows of the pool's table that
    hold it (int64), any of which will do.  `unreachable`: how many pieces it missed, which no
    packer can mend.  `answers`: short texts of which one should be in the pack.
    `query_embedding`: float32[d] where the data has it.
    """

    id: str
    query: str
    pool: Pool
    groups: tuple[Ints, ...]
    unreachable: int = 0
    answers: tuple[str, ...] = ()
    query_embedding: Vectors | None = None
    holds: Bools = attrs.field(init=False, repr=False)
    """bool[m]: which rows of the table can be packed and hold an answer; all False for a case without answers."""
    unit: Vectors | None = attrs.field(init=False, repr=False)
    """float32[m, d]: the embeddings at length 1, zero where there is none."""
    _flat: Ints = attrs.field(init=False, repr=False)
    _starts: Ints = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        table = self.pool.candidates
        holds = np.zeros(len(table), np.bool_)
        if self.answers:
            for row in self.pool.table_rows.tolist():
                holds[row] = holds_answer(table.text(row), self.answers)
        nothing = np.empty(0, np.int64)
        derived = {
            "holds": sealed(holds),
            "unit": _unit(table.vectors),
            "_flat": sealed(np.concatenate([nothing, *self.groups])),
            "_starts": sealed(np.cumsum([0, *map(len, self.groups)])[:-1]),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def count_tokens(self) -> CountTokens:
        """What its candidates were counted with; counts what stages write anew, too."""
        return self.pool.call.count_tokens

    def __reduce__(self) -> tuple[Any, ...]:
        """As columns: a pool itself holds functions, which do not go to other processes.

        The counter goes by its name, so it must stand at the top of a module.
        """
        table = self.pool.candidates
        columns = (table.texts, table.scores, table.given_ids, table.tokens, table.metadata)
        kept = (self.id, self.groups, self.unreachable, self.answers, self.query_embedding)
        call = (self.query, self.count_tokens)
        return _rebuilt, (*call, columns, table.vectors, table.has_vector, kept)

    def covered(self, packed: Bools) -> Bools:
        """bool[groups]: which evidence is in, given the rows of the table that are (bool[m])."""
        if not self.groups:
            return np.empty(0, np.bool_)
        return np.logical_or.reduceat(packed[self._flat], self._starts)

    @property
    def evidence(self) -> Bools:
        """bool[m]: which rows of the table are evidence."""
        rows = np.zeros(len(self.pool.candidates), np.bool_)
        rows[self._flat] = True
        return rows


def _rebuilt(
    query: str,
    count_tokens: CountTokens,
    columns: tuple[Sequence[Any], ...],
    vectors: Vectors | None,
    has_vector: Bools,
    kept: tuple[Any, ...],
) -> Case:
    """The case of pickled columns."""
    chunks = [
        Chunk(
            text,
            float(score),
            id=id_,
            tokens=int(tokens),
            embedding=frozen(vectors[row]) if vectors is not None and has_vector[row] else None,
            metadata=metadata,
        )
        for row, (text, score, id_, tokens, metadata) in enumerate(zip(*columns, strict=True))
    ]
    id_, groups, unreachable, answers, query_embedding = kept
    return Case(
        id=id_,
        query=query,
        pool=Pool.from_chunks(chunks, query=query, count_tokens=count_tokens),
        groups=groups,
        unreachable=unreachable,
        answers=answers,
        query_embedding=query_embedding,
    )


def _tuple(cases: Iterable[Case]) -> tuple[Case, ...]:
    return tuple(cases)


@final
@attrs.frozen(eq=False)
class CaseSet:
    """Labelled queries that belong together: one corpus, one retriever.

    >>> from packer.evaluation import CaseSet, case
    >>> labelled = case({
    ...     "query": "How long do refunds take?",
    ...     "candidates": [{"content": "Refunds take 5 days.", "score": 0.9, "id": "refund"}],
    ...     "evidence": ["refund"],
    ... })
    >>> CaseSet("faq", [labelled])
    CaseSet('faq', 1 query)
    """

    name: str
    cases: Sequence[Case] = attrs.field(converter=_tuple)

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __repr__(self) -> str:
        return f"CaseSet({self.name!r}, {number(len(self), 'query', 'queries')})"

    def only(self, rows: Sequence[int] | Ints) -> "CaseSet":
        """The set of these cases alone, in this order."""
        return CaseSet(self.name, [self.cases[int(row)] for row in rows])


def case(
    record: Mapping[str, Any],
    *,
    number: int = 0,
    query_embedding: Any = None,
    count_tokens: CountTokens = approximate,
    on_invalid: OnInvalid = "raise",
) -> Case:
    """The case that a mapping describes, checked.

    Its keys: `query`, a text; `candidates`, chunks or mappings with the keys of `Chunk`; what a
    good pack holds, by `evidence_groups` (lists of ids of candidates, a group covered by any one),
    `evidence` (ids, each a group of its own) or `answers` (texts, any one of which will do); and,
    where there are, `query_id`, `query_embedding` and `evidence_groups_unreachable`, an int.
    Other keys are left alone.  Evidence that is not among the candidates, or is blank there, counts
    as unreachable.
    `count_tokens` and `on_invalid` as in `pack`; the counter stays with the case, for what stages
    write anew.

    Raises INVALID_PARAMETER, naming the field, and what `pack` raises about chunks.

    >>> from packer import Chunk
    >>> found = case({
    ...     "query": "Who pays?",
    ...     "candidates": [Chunk("We pay.", 0.9, id="a"), Chunk("It is we who pay.", 0.8, id="b")],
    ...     "evidence_groups": [["a", "b"], ["c"]],
    ... })
    >>> [rows.tolist() for rows in found.groups], found.unreachable
    ([[0, 1]], 1)
    """
    if not isinstance(record, Mapping):
        message = f"it is {shown(record)}; give a mapping with query, candidates and evidence"
        raise InvalidParameter(message, details={"value": record})
    query = record.get("query")
    if not isinstance(query, str) or not query.strip():
        raise _refusal(record, "query", "give the request's words as text")
    candidates = record.get("candidates")
    if isinstance(candidates, str | Mapping) or not isinstance(candidates, Sequence):
        raise _refusal(record, "candidates", "give a list of chunks")
    if all(record.get(key) is None for key in LABELS):
        near = difflib.get_close_matches("evidence", [key for key in record if key not in LABELS])
        hint = f"; did you mean {near[0]} to be evidence?" if near else ""
        message = f"it has none of {', '.join(LABELS)}, so that no pack is right or wrong{hint}"
        raise InvalidParameter(message, details={"field": "evidence"})
    pool = Pool.from_chunks(
        [_chunk(item) for item in candidates],
        query=query,
        count_tokens=count_tokens,
        on_invalid=on_invalid,
    )
    wanted = _groups(record)
    rows_of: dict[str, list[int]] = {}
    for row in pool.table_rows.tolist():  # no blank text and no id twice: none packs those
        rows_of.setdefault(pool.candidates.id(row), []).append(row)
    found = [[row for id_ in group for row in rows_of.get(id_, ())] for group in wanted]
    groups = tuple(sealed(np.array(rows, np.int64)) for rows in found if rows)
    if query_embedding is None:
        query_embedding = record.get("query_embedding")
    return Case(
        id=str(number if record.get("query_id") is None else record["query_id"]),
        query=query,
        pool=pool,
        groups=groups,
        unreachable=len(wanted) - len(groups) + _unreachable(record),
        answers=_texts(record, "answers"),
        query_embedding=None if query_embedding is None else _vector(query_embedding),
    )


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    r"""Whether one of the answers occurs in the text.

    Case and the width of blanks do not count; an answer of up to 4 characters must be a word,
    where the script has blanks between words.

    >>> holds_answer("It opened in  1935.", ["35"]), holds_answer("New\nYork, 1935", ["new york"])
    (False, True)
    """
    folded = _folded(text)
    return any(_occurs(_folded(answer), folded) for answer in answers)


def _occurs(answer: str, text: str) -> bool:
    if not answer or answer not in text:
        return False
    return len(answer) > SHORT or is_word_in(text, answer)


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _chunk(item: Any) -> Any:
    """The record of a mapping that has no other keys; what is wrong is left for the pool to say."""
    if isinstance(item, Mapping) and item.keys() <= _CHUNK and {"content", "score"} <= item.keys():
        return Chunk(**item)
    return item


def _groups(record: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The evidence as groups of ids, empty ones left out."""
    groups = record.get("evidence_groups")
    if groups is None:
        return [(id_,) for id_ in _texts(record, "evidence")]
    if isinstance(groups, str | Mapping) or not isinstance(groups, Sequence):
        raise _refusal(record, "evidence_groups", "give a list of lists of ids")
    for place, group in enumerate(groups):
        if not _is_texts(group):
            message = (
                f"evidence_groups: group {place + 1} is {shown(group)}; give a list of ids, "
                "any one of which is enough"
            )
            raise InvalidParameter(message, details={"field": "evidence_groups", "group": group})
    return [tuple(group) for group in groups if len(group)]


def _texts(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = record.get(key)
    if value is None:
        return ()
    if not _is_texts(value):
        raise _refusal(record, key, "give a list of texts")
    return tuple(value)


def _is_texts(value: Any) -> bool:
    listed = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    return listed and all(isinstance(text, str) for text in value)


def _unreachable(record: Mapping[str, Any]) -> int:
    value = record.get("evidence_groups_unreachable")
    if value is None:
        return 0
    if not is_int(value) or value < 0:
        raise _refusal(record, "evidence_groups_unreachable", "give an int of 0 or more")
    return int(value)


def _vector(value: Any) -> Vectors:
    try:
        vector = np.array(value, np.float32)
    except (TypeError, ValueError):
        vector = np.empty((0, 0), np.float32)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        message = f"query_embedding is {shown(value)}; give a list of finite numbers"
        raise InvalidParameter(message, details={"field": "query_embedding", "value": value})
    return sealed(vector)


def _unit(vectors: Vectors | None) -> Vectors | None:
    if vectors is None:
        return None
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return sealed((vectors / np.where(length > 0, length, 1.0)).astype(np.float32))


def _refusal(record: Mapping[str, Any], key: str, wanted: str) -> PackError:
    if record.get(key) is None:
        message = f"it has no {key}; {wanted}"
    else:
        message = f"{key} is {shown(record[key])}; {wanted}"
    return InvalidParameter(message, details={"field": key, "value": record.get(key)})
