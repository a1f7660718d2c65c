"""map_merge and map_replace: maps that are created from maps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.schema.unknown import combine, is_unknown
from stoker.template.expressions import Evaluation
from stoker.template.functions.base import Function, is_list, is_map, variant

_ENTRY_BYTES = 64


@variant("map_merge/1")
class MapMerge(Function):
    """Several maps merged into one, in which later ones override earlier ones; takes a list of maps."""

    __slots__ = ()

    accepts_unknown = True

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if is_list(arguments) and any(map(is_unknown, arguments)):
            return combine([arguments])
        if not is_list(arguments):
            raise self.wrong_type("takes a list of maps")
        result: dict[str, object] = {}
        for item in arguments:
            entries = {} if item is None else item
            if not is_map(entries):
                raise self.wrong_type("every item must be a map")
            evaluation.budget.charge(made=_ENTRY_BYTES * len(entries))
            result.update(entries)
        return result


@variant("map_replace/1")
class MapReplace(Function):
    """A map with keys and values replaced; takes the map and a map with `keys` and `values`, each from old to new."""

    __slots__ = ()

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not is_list(arguments) or len(arguments) != 2:
            raise self.wrong_type("takes a list of two: a map, and a map with keys and values")
        replaced, replacements = arguments[0] or {}, arguments[1] or {}
        if not is_map(replaced) or not is_map(replacements):
            raise self.wrong_type("takes a list of two maps")
        unknown = set(replacements) - {"keys", "values"}
        if unknown:
            raise self.wrong(f"the second map takes keys and values, not {', '.join(sorted(unknown))}")
        keys, values = replacements.get("keys") or {}, replacements.get("values") or {}
        if not is_map(keys) or not is_map(values):
            raise self.wrong_type("keys and values must be maps")
        return self._replaced(replaced, keys, values)

    def _replaced(
        self, replaced: Mapping[str, object], keys: Mapping[str, object], values: Mapping[str, object]
    ) -> object:
        result: dict[object, object] = {}
        for key, value in replaced.items():
            new = keys.get(key, key)
            if is_list(new) or is_map(new):
                raise self.wrong_type("a key must not be a list or a map")
            if new in result or (new != key and new in replaced):
                raise self.wrong(f"two values would get the key {new!r}")
            result[new] = _value(value, values)
        return result


def _value(value: Any, values: Mapping[str, object]) -> object:
    if is_list(value) or is_map(value):
        return value
    for spelling in (value, json.dumps(value), str(value)):
        if spelling in values:
            return values[spelling]
    return value
