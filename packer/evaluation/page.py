"""An evaluation as one HTML page: no scripts, nothing from the network, light and dark."""

from html import escape
from typing import Final

from .curves import DASHES, HUES, curves
from .measures import MEASURES, TITLES
from .results import Evaluation
from .tables import brief

__all__ = ["fragment", "page"]

STYLE: Final = """
.packer-eval{--ink:#1c1e21;--paper:#fff;--quiet:#646a73;--line:#d9dce1;--good:#0a6b3d;--bad:#b3261e;
--c0:#3b4252;--c1:#0072b2;--c2:#d55e00;--c3:#007a5a;--c4:#a6458a;--c5:#9a6b00;--c6:#3a86c8;--c7:#c2185b;
color:var(--ink);background:var(--paper);font:15px/1.45 system-ui,sans-serif;padding:1rem}
@media (prefers-color-scheme:dark){.packer-eval{--ink:#e6e8eb;--paper:#15181c;--quiet:#9aa1ab;
--line:#363c45;--good:#6cd39b;--bad:#ff8a80;--c0:#cfd6e4;--c1:#5fb3ec;--c2:#ff9a57;--c3:#4fd0a7;
--c4:#e08cc8;--c5:#e3b341;--c6:#9ecbff;--c7:#ff80ab}}
.packer-eval h1{font-size:1.5rem;margin:0 0 .25rem}.packer-eval h2{font-size:1.15rem}
.packer-eval h3{font-size:1rem;margin:.5rem 0}.packer-eval p{max-width:70ch}
.packer-eval .quiet{color:var(--quiet)}
.packer-eval .legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0}
.packer-eval .legend svg{width:28px;height:10px;vertical-align:middle}
.packer-eval .sets{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1.5rem}
.packer-eval .sets>section{min-width:0}.packer-eval .scroll{overflow-x:auto}
.packer-eval svg{width:100%;height:auto;font:11px system-ui,sans-serif;fill:var(--quiet)}
.packer-eval svg .grid{stroke:var(--line)}
.packer-eval polyline{fill:none;stroke:var(--c);stroke-width:1.8}
.packer-eval circle{fill:var(--c)}.packer-eval .whisker path{stroke:var(--c);opacity:.3}
.packer-eval svg>g:hover polyline{stroke-width:3.5}
.packer-eval table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
.packer-eval th,.packer-eval td{padding:.2rem .5rem;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}
.packer-eval td,.packer-eval thead th{white-space:nowrap}.packer-eval th:first-child{text-align:left;font-weight:400;min-width:9rem}.packer-eval thead th{color:var(--quiet)}
.packer-eval td small{display:block;color:var(--quiet)}
.packer-eval .better{color:var(--good);font-weight:600}.packer-eval .worse{color:var(--bad);font-weight:600}
.packer-eval code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
.packer-eval summary{cursor:pointer;font-size:1.15rem;font-weight:600;margin:1rem 0 .5rem}
"""

READING: Final = """A difference to the baseline is marked, <b>+</b> or <b>&minus;</b>, where it holds:
where its p-value (signs flipped at random over queries) stays below 5 % after Holm's correction over
all sets, budgets and policies. Without a mark it may be chance. The thin lines are 95 % intervals
(bootstrap over queries)."""


def page(evaluation: Evaluation, title: str) -> str:
    """The whole page."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>html,body{{margin:0}}"
        "@media (prefers-color-scheme:dark){body{background:#15181c}}</style></head>"
        f"<body>{fragment(evaluation, title)}</body></html>\n"
    )


def fragment(evaluation: Evaluation, title: str = "Policies compared") -> str:
    """What is on the page, to stand in another, such as a notebook's."""
    parts = [f"<style>{STYLE}{_switches(evaluation)}</style>", f"<h1>{escape(title)}</h1>"]
    parts += [_head(evaluation), _legend(evaluation), f"<p>{READING}</p>"]
    parts += [_measure(evaluation, measure) for measure in MEASURES]
    return f'<div class="packer-eval">{"".join(parts)}</div>'


def _head(evaluation: Evaluation) -> str:
    count = sum(map(len, evaluation.queries.values()))
    sets = "1 set" if len(evaluation.queries) == 1 else f"{len(evaluation.queries)} sets"
    return (
        f'<p class="quiet">{count:,} queries in {sets}; baseline '
        f"<code>{escape(evaluation.baseline)}</code>; {evaluation.resamples:,} resamples, seed "
        f"{evaluation.seed}. {escape(evaluation.missed)}</p>"
    )


def _switches(evaluation: Evaluation) -> str:
    """Rules by which the boxes of the legend hide curves."""
    return "".join(
        f".packer-eval:has(#packer-p{at}:not(:checked)) svg .p{at}{{display:none}}"
        for at in range(len(evaluation.policies))
    )


def _legend(evaluation: Evaluation) -> str:
    items = []
    for at, (label, text) in enumerate(evaluation.policies.items()):
        dash = DASHES[at // HUES % len(DASHES)]
        named = f" <code>{escape(text)}</code>" if text != label else ""
        base = " (baseline)" if label == evaluation.baseline else ""
        items.append(
            f'<li><label><input type="checkbox" id="packer-p{at}" checked> '
            f'<svg viewBox="0 0 28 10" aria-hidden="true"><g style="--c:var(--c{at % HUES})">'
            f'<polyline points="0,5 28,5" stroke-dasharray="{dash}"/></g></svg> '
            f"<code>{escape(label)}</code>{base}{named}</label></li>"
        )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _measure(evaluation: Evaluation, measure: str) -> str:
    sections = []
    for name in evaluation.sets:
        label = f"{TITLES[measure]} over the budget, {name}"
        drawn = curves(evaluation, name, measure, label)
        if drawn:
            table = f'<div class="scroll">{_table(evaluation, name, measure)}</div>'
            count = len(evaluation.queries.get(name, ()))
            queries = f' <span class="quiet">{count:,} queries</span>' if count else ""
            sections.append(f"<section><h3>{escape(name)}{queries}</h3>{drawn}{table}</section>")
    if not sections:
        return ""
    open_ = " open" if measure == MEASURES[0] else ""
    title = TITLES[measure].capitalize()
    return (
        f"<details{open_}><summary>{title}</summary>"
        f'<div class="sets">{"".join(sections)}</div></details>'
    )


def _table(evaluation: Evaluation, name: str, measure: str) -> str:
    reach = measure == "evidence" and name in evaluation.queries
    head = "".join(f"<th>{budget:,}</th>" for budget in evaluation.budgets)
    head += "<th>90 % at</th>" if reach else ""
    rows = []
    for label in evaluation.policies:
        cells = "".join(
            _cell(evaluation, name, label, budget, measure) for budget in evaluation.budgets
        )
        if reach:
            cells += f"<td>{escape(evaluation.reached(name, label))}</td>"
        rows.append(f"<tr><th><code>{escape(label)}</code></th>{cells}</tr>")
    return f"<table><thead><tr><th>policy</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(evaluation: Evaluation, name: str, label: str, budget: int, measure: str) -> str:
    cell = evaluation.cell(name, label, budget)
    figure, difference, mark = brief(cell, measure)
    if not difference:
        return f"<td>{figure}</td>"
    found = cell.difference(measure)
    kind = {"+": ' class="better"', "-": ' class="worse"'}.get(mark, "")
    sign = mark.replace("-", "\N{MINUS SIGN}")
    told = f"{found.low:+.3f} to {found.high:+.3f}"
    if found.p is not None and found.adjusted is not None:
        told += f", p {found.p:.4f}, corrected {found.adjusted:.4f}"
    return (
        f'<td title="{told}"><span{kind}>{figure}{sign}</span>'
        f"<small>{difference.replace('-', chr(0x2212))}</small></td>"
    )
