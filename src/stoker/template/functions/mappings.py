"""Fn::FindInMap: a value of the Mappings section."""

from __future__ import annotations

from typing import Any

from stoker.template.expressions import Evaluation, FunctionError, items_of
from stoker.template.functions.base import Function, variant
from stoker.template.problems import suggestion


@variant("Fn::FindInMap/1")
class FindInMap(Function):
    """A value of the template's Mappings; takes the mapping's name, a first key and a second key."""

    __slots__ = ()

    def complaint(self, arguments: Any) -> str | None:
        items = items_of(arguments)
        return "takes a list of three: a mapping, a key and a second key" if items is None or len(items) != 3 else None

    def apply(self, arguments: Any, evaluation: Evaluation) -> Any:
        value: Any = evaluation.binding.mappings
        for key in arguments:
            if not isinstance(key, str | int):
                raise self.wrong_type("the keys must be texts")
            if not isinstance(value, dict) or str(key) not in value:
                known = value if isinstance(value, dict) else ()
                raise FunctionError(f"{self.name}: there is no {key!r}", "KeyError", suggestion(key, known))
            value = value[str(key)]
        return value
