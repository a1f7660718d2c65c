"""Translation of property values before a plug-in gets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from heat.common import exception


class TranslationRule:
    """One change of the values at `translation_path`, a list of names; elements of lists are translated one by one.

    REPLACE sets `value`, or moves the value of `value_name` (beside the property) or at `value_path`; ADD appends the
    items of `value`; DELETE removes the value; RESOLVE replaces it by the result of `finder` of `client_plugin`.
    """

    RULE_KEYS = (ADD, REPLACE, DELETE, RESOLVE) = ("Add", "Replace", "Delete", "Resolve")

    def __init__(
        self,
        properties: Any,
        rule: str,
        translation_path: list[str],
        value: Any = None,
        value_name: str | None = None,
        value_path: list[str] | None = None,
        client_plugin: Any = None,
        finder: str | None = None,
        entity: str | None = None,
        custom_value_path: list[str] | None = None,
    ) -> None:
        if rule not in self.RULE_KEYS:
            raise ValueError(f"there is no rule {rule!r}; the rules are {', '.join(self.RULE_KEYS)}")
        if custom_value_path is not None:
            raise exception.NotSupported(feature="custom_value_path of a TranslationRule")
        self.properties, self.rule, self.translation_path = properties, rule, list(translation_path)
        self.value, self.value_name, self.value_path = value, value_name, value_path
        self.client_plugin, self.finder, self.entity = client_plugin, finder, entity

    def apply(self, data: dict[str, Any]) -> None:
        """Change the values in `data`, which are those of all properties."""
        for place, name in list(_places(data, self.translation_path)):
            self._apply(data, place, name)

    def _apply(self, data: dict[str, Any], place: Any, name: Any) -> None:
        current = place[name] if isinstance(place, list) else place.get(name)
        if self.rule == self.DELETE:
            place[name] = None
        elif self.rule == self.ADD:
            place[name] = [*(current or []), *(self.value or [])]
        elif self.rule == self.REPLACE:
            replacement = self._replacement(data, place)
            if replacement is not None:
                place[name] = replacement
        elif current is not None and current != "":
            resolve = getattr(self.client_plugin, str(self.finder))
            found = [_resolved(resolve, self.entity, item) for item in _as_list(current)]
            place[name] = found if isinstance(current, list) else found[0]

    def _replacement(self, data: dict[str, object], place: Any) -> Any:
        if self.value_name is not None:
            return place.pop(self.value_name, None)
        if self.value_path is not None:
            for other, name in _places(data, self.value_path):
                found, other[name] = (other[name] if isinstance(other, list) else other.get(name)), None
                return found
        return self.value


def _resolved(resolve: Any, entity: str | None, value: Any) -> object:
    return resolve(entity, value) if entity is not None else resolve(value)


def _as_list(value: Any) -> list[object]:
    return value if isinstance(value, list) else [value]


def _places(data: Any, path: list[str]) -> Iterator[tuple[Any, Any]]:
    """Yield the maps (or lists) that contain the values at the path, each with the key (or index)."""
    if isinstance(data, list):
        for item in data:
            yield from _places(item, path)
    elif isinstance(data, dict) and len(path) == 1:
        yield data, path[0]
    elif isinstance(data, dict):
        yield from _places(data.get(path[0]), path[1:])
