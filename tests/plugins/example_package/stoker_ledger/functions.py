"""Template functions."""

from __future__ import annotations

from typing import Any

from stoker.template.expressions import Evaluation, items_of
from stoker.template.functions.base import Function
from stoker.template.paths import to_index


class LedgerCode(Function):
    """The code of an account; takes the letters and the number."""

    __slots__ = ()

    def problem(self, arguments: Any) -> str | None:
        items = items_of(arguments)
        return None if items is not None and len(items) == 2 else "takes a list of two: letters and a number"

    def apply(self, arguments: Any, evaluation: Evaluation) -> Any:
        letters, number = str(arguments[0]), to_index(arguments[1])
        if number is None or not 0 <= number <= 9999:
            raise self.wrong(f"the number must be between 0 and 9999, not {arguments[1]!r}")
        self.charge(evaluation, made=len(letters) + 5)
        return f"{letters.upper()}-{number:04}"


FUNCTIONS = {"ledger_code/1": LedgerCode}
