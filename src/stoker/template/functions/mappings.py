"""Fn::FindInMap: a value of the Mappings section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker.template.expressions import Evaluation, FunctionError, entries_of, items_of
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
        return self.find(arguments, evaluation)

    def find(self, keys: Sequence[Any], evaluation: Evaluation) -> Any:
        """Return the value at the keys; raises FunctionError (KeyError) if there is none."""
        value: Any = evaluation.binding.mappings
        for key in keys:
            if not isinstance(key, str | int):
                raise self.wrong_type("the keys must be strings")
            if not isinstance(value, dict) or str(key) not in value:
                known = value if isinstance(value, dict) else ()
                raise FunctionError(f"{self.name}: there is no {key!r}", "KeyError", suggestion(key, known))
            value = value[str(key)]
        return value


@variant("Fn::FindInMap/2")
class FindInMapOrDefault(FindInMap):
    """A value of the template's Mappings; takes the mapping's name, two keys and, optionally, a map with
    `DefaultValue`, which is the value when there is none at the keys.
    """

    __slots__ = ()

    def complaint(self, arguments: Any) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) != 4:
            return super().complaint(arguments)
        default = entries_of(items[3])
        return (
            None
            if default is not None and set(default) == {"DefaultValue"}
            else "takes {DefaultValue: …} as the fourth argument"
        )

    def apply(self, arguments: Any, evaluation: Evaluation) -> Any:
        if len(arguments) == 3:
            return self.find(arguments, evaluation)
        *keys, default = arguments
        try:
            return self.find(keys, evaluation)
        except FunctionError as error:
            if error.kind != "KeyError":
                raise
            return default["DefaultValue"]
