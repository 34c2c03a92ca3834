"""Contenders on one input, measured turn and turn about, so that drift of the machine cancels."""

import gc
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

import attrs

__all__ = [
    "Contender",
    "Effort",
    "MissingError",
    "Row",
    "Timing",
    "absent",
    "as_json",
    "at_the_quickest",
    "exponent",
    "from_json",
    "installed",
    "left_out",
    "measure",
    "ratio",
    "turns",
]

Fact: TypeAlias = bool | int | float | str

SHORTEST: Final = 2e-3
"""Seconds: quicker calls are timed in batches of this length, so that the clock does not count."""
BRIEF: Final = 2e-2
"""Seconds: before each batch of calls as quick as this one call is not timed, since the contender
whose turn it was before has emptied the caches."""
FEWEST: Final = 5
"""Runs of a contender, unless one run is slower than `Effort.patience` / 5."""
COMPILING: Final = 15.0
"""Seconds: a first call in our process may compile, so up to this it is not taken for its time."""


class MissingError(Exception):
    """A peer that is not installed; the text says what."""


@attrs.frozen
class Effort:
    """How long to measure: `seconds` for a quick contender, `patience` at most for a slow one."""

    quick: bool = False
    seconds: float = 0.5
    patience: float = 20.0

    @classmethod
    def of(cls, *, quick: bool) -> "Effort":
        return cls(quick=True, seconds=0.1, patience=2.0) if quick else cls()


@attrs.frozen
class Contender:
    """One who does the job.  `call` does it once and gives what was chosen.

    `clock(number)`: the seconds of so many calls, for one that times itself in its own process.
    `agreement(ours, theirs)` says whether the two results are the same.  `unfinished(result)`: it
    hit a time limit, so its time is a lower bound, and once is enough.  `missing`: why there is
    nothing to call.
    """

    name: str
    call: Callable[[], Any] | None = None
    clock: Callable[[int], float] | None = None
    agreement: Callable[[Any, Any], str] | None = None
    unfinished: Callable[[Any], bool] | None = None
    note: str = ""
    missing: str = ""
    patience: float | None = None

    def spent(self, number: int) -> float:
        """Seconds of one call, the mean of so many."""
        if self.clock is not None:
            return self.clock(number) / number
        call = self.call
        assert call is not None
        began = time.perf_counter()
        for _ in range(number):
            call()
        return (time.perf_counter() - began) / number


@attrs.frozen
class Timing:
    """How another did: median seconds, quartiles, the quickest; `ratio` is its median over ours.

    `seconds` is None where it did not run, and `note` says why.
    """

    name: str
    seconds: float | None
    quartiles: tuple[float, float] | None = None
    quickest: float | None = None
    runs: int = 0
    ratio: float | None = None
    agreement: str = ""
    note: str = ""


@attrs.frozen
class Row:
    """One job at one size: our median, and the others."""

    key: str
    job: str
    case: str
    sizes: Mapping[str, float]
    seconds: float
    quartiles: tuple[float, float]
    quickest: float
    runs: int
    others: Sequence[Timing] = ()
    facts: Mapping[str, Fact] = attrs.field(factory=dict)
    bandwidth_share: float | None = None

    def other(self, name: str) -> Timing | None:
        """The other of this name that ran."""
        found = (one for one in self.others if one.name == name and one.seconds is not None)
        return next(found, None)


# -- measuring ---------------------------------------------------------------------------------


def measure(
    key: str,
    case: str,
    ours: Contender,
    others: Iterable[Contender],
    effort: Effort,
    *,
    sizes: Mapping[str, float],
    facts: Callable[[Any], Mapping[str, Fact]] | None = None,
    bytes_read: Callable[[Any], float] | None = None,
    bandwidth: float | None = None,
) -> Row:
    """The row of a job: each contender is called to warm up, then all of them in turns.

    `facts` and `bytes_read` are functions of our result; with `bandwidth` (bytes a second) the
    share of it that our median reaches goes into the row.
    """
    others = list(others)
    present = [ours, *(one for one in others if not one.missing)]
    gc.collect()
    first = {one.name: _warmed(one, effort) for one in present}
    runs = {one.name: _runs(first[one.name][1], one, effort, first[one.name][0]) for one in present}
    samples: dict[str, list[float]] = {one.name: [] for one in present}
    by_name = {one.name: one for one in present}
    for name in turns(runs):
        guess = first[name][1]
        number = max(1, math.ceil(SHORTEST / max(guess, 1e-9)))
        if guess < BRIEF:
            by_name[name].spent(1)
        samples[name].append(by_name[name].spent(number))
    for name, taken in samples.items():
        if not taken:  # so slow that its first call is its only one
            taken.append(first[name][1])
    median = statistics.median(samples[ours.name])
    result = first[ours.name][0]
    return Row(
        key=key,
        job=key.partition("/")[0],
        case=case,
        sizes=sizes,
        seconds=median,
        quartiles=_quartiles(samples[ours.name]),
        quickest=min(samples[ours.name]),
        runs=len(samples[ours.name]),
        others=[
            _timing(one, median, result, samples.get(one.name), first.get(one.name))
            for one in others
        ],
        facts=dict(facts(result)) if facts else {},
        bandwidth_share=(
            bytes_read(result) / median / bandwidth if bytes_read and bandwidth else None
        ),
    )


def _warmed(one: Contender, effort: Effort) -> tuple[Any, float]:
    """What it gives, and the seconds of a warm call."""
    assert one.call is not None
    began = time.perf_counter()
    result = one.call()
    guess = time.perf_counter() - began
    if one.clock is None and one.unfinished is not None and one.unfinished(result):
        return result, guess
    if one.clock is not None and guess > effort.patience / FEWEST:
        return result, one.clock(0)  # it knows the time of the call that it just did
    spent, again = 0.0, 0
    while again == 0 or (spent < effort.seconds / 2 and again < 2000):
        if guess > (COMPILING if one.clock is None else effort.patience / FEWEST):
            break
        guess = one.spent(1)
        spent += guess
        again += 1
    return result, guess


def _runs(guess: float, one: Contender, effort: Effort, result: Any) -> int:
    if one.unfinished is not None and one.unfinished(result):
        return 0
    patience = effort.patience if one.patience is None or effort.quick else one.patience
    if FEWEST * guess > patience:
        return int(patience / guess)
    return max(FEWEST, min(101, int(effort.seconds / max(guess, SHORTEST))))


def turns(runs: Mapping[str, int]) -> Iterator[str]:
    """The names, each as often as it says, spread evenly: A B A B, or A A B A A B.

    >>> list(turns({"a": 3, "b": 3}))
    ['a', 'b', 'a', 'b', 'a', 'b']
    >>> "".join(turns({"a": 4, "b": 2}))
    'aabaab'
    """
    rounds = max(runs.values(), default=0)
    for place in range(rounds):
        for name, times in runs.items():
            if (place + 1) * times // rounds > place * times // rounds:
                yield name


def _timing(
    one: Contender,
    ours: float,
    result: Any,
    taken: Sequence[float] | None,
    first: tuple[Any, float] | None,
) -> Timing:
    if taken is None or first is None:
        return Timing(one.name, None, note=one.missing)
    median = statistics.median(taken)
    return Timing(
        name=one.name,
        seconds=median,
        quartiles=_quartiles(taken),
        quickest=min(taken),
        runs=len(taken),
        ratio=ratio(median, ours),
        agreement=one.agreement(result, first[0]) if one.agreement else "",
        note=one.note,
    )


def ratio(theirs: float, ours: float) -> float:
    """How many times our time they take.

    >>> ratio(3.0, 1.5)
    2.0
    """
    return theirs / ours


def at_the_quickest(rows: Iterable[Row]) -> list[Row]:
    """The rows as if each contender's quickest run were its median: what a busy machine hides."""
    return [
        attrs.evolve(
            row,
            seconds=row.quickest,
            others=[
                other
                if other.quickest is None
                else attrs.evolve(
                    other, seconds=other.quickest, ratio=ratio(other.quickest, row.quickest)
                )
                for other in row.others
            ],
        )
        for row in rows
    ]


def _quartiles(samples: Sequence[float]) -> tuple[float, float]:
    if len(samples) < 2:
        return samples[0], samples[0]
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, high


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log(seconds) over log(size), by least squares; two sizes at least.

    >>> round(exponent([10, 100, 1000], [1, 100, 10000]), 6)
    2.0
    """
    xs, ys = [math.log(size) for size in sizes], [math.log(spent) for spent in seconds]
    return statistics.linear_regression(xs, ys).slope


# -- peers -------------------------------------------------------------------------------------


def installed(name: str, distribution: str) -> ModuleType:
    """The module of a peer.  Raises MissingError, naming the distribution, where it is absent."""
    try:
        return import_module(name)
    except ImportError as error:
        message = f"missing: {distribution} is not installed ({error})"
        raise MissingError(message) from error


def absent(name: str, error: MissingError) -> Contender:
    """A contender that stands in the table as missing."""
    return Contender(name, missing=str(error))


def left_out(name: str, why: str) -> Contender:
    """A contender that is installed and does not run at this size."""
    return Contender(name, missing=f"not run: {why}")


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """The version of each distribution, or "missing"."""
    found = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


# -- JSON --------------------------------------------------------------------------------------


def as_json(rows: Iterable[Row], machine: Mapping[str, Fact], *, quick: bool) -> str:
    """The rows and where they come from, as text."""
    content = {
        "machine": dict(machine),
        "quick": quick,
        "rows": [attrs.asdict(row, recurse=True) for row in rows],
    }
    return json.dumps(content, indent=1) + "\n"


def from_json(path: Path) -> tuple[list[Row], dict[str, Fact], bool]:
    """What `as_json` wrote: rows, machine, quick."""
    content = json.loads(path.read_text("utf-8"))
    rows = [
        Row(**{**row, "others": [Timing(**other) for other in row["others"]]})
        for row in content["rows"]
    ]
    return rows, content["machine"], content["quick"]
