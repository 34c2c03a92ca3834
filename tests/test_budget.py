from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import Budget, Chunk, Packer, PackError, pack
from strategies import greedy

PARTS = ("reserve", "system", "history", "margin")
AMOUNTS = st.integers(0, 50)


def chunks(*tokens: int) -> list[Chunk]:
    return [Chunk(f"text {at}", 1 - at / 100, tokens=count) for at, count in enumerate(tokens)]


@given(st.integers(1, 300), st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS))
def test_the_ledger_adds_up_or_is_refused_with_every_part(
    window: int, parts: tuple[int, ...]
) -> None:
    left = window - sum(parts)
    named = dict(zip(PARTS, parts, strict=True))
    if left > 0:
        budget = Budget(window, **named)
        assert budget.available == left
        packed = pack(chunks(left), greedy, budget=budget)
        assert (packed.report.budget, packed.report.tokens_remaining) == (left, 0)
        assert not len(pack(chunks(left + 1), greedy, budget=budget))
        return
    with pytest.raises(PackError) as caught:
        Budget(window, **named)
    assert caught.value.code == "INVALID_BUDGET"
    assert caught.value.details == {"window": window, **named, "available": left}
    for name, amount in named.items():
        assert (f"{name} {amount}" in caught.value.message) == (amount > 0)
    assert f"= {left}" in caught.value.message


def test_the_error_shows_each_part() -> None:
    with pytest.raises(PackError, match="window 100 - reserve 80 - system 40 = -20"):
        Budget(100, reserve=80, system=40)


@pytest.mark.parametrize("wrong", [-1, 1.0, True, "9", None, float("nan")], ids=repr)
@pytest.mark.parametrize("part", ["window", *PARTS])
def test_parts_are_ints_of_0_or_more(part: str, wrong: Any) -> None:
    with pytest.raises(PackError, match=f"Budget: {part} is"):
        Budget(**{"window": 100, part: wrong})


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(PackError, match="window is 0; give an int above 0"):
        Budget(0)


def test_a_margin_is_charged_once_a_prompt() -> None:
    assert len(pack(chunks(10, 10, 10, 10, 10), greedy, budget=Budget(70, margin=20))) == 5


def test_a_packer_keeps_its_budget_as_given() -> None:
    budget = Budget(100, reserve=20)
    packer = Packer(greedy, budget=budget)
    assert packer.budget is budget
    assert packer(chunks(80)) == Packer(greedy, budget=80)(chunks(80))
    assert str(budget) == "window 100 - reserve 20 = 80"
