"""Data for the Query API only: events with properties, exports, template summaries."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import EntityNotFound, PhysicalResourceIDAmbiguity
from stoker.contract.catalog import ExportView, ListExports, ListImports
from stoker.contract.events import DatedEvent, ListEventsInDetail
from stoker.contract.resources import FindStackOfObject, StackId
from stoker.contract.stacks import (
    DescribeStack,
    DescribeStacks,
    ImportableType,
    ListStacks,
    ShowStack,
    StackDescription,
    SummarizeTemplate,
    TemplateSummary,
    ValidateTemplate,
)
from stoker.engine.planning.imports import unsuitable
from stoker.engine.records.services import EngineServices
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.engine.redaction.stacks import properties_shown
from stoker.operations.drift import drift_summaries
from stoker.operations.latest_operations import last_operations
from stoker.operations.lookup import find_stack
from stoker.operations.policy_results import results_of_operations
from stoker.operations.requests import parse_template
from stoker.operations.stack_lists import stack_list
from stoker.operations.stacks import stack_show
from stoker.operations.validation import validate_template
from stoker.operations.views import event_view
from stoker.store import change_sets, event_lists, lookups, operation_history, queries
from stoker.store.operation_history import PastOperation
from stoker.store.records import IN_PROGRESS, Event, Stack
from stoker.template.template import Template


async def stack_describe(services: EngineServices, context: RequestContext, request: DescribeStack) -> StackDescription:
    """Return a stack in full, with its drift status; for a nested stack, with the names of those above it, by id."""
    view = await stack_show(services, context, ShowStack(ref=request.ref))
    above = {view["parent_id"], view["root_id"]} if view["parent_id"] is not None else set()
    found = await services.database.read(queries.stacks_by_id, above)
    return {
        **view,
        "imported": bool(await services.database.read(change_sets.importing, [view["id"]])),
        "drift": (await drift_summaries(services, [view["id"]]))[view["id"]],
        "above": {stack.id: stack.name for stack in found.values()},
        "last_operations": (await last_operations(services, [view["id"]]))[view["id"]],
    }


async def stack_describe_page(
    services: EngineServices, context: RequestContext, request: DescribeStacks
) -> Sequence[StackDescription]:
    """Return a page of the project's stacks in full, newest first."""
    listed = ListStacks(limit=request.limit, marker=request.marker, with_latest=True)
    page = (await stack_list(services, context, listed))["stacks"]
    requests = [ShowStack(ref={"name": view["name"], "id": view["id"]}) for view in page]
    views = await asyncio.gather(*(stack_show(services, context, show) for show in requests))
    summary_fields = ("imported", "drift", "last_operations")
    return [
        {**view, **{name: entry[name] for name in summary_fields}, "above": {}}  # type: ignore[literal-required,typeddict-item]
        for view, entry in zip(views, page, strict=True)
    ]


async def stack_of_object(services: EngineServices, context: RequestContext, request: FindStackOfObject) -> StackId:
    """Return the project's stack that has a resource with this physical id. Raises EntityNotFound."""
    found = await services.database.read(lookups.stacks_with_object, context.project_id, request.physical_id)
    if not found:
        raise EntityNotFound(f"No stack of this project has a resource with the physical id {request.physical_id}.")
    if len(found) > 1:
        raise PhysicalResourceIDAmbiguity(
            f"Resources of {len(found)} stacks have the physical id {request.physical_id}."
        )
    return {"id": found[0]}


async def event_page(
    services: EngineServices, context: RequestContext, request: ListEventsInDetail
) -> Sequence[DatedEvent]:
    """Return events of a stack with the properties at that time, newest first; hidden values are redacted.

    `after_change` is true if the stack had been changed before, so that a rollback reverts an update and not the
    creation.
    """
    stack = await find_stack(services, context, request.ref, deleted=True)
    query = event_lists.EventQuery(stack_ids=[stack.id], limit=request.limit, marker=request.marker, descending=True)
    return await described_events(services, stack, *await services.database.read(events_with_operations, stack, query))


def events_with_operations(
    connection: Connection, stack: Stack, query: event_lists.EventQuery
) -> tuple[list[Event], list[PastOperation | None]]:
    """Return events of a stack, newest first, and the operation in which each was recorded; None if it was in none."""
    events = event_lists.list_events(connection, query)
    if not events:
        return [], []
    past = operation_history.between(connection, stack.id, events[-1].time, events[0].time)
    return events, [_operation_of(event, stack, past) for event in events]


def _operation_of(event: Event, stack: Stack, past: Sequence[PastOperation]) -> PastOperation | None:
    """Return the operation in which an event was recorded: the last one that had begun.

    The rollback of an operation begins before the failure of that is recorded, so the action of the stack's own events
    counts, too.
    """
    if event.reason_code is not None:
        return None
    own = event.physical_id == stack.id
    begun = (each for each in reversed(past) if each.created_at <= event.time)
    return next((each for each in begun if not own or each.stack_action == event.action), None)


def _begins(event: Event, stack: Stack) -> bool:
    """Return whether an event is about the beginning of an operation on the stack."""
    return event.physical_id == stack.id and event.status == IN_PROGRESS


async def described_events(
    services: EngineServices, stack: Stack, events: Sequence[Event], operations: Sequence[PastOperation | None]
) -> list[DatedEvent]:
    """Return events of a stack, each with its operation, as `event_page` does."""
    owners = [(event.properties, event.resource_type, event.resource_name) for event in events]
    opened = await properties_shown(services, stack, owners)
    begins = {
        each.id: event.id for event, each in zip(events, operations, strict=True) if each and _begins(event, stack)
    }
    results = await results_of_operations(services, [*begins]) if begins else {}
    results_of_events = {begins[operation_id]: found for operation_id, found in results.items()}
    changed = await services.database.read(queries.first_change, stack.id)
    views = [(stack, event.resource_type, event_view(event, stack)) for event in events]
    return [
        {
            **view,
            "resource_properties": opened.get(event.properties or "", {}),
            "after_change": changed is not None and event.time >= changed,
            "operation_id": None if operation is None else operation.id,
            "client_request_token": None if operation is None else operation.client_request_token,
            "policy_results": results_of_events.get(event.id, ()),
        }
        for event, operation, view in zip(events, operations, await ObjectIds(services).views(views), strict=True)
    ]


async def export_list(services: EngineServices, context: RequestContext, request: ListExports) -> Sequence[ExportView]:
    """Return the exports of the project's stacks, by name."""

    def on(connection: Connection) -> tuple[list[tuple[str, str, str, str]], dict[str, list[str]]]:
        exported = lookups.exports_with_stacks(connection, context.project_id)
        return exported, lookups.importers_by_export(connection, context.project_id) if exported else {}

    found, importers = await services.database.read(on)
    return [
        {
            "name": name,
            "value": services.sealer.open(value),
            "stack_name": stack,
            "stack_id": stack_id,
            "importers": importers.get(name, []),
        }
        for name, value, stack, stack_id in found
    ]


async def import_list(services: EngineServices, context: RequestContext, request: ListImports) -> Sequence[str]:
    """Return the names of the stacks that import an export. Raises EntityNotFound if no stack exports it."""
    exported = await services.database.read(lookups.exports_with_stacks, context.project_id)
    if request.name not in {row[0] for row in exported}:
        raise EntityNotFound(f"No stack of this project exports {request.name}.")
    return await services.database.read(lookups.importing_stacks, context.project_id, request.name)


async def template_summary(
    services: EngineServices, context: RequestContext, request: SummarizeTemplate
) -> TemplateSummary:
    """Return the parameters, resource types and capabilities of a template. Raises TemplateInvalid."""
    described = await validate_template(services, context, ValidateTemplate(template=request.template))
    parsed = await parse_template(services, context, request.template)
    return {
        "description": described["Description"],
        "parameters": described["Parameters"],
        "types": sorted({resource.type for resource in parsed.resources.values()}),
        "version": parsed.version.value,
        "metadata": parsed.data.get("Metadata"),
        "transform": parsed.data.get("Transform"),
        "importable": _importable(services, parsed),
    }


def _importable(services: EngineServices, template: Template) -> list[ImportableType]:
    """Return the resources whose objects can be imported, by type."""
    names: dict[str, list[str]] = {}
    type_named = cache(services.types.offered_type)
    for name, resource in template.resources.items():
        kind = type_named(resource.type)
        if kind is not None and not unsuitable(kind):
            names.setdefault(resource.type, []).append(name)
    return [{"resource_type": kind, "names": names[kind]} for kind in sorted(names)]
