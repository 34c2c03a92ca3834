"""The budgets that are taken when none are given, where a help text has them without the rest."""

from typing import Final

__all__ = ["BUDGETS", "TUNING_BUDGETS"]

BUDGETS: Final = (256, 512, 1024, 2048, 4096)
"""Of `evaluate`."""

TUNING_BUDGETS: Final = (512, 1024, 2048)
"""Of `tune`, which maximises the mean over them."""
