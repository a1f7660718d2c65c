"""The resource registry of an environment: type mappings, hooks and restricted actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from stoker.base.budget import charge
from stoker_foundation.patterns.linear import fits_shell

TEMPLATE_SUFFIXES = (".yaml", ".template")
INVALID_TYPE = "(invalid)"
"""The target of invalid entries, of which no type is known."""

_RESOURCES = "resources"
_HOOKS = "hooks"
_RESTRICTED = "restricted_actions"
_SPECIAL = frozenset({_HOOKS, _RESTRICTED})
_NOT_TYPES = frozenset({_RESOURCES, "base_url"})
_NOT_MAPPED = _NOT_TYPES | _SPECIAL
_CHARACTERS_PER_STEP = 16
_REMEMBERED_TYPES = 256
_REMEMBERED_LENGTH = 256


def is_template_name(type_name: str) -> bool:
    """Return whether a type name is the name or URL of a template."""
    return type_name.endswith(TEMPLATE_SUFFIXES)


class Registry:
    """The user's mappings, with the operator's as a fallback; read-only."""

    __slots__ = ("_followed", "_layers", "_names_resources", "_operator", "_user")

    def __init__(self, user: Mapping[str, object], operator: Mapping[str, object] | None = None) -> None:
        self._user = _without_removed(user)
        self._operator = _without_removed(operator or {})
        self._layers = [(layer, _patterns(layer)) for layer in (self._user, self._operator) if layer]
        self._names_resources = any(layer.get(_RESOURCES) for layer, _ in self._layers)
        self._followed: dict[str, tuple[str, ...]] = {}

    def to_data(self) -> dict[str, Any]:
        """Return the user's part as plain data."""
        return dict(self._user)

    def with_operator(self, operator: Mapping[str, object]) -> Registry:
        """Return the same user's mappings with the operator's mappings `operator`."""
        return Registry(self._user, operator)

    def operator_types(self) -> Mapping[str, str]:
        """Return the operator's own mappings whose key is a type, not a pattern."""
        return {name: target for name, target in _types(self._operator) if not name.endswith("*")}

    def resolve(self, resource_type: str, resource_name: str) -> str:
        """Return what `resource_type` of the resource `resource_name` maps to: a type, or a template's name or URL.

        Mappings are followed until none applies or a name repeats.
        """
        found = self._followed.get(resource_type)
        return (self.steps(resource_type, resource_name) if found is None else found)[-1]

    def steps(self, resource_type: str, resource_name: str) -> tuple[str, ...]:
        """Return the steps of `resolve`: the type as written and the result of each mapping.

        They are remembered for a limited number of types, where all resources have the same mappings.
        """
        found = self._followed.get(resource_type)
        if found is None:
            found = tuple(self._follow(resource_type, resource_name))
            memorable = len(resource_type) <= _REMEMBERED_LENGTH and len(self._followed) < _REMEMBERED_TYPES
            if memorable and not self._names_resources:
                self._followed[resource_type] = found
        return found

    def _follow(self, resource_type: str, resource_name: str) -> list[str]:
        names = [resource_type]
        while not is_template_name(names[-1]):
            found = self._mapped(names[-1], resource_name)
            if found is None:
                break
            is_cycle = found in names
            names.append(found)
            if is_cycle:
                break
        return names

    def with_missing(self, mappings: Mapping[str, str]) -> Registry:
        """Return the same registry with additional mappings for types that have none."""
        missing = {name: target for name, target in mappings.items() if self._mapped(name, "") is None}
        return Registry({**missing, **self._user}, self._operator) if missing else self

    def _mapped(self, resource_type: str, resource_name: str) -> str | None:
        for layer, patterns in self._layers:
            of_resource = ((entries, _patterns(entries)) for entries in _named(layer, resource_name))
            for entries, names in chain(of_resource, [(layer, patterns)]):
                target = _match(entries, names, resource_type)
                if target is not None:
                    return target
        return None

    def hooks(self, resource_name: str) -> frozenset[str]:
        """Return the resource's hooks, at which an operation waits for a signal: `pre-create`, `post-update`, …"""
        return self._listed(resource_name, _HOOKS)

    def restricted_actions(self, resource_name: str) -> frozenset[str]:
        """Return the actions that an update must not perform on the resource: `update`, `replace`."""
        return self._listed(resource_name, _RESTRICTED)

    def _listed(self, resource_name: str, key: str) -> frozenset[str]:
        found: set[str] = set()
        for layer, _ in self._layers if self._names_resources else ():
            for entry in _named(layer, resource_name):
                value = entry.get(key) or ()
                found.update([value] if isinstance(value, str) else value)
        return frozenset(found)

    def for_child(self, resource_name: str, template_name: str) -> Registry:
        """Return the registry of the resource's nested stack.

        Per-resource entries are those below the resource's own. The mappings to the child's template are removed, so
        that the template can use the original type; one of the operator's is overridden by mapping the type to itself.
        """
        user = {name: target for name, target in self._user.items() if target != template_name}
        undone = {name: name for name, target in _types(self._operator) if target == template_name}
        nested: dict[str, object] = {}
        for entry in reversed(list(_named(self._user, resource_name))):
            nested.update({name: below for name, below in entry.items() if isinstance(below, Mapping)})
        user.pop(_RESOURCES, None)
        if nested:
            user[_RESOURCES] = nested
        return Registry({**undone, **user}, self._operator)


def _without_removed(layer: Mapping[str, object]) -> Mapping[str, object]:
    """Return the layer without its nulls, each of which removes the earlier entries under its name or pattern."""
    if None not in layer.values():
        return layer
    remaining: dict[str, object] = {}
    for name, target in layer.items():
        if target is None:
            gone = [known for known in remaining if known not in _NOT_TYPES and _fits(name, known)]
            for known in gone:
                del remaining[known]
        else:
            remaining[name] = target
    return remaining


def _fits(pattern: str, name: str) -> bool:
    charge(1 + len(pattern) // _CHARACTERS_PER_STEP)
    return fits_shell(pattern, name)


def _types(layer: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    return ((name, target) for name, target in layer.items() if name not in _NOT_TYPES and isinstance(target, str))


def _named(layer: Mapping[str, Any], resource_name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the matching per-resource entries: the exact name before patterns, longer patterns before shorter ones."""
    entries = layer.get(_RESOURCES)
    if not entries:
        return
    names = [name for name in entries if name == resource_name or _fits(name, resource_name)]
    for name in sorted(names, key=lambda name: (name != resource_name, -len(name), name)):
        if isinstance(entries[name], Mapping):
            yield entries[name]


def _patterns(entries: Mapping[str, object]) -> list[str]:
    """Return the names with an asterisk at the end, in the order in which they apply."""
    return sorted((name for name in entries if name.endswith("*")), key=lambda name: (-len(name), name))


def _match(entries: Mapping[str, object], patterns: Iterable[str], resource_type: str) -> str | None:
    exact = entries.get(resource_type)
    if isinstance(exact, str) and resource_type not in _NOT_MAPPED:
        return exact
    for name in patterns:
        target = entries[name]
        if isinstance(target, str) and resource_type.startswith(name[:-1]):
            return target[:-1] + resource_type[len(name) - 1 :] if target.endswith("*") else target
    return None
