"""Columns of Arrow as what stages read, each made Python only when a stage asks for it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final, overload

__all__ = ["LazyMetadata", "LazyTexts"]


@final
class LazyTexts(Sequence[str]):
    """The texts of a row's candidates, `array[start:end]`, as a list once one is asked for."""

    __slots__ = ("_array", "_end", "_found", "_start")

    def __init__(self, array: Any, start: int, end: int) -> None:
        self._array = array
        self._start = start
        self._end = end
        self._found: list[str] | None = None

    def _list(self) -> list[str]:
        if self._found is None:
            self._found = self._array[self._start : self._end].to_pylist()
        return self._found

    def __len__(self) -> int:
        return self._end - self._start

    @overload
    def __getitem__(self, at: int, /) -> str: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[str]: ...
    def __getitem__(self, at: int | slice, /) -> str | list[str]:
        return self._list()[at]

    def __iter__(self) -> Iterator[str]:
        return iter(self._list())


@final
class LazyMetadata(Sequence[Mapping[str, object]]):
    """The metadata of a row's candidates; of each key only the column that is asked for is read.

    `columns` has the array of each key, `whole` an array of maps.  Null means that it has none.
    """

    __slots__ = ("_columns", "_end", "_found", "_maps", "_start", "_whole")

    def __init__(self, columns: Mapping[str, Any], whole: Any, start: int, end: int) -> None:
        self._columns = columns
        self._whole = whole
        self._start = start
        self._end = end
        self._found: dict[str, list[object]] = {}
        self._maps: list[dict[str, object]] | None = None

    def maps(self) -> list[dict[str, object]]:
        """The entries of the maps, each as a dict."""
        if self._maps is None:
            found = self._whole[self._start : self._end].to_pylist()
            self._maps = [dict(pairs or ()) for pairs in found]
        return self._maps

    def value(self, row: int, key: str) -> object:
        """The value of a key, None where the row has none."""
        if key in self._columns:
            if key not in self._found:
                self._found[key] = self._columns[key][self._start : self._end].to_pylist()
            return self._found[key][row]
        return None if self._whole is None else self.maps()[row].get(key)

    def keys(self, row: int) -> list[str]:
        """The keys that a row has."""
        named = list(self._columns)
        if self._whole is not None:
            named += [key for key in self.maps()[row] if key not in self._columns]
        return [key for key in named if self.value(row, key) is not None]

    def __len__(self) -> int:
        return self._end - self._start

    @overload
    def __getitem__(self, at: int, /) -> Mapping[str, object]: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[Mapping[str, object]]: ...
    def __getitem__(self, at: int | slice, /) -> Mapping[str, object] | list[Mapping[str, object]]:
        if isinstance(at, slice):
            return [_Entry(self, row) for row in range(len(self))[at]]
        return _Entry(self, range(len(self))[at])


@final
class _Entry(Mapping[str, object]):
    """The metadata of one candidate."""

    __slots__ = ("_row", "_table")

    def __init__(self, table: LazyMetadata, row: int) -> None:
        self._table = table
        self._row = row

    def __getitem__(self, key: str) -> object:
        value = self._table.value(self._row, key)
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key: str, default: Any = None) -> Any:
        value = self._table.value(self._row, key)
        return default if value is None else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.keys(self._row))

    def __len__(self) -> int:
        return len(self._table.keys(self._row))

    def __repr__(self) -> str:
        return repr(dict(self))
