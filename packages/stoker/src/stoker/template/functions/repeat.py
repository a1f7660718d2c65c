"""repeat: a list of copies of a template with the items of lists inserted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, ClassVar

from stoker.base.budget import measured, size_of
from stoker.schema.unknown import Unknown, combine
from stoker.template.expressions import Evaluation, Expression, entries_of
from stoker.template.functions.base import Function, is_list, is_map, variant

_BYTES_PER_CHARACTER = 4


@variant("repeat/1")
class Repeat(Function):
    """A list with one copy of `template` for every combination of the items of the lists in `for_each`.

    In each copy the names in `for_each` are replaced by the items, which are strings.
    """

    __slots__ = ()

    accepts_unknown = True
    maps_allowed: ClassVar[bool] = False

    def problem(self, arguments: object) -> str | None:
        entries = entries_of(arguments)
        if entries is None or not {"template", "for_each"} <= set(entries):
            return "takes a map with template and for_each"
        for_each = entries["for_each"]
        if entries_of(for_each) is None and not isinstance(for_each, Expression):
            return "for_each must be a map from names to lists"
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        rest = {key: value for key, value in arguments.items() if key != "template"} if is_map(arguments) else arguments
        if evaluation.blocked(rest):
            return combine([arguments])
        for_each = arguments["for_each"]
        if not is_map(for_each):
            raise self.wrong_type("for_each must be a map from names to lists")
        lists = [self._items(name, items) for name, items in for_each.items()]
        template = arguments["template"]
        if isinstance(template, Unknown):
            return template
        rows = self.rows(lists, arguments, evaluation.binding.limits.max_repeat_items)
        self._refuse_excess(template, len(rows), evaluation)
        return [self._filled(template, list(zip(for_each, row, strict=True)), evaluation) for row in rows]

    def rows(self, lists: list[Sequence[object]], arguments: Mapping[str, object], limit: int) -> list[tuple[Any, ...]]:
        """Return the items for each copy; raises FunctionError for more than `limit` copies."""
        return self.combinations(lists, limit)

    def combinations(self, lists: Sequence[Sequence[object]], limit: int) -> list[tuple[object, ...]]:
        """Return every combination of one item from each list; the items of the first list change slowest."""
        count = prod(map(len, lists))
        if count > limit:
            raise self.wrong(f"{count} combinations are too many; at most {limit} are allowed")
        return list(product(*lists))

    def _items(self, name: str, items: Any) -> Sequence[Any]:
        if items is None:
            return []
        if self.maps_allowed and is_map(items):
            return list(items)
        if not is_list(items):
            raise self.wrong_type(f"the value of {name!r} in for_each must be a list")
        return list(items)

    def _refuse_excess(self, template: object, count: int, evaluation: Evaluation) -> None:
        limits = evaluation.binding.limits
        size = count * measured(template, evaluation.budget)
        if count > limits.max_repeat_items or size > _BYTES_PER_CHARACTER * limits.max_expanded_size:
            raise self.wrong(f"{count} copies of the template are too many")
        evaluation.budget.charge(count, size)

    def _filled(self, template: Any, values: list[tuple[str, object]], evaluation: Evaluation) -> object:
        evaluation.budget.charge(len(values) + 1)
        if isinstance(template, str):
            for name, value in values:
                if not isinstance(value, str):
                    raise self.wrong_type(f"the items of {name!r} in for_each must be strings")
                found = template.count(name)
                if found:
                    self.limited(size_of(template) + found * size_of(value), evaluation)
                    template = template.replace(name, value)
            return template
        if is_map(template):
            return {
                self._filled(key, values, evaluation): self._filled(item, values, evaluation)
                for key, item in template.items()
            }
        if is_list(template):
            return [self._filled(item, values, evaluation) for item in template]
        return template


@variant("repeat/2")
class RepeatMaps(Repeat):
    """A list with one copy of `template` for every combination of the items of the lists in `for_each`.

    In each copy the names in `for_each` are replaced by the items, which are strings; a map in `for_each` is a list of
    its keys.
    """

    __slots__ = ()

    maps_allowed = True


@variant("repeat/3")
class RepeatPermutations(RepeatMaps):
    """A list with one copy of `template` for every combination of the items of the lists in `for_each`.

    In each copy the names in `for_each` are replaced by the items, which are strings; a map in `for_each` is a list of
    its keys. With `permutations: false` the first copy gets the first item of every list, the second copy the second,
    and so on.
    """

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        entries = entries_of(arguments) or {}
        permutations = entries.get("permutations", True)
        if not isinstance(permutations, bool | Expression):
            return "permutations must be true or false"
        return super().problem(arguments)

    def rows(self, lists: list[Sequence[object]], arguments: Mapping[str, Any], limit: int) -> list[tuple[Any, ...]]:
        permutations = arguments.get("permutations", True)
        if not isinstance(permutations, bool):
            raise self.wrong_type("permutations must be true or false")
        if permutations:
            return self.combinations(lists, limit)
        if any(is_map(items) for items in arguments["for_each"].values()):
            raise self.wrong_type("with permutations: false, for_each takes lists only")
        if len({len(items) for items in lists}) > 1:
            raise self.wrong("with permutations: false, all lists in for_each must have the same length")
        return list(zip(*lists, strict=True))
