"""Modules of a configuration become nested templates.

The resources of a flat template are enclosed from the innermost modules on: a resource of a nested template takes the
place of those of a module, parameters give it what these refer to outside of it, and outputs what others refer to in
it. Instances of a module whose resources have the same form have one template.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.authoring.terraform.outputs import OUTPUTS
from stoker.authoring.terraform.state import Place
from stoker.engine.generation.nested_templates import NestedTemplate, replaced
from stoker.engine.generation.notation import HOT
from stoker.engine.generation.repetitions import PARAMETER, Repeatable, kind_of, reference, referred
from stoker.engine.generation.template import free_name
from stoker.template.ordering import reached

_OUTPUTS = ""
"""The name under which the outputs of the template are treated as one more resource, which refers to others."""

Outputs = dict[tuple[str, tuple[str, ...]], str]
"""The names of a template's outputs by what they are: a resource of it, and the path to its attribute."""


@dataclass(slots=True)
class Nested:
    """A template with nested ones, by the names of their files, and the paths of the resources by their names in the
    flat template. `kept` are the modules that have no template, since something outside of them needs a part of them,
    and they need it.
    """

    template: dict[str, Any]
    files: dict[str, dict[str, object]] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    kept: list[Place] = field(default_factory=list)


def with_modules(
    template: Mapping[str, object],
    places: Mapping[str, Place],
    labels: Mapping[str, str],
    levels: int,
    taken: Iterable[str],
) -> Nested:
    """Return a flat template in HOT with so many levels of nested templates for modules; what is in modules below is
    part of those of the last level.

    `places` and `labels` are the modules of its resources, and what these are called in them, by name; `taken` are the
    names of files that the nested templates must not have.
    """
    return _Enclosing(template, places, labels, taken).nested(levels)


class _Enclosing:
    """One template whose modules are enclosed. What is inside of a module already is one resource of it."""

    def __init__(
        self,
        template: Mapping[str, Any],
        places: Mapping[str, Place],
        labels: Mapping[str, str],
        taken: Iterable[str],
    ) -> None:
        self._template = template
        self._declared = template.get(HOT.parameters, {})
        self._resources = {name: _resource(name, definition) for name, definition in template[HOT.resources].items()}
        self._result = Nested(dict(template), paths={name: name for name in self._resources})
        self._resources[_OUTPUTS] = _resource(_OUTPUTS, {"type": "", "properties": template.get(OUTPUTS, {})})
        self._needs = {name: _needs(resource) for name, resource in self._resources.items()}
        self._labels = {**labels, _OUTPUTS: _OUTPUTS}
        self._inside: dict[Place, list[str]] = defaultdict(list)
        for name in self._resources:
            self._inside[places.get(name, ())].append(name)
        self._taken = {*taken}

    def nested(self, levels: int) -> Nested:
        """Enclose the modules, the innermost first."""
        deepest = max(map(len, self._inside), default=0)
        for depth in range(deepest, 0, -1):
            level = [place for place in self._inside if len(place) == depth]
            if depth > levels:
                for place in level:
                    self._merge(place)
            else:
                self._enclose_level(level)
        resources = {name: dict(resource.definition) for name, resource in self._resources.items()}
        sections = {HOT.resources: resources, OUTPUTS: resources.pop(_OUTPUTS)["properties"]}
        self._result.template = {**self._template, **{name: section for name, section in sections.items() if section}}
        return self._result

    def _enclose_level(self, level: list[Place]) -> None:
        alike: dict[tuple[str, Hashable], list[Place]] = defaultdict(list)
        for place in level:
            alike[place[-1].name, self._shape(place)].append(place)
        for (name, _), places in alike.items():
            if able := [place for place in places if self._is_separable(place)]:
                self._enclose(name, able)
            for place in places:
                if place not in able:
                    self._result.kept.append(place)
                    self._merge(place)

    def _is_separable(self, place: Place) -> bool:
        """Return whether nothing outside of a module needs a part of it, and is needed by another part."""
        members = set(self._inside[place])
        outside = [need for name in members for need in self._needs[name] if need not in members]
        return members.isdisjoint(reached(self._needs, outside))

    def _shape(self, place: Place) -> Hashable:
        """Return what modules with the same template have in common."""
        members = self._inside[place]
        return frozenset(
            (self._labels[name], self._type_of(name), path, self._form(leaf, members))
            for name in members
            for path, leaf in [((), None), *self._resources[name].leaves.items()]
        )

    def _type_of(self, name: str) -> str:
        return str(self._resources[name].definition["type"])

    def _form(self, leaf: object, members: list[str]) -> Hashable:
        target = referred(leaf)
        if target is not None and target[0] in members:
            return self._labels[target[0]], target[1]
        if target is None and isinstance(leaf, Mapping) and PARAMETER in leaf:
            declared = self._declared[leaf[PARAMETER]]
            return PARAMETER, declared["type"], declared.get("hidden", False)
        return "outside" if target is not None else kind_of(leaf)

    def _enclose(self, name: str, places: list[Place]) -> None:
        """Write one template for instances of a module, and a resource of it for each."""
        keys = {place: str(number) for number, place in enumerate(places)}
        families: dict[str, dict[str, Repeatable]] = defaultdict(dict)
        for place, key in keys.items():
            for member in self._inside[place]:
                families[self._labels[member]][key] = self._resources[member]
        outputs = self._outputs(places)
        nested = NestedTemplate(families, self._declared)
        file = f"{self._free_file(name)}.yaml"
        self._result.files[file] = nested.template(
            {output: reference(label, path) for (label, path), output in outputs.items()}
        )
        for place, key in keys.items():
            properties = {parameter: values[key] for parameter, values in nested.given.items()}
            definition = {"type": file, **({"properties": properties} if properties else {})}
            self._put(place, definition, outputs)

    def _free_file(self, name: str) -> str:
        file_name = free_name(HOT, word(name), self._taken)
        self._taken.add(file_name)
        return file_name

    def _outputs(self, places: Iterable[Place]) -> Outputs:
        """Return the outputs that others refer to."""
        outputs: Outputs = {}
        for place in places:
            members = set(self._inside[place])
            for user in self._users(members):
                for leaf in self._resources[user].leaves.values():
                    target = referred(leaf)
                    if target is not None and target[0] in members:
                        about = self._labels[target[0]], target[1]
                        if about not in outputs:
                            name = word("_".join(map(str, (about[0], *about[1]))))
                            outputs[about] = free_name(HOT, name, outputs.values())
        return outputs

    def _users(self, members: set[str]) -> Iterator[str]:
        return (name for name, needs in self._needs.items() if name not in members and not members.isdisjoint(needs))

    def _put(self, place: Place, definition: Mapping[str, object], outputs: Outputs) -> None:
        """Let one resource take the place of those in a module."""
        members = set(self._inside.pop(place))
        outer, label = place[:-1], self._free_label(place)
        new = free_name(HOT, word("_".join((*(module.label for module in outer), label))), self._resources)
        for user in list(self._users(members)):
            former = self._resources[user]
            leaves = {path: self._seen(leaf, members, new, outputs) for path, leaf in former.leaves.items()}
            changed = {**former.definition, "properties": replaced(former.definition["properties"], leaves)}
            self._resources[user] = _resource(user, changed)
            self._needs[user] = _needs(self._resources[user])
        for name, where in self._result.paths.items():
            first, dot, rest = where.partition(".")
            if first in members:
                self._result.paths[name] = f"{new}.{self._labels[first]}{dot}{rest}"
        self._labels[new] = label
        self._inside[outer].append(new)
        self._replace(members, _resource(new, definition))

    def _seen(self, leaf: object, members: set[str], new: str, outputs: Outputs) -> object:
        """Return a value outside of a module; what it refers to in that is an output now."""
        target = referred(leaf)
        if target is None or target[0] not in members:
            return leaf
        return reference(new, (outputs[self._labels[target[0]], target[1]],))

    def _replace(self, members: set[str], new: Repeatable) -> None:
        """Put a resource where the last one of others is, which there are no longer."""
        last = [name for name in self._resources if name in members][-1]
        self._resources = {
            new.name if name == last else name: new if name == last else resource
            for name, resource in self._resources.items()
            if name not in members or name == last
        }
        self._needs = {name: needs for name, needs in self._needs.items() if name not in members}
        self._needs[new.name] = _needs(new)

    def _free_label(self, place: Place) -> str:
        """Return what the resource of a module is called in the module around it."""
        taken = {self._labels[name] for name in self._inside.get(place[:-1], ())}
        label = word(place[-1].label)
        return label if label not in taken else free_name(HOT, f"{label}_module", taken)

    def _merge(self, place: Place) -> None:
        """Let the resources of a module be ones of the module around it."""
        taken = {self._labels[name] for name in self._inside.get(place[:-1], ())}
        for name in self._inside.pop(place):
            label = free_name(HOT, word(f"{place[-1].label}_{self._labels[name]}"), taken)
            self._labels[name] = label
            taken.add(label)
            self._inside[place[:-1]].append(name)


def word(text: str) -> str:
    """Return a name of resources, of letters, digits, underscores and hyphens, that begins with a letter."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_")[:200]
    return name if name[:1].isalpha() else f"r_{name}"


def shown(place: Place) -> str:
    """Return the address of a module, with keys in quotes."""
    return ".".join(
        f'module.{module.name}["{module.key}"]' if module.key else f"module.{module.name}" for module in place
    )


def _resource(name: str, definition: Mapping[str, object]) -> Repeatable:
    return Repeatable(name, "", definition, is_hidden=False)


def _needs(resource: Repeatable) -> set[str]:
    return {target for _, target in resource.references()}
