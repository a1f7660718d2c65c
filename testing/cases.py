"""Many small cases in one test: to collect and report a test of its own takes longer than most of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def check_each(cases: Iterable[tuple[str, Case]], check: Callable[[Case], None]) -> None:
    """Check all cases, which are given with their names, also if some of them fail.

    Raises a group of the errors of those that fail, each with the case's name as a note, and AssertionError if there
    are no cases.
    """
    number, errors = 0, list[BaseException]()
    for name, case in cases:
        number += 1
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"The case: {name}")
            errors.append(error)
    assert number, "there are no cases"
    if errors:
        raise BaseExceptionGroup(f"{len(errors)} of {number} cases fail", errors)
