"""Stages and policies out of a catalog: its words, their roles, and what they take."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias, cast, final

import attrs
from hypothesis import find, settings
from hypothesis import strategies as st

from packer.algebra import Constraint, Filter, Order, Policy, Scoring, Selector, Step
from packer.errors import InvalidParameter, shown

from .material import Values
from .parameter_values import values_of

__all__ = ["Vocabulary", "Words", "policies", "stages", "vocabulary"]

Words: TypeAlias = Mapping[str, Any]
"""As `packer.dsl.Catalog`, word to stage or to what makes one; or to a strategy of stages."""


@final
@attrs.frozen
class Vocabulary:
    """The words of a catalog and what is known of their stages.

    The signature of a word says which arguments it takes, the `metadata["domain"]` of its class's
    fields which values they may have.  So a stage that is added to a catalog is under every law
    of its role without a new line here.
    """

    catalog: Words = attrs.field(repr=False)

    def kind_of(self, word: str) -> type[Step[Any, Any]]:
        """The class of a word's stages.

        Raises INVALID_PARAMETER where it cannot be found: for a function it is the class in the
        function's module whose `name` is the word.
        """
        made = self.catalog[word]
        if isinstance(made, st.SearchStrategy):
            made = find(made, lambda _: True, settings=settings(database=None))
        if isinstance(made, Step):
            return type(made)
        if isinstance(made, type) and issubclass(made, Step):
            return made
        module = sys.modules.get(getattr(made, "__module__", ""))
        kinds = {
            found
            for found in vars(module).values()
            if isinstance(found, type)
            and issubclass(found, Step)
            and found.__dict__.get("name") == word
        }
        if len(kinds) != 1:
            message = (
                f"no class of stages is known for the word {word!r} ({shown(made)}); give its "
                "class, a stage, or a Hypothesis strategy of stages"
            )
            raise InvalidParameter(message, details={"word": word})
        return kinds.pop()

    def words_of(self, role: Any) -> tuple[str, ...]:
        """The words of a role (a class of `packer.algebra`), in the order of the catalog."""
        return tuple(word for word in self.catalog if issubclass(self.kind_of(word), role))

    def narrowing(self) -> tuple[str, ...]:
        """The words of the filters that are neither scoring stages nor constraints."""
        other = self.words_of((Scoring, Constraint))
        return tuple(word for word in self.words_of(Filter) if word not in other)

    def fields_of(self, word: str) -> Sequence["attrs.Attribute[Any]"]:
        """The parameters of a word's stages."""
        kind: Any = self.kind_of(word)
        return cast("Sequence[attrs.Attribute[Any]]", attrs.fields(kind))

    def holds_function(self, word: str) -> bool:
        """Whether the word takes a Python function, so that its text cannot be parsed."""
        domains = [field.metadata.get("domain", ()) for field in self.fields_of(word)]
        return any(domain[:1] == ("function",) for domain in domains)

    def stages(self, word: str, *, wide: bool = False) -> Values:
        """Stages of a word, each optional argument given or left out.

        `wide`: with every value that a parameter takes, for laws about the text of policies.
        Without it the values are those under which a stage runs on the pools made here.
        """
        return _stages(self, word, wide=wide)

    def some_stage(self, words: Sequence[str], *, wide: bool = False) -> Values:
        """A stage of any of the words."""
        return st.sampled_from(words).flatmap(lambda word: self.stages(word, wide=wide))

    def policies(
        self,
        *,
        filters: Sequence[str] | None = None,
        selectors: Sequence[str] | None = None,
        orders: Sequence[str] | None = None,
        wide: bool = False,
    ) -> st.SearchStrategy[Policy]:
        """Up to three filters, a selector, and an order or none, of these words (all of a role)."""
        return _policies(
            self.words_of(Filter) if filters is None else filters,
            self.words_of(Selector) if selectors is None else selectors,
            self.words_of(Order) if orders is None else orders,
            lambda words: self.some_stage(words, wide=wide),
        )


@st.composite
def _stages(draw: st.DrawFn, words: Vocabulary, word: str, *, wide: bool) -> Any:
    made = words.catalog[word]
    if isinstance(made, Step):
        return made
    if isinstance(made, st.SearchStrategy):
        return draw(made)
    kind = words.kind_of(word)
    if kind.alternatives:
        names = draw(st.sampled_from(kind.alternatives))
        given = {name: draw(values_of(kind, name, wide=wide)) for name in names}
        lengths = [len(value) for value in given.values() if isinstance(value, list)]
        cut = slice(min(lengths, default=0))
        for name in names if lengths else ():
            given[name] = given[name][cut]
        return cast("Callable[..., Any]", made)(**given)
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in inspect.signature(made).parameters.values():
        if parameter.default is not parameter.empty and draw(st.booleans()):
            continue
        value = draw(values_of(kind, parameter.name, wide=wide))
        if parameter.kind is parameter.VAR_POSITIONAL:
            arguments.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords |= value
        else:
            keywords[parameter.name] = value
    return cast("Callable[..., Any]", made)(*arguments, **keywords)


@st.composite
def _policies(
    draw: st.DrawFn,
    filters: Sequence[str],
    selectors: Sequence[str],
    orders: Sequence[str],
    some_stage: Callable[[Sequence[str]], Values],
) -> Policy:
    steps: list[Any] = []
    if filters:
        steps.extend(draw(st.lists(some_stage(filters), max_size=3)))
    steps.sort(key=lambda step: step.gives_negative)  # after those that refuse negative scores
    steps.append(draw(some_stage(selectors)))
    if draw(st.booleans()) and orders:
        steps.append(draw(some_stage(orders)))
    return cast("Policy", reduce(lambda left, right: left | right, steps))


def vocabulary(catalog: Words | None = None) -> Vocabulary:
    """The vocabulary of a catalog; of `strategies.CATALOG` when left out."""
    if catalog is None:
        from strategies import CATALOG

        catalog = CATALOG
    return Vocabulary(catalog)


def stages(word: str, catalog: Words | None = None, *, wide: bool = False) -> Values:
    """Stages of a word of the catalog, as a Hypothesis strategy.

    `wide`: with every value that a parameter takes, not only those that suit the pools made here.

    Raises INVALID_PARAMETER for a word that the catalog has not.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(stages("mmr"))
    ... def test(stage):
    ...     assert 0.0 <= stage.lambda_ <= 1.0
    >>> test()
    """
    words = vocabulary(catalog)
    if word not in words.catalog:
        message = f"{shown(word)} is no word of the catalog; it has {', '.join(words.catalog)}"
        raise InvalidParameter(message, details={"word": word})
    return words.stages(word, wide=wide)


def policies(catalog: Words | None = None, *, wide: bool = False) -> st.SearchStrategy[Policy]:
    """Policies out of a catalog's stages, as a Hypothesis strategy.

    Up to three filters, a selector, and an order or none.  `catalog`: as for `strategies.parse`,
    `strategies.CATALOG` when left out; a word may also stand for a strategy of stages.

    Raises INVALID_PARAMETER for a catalog without a selector.

    >>> from hypothesis import given, settings
    >>> from strategies import greedy, ushape
    >>> @settings(max_examples=5)
    ... @given(policies({"greedy": greedy, "ushape": ushape}))
    ... def test(policy):
    ...     assert str(policy) in {"greedy", "greedy | ushape"}
    >>> test()
    """
    words = vocabulary(catalog)
    if not words.words_of(Selector):
        message = "a policy needs a selector, and the catalog has none; add one, such as greedy"
        raise InvalidParameter(message, details={"catalog": tuple(words.catalog)})
    return words.policies(wide=wide)
