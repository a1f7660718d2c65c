"""A stack as a document: the result of export and abandon, the content of a snapshot, the source of an adoption.

Values of hidden parameters and the `redacted_data` of types are redacted wherever they occur in the document. They are
kept separately with their positions, so that they can be sealed for storage, and the document can be restored in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from stoker.base.portions import portions_of
from stoker.base.redaction import REDACTED, Redactor, strings_of
from stoker.engine.records.content_copies import Path, path_of
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import view_of
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import prepared
from stoker.plugins.resource import ContentCopy
from stoker.store import queries
from stoker.store.records import Stack
from stoker.template.definition import Definition

Place = tuple[str | int, ...]
"""Keys and indexes that lead to a value in a document."""


@dataclass(slots=True)
class Document:
    """`data` is redacted; `hidden` has the redacted values, as `[place, value]`."""

    data: dict[str, Any]
    hidden: list[tuple[Place, Any]] = field(default_factory=list)

    def whole(self) -> dict[str, Any]:
        """Return the document in full."""
        for place, value in self.hidden:
            _put(self.data, place, value)
        return self.data


async def export(services: EngineServices, stack: Stack, copies: Iterable[ResourceState] = ()) -> Document:
    """Return the document of a stack and its nested stacks; `copies` are added to the resources that they belong to."""
    exporter = _Exporter(services, {path_of(copy): copy for copy in copies if copy.row.physical_id})
    data = await exporter.tree(stack, (), ())
    await exporter.redact_everywhere(stack, data)
    return Document(data, exporter.hidden)


class _Exporter:
    def __init__(self, services: EngineServices, copies: Mapping[Path, ResourceState]) -> None:
        self._services = services
        self._copies = copies
        self._secrets: set[str] = set()
        self._derived: list[Place] = []
        self._defaults: list[Place] = []
        self.hidden: list[tuple[Place, Any]] = []

    async def tree(self, stack: Stack, path: Path, place: Place) -> dict[str, object]:
        """Return the document of one stack of the tree, with its own hidden values redacted."""
        services = self._services
        view = await view_of(services, stack)
        inputs = await services.loader.load(stack.inputs)
        definition = await services.bind(stack, inputs)
        children = await services.database.read(queries.child_stacks, [stack.id])
        below = {child.parent_resource: child for child in children}
        tags = await services.database.read(queries.tags_of, [stack.id])
        environment = inputs.environment.to_data()
        environment["parameters"] = {**inputs.parameters["environment"], **inputs.parameters["request"]}
        data: dict[str, Any] = {
            "name": stack.name,
            "id": stack.id,
            "action": stack.action,
            "status": stack.status,
            "template": deepcopy(inputs.template.document.data),
            "environment": deepcopy(environment),
            "files": dict(inputs.files) if not path else {},
            "project_id": stack.project_id,
            "stack_user_project_id": stack.user_project_id,
            "tags": list(tags.get(stack.id) or ()),
            "resources": {},
        }
        self._secrets |= await services.secrets(stack, stack.inputs, frozenset(self._secrets))
        self._redact_parameters(definition, inputs, data, place)
        if path:
            self._derived += [(*place, "template"), (*place, "environment", "parameters")]
        else:
            self._defaults = list(_hidden_defaults(definition, data["template"]))
        async for name in portions_of(dict.fromkeys([*definition.resources, *view.current])):
            state, inside = view.current.get(name), (*place, "resources", name)
            if state is None:
                entry = _not_created(name, definition.resources[name].type)
            elif (child := below.get(state.row.uuid)) is not None:
                entry = {**self._entry(state, (*path, name), inside), **await self.tree(child, (*path, name), inside)}
            else:
                entry = self._entry(state, (*path, name), inside)
            data["resources"][name] = entry
        return data

    def _entry(self, state: ResourceState, path: Path, place: Place) -> dict[str, object]:
        row, data = state.row, deepcopy(dict(state.stored.data))
        copy = self._copies.get(path)
        if copy is not None and isinstance(copy.type, ContentCopy):
            data[copy.type.noted_as] = copy.row.physical_id
        for key in state.type.redacted_data & data.keys():
            data[key] = self._redact((*place, "resource_data", key), data[key])
        self._derived += [(*place, "resource_id"), (*place, "resource_data"), (*place, "metadata")]
        return {
            "name": row.name,
            "resource_id": row.physical_id,
            "type": row.type,
            "action": row.action,
            "status": row.status,
            "metadata": deepcopy(dict(state.stored.metadata)),
            "resource_data": data,
        }

    # -- redaction ------------------------------------------------------------------------------------------------

    def _redact(self, place: Place, value: object) -> str:
        self.hidden.append((place, value))
        self._secrets.update(strings_of(value))
        return REDACTED

    def _redact_parameters(
        self, definition: Definition, inputs: LoadedInputs, data: Mapping[str, Any], place: Place
    ) -> None:
        own = definition.parameters.hidden
        below = {schema.name for schema in self._services.loader.hidden_below(inputs)}
        for section, names in (("parameters", own), ("parameter_defaults", own | below)):
            values = data["environment"][section]
            for name in sorted(names & values.keys()):
                values[name] = self._redact((*place, "environment", section, name), values[name])

    async def redact_everywhere(self, stack: Stack, data: dict[str, Any]) -> None:
        """Redact hidden values also in what repeats them: files, data, metadata and nested stacks."""
        for place in self._defaults:
            _put(data, place, self._redact(place, _get(data, place)))
        redactor = Redactor(await prepared(self._services, stack, self._secrets))
        async for place in portions_of(self._derived):
            self._redact_leaves(redactor, data, place)
        async for name, text in portions_of(list(data["files"].items())):
            redacted = redactor.redact(text)
            if redacted != text:
                self.hidden.append((("files", name), text))
                data["files"][name] = redacted

    def _redact_leaves(self, redactor: Redactor, data: Mapping[str, object], place: Place) -> None:
        for inner, leaf in list(_leaves(_get(data, place))):
            if not isinstance(leaf, bool) and redactor.redact(str(leaf)) != str(leaf):
                found = (*place, *inner)
                self.hidden.append((found, leaf))
                _put(data, found, REDACTED)


def _hidden_defaults(definition: Definition, template: Mapping[str, Any]) -> Iterator[Place]:
    """Yield the positions of the defaults of hidden parameters in a template."""
    section = definition.template.written("parameters")
    for name in sorted(definition.parameters.hidden):
        for key in ("default", "Default"):
            if key in template[section][name]:
                yield "template", section, name, key


def _not_created(name: str, type_name: str) -> dict[str, object]:
    """Return the view of a resource that no step has reached yet."""
    return {
        "name": name,
        "resource_id": None,
        "type": type_name,
        "action": "INIT",
        "status": "COMPLETE",
        "metadata": {},
        "resource_data": {},
    }


def _leaves(value: Any) -> Iterator[tuple[Place, object]]:
    if isinstance(value, Mapping):
        children: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    else:
        yield (), value
        return
    for key, inner in children:
        for place, leaf in _leaves(inner):
            yield (key, *place), leaf


def _get(data: Any, place: Place) -> Any:
    for key in place:
        data = data[key]
    return data


def _put(data: object, place: Place, value: object) -> None:
    """Set a value, unless its position is missing, for example because the document was edited."""
    try:
        container = _get(data, place[:-1])
        if place[-1] in container if isinstance(container, Mapping) else 0 <= int(place[-1]) < len(container):
            container[place[-1]] = value
    except (KeyError, IndexError, TypeError, ValueError):
        return
