"""Policies compared on labelled queries: `evaluate` -> `Evaluation`."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from packer.algebra import Policy, checked_policy
from packer.arrays import Floats, sealed
from packer.budget import Budget, available
from packer.call import checked_call
from packer.errors import InvalidParameter, PackError, shown
from packer.numbers import is_int
from packer.tokens import CountTokens, approximate
from strategies import parse

from .budgets import BUDGETS
from .cases import Case, CaseSet
from .measures import MEASURES, tokens_to_reach
from .resampling import bootstrap_means, holm, interval, sign_flip
from .results import MEAN_OF_SETS, Cell, Contrast, Evaluation, Figure
from .runs import Progress, Setting, outcomes

__all__ = [
    "Cases",
    "Policies",
    "case_sets",
    "checked_seed",
    "checked_workers",
    "evaluate",
    "labelled",
    "setting_of",
]

Cases: TypeAlias = CaseSet | Iterable[CaseSet] | Iterable[Case]
Policies: TypeAlias = Mapping[str, Policy | str] | Iterable[Policy | str]

SHARE: Final = 0.9
"""Of the evidence: `tokens_to_90` says what budget it takes."""


def evaluate(
    cases: Cases,
    policies: Policies,
    *,
    budgets: Iterable[int | Budget] = BUDGETS,
    baseline: Policy | str = "greedy",
    overhead: int = 0,
    count_tokens: CountTokens | None = None,
    now: dt.datetime | str | float | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    workers: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure every policy on every labelled query at every budget, and compare with a baseline.

    `cases`: a `CaseSet`, several, or `Case`s.  `policies`: policies or their texts, or a mapping
    that names them.  `baseline`: one of these, by name or text, or another, which is then
    measured first.  `overhead` and `now` as in `pack`; the clock is read once.  `count_tokens`: of
    what stages write anew; the counter that a case was read with when left out.

    Intervals are paired bootstrap intervals over queries (95 %, `resamples` of them), p-values
    those of a sign-flip test.  A difference is marked where its p-value is below 0.05 after Holm's
    correction over all sets, budgets and policies, for each measure by itself.  The same `seed`
    gives the same numbers, and another policy beside them does not change the intervals.

    `workers`: processes (see `packer.evaluation.runs`).  O(queries policies budgets) packs.

    Raises INVALID_PARAMETER, INVALID_BUDGET, INVALID_POLICY, and what stages raise, with the query.

    >>> from packer.evaluation import CaseSet, case
    >>> chunks = [
    ...     {"content": "Long and weak.", "score": 0.8, "id": "long", "tokens": 90},
    ...     {"content": "It takes 5 days.", "score": 0.7, "id": "right", "tokens": 30},
    ... ]
    >>> asked = case({"query": "How long?", "candidates": chunks, "evidence": ["right"]})
    >>> found = evaluate(CaseSet("faq", [asked]), ["density"], budgets=[100])
    >>> found.cell("faq", "density", 100).difference("evidence").value
    1.0
    """
    sets = case_sets(cases)
    named, base = _with_baseline(labelled(policies), baseline)
    setting = setting_of(budgets, overhead, now, count_tokens)
    if not is_int(resamples) or resamples < 1:
        message = f"resamples is {shown(resamples)}; give an int above 0, such as 10000"
        raise InvalidParameter(message, details={"resamples": resamples})
    seed = checked_seed(seed)
    every = [asked for part in sets for asked in part]
    flat = outcomes(
        every, list(named.values()), setting, workers=checked_workers(workers), progress=progress
    )
    values = np.split(flat, np.cumsum([len(part) for part in sets])[:-1])
    return _compared(sets, values, named, base, setting.budgets, seed, resamples)


# -- what is given --------------------------------------------------------------------------


def case_sets(cases: Cases) -> tuple[CaseSet, ...]:
    """What was given as sets of cases; single cases become one set, `queries`.

    Raises INVALID_PARAMETER for none, an empty set, what is no case, and a name that is there
    twice.
    """
    given = (cases,) if isinstance(cases, CaseSet) else tuple(cases)
    if given and all(isinstance(item, Case) for item in given):
        return (CaseSet("queries", [item for item in given if isinstance(item, Case)]),)
    for item in given:
        if not isinstance(item, CaseSet):
            message = f"cases has {shown(item)}; give CaseSets (see read_cases) or Cases"
            raise InvalidParameter(message, details={"value": item})
        if not len(item):
            message = f"the set {item.name!r} has no queries; leave it out"
            raise InvalidParameter(message, details={"set": item.name})
    names = [item.name for item in given if isinstance(item, CaseSet)]
    if len(set(names)) < len(names) or not names:
        twice = next((name for name in names if names.count(name) > 1), None)
        problem = f"two sets are called {twice!r}" if names else "there are no queries"
        message = f"{problem}; give each set of labelled queries a name of its own"
        raise InvalidParameter(message, details={"set": twice})
    return tuple(item for item in given if isinstance(item, CaseSet))


def labelled(policies: Policies) -> dict[str, Policy]:
    """The policies by their names; without names by their texts, each once.

    Raises INVALID_POLICY for what is none, INVALID_PARAMETER for a single policy.
    """
    if isinstance(policies, str) or not isinstance(policies, Iterable):
        message = f"policies is {shown(policies)}; give a list of policies or of their texts"
        raise InvalidParameter(message, details={"policies": policies})
    if isinstance(policies, Mapping):
        return {str(name): _policy(policy) for name, policy in policies.items()}
    made = [_policy(policy) for policy in policies]
    return {str(policy): policy for policy in made}


def setting_of(
    budgets: Iterable[int | Budget],
    overhead: int,
    now: Any,
    count_tokens: CountTokens | None = None,
) -> Setting:
    """The budgets, rising and each once, the overhead, the counter and the moment, checked.

    Raises INVALID_BUDGET, INVALID_COUNTER, INVALID_PARAMETER, INVALID_TIMESTAMP.
    """
    if isinstance(budgets, int | Budget) or not isinstance(budgets, Iterable):
        budgets = [budgets]
    tokens = tuple(sorted({available(budget) for budget in budgets}))
    if not tokens:
        message = "budgets is empty; give the budgets at which to compare, such as [512, 1024]"
        raise InvalidParameter(message, details={"budgets": ()})
    moment = dt.datetime.now(dt.UTC) if now is None else now
    counter = approximate if count_tokens is None else count_tokens
    call = checked_call(tokens[0], overhead, counter, None, moment)
    return Setting(budgets=tokens, overhead=call.overhead, count_tokens=count_tokens, now=call.now)


def _policy(given: Policy | str) -> Policy:
    policy = parse(given) if isinstance(given, str) else given
    checked_policy(policy)
    return policy


def _with_baseline(
    named: dict[str, Policy], baseline: Policy | str
) -> tuple[dict[str, Policy], str]:
    """The policies with the baseline among them, first where it was not there, and its name.

    Raises INVALID_POLICY, and INVALID_PARAMETER where its text is the name of another policy.
    """
    try:
        policy = _policy(baseline)
    except PackError:
        if isinstance(baseline, str) and baseline in named:
            return named, baseline  # a name that is no policy's text
        raise
    for text in (baseline, str(policy)):
        if isinstance(text, str) and named.get(text, policy) != policy:
            message = (
                f"policies calls {str(named[text])!r} by the name {text!r}, which is the text of "
                "the baseline; give it another name"
            )
            raise InvalidParameter(message, details={"name": text, "baseline": str(policy)})
    if isinstance(baseline, str) and baseline in named:
        return named, baseline
    name = next((name for name, other in named.items() if other == policy), None)
    if name is not None:
        return named, name
    return {str(policy): policy, **named}, str(policy)


def checked_workers(workers: Any) -> int:
    """The number of processes.

    Raises INVALID_PARAMETER for what is no int above 0.
    """
    if not is_int(workers) or workers < 1:
        message = f"workers is {shown(workers)}; give the number of processes, 1 or more"
        raise InvalidParameter(message, details={"workers": workers})
    return int(workers)


def checked_seed(seed: Any) -> int:
    """The seed of the random numbers.

    Raises INVALID_PARAMETER for what is no int of 0 or more.
    """
    if not is_int(seed) or seed < 0:
        message = f"seed is {shown(seed)}; give an int of 0 or more"
        raise InvalidParameter(message, details={"seed": seed})
    return int(seed)


# -- what comes out -------------------------------------------------------------------------


def _compared(
    sets: Sequence[CaseSet],
    values: Sequence[Floats],
    named: Mapping[str, Policy],
    base: str,
    budgets: tuple[int, ...],
    seed: int,
    resamples: int,
) -> Evaluation:
    labels = list(named)
    at = labels.index(base)
    shape = (len(sets) + 1, len(labels), len(budgets))
    figures: dict[str, list[Figure | None]] = {}
    differences: dict[str, list[Contrast | None]] = {}
    for number, measure in enumerate(MEASURES):
        columns = _columns([part[..., number] for part in values], at, (seed, number), resamples)
        figures[measure] = [Figure(*row[:3]) if not np.isnan(row[0]) else None for row in columns]
        corrected = holm(columns[:, 6])
        differences[measure] = [
            Contrast(row[3], row[4], row[5], _known(row[6]), _known(adjusted))
            if not np.isnan(row[3])
            else None
            for row, adjusted in zip(columns, corrected.tolist(), strict=True)
        ]
    names = [*(part.name for part in sets), MEAN_OF_SETS]
    cells = []
    for place, (row, policy, column) in enumerate(np.ndindex(shape)):
        if row == len(sets) and len(sets) == 1:
            continue  # the mean of one set is that set
        cells.append(
            Cell(
                set=names[row],
                policy=labels[policy],
                budget=budgets[column],
                figures={name: figures[name][place] for name in MEASURES},
                differences={
                    name: None if policy == at else differences[name][place] for name in MEASURES
                },
            )
        )
    reach = {
        (part.name, label): tokens_to_reach(
            SHARE, np.array(budgets, np.float64), _mean(found[:, policy, :, 0])
        )
        for part, found in zip(sets, values, strict=True)
        for policy, label in enumerate(labels)
    }
    return Evaluation(
        baseline=base,
        policies={label: str(policy) for label, policy in named.items()},
        queries={part.name: tuple(asked.id for asked in part) for part in sets},
        budgets=budgets,
        cells=tuple(cells),
        tokens_to_90=reach,
        evidence={
            part.name: (
                sum(len(asked.groups) for asked in part),
                sum(asked.unreachable for asked in part),
            )
            for part in sets
        },
        values={part.name: sealed(found) for part, found in zip(sets, values, strict=True)},
        seed=seed,
        resamples=resamples,
    )


def _columns(
    values: Sequence[Floats], baseline: int, seeds: tuple[int, int], resamples: int
) -> Floats:
    """float64[cells, 7] of one measure: mean, low, high, difference, low, high, p.

    `values`: of each set float64[queries, policies, budgets].  The cells are in the order of
    sets, policies and budgets; behind the sets stands their mean, whose p is NaN.  NaN where no
    query has the measure.
    """
    _, policies, budgets = values[0].shape
    found, means_of, drawn_of = [], [], []
    for number, part in enumerate(values):
        known = part[~np.isnan(part[:, 0, 0])].reshape(-1, policies * budgets)
        if not len(known):
            found.append(np.full((policies * budgets, 7), np.nan))
            continue
        draw, flip = (np.random.default_rng((*seeds, number, kind)) for kind in range(2))
        drawn = bootstrap_means(known, draw, resamples).reshape(-1, policies, budgets)
        means = known.mean(axis=0).reshape(policies, budgets)
        other = known.reshape(-1, policies, budgets)
        gains = (other - other[:, baseline : baseline + 1]).reshape(len(known), -1)
        p = sign_flip(gains, flip, resamples).reshape(policies, budgets)
        p[baseline] = np.nan
        found.append(_figures(means, drawn, baseline, p))
        means_of.append(means)
        drawn_of.append(drawn)
    if means_of:
        nothing = np.full((policies, budgets), np.nan)
        drawn = np.mean(drawn_of, axis=0)
        found.append(_figures(np.mean(means_of, axis=0), drawn, baseline, nothing))
    else:
        found.append(found[-1])
    return np.concatenate(found)


def _figures(means: Floats, drawn: Floats, baseline: int, p: Floats) -> Floats:
    """float64[policies * budgets, 7], of the means and of those that were drawn."""
    gains = drawn - drawn[:, baseline : baseline + 1]
    parts = (means, *interval(drawn), means - means[baseline], *interval(gains), p)
    return np.stack(parts, axis=-1).reshape(-1, 7)


def _mean(values: Floats) -> Floats:
    """float64[budgets]: the means over the queries that have the measure; NaN where none has."""
    known = values[~np.isnan(values[:, 0])]
    return known.mean(axis=0) if len(known) else np.full(values.shape[1], np.nan)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
