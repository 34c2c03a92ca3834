"""Which columns come in and which go out, as types: checked once a batch, before any row."""

from typing import Any, Final, final

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from packer.errors import InvalidParameter

__all__ = ["ADDED", "Names", "checked", "output_schema", "plain"]

FIELDS: Final = ("id", "content", "score", "tokens", "embedding", "metadata")
"""The fields of a candidate that mean something by themselves; all others are metadata."""

ADDED: Final = ("packed", "tokens_used", "excluded", "optimality", "warnings", "error")
"""The columns that every result has; with a template there is also `text`."""

EXCLUDED: Final = pa.struct(
    [
        pa.field("id", pa.string()),
        pa.field("candidate", pa.int32()),
        pa.field("score", pa.float64()),
        pa.field("tokens", pa.int64()),
        pa.field("reason", pa.string()),
        pa.field("stage", pa.string()),
        pa.field("redundant_with", pa.string()),
        pa.field("similarity", pa.float64()),
        pa.field("detail", pa.string()),
    ]
)
OPTIMALITY: Final = pa.struct(
    [
        pa.field("value", pa.float64()),
        pa.field("bound", pa.float64()),
        pa.field("gap", pa.float64()),
        pa.field("proven", pa.bool_()),
    ]
)
WARNING: Final = pa.struct([pa.field("code", pa.string()), pa.field("message", pa.string())])
ERROR: Final = WARNING


@final
@attrs.frozen
class Names:
    """The names of the columns of a batch that mean something."""

    candidates: str = "candidates"
    query: str | None = None
    budget: str | None = None
    carry: tuple[str, ...] = ()


@final
@attrs.frozen(eq=False)
class Checked:
    """The fields of the candidates, by what they are for; `extra` are metadata keys."""

    fields: dict[str, Any]
    content: Any
    extra: tuple[str, ...]
    carried: tuple[Any, ...]


def plain(array: Any) -> Any:
    """The same values without the wrapping: dictionaries, extensions and runs undone."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    return array


def plain_type(kind: Any) -> Any:
    """The type of what `plain` gives."""
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return kind


def is_text(kind: Any) -> bool:
    """Whether a plain type is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_list(kind: Any) -> bool:
    """Whether a plain type is one of lists."""
    kinds = (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    )
    return any(is_one(kind) for is_one in kinds)


def is_number(kind: Any) -> bool:
    """Whether a plain type is one of numbers that can be scores."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _is_vector(kind: Any) -> bool:
    if not is_list(kind):
        return False
    inner = plain_type(kind.value_type)
    numbers = pa.types.is_integer(inner) or pa.types.is_floating(inner)
    return bool(numbers or pa.types.is_null(inner))


def _is_metadata(kind: Any) -> bool:
    if pa.types.is_map(kind):
        return is_text(plain_type(kind.key_type))
    return bool(pa.types.is_struct(kind))


_WANTED: Final = {
    "id": (lambda kind: is_text(kind) or pa.types.is_integer(kind), "text or an integer type"),
    "content": (is_text, "text"),
    "score": (is_number, "a float or integer type"),
    "tokens": (pa.types.is_integer, "an integer type, as in cast(pa.int64())"),
    "embedding": (_is_vector, "lists of numbers"),
    "metadata": (_is_metadata, "a struct, or a map from text"),
}


def checked(schema: Any, names: Names, *, template: bool) -> Checked:
    """The fields of the candidates of such a batch.

    Raises INVALID_PARAMETER for a column or a field that is missing, of another type, or in the
    way of a column that is added.
    """
    added = (*ADDED, "text") if template else ADDED
    taken = [name for name in added if name in schema.names]
    if taken:
        message = (
            f"the batch has a column {taken[0]!r} already, which the result adds; "
            "rename or drop it first"
        )
        raise InvalidParameter(message, details={"columns": taken})
    kind = plain_type(_column(schema, names.candidates, "candidates_column"))
    inner = plain_type(kind.value_type) if is_list(kind) else None
    if inner is None or not pa.types.is_struct(inner):
        message = (
            f"column {names.candidates!r} is {kind}; give a list of structs with the fields "
            "score, content or tokens, and where you have them id, embedding and metadata"
        )
        raise InvalidParameter(message, details={"column": names.candidates, "type": str(kind)})
    fields = _fields(inner, names.candidates)
    for name, given, wanted, fits in (
        ("query_column", names.query, "text", is_text),
        ("budget_column", names.budget, "an integer type", pa.types.is_integer),
    ):
        if given is not None:
            _fitting(given, plain_type(_column(schema, given, name)), wanted, fits)
    return Checked(
        fields=fields,
        content=fields.get("content"),
        extra=_extra(fields, names.candidates),
        carried=tuple(_carried(inner, name, names.candidates) for name in names.carry),
    )


def _column(schema: Any, name: str, argument: str) -> Any:
    places = schema.get_all_field_indices(name)
    if len(places) != 1:
        told = "no column" if not places else f"{len(places)} columns"
        have = ", ".join(map(repr, schema.names)) or "none"
        message = f"the batch has {told} {name!r}; name it by {argument} (it has {have})"
        raise InvalidParameter(message, details={argument: name, "columns": schema.names})
    return schema.field(name).type


def _fitting(name: str, kind: Any, wanted: str, fits: Any) -> None:
    if not (fits(kind) or pa.types.is_null(kind)):
        message = f"{name} is {kind}; give {wanted}"
        raise InvalidParameter(message, details={"column": name, "type": str(kind)})


def _fields(inner: Any, column: str) -> dict[str, Any]:
    """The plain type of each field that is not just nulls."""
    fields: dict[str, Any] = {}
    for place in range(inner.num_fields):
        field = inner.field(place)
        if field.name in fields:
            message = f"{column} has two fields {field.name!r}; rename or drop one"
            raise InvalidParameter(message, details={"column": column, "field": field.name})
        fields[field.name] = plain_type(field.type)
    for name, (fits, wanted) in _WANTED.items():
        if name in fields:
            _fitting(f"{column}.{name}", fields[name], wanted, fits)
    if "score" not in fields:
        message = f"{column} has no field 'score' (it has {', '.join(map(repr, fields))})"
        raise InvalidParameter(message, details={"column": column, "field": "score"})
    fields = {name: kind for name, kind in fields.items() if not pa.types.is_null(kind)}
    if "content" not in fields and "tokens" not in fields:
        message = f"{column} has neither content nor tokens; one of them says what a chunk costs"
        raise InvalidParameter(message, details={"column": column, "field": "tokens"})
    return fields


def _extra(fields: dict[str, Any], column: str) -> tuple[str, ...]:
    extra = tuple(name for name in fields if name not in FIELDS)
    kind = fields.get("metadata")
    if kind is not None and pa.types.is_struct(kind):
        keys = [kind.field(place).name for place in range(kind.num_fields)]
        twice = [key for key in keys if key in extra or keys.count(key) > 1]
        if twice:
            message = f"{column} has the metadata key {twice[0]!r} twice; rename or drop one"
            raise InvalidParameter(message, details={"column": column, "field": twice[0]})
    return extra


def _carried(inner: Any, name: str, column: str) -> Any:
    if inner.get_field_index(name) < 0 or name in (*_packed_names(), "content"):
        have = ", ".join(repr(field.name) for field in inner)
        message = (
            f"carry names {name!r}; give names of fields of {column} ({have}) that are not in "
            f"packed anyway ({', '.join(_packed_names())}, content)"
        )
        raise InvalidParameter(message, details={"carry": name})
    return inner.field(name)


def _packed_names() -> tuple[str, ...]:
    return ("id", "candidate", "position", "score", "tokens", "original_tokens", "new_tokens")


def packed_type(found: Checked) -> Any:
    """The struct of a packed chunk: content in its own type, where the candidates have one."""
    fields = [
        pa.field("id", pa.string()),
        pa.field("candidate", pa.int32()),
        pa.field("position", pa.int32()),
        pa.field("score", pa.float64()),
        pa.field("tokens", pa.int64()),
        pa.field("original_tokens", pa.int64()),
        pa.field("new_tokens", pa.int64()),
    ]
    if found.content is not None:
        fields.append(pa.field("content", found.content))
    return pa.struct([*fields, *found.carried])


def added_fields(found: Checked, *, template: bool) -> list[Any]:
    """The fields of the columns that a result adds."""
    fields = [
        pa.field("packed", pa.list_(packed_type(found))),
        pa.field("tokens_used", pa.int64()),
        pa.field("excluded", pa.list_(EXCLUDED)),
        pa.field("optimality", OPTIMALITY),
        pa.field("warnings", pa.list_(WARNING)),
        pa.field("error", ERROR),
    ]
    return [*fields, pa.field("text", pa.string())] if template else fields


def output_schema(
    schema: Any,
    *,
    candidates_column: str = "candidates",
    carry: tuple[str, ...] = (),
    template: object = None,
) -> Any:
    """The schema that `pack_batch` gives for such a batch, for engines that ask beforehand.

    Takes those arguments of `pack_batch` on which it depends; it depends on no data.

    Raises INVALID_PARAMETER as `pack_batch` does.

    >>> candidate = pa.struct({"id": pa.string(), "score": pa.float64(), "tokens": pa.int64()})
    >>> schema = pa.schema({"query": pa.string(), "candidates": pa.list_(candidate)})
    >>> output_schema(schema).names
    ['query', 'candidates', 'packed', 'tokens_used', 'excluded', 'optimality', 'warnings', 'error']
    """
    names = Names(candidates=candidates_column, carry=tuple(carry))
    found = checked(schema, names, template=template is not None)
    for field in added_fields(found, template=template is not None):
        schema = schema.append(field)
    return schema
