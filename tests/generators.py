"""The generators of `packer.testing` over the whole catalog, for the tests and proofs.

`wide` asks for every value that a parameter takes, for laws about the text of policies.  Without
it the values are those under which a stage runs on the pools made here.
"""

from typing import Any, Final

from hypothesis import strategies as st

from packer import Chunk, Constraint, Order, Pool, Scoring, Selector
from packer.algebra import Policy
from packer.testing.calls import (
    BUDGETS,
    OVERHEADS,
    Request,
    chunks_for,
    pools,
    requests,
    selections,
    shuffled_pools,
)
from packer.testing.chunk_lists import chunks
from packer.testing.material import (
    CLOSE,
    EMBEDDINGS,
    METADATA,
    NOW,
    POSITIVE,
    QUERY,
    SCORES,
    TEXTS,
    VECTORS,
)
from packer.testing.metadata_conditions import ODD_TEXT, comparisons, conditions
from packer.testing.parameter_values import (
    DOMAINS,
    FUNCTIONS,
    by_id,
    by_length,
    everything,
    shortest,
)
from packer.testing.vocabulary import Vocabulary
from strategies import CATALOG

__all__ = [
    "BUDGETS",
    "CLOSE",
    "CONSTRAINTS",
    "DOMAINS",
    "EMBEDDINGS",
    "FILTERS",
    "FUNCTIONS",
    "METADATA",
    "NOW",
    "ODD_TEXT",
    "ORDERS",
    "OVERHEADS",
    "PARSED",
    "POSITIVE",
    "QUERY",
    "SCORES",
    "SCORING",
    "SELECTORS",
    "TEXTS",
    "VECTORS",
    "Request",
    "by_id",
    "by_length",
    "chunk_lists",
    "chunks_for",
    "comparisons",
    "conditions",
    "everything",
    "fields_of",
    "holds_function",
    "kind_of",
    "parsed_policies",
    "policies",
    "pools",
    "requests",
    "selections",
    "shortest",
    "shuffled_pools",
    "some_stage",
    "stages",
    "trials",
    "words_of",
]

WORDS: Final = Vocabulary(CATALOG)
kind_of, words_of, fields_of = WORDS.kind_of, WORDS.words_of, WORDS.fields_of
holds_function, stages, some_stage = WORDS.holds_function, WORDS.stages, WORDS.some_stage
policies = WORDS.policies

SCORING: Final = words_of(Scoring)
CONSTRAINTS: Final = words_of(Constraint)
FILTERS: Final = WORDS.narrowing()
SELECTORS: Final = words_of(Selector)
ORDERS: Final = words_of(Order)
PARSED: Final = tuple(word for word in CATALOG if not holds_function(word))
"""The words whose stages have a text that can be parsed."""


def chunk_lists(**options: Any) -> st.SearchStrategy[list[Chunk]]:
    """Lists of ordinary chunks; `options` as for `packer.testing.chunks`."""
    return chunks("ordinary", **options)


def parsed_policies() -> st.SearchStrategy[Policy]:
    """Policies without a Python function, with every value that their parameters take."""
    return Vocabulary({word: CATALOG[word] for word in PARSED}).policies(wide=True)


@st.composite
def trials(draw: st.DrawFn, /, word: str, **options: Any) -> tuple[Any, Pool]:
    """A stage of a word from a pool, and a pool for it."""
    stage = draw(stages(word))
    return stage, draw(pools(chunks_for(stage, **options)))
