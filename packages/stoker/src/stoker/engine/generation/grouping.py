"""Write what repeats in a generated template once.

Objects that repeat by themselves become a group with a member for each key; those to which others belong become
resources of one nested template, one for each key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.engine.generation.notation import HOT
from stoker.engine.generation.repeating import PARAMETER, RESOURCE, Cluster, Path, Repeatable, clusters_in
from stoker.engine.generation.template import Generated, free_name, joined, noun_of_type, word_of

_NUMBER = re.compile(r"\d+")
_KINDS = ((str, "string"), (bool, "boolean"), (int | float, "number"))


@dataclass(frozen=True, slots=True)
class Grouped:
    """A template in which what repeats is written once, the nested templates by the names of their files, and the paths
    that resources have now, by the names that they have in the template without groups.
    """

    template: dict[str, Any]
    files: dict[str, dict[str, Any]]
    paths: dict[str, str]


def with_groups(generated: Generated) -> Grouped:
    """Return a generated template, in HOT, in which what repeats is written once."""
    resources = generated.template[HOT.resources]
    hidden = {name for name, each in generated.template.get(HOT.parameters, {}).items() if each.get("hidden")}
    objects = {name: found.name for found, name in generated.names.items()}
    repeatable = {name: Repeatable(name, objects[name], each, _uses(each, hidden)) for name, each in resources.items()}
    grouped = Grouped(generated.template, {}, {})
    for cluster in clusters_in(repeatable):
        grouped = _with_nested(grouped, cluster) if len(cluster.families) > 1 else _with_group(grouped, cluster)
    return grouped


def _uses(definition: Any, parameters: set[str]) -> bool:
    if isinstance(definition, Mapping):
        return definition.get(PARAMETER) in parameters or any(_uses(each, parameters) for each in definition.values())
    return isinstance(definition, list) and any(_uses(each, parameters) for each in definition)


def _placed(
    grouped: Grouped, cluster: Cluster, new: Mapping[str, Any], files: Mapping[str, Any], paths: Mapping[str, str]
) -> Grouped:
    """Return a template in which new resources have the place of the last one of a cluster."""
    resources = grouped.template[HOT.resources]
    written = {each.name for family in cluster.families for each in family.values()}
    last = [each for each in resources if each in written][-1]
    placed: dict[str, Any] = {}
    for name, definition in resources.items():
        placed |= new if name == last else {} if name in written else {name: definition}
    template = {**grouped.template, HOT.resources: placed}
    return Grouped(template, {**grouped.files, **files}, {**grouped.paths, **paths})


def _taken(grouped: Grouped) -> set[str]:
    names = {*grouped.template[HOT.resources], *grouped.template.get(HOT.parameters, {}), *grouped.paths}
    return names | {name.removesuffix(".yaml") for name in grouped.files}


# -- groups ------------------------------------------------------------------------------------------------------------


def _with_group(grouped: Grouped, cluster: Cluster) -> Grouped:
    [family] = cluster.families
    first = family[cluster.keys[0]]
    name = free_name(HOT, f"{_name_of(cluster)}s", _taken(grouped))
    values: dict[str, dict[str, Any]] = {}
    leaves = {path: _filled(cluster, path, values) for path in first.leaves}
    keys: Any = {key: values[key] for key in cluster.keys} if values else list(cluster.keys)
    member = {"type": first.definition["type"], "properties": _replaced(first.definition["properties"], leaves)}
    rest = {key: each for key, each in first.definition.items() if key not in member}
    group = {"type": "OS::Heat::ResourceGroup", **rest, "properties": {"for_each": keys, "resource_def": member}}
    return _placed(grouped, cluster, {name: group}, {}, {family[key].name: f"{name}.{key}" for key in cluster.keys})


def _filled(cluster: Cluster, path: Path, values: dict[str, dict[str, Any]]) -> Any:
    """Return what the definition of a group's members has in one place, in which their keys and `values` are filled."""
    found = [cluster.families[0][key].leaves[path] for key in cluster.keys]
    if all(each == found[0] for each in found):
        return found[0]
    for pattern in _patterns(found[0], cluster.keys[0]):
        if [pattern.replace("%key%", key) for key in cluster.keys] == found:
            return pattern
    name = word_of("_".join(map(str, path)))
    for key, value in zip(cluster.keys, found, strict=True):
        values.setdefault(key, {})[name] = value
    return f"%value.{name}%"


def _patterns(value: Any, key: str) -> Iterator[str]:
    """Yield strings with the variable of the key in one of the places where a string has the key."""
    for match in _NUMBER.finditer(value) if isinstance(value, str) else ():
        if match[0] == key:
            yield f"{value[: match.start()]}%key%{value[match.end() :]}"


# -- nested templates --------------------------------------------------------------------------------------------------


def _with_nested(grouped: Grouped, cluster: Cluster) -> Grouped:
    name = free_name(HOT, _name_of(cluster), _taken(grouped))
    nested = _Nested(cluster, grouped.template.get(HOT.parameters, {}))
    template, file = nested.template(), f"{name}.yaml"
    new, paths = dict[str, Any](), dict[str, str]()
    for key in cluster.keys:
        member = free_name(HOT, f"{name}_{key}", {*_taken(grouped), *new})
        given = {parameter: found[key] for parameter, found in nested.given.items()}
        new[member] = {"type": file, **({"properties": given} if given else {})}
        paths |= {
            family[key].name: f"{member}.{label}" for label, family in zip(nested.labels, cluster.families, strict=True)
        }
    return _placed(grouped, cluster, new, {file: template}, paths)


class _Nested:
    """The nested template of a cluster. `given` has the values of its parameters by key."""

    def __init__(self, cluster: Cluster, declared: Mapping[str, Mapping[str, Any]]) -> None:
        self.labels: list[str] = []
        for family in cluster.families:
            noun = noun_of_type(family[cluster.keys[0]].definition["type"])
            self.labels.append(free_name(HOT, noun, self.labels))
        self.given: dict[str, dict[str, Any]] = {}
        self._cluster = cluster
        self._declared = declared
        self._parameters: dict[str, dict[str, Any]] = {}

    def template(self) -> dict[str, Any]:
        """Write the template."""
        pairs = zip(self.labels, self._cluster.families, strict=True)
        resources = {label: self._resource(label, family) for label, family in pairs}
        parameters = {HOT.parameters: self._parameters} if self._parameters else {}
        return {**HOT.head, **parameters, HOT.resources: resources}

    def _resource(self, label: str, family: Mapping[str, Repeatable]) -> dict[str, Any]:
        keys = self._cluster.keys
        first = family[keys[0]]
        leaves = {
            path: self._leaf(label, path, {key: family[key].leaves[path] for key in keys}) for path in first.leaves
        }
        properties = _replaced(first.definition.get("properties", {}), leaves)
        return {**first.definition, **({"properties": properties} if properties else {})}

    def _leaf(self, label: str, path: Path, found: dict[str, Any]) -> Any:
        """Return what the template has in one place, where the values by key are these."""
        leaf = next(iter(found.values()))
        is_reference = isinstance(leaf, Mapping) and bool(leaf)
        if is_reference and (target := self._target(found)) is not None:
            return {RESOURCE: target}
        if not is_reference and all(each == leaf for each in found.values()):
            return leaf
        known = (name for name, given in self.given.items() if given == found)
        if (name := next(known, None)) is None:
            words = word_of("_".join(map(str, path)))
            name = free_name(HOT, words if words not in self.given else f"{label}_{words}", self.given)
            self.given[name], self._parameters[name] = found, {"type": self._type(leaf)}
        return {PARAMETER: name}

    def _target(self, found: Mapping[str, Any]) -> str | None:
        """Return the resource of the template that all refer to, each to that with its own key."""
        wanted = [each.get(RESOURCE) for each in found.values()]
        for label, family in zip(self.labels, self._cluster.families, strict=True):
            if wanted == [family[key].name for key in found]:
                return label
        return None

    def _type(self, leaf: Any) -> str:
        if isinstance(leaf, Mapping) and PARAMETER in leaf:
            return str(self._declared[leaf[PARAMETER]]["type"])
        if isinstance(leaf, Mapping) and RESOURCE in leaf:
            return "string"
        kinds = (name for kind, name in _KINDS if isinstance(leaf, kind))
        return next(kinds, "json")


def _name_of(cluster: Cluster) -> str:
    key = cluster.keys[0]
    first = cluster.families[0][key]
    common = _NUMBER.sub(lambda match: "" if match[0] == key else match[0], first.object_name)
    noun = noun_of_type(first.definition["type"])
    label = word_of(re.sub(r"[\W_]+", "_", common))
    return joined(label, noun) if label[:1].isalpha() else noun


def _replaced(value: Any, leaves: Mapping[Path, Any], path: Path = ()) -> Any:
    """Return properties with other values in some places."""
    if path in leaves:
        return leaves[path]
    if isinstance(value, Mapping):
        return {name: _replaced(item, leaves, (*path, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, leaves, (*path, number)) for number, item in enumerate(value)]
    return value
