"""Read stacks: templates, outputs, resources, events."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypedDict

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import EntityNotFound, NotFound, ResourceNotFound
from stoker.base.redaction import REDACTED, redact_values
from stoker.contract.events import ListEvents, ShowEvent
from stoker.contract.request import Reference
from stoker.contract.resources import (
    DescribedResource,
    DescribeResource,
    ListResources,
    ResourceList,
    ShowResource,
    ShowResourceMetadata,
)
from stoker.contract.stacks import ListOutputs, OfDefinition, ShowEnvironment, ShowFiles, ShowOutput, ShowTemplate
from stoker.contract.views import DriftSummary, EventView, JSONObject, ResourceRow, ResourceView
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.calls.deployments import agent_metadata, configs_for, note_delivery, takes_deployments, with_configs
from stoker.engine.inspection.detections import last_found
from stoker.engine.inspection.stack_reader import Reader
from stoker.engine.records.actions import REMOVES
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView
from stoker.engine.records.state import ResourceState, attribute_text, former_names, formerly_named, had_name
from stoker.engine.redaction.deployments import credentials_in, redacted, redacted_metadata
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.engine.redaction.stacks import properties_shown, secrets_ever, secrets_now
from stoker.engine.redaction.templates import redact_file, redact_template
from stoker.operations.lookup import find_stack, found_stack, is_stack_user, require_stack_user_access, uses_itself
from stoker.operations.past_definitions import inputs_as_of
from stoker.operations.views import event_view, place_view, required_by, resource_row, resource_view
from stoker.plugins.resource import AttributeKey
from stoker.store import event_lists, queries
from stoker.store.records import Event, Resource, ResourceSummary, Stack

# -- template, environment and files ---------------------------------------------------------------------------


async def stack_template(services: EngineServices, context: RequestContext, request: ShowTemplate) -> JSONObject:
    """Return the template as plain data, with the defaults of hidden parameters redacted."""
    stack, inputs = await _definition(services, context, request)
    shown = redact_template(inputs.template)
    return shown if stack.parent_id is None else redact_values(shown, await secrets_now(services, stack))


async def stack_environment(services: EngineServices, context: RequestContext, request: ShowEnvironment) -> JSONObject:
    """Return the environment, with the values of hidden parameters redacted."""
    stack, inputs = await _definition(services, context, request)
    definition = await services.bind(stack, inputs)
    data = inputs.environment.to_data()
    parameters = {**inputs.parameters["environment"], **inputs.parameters["request"]}
    data["parameters"] = definition.parameters.redacted(parameters)
    data["encrypted_param_names"] = sorted(definition.parameters.hidden & parameters.keys())
    below = {schema.name for schema in services.loader.hidden_below(inputs)}
    defaults = definition.parameters.redacted(data["parameter_defaults"])
    data["parameter_defaults"] = {name: REDACTED if name in below else value for name, value in defaults.items()}
    return data if stack.parent_id is None else redact_values(data, await secrets_now(services, stack))


async def stack_files(services: EngineServices, context: RequestContext, request: ShowFiles) -> Mapping[str, str]:
    """Return the files that were sent with the template, with hidden values redacted."""
    stack, inputs = await _definition(services, context, request)
    secrets = await (secrets_now if request.operation_id is None else secrets_ever)(services, stack)
    return {name: redact_file(text, secrets) for name, text in inputs.files.items()}


async def _definition(
    services: EngineServices, context: RequestContext, request: OfDefinition[object]
) -> tuple[Stack, LoadedInputs]:
    stack = await find_stack(services, context, request.ref, deleted=True)
    known = request.operation_id
    return stack, await services.loader.load(
        stack.inputs if known is None else await inputs_as_of(services, stack, known)
    )


async def output_list(services: EngineServices, context: RequestContext, request: ListOutputs) -> Sequence[JSONObject]:
    """Return keys and descriptions of the outputs."""
    stack = await find_stack(services, context, request.ref)
    definition = await services.bind(stack, await services.loader.load(stack.inputs))
    return [{"output_key": name, "description": output.description} for name, output in definition.outputs.items()]


async def output_show(services: EngineServices, context: RequestContext, request: ShowOutput) -> JSONObject:
    """Return one output with its value. Raises NotFound."""
    stack = await find_stack(services, context, request.ref)
    inputs = await services.loader.load(stack.inputs)
    if request.key not in (await services.bind(stack, inputs)).outputs:
        raise NotFound(f"Specified output key {request.key} not found.")
    return (await Reader(services).outputs(stack, inputs, request.key))[0]


# -- resources -------------------------------------------------------------------------------------------------


class _Details(TypedDict):
    """What a list with details adds to a resource."""

    attributes: JSONObject
    description: str


NO_DETAIL: _Details = {"attributes": {}, "description": ""}

_RESOURCE_FILTERS = {
    "type": "type",
    "resource_type": "type",
    "status": "status",
    "name": "name",
    "action": "action",
    "id": "uuid",
    "uuid": "uuid",
    "physical_resource_id": "physical_id",
}


async def resource_list(services: EngineServices, context: RequestContext, request: ListResources) -> ResourceList:
    """Return the stack's resources, including those of nested stacks down to `nested_depth`, as
    `{"resources": […], "stacks": …}` with the position of each stack in the tree by its id.
    """
    depth = min(request.nested_depth, services.settings.max_nested_stack_depth)
    levels = await services.database.read(_levels, context, request.ref, depth)
    views: list[ResourceRow] = []
    identifiers = ObjectIds(services)
    for inside in levels:
        users = required_by(inside.resources)
        details = await _details(services, inside.stack) if request.with_detail else {}
        for row in _matching(inside.resources, request.filters or {}):
            view = resource_row(row, users.get(row.name, ()), inside.children.get(row.uuid))
            if identifiers.may_hide(row.type):
                view["physical_id"] = await identifiers.shown(inside.stack, row.type, row.physical_id)
            views.append({**view, **details.get(row.uuid, NO_DETAIL)} if request.with_detail else view)
    return {
        "resources": views,
        "stacks": {inside.stack.id: place_view(inside.stack, inside.holder) for inside in levels},
    }


@dataclass(frozen=True, slots=True)
class _Inside:
    """A stack's current resources, its nested stacks by the uuid of their resource, and the resource of the stack."""

    stack: Stack
    resources: list[ResourceSummary]
    children: Mapping[str | None, Stack]
    holder: str | None


def _levels(connection: Connection, context: RequestContext, ref: Reference, depth: int) -> list[_Inside]:
    """Return the stack and its nested stacks down to `depth`, from the top."""
    level: list[tuple[Stack, str | None]] = [(found_stack(connection, context, ref, deleted=True), None)]
    found: list[_Inside] = []
    while level and depth >= 0:
        identifiers = [stack.id for stack, _ in level]
        resources = queries.resource_summaries(connection, identifiers)
        children = {child.parent_resource: child for child in queries.child_stacks(connection, identifiers)}
        following: list[tuple[Stack, str | None]] = []
        for stack, holder in level:
            current = [row for row in resources.get(stack.id, ()) if row.replaced_by is None]
            found.append(_Inside(stack, current, children, holder))
            following += [(children[row.uuid], row.name) for row in current if row.uuid in children]
        level, depth = following, depth - 1
    return found


async def _details(services: EngineServices, stack: Stack) -> dict[str, _Details]:
    """Return the additional fields of a list with details for all current resources of a stack, read at once."""
    view = await Reader(services).view(stack)
    inputs = await services.loader.load(stack.inputs)
    described = (await services.bind(stack, inputs)).resources
    states = list(view.current.values())
    secrets = await secrets_ever(services, stack)
    found = await services.scheduler.gather(
        partial(_attributes, services, view, state, (), secrets) for state in states
    )
    return {
        state.row.uuid: {
            "attributes": attributes,
            "description": (described[state.row.name].description if state.row.name in described else "") or "",
        }
        for state, attributes in zip(states, found, strict=True)
    }


def _matching(rows: list[ResourceSummary], filters: Mapping[str, Sequence[str]]) -> list[ResourceSummary]:
    for name, values in filters.items():
        rows = [row for row in rows if getattr(row, _RESOURCE_FILTERS[name]) in values]
    return rows


async def resource_show(
    components: RecordingComponents, context: RequestContext, request: ShowResource
) -> ResourceView:
    """Return one resource with its attributes; also those in `with_attr` in addition to the declared ones."""
    services = components.services
    stack = await find_stack(services, context, request.ref, deleted=True)
    view = await Reader(services).around(stack, request.name)
    state = view.named(request.name)
    inputs = await services.loader.load(stack.inputs)
    if state is None and request.name in inputs.template.resources and stack.action not in REMOVES:
        definition = await services.bind(stack, inputs)
        if request.name in definition.resources:
            return _not_created(services, stack, request.name, definition.resources[request.name].type)
    state = state or formerly_named(view.current, request.name)
    if state is None:
        raise _no_resource(request.name, stack)
    await _require_access(context, view, state)
    users = await services.database.read(queries.dependents, stack.id, state.row.name)
    child = await services.database.read(queries.stack_by_parent_resource, state.row.uuid)
    described = inputs.template.resources.get(state.row.name)
    return {
        **resource_view(state.row, stack, users, child=child, parent=await parent_name(services, stack)),
        "physical_id": await ObjectIds(services).shown(stack, state.row.type, state.row.physical_id),
        "description": (described.description if described else "") or "",
        "metadata": await _metadata(components, context, stack, state),
        "attributes": await _attributes(
            services, view, state, request.with_attr or (), await secrets_ever(services, stack)
        ),
    }


def _no_resource(name: str, stack: Stack) -> ResourceNotFound:
    return ResourceNotFound(f"The Resource ({name}) could not be found in Stack {stack.name}.")


def _not_created(services: EngineServices, stack: Stack, name: str, type_name: str) -> ResourceView:
    """Return the view of a resource of the template that no step has reached yet."""
    row = Resource(
        uuid="", stack_id=stack.id, position=0, name=name, type=type_name, action="INIT", status="COMPLETE", reason="",
        created_at=stack.created_at,
    )  # fmt: skip
    return {**resource_view(row, stack, ()), "attributes": {}, "description": "", "metadata": {}}


async def _attributes(
    services: EngineServices, view: StackView, state: ResourceState, extra: Sequence[str], secrets: Collection[str]
) -> Mapping[str, object]:
    """Return the values of the declared attributes and of `extra`, redacted for users."""
    if state.row.physical_id is None and not state.type.local:
        return dict.fromkeys(extra)
    declared = [name for name, attribute in state.type.attributes.items() if attribute.support.status != "HIDDEN"]
    keys: set[AttributeKey] = {(name,) for name in [*declared, *extra]}
    values = await Reader(services).read(view, state, keys, live=True)
    shown = {attribute_text(key): values[key] for key in sorted(keys)}
    visible: Mapping[str, object] = redact_values(shown, {*secrets, *credentials_in(state.stored.metadata)})
    return visible


async def parent_name(services: EngineServices, stack: Stack) -> str | None:
    """Return the name of the resource of a nested stack."""
    if stack.parent_resource is None:
        return None
    row = await services.database.read(queries.resource_by_uuid, stack.parent_resource)
    return row.name if row else None


async def resource_metadata(
    components: RecordingComponents, context: RequestContext, request: ShowResourceMetadata
) -> JSONObject:
    """Return the resource's metadata."""
    stack, state = await _recorded_resource(components.services, context, request.ref, request.name)
    return await _metadata(components, context, stack, state)


async def resource_describe(
    components: RecordingComponents, context: RequestContext, request: DescribeResource
) -> DescribedResource:
    """Return a resource with its metadata as recorded; no service is asked, so that agents can poll it often."""
    services = components.services
    stack, state = await _recorded_resource(services, context, request.ref, request.name)
    described = (await services.loader.load(stack.inputs)).template.resources.get(state.row.name)
    view: DescribedResource = {
        **resource_view(state.row, stack, ()),  # type: ignore[typeddict-item]  # the drift follows
        "physical_id": await ObjectIds(services).shown(stack, state.row.type, state.row.physical_id),
        "description": (described.description if described else "") or "",
        "metadata": await _metadata(components, context, stack, state),
    }
    if not is_stack_user(context, stack):
        view["drift"] = await _known_drift(services, stack, state.row.name)
    return view


async def _known_drift(services: EngineServices, stack: Stack, name: str) -> DriftSummary | None:
    """Return the result of the last drift detection of a resource, None if it was never checked."""
    found = (await last_found(services, stack.id)).get("found", ())
    known = next((each for each in found if each["name"] == name), None)
    return None if known is None else {"status": known["status"], "time": known["time"]}


async def _recorded_resource(
    services: EngineServices, context: RequestContext, ref: Reference, name: str
) -> tuple[Stack, ResourceState]:
    """Return a resource that the caller can read, with its stack. Raises ResourceNotFound, Forbidden."""
    stack = await find_stack(services, context, ref)
    view = await Reader(services).around(stack, name)
    state = view.named(name) or formerly_named(view.current, name)
    if state is None:
        raise _no_resource(name, stack)
    await _require_access(context, view, state)
    return stack, state


async def _require_access(context: RequestContext, view: StackView, state: ResourceState) -> None:
    """Do what `require_stack_user_access` does; the whole stack is read only for users of other resources."""
    if is_stack_user(context, view.stack) and not uses_itself(context, state):
        require_stack_user_access(context, view.stack, state, await view.whole())


async def _metadata(
    components: RecordingComponents, context: RequestContext, stack: Stack, state: ResourceState
) -> Mapping[str, object]:
    """Return the metadata as the caller can read them: agents receive them without redaction, since they use them."""
    services = components.services
    recorded, server_id = state.stored.metadata, state.row.physical_id
    if is_stack_user(context, stack):
        if server_id is not None and takes_deployments(recorded, server_id):
            await note_delivery(components, server_id, stack.project_id)
        return await agent_metadata(services, recorded, server_id, stack.project_id)
    shown = await redacted_metadata(services, stack, recorded)
    if server_id is None or not takes_deployments(recorded, server_id):
        return shown
    return with_configs(shown, await redacted(services, await configs_for(services, server_id, stack.project_id)))


# -- events ----------------------------------------------------------------------------------------------------

_EVENT_COLUMNS = {
    "resource_status": "status",
    "resource_action": "action",
    "resource_name": "resource_name",
    "resource_type": "resource_type",
    "event_time": "time",
    "created_at": "time",
}


async def event_list(services: EngineServices, context: RequestContext, request: ListEvents) -> Sequence[EventView]:
    """Return events of the stack, of one of its resources, or of the tree below it; oldest first."""
    columns = {_EVENT_COLUMNS[name]: values for name, values in (request.filters or {}).items()}
    if request.resource_name is not None:
        columns["resource_name"] = await services.database.read(_names, context, request.ref, request.resource_name)
    query = event_lists.EventQuery(
        filters=columns,
        limit=request.limit,
        marker=request.marker,
        sort_keys=[_EVENT_COLUMNS[key] for key in request.sort_keys or ()],
        descending=request.sort_dir == "desc",
    )
    depth = min(request.nested_depth, services.settings.max_nested_stack_depth)
    stacks, root, events = await services.database.read(
        _events, context, request.ref, depth, query, request.operation_id
    )
    stack = next(iter(stacks.values()))
    if request.resource_name is not None and not events and not request.marker:
        raise EntityNotFound(f"There are no events of the resource {request.resource_name} in stack {stack.name}.")
    views = [
        (stacks[event.stack_id], event.resource_type, event_view(event, stacks[event.stack_id], root, stacks))
        for event in events
    ]
    return await ObjectIds(services).views(views)


def _names(connection: Connection, context: RequestContext, ref: Reference, name: str) -> list[str]:
    """Return the names that a resource had in the course of time, of which `name` is one."""
    stack = found_stack(connection, context, ref, deleted=True)
    rows = queries.moved_resources(connection, stack.id)
    moved = [row for row in rows if row.name == name or had_name(row, name)]
    return [name, *{each for row in moved for each in (row.name, *(former.name for former in former_names(row)))}]


def _events(
    connection: Connection,
    context: RequestContext,
    ref: Reference,
    depth: int,
    query: event_lists.EventQuery,
    operation_id: str | None,
) -> tuple[dict[str, Stack], Stack | None, list[Event]]:
    """Return the stacks of a tree down to `depth` by id, the top one first; its root; and the selected events."""
    top = found_stack(connection, context, ref, deleted=True)
    root = top if top.root_id == top.id else queries.stack_by_id(connection, top.root_id)
    stacks = {stack.id: stack for level in queries.levels_of(connection, top, depth) for stack in level}
    if operation_id is not None:
        operation = queries.operation_by_id(connection, operation_id)
        if operation is None or operation.stack_id != top.id:
            raise EntityNotFound(f"The stack {top.name} has no operation {operation_id}.")
        query = replace(query, since=operation.created_at, until=operation.finished_at)
    return stacks, root, event_lists.list_events(connection, replace(query, stack_ids=list(stacks)))


async def event_show(services: EngineServices, context: RequestContext, request: ShowEvent) -> EventView:
    """Return an event with the properties at that time, hidden values redacted."""
    stack = await find_stack(services, context, request.ref, deleted=True)
    event = await services.database.read(event_lists.event_by_id, stack.id, request.event_id)
    names = await services.database.read(_names, context, request.ref, request.resource_name)
    if event is None or event.resource_name not in names:
        raise EntityNotFound(f"The Event ({request.event_id}) could not be found.")
    shown = await properties_shown(services, stack, [(event.properties, event.resource_type, event.resource_name)])
    [view] = await ObjectIds(services).views([(stack, event.resource_type, event_view(event, stack))])
    return {**view, "resource_properties": shown.get(event.properties or "", {})}
