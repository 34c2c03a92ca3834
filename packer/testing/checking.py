"""`check_stage` and `check_policy`: every law of a role on generated cases, to the least that fails."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, final

import attrs
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import errors as hypothesis_errors
from hypothesis import seed as seeded
from hypothesis import strategies as st

from packer.algebra import Policy, Stage, checked_policy, steps_of
from packer.dsl import Catalog
from packer.errors import InvalidParameter, PackError, shown
from packer.records import Chunk

from .broken import LawBroken
from .cases import Case, cases
from .chunk_lists import Profile
from .lawbook import Law, laws_of, own_law

__all__ = ["MAY_REFUSE", "Search", "check_policy", "check_stage", "search"]

MAY_REFUSE: Final = ("INFEASIBLE", "INVALID_TIMESTAMP", "MISSING_EMBEDDINGS", "OVER_BUDGET")
"""The codes of errors by which a stage may refuse an input: these are no fault of its."""

_QUIET: Final = settings(
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=tuple(HealthCheck),
    verbosity=Verbosity.quiet,
)


def check_stage(
    stage: Stage[Any, Any] | st.SearchStrategy[Any],
    *,
    profile: Profile = "mixed",
    chunks: st.SearchStrategy[list[Chunk]] | None = None,
    catalog: Catalog | None = None,
    also: Iterable[Callable[[Any, Any], None]] = (),
    without: Collection[str] = (),
    may_refuse: Collection[str] = MAY_REFUSE,
    max_examples: int = 200,
) -> None:
    """Try every law that applies to the stage by its type (see `laws_of`) on generated cases.

    `stage`: one stage, or a Hypothesis strategy of stages of one role, such as
    ``stages("at_most", catalog)``.  `profile`, or `chunks`, a strategy of lists of chunks: what
    it is tried on.  `catalog`: the words that its text is read back with; without one the text is
    not tried.  `also`: further laws, functions of the stage and the pool (or selection) that it
    takes.  `without`: the names of laws that the stage breaks on purpose.  `may_refuse`: codes of
    the errors by which it may refuse an input.  `max_examples`: so many cases; they are the same
    in every run that has loaded the same modules.

    Returns None; raises `LawBroken`, an AssertionError, with the least case that breaks a law, as
    code.  A stage that refuses every case is an error too.

    >>> from strategies import threshold
    >>> check_stage(threshold(0.6), max_examples=20)
    """
    own = tuple(also)

    def laws_for(one: Any) -> Sequence[Law]:
        return (*laws_of(one, catalog), *(own_law(one, law) for law in own))

    if not isinstance(stage, st.SearchStrategy):
        steps_of(stage)  # refuses what is no stage
        _refuse_unknown(without, laws_for(stage))
        stage = st.just(stage)
    _check(
        stage,
        laws_for,
        cases(stage, profile, chunks),
        without,
        may_refuse,
        max_examples,
    )


def check_policy(
    policy: Policy | st.SearchStrategy[Policy],
    *,
    profile: Profile = "mixed",
    chunks: st.SearchStrategy[list[Chunk]] | None = None,
    catalog: Catalog | None = None,
    without: Collection[str] = (),
    may_refuse: Collection[str] = MAY_REFUSE,
    max_examples: int = 200,
) -> None:
    """Try every law of a whole call of `pack` on the policy; the arguments are `check_stage`'s.

    The budget holds, of the rendered text too; packed and excluded are the input; the reasons are
    those that a stage can give; the report adds up; two runs agree; pins are packed.

    Raises `LawBroken` with the least call that breaks one; INVALID_POLICY for what is no policy.

    >>> from strategies import greedy, threshold
    >>> check_policy(threshold(0.6) | greedy, max_examples=20)
    """

    def laws_for(one: Any) -> Sequence[Law]:
        return [law for law in laws_of(one, catalog) if law.state.is_call]

    if not isinstance(policy, st.SearchStrategy):
        checked_policy(policy)
        _refuse_unknown(without, laws_for(policy))
        policy = st.just(policy)
    _check(
        policy,
        laws_for,
        cases(policy, profile, chunks),
        without,
        may_refuse,
        max_examples,
    )


@final
@attrs.define
class Search:
    """What a search for a broken law has seen."""

    tried: int = 0
    held: set[str] = attrs.field(factory=set)
    refused: dict[str, PackError] = attrs.field(factory=dict)
    broken: Law | None = None
    case: Case | None = None
    fault: Exception | None = None

    def broke(self, law: Law, case: Case, may_refuse: Collection[str]) -> bool:
        """Whether the case breaks the law; from then on it is the one law that is searched for."""
        try:
            law.holds(case)
        except PackError as error:
            if error.code in may_refuse:
                self.refused.setdefault(law.name, error)
                return False
            fault: Exception = error
        except Exception as error:  # noqa: BLE001  # whatever a user's stage raises
            fault = error
        else:
            self.held.add(law.name)
            return False
        self.broken, self.case, self.fault = law, case, fault
        return True

    def drop_chunks(self, may_refuse: Collection[str]) -> None:
        """Leave out of the case each chunk without which it still breaks the law."""
        at = 0
        while self.broken is not None and self.case is not None and at < len(self.case.chunks):
            fewer = [chunk for place, chunk in enumerate(self.case.chunks) if place != at]
            if not self.broke(self.broken, attrs.evolve(self.case, chunks=fewer), may_refuse):
                at += 1


class _Found(Exception):
    """A case breaks a law."""


def search(
    laws_for: Callable[[Any], Sequence[Law]],
    generated: st.SearchStrategy[Case],
    may_refuse: Collection[str],
    max_examples: int,
    *,
    seed: int | None = None,
    shrink: bool = True,
) -> Search:
    """Look for a case that breaks a law, and then for the least one that breaks the same.

    `seed`: other cases than those of every run.  `shrink`: False takes the first case found.
    """
    seen = Search()

    def attempt(case: Case) -> None:
        found = seen.broken
        if found is None:
            seen.tried += 1
        for law in laws_for(case.stage):
            if (found is None or law == found) and seen.broke(law, case, may_refuse):
                raise _Found

    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    test = settings(_QUIET, max_examples=max_examples, phases=phases)(given(generated)(attempt))
    if seed is not None:
        test = seeded(seed)(test)
    try:
        test()
    except _Found:
        pass
    except (hypothesis_errors.Flaky, hypothesis_errors.Unsatisfiable):
        if seen.broken is None:
            raise
    return seen


def _check(
    stages: st.SearchStrategy[Any],
    laws_for: Callable[[Any], Sequence[Law]],
    generated: st.SearchStrategy[Case],
    without: Collection[str],
    may_refuse: Collection[str],
    max_examples: int,
) -> None:
    seen: set[Law] = set()

    def wanted(stage: Any) -> list[Law]:
        every = laws_for(stage)
        seen.update(every)
        return [law for law in every if law.name not in without]

    found = search(wanted, generated, may_refuse, max_examples)
    if found.broken is not None and found.broken.tier:  # a law that says more may be broken too
        tier = found.broken.tier
        closer = search(
            lambda stage: [law for law in wanted(stage) if law.tier < tier],
            generated,
            may_refuse,
            max_examples,
        )
        found = found if closer.broken is None else closer
    _refuse_unknown(without, seen)  # of a strategy it is known by now which stages it makes
    found.drop_chunks(may_refuse)
    if found.broken is not None and found.case is not None:
        raise LawBroken.of(found.broken, found.case, found.fault, found.tried) from found.fault
    never = {law.name for law in seen} - set(without) - found.held
    if never:
        first = min(never)
        error = found.refused.get(first)
        message = (
            f"{shown(stages)} refused all of {found.tried} cases, so that nothing is known of "
            f"{', '.join(sorted(never))}; give chunks= that it takes. The first refusal: {error}"
        )
        raise AssertionError(message)


def _refuse_unknown(without: Collection[str], every: Iterable[Law]) -> None:
    """Raise INVALID_PARAMETER for a name in `without` that none of the laws has."""
    known = {law.name for law in every}
    unknown = sorted(set(without) - known)
    if unknown:
        message = (
            f"without names {unknown}, which no law of the stage is called; "
            f"it has {', '.join(sorted(known))}"
        )
        raise InvalidParameter(message, details={"without": unknown})
