"""yaql: an expression in the YAQL language over some data, with limits on its cost."""

from __future__ import annotations

from typing import Any

from stoker.base.budget import measured
from stoker.base.errors import BudgetExceeded
from stoker.template.expressions import Evaluation, Expression, entries_of
from stoker.template.functions.base import Function, is_map, variant

_KEYS = frozenset({"expression", "data"})
_COPIES = 2
"""How many copies of the data are charged: the library's immutable copy, and the result."""


@variant("yaql/1")
class Yaql(Function):
    """The value of a YAQL expression; takes a map with `expression` (a string) and `data`, which is `$.data` in it."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        entries = entries_of(arguments)
        if entries is None or "expression" not in entries or not set(entries) <= _KEYS:
            return "takes a map with expression (a string) and, optionally, data"
        expression = entries["expression"]
        if isinstance(expression, Expression):
            return None
        return _syntax_error(expression)

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not is_map(arguments):
            raise self.wrong_type("takes a map with expression and data")
        expression: Any = arguments["expression"]
        error = _syntax_error(expression)
        if error:
            raise self.wrong(error)
        data = arguments.get("data", {})
        limits = evaluation.binding.limits
        try:
            return _run(expression, data, evaluation)
        except BudgetExceeded:
            raise
        except (TimeoutError, RecursionError, MemoryError) as failure:
            reason = f"more than {limits.yaql_seconds} s, or too much memory"
            raise self.wrong(f"the expression takes {reason}") from failure
        except KeyError as failure:
            raise self.wrong(f"the data has no key {failure}", "KeyError") from failure
        except Exception as failure:
            # The library runs the user's expression; any exception is a mistake in it.
            raise self.wrong(str(failure) or type(failure).__name__, type(failure).__name__) from failure


def _syntax_error(expression: object) -> str | None:
    if not isinstance(expression, str):
        return "the expression must be a string"
    from stoker_foundation import bounded_yaql  # the library takes long to import, and few templates need it

    return bounded_yaql.syntax_error(expression)


def _run(expression: str, data: object, evaluation: Evaluation) -> object:
    from stoker_foundation import bounded_yaql

    limits, budget = evaluation.binding.limits, evaluation.budget
    budget.charge(made=_COPIES * measured(data, budget))
    return bounded_yaql.evaluate(
        expression,
        {"data": data},
        seconds=limits.yaql_seconds,
        iterators=limits.yaql_limit_iterators,
        memory=limits.yaql_memory_quota,
        charge=budget.charge,
    )
