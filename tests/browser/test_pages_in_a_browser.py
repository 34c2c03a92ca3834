"""The pages in Chromium: what they show, what they do, and that they ask for nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from packer import Chunk, Packed, Plan, Section, compare, pack
from strategies import dedup, field, greedy, knapsack, parse, pin, threshold, ushape

from .conftest import ROOT, SCREENSHOTS

POLICY: Final = "current() | threshold(0.1) | dedup(0.85) | mmr(0.7) | ushape"


def support(budget: int = 600) -> Packed:
    path = ROOT / "examples" / "support" / "chunks.jsonl"
    chunks = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return pack(chunks, parse(POLICY), budget=budget)


def hostile() -> Packed:
    attacks = [
        "<script>window.hacked = 1</script>",
        "</script><script>window.hacked = 1</script>",
        "<img src=x onerror='window.hacked = 1'>",
        "<svg onload='window.hacked = 1'></svg>",
        '"><iframe src="javascript:window.parent.hacked = 1"></iframe>',
        "</style><link rel=stylesheet href=http://example.org/x.css>",
        "<meta http-equiv=refresh content='0;url=http://example.org'>",
        "<a href='javascript:window.hacked = 1'>click</a><form action=http://example.org>",
        "\x1b[31mred\x00 \u202egnp.exe \U000e0041",
        "\u2028\u2029 line separators ' \" ` ${window.hacked = 1}",
    ]
    chunks = [
        Chunk(text, 0.9 - at / 50, id=text, tokens=9, metadata={text: text})
        for at, text in enumerate(attacks)
    ]
    chunks += [Chunk(f"{text} twin", 0.5, id=f"{text} twin", tokens=9) for text in attacks]
    return pack(chunks, threshold(0.2) | dedup(0.8) | greedy, budget=60)


def titles(page: Any) -> list[str]:
    found: list[str] = page.locator(".bar .piece.chunk title").all_text_contents()
    return found


# -- the picture ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("light", {"color_scheme": "light"}),
        ("dark", {"color_scheme": "dark"}),
        ("phone", {"width": 390, "height": 844, "color_scheme": "light", "is_mobile": True}),
        ("phone-dark", {"width": 390, "height": 844, "color_scheme": "dark", "is_mobile": True}),
    ],
)
def test_it_renders_in_light_and_dark_and_on_a_phone(visit: Any, name: str, options: Any) -> None:
    packed = support()
    seen = visit(packed.to_html(), **options)
    page = seen.page
    assert page.title() == "8 of 87 chunks packed"
    assert page.get_by_role("heading", level=1).inner_text() == "8 of 87 chunks, 600 of 600 tokens"
    assert page.locator("#in .chunk").count() == 8
    assert page.locator("#out .chunk").count() == 79
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(17, 22, 27)" if "dark" in name else "rgb(247, 248, 249)")
    assert seen.complaints == []
    seen.picture(f"picture-{name}")


def test_no_request_leaves_the_page(visit: Any) -> None:
    for packed in (support(), hostile()):
        seen = visit(packed.to_html())
        seen.page.get_by_role("button", name="Open all").click()
        seen.page.get_by_role("slider").press("ArrowRight")
        seen.page.wait_for_timeout(200)
        assert seen.asked == [seen.address]


def test_what_chunks_carry_does_not_run(visit: Any) -> None:
    seen = visit(hostile().to_html())
    page = seen.page
    page.get_by_role("button", name="Open all").click()
    slider = page.get_by_role("slider")
    slider.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "End"):
        slider.press(key)
    for link in page.locator("main a").all():
        assert link.get_attribute("href").startswith("#c")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe, form, link").count() == 0
    assert seen.complaints == []
    text = page.locator(".chunk .text").first.inner_text()
    assert text == "<script>window.hacked = 1</script>"
    told = page.locator("#said").inner_text() + " ".join(titles(page))
    assert "\\u202egnp.exe" in told
    assert "\u202e" not in told
    seen.picture("hostile")


def test_the_policy_of_the_page_forbids_a_script_that_is_put_into_it(visit: Any) -> None:
    page = support().to_html()
    forced = page.replace("</body>", "<script>window.hacked = 1</script></body>")
    seen = visit(forced.replace("<h1>", "<h1 onclick='window.hacked = 1'>"))
    seen.page.locator("h1").click()
    assert seen.page.evaluate("window.hacked") is None
    assert len(seen.complaints) == 2
    assert "Content Security Policy" in seen.complaints[0]


# -- what if --------------------------------------------------------------------------------


def test_the_slider_shows_what_is_packed_at_each_budget(visit: Any) -> None:
    packed = support()
    seen = visit(packed.to_html())
    page, points = seen.page, packed.frontier().points
    slider = page.get_by_role("slider", name="Budget")
    slider.focus()
    slider.press("Home")
    for place, point in enumerate(points):
        if place:
            slider.press("ArrowRight")
        again = packed.within(point.budget)
        assert titles(page) == [
            f"{chunk.position}. {chunk.id}: {chunk.tokens} tokens, score {chunk.score:.4g}"
            for chunk in again
        ]
        assert slider.get_attribute("aria-valuetext") == f"{point.budget:,} tokens"
        said = page.locator("#said").inner_text()
        if point.budget == 600:
            assert said.endswith("This is the result.")
        else:
            chunks = "1 chunk" if len(again) == 1 else f"{len(again)} chunks"
            used = again.report.tokens_used
            assert said.startswith(f"{chunks}, {used:,} tokens, total score ")
        own = {chunk.id for chunk in packed}
        entered = {chunk.id for chunk in again} - own
        marked = page.locator("#out .chunk.enters .id").all_text_contents()
        assert entered <= set(marked)
        gone = own - {chunk.id for chunk in again}
        assert set(page.locator("#in .chunk.leaves > summary .id").all_text_contents()) == gone
    seen.picture("slider")
    page.get_by_role("button", name="Back to this result").click()
    assert titles(page) == [
        f"{chunk.position}. {chunk.id}: {chunk.tokens} tokens, score {chunk.score:.4g}"
        for chunk in packed
    ]
    assert page.locator(".enters, .leaves").count() == 0
    assert seen.complaints == []


def test_a_click_on_the_curve_goes_to_that_budget(visit: Any) -> None:
    packed = support()
    page = visit(packed.to_html()).page
    page.locator("#curve .dot").nth(0).click()
    first = packed.frontier()[0]
    assert page.locator("#budget").inner_text() == f"{first.budget:,} tokens"


def test_a_budget_that_the_policy_refuses_says_so(visit: Any) -> None:
    house = Chunk("House rule.", 0.1, id="house", tokens=50, metadata={"kind": "rule"})
    chunks = [house, Chunk("Other.", 0.9, id="other", tokens=20)]
    packed = pack(chunks, pin(field("kind") == "rule") | greedy, budget=70)
    page = visit(packed.to_html(budgets=[40, 70])).page
    page.get_by_role("slider").press("Home")
    assert "house" in page.locator("#said").inner_text()
    assert titles(page) == []


# -- keyboard, pointer, names ---------------------------------------------------------------


def test_the_keyboard_reaches_everything_and_opens_a_chunk(visit: Any) -> None:
    page = visit(support().to_html()).page
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "(document.activeElement.id || document.activeElement.tagName.toLowerCase())"
            )
        )
    assert reached[:3] == ["slider", "back", "summary"]
    assert {"find", "open", "close"} <= set(reached)
    chunk = page.locator("#in .chunk").nth(0)
    chunk.locator("summary").focus()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    assert chunk.get_attribute("open") is not None
    assert chunk.get_by_text("Way through the stages").is_visible()


def test_hover_and_focus_light_a_chunk_with_its_relations(visit: Any) -> None:
    packed = support()
    page = visit(packed.to_html()).page
    (out,) = [one for one in packed.report.excluded if one.id == "mail-templates#0"]
    assert out.redundant_with == "returns-faq#0"

    def lit() -> set[str]:
        return set(page.locator(".chunk.lit > summary .id").all_text_contents())

    copy = page.locator("#out .chunk", has_text="mail-templates#0").first
    copy.locator("summary").focus()
    assert {"mail-templates#0", "returns-faq#0"} == lit()
    assert page.locator(".bar .piece.lit").count() == 1
    page.locator("#find").focus()
    assert lit() == set()
    page.locator("#in .chunk").nth(0).hover()
    assert {"returns-faq#0", "mail-templates#0"} <= lit()
    page.locator("h1").hover()
    assert lit() == set()


def test_a_click_on_the_bar_opens_the_chunk(visit: Any) -> None:
    page = visit(support().to_html()).page
    page.locator(".bar .piece.chunk").nth(5).click()
    chunk = page.locator("#c5")
    assert chunk.get_attribute("open") is not None
    assert page.evaluate("document.activeElement.parentElement.id") == "c5"
    chunk.scroll_into_view_if_needed()
    link = page.locator("#in .relations a").first
    page.get_by_role("button", name="Open all").click()
    wanted = link.get_attribute("href")
    link.click()
    assert page.evaluate("'#' + document.activeElement.parentElement.id") == wanted


def test_find_leaves_the_chunks_that_have_the_words(visit: Any) -> None:
    packed = support()
    page = visit(packed.to_html()).page
    page.get_by_role("searchbox", name="Find").fill("GIFT slip")
    texts = [one.content for one in packed] + [one.content for one in packed.report.excluded]
    wanted = sum("gift slip" in text.lower() for text in texts)
    assert wanted > 0
    assert page.locator("details.chunk:visible").count() == wanted
    assert page.locator("#matches").inner_text() == f"{wanted} of 87 chunks have it"
    page.get_by_role("searchbox").fill("")
    assert page.locator("details.chunk:visible").count() == 87


def test_a_screen_reader_is_told_the_same(visit: Any) -> None:
    page = visit(support().to_html()).page
    for name in ("The window", "At other budgets", "In: 8", "Out: 79", "Stage by stage"):
        assert page.get_by_role("heading", name=name, exact=True).count() == 1
        assert page.get_by_role("region", name=name, exact=True).count() == 1
    image = page.get_by_role("img", name="The window: 8 chunks, 600 of 600 tokens used, 0 left")
    assert image.count() == 1
    assert page.get_by_role("banner").count() == 1
    assert page.get_by_role("main").count() == 1
    slider = page.get_by_role("slider", name="Budget")
    assert slider.get_attribute("aria-valuetext") == "600 tokens"
    assert page.get_by_role("columnheader", name="chunks in").count() == 1
    assert page.locator("#in ol.chunks > li").count() == 8
    assert page.get_by_role("list", name="Policy").locator("li").count() == 5


def findings(page: Any) -> list[tuple[str, str, str]]:
    """What axe finds: rule, impact, and the first element."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(one["id"], one["impact"], one["nodes"][0]["html"][:200]) for one in found]


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1200)])
def test_axe_finds_nothing(visit: Any, scheme: str, width: int) -> None:
    page = visit(support().to_html(), color_scheme=scheme, width=width).page
    assert findings(page) == []
    for packed in (support(), hostile(), compared()):
        page = visit(packed.to_html(), color_scheme=scheme, width=width).page
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        if page.get_by_role("slider").count():
            page.get_by_role("slider").press("End")
        assert findings(page) == []


# -- side by side, notebooks, the command line ----------------------------------------------


def compared() -> Any:
    path = ROOT / "examples" / "support" / "chunks.jsonl"
    chunks = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return compare(greedy, parse(POLICY), knapsack, chunks=chunks, budget=600)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_comparison_lights_a_chunk_in_every_bar(visit: Any, scheme: str) -> None:
    found = compared()
    seen = visit(found.to_html(), color_scheme=scheme)
    page = seen.page
    assert page.locator(".bar").count() == 3
    for card in page.locator("details.chunk").all()[:4]:
        card.locator("summary").hover()
        id_ = card.locator("summary .id").inner_text()
        packing = sum(id_ in [chunk.id for chunk in packed] for packed in found)
        assert packing > 0
        assert page.locator(".bar .lit").count() == packing
    assert seen.complaints == []
    assert seen.asked == [seen.address]
    seen.picture(f"comparison-{scheme}")


def test_in_a_notebook_neither_style_reaches_the_other(visit: Any) -> None:
    packed = support()
    host = (
        "<!DOCTYPE html><style>.chunk { color: rgb(1, 2, 3) } h1 { color: rgb(4, 5, 6) }</style>"
        f"<h1 class='chunk'>A cell</h1>{packed._repr_html_()}"
    )
    seen = visit(host)
    page = seen.page
    assert page.evaluate("getComputedStyle(document.body).margin") == "8px"
    frame = page.frame_locator("iframe")
    assert frame.locator("#in .chunk").count() == 8
    color = frame.locator("h1").evaluate("(one) => getComputedStyle(one).color")
    assert color != "rgb(4, 5, 6)"
    slider = frame.get_by_role("slider")
    slider.press("Home")
    assert "It drops " in frame.locator("#said").inner_text()
    frame.locator("#out a").first.evaluate("(one) => one.click()")
    assert seen.asked == [seen.address]
    assert seen.complaints == []
    assert frame.locator("h1").evaluate("() => window.origin") == "null"


def test_a_plan_shows_the_picture_of_each_section(visit: Any) -> None:
    rules, path = Section("rules", greedy), ROOT / "examples" / "support" / "chunks.jsonl"
    chunks = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    plan = Plan([rules, Section("documents", parse(POLICY))], budget=600)
    packed = plan.pack({"rules": "Answer from the sources.", "documents": chunks})
    seen = visit(packed.to_html())
    frame = seen.page.frame_locator("iframe").nth(1)
    assert frame.locator("details.chunk").count() == 87
    frame.get_by_role("slider").press("Home")
    assert "It drops " in frame.locator("#said").inner_text()
    assert seen.complaints == []
    assert seen.asked == [seen.address]
    assert findings(seen.page) == []
    seen.picture("plan")


def test_the_command_line_writes_the_page(visit: Any, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    arguments = ["explain", "examples/support/chunks.jsonl", "-b", "600", "-p", POLICY]
    subprocess.run(
        [sys.executable, "-m", "packer.command_line", *arguments, "--html", str(target)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        env=dict(os.environ),
    )
    seen = visit(target.read_text("utf-8"))
    assert seen.page.title() == "8 of 87 chunks packed"
    assert seen.complaints == []


# -- size -----------------------------------------------------------------------------------


def test_a_thousand_chunks_are_a_page_of_bounded_size(visit: Any) -> None:
    words = ("refund", "return", "parcel", "damage", "policy", "item", "label", "warehouse")
    chunks = [
        Chunk(
            " ".join(words[(at * 7 + word * (1 + at % 5)) % 8] for word in range(120)),
            ((at * 7919) % 1000) / 1000,
            id=f"doc-{at}#0",
            tokens=150 + at % 100,
            metadata={"source": f"s{at % 9}", "year": 2020 + at % 6},
        )
        for at in range(1000)
    ]
    packed = pack(chunks, threshold(0.3) | greedy | ushape, budget=8000)
    seen = visit(packed.to_html())
    page = seen.page
    assert page.locator("details.chunk").count() == 1000
    elements = page.evaluate("document.querySelectorAll('*').length")
    assert elements < 60 * 1000
    loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    page.get_by_role("slider").press("End")
    assert seen.complaints == []
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    told = f"1,000 chunks: {elements:,} elements, loaded after {loaded:.0f} ms\n"
    (SCREENSHOTS / "thousand.txt").write_text(told, "utf-8")
