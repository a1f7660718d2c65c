"""Fn::Select: one item of a list or map."""

from __future__ import annotations

from typing import Any

from stoker.base.json_text import read_json
from stoker.schema.unknown import combine, is_unknown
from stoker.template.expressions import Evaluation, items_of
from stoker.template.functions.base import Function, is_list, is_map, to_index, variant

_BYTES_PER_CHARACTER = 16
"""The maximum number of bytes that JSON data takes in memory for each character of its source."""


@variant("Fn::Select/1")
class FnSelect(Function):
    """An item of a list by its index, or of a map by its key; an empty string if there is none.

    Takes the index or key, and the list or map, or a JSON string of one.
    """

    __slots__ = ()

    accepts_unknown = True

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        return "takes a list of two: an index and a list or map" if items is None or len(items) != 2 else None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        index, collection = arguments
        if evaluation.blocked(index) or is_unknown(collection):
            return combine([arguments])
        if isinstance(collection, str) and collection:
            evaluation.budget.charge(made=_BYTES_PER_CHARACTER * len(collection))
            collection = self._parsed(collection)
        if collection is None or collection == "":
            return ""
        if is_map(collection):
            if not isinstance(index, str):
                raise self.wrong_type("the key of a map must be a string")
            return collection.get(index, "")
        if not is_list(collection):
            raise self.wrong_type("the second argument must be a list or a map")
        position = to_index(index)
        if position is None:
            raise self.wrong_type("the index of a list must be an integer")
        return collection[position] if -len(collection) <= position < len(collection) else ""

    def _parsed(self, text: str) -> object:
        try:
            return read_json(text)
        except ValueError as error:
            raise self.wrong(f"the string is not JSON: {error}") from error
