"""The picture of a pack: one HTML file that shows the window, what is out, and why.

    markup.py      elements whose text is escaped by construction
    document.py    the file: its policy for content (CSP), its style and script, its data
    scale.py       scores -> colours
    cast.py        every chunk of a result, numbered, with how far it came and what decided
    relations.py   which chunks speak of each other
    window.py      the bar of the window
    cards.py       a chunk in full
    funnel.py      the stages, with chunks and tokens in and out
    differences.py near-duplicates side by side, differing words marked
    what_if.py     the same at other budgets: table, curve, and the data of the slider
    tools.py       headings, and what finds and opens chunks
    picture.py     all of it on a page
    side_by_side.py  several policies on the same chunks
    sections.py    a plan: the picture of each of its sections
    page.css, page.js

Chunk text is untrusted.  It reaches a page by `markup.element`, which escapes it, or by
`document.data`, which is JSON without a character that HTML knows; the page's own policy forbids
every script but ours, every request, and every form.
"""

from .document import framed
from .picture import page
from .sections import plan_page
from .side_by_side import comparison_page

__all__ = ["comparison_page", "framed", "page", "plan_page"]
