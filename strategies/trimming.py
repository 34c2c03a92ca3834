"""A rule for the selector that follows: what remains of the budget is filled with a part."""

from typing import final

import attrs

from packer.algebra import Filter
from packer.errors import InvalidParameter
from packer.parameters import count
from packer.pool import Pool

__all__ = ["trim"]


@final
@attrs.frozen(repr=False)
class Trim(Filter):
    name = "trim"
    min_tokens: int = count(default=1)

    def __call__(self, pool: Pool, /) -> Pool:
        if pool.candidates.texts is None:
            message = f"{pool.stage} cuts texts, and the pool was made from arrays without `texts`"
            raise InvalidParameter(message, details={"stage": pool.stage})
        return pool.cut_to_fill(self.min_tokens)


def trim(min_tokens: int = 1) -> Filter:
    """Have the selector that follows cut the first chunk that does not fit, to fill what remains.

    That is the best by score of those that are out for the budget.  It ends at a sentence, else
    at a word, else at a grapheme, costs at most what remains and has at least `min_tokens` by the
    call's counter; what is in is the beginning of the chunk with nothing appended, and
    `PackedChunk.original_tokens` says how long the whole was.  Where no beginning is like that,
    nothing is cut.  Of two in a policy the last counts.  Some 3 log2(length) counts.

    Raises INVALID_PARAMETER over arrays without texts.

    >>> from packer import Chunk, pack
    >>> from strategies import greedy
    >>> chunks = [Chunk("Refunds take 5 days. We ship on Monday.", 0.9, id="faq")]
    >>> [(c.content, c.tokens, c.original_tokens) for c in pack(chunks, trim() | greedy, budget=6)]
    [('Refunds take 5 days.', 5, 10)]
    """
    return Trim(min_tokens)
