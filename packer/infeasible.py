"""Which rules cannot hold together: the error for a selection that cannot be.

The first of these that applies is named: a needed chunk that is no candidate, pins that cost more
than the budget, what must be in against a quota, two that exclude each other, and else the least
set of rules that no selection satisfies: at any budget where there is one, else within this.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from .arrays import Ints
from .errors import Infeasible, OverBudget
from .pool import Pool
from .rulebook import Rulebook, rulebook
from .rules import Quota, Rule

__all__ = ["conflict"]


def conflict(book: Rulebook) -> OverBudget | Infeasible:
    """The error for rules that cannot hold together, with the least set of them that can be named."""
    pool = book.pool
    pins = np.flatnonzero(book.columns[0])
    closure = _closure(book, pins)
    ids = pool.ids
    for row in closure:
        if row in book.missing:
            who = f"{ids[row]!r} is pinned" if row in pins else f"pins need {ids[row]!r}, which"
            message = f"{who} and needs {book.missing[row][0]!r}, which is no candidate"
            return Infeasible(message, details={"ids": (ids[row],)})
    costs = pool.charged(closure.tolist())[closure]
    if int(costs.sum()) > pool.budget:
        return _over_budget(pool, closure[np.argsort(-costs, kind="stable")], pins)
    found = _over_quota(book, pins, closure) or _rivals(book, closure)
    if found is not None:
        return found
    limited = _possible(book, limited=False)
    texts = tuple(rule.stage for rule in _least_conflict(pool, limited=limited))
    within = f" within {pool.budget} tokens"
    if not limited:
        message = f"no selection satisfies {_joined(texts)}; loosen one"
    elif pool.overlapping:  # of the many orders that change what each costs only some were tried
        message = f"found no selection{within} that satisfies {_joined(texts)}; raise the budget, or loosen one"
    else:
        message = (
            f"no selection{within} satisfies {_joined(texts)}; raise the budget, or loosen one"
        )
    return Infeasible(message, details={"rules": texts})


def _possible(book: Rulebook, *, limited: bool) -> bool:
    """Whether a selection may satisfy the rules, within the budget or at any."""
    try:
        return book.solve(np.ones(len(book.pool), np.int64), limited=limited) is not None
    except Infeasible:  # not known within the work limit
        return True


def _closure(book: Rulebook, rows: Ints) -> Ints:
    """These rows and all that they need."""
    at, parents = book.columns[7], book.columns[8]
    found = dict.fromkeys(rows.tolist())
    waiting = list(found)
    while waiting:
        row = waiting.pop()
        for parent in parents[at[row] : at[row + 1]].tolist():
            if parent not in found:
                found[parent] = None
                waiting.append(parent)
    return np.array(list(found), np.int64)


def _over_budget(pool: Pool, rows: Ints, pins: Ints) -> OverBudget:
    """The fewest of the rows that must be in, the dearest first, that exceed the budget."""
    spent = np.cumsum(pool.charged(rows.tolist())[rows])
    fewest = rows[: int(np.searchsorted(spent, pool.budget, side="right")) + 1]
    names = _joined(pool.ids[row] for row in fewest.tolist())
    total = int(spent[len(fewest) - 1])
    words = "pin" if len(fewest) == 1 else "pins"
    if not np.isin(fewest, pins).all():
        words = "pins with what they need,"
    verb = "needs" if len(fewest) == 1 else "need"
    message = (
        f"{words} {names} {verb} {total} of {pool.budget} tokens; raise the budget, or pin less"
    )
    ids = tuple(pool.ids[row] for row in fewest.tolist())
    return OverBudget(message, details={"ids": ids, "tokens": total, "budget": pool.budget})


def _over_quota(book: Rulebook, pins: Ints, closure: Ints) -> Infeasible | None:
    """The error when what must be in exceeds a quota, or a minimum exceeds what there is."""
    for number, rule in enumerate(book.quotas):
        group, amount = book.columns[1][number], book.columns[2][number]
        for key, name in enumerate(book.keys[number]):
            rows = closure[group[closure] == key]
            if int(amount[rows].sum()) > rule.most:
                return _forbidden(
                    book, rule, rows[np.argsort(-amount[rows], kind="stable")], number, pins
                )
            total = int(amount[group == key].sum())
            if total < rule.least:
                message = (
                    f"{rule.stage} asks for {rule.least} {rule.unit} of {rule.by} {name!r}, "
                    f"whose candidates have {total}; ask for less"
                )
                return Infeasible(message, details={"rule": rule.stage, "key": name})
    return None


def _forbidden(book: Rulebook, rule: Quota, rows: Ints, number: int, pins: Ints) -> Infeasible:
    """The error that names the fewest of the rows, the largest first, that exceed a quota."""
    spent = np.cumsum(book.columns[2][number][rows])
    fewest = rows[: int(np.searchsorted(spent, rule.most, side="right")) + 1].tolist()
    told = ", ".join(_must(book, row, pins) for row in fewest)
    message = f"{told}, which {rule.stage} forbids; loosen one of them"
    ids = tuple(book.pool.ids[row] for row in fewest)
    return Infeasible(message, details={"ids": ids, "rule": rule.stage})


def _must(book: Rulebook, row: int, pins: Ints) -> str:
    """Why a row must be in."""
    ids = book.pool.ids
    if row in pins:
        return f"{ids[row]} is pinned"
    at, parents = book.columns[7], book.columns[8]
    for child in _closure(book, pins).tolist():
        if row in parents[at[child] : at[child + 1]]:
            return f"{ids[child]} is {'pinned' if child in pins else 'in'} and needs {ids[row]}"
    return f"{ids[row]} must be in"


def _rivals(book: Rulebook, closure: Ints) -> Infeasible | None:
    """The error when two that must be in exclude each other."""
    at, rivals = book.columns[5], book.columns[6]
    inside = set(closure.tolist())
    pool, ids = book.pool, book.pool.ids
    for row in closure.tolist():
        for place in range(at[row], at[row + 1]):
            if int(rivals[place]) in inside:
                message = (
                    f"{ids[row]} and {ids[rivals[place]]} must both be in, and "
                    f"{pool.rules[book.rival_by[place]].stage} allows one (similarity "
                    f"{book.likeness[place]:.4f})"
                )
                return Infeasible(message, details={"ids": (ids[row], ids[rivals[place]])})
    return None


def _least_conflict(pool: Pool, *, limited: bool) -> Sequence[Rule]:
    """The rules of which none can be left out without the others being satisfiable.

    `limited`: within the budget.
    """
    kept = list(pool.rules)
    for rule in pool.rules:
        others = [other for other in kept if other is not rule]
        book = rulebook(pool.with_rules(others))
        if book is not None and not _possible(book, limited=limited):
            kept = others
    return kept


def _joined(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
