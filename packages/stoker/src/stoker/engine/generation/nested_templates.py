"""Nested templates that sets of resources have in common: what differs between the sets is a parameter of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.generation.notation import HOT
from stoker.engine.generation.repetitions import PARAMETER, Path, Repeatable, reference, referred
from stoker.engine.generation.template import free_name, word_of

_KINDS = ((str, "string"), (bool, "boolean"), (int | float, "number"))


class NestedTemplate:
    """The template of families of resources, by the names that these have in it; each has a resource for each key.

    `declared` are the parameters of the template around it. `given` has the values of its own ones by key, which are
    known when it has been written.
    """

    def __init__(
        self, families: Mapping[str, Mapping[str, Repeatable]], declared: Mapping[str, Mapping[str, object]]
    ) -> None:
        self.given: dict[str, dict[str, Any]] = {}
        self._families = families
        self._declared = declared
        self._parameters: dict[str, dict[str, object]] = {}

    def template(self, outputs: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Write the template, with the values of these outputs."""
        resources = {label: self._resource(label, family) for label, family in self._families.items()}
        parameters = {HOT.parameters: self._parameters} if self._parameters else {}
        shown = {"outputs": {name: {"value": value} for name, value in outputs.items()}} if outputs else {}
        return {**HOT.head, **parameters, HOT.resources: resources, **shown}

    def _resource(self, label: str, family: Mapping[str, Repeatable]) -> dict[str, object]:
        first = next(iter(family.values()))
        leaves = {
            path: self._leaf(label, path, {key: each.leaves[path] for key, each in family.items()})
            for path in first.leaves
        }
        properties = replaced(first.definition.get("properties", {}), leaves)
        return {**first.definition, **({"properties": properties} if properties else {})}

    def _leaf(self, label: str, path: Path, found: dict[str, object]) -> object:
        """Return what the template has in one place, where the values by key are these."""
        leaf = next(iter(found.values()))
        is_reference = isinstance(leaf, Mapping) and bool(leaf)
        if is_reference and (inside := self._inside(found)) is not None:
            return inside
        if not is_reference and all(each == leaf for each in found.values()):
            return leaf
        known = (name for name, given in self.given.items() if repr(given) == repr(found))  # 1 is equal to True
        if (name := next(known, None)) is None:
            words = word_of("_".join(map(str, path)))
            name = free_name(HOT, words if words not in self.given else f"{label}_{words}", self.given)
            self.given[name], self._parameters[name] = found, self._parameter(leaf)
        return {PARAMETER: name}

    def _inside(self, found: Mapping[str, object]) -> dict[str, object] | None:
        """Return the reference to the resource of the template that all refer to, each to that with its own key."""
        targets = [referred(each) for each in found.values()]
        names = [target[0] for target in targets if target is not None]
        for label, family in self._families.items():
            if names == [family[key].name for key in found] and targets[0] is not None:
                return reference(label, targets[0][1])
        return None

    def _parameter(self, leaf: object) -> dict[str, object]:
        if isinstance(leaf, Mapping) and PARAMETER in leaf:
            outer = self._declared[leaf[PARAMETER]]
            return {name: outer[name] for name in ("type", "hidden") if name in outer}
        if referred(leaf) is not None:
            return {"type": "string"}
        kinds = (name for kind, name in _KINDS if isinstance(leaf, kind))
        return {"type": next(kinds, "json")}


def replaced(value: object, leaves: Mapping[Path, object], path: Path = ()) -> object:
    """Return properties with other values in some places."""
    if path in leaves:
        return leaves[path]
    if isinstance(value, Mapping):
        return {name: replaced(item, leaves, (*path, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, leaves, (*path, number)) for number, item in enumerate(value)]
    return value
