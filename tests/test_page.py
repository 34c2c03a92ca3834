"""The page: its structure, and that nothing in a chunk is anything but text."""

import base64
import hashlib
import itertools
import json
import pickle
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import Any, final

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import (
    Chunk,
    Exclusion,
    Filter,
    Packed,
    PackedChunk,
    PackError,
    Plan,
    Pool,
    Section,
    Template,
    approximate,
    compare,
    pack,
)
from packer.errors import Infeasible, OverBudget
from packer.page import cards, cast, differences, what_if, window
from packer.page.cast import Cast, stops
from packer.page.markup import prose
from packer.page.relations import relations
from packer.records import Deferred, Warning
from strategies import (
    Context,
    boost,
    custom,
    dedup,
    exclusive,
    field,
    greedy,
    knapsack,
    mmr,
    needs,
    threshold,
    trim,
    ushape,
)
from tests.generators import NOW, QUERY, Request, requests
from tests.overlapping import PACKED

VOID = {"meta", "input", "br"}
"""What HTML has without an end."""


@final
class Node:
    """An element of a page that was read by the standard library."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parts: list[Node | str] = []

    def walk(self) -> Iterator["Node"]:
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.walk()

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, tag: str, class_: str = "") -> list["Node"]:
        return [
            node
            for node in self.walk()
            if node.tag == tag and class_ in ["", *node.attributes.get("class", "").split()]
        ]

    def one(self, id_: str) -> "Node":
        (found,) = [node for node in self.walk() if node.attributes.get("id") == id_]
        return found


class Reader(HTMLParser):
    """A page as a tree; an end that fits no start is an error."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.root = Node("", {})
        self.open = [self.root]
        self.feed(page)
        self.close()
        assert self.open == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def read(page: str) -> Node:
    assert page.startswith("<!DOCTYPE html>\n")
    return Reader(page).root


def example_chunks() -> list[Chunk]:
    return [
        Chunk("Refunds take 5 days from arrival.", 0.9, id="kept", tokens=10),
        Chunk("Refunds take 30 days from arrival.", 0.8, id="copy", tokens=10),
        Chunk("We ship on Mondays.", 0.7, id="ship", tokens=20, metadata={"source": "faq"}),
        Chunk("Gift cards never expire.", 0.6, id="gift", tokens=30),
        Chunk("Weak.", 0.1, id="weak", tokens=5),
        Chunk(" ", 0.5, id="blank", tokens=5),
        Chunk("Refunds, again.", 0.2, id="kept", tokens=5),
    ]


def example() -> Packed:
    policy = threshold(0.3) | dedup(0.6) | greedy | ushape
    return pack(example_chunks(), policy, budget=40, overhead=1)


HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "<!-- comment --><![CDATA[x]]><?php x ?>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "&lt;b&gt; &amp; &#x3c;",
    "javascript:alert(1)",
    "\x00\x07\x1b[31mred\x7f\x85\u2028\u2029\ufeff",
    "abc\u202edcba\u2066x\u2069",
    "tags \U000e0041\U000e0042 zero\u200bwidth\u2060 soft\u00adhyphen",
    "lone \ud800 surrogate",
    "line one\n\tline two\r\nline three",
    "</title></textarea></iframe></svg></math>",
)

hostile = st.sampled_from(HOSTILE) | st.text(
    st.sampled_from("<>&\"'/=!-\x00\x1b\u2028\u202e\ud800ab \n") | st.characters(), max_size=20
)


def hostile_chunks() -> st.SearchStrategy[list[Chunk]]:
    chunk = st.builds(
        Chunk,
        hostile,
        st.floats(-1, 1),
        id=st.none() | hostile,
        tokens=st.integers(0, 9),
        metadata=st.dictionaries(hostile, hostile | st.lists(hostile, max_size=2), max_size=2),
    )
    return st.lists(chunk, max_size=6)


# -- a chunk's words stay words -------------------------------------------------------------


def forms(node: Node) -> Counter[tuple[Any, ...]]:
    """What a page is made of, whatever its words: elements and the names of their attributes."""
    return Counter((one.tag, *sorted(one.attributes)) for one in node.walk())


@given(hostile_chunks(), st.integers(1, 20))
def test_whatever_a_chunk_carries_the_page_has_no_element_of_it(
    chunks: list[Chunk], budget: int
) -> None:
    packed = pack(chunks, threshold(-0.5) | dedup(0.9) | greedy, budget=budget)
    page = packed.to_html()
    page.encode("utf-8")
    tree = read(page)
    known = {"span", "mark", "p", "li", "ul", "ol", "dl", "dt", "dd", "div", "details", "summary"}
    known |= {"section", "header", "main", "footer", "h1", "h2", "h3", "h4", "a", "b", "code"}
    known |= {"html", "head", "body", "meta", "title", "style", "script", "strong", "label"}
    known |= {"svg", "g", "rect", "text", "path", "pattern", "defs", "line", "circle", "figure"}
    known |= {"figcaption", "table", "thead", "tbody", "tr", "th", "td", "input", "button"}
    known |= {"output", ""}
    for node in tree.walk():
        assert node.tag in known
        assert not [name for name in node.attributes if name.startswith("on") or name == "style"]
        assert re.fullmatch(r"#c\d+", node.attributes.get("href", "#c0"))
        assert "src" not in node.attributes
    assert len(tree.all("script")) == 2
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\ud800-\udfff]", page
    )


@given(hostile_chunks(), st.integers(1, 20))
def test_every_chunk_is_there_with_its_words(chunks: list[Chunk], budget: int) -> None:
    packed = pack(chunks, threshold(-0.5) | dedup(0.9) | greedy, budget=budget)
    tree = read(packed.to_html())
    records: list[PackedChunk | Exclusion] = [*packed.chunks, *packed.report.excluded]
    found = tree.all("details", "chunk")
    assert len(found) == len(records) == len(chunks)
    by_row = {int(node.attributes["data-row"]): node for node in found}
    for row, record in enumerate(records):
        (words,) = by_row[row].all("p", "text")
        assert words.text == as_shown(record.content)
        (name,) = by_row[row].all("summary")[0].all("span", "id")
        assert name.text == as_shown(record.id, keep="")
        values = [node.text for node in by_row[row].all("dd")]
        assert values == [as_shown(str(value), keep="") for value in record.metadata.values()]


def as_shown(words: str, keep: str = "\n\t") -> str:
    """A naive twin of `prose`: the words, with what cannot be seen written out."""

    def shown(character: str) -> str:
        code = ord(character)
        hidden = (
            code < 0x20
            or 0x7F <= code <= 0x9F
            or 0x2028 <= code <= 0x202E
            or 0x2060 <= code <= 0x2064
            or 0x2066 <= code <= 0x2069
            or 0xD800 <= code <= 0xDFFF
            or 0xFFF9 <= code <= 0xFFFB
            or 0xE0000 <= code <= 0xE007F
            or code in {0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0xFEFF}
        )
        if not hidden or character in keep:
            return character
        return character.encode("unicode_escape").decode()

    return "".join(map(shown, words))


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_change_nothing_of_the_page_but_its_words(words: str) -> None:
    def page(content: str) -> Node:
        chunks = [
            Chunk(content, 0.9, id=content, tokens=5, metadata={content: content}),
            Chunk(content, 0.8, id=f"{content} twin", tokens=5),
            Chunk(content, 0.1, id=f"{content} weak", tokens=5),
        ]
        return read(pack(chunks, threshold(0.5) | dedup(0.9) | greedy, budget=9).to_html())

    marks = ("span", "class", "title")
    plain, found = forms(page("plain")), forms(page(words))
    del plain[marks], found[marks]
    assert found == plain


def test_control_characters_are_marked_with_their_code() -> None:
    assert prose("a\x1b\n", keep="\n") == ('a<span class="control" title="U+001B">\\x1b</span>\n')
    assert prose("\u202e") == '<span class="control" title="U+202E">\\u202e</span>'


def test_joined_emoji_and_scripts_that_need_joiners_stay_whole() -> None:
    assert prose("👩‍👩‍👧 می‌خواهم") == "👩‍👩‍👧 می‌خواهم"


@given(hostile_chunks())
def test_the_script_reads_what_a_browser_cannot_take_for_markup(chunks: list[Chunk]) -> None:
    packed = pack(chunks, greedy, budget=20)
    page = packed.to_html()
    (source,) = [node for node in read(page).all("script") if "id" in node.attributes]
    assert not set(source.text) & set("<>&\u2028\u2029")
    values = json.loads(source.text)
    own = values["points"][values["own"]]
    names = [values["chunks"][str(row)][0] for row in own["rows"]]
    assert names == [as_shown_id(one.id) for one in packed]
    assert own["used"] == packed.report.tokens_used
    for point, expected in zip(values["points"], packed.frontier(), strict=True):
        names = [values["chunks"][str(row)][0] for row in point["rows"]]
        assert point["budget"] == expected.budget
        assert names == list(map(as_shown_id, expected.chunks))


def test_only_the_pages_own_style_and_script_are_allowed_and_nothing_is_fetched() -> None:
    page = example().to_html()
    tree = read(page)
    (policy,) = [
        node.attributes["content"]
        for node in tree.all("meta")
        if node.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    (style,) = tree.all("style")
    (script,) = [node for node in tree.all("script") if "type" not in node.attributes]

    def digest(node: Node) -> str:
        return base64.b64encode(hashlib.sha256(node.text.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest(style)}'; "
        f"script-src 'sha256-{digest(script)}'; base-uri 'none'; form-action 'none'"
    )
    assert "http://" not in re.sub(r"http://www\.w3\.org/2000/svg", "", page)
    assert "https://" not in page
    assert "innerHTML" not in script.text
    assert "url(" not in style.text.replace("url(#hatching)", "")


def test_the_frame_of_a_notebook_holds_the_whole_page_as_one_attribute() -> None:
    packed = example()
    (frame,) = read("<!DOCTYPE html>\n" + packed._repr_html_()).all("iframe")
    assert frame.attributes["srcdoc"] == packed.to_html()
    assert frame.attributes["sandbox"] == "allow-scripts"
    assert frame.attributes["title"]
    assert frame.text == ""


# -- what stands on it ----------------------------------------------------------------------


@given(requests(named=False))
def test_every_page_is_well_formed_and_names_what_it_points_at(request_: Request) -> None:
    packed = request_.packed()
    tree = read(packed.to_html())
    ids = Counter(node.attributes["id"] for node in tree.walk() if "id" in node.attributes)
    assert set(ids.values()) == {1}
    for node in tree.walk():
        for name in ("aria-labelledby", "for"):
            assert node.attributes.get(name) is None or node.attributes[name] in ids
        if node.tag == "a":
            assert node.attributes["href"].removeprefix("#") in ids
        for near in node.attributes.get("data-near", "").split():
            assert f"c{near}" in ids
        if node.tag == "svg" and node.attributes.get("role") == "img":
            assert node.attributes["aria-label"]
        if node.tag in {"button", "summary", "h1", "h2", "h3", "h4"}:
            assert node.text.strip()
    levels = [int(node.tag[1]) for node in tree.walk() if re.fullmatch("h[1-6]", node.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@given(requests())
def test_the_bar_is_the_window_in_order_and_its_widths_are_tokens(request_: Request) -> None:
    packed = request_.packed()
    (bar,) = read(packed.to_html()).all("svg", "bar")
    pieces = bar.all("svg", "piece")
    spent = [chunk.tokens for chunk in packed]
    report = packed.report
    if sum(spent) < report.tokens_used:
        spent.append(report.tokens_used - sum(spent))
    if report.tokens_remaining:
        spent.append(report.tokens_remaining)
    assert len(pieces) == len(spent)
    at = 0.0
    for piece, tokens in zip(pieces, spent, strict=True):
        x, width = (float(piece.attributes[name].rstrip("%")) for name in ("x", "width"))
        assert x == pytest.approx(at, abs=1e-3)
        assert width == pytest.approx(100 * tokens / report.budget, abs=1e-3)
        at += width
    rows = [piece.attributes["data-row"] for piece in pieces if "data-row" in piece.attributes]
    assert rows == [str(place) for place in range(len(packed))]


@given(requests(named=False))
def test_every_chunk_has_its_way_through_all_stages(request_: Request) -> None:
    packed = request_.packed()
    tree = read(packed.to_html())
    stages = [trace.stage for trace in packed.report.stages]
    stopped_at = Counter[int]()
    for node in tree.all("details", "chunk"):
        (way,) = node.all("ol", "way")
        steps = [(step.attributes["class"], step.all("code")[0].text) for step in way.all("li")]
        kinds = [kind for kind, _ in steps]
        stopped = kinds.index("stopped") if "stopped" in kinds else len(kinds)
        assert kinds[:stopped] == ["passed"] * stopped
        assert set(kinds[stopped + 1 :]) <= {"not-reached"}
        before = steps[:1] == [("stopped", "pack")]
        assert [stage for _, stage in steps][before:] == list(map(as_shown_id, stages))
        stopped_at[-1 if before else stopped] += 1
    for place, trace in enumerate(packed.report.stages):
        assert stopped_at[place] == trace.chunks_in - trace.chunks_out
    assert stopped_at[len(stages)] == len(packed)


def as_shown_id(words: str) -> str:
    return as_shown(words, keep="")


def test_the_page_of_an_example() -> None:
    packed = example()
    tree = read(packed.to_html())
    assert tree.all("h1")[0].text == "2 of 7 chunks, 32 of 40 tokens"
    assert tree.all("title")[0].text == "2 of 7 chunks packed"
    assert [node.text for node in tree.all("ol", "policy")[0].all("code")] == [
        "threshold(0.3)",
        "dedup(0.6)",
        "greedy",
        "ushape",
    ]
    groups = {
        group.all("span", "reason")[0].text: [
            (card.all("span", "id")[0].text, card.all("span", "decided")[0].text)
            for card in group.all("details", "chunk")
        ]
        for group in tree.all("section", "group")
    }
    similarity = packed.report.excluded[-2].similarity
    conflict = 'the other has score 0.9; has "30 days" where the other has "5 days"'
    assert groups == {
        "invalid": [("blank", "its text is blank")],
        "duplicate": [
            ("kept", "same id as the chunk at 0 with score 0.9; its text differs"),
        ],
        "below-threshold": [("weak", "score 0.1, floor 0.3")],
        "redundant": [
            (
                "copy",
                f"like kept: similarity {similarity:.4f}, limit 0.6; {conflict}",
            )
        ],
        "budget": [("gift", "needs 23 more tokens")],
    }
    (bar,) = tree.all("svg", "bar")
    assert bar.attributes["aria-label"] == ("The window: 2 chunks, 32 of 40 tokens used, 8 left")
    assert [node.text for node in bar.all("title")] == [
        "0. kept: 10 tokens, score 0.9",
        "1. ship: 20 tokens, score 0.7",
        "overhead, separators, header and footer: 2 tokens",
        "unused: 8 tokens",
    ]
    rows = [
        [cell.text for cell in row.walk() if cell.tag in {"th", "td"}]
        for row in tree.one("funnel").all("tr")
    ]
    assert [row[:5] for row in rows] == [
        ["stage", "chunks in", "out", "tokens in", "out"],
        ["threshold(0.3)", "5", "4", "80", "74"],
        ["dedup(0.6)", "4", "3", "74", "63"],
        ["greedy", "3", "2", "63", "32"],
        ["ushape", "2", "2", "32", "32"],
    ]
    assert "2 were set aside before all stages." in tree.one("funnel").text
    (pair,) = tree.all("details", "pair")
    assert [node.text for node in pair.all("mark")] == ["5", "30"]
    assert pair.all("span", "alert")[0].text == "numbers differ"


@given(
    requests(named=False),
    st.none() | st.sampled_from((Template("{content}"), Template("- {id}", header="h\n"))),
    st.sampled_from((len, approximate)),
)
def test_the_place_of_each_exclusion_is_that_of_its_stage(
    request_: Request, template: Template | None, count: Any
) -> None:
    try:
        packed = pack(
            request_.chunks,
            request_.policy,
            budget=request_.budget,
            overhead=request_.overhead,
            query=QUERY,
            now=NOW,
            template=template,
            count_tokens=count,
        )
    except (Infeasible, OverBudget):
        return
    stages = [trace.stage for trace in packed.report.stages]
    places = list(stops(packed.report))
    excluded = packed.report.excluded
    assert [stages[place] if place >= 0 else "pack" for place in places] == [
        out.stage for out in excluded
    ]
    assert len(read(packed.to_html()).all("details", "chunk")) == len(request_.chunks)


def test_two_equal_stages_are_told_apart() -> None:
    chunks = [Chunk(f"text {at}", at / 10, id=f"c{at}", tokens=1) for at in range(1, 5)]
    twice = threshold(0.2) | mmr(1.0) | ushape
    packed = pack(chunks, threshold(0.2) | twice, budget=9)
    assert [trace.stage for trace in packed.report.stages[:2]] == ["threshold(0.2)"] * 2
    assert list(stops(packed.report)) == [0]
    found = Cast.of(packed)
    assert [step.state for step in found.way(found.by_id["c1"])] == [
        "stopped",
        *["not reached"] * 3,
    ]


def test_an_empty_pack_says_so() -> None:
    tree = read(pack([], greedy, budget=5).to_html())
    assert tree.all("h1")[0].text == "0 of 0 chunks, 0 of 5 tokens"
    assert "Nothing is in." in tree.one("in").text
    assert "Nothing is out." in tree.one("out").text


def test_equal_and_endless_scores_have_a_colour() -> None:
    chunks = [Chunk("a", 1.7e308, tokens=1), Chunk("b", -1.7e308, tokens=1)]
    tree = read(pack(chunks, greedy, budget=2).to_html())
    assert [len(tree.all("svg", step)) for step in ("s0", "s6")] == [1, 1]
    bad = [Chunk("a", float("nan"), tokens=1), Chunk("b", 0.5, tokens=1)]
    tree = read(pack(bad, greedy, budget=2, on_invalid="exclude").to_html())
    assert tree.all("svg", "s3")
    assert "score -" in tree.one("out").text


def test_a_pickled_result_has_a_page_without_a_slider() -> None:
    twin = pickle.loads(pickle.dumps(example()))
    tree = read(twin.to_html())
    assert "cannot be packed again" in tree.one("what-if").text
    assert not tree.all("input")[1:]
    assert len(tree.all("details", "chunk")) == 7
    assert "No budgets were asked for." in read(example().to_html(budgets=())).one("what-if").text


def test_a_function_that_fails_at_another_budget_costs_the_page_only_its_slider() -> None:
    def picky(chunks: Sequence[Chunk], context: Context) -> Sequence[Chunk]:
        return chunks[: 9 // (context.budget - 39)]

    packed = pack(example_chunks(), custom(picky), budget=40, on_invalid="exclude")
    with pytest.raises(ZeroDivisionError):
        packed.frontier([39])
    tree = read(packed.to_html(budgets=[39, 40]))
    assert tree.one("what-if").all("p")[0].text == (
        "Packing within another budget failed: "
        "ZeroDivisionError('integer division or modulo by zero')"
    )
    assert len(tree.all("details", "chunk")) == 7
    wrong: list[Any] = [5, "5", [0]]
    for budgets in wrong:
        with pytest.raises(PackError):
            packed.to_html(budgets=budgets)


def test_the_slider_has_the_budgets_that_were_asked_for() -> None:
    tree = read(example().to_html(budgets=[11, 40, 90]))
    slider = tree.one("slider")
    assert (slider.attributes["max"], slider.attributes["value"]) == ("2", "1")
    rows = [[cell.text for cell in row.walk() if cell.tag in {"th", "td"}]
            for row in tree.one("what-if").all("tr")]  # fmt: skip
    assert rows[1:] == [
        ["11", "11", "0.9", "1", "kept", ""],
        ["40", "32", "1.6", "2", "ship", ""],
        ["90", "63", "2.2", "3", "gift", ""],
    ]


def test_a_card_tells_what_scoring_stages_made_of_a_score() -> None:
    chunks = [
        Chunk("a", 0.5, id="a", tokens=1, metadata={"source": "faq"}),
        Chunk("b", 0.4, id="b", tokens=1),
    ]
    packed = pack(chunks, boost(field("source") == "faq", 2.0) | threshold(0.5) | greedy, budget=9)
    tree = read(packed.to_html())
    first, second = tree.one("c0"), tree.one("c1")
    assert [node.text for node in first.all("span", "figure")] == [
        "score 0.5",
        "then 1",
        "1 tokens",
    ]
    assert [step.all("span")[0].text for step in first.all("ol", "way")[0].all("li")] == [
        "score 0.5 -> 1: factor 2",
        "passed",
        "chosen: score 1, 1 tokens",
    ]
    assert "then" not in second.all("summary")[0].text


# -- relations ------------------------------------------------------------------------------


def related(packed: Packed) -> set[tuple[str, str, str]]:
    found = Cast.of(packed)
    return {
        (found.members[row].id, one.words, found.members[one.row].id)
        for row, told in relations(found).items()
        for one in told
    }


def test_near_duplicates_and_doubled_ids_are_related_from_both_ends() -> None:
    assert related(example()) == {
        ("copy", "redundant with", "kept"),
        ("kept", "stands for", "copy"),
        ("copy", "conflicts with", "kept"),
        ("kept", "conflicts with", "copy"),
        ("kept", "has the id of", "kept"),
    }


def test_versions_needs_and_variants_are_related() -> None:
    chunks = [
        Chunk("new", 0.9, id="new", tokens=1, metadata={"supersedes": ["old", "gone"]}),
        Chunk("old", 0.8, id="old", tokens=1, metadata={"superseded_by": "new"}),
        Chunk("row", 0.7, id="row", tokens=1, metadata={"table": "head"}),
        Chunk("head", 0.6, id="head", tokens=1),
        Chunk("full", 0.5, id="full", tokens=1, metadata={"kind": "x"}),
        Chunk("part", 0.4, id="part", tokens=1, metadata={"kind": "x"}),
        Chunk("odd", 0.3, id="odd", tokens=1, metadata={"kind": ["x"], "parent": "row"}),
    ]
    packed = pack(chunks, needs("table") | exclusive("kind") | greedy, budget=99)
    assert related(packed) == {
        ("new", "supersedes", "old"),
        ("old", "superseded by", "new"),
        ("row", "needs", "head"),
        ("head", "needed by", "row"),
        ("odd", "needs", "row"),
        ("row", "needed by", "odd"),
        ("part", "variant of", "full"),
        ("full", "variant of", "part"),
    }


@attrs.frozen(repr=False)
class OddlyNamed(Filter):
    """A stage of a caller's own whose text is no call."""

    def __call__(self, pool: Pool, /) -> Pool:
        return pool

    def __repr__(self) -> str:
        return "needs(what it needs"


def test_a_stage_with_a_text_of_its_own_relates_nothing() -> None:
    chunks = [Chunk("a", 0.5, id="a", tokens=1, metadata={"what it needs": "b"})]
    packed = pack(chunks, OddlyNamed() | greedy, budget=9)
    assert packed.report.stages[0].stage == "needs(what it needs"
    assert related(packed) == set()


def test_chunks_that_a_warning_says_conflict_are_related() -> None:
    packed = example()
    warned = attrs.evolve(
        packed.report, warnings=(Warning("conflict", "they differ", ("kept", "ship", "gone")),)
    )
    found = related(attrs.evolve(packed, report=warned))
    assert ("kept", "conflicts with", "ship") in found
    assert ("ship", "conflicts with", "kept") in found


# -- differences ----------------------------------------------------------------------------


@given(st.text("ab 3\n", max_size=30), st.text("ab 3\n", max_size=30))
def test_differing_runs_are_the_texts_and_their_common_words_agree(left: str, right: str) -> None:
    ours, theirs = differences.differing(left, right)
    assert "".join(words for words, _ in ours) == left
    assert "".join(words for words, _ in theirs) == right

    def common(runs: list[tuple[str, bool]]) -> list[str]:
        return "".join(words for words, lacking in runs if not lacking).split()

    if left.strip() and right.strip():
        assert common(ours) == common(theirs)
    assert left != right or not any(lacking for _, lacking in ours + theirs)


def test_blanks_that_differ_are_not_marked() -> None:
    chunks = [
        Chunk("one two three", 0.9, id="kept", tokens=1),
        Chunk("one two three  \n", 0.8, id="copy", tokens=1),
        Chunk("  one two three", 0.7, id="twin", tokens=1),
    ]
    tree = read(pack(chunks, dedup(0.9) | greedy, budget=9).to_html())
    assert len(tree.all("details", "pair")) == 2
    assert [node.text for node in tree.all("mark")] == []
    assert "the same words" in tree.one("pairs").text


def test_words_beyond_the_limit_are_shown_and_not_compared() -> None:
    left = "a " * differences.MOST_WORDS + "x"
    right = "a " * differences.MOST_WORDS + "y"
    ours, _ = differences.differing(left, right)
    assert ours[-1] == ("x", False)


# -- its size -------------------------------------------------------------------------------


def test_a_page_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cast, "MOST", 10)
    monkeypatch.setattr(cards, "LONGEST", 5)
    monkeypatch.setattr(differences, "MOST_PAIRS", 2)
    chunks = [Chunk("same words here", 0.9 - at / 99, id=f"s{at}", tokens=1) for at in range(20)]
    chunks += [Chunk(f"weak {at}", 0.1, id=f"w{at}", tokens=1) for at in range(3)]
    tree = read(pack(chunks, threshold(0.2) | dedup(0.9) | greedy, budget=9).to_html())
    shown = [len(group.all("details", "chunk")) for group in tree.all("section", "group")]
    assert shown == [3, 7]
    assert "... and 12 more, left out" in tree.one("out").text
    assert "... and 10 characters more" in tree.one("c0").text
    assert len(tree.all("details", "pair")) == 2
    assert "... and 17 pairs more" in tree.one("pairs").text
    assert [node.text for node in tree.one("c0").all("a")] == [f"s{at}" for at in range(1, 8)]


def test_shares_are_all_or_equal() -> None:
    assert cast._shares([], 5) == []
    assert cast._shares([5, 1, 9], 7) == [3, 1, 3]
    assert cast._shares([1, 2], 9) == [1, 2]


def test_a_frontier_of_many_chunks_is_thinned_and_keeps_its_own_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(what_if, "MOST_PLACES", 60)
    chunks = [Chunk(f"text {at}", 1.0, id=f"c{at}", tokens=1) for at in range(20)]
    whole = pack(chunks, greedy, budget=13).frontier(range(1, 21))
    thin = what_if.thinned(whole)
    assert [point.budget for point in thin] == [1, 5, 10, 13, 15, 20]
    assert thin.budget == 13


def test_metadata_that_cannot_be_written_does_not_break_the_page() -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError

    packed = pack([Chunk("a", 0.5, metadata={"odd": Odd(), "long": "x" * 999})], greedy, budget=9)
    values = [node.text for node in read(packed.to_html()).one("c0").all("dd")]
    assert values == ["<Odd>", "x" * cards.LONGEST_VALUE + "..."]


def test_a_shortened_chunk_says_of_how_many_tokens() -> None:
    chunks = [Chunk("One two. Three four. Five six.", 0.9, id="a", tokens=8)]
    packed = pack(chunks, trim(1) | greedy, budget=3)
    assert "2 of 8 tokens" in read(packed.to_html()).one("c0").text


def test_a_result_without_traces_has_a_page() -> None:
    packed = example()
    bare = attrs.evolve(packed.report, stages=(), excluded=Deferred(tuple), excluded_count=0)
    assert "No stage ran." in read(attrs.evolve(packed, report=bare).to_html(budgets=())).text


# -- side by side ---------------------------------------------------------------------------


@given(requests(named=False), st.sampled_from((greedy, greedy | ushape)))
def test_a_comparison_shows_what_each_packs(request_: Request, other: Any) -> None:
    options: Any = {"budget": request_.budget, "overhead": request_.overhead, "query": QUERY}
    try:
        found = compare(request_.policy, other, chunks=request_.chunks, **options)
    except (Infeasible, OverBudget):
        return
    tree = read(found.to_html())
    bars = tree.all("svg", "bar")
    assert len(bars) == 2
    rows = {
        node.all("span", "id")[0].text: node.attributes["data-row"]
        for node in tree.all("details", "chunk")
    }
    assert len(tree.all("details", "chunk")) == len(found.packed)
    for bar, packed in zip(bars, found, strict=True):
        shown = [piece.attributes["data-row"] for piece in bar.all("svg", "chunk")]
        assert shown == [rows[as_shown_id(chunk.id)] for chunk in packed]


def test_the_comparison_of_an_example() -> None:
    chunks = [
        Chunk("long", 1.0, id="long", tokens=51),
        Chunk("one", 0.9, id="<one>", tokens=26),
        Chunk("two", 0.9, id="two", tokens=26),
        Chunk("small", 0.1, id="small", tokens=1),
        Chunk("huge", 0.9, id="huge", tokens=999),
    ]
    found = compare(greedy, knapsack, chunks=chunks, budget=53)
    tree = read(found.to_html())
    assert tree.all("h1")[0].text == "2 policies on 5 chunks, budget 53"
    headings = [node.text for node in tree.all("h2")]
    assert headings == ["A: greedy", "B: knapsack", "In both: 1", "Only in A: 1", "Only in B: 2"]
    verdicts = {
        node.all("span", "id")[0].text: [one.text for one in node.all("span", "verdict")]
        for node in tree.all("details", "chunk")
    }
    assert verdicts == {
        "small": ["A position 1", "B position 2"],
        "long": ["A position 0", "B budget: needs 51 more tokens"],
        "<one>": ["A budget: needs 25 more tokens", "B position 0"],
        "two": ["A budget: needs 25 more tokens", "B position 1"],
    }
    assert "1 chunk is out everywhere." in tree.text
    assert "iframe" in found._repr_html_()


# -- plans ----------------------------------------------------------------------------------


def test_the_page_of_a_plan_frames_the_page_of_each_section() -> None:
    plan = Plan([Section("<rules>", greedy), Section("documents\x1b", greedy)], budget=40)
    packed = plan.pack({"<rules>": "Be <b>brief</b>.", "documents\x1b": example_chunks()[:3]})
    tree = read(packed.to_html())
    assert (
        tree.all("h1")[0].text == "4 chunks in 2 sections, 27 of 40 tokens"
    )  # 16 + 2 + 90 characters
    assert [node.text for node in tree.all("h2")] == ["Sections", "<rules>", "documents\\x1b"]
    frames = tree.all("iframe")
    assert [frame.attributes["title"] for frame in frames] == [
        "What was packed in <rules>",
        "What was packed in documents\\x1b",
    ]
    assert [frame.attributes["srcdoc"] for frame in frames] == [
        part.to_html() for part in packed.sections.values()
    ]
    cells = [[cell.text for cell in row.walk() if cell.tag == "td"] for row in tree.all("tr")]
    assert cells[1][:2] == ["1", "0"]
    assert not tree.all("script")
    assert "iframe" in packed._repr_html_()


def test_windows_that_overlap_are_drawn_and_told_as_charged() -> None:
    pieces = window.window_parts(PACKED.chunks, PACKED.report)
    assert [(part.kind, part.tokens) for part in pieces] == [
        ("chunk", 10),
        ("chunk", 4),
        ("around", 2),
        ("rest", 4),
    ]
    page = PACKED.to_html()
    assert "8 tokens (4 new)" in page
    assert "10 tokens (" not in page
    found = what_if.values(Cast.of(PACKED), PACKED.frontier([20]))
    assert [chunk[:2] for chunk in found["chunks"].values()] == [["front", 10], ["back", 4]]
    assert [point["lengths"] for point in found["points"]] == [{}]
