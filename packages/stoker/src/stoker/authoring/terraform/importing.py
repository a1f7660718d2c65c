"""A state of Terraform becomes a template, and an environment that imports its objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stoker.authoring.lint import MAX_NESTED_STACK_DEPTH
from stoker.authoring.terraform.adjustments import ADJUSTMENTS
from stoker.authoring.terraform.drafts import Draft, Unsupported, fill, identifier, part_of, refusal
from stoker.authoring.terraform.modules import shown, with_modules, word
from stoker.authoring.terraform.outputs import OUTPUTS, Outputs, outputs_of
from stoker.authoring.terraform.state import Place, State, StateObject
from stoker.authoring.terraform.table import PREFIX, Containment, Row, is_distinct, rows
from stoker.engine.generation.notation import HOT
from stoker.engine.generation.scan import Found, Scanned
from stoker.engine.generation.template import Reference, Style, needed_values, write
from stoker.engine.planning.imports import unsuitable
from stoker.plugins.inventory import Inventory
from stoker.plugins.resource import ResourceType
from stoker.resources.inventories import finder_of
from stoker.template.versions import functions_of

_VERSION_SUFFIX = re.compile(r"_v\d+$")


@dataclass(slots=True)
class Imported:
    """A template with its environment.

    `resources` has the name, our type, the ID and the address in the state of each; `parts` the addresses of objects
    that are part of a resource, by address with its name; `unsupported` why others are left out; `left_out` the
    attributes, by address, that no template has; `outputs` the outcome of the state's outputs. `places` and `labels`
    are the modules of the resources, and what these are called in them, by name.
    """

    template: dict[str, Any]
    environment: dict[str, Any]
    places: dict[str, Place] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    resources: list[dict[str, str]] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)
    unsupported: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    without_value: list[str] = field(default_factory=list)
    outputs: Outputs = field(default_factory=Outputs)


def from_state(state: State, types: Mapping[str, ResourceType]) -> Imported:
    """Return the template of the objects in a state, which is flat. `types` are the known resource types by name."""
    return _Importing(state, types).imported()


@dataclass(frozen=True, slots=True)
class InModules:
    """The same resources in modules: the template, nested templates by the names of their files, and the environment
    that moves the resources of the flat template there. `kept` are the addresses of modules without a template.
    """

    template: dict[str, Any]
    files: dict[str, dict[str, Any]]
    environment: dict[str, Any]
    kept: list[str]


def in_modules(imported: Imported, taken: Collection[str]) -> InModules | None:
    """Return the template in which the modules of a state are nested templates; None for a state without modules.

    `taken` are the names that no file of a nested template may have.
    """
    nested = with_modules(imported.template, imported.places, imported.labels, MAX_NESTED_STACK_DEPTH, taken)
    moved = [{"from": name, "to": path} for name, path in nested.paths.items() if path != name]
    if not moved:
        return None
    imports = [{**entry, "to": nested.paths[entry["to"]]} for entry in imported.environment["imports"]]
    kept = [shown(place) for place in nested.kept]
    return InModules(nested.template, nested.files, {**imported.environment, "imports": imports, "moved": moved}, kept)


class _Importing:
    """One state that is read."""

    def __init__(self, state: State, types: Mapping[str, ResourceType]) -> None:
        self._managed = [state_object for state_object in state.objects if state_object.managed]
        self._sources = [
            state_object for state_object in state.objects if not state_object.managed and state_object.is_openstack
        ]
        self._outputs = state.outputs
        self._types = types
        self._parts: dict[str, Draft] = {}
        self._drafts: dict[StateObject, list[Draft]] = {}
        self._result = Imported({}, {})

    def imported(self) -> Imported:
        """Return the result: objects, then what is part of them, then the references between them."""
        later = [origin for origin in self._managed if not self._try(self._draft, origin)]
        for origin in later:
            self._try(self._fold, origin)
        known = self._known()
        for origin in list(self._drafts):
            self._try(lambda unfinished: self._finish(unfinished, known), origin)
        self._write()
        return self._result

    def _try(self, step: Any, origin: StateObject) -> bool:
        """Take a step with an object, which is unsupported if that fails. Return False if it has to wait for others."""
        try:
            return step(origin) is not False
        except Unsupported as reason:
            self._result.unsupported[origin.address] = str(reason)
            self._drafts.pop(origin, None)
            return True

    def _draft(self, origin: StateObject) -> bool:
        """Begin the resources of an object. Return False for what may be part of another object."""
        row = _row_of(origin)
        if row.into is not None:
            return False
        self._begin(origin, row)
        return True

    def _begin(self, origin: StateObject, row: Row) -> None:
        name = row.type_of(origin.attributes)
        kind = self._types.get(name)
        if kind is None:
            raise Unsupported(f"no installed resource type is its equivalent ({name or origin.type})")
        if reason := unsuitable(kind):
            raise Unsupported(f"objects of the type {name} cannot be imported: {reason}")
        items = [origin.attributes]
        if row.each:
            shown = origin.attributes
            listed = shown.get(row.each)
            listed = listed if isinstance(listed, list) else []
            items = [{**shown, **entry} for entry in listed if isinstance(entry, dict)]
        drafts = []
        for shown in items:
            draft = Draft(origin, row, kind, shown)
            fill(draft)
            draft.id = identifier(draft)
            drafts.append(draft)
        self._drafts[origin] = drafts
        if lost := [
            attribute for attribute in row.lost if origin.attributes.get(attribute) not in (None, "", [], {}, False, 0)
        ]:
            self._result.left_out[origin.address] = lost

    def _fold(self, origin: StateObject) -> None:
        """Let an object be part of the one that it belongs to; by itself, if the state does not have that."""
        row = _row_of(origin)
        into = row.into
        assert into is not None  # only these are folded
        identifiers = [str(identifier) for name in into.owners if (identifier := origin.attributes.get(name))]
        drafts = [draft for of_origin in self._drafts.values() for draft in of_origin]
        owners = [draft for draft in drafts if str(draft.origin.attributes.get(into.found_by) or "") in identifiers]
        owners = [draft for draft in owners if into.property in draft.kind.properties]
        if owners:
            owner = owners[0]
            if into.value:
                self._set(origin, into, owner)
            else:
                for item in part_of(origin, into, owner.kind.properties):
                    owner.add(into.property, item)
            self._parts[origin.address] = owner
        elif row.types:
            self._begin(origin, row)
        else:
            named = " or ".join(identifiers) or "which it does not name"
            raise Unsupported(f"it is part of another object ({named}), which the state does not have")

    def _set(self, origin: StateObject, into: Containment, owner: Draft) -> None:
        """Set a property of an object to what another one says of it: if not even the object says it, it keeps it."""
        if value := origin.attributes.get(into.value):
            owner.values[into.property] = value
        elif into.property not in owner.values:
            self._result.left_out[origin.address] = [into.value]

    def _known(self) -> dict[str, Draft]:
        drafts = [draft for of_origin in self._drafts.values() for draft in of_origin]
        others = {draft.origin.id: draft for draft in drafts if not draft.row.each}
        return {**others, **{draft.id: draft for draft in drafts}}

    def _finish(self, origin: StateObject, known: Mapping[str, Draft]) -> None:
        for draft in self._drafts[origin]:
            if draft.row.adjust:
                ADJUSTMENTS[draft.row.adjust](draft, known)
            draft.values = needed_values(draft.kind.properties, draft.values)
            if reason := refusal(draft.kind, draft.values):
                raise Unsupported(reason)

    def _write(self) -> None:
        result = self._result
        drafts = [draft for of_origin in self._drafts.values() for draft in of_origin]
        names = self._numbered(
            _names(self._drafts, lambda origin: (*(module.label for module in origin.place), origin.name, origin.key))
        )
        labels: dict[Draft, str] = {}
        for place in {origin.place: None for origin in self._drafts}:
            inside = [origin for origin in self._drafts if origin.place == place]
            labels |= self._numbered(_names(inside, lambda origin: (origin.name, origin.key)))
        scanned = {draft: _found(draft.kind, draft.id, name) for draft, name in names.items()}
        known = {draft.origin.id: scanned[draft] for draft in drafts if not draft.row.each}
        known |= {draft.id: scanned[draft] for draft in drafts}
        known = {name: target for name, target in known.items() if is_distinct(name)}
        described = {scanned[draft]: _marked(draft.values, known, scanned[draft]) for draft in drafts}
        others = [self._source(origin) for origin in self._sources]
        functions = [function["functions"] for function in functions_of(HOT.version) or ()]
        named = {scanned[draft]: name for draft, name in names.items()}
        generated = write(
            described, [source for source in others if source is not None], functions, Style(chosen=named)
        )
        result.template, result.environment = generated.template, generated.environment
        result.without_value = generated.without_value
        if names:
            result.outputs = outputs_of(self._outputs, names, functions)
        if result.outputs.written:
            result.template[OUTPUTS] = result.outputs.written
        result.places = {names[draft]: draft.origin.place for draft in drafts}
        result.labels = {names[draft]: labels[draft] for draft in drafts}
        for address, owner in self._parts.items():
            if owner in names:
                result.parts[address] = names[owner]
            else:
                result.unsupported[address] = f"it is part of {owner.origin.address}, which cannot be imported"
        result.resources = [
            {
                "resource_name": names[draft],
                "resource_type": draft.kind.type_name,
                "physical_resource_id": draft.id,
                "address": draft.origin.address,
            }
            for draft in drafts
        ]

    def _numbered(self, names: Mapping[StateObject, str]) -> dict[Draft, str]:
        """Return the names of drafts by those of their objects: with numbers for the items of one."""
        return {
            draft: f"{name}_{number}" if draft.row.each else name
            for origin, name in names.items()
            for number, draft in enumerate(self._drafts[origin])
        }

    def _source(self, origin: StateObject) -> Found | None:
        """Return the object of a data source, whose name a parameter has; None if nothing refers to such objects."""
        row = rows().get(origin.type)
        kind = self._types.get(row.type_of(origin.attributes)) if row is not None else None
        if kind is None or not origin.id:
            return None
        source = _found(kind, origin.id, origin.name)
        source.reason = f"it was read by {origin.address}"
        return source


def _row_of(origin: StateObject) -> Row:
    """Return the row of an object's type. Raises Unsupported."""
    if not origin.is_openstack:
        raise Unsupported("it is no object of OpenStack")
    if origin.deposed:
        raise Unsupported("it is to be destroyed, as another object has replaced it (deposed)")
    row = rows().get(origin.type)
    if row is None:
        raise Unsupported(f"the type {origin.type} is not known")
    if row.none:
        raise Unsupported(row.none)
    return row


def _found(kind: ResourceType, identifier: str, name: str) -> Found:
    """Return an object as the scan of a project would find it."""
    inventory = Inventory(
        service="", path="", members="", describe=lambda fields: fields, finder=finder_of(kind) or kind.type_name
    )
    return Found(Scanned(kind, inventory, is_requested=True), identifier, name, {})


def _marked(value: Any, known: Mapping[str, Found], itself: Found) -> Any:
    """Return a value in which the IDs of other objects are references to them."""
    if isinstance(value, dict):
        return {name: _marked(item, known, itself) for name, item in value.items()}
    if isinstance(value, list):
        return [_marked(item, known, itself) for item in value]
    target = known.get(value) if isinstance(value, str) else None
    if target is None or target is itself:
        return value
    return Reference(str(target.scanned.inventory.finder), target.id)


def _names(objects: Iterable[StateObject], parts: Callable[[StateObject], Sequence[str]]) -> dict[StateObject, str]:
    """Return the names of resources: of some parts; with the type, if others have the same name."""
    plain = {state_object: word("_".join(parts(state_object))) for state_object in objects}
    number = Counter(plain.values())
    taken: dict[str, int] = {}
    names = {}
    for state_object, name in plain.items():
        chosen = name if number[name] == 1 else f"{name}_{_noun(state_object.type)}"
        taken[chosen] = taken.get(chosen, 0) + 1
        names[state_object] = chosen if taken[chosen] == 1 else f"{chosen}_{taken[chosen]}"
    return names


def _noun(name: str) -> str:
    """Return a type of Terraform without the provider, the service and the version: `router_interface`."""
    return _VERSION_SUFFIX.sub("", name.removeprefix(PREFIX)).partition("_")[2]
