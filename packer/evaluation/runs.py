"""Policies on labelled queries: every policy at every budget, filters run once for all budgets."""

import datetime as dt
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, final

import attrs
import numpy as np

from packer.algebra import Policy
from packer.arrays import Floats
from packer.call import Call, checked_call
from packer.errors import InvalidParameter, PackError
from packer.running import Filters, Program, run
from packer.selection import Layout
from packer.tokens import CountTokens, counter_name

from .cases import Case
from .measures import measured

__all__ = ["Measure", "Progress", "Setting", "layouts", "outcomes"]

Progress: TypeAlias = Callable[[int, int], None]
"""Told now and then how many steps of how many are done."""

Measure: TypeAlias = Callable[[Case, Layout, int], tuple[float, ...]]
"""What is measured of the layout of a case at a budget."""

PARTS: Final = 8
"""Into how many parts the queries of each worker go, so that progress can be told."""


@final
@attrs.frozen(kw_only=True)
class Setting:
    """What is the same for every query: budgets, overhead, and the moment.

    `count_tokens`: None for each case's own.
    """

    budgets: tuple[int, ...]
    overhead: int = 0
    count_tokens: CountTokens | None = None
    now: dt.datetime | None = None

    def calls(self, case: Case) -> list[Call]:
        """The call of a case at each budget."""
        counter = case.count_tokens if self.count_tokens is None else self.count_tokens
        return [
            checked_call(budget, self.overhead, counter, case.query, self.now)
            for budget in self.budgets
        ]


def layouts(case: Case, policies: Sequence[Policy], setting: Setting) -> Iterator[list[Layout]]:
    """For each policy its layouts, one for each budget.

    What policies have in common before their selectors is run once, for all budgets (see
    `packer.running.Filters`).

    Raises what a policy's stages raise, with the query and the policy.
    """
    starts = [case.pool.with_call(call) for call in setting.calls(case)]
    filters = Filters(starts[0])
    for policy in policies:
        program = Program.of(policy)
        try:
            begun = filters.begun(program)
            yield [run(program, start, begun.under(start.call)).layout for start in starts]
        except PackError as error:
            message = f"query {case.id}, {policy!r}: {error.message}"
            details = {**error.details, "query": case.id, "policy": repr(policy)}
            raise type(error)(message, error.code, details) from error


def outcomes(
    cases: Sequence[Case],
    policies: Sequence[Policy],
    setting: Setting,
    *,
    measure: Measure = measured,
    workers: int = 1,
    progress: Progress | None = None,
) -> Floats:
    """float64[cases, policies, budgets, measures]: every policy on every case at every budget.

    `measure`: what is measured of a layout, a function at the top of a module.
    `workers`: processes, each with a part of the cases; where it is above 1, the program that
    calls this is imported by each (guard its entry by ``if __name__ == "__main__":``).  The
    result does not depend on it.

    Raises what `layouts` raises; INVALID_PARAMETER for a policy, or a token counter, that cannot
    go to a process.
    """
    told = progress or (lambda _done, _of: None)
    told(0, len(cases))
    job = partial(_of_case, policies=policies, setting=setting, measure=measure)
    found: list[Floats] = []
    if workers == 1 or len(cases) < 2:
        for done, case in enumerate(cases, 1):
            found.append(job(case))
            told(done, len(cases))
    else:
        _refuse_functions(cases, policies, setting)
        found = _in_processes(cases, job, workers, told)
    return np.array(found, np.float64).reshape(len(cases), len(policies), len(setting.budgets), -1)


def _of_case(case: Case, policies: Sequence[Policy], setting: Setting, measure: Measure) -> Floats:
    return np.array(
        [
            [
                measure(case, layout, budget)
                for layout, budget in zip(row, setting.budgets, strict=True)
            ]
            for row in layouts(case, policies, setting)
        ]
    )


def _each(job: Callable[[Case], Floats], cases: Sequence[Case]) -> list[Floats]:
    return [job(case) for case in cases]


def _in_processes(
    cases: Sequence[Case], job: Callable[[Case], Floats], workers: int, told: Progress
) -> list[Floats]:
    import multiprocessing  # slow to import, and seldom needed
    from concurrent.futures import ProcessPoolExecutor, as_completed

    parts = np.array_split(np.arange(len(cases)), min(workers * PARTS, len(cases)))
    found: list[Floats] = [np.empty(0)] * len(cases)
    done = 0
    context = multiprocessing.get_context("spawn")  # fork and threads of a host do not go together
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        waiting = {pool.submit(_each, job, [cases[row] for row in rows]): rows for rows in parts}
        try:
            for future in as_completed(waiting):
                rows = waiting[future]
                for row, values in zip(rows, future.result(), strict=True):
                    found[row] = values
                done += len(rows)
                told(done, len(cases))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return found


def _refuse_functions(cases: Sequence[Case], policies: Iterable[Policy], setting: Setting) -> None:
    """Raise INVALID_PARAMETER, naming it, for what cannot go to another process."""
    used = [setting.count_tokens, *(case.count_tokens for case in cases)]
    counters = {id(counter): counter for counter in used if counter is not None}.values()
    named: list[tuple[str, Any]] = [(repr(policy), policy) for policy in policies]
    named += [(f"the token counter {counter_name(one)}", one) for one in counters]
    for name, value in named:
        try:
            pickle.dumps(value)
        except Exception as error:  # noqa: BLE001  # whatever a caller's own objects raise
            message = (
                f"{name} cannot go to another process ({error}); give a function at the top of a "
                "module, or evaluate it with workers=1"
            )
            raise InvalidParameter(message, details={"value": repr(value)}) from None
