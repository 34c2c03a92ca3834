"""Two windows of one text, as the README has them: the second is charged less than it has."""

from typing import Final

from packer import Chunk, pack
from strategies import greedy, overlap

__all__ = ["PACKED", "WINDOWS"]

_TEXT: Final = "Refunds take 5 days. We ship on Monday. We like cats."

WINDOWS: Final = [
    Chunk(_TEXT[a:b], score, id=id_, metadata={"source": "faq", "start": a, "end": b})
    for id_, a, b, score in (("front", 0, 39, 0.9), ("back", 21, 53, 0.8))
]
"""Of 10 and 8 tokens, of which the second has 4 new ones."""

PACKED: Final = pack(WINDOWS, overlap() | greedy, budget=20, overhead=1)
"""16 of 20 tokens: 10 + 4 and an overhead of 1 for each."""
