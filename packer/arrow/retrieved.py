"""From a column of candidates to flat columns, without a Python object for each candidate.

What every row must hold (finite scores, tokens in range, no blank text, no id twice, embeddings of
one length) is checked for all rows at once.  A row that holds all of it is `usual` and becomes a
pool as it stands; any other goes through the same checks as the chunks of `pack`, one by one.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from packer.arrays import Bools, Floats, Ints, Vectors, frozen, sealed
from packer.tokens import (
    MOST_TOKENS,
    CountTokens,
    approximate,
    utf8_estimate,
    utf8_upper_bound,
)

from .schema import Checked, plain

__all__ = ["Retrieved", "retrieved"]

_BLANKS: Final = "".join(f"\\x{{{code:x}}}" for code in range(0x3001) if chr(code).isspace())
"""What Python takes for white space; none stands behind U+3000."""

_INK: Final = f"[^{_BLANKS}]"


@final
@attrs.frozen(eq=False, kw_only=True)
class Retrieved:
    """The candidates of the r rows of a batch, m in all, as flat columns.

    Row i has the candidates `offsets[i]` to `offsets[i + 1]` (int64[r + 1]).  `given` bool[r]: the
    list is not null.  `usual` bool[r]: nothing is wrong, and nothing needs a look at each.
    `scores` float64[m] (NaN where null); `tokens` int64[m] (0 where they are to be counted);
    `counted` int64[r], how many of a row Arrow counted, `uncounted` bool[m] or None, which are
    left to the counter; `vectors` float32[sum of lengths] and `vector_offsets` int64[m + 1];
    `children` the fields as they came, `columns` the same without wrapping, `extra` those of them
    that are metadata, `maps` the metadata in maps, `there` which structs are not null: arrays of m.
    """

    offsets: Ints
    given: Bools
    usual: Bools
    scores: Floats
    tokens: Ints
    counted: Ints
    uncounted: Bools | None
    ids: Any
    texts: Any
    vectors: Vectors | None
    vector_offsets: Ints | None
    columns: Mapping[str, Any]
    extra: Mapping[str, Any]
    maps: Any
    there: Any
    children: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.given)

    def id(self, at: int) -> str:
        """The id of a candidate of a usual row."""
        if self.ids is not None:
            found: str = self.ids[at].as_py()
            return found
        row = int(np.searchsorted(self.offsets, at, side="right")) - 1
        return f"chunk-{at - int(self.offsets[row])}"

    @property
    def row_of(self) -> Ints:
        """int64[m]: the row of each candidate."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def retrieved(column: Any, found: Checked, count_tokens: CountTokens) -> Retrieved:
    """The candidates of a column (an array of lists of structs).  O(size), column by column."""
    column = plain(column)
    given = pc.is_valid(column).to_numpy(zero_copy_only=False)
    offsets = _offsets(column)
    struct = plain(column.flatten())
    row_of = np.repeat(np.arange(len(column)), np.diff(offsets))
    children = dict(zip((field.name for field in struct.type), struct.flatten(), strict=True))
    columns = {name: plain(children[name]) for name in found.fields}
    odd = np.zeros(len(struct), np.bool_)
    if struct.null_count:
        odd |= pc.is_null(struct).to_numpy(zero_copy_only=False)

    scores = _scores(columns["score"])
    odd |= ~np.isfinite(scores)
    ids, texts = columns.get("id"), columns.get("content")
    if ids is not None:
        ids = ids if pa.types.is_string(ids.type) else ids.cast(pa.string())
        odd |= _unclear(ids, row_of)
    if texts is not None:
        odd |= ~_holds(pc.match_substring_regex(texts, _INK))
    tokens, uncounted = _tokens(columns.get("tokens"), texts, count_tokens, len(struct))
    odd |= (tokens < 0) | (tokens > MOST_TOKENS)
    missing = _missing(columns.get("tokens"), len(struct))
    if texts is None:
        odd |= missing
    vectors, vector_offsets, strange = _vectors(columns.get("embedding"), row_of)
    if strange is not None:
        odd |= strange

    usual = np.ones(len(column), np.bool_)
    usual[row_of[odd]] = False
    extra, maps = _metadata(columns, found)
    return Retrieved(
        offsets=sealed(offsets),
        given=sealed(given),
        usual=sealed(usual),
        scores=sealed(scores),
        tokens=sealed(tokens),
        counted=sealed(np.bincount(row_of[missing], minlength=len(column))),
        uncounted=uncounted,
        ids=ids,
        texts=texts,
        vectors=vectors,
        vector_offsets=vector_offsets,
        columns=columns,
        extra=extra,
        maps=maps,
        there=struct.is_valid(),
        children=children,
    )


def _offsets(lists: Any) -> Ints:
    """int64[r + 1]: where the entries of each list begin in `lists.flatten()`."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _holds(array: Any) -> Bools:
    """bool[n]: where a boolean array is true; null is not."""
    found: Bools = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
    return found


def _missing(array: Any, count: int) -> Bools:
    """bool[n]: where a column has no value."""
    if array is None:
        return np.ones(count, np.bool_)
    if not array.null_count:
        return np.zeros(count, np.bool_)
    found: Bools = pc.is_null(array).to_numpy(zero_copy_only=False)
    return found


def _scores(array: Any) -> Floats:
    """float64[m], NaN where null; -0.0 becomes 0.0."""
    if not pa.types.is_float64(array.type):
        if pa.types.is_float16(array.type):
            array = array.cast(pa.float32())
        array = array.cast(pa.float64(), safe=False)
    found: Floats = array.to_numpy(zero_copy_only=False)
    return found + 0.0


def _unclear(ids: Any, row_of: Ints) -> Bools:
    """bool[m]: which ids are null, or stand twice in a row."""
    codes = ids.dictionary_encode().indices
    odd = _missing(codes, len(ids))
    number = pc.fill_null(codes, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    keys = row_of * (int(number.max(initial=0)) + 1) + number
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    odd[order[1:][ranked[1:] == ranked[:-1]]] = True
    return odd


def _characters(texts: Any) -> Ints:
    return _numbers(pc.utf8_length(texts))


def _bytes(texts: Any) -> Ints:
    return _numbers(pc.binary_length(texts))


def _numbers(array: Any) -> Ints:
    found: npt.NDArray[Any] = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)


_COUNTERS: Final[Mapping[object, Callable[[Any], Ints]]] = {
    approximate: lambda texts: -(-_characters(texts) // 4),
    utf8_estimate: lambda texts: -(-_bytes(texts) // 4),
    utf8_upper_bound: _bytes,
}
"""The counters that Arrow can stand in for."""


def _tokens(
    array: Any, texts: Any, count_tokens: CountTokens, count: int
) -> tuple[Ints, Bools | None]:
    """int64[m], given or counted, and which are left for the counter itself to count."""
    missing = _missing(array, count)
    if array is None:
        tokens = np.zeros(count, np.int64)
    else:
        tokens = pc.fill_null(array.cast(pa.int64(), safe=False), 0).to_numpy(zero_copy_only=False)
    if texts is None or not missing.any():
        return tokens, None
    quick = _COUNTERS.get(count_tokens) if _hashes(count_tokens) else None
    if quick is None:
        return tokens, sealed(missing)
    return np.where(missing, quick(texts), tokens), None


def _hashes(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _vectors(array: Any, row_of: Ints) -> tuple[Vectors | None, Ints | None, Bools | None]:
    """The flat numbers of the embeddings, their offsets, and which are not usual.

    Usual in a row: all have one and the same length, no number is NaN or infinite, and none is all
    zeros.
    """
    if array is None:
        return None, None, None
    offsets = _offsets(array)
    values = plain(array.flatten())
    if not pa.types.is_float32(values.type):
        if pa.types.is_null(values.type):
            values = values.cast(pa.float32())
        with np.errstate(over="ignore"):
            flat = values.to_numpy(zero_copy_only=False).astype(np.float32)
    else:
        flat = values.to_numpy(zero_copy_only=False)
    lengths = np.diff(offsets)
    odd = np.zeros(len(lengths), np.bool_)
    if len(lengths):
        begins = np.ones(len(row_of), np.bool_)
        begins[1:] = row_of[1:] != row_of[:-1]
        first = np.maximum.accumulate(np.where(begins, np.arange(len(row_of)), 0))
        odd |= lengths != lengths[first]
        some = np.flatnonzero(lengths)
        firsts = some[flat[offsets[some]] == 0.0]  # few, so that not all is looked at
        odd[[at for at in firsts.tolist() if not flat[offsets[at] : offsets[at + 1]].any()]] = True
    finite = np.isfinite(flat)
    if not finite.all():
        places = np.searchsorted(offsets, np.flatnonzero(~finite), side="right") - 1
        odd[places] = True
    return frozen(flat), sealed(offsets), odd


def _metadata(columns: Mapping[str, Any], found: Checked) -> tuple[dict[str, Any], Any]:
    """The array of each metadata key, and the array of maps, where there is one."""
    extra = {name: _readable(columns[name]) for name in found.extra}
    maps = columns.get("metadata")
    if maps is not None and pa.types.is_struct(maps.type):
        inner = maps.flatten()  # null where the struct is
        for place, field in enumerate(maps.type):
            extra[field.name] = _readable(plain(inner[place]))
        maps = None
    return extra, maps


def _readable(array: Any) -> Any:
    """Dates as Python has them: nanoseconds, which it has not, are cut to microseconds."""
    if pa.types.is_timestamp(array.type) and array.type.unit == "ns":
        return array.cast(pa.timestamp("us", tz=array.type.tz), safe=False)
    return array
