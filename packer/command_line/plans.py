r"""A plan as a TOML file, and the chunks of its sections.

    separator = "\n\n"

    [budget]              # or: budget = 4000
    window = 4000
    reserve = 500

    [[section]]
    name = "instructions"
    text = "Answer from the documents only."    # or file = "examples.jsonl", beside the plan
    minimum = 20

    [[section]]           # without text or file: takes chunks of the command's FILE
    name = "documents"
    policy = "dedup(0.9) | mmr(0.7)"
    share = 0.7
    template = { chunk = "[{position}] {content}", header = "# Documents\n" }

The chunks of FILE go to the section without text or file of its own; where there are several
of these, each chunk goes to the one that its metadata `section` names.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, final

import attrs

from packer.allotment import Section
from packer.budget import Budget
from packer.errors import PackError
from packer.intake import ChunkLike, OnInvalid
from packer.plan import PackedPlan, Plan
from packer.records import Chunk
from packer.tokens import CountTokens
from strategies import parse

from .faults import InputFault, input_fault, told
from .reading import Input, read
from .templates import read_table, template_of

__all__ = ["PlanFile", "read_plan"]

KEYS: Final = ("budget", "separator", "section")
BUDGET: Final = tuple(field.name for field in attrs.fields(Budget))
SECTION: Final = (
    "name",
    "policy",
    "minimum",
    "maximum",
    "share",
    "template",
    "text",
    "file",
)


@final
@attrs.frozen
class PlanFile:
    """A plan, the text or the file that sections have of their own, and who takes from FILE."""

    name: str
    plan: Plan
    texts: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def takers(self) -> list[str]:
        """The sections that take their chunks from the command's FILE."""
        named = (part.name for part in self.plan.sections)
        return [name for name in named if name not in self.texts and name not in self.files]

    def pack(self, file: str | None, seen: Callable[[int, int], None], **call: Any) -> PackedPlan:
        """Read what the sections need and pack it.

        Raises InputFault, naming the file and the lines, and what `Plan.pack` raises.
        """
        inputs = {name: read(path) for name, path in self.files.items()}
        if file is not None:
            inputs.update(self._parted(read(file, seen)))
        chunks: dict[str, Iterable[ChunkLike] | str] = {
            **self.texts,
            **{name: found.chunks for name, found in inputs.items()},
        }
        try:
            return self.plan.pack(chunks, **call)
        except PackError as error:
            found = inputs.get(str(error.details.get("section")))
            if found is None:
                raise
            raise input_fault(error, found.name, found.lines) from None

    def _parted(self, found: Input) -> dict[str, Input]:
        takers = self.takers
        parts = {name: Input(found.name, [], []) for name in takers}
        for line, chunk in zip(found.lines, found.chunks, strict=True):
            name = takers[0] if len(takers) == 1 else _section_of(chunk)
            if name not in takers:
                known = ", ".join(map(repr, takers)) or "none"
                what = "names no section" if name is None else f"names the section {name!r}"
                message = (
                    f"{found.name}, line {line}: the metadata of this chunk {what}; sections of "
                    f"{self.name} that take chunks from here: {known}"
                )
                raise InputFault(message)
            parts[name].chunks.append(chunk)
            parts[name].lines.append(line)
        return parts


def _section_of(chunk: Any) -> Any:
    metadata = chunk.get("metadata") if isinstance(chunk, Mapping) else None
    if isinstance(chunk, Chunk):
        metadata = chunk.metadata
    return metadata.get("section") if isinstance(metadata, Mapping) else None


def read_plan(
    path: str,
    *,
    budget: int | None,
    reserve: int | None,
    count_tokens: CountTokens,
    on_invalid: OnInvalid,
) -> PlanFile:
    """The plan of a TOML file; a given `budget` (the window) or `reserve` comes before its own.

    Raises InputFault, INVALID_BUDGET, INVALID_PARAMETER, INFEASIBLE.
    """
    table = read_table(path)
    _check_keys(table, KEYS, path)
    listed = table.get("section")
    if not isinstance(listed, list) or not listed or not all(isinstance(p, dict) for p in listed):
        message = f"{path}: a plan has sections; write each below [[section]]"
        raise InputFault(message)
    texts: dict[str, str] = {}
    files: dict[str, str] = {}
    sections = []
    for at, part in enumerate(listed, 1):
        where = f"{path}, section {part.get('name', at)}"
        _check_keys(part, SECTION, where)
        section = _section(part, where)
        sections.append(section)
        if "text" in part and "file" in part:
            message = f"{where}: it has both text and file; leave one out"
            raise InputFault(message)
        if "text" in part:
            texts[section.name] = _text(part["text"], "text", where)
        if "file" in part:
            beside = Path(path).parent / _text(part["file"], "file", where)
            files[section.name] = str(beside)
    plan = Plan(
        sections,
        budget=_budget(table.get("budget"), budget, reserve, path),
        separator=_text(table.get("separator", "\n\n"), "separator", path),
        count_tokens=count_tokens,
        on_invalid=on_invalid,
    )
    return PlanFile(path, plan, texts, files)


def _section(part: Mapping[str, Any], where: str) -> Section:
    if "name" not in part:
        message = f"{where}: it has no name"
        raise InputFault(message)
    limits = {key: part[key] for key in ("minimum", "maximum", "share") if key in part}
    try:
        policy = parse(_text(part.get("policy", "greedy"), "policy", where))
        if "template" in part:
            limits["template"] = template_of(part["template"], where)
        return Section(part["name"], policy, **limits)
    except PackError as error:
        message = f"{where}: {told(error)}"
        raise InputFault(message) from None


def _budget(value: Any, budget: int | None, reserve: int | None, path: str) -> Budget | int:
    if isinstance(value, Mapping):
        _check_keys(value, BUDGET, f"{path}, budget")
    elif value is None and budget is None:
        message = f"{path}: the plan has no budget; write budget = 4000, or give --budget"
        raise InputFault(message)
    parts = (
        dict(value) if isinstance(value, Mapping) else {} if value is None else {"window": value}
    )
    if budget is not None:
        parts["window"] = budget
    if reserve is not None:
        parts["reserve"] = reserve
    if "window" not in parts:
        message = f"{path}, budget: it has no window"
        raise InputFault(message)
    return Budget(**parts)


def _check_keys(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    names = list(known)
    for key in table:
        if key not in names:
            near = difflib.get_close_matches(key, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
            message = f"{where}: there is no key {key!r}; {hint}"
            raise InputFault(message)


def _text(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str):
        message = f"{where}: {key} is no text"
        raise InputFault(message)
    return value
