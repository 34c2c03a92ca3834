"""What a theorem is made of, and how z3 proves it.

A theorem has *steps*: hypotheses and a conclusion each.  A step is proved when

1. its hypotheses can hold (it is not vacuous): z3 finds a model of them;
2. its hypotheses and the negation of its conclusion cannot: z3 says `unsat`;
3. each of its *mutants* is refuted: with a hypothesis left out, or the conclusion changed, z3
   finds a counterexample.  So the step needs what it assumes, and z3 could have said no.

Induction over the number of chunks is two steps: what holds of none, and what one more keeps.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import z3

__all__ = ["Mutant", "Step", "Theorem", "prove"]

SECONDS = 30
"""So long z3 may think about one question."""


@final
@attrs.frozen
class Mutant:
    """A wrong variant of a step: without some hypotheses, with others, or to another conclusion."""

    name: str
    without: Sequence[str] = ()
    instead: Mapping[str, Any] = attrs.field(factory=dict)
    conclusion: Any = None


@final
@attrs.frozen(kw_only=True)
class Step:
    """From named hypotheses to a conclusion, all z3 formulas; free constants are universal.

    `example`: more hypotheses, under which the search for a model is easy (quantifiers).
    """

    name: str
    given: Mapping[str, Any]
    then: Any
    mutants: Sequence[Mutant]
    example: Sequence[Any] = ()


@final
@attrs.frozen(kw_only=True)
class Theorem:
    """What holds, in prose, and the steps that prove it."""

    title: str
    statement: str
    steps: Sequence[Step]


def prove(theorem: Theorem) -> float:
    """Prove each step of a theorem; returns the seconds that it took.

    Raises AssertionError, with the model, for what is vacuous, false, or has a mutant that holds.
    """
    started = time.perf_counter()
    for step in theorem.steps:
        where = f"{theorem.title}: {step.name}"
        _expect(z3.sat, [*step.given.values(), *step.example], f"{where} is vacuous")
        _expect(z3.unsat, [*step.given.values(), z3.Not(step.then)], f"{where} is false")
        assert step.mutants, f"{where} has no mutant"
        for mutant in step.mutants:
            unknown = {*mutant.without, *mutant.instead} - set(step.given)
            assert not unknown, f"{where}: the mutant {mutant.name!r} changes {unknown}"
            given = {
                name: mutant.instead.get(name, formula)
                for name, formula in step.given.items()
                if name not in mutant.without
            }
            then = step.then if mutant.conclusion is None else mutant.conclusion
            told = f"{where}: the mutant {mutant.name!r} is not refuted"
            _expect(z3.sat, [*given.values(), *step.example, z3.Not(then)], told)
    return time.perf_counter() - started


def _expect(wanted: z3.CheckSatResult, formulas: Sequence[Any], told: str) -> None:
    solver = z3.Solver()
    solver.set("timeout", SECONDS * 1000)
    solver.add(*formulas)
    found = solver.check()
    if found == wanted:
        return
    more = f", as {solver.model()} shows" if found == z3.sat else ""
    more = f" ({solver.reason_unknown()})" if found == z3.unknown else more
    raise AssertionError(f"{told}{more}")
