"""Tables that are defined for every policy: comparisons, arithmetic, strings. The last columns are results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.policy.rules.language import Atom, Literal, Rule, Term, Value, Variable

MODULE = "builtin"
_LONGEST = 65_535
_LARGEST = 2**53


@dataclass(frozen=True)
class Builtin:
    """A function of the first `inputs` columns. With `results`, its value is the last column, else a condition."""

    inputs: int
    results: int
    function: Callable[..., Any]

    def holds(self, arguments: tuple[Value, ...]) -> bool:
        """Evaluate a condition; values that cannot be compared do not fulfil it."""
        try:
            return bool(self.function(*arguments))
        except (TypeError, ValueError, ArithmeticError):
            return False

    def value(self, arguments: tuple[Value, ...]) -> Value | None:
        """Return the result; None for inputs that have none, and for one that is too large."""
        try:
            found: Value = self.function(*arguments)
        except (TypeError, ValueError, ArithmeticError):
            return None
        if isinstance(found, str):
            return found if len(found) <= _LONGEST else None
        return found if abs(found) < _LARGEST else None


BUILTINS: Mapping[str, Builtin] = {
    "lt": Builtin(2, 0, lambda x, y: x < y),
    "lteq": Builtin(2, 0, lambda x, y: x <= y),
    "equal": Builtin(2, 0, lambda x, y: x == y),
    "gt": Builtin(2, 0, lambda x, y: x > y),
    "gteq": Builtin(2, 0, lambda x, y: x >= y),
    "max": Builtin(2, 1, max),
    "plus": Builtin(2, 1, lambda x, y: _number(x) + _number(y)),
    "minus": Builtin(2, 1, lambda x, y: _number(x) - _number(y)),
    "mul": Builtin(2, 1, lambda x, y: _number(x) * _number(y)),
    "div": Builtin(2, 1, lambda x, y: _number(x) / _number(y)),
    "float": Builtin(1, 1, float),
    "int": Builtin(1, 1, int),
    "concat": Builtin(2, 1, lambda x, y: _string(x) + _string(y)),
    "len": Builtin(1, 1, lambda x: len(_string(x))),
}


def builtin_of(atom: Atom) -> Builtin | None:
    """Return the built-in table that an atom refers to: `builtin:lt(x, y)`, or `lt(x, y)` as in older releases."""
    if atom.module not in (None, MODULE):
        return None
    found = BUILTINS.get(atom.table)
    return found if found is not None and len(atom.terms) == found.inputs + found.results else None


def unsafe_variable(rule: Rule) -> str | None:
    """Return a variable of a rule that gets no value, None without one.

    Variables get values from tables in the body that are not negated, and as results of built-in tables. Every variable
    in the head, in a negated literal and among the inputs of a built-in table needs one.
    """
    bound: set[str] = set()
    waiting = list(rule.body)
    while True:
        ready = [literal for literal in waiting if _inputs(literal) <= bound]
        if not ready:
            break
        waiting = [literal for literal in waiting if literal not in ready]
        for literal in ready:
            bound |= set() if literal.negated else literal.atom.variables()
    lacking = rule.head.variables().union(*(_inputs(literal) for literal in waiting)) - bound
    return min(lacking, default=None)


def inputs_of(literal: Literal) -> tuple[Term, ...]:
    """Return the arguments of a literal that need values before it can be evaluated."""
    builtin = builtin_of(literal.atom)
    if literal.negated:
        return literal.atom.terms
    return () if builtin is None else literal.atom.terms[: builtin.inputs]


def _inputs(literal: Literal) -> set[str]:
    return {term.name for term in inputs_of(literal) if isinstance(term, Variable)}


def _number(value: Value) -> int | float:
    if isinstance(value, str):
        raise TypeError(f"{value!r} is not a number")
    return value


def _string(value: Value) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value
