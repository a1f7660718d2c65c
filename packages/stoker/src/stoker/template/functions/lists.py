"""list_concat, list_concat_unique, filter and contains: lists and their items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stoker.schema.unknown import combine, is_unknown
from stoker.template.expressions import Evaluation, items_of
from stoker.template.functions.base import Function, is_list, is_map, variant

_ITEM_BYTES = 8
_COMPARISONS_PER_STEP = 8


@variant("list_concat/1")
class ListConcat(Function):
    """The concatenation of several lists; takes a list of lists."""

    __slots__ = ()

    accepts_unknown = True

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if is_list(arguments) and any(map(is_unknown, arguments)):
            return combine([arguments])
        return self.concatenated(arguments, evaluation)

    def concatenated(self, arguments: object, evaluation: Evaluation) -> list[object]:
        """Return the items of all lists; raises FunctionError."""
        if not is_list(arguments):
            raise self.wrong_type("takes a list of lists")
        if not all(items is None or is_list(items) for items in arguments):
            raise self.wrong_type("every item must be a list")
        lists = [items for items in arguments if is_list(items)]
        evaluation.budget.charge(made=_ITEM_BYTES * sum(map(len, lists)))
        return [item for items in lists for item in items]


@variant("list_concat_unique/1")
class ListConcatUnique(ListConcat):
    """The concatenation of several lists without duplicate items; takes a list of lists."""

    __slots__ = ()

    accepts_unknown = False

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        return _unique(self.concatenated(arguments, evaluation), evaluation)


def _unique(items: Iterable[object], evaluation: Evaluation) -> list[object]:
    result: list[object] = []
    scalars = set()
    collections: list[object] = []
    for item in items:
        if is_list(item) or is_map(item):
            evaluation.budget.charge(len(collections) + 1)
            if item in collections:
                continue
            collections.append(item)
        elif item in scalars:
            continue
        else:
            scalars.add(item)
        result.append(item)
    return result


@variant("filter/1")
class Filter(Function):
    """A list without certain items; takes a list of the items to remove and the list."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        return "takes a list of two: the values to remove and a list" if items is None or len(items) != 2 else None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        unwanted, items = arguments
        if items is None:
            return None
        if not is_list(items) or not (unwanted is None or is_list(unwanted)):
            raise self.wrong_type("the values to remove and the values to filter must be lists")
        evaluation.budget.charge(len(items) * (len(unwanted or ()) + 1) // _COMPARISONS_PER_STEP)
        return [item for item in items if item not in (unwanted or ())]


@variant("contains/1")
class Contains(Function):
    """Whether a value is in a list, or a string in a string; takes the value and the list or string."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        return "takes a list of two: a value and a list or string" if items is None or len(items) != 2 else None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        value, sequence = arguments
        if isinstance(sequence, str) and isinstance(value, str):
            return value in sequence
        if not is_list(sequence):
            raise self.wrong_type("the second argument must be a list, or a string if the first is a string")
        return value in sequence
