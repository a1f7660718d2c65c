"""Checks that also convert: each gives a value in its normal form, or raises `Invalid` with its problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from openstack_emulator.core.validation.problems import Check, Problem

T = TypeVar("T")
Converter = Callable[[object], T]


class Invalid(Exception):
    """A value that cannot be used, with the problem that it has."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


def require(check: Check, value: object) -> None:
    """Pass on the problem that a check finds. Raises Invalid."""
    if (problem := check(value)) is not None:
        raise Invalid(problem)


def optional(convert: Converter[T]) -> Converter[T | None]:
    """The same, or null."""
    return lambda value: None if value is None else convert(value)
