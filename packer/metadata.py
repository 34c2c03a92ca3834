"""What metadata says: nothing, one name or several, a key to group by, and who replaces whom."""

import math
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["hashable", "names", "present", "superseders"]


def present(value: object) -> object:
    """The value, None for NaN, which tables write where they have none.

    >>> present(float("nan")), present(0)
    (None, 0)
    """
    return None if isinstance(value, float) and math.isnan(value) else value


def names(value: object) -> list[str]:
    """The ids or sources that a value names, one or a list of them; empty text, 0 and bools name nothing.

    >>> names("a"), names(["a", "b"]), names(None), names("")
    (['a'], ['a', 'b'], [], [])
    """
    value = present(value)
    if value is None or isinstance(value, bool | bytes):
        return []
    if isinstance(value, str | int | float) and not value:
        return []
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [str(value)]
    return [name for item in value for name in names(item)]


def hashable(value: object) -> object:
    """The value as a key to group by: its text where it has no hash, None for NaN.

    >>> hashable("faq"), hashable(["faq"])
    ('faq', "['faq']")
    """
    value = present(value)
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def superseders(
    ids: Sequence[str], metadata: Sequence[Mapping[str, object]]
) -> list[tuple[int, ...]]:
    """For each chunk the rows of the others whose `supersedes` names it.

    By its id; or by its `source` (text) from another source, and of each such source only the
    first chunk counts: all chunks of a new edition may name the old one.  O(n) and what is named.

    >>> superseders(["a", "b", "c"], [{"source": "old"}, {"supersedes": "old"}, {"supersedes": "b"}])
    [(1,), (2,), ()]
    """
    by_id: dict[str, list[int]] = {}
    by_source: dict[str, dict[object, int]] = {}
    for row, own in enumerate(metadata):
        source = own.get("source")
        for name in names(own.get("supersedes")):
            by_id.setdefault(name, []).append(row)
            edition = source if isinstance(source, str) else row
            by_source.setdefault(name, {}).setdefault(edition, row)
    found = []
    for id_, own in zip(ids, metadata, strict=True):
        source = own.get("source")
        rows = list(by_id.get(id_, ()))
        if isinstance(source, str):
            named = by_source.get(source, {}).items()
            rows += [row for edition, row in named if edition != source]
        found.append(tuple(row for row in dict.fromkeys(rows) if ids[row] != id_))
    return found
