"""list_join and Fn::Join: strings concatenated with a delimiter between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker.base.budget import size_of
from stoker.template.expressions import Evaluation, items_of
from stoker.template.functions.base import Function, is_list, is_map, variant


@variant("list_join/1")
class ListJoin(Function):
    """The strings of a list with a delimiter between them; takes the delimiter and the list."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) != 2:
            return "takes a list of two: a delimiter and a list of strings"
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        delimiter, *lists = arguments
        if not isinstance(delimiter, str):
            raise self.wrong_type("the delimiter must be a string")
        texts = [self.text(item, evaluation) for items in lists for item in self._items(items)]
        self.limited(sum(map(size_of, texts)) + size_of(delimiter) * len(texts), evaluation)
        return delimiter.join(texts)

    def _items(self, items: object) -> Sequence[object]:
        if items is None:
            return []
        if not is_list(items):
            raise self.wrong_type("the strings to join must be in a list")
        return items

    def text(self, item: object, evaluation: Evaluation) -> str:
        """Return one item as a string; raises FunctionError."""
        if item is None:
            return ""
        if not isinstance(item, str):
            raise self.wrong_type("every item must be a string")
        return item


@variant("list_join/2")
class ListJoinMany(ListJoin):
    """The strings of one or more lists with a delimiter between them; a list or map among them is written as JSON."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) < 2:
            return "takes a list: a delimiter and one or more lists"
        return None

    def _items(self, items: object) -> Sequence[object]:
        return super()._items(items or None)  # as in Heat, any empty value instead of a list is skipped

    def text(self, item: object, evaluation: Evaluation) -> str:
        if is_list(item) or is_map(item):
            return self.written(item, evaluation, sort_keys=True)
        return super().text(item, evaluation)
