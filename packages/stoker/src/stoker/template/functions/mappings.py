"""Fn::FindInMap: a value of the Mappings section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.schema.unknown import combine, is_unknown
from stoker.template.expressions import Evaluation, FunctionError, entries_of, items_of
from stoker.template.functions.base import Function, variant
from stoker.template.problems import suggestion


@variant("Fn::FindInMap/1")
class FindInMap(Function):
    """A value of the template's Mappings; takes the mapping's name, a first key and a second key."""

    __slots__ = ()

    accepts_unknown = True

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        return "takes a list of three: a mapping, a key and a second key" if items is None or len(items) != 3 else None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        return self.find(arguments, evaluation)

    def find(self, keys: Sequence[Any], evaluation: Evaluation) -> object:
        """Return the value at the keys, an unknown one if a key is unknown.

        Raises FunctionError (KeyError) if there is none, or if there is none whatever an unknown key will be.
        """
        mappings = evaluation.binding.mappings
        mapping, first, second = keys
        self._require(mapping, 0, mappings, "there is no mapping")
        if is_unknown(mapping):
            return combine(keys)
        rows = mappings[str(mapping)]
        self._require(first, 1, rows, f"the mapping {mapping!r} has no key")
        within = "" if is_unknown(first) else f"[{first!r}]"
        columns = {key: None for row in rows.values() for key in row} if is_unknown(first) else rows[str(first)]
        self._require(second, 2, columns, f"the mapping {mapping!r}{within} has no second key")
        return combine(keys) if is_unknown(first) or is_unknown(second) else columns[str(second)]

    def _require(self, key: object, index: int, known: Mapping[str, object], message: str) -> None:
        """Raise FunctionError, at the place of the key, unless it is unknown or one of those that are known."""
        if is_unknown(key):
            return
        if not isinstance(key, str | int):
            raise self.wrong_type("the keys must be strings")
        if str(key) not in known:
            error = FunctionError(f"{self.name}: {message} {key!r}", "KeyError", suggestion(key, known))
            error.path = (*self.path, self.name, index) if isinstance(items_of(self.arguments), list) else None
            raise error


@variant("Fn::FindInMap/2")
class FindInMapOrDefault(FindInMap):
    """A value of the template's Mappings; takes the mapping's name, two keys and, optionally, a map with
    `DefaultValue`, which is the value when there is none at the keys.
    """

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) != 4:
            return super().problem(arguments)
        default = entries_of(items[3])
        return (
            None
            if default is not None and set(default) == {"DefaultValue"}
            else "takes {DefaultValue: …} as the fourth argument"
        )

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        if len(arguments) == 3:
            return self.find(arguments, evaluation)
        *keys, default = arguments
        try:
            return self.find(keys, evaluation)
        except FunctionError as error:
            if error.kind != "KeyError":
                raise
            return default["DefaultValue"]
