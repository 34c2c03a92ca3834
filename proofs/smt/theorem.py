"""What a theorem is made of, and how z3 proves it.

A theorem has *steps*: hypotheses and a conclusion each.  A step is proved when

1. its hypotheses can hold (it is not vacuous): z3 finds a model of them;
2. its hypotheses and the negation of its conclusion cannot: z3 says `unsat`;
3. it needs each of its hypotheses: z3 finds a counterexample where that one is left out;
4. each of its *mutants* is refuted: with another hypothesis, or another conclusion, z3 finds a
   counterexample.

So a step assumes no more than it needs, and z3 could have said no.

Induction over the number of chunks is two steps: what holds of none, and what one more keeps.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

import attrs
import z3

__all__ = ["Mutant", "Step", "Theorem", "prove"]

SECONDS = 30
"""So long z3 may think about one question."""


@final
@attrs.frozen
class Mutant:
    """A wrong variant of a step: with other hypotheses, or to another conclusion."""

    name: str
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
    mutants: Sequence[Mutant] = ()
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

    Raises AssertionError, with the model, for what is vacuous, false, assumes what it does not
    need, or has a mutant that holds.
    """
    started = time.perf_counter()
    for step in theorem.steps:
        where = f"{theorem.title}: {step.name}"
        _expect(z3.sat, [*step.given.values(), *step.example], f"{where} is vacuous")
        _expect(z3.unsat, [*step.given.values(), z3.Not(step.then)], f"{where} is false")
        assert step.given or step.mutants, f"{where} has nothing that could refute it"
        for told, given, then in _variants(step):
            _expect(z3.sat, [*given, *step.example, z3.Not(then)], f"{where} {told}")
    return time.perf_counter() - started


def _variants(step: Step) -> Iterator[tuple[str, Sequence[Any], Any]]:
    """What must have a counterexample: what is to say if not, hypotheses, and a conclusion."""
    for left_out in step.given:
        given = [formula for name, formula in step.given.items() if name != left_out]
        yield f"does not need that {left_out}", given, step.then
    for mutant in step.mutants:
        unknown = set(mutant.instead) - set(step.given)
        assert not unknown, f"{step.name}: the mutant {mutant.name!r} changes {unknown}"
        given = [mutant.instead.get(name, formula) for name, formula in step.given.items()]
        then = step.then if mutant.conclusion is None else mutant.conclusion
        yield f"has the mutant {mutant.name!r} that is not refuted", given, then


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
