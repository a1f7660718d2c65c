"""Write a template and an environment that make resources of existing objects, without a change of any."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.cloud.finders import finders
from stoker.engine.generation.notation import HOT, Notation, Parameter, looks_like_function
from stoker.engine.generation.scan import Found
from stoker.plugins.inventory import Inventory
from stoker.schema.constraints import CustomConstraint
from stoker.schema.property import Finalizer, Property
from stoker.template.ordering import would_close_cycle

_SHORT = 8
"""Length of the part of an ID that tells objects without a name apart."""
_LONGEST_NAME = 60
_FREE = Property()
"""Stands for the property of a value that nothing is declared about."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A value of a property that refers to an object: of a kind, which a finder or constraint has the name of."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that a template must not have: the resource gets it by a hidden parameter of this type. `place` is where
    it is in the property.
    """

    type: str = "string"
    place: str = ""


Marker = Reference | Hidden
"""What stands for a value of a property, in values that are written."""


@dataclass(frozen=True, kw_only=True)
class Style:
    """How resources are written. `chosen` has the names of resources that were asked for; `present` the resources, by
    what refers to them and the ID of their object, of a template that the written one is added to, and `taken` all
    names in it.
    """

    notation: Notation = HOT
    deletion_policy: str = "Retain"
    update_replace_policy: str | None = None
    chosen: Mapping[Found, str] = field(default_factory=dict)
    present: Mapping[tuple[str, str], str] = field(default_factory=dict)
    taken: Collection[str] = ()


@dataclass(slots=True)
class Generated:
    """A template, its environment, and which resource each object has become, by the object."""

    template: dict[str, Any]
    environment: dict[str, Any]
    names: dict[Found, str]
    without_value: list[str]
    """The parameters that have no value: secrets, which no service shows."""


def values_of(found: Found, project_id: str) -> dict[str, object]:
    """Return the values of an object's properties that a template must have."""
    kind, inventory = found.scanned.kind, found.scanned.inventory
    values = dict(inventory.describe(found.fields))
    if found.scanned.container is not None and found.inside is not None:
        values[found.scanned.container] = found.inside.id
    values = {name: value for name, value in values.items() if not _is_left_to_service(inventory, name, value)}
    values = {name: value for name, value in values.items() if value != project_id}
    return needed_values({name: prop for name, prop in kind.properties.items() if not prop.secret}, values)


def missing_properties(found: Found, values: Mapping[str, object]) -> list[str]:
    """Return the properties that a template must have and that the service does not show; secrets are not shown."""
    declared = found.scanned.kind.properties.items()
    return [name for name, prop in declared if prop.required and not prop.secret and name not in values]


def refusal_of(found: Found, values: Mapping[str, object]) -> str:
    """Return why a template with these values would be refused; "" if it would not.

    An object may have what the type does not accept: made with an option that it does not know, say.
    """
    kind = found.scanned.kind
    finalizer = Finalizer()
    shown = {name: prop for name, prop in kind.properties.items() if not prop.secret}
    properties = finalizer.properties(shown, values)
    problems = [f"{'.'.join(map(str, each.path))}: {each.message}" for each in finalizer.problems]
    return next(iter([*problems, *kind.validate(properties)]), "")


def references_in(properties: Mapping[str, Property], values: Mapping[str, object]) -> Iterator[tuple[str, Reference]]:
    """Yield the references in values, at any depth, with the names of the properties at the top."""
    for name, value in values.items():
        found: list[Reference] = []
        _walked(properties[name], value, lambda marker, found=found: found.append(marker))  # type: ignore[misc]
        yield from ((name, reference) for reference in found)


def write(
    described: Mapping[Found, Mapping[str, object]],
    others: Iterable[Found],
    functions: Collection[str],
    style: Style | None = None,
) -> Generated:
    """Return the template for objects with these properties, whose values may have markers in them.

    `others` are known objects that become no resources, whose names parameters have. `functions` are the names of the
    functions of templates: a value that looks like one of them is given by a parameter.
    """
    return _Writing(described, others, functions, style or Style()).written()


def _is_left_to_service(inventory: Inventory, name: str, value: object) -> bool:
    return name in inventory.chosen or (name in inventory.usual and inventory.usual[name] == value)


def needed_values(schema: Mapping[str, Property], values: Mapping[str, object]) -> dict[str, object]:
    """Return the values that differ from the defaults, in the order of the declarations."""
    found: dict[str, object] = {}
    for name, prop in schema.items():
        value = values.get(name)
        if value is None or (value == prop.default and not prop.required):
            continue
        if isinstance(value, Mapping) and prop.schema is not None:
            value = needed_values(prop.schema, value)
        elif isinstance(value, list) and prop.items is not None and prop.items.schema is not None:
            value = [needed_values(prop.items.schema, item) for item in value]
        found[name] = value
    return found


def _kind_of(prop: Property) -> str | None:
    """Return what the values of a property refer to; None for values that refer to nothing."""
    if prop.resolve is not None:
        return prop.resolve
    named = (each.name for each in prop.constraints if isinstance(each, CustomConstraint) and "." in each.name)
    return next(named, None)


def _walked(prop: Property, value: object, replaced: Callable[[Any], Any]) -> object:
    """Return a value in which others replace the references and markers."""
    if isinstance(value, Marker):
        return replaced(value)
    if isinstance(value, Mapping):
        schema = prop.schema or {}
        return {name: _walked(schema.get(name, _FREE), item, replaced) for name, item in value.items()}
    kind = _kind_of(prop)
    if isinstance(value, list):
        if prop.items is not None:
            return [_walked(prop.items, item, replaced) for item in value]
        each = _FREE if kind is None else Property(resolve=kind)
        return [_walked(each, item, replaced) for item in value]
    if kind is not None and isinstance(value, str) and value:
        return replaced(Reference(kind, value))
    return value


@dataclass
class _Parameters:
    """The parameters of a template, each with its value. `taken` are names that they must not have."""

    notation: Notation
    taken: Collection[str]
    declared: dict[str, dict[str, Any]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    known: dict[tuple[str, Any], str] = field(default_factory=dict)

    def named(self, name: str, about: tuple[str, object], parameter: Parameter) -> str:
        """Return the name of the parameter about something, which is declared if it is new."""
        if about not in self.known:
            chosen = free_name(self.notation, name, {*self.taken, *self.declared})
            self.known[about] = chosen
            self.declared[chosen] = self.notation.parameter(parameter)
        return self.known[about]


class _Writing:
    """One template that is written."""

    def __init__(
        self,
        described: Mapping[Found, Mapping[str, object]],
        others: Iterable[Found],
        functions: Collection[str],
        style: Style,
    ) -> None:
        self._described = dict(sorted(described.items(), key=lambda item: item[0].order))
        self._functions = frozenset(functions)
        self._style = style
        self._notation = style.notation
        self._names = _names(self._described, style)
        self._parameters = _Parameters(style.notation, {*style.taken, *self._names.values()})
        self._objects = {_key(found): found for found in self._described}
        self._others = {_key(found): found for found in others}
        self._needs: dict[Found, set[Found]] = {found: set() for found in self._described}

    def written(self) -> Generated:
        """Write the resources, each after those that it refers to."""
        resources = {found: self._resource(found, values) for found, values in self._described.items()}
        parameters = self._parameters
        template: dict[str, object] = dict(self._notation.head)
        if parameters.declared:
            template[self._notation.parameters] = parameters.declared
        order = self._order()
        template[self._notation.resources] = {self._names[found]: resources[found] for found in order}
        imports = [{"to": self._names[found], "id": found.id} for found in order]
        environment = {"parameters": parameters.values} if parameters.values else {}
        without_value = [name for name in parameters.declared if name not in parameters.values]
        return Generated(template, {**environment, "imports": imports}, self._names, without_value)

    def _resource(self, found: Found, values: Mapping[str, Any]) -> dict[str, object]:
        kind = found.scanned.kind
        written = {name: self._value(found, name, value) for name, value in values.items()}
        for name, prop in kind.properties.items():
            if prop.required and prop.secret:
                written[name] = self._hidden(found, name, Hidden())
        return self._notation.resource(
            type=kind.type_name,
            deletion_policy=self._style.deletion_policy,
            update_replace_policy=self._style.update_replace_policy,
            properties=written or None,
        )

    def _value(self, found: Found, name: str, value: Any) -> object:
        prop = found.scanned.kind.properties[name]
        if name in found.scanned.inventory.varying or looks_like_function(value, self._functions):
            return self._parameter_for(found, name, value)
        return _walked(prop, value, lambda marker: self._marked(found, name, marker))

    def _marked(self, found: Found, name: str, marker: Marker) -> dict[str, str]:
        if isinstance(marker, Hidden):
            return self._hidden(found, name, marker)
        return self._reference(found, name, marker)

    def _reference(self, found: Found, name: str, reference: Reference) -> dict[str, str]:
        """Refer to a resource, or to what is in no resource: with a parameter."""
        key = (reference.kind, reference.value)
        target = self._objects.get(key)
        if target is not None and not would_close_cycle(self._needs, found, target):
            self._needs[found].add(target)
            return {self._notation.resource_function: self._names[target]}
        if key in self._style.present:
            return {self._notation.resource_function: self._style.present[key]}
        known = target or self._others.get(key)
        noun = _noun_of(reference.kind, name)
        schema = Parameter(
            "string", _parameter_description(noun, known), constraint=reference.kind if known is None else None
        )
        label = word_of(known.name) if known is not None else ""
        parameter = self._parameters.named(joined(noun, label), key, schema)
        self._parameters.values[parameter] = reference.value
        return {self._notation.parameter_function: parameter}

    def _parameter_for(self, found: Found, name: str, value: object) -> dict[str, str]:
        """Give a value by a parameter: equal ones of equal properties by the same."""
        kind = "string" if isinstance(value, str) else "json"
        schema = Parameter(kind, f"{name} of the generated resources that have it.")
        parameter = self._parameters.named(word_of(name), (name, repr(value)), schema)
        self._parameters.values[parameter] = value
        return {self._notation.parameter_function: parameter}

    def _hidden(self, found: Found, name: str, marker: Hidden) -> dict[str, str]:
        about = joined(f"{self._names[found]}_{word_of(name)}", word_of(marker.place))
        schema = Parameter(marker.type, f"{name}, which no service shows.", hidden=True)
        return {self._notation.parameter_function: self._parameters.named(about, (about, None), schema)}

    def _order(self) -> list[Found]:
        """Return the objects, each after those that it needs."""
        done: dict[Found, None] = {}
        for start in self._needs:
            waiting = [start]
            while waiting:
                left = [
                    each
                    for each in sorted(self._needs[waiting[-1]], key=lambda needed: needed.order)
                    if each not in done
                ]
                if left:
                    waiting.append(left[0])
                else:
                    done[waiting.pop()] = None
        return list(done)


def _key(found: Found) -> tuple[str, str]:
    return str(found.scanned.inventory.finder), found.id


def _noun_of(kind: str, name: str) -> str:
    """Return what a parameter is called that refers to a kind of objects, for the property `name`."""
    return kind.rpartition(".")[2] if kind in finders() else name


def _parameter_description(noun: str, known: Found | None) -> str:
    """Return the description of a parameter, which says why no resource has the object."""
    noun = noun.replace("_", " ")
    if known is None:
        return f"The {noun}, by name or ID."
    why = f"it belongs to the stack {known.owner.stack}" if known.owner is not None else known.reason
    named = f" {known.name}" if known.name else ""
    return f"The {noun}{named}; {why or 'two objects cannot refer to each other'}."


def _names(described: Iterable[Found], style: Style) -> dict[Found, str]:
    """Return the names of the resources: the chosen ones, or what `name_of` returns."""
    names: dict[Found, str] = {}
    taken = {*style.taken, *style.chosen.values()}
    for found in described:
        names[found] = style.chosen.get(found) or free_name(style.notation, name_of(found), taken)
        taken.add(names[found])
    return names


def name_of(found: Found) -> str:
    """Return a name for a resource: the name of the object and a word of the type, or a part of the ID."""
    noun, label = noun_of_type(found.type_name), word_of(found.name)
    if label[:1].isalpha():
        return joined(label, noun)
    outer = word_of(found.inside.name) if found.inside is not None else ""
    begins = joined(outer, noun) if outer[:1].isalpha() else noun
    return f"{begins}_{label or word_of(_distinct(found.id))}"


def noun_of_type(type_name: str) -> str:
    """Return the last part of a type's name in words: `FloatingIP` is `floating_ip`."""
    words = re.findall(r"L7|[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", type_name.rpartition("::")[2])
    return "_".join(words).lower()


def _distinct(identifier: str) -> str:
    """Return the beginning of the last UUID of an ID."""
    return identifier.rpartition("=")[2][:_SHORT]


def word_of(text: str) -> str:
    """Return a name in letters, digits and underscores."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:_LONGEST_NAME]


def joined(first: str, second: str) -> str:
    """Return both parts with an underscore between them, without a second one that the first ends with."""
    if not first or not second:
        return first or second
    if first == second or first.endswith(f"_{second}"):
        return first
    return f"{first}_{second}"


def free_name(notation: Notation, name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: with a number, if it is."""
    number, chosen = 1, notation.name(name)
    while chosen in taken:
        number += 1
        chosen = notation.name(f"{name}_{number}")
    return chosen
