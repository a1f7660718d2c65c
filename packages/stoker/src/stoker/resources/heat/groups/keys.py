"""Groups whose members are named by keys: the property `for_each`, and what is filled in for each member.

A member keeps its name however many others are added and removed. Every function here is pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stoker.base import budget
from stoker.base.errors import BadValue
from stoker.resources.declare import length, matching
from stoker.resources.heat.groups.batching import RollingUpdate
from stoker.schema.property import Change, Property, Type
from stoker.schema.unknown import combine, has_unknown, is_unknown

FOR_EACH = "for_each"
_LONGEST_KEY = 64
_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PATH = re.compile(r"(?:\.[A-Za-z0-9_-]+)*")
_DELIMITED = r"[^A-Za-z0-9_.-].+[^A-Za-z0-9_.-]"
"""What surrounds a variable is no part of a path, so that a string is searched in one pass."""

VARIABLES = {
    "key_var": Property(
        description="With for_each: the string that is replaced by the member's name in its definition.",
        default="%key%",
        constraints=length(3),
        change=Change.UPDATE,
    ),
    "value_var": Property(
        description="With for_each: the string that is replaced by the member's value in its definition; a path before "
        "the last character names a part of it, as %value.flavor% does.",
        default="%value%",
        constraints=length(3) + matching(_DELIMITED),
        change=Change.UPDATE,
    ),
}


def for_each(what: str, excludes: str | None = None) -> dict[str, Property]:
    """Return the declarations of `for_each` and of the variables; `what` says which members there are."""
    description = f"{what} A map from names to values, or a list of names. Only Stoker has this property."
    return {FOR_EACH: Property(Type.ANY, description, change=Change.UPDATE, excludes=excludes), **VARIABLES}


# -- names -------------------------------------------------------------------------------------------------------------


def are_unknown(properties: Mapping[str, Any]) -> bool:
    """Return whether the members' names are not known yet, or what is to be replaced by them."""
    given = properties[FOR_EACH]
    if is_unknown(given) or (isinstance(given, list) and any(is_unknown(key) for key in given)):
        return True
    return given is not None and any(is_unknown(properties[name]) for name in VARIABLES)


def problems(given: Any) -> Iterator[str]:
    """Yield what is wrong with a value of `for_each` that is known."""
    if not isinstance(given, Mapping | list):
        yield f"{FOR_EACH}: must be a map from names to values, or a list of names"
        return
    seen: set[Any] = set()
    for key in given:
        if not isinstance(key, str):
            yield f"{FOR_EACH}: a member's name must be a string, not {json.dumps(key, default=str)[:60]}"
        elif len(key) > _LONGEST_KEY or not _KEY.fullmatch(key):
            allowed = f"1 to {_LONGEST_KEY} letters, digits, hyphens and underscores"
            yield f"{FOR_EACH}: {key[:_LONGEST_KEY]!r} cannot be the name of a member, which consists of {allowed}"
        elif key in seen:
            yield f"{FOR_EACH}: the name {key!r} occurs more than once"
        else:
            seen.add(key)


def keys_of(given: Mapping[str, object] | list[str]) -> list[str]:
    """Return the members' names in order, for a value of `for_each` without problems."""
    budget.members(len(given))
    return list(given)


# -- batches -----------------------------------------------------------------------------------------------------------


def without_additional_members(rolling: RollingUpdate, names: int) -> RollingUpdate:
    """Return the settings with which a group of at most so many members has no others during an update.

    Raises BadValue if none could change then.
    """
    most = names - rolling.min_in_service
    if most < 1:
        raise BadValue(
            f"min_in_service ({rolling.min_in_service}) leaves none of {names} members to change: "
            f"a group with {FOR_EACH} has no members that exist during an update only"
        )
    return rolling._replace(max_batch_size=min(rolling.max_batch_size, most))


# -- definitions -------------------------------------------------------------------------------------------------------


def filled_in(definition: Mapping[str, object], properties: Mapping[str, Any], key: str) -> dict[str, object]:
    """Return a member's definition with its name and value filled in, in its properties and metadata.

    Raises BadValue for a part of the value that does not exist.
    """
    given = properties[FOR_EACH]
    fill = _Filling(
        properties["key_var"], properties["value_var"], key, given[key] if isinstance(given, Mapping) else key
    )
    parts = {name: fill.within(definition[name]) for name in ("properties", "metadata") if definition.get(name)}
    return {**definition, **parts}


def definition_problems(definitions: Iterable[Any]) -> Iterator[str]:
    """Yield what prevents the definitions from being made; `definitions` makes one at a time."""
    try:
        for _ in definitions:
            pass
    except BadValue as error:
        yield error.message


class _Filling:
    """Fills in one member's name and value."""

    def __init__(self, key_variable: str, value_variable: str, key: str, value: Any) -> None:
        self._key_variable = key_variable
        self._before, self._behind = value_variable[:-1], value_variable[-1]
        self._key = key
        self._value = value

    def within(self, template: Any) -> Any:
        """Return plain data with all strings filled in, except the keys of maps."""
        if isinstance(template, str):
            return self._filled_in(template.replace(self._key_variable, self._key))
        if isinstance(template, Mapping):
            return {name: self.within(inner) for name, inner in template.items()}
        return [self.within(inner) for inner in template] if isinstance(template, list) else template

    def _filled_in(self, string: str) -> object:
        """Return a string with the value in place of its variable; the value itself for nothing but the variable."""
        pieces = list[Any]()
        copied = 0
        for start, end, path in self._variables(string):
            pieces += (string[copied:start], self._part(path))
            copied = end
        if len(pieces) == 2 and not pieces[0] and copied == len(string):
            return pieces[1]
        if has_unknown(pieces):
            return combine(pieces)
        return "".join(map(_written, pieces)) + string[copied:]

    def _variables(self, string: str) -> Iterator[tuple[int, int, str]]:
        """Yield where a variable starts and ends, and the path in it."""
        start = string.find(self._before)
        while start >= 0:
            path = _PATH.match(string, start + len(self._before))
            end = path.end() if path is not None else start
            found = string.startswith(self._behind, end)
            if path is not None and found:
                yield start, end + 1, path[0]
            start = string.find(self._before, end + 1 if found else start + 1)

    def _part(self, path: str) -> object:
        """Return the value, or the part of it that a path such as `.disk.size` names."""
        value = self._value
        for name in path.split(".")[1:]:
            if is_unknown(value):
                return combine([value])
            inside = isinstance(value, list) and name.isdecimal() and int(name) < len(value)
            if not inside and not (isinstance(value, Mapping) and name in value):
                raise BadValue(f"{FOR_EACH}: the value of {self._key} has no {path[1:]}")
            value = value[int(name)] if isinstance(value, list) else value[name]
        budget.charge_copy(value)
        return value


def _written(value: Any) -> str:
    """Return a value as part of a string, as `str_replace` writes it."""
    if value is None:
        return ""
    return json.dumps(value, sort_keys=True) if isinstance(value, Mapping | list) else str(value)
