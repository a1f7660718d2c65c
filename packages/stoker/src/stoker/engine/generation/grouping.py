"""Write what repeats in a generated template once.

Objects that repeat by themselves become a group with a member for each key; those to which others belong become
resources of one nested template, one for each key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.engine.generation.nested_templates import NestedTemplate, replaced
from stoker.engine.generation.notation import HOT
from stoker.engine.generation.repetitions import PARAMETER, Cluster, Path, Repeatable, clusters_in
from stoker.engine.generation.template import Generated, free_name, joined, noun_of_type, word_of

_NUMBER = re.compile(r"\d+")


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


def _uses(definition: object, parameters: set[str]) -> bool:
    if isinstance(definition, Mapping):
        return definition.get(PARAMETER) in parameters or any(_uses(each, parameters) for each in definition.values())
    return isinstance(definition, list) and any(_uses(each, parameters) for each in definition)


def _placed(
    grouped: Grouped, cluster: Cluster, new: Mapping[str, object], files: Mapping[str, Any], paths: Mapping[str, str]
) -> Grouped:
    """Return a template in which new resources have the place of the last one of a cluster."""
    resources = grouped.template[HOT.resources]
    written = {each.name for family in cluster.families for each in family.values()}
    last = [each for each in resources if each in written][-1]
    placed: dict[str, object] = {}
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
    values: dict[str, dict[str, object]] = {}
    leaves = {path: _filled(cluster, path, values) for path in first.leaves}
    keys: object = {key: values[key] for key in cluster.keys} if values else list(cluster.keys)
    member = {"type": first.definition["type"], "properties": replaced(first.definition["properties"], leaves)}
    rest = {key: each for key, each in first.definition.items() if key not in member}
    group = {"type": "OS::Heat::ResourceGroup", **rest, "properties": {"for_each": keys, "resource_def": member}}
    return _placed(grouped, cluster, {name: group}, {}, {family[key].name: f"{name}.{key}" for key in cluster.keys})


def _filled(cluster: Cluster, path: Path, values: dict[str, dict[str, object]]) -> object:
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
    families: dict[str, Mapping[str, Repeatable]] = {}
    for family in cluster.families:
        noun = noun_of_type(family[cluster.keys[0]].definition["type"])
        families[free_name(HOT, noun, families)] = {key: family[key] for key in cluster.keys}
    nested = NestedTemplate(families, grouped.template.get(HOT.parameters, {}))
    template, file = nested.template(), f"{name}.yaml"
    new, paths = dict[str, Any](), dict[str, str]()
    for key in cluster.keys:
        member = free_name(HOT, f"{name}_{key}", {*_taken(grouped), *new})
        given = {parameter: found[key] for parameter, found in nested.given.items()}
        new[member] = {"type": file, **({"properties": given} if given else {})}
        paths |= {family[key].name: f"{member}.{label}" for label, family in families.items()}
    return _placed(grouped, cluster, new, {file: template}, paths)


def _name_of(cluster: Cluster) -> str:
    key = cluster.keys[0]
    first = cluster.families[0][key]
    common = _NUMBER.sub(lambda match: "" if match[0] == key else match[0], first.object_name)
    noun = noun_of_type(first.definition["type"])
    label = word_of(re.sub(r"[\W_]+", "_", common))
    return joined(label, noun) if label[:1].isalpha() else noun
