"""Wrong programs: each must stay an error under `mypy --strict` and raise when it runs.

An `ignore` that nothing needs is an error itself, so this file fails the day one is accepted.
"""

from packer import Packed, Packer, pack
from strategies import by_score, dedup, greedy, knapsack, mmr, threshold, ushape


def order_before_selection() -> object:
    return threshold(0.6) | ushape  # type: ignore[operator]


def order_before_its_selector() -> object:
    return ushape | greedy  # type: ignore[operator]


def two_selections() -> object:
    return greedy | mmr(0.7)  # type: ignore[operator]


def filter_after_selection() -> object:
    return greedy | threshold(0.6)  # type: ignore[operator]


def filter_after_order() -> object:
    return greedy | ushape | dedup(0.85)  # type: ignore[operator]


def two_orders() -> object:
    return greedy | ushape | by_score  # type: ignore[operator]


def two_selections_between_compositions() -> object:
    return (threshold(0.6) | greedy) | (dedup(0.85) | knapsack)  # type: ignore[operator]


def packing_without_a_selector() -> Packed:
    return pack([], threshold(0.6), budget=1)  # type: ignore[arg-type]


def a_packer_without_a_selector() -> Packer:
    return Packer(threshold(0.6) | dedup(0.85), budget=1)  # type: ignore[operator]


def packing_an_order_alone() -> Packed:
    return pack([], ushape, budget=1)  # type: ignore[arg-type]


def number_on_the_right() -> object:
    return greedy | 3  # type: ignore[operator]


def number_on_the_left() -> object:
    return 3 | greedy  # type: ignore[operator]


def text_on_the_right() -> object:
    return threshold(0.6) | "greedy"  # type: ignore[operator]


def forgotten_call_on_the_right() -> object:
    return threshold(0.6) | mmr  # type: ignore[operator]


def forgotten_call_on_the_left() -> object:
    return mmr | ushape  # type: ignore[operator]


def forgotten_call_packed() -> Packed:
    return pack([], mmr, budget=1)  # type: ignore[arg-type]


def text_packed() -> Packed:
    return pack([], "greedy", budget=1)  # type: ignore[arg-type]
