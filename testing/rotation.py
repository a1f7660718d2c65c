"""Long tests that try a part of their cases each day, and all of them on request."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

Case = TypeVar("Case")

ALL_CASES = "STOKER_ALL_CASES"
"""The environment variable that, when it is set, makes every run try all cases."""


def turn(days: int, offset: int = 0) -> tuple[int, int]:
    """Return the first of the numbers 1, 2, 3, … whose turn it is today, and the distance to the next one.

    Of `days` consecutive days each has other numbers. Tests with different offsets have different numbers on one day.
    """
    if os.environ.get(ALL_CASES):
        return 1, 1
    return 1 + (date.today().toordinal() + offset) % days, days


def of_today(cases: Sequence[Case], days: int) -> list[Case]:
    """Return the cases whose turn it is today, in their order."""
    first, stride = turn(days)
    return list(cases[first - 1 :: stride])
