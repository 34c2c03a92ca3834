"""Which policy suits these queries, and what it gains on others: `tune` -> `Tuning`.

Every query is held back once in each of some rounds: a policy is chosen without it, then measured
on it (nested cross-validation: Stone 1974; Varma and Simon 2006).  So what is stated is what the
choosing gains, not the best of many on the data that it was chosen by, which is too high.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias, final

import attrs
import numpy as np

import strategies
from packer.algebra import Policy
from packer.arrays import Floats, Ints
from packer.budget import Budget
from packer.counted import number
from packer.errors import InvalidParameter, shown
from packer.numbers import is_int
from packer.tokens import CountTokens
from strategies import greedy

from .budgets import TUNING_BUDGETS
from .cases import Case
from .evaluating import Cases, case_sets, checked_seed, checked_workers, labelled, setting_of
from .gains import Gain, gain_of, lower_bounds, mean_of_groups
from .measures import evidence_recall
from .runs import Progress, Setting, outcomes
from .search_space import FITTED, Fitted, Scored, grid
from .tuned import Tuning

__all__ = ["tune"]

FEWEST: Final = 10
"""Queries with evidence that tuning needs."""

CURRENT: Final = 0
"""The place of what you have among the policies of a field."""


def tune(
    cases: Cases,
    *,
    budgets: Iterable[int | Budget] = TUNING_BUDGETS,
    current: Policy | str | None = None,
    candidates: Iterable[Policy | str] | None = None,
    fitted: bool = True,
    trials: int | None = None,
    folds: int = 5,
    rounds: int = 4,
    overhead: int = 0,
    count_tokens: CountTokens | None = None,
    now: dt.datetime | str | float | None = None,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> Tuning:
    """Search for the policy with the highest evidence recall on these queries.

    What counts is the mean evidence recall over the budgets, over the queries of a set, and over
    the sets.  `current`: what you have, and keep where nothing better holds; ``recommended()``
    when left out.  `candidates`: policies to choose from in place of the grid
    (`packer.evaluation.search_space`).  `fitted`: whether policies with a utility that is fitted to
    the labels are among them.  `trials`: at most so many of the grid, drawn at random.  `budgets`,
    `overhead`, `count_tokens`, `now`, `seed` and `workers` as in `evaluate`.

    Chosen is what has the highest lower bound: its mean gain over `current`, less one standard
    error.  The gain that is stated was measured in `rounds` rounds of `folds` parts of the
    queries, on each part with what was chosen without it.  The choice holds where as many further
    queries would show a gain (its interval for these is above 0); else `Tuning.policy` is `current`.
    O(queries policies budgets) packs; the rounds add little.

    Raises INVALID_PARAMETER for fewer than 10 queries with evidence, and what `evaluate` raises.

    >>> from packer.evaluation import case
    >>> chunks = [
    ...     {"content": "Long and weak.", "score": 0.8, "id": "long", "tokens": 90},
    ...     {"content": "It takes 5 days.", "score": 0.7, "id": "right", "tokens": 30},
    ... ]
    >>> asked = case({"query": "How long?", "candidates": chunks, "evidence": ["right"]})
    >>> found = tune([asked] * 20, current="greedy", budgets=[100], candidates=["density"])
    >>> found.policy, found.holds, found.over_current.value
    (density, True, 1.0)
    """
    sets = case_sets(cases)
    setting = setting_of(budgets, overhead, now, count_tokens)
    _check(1, rounds=rounds, trials=1 if trials is None else trials)
    _check(2, folds=folds)
    seed = checked_seed(seed)
    kept = [(place, case) for place, part in enumerate(sets) for case in part if case.groups]
    fewest = max(FEWEST, folds)
    if len(kept) < fewest:
        message = (
            f"{number(len(kept), 'query has', 'queries have')} evidence among their candidates; "
            f"tuning needs {fewest} at least, and can see little with fewer than 50"
        )
        raise InvalidParameter(message, details={"queries": len(kept)})
    generator = np.random.default_rng(seed)
    (have,) = labelled([strategies.recommended() if current is None else current]).values()
    if candidates is None:
        named = grid({key for _, case in kept for row in case.pool.metadata for key in row})
    else:
        named = list(labelled(candidates).values())
    if trials is not None and trials < len(named):
        drawn = generator.choice(len(named), trials, replace=False)
        named = [named[int(at)] for at in np.sort(drawn)]
    steps = _Steps(len(kept), folds * rounds, progress or (lambda _done, _of: None))
    field = _measured(
        [case for _, case in kept],
        np.array([place for place, _ in kept]),
        list(dict.fromkeys([have, greedy, *named])),
        FITTED if fitted and candidates is None else (),
        setting,
        workers=checked_workers(workers),
        progress=steps.measured,
    )
    return tuned(field, folds=folds, rounds=rounds, generator=generator, progress=steps.chosen)


@final
@attrs.frozen
class _Steps:
    """Progress over both halves of the work: measuring the grid, then choosing in every part."""

    queries: int
    parts: int
    told: Progress

    def measured(self, done: int, _: int) -> None:
        self.told(done * self.parts, 2 * self.queries * self.parts)

    def chosen(self, done: int, _: int) -> None:
        self.told((self.parts + done) * self.queries, 2 * self.queries * self.parts)


def _check(least: int, **counts: Any) -> None:
    for name, value in counts.items():
        if not is_int(value) or value < least:
            message = f"{name} is {shown(value)}; give an int of {least} or more"
            raise InvalidParameter(message, details={name: value})


# -- the field ------------------------------------------------------------------------------


@final
@attrs.frozen(eq=False)
class Field:
    """What can be chosen: policies whose recall is known, and policies that are yet to be fitted.

    `policies`: first what you have; `plain` is the place of greedy among them.  `recall`
    float64[policies, queries, budgets]; `group` int64[queries], the set of each query.
    """

    policies: Sequence[Policy]
    recall: Floats
    group: Ints
    budgets: tuple[int, ...]
    sets: int
    plain: int = 0
    scored: Sequence[Scored] = ()

    def over_current(self, rows: Ints) -> Floats:
        """float64[policies, rows]: the recall over all budgets, less that of the current one."""
        mean = self.recall[:, rows].mean(axis=2)
        return np.asarray(mean - mean[CURRENT], np.float64)


_Chosen: TypeAlias = int | Scored
"""A place in `Field.policies`, or what is fitted to the queries that it was chosen by."""


def _measured(
    cases: Sequence[Case],
    group: Ints,
    policies: Sequence[Policy],
    templates: Sequence[Fitted],
    setting: Setting,
    *,
    workers: int,
    progress: Progress,
) -> Field:
    """The recall of every policy on every query."""
    found = outcomes(
        cases, policies, setting, measure=evidence_recall, workers=workers, progress=progress
    )
    return Field(
        policies=policies,
        recall=np.ascontiguousarray(np.moveaxis(found[..., 0], 0, 1)),
        group=group,
        budgets=setting.budgets,
        sets=len(np.unique(group)),
        plain=policies.index(greedy),
        scored=[Scored.of(template, cases, setting) for template in templates],
    )


def _choice(field: Field, train: Ints, generator: np.random.Generator) -> _Chosen:
    """The choice by these queries: the highest lower bound of the gain over the current policy.

    On a tie, so also where no bound is above 0, the first.
    """
    over = field.over_current(train)
    fair = field.recall[CURRENT, train].mean(axis=1)
    more = [scored.crossed(train, generator).mean(axis=1) - fair for scored in field.scored]
    bounds = lower_bounds(np.vstack([over, *more]), field.group[train])
    best = int(np.argmax(np.nan_to_num(bounds, nan=-np.inf)))
    return best if best < len(field.policies) else field.scored[best - len(field.policies)]


# -- rounds ---------------------------------------------------------------------------------


def tuned(
    field: Field,
    *,
    folds: int,
    rounds: int,
    generator: np.random.Generator,
    progress: Progress = lambda _done, _of: None,
) -> Tuning:
    """The choice by all queries of a field, and what such a choice gains on others."""
    every = np.arange(field.recall.shape[1])
    held = np.empty((rounds, len(every), len(field.budgets)))
    choices: list[_Chosen] = []
    for row in range(rounds):
        part = _parts(field.group, folds, generator)
        for fold in range(folds):
            test, train = np.flatnonzero(part == fold), np.flatnonzero(part != fold)
            choices.append(_choice(field, train, generator))
            held[row, test] = _recall(field, choices[-1], train, test)
            progress(len(choices), rounds * folds)
    chosen = _choice(field, every, generator)
    best = field.policies[chosen] if isinstance(chosen, int) else chosen.policy(every)
    own = {made: _recall(field, made, every, every) for made in (chosen, *choices)}
    over_current, over_greedy = (
        _gain(field, held - base, own[chosen] - base, [own[made] - base for made in choices])
        for base in (field.recall[CURRENT], field.recall[field.plain])
    )
    picks = Counter(_name(field, made) for made in choices)
    recall = mean_of_groups(np.moveaxis(held.mean(axis=0), 0, 1), field.group)
    base = mean_of_groups(np.moveaxis(field.recall[[CURRENT, field.plain]], 1, 2), field.group)
    return Tuning(
        best=best,
        current=field.policies[CURRENT],
        over_current=over_current,
        over_greedy=over_greedy,
        recall={
            "tuned": dict(zip(field.budgets, recall.tolist(), strict=True)),
            "current": dict(zip(field.budgets, base[0].tolist(), strict=True)),
            "greedy": dict(zip(field.budgets, base[1].tolist(), strict=True)),
        },
        chosen=dict(picks.most_common()),
        ranking=_ranking(field),
        queries=len(every),
        sets=field.sets,
        tried=len(field.policies) + len(field.scored),
        folds=folds,
        rounds=rounds,
    )


def _gain(field: Field, held: Floats, own: Floats, choices: Sequence[Floats]) -> Gain:
    """The gain over a policy, given what was gained over it at each budget."""
    means = [float(mean_of_groups(made.mean(axis=1), field.group)) for made in choices]
    return gain_of(held.mean(axis=2), field.group, own.mean(axis=1), np.array(means))


def _recall(field: Field, chosen: _Chosen, train: Ints, test: Ints) -> Floats:
    """float64[test, budgets]: the recall of a choice on queries that it was not made by."""
    if isinstance(chosen, int):
        return np.asarray(field.recall[chosen, test], np.float64)
    return chosen.recall(train, test)


def _parts(group: Ints, folds: int, generator: np.random.Generator) -> Ints:
    """int64[queries]: parts of the same size, with the same share of every set, at random."""
    order = generator.permutation(len(group))
    order = order[np.argsort(group[order], kind="stable")]
    part = np.empty(len(group), np.int64)
    part[order] = np.arange(len(group)) % folds
    return part


def _name(field: Field, chosen: _Chosen) -> str:
    return str(field.policies[chosen] if isinstance(chosen, int) else chosen.template)


def _ranking(field: Field, most: int = 10) -> tuple[tuple[str, float], ...]:
    means = mean_of_groups(field.recall.mean(axis=2), field.group)
    best = np.argsort(-means, kind="stable")[:most]
    return tuple((str(field.policies[at]), float(means[at])) for at in best)
