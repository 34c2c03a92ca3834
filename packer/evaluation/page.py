"""An evaluation as one HTML page: no scripts, nothing from the network, light and dark."""

from importlib import resources

from packer.counted import number
from packer.page.document import document
from packer.page.markup import Html, element, plain, prose

from .curves import curves, line
from .markdown import brief
from .measures import MEASURES, TITLES
from .results import Evaluation

__all__ = ["page"]


def page(evaluation: Evaluation, title: str) -> str:
    """The whole page.  Names are a caller's words: they reach it by `packer.page.markup` alone."""
    return document(
        title,
        element("header", element("h1", prose(title)), _head(evaluation)),
        element(
            "main",
            _legend(evaluation),
            _reading(),
            *(_measure(evaluation, measure) for measure in MEASURES),
        ),
        scripted=False,
        style=_style(evaluation),
    )


def _style(evaluation: Evaluation) -> str:
    """Our own rules, and those by which the boxes of the legend hide curves."""
    ours = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    switches = (
        f":root:has(#show-{at}:not(:checked)) .p{at} {{ display: none; }}\n"
        for at in range(len(evaluation.policies))
    )
    return ours + "".join(switches)


def _head(evaluation: Evaluation) -> Html:
    count = sum(map(len, evaluation.queries.values()))
    return element(
        "p",
        f"{number(count, 'query', 'queries')} in {number(len(evaluation.queries), 'set')}; baseline ",
        element("code", prose(evaluation.baseline)),
        f"; {number(evaluation.resamples, 'resample')}, seed {evaluation.seed}. ",
        prose(evaluation.missed),
        class_="empty",
    )


def _reading() -> Html:
    return element(
        "p",
        "A difference to the baseline is marked, ",
        element("b", "+"),
        " or ",
        element("b", "\N{MINUS SIGN}"),
        ", where it holds: where its p-value (signs flipped at random over queries) stays below "
        "5 % after Holm's correction over all sets, budgets and policies. Without a mark it may "
        "be chance. The thin lines are 95 % intervals (bootstrap over queries).",
    )


def _legend(evaluation: Evaluation) -> Html:
    items = []
    for at, (label, text) in enumerate(evaluation.policies.items()):
        swatch = element(
            "svg", line(at, "0,5 28,5", class_=None), viewBox="0 0 28 10", aria_hidden="true"
        )
        choice = element(
            "label",
            element("input", type="checkbox", id=f"show-{at}", checked=True),
            " ",
            swatch,
            " ",
            element("code", prose(label)),
            " (baseline)" if label == evaluation.baseline else None,
            [" ", element("code", prose(text))] if text != label else None,
        )
        items.append(element("li", choice))
    return element("ul", *items, class_="choices", aria_label="Policies")


def _measure(evaluation: Evaluation, measure: str) -> Html | None:
    """A measure of every set that has it; None where none has."""
    sections = []
    for name in evaluation.sets:
        drawn = curves(
            evaluation, name, measure, f"{TITLES[measure]} over the budget, {plain(name)}"
        )
        if drawn is None:
            continue
        count = len(evaluation.queries.get(name, ()))
        told = element("span", number(count, "query", "queries"), class_="empty")
        heading = element("h3", prose(name), [" ", told] if count else None)
        sections.append(element("section", heading, drawn, _table(evaluation, name, measure)))
    if not sections:
        return None
    return element(
        "details",
        element("summary", TITLES[measure].capitalize()),
        element("div", *sections, class_="sets"),
        open=measure == MEASURES[0],
    )


def _table(evaluation: Evaluation, name: str, measure: str) -> Html:
    reach = measure == "evidence" and name in evaluation.queries
    heads = ["policy", *(f"{budget:,}" for budget in evaluation.budgets)]
    if reach:
        heads.append("90 % at")
    rows = [
        element(
            "tr",
            element("th", element("code", prose(label)), scope="row"),
            *(_cell(evaluation, name, label, budget, measure) for budget in evaluation.budgets),
            element("td", evaluation.reached(name, label)) if reach else None,
        )
        for label in evaluation.policies
    ]
    table = element(
        "table",
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *rows),
    )
    label = f"{TITLES[measure]}, {plain(name)}"
    return element("div", table, class_="wide", tabindex=0, role="region", aria_label=label)


def _cell(evaluation: Evaluation, name: str, label: str, budget: int, measure: str) -> Html:
    cell = evaluation.cell(name, label, budget)
    figure, difference, mark = brief(cell, measure)
    if not difference:
        return element("td", figure)
    found = cell.difference(measure)
    told = f"{found.low:+.3f} to {found.high:+.3f}"
    if found.p is not None and found.adjusted is not None:
        told += f", p {found.p:.4f}, corrected {found.adjusted:.4f}"
    kind = {"+": "better", "-": "worse"}.get(mark)
    return element(
        "td",
        element("span", figure, _minus(mark), class_=kind),
        element("small", _minus(difference)),
        title=told,
    )


def _minus(figure: str) -> str:
    return figure.replace("-", "\N{MINUS SIGN}")
