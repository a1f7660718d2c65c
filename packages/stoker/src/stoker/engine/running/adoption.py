"""Adopt existing objects: those of an adopted stack, and those that a template refers to with `external_id`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from stoker.base.errors import StokerError, TokenRejected
from stoker.base.ids import new_id
from stoker.cloud.session import Cloud
from stoker.engine.calls.building import LONGEST, fits, make_call
from stoker.engine.calls.context import ActionComponents, StackContext
from stoker.engine.records.state import ResourceState
from stoker.engine.running.performer import Method
from stoker.plugins.agents import USER_PROJECT
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.schema.unknown import has_unknown
from stoker.store.journal import NoWriter
from stoker.store.records import COMPLETE, Resource, Stack


@dataclass(frozen=True, slots=True)
class External:
    """A resource with an `external_id`; `properties` are its property values as far as known."""

    name: str
    type: ResourceType
    identifier: str
    properties: Mapping[str, Any]


def adopt(state: ResourceState, entry: Mapping[str, Any]) -> None:
    """Set a new resource's data from the stack's document: the object's id, the type's data, metadata.

    The project of the stack users is not taken from the document, since it defines whose users can access the stack,
    and is deleted with it. A type that adopts such a user determines its project, and verifies that it can be adopted.
    """
    identifier = entry.get("resource_id")
    if identifier is not None and not state.type.nested and fits(str(identifier)):
        state.row.physical_id = str(identifier)
    state.stored.data = {key: value for key, value in (entry.get("resource_data") or {}).items() if key != USER_PROJECT}
    if entry.get("metadata"):
        state.stored.metadata = entry["metadata"]


def bringing_about(state: ResourceState) -> Method:
    """Return the method that resumes the resource's action: create, adopt or update."""
    if state.stored.definition.get("external_id") is not None:
        return partial(_read_external, state.type)
    if state.row.action == "ADOPT":
        return partial(_adopt, state.type)
    return state.type.update if state.row.action == "UPDATE" else state.type.create


async def missing(components: ActionComponents, stack: Stack, cloud: Cloud, resource: External) -> str | None:
    """Return why the object of an `external_id` cannot be used; None if it exists."""
    row = Resource(
        uuid=new_id(), stack_id=stack.id, position=0, name=resource.name, type=resource.type.type_name, action="CHECK",
        status=COMPLETE, reason="", physical_id=resource.identifier, created_at=0.0,
    )  # fmt: skip
    state = ResourceState(row, resource.type, stack.name, components.services.sealer, components.services.memory.values)
    state.set_properties({key: value for key, value in resource.properties.items() if not has_unknown(value)})
    context = StackContext(components, stack, NoWriter())
    context.use(cloud)
    try:
        outcome = await examined(resource.type, await make_call(context, state))
    except TokenRejected:
        raise
    except StokerError as error:
        return error.message
    return outcome.reason if isinstance(outcome, Failed) else None


async def _adopt(kind: ResourceType, call: Call) -> Outcome:
    if kind.nested and "resources" not in call.resource.adopted:
        return Failed("the document has no nested stack for this resource", "Error")
    if not kind.nested and call.physical_id is None:
        return Failed("the document has no resource_id for this resource", "Error")
    return await examined(kind, call)


async def examined(kind: ResourceType, call: Call) -> Outcome:
    """Let the type examine a user's object; a string that cannot be an ID would lead requests to other URLs."""
    identifier = call.physical_id
    if not fits(identifier):
        return Failed(f"an ID has {LONGEST} characters at most", "NotFound")
    named = None if identifier is None else kind.id_form.in_requests(identifier)
    if named is not None and not (named.isprintable() and named.strip(". ") and "/" not in named):
        return Failed(f"{identifier!r} cannot be the ID of an object", "NotFound")
    return await kind.adopt(call)


async def _read_external(kind: ResourceType, call: Call) -> Outcome:
    """Read an external object, which is never changed."""
    outcome = await examined(kind, call)
    return await kind.check(call) if isinstance(outcome, Done) else outcome
