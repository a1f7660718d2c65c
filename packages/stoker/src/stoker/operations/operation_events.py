"""The events of operations, with what the checks of their plans have found before the first change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound
from stoker.contract.approvals import PolicyResultView
from stoker.contract.events import DatedEvent
from stoker.contract.operation_events import (
    DatedOperation,
    ListOperationEvents,
    OperationEvent,
    OperationEventPage,
)
from stoker.contract.request import by_name
from stoker.contract.stacks import CREATES_CHANGE_SET
from stoker.engine.plan_policies import policy as plan_policies
from stoker.engine.records.services import EngineServices
from stoker.operations.change_set_lookup import change_set_rows
from stoker.operations.lookup import find_stack
from stoker.operations.policy_results import objects, results_of_change_set, results_of_operations
from stoker.operations.query_api_views import described_events, events_with_operations
from stoker.plugins.preflight import Severity
from stoker.store import change_sets, event_lists, operation_history, queries
from stoker.store.operation_history import PastOperation
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Event, Stack
from stoker.store.survey_records import ChangeSet


async def operation_events(
    services: EngineServices, context: RequestContext, request: ListOperationEvents
) -> OperationEventPage:
    """Return a page of events, newest first. Raises BadValue if nothing is named, EntityNotFound."""
    if request.change_set is not None:
        rows = await change_set_rows(services, context, request.stack, request.change_set)
        return await _of_change_sets(services, rows, failed=request.failed)
    if request.operation_id is not None:
        stack_id = await _stack_of_operation(services, context, request)
        if isinstance(stack_id, ChangeSet):
            return await _of_change_sets(services, [stack_id], failed=request.failed)
        return await _of_stack(services, await find_stack(services, context, {"id": stack_id}, deleted=True), request)
    if request.stack is None:
        raise BadValue("Name a stack, a change set or an operation.")
    try:
        stack = await find_stack(services, context, by_name(request.stack), deleted=True)
    except EntityNotFound:
        rows = await change_set_rows(services, context, request.stack, None)
        if not rows:
            raise
        return await _of_change_sets(services, rows, failed=request.failed)
    return await _of_stack(services, stack, request)


async def _stack_of_operation(
    services: EngineServices, context: RequestContext, request: ListOperationEvents
) -> str | ChangeSet:
    """Return the ID of the stack of an operation; or the change set, if the operation has made one."""
    identifier = request.operation_id or ""
    unknown = EntityNotFound(f"The Operation ({identifier}) could not be found.")
    row = await services.database.read(change_sets.by_id, identifier)
    if row is not None and row.project_id == context.project_id:
        return row
    operation = await services.database.read(queries.operation_by_id, identifier)
    if operation is None:
        raise unknown
    try:
        stack = await find_stack(services, context, {"id": operation.stack_id}, deleted=True)
        named = request.stack and (await find_stack(services, context, by_name(request.stack), deleted=True)).id
    except EntityNotFound:
        raise unknown from None
    if named and named != stack.id:
        raise unknown
    return stack.id


# -- of stacks ----------------------------------------------------------------------------------------------------


async def _of_stack(services: EngineServices, stack: Stack, request: ListOperationEvents) -> OperationEventPage:
    events, more, past = await services.database.read(_read, stack, request)
    views = await described_events(services, stack, events, past)
    found: list[OperationEvent] = []
    for view, operation in zip(views, past, strict=True):
        if operation is None or request.operation_id not in (None, operation.id):
            continue
        event = _entry(stack, operation, view["id"], view["time"], event=view)
        if not _has_findings_before(event, failed=request.failed):
            found.append(event)
            continue
        findings = _findings(await _report(services, operation), failed=request.failed)
        entries = [
            *_of_policies(stack, operation, view["time"], await _results(services, view, operation), request.failed),
            *(
                _entry(stack, operation, f"{operation.id}-{number}", view["time"], finding=finding)
                for number, finding in enumerate(findings)
            ),
        ]
        found += [event, *entries] if request.failed else [*entries, event]
    return {"events": found, "marker": events[-1].id if more else None}


def _read(
    connection: Connection, stack: Stack, request: ListOperationEvents
) -> tuple[list[Event], bool, list[PastOperation | None]]:
    """Return a page of events, whether there are more, and the operation of each."""
    query = event_lists.EventQuery(
        stack_ids=[stack.id],
        filters={"status": [FAILED]} if request.failed else {},
        limit=request.limit + 1,
        marker=request.marker,
        descending=True,
    )
    if request.operation_id is not None:
        operation = queries.operation_by_id(connection, request.operation_id)
        assert operation is not None
        until = operation_history.last_event_time(connection, operation)
        query = replace(query, since=operation.created_at, until=until)
    events, past = events_with_operations(connection, stack, query)
    return events[: request.limit], len(events) > request.limit, past[: request.limit]


def _has_findings_before(entry: OperationEvent, *, failed: bool) -> bool:
    """Return whether what the checks have found is listed next to an event: at the beginning of the operation, or, if
    only failures are listed, at its failure.
    """
    event = entry["event"]
    own = event is not None and event["physical_id"] == event["stack_id"]
    return own and event is not None and event["status"] == (FAILED if failed else IN_PROGRESS)


async def _report(services: EngineServices, operation: PastOperation) -> Mapping[str, object]:
    """Return the stored plan of an operation with the report of its checks; empty if there is none."""
    row = await services.database.read(queries.operation_by_id, operation.id)
    opened: Mapping[str, object] = services.sealer.open(row.plan) if row is not None and row.plan else {}
    return opened


async def _results(services: EngineServices, view: DatedEvent, operation: PastOperation) -> Sequence[PolicyResultView]:
    """Return the results of policies for the plan of an operation; the event of its beginning has it."""
    if view["status"] == IN_PROGRESS:
        return view.get("policy_results", ())
    return (await results_of_operations(services, [operation.id])).get(operation.id, ())


def _of_policies(
    stack: Stack | Mapping[str, str],
    operation: PastOperation,
    time: float,
    results: Sequence[PolicyResultView],
    failed: bool,
) -> Iterator[OperationEvent]:
    """Yield entries of the policies that were not satisfied; with `failed`, of those that refuse the plan."""
    for result in results:
        if objects(result) and not (failed and result["verdict"] == plan_policies.EnforcementLevel.WARN):
            yield _entry(stack, operation, result["id"], time, policy_result=result)


def _findings(plan: Mapping[str, Any], *, failed: bool) -> Iterator[dict[str, object]]:
    """Yield what the checks of a plan have found, with the types of the resources."""
    types = {step["path"]: step["type"] for step in plan.get("steps", ())}
    for result in (plan.get("preflight") or {}).get("results", ()):
        if not failed or result["verdict"] == Severity.FAIL.value:
            yield {**result, "type": types.get(result["path"])}


# -- of change sets -----------------------------------------------------------------------------------------------


async def _of_change_sets(services: EngineServices, rows: Sequence[ChangeSet], *, failed: bool) -> OperationEventPage:
    """Return what happened when change sets were made, newest first."""
    found: list[OperationEvent] = []
    for row in reversed(rows):
        status = FAILED if row.status == FAILED else COMPLETE
        operation = PastOperation(
            row.id, row.stack_id, CREATES_CHANGE_SET, status, row.reason, row.created_at, row.created_at
        )
        stack = {"id": row.stack_id, "name": row.stack_name, "project_id": row.project_id}
        held = services.sealer.open(row.body)
        report = {**held["plan"], "preflight": held.get("preflight")}
        if not failed or status == FAILED:
            found.append(_entry(stack, operation, row.id, row.created_at))
        found += _of_policies(stack, operation, row.created_at, await results_of_change_set(services, row), failed)
        found += [
            _entry(stack, operation, f"{row.id}-{number}", row.created_at, finding=finding)
            for number, finding in enumerate(_findings(report, failed=failed))
        ]
    return {"events": found, "marker": None}


# -- views --------------------------------------------------------------------------------------------------------


def _entry(
    stack: Stack | Mapping[str, str],
    operation: PastOperation,
    identifier: str,
    time: float,
    event: DatedEvent | None = None,
    finding: dict[str, object] | None = None,
    policy_result: PolicyResultView | None = None,
) -> OperationEvent:
    known = (
        stack if isinstance(stack, Mapping) else {"id": stack.id, "name": stack.name, "project_id": stack.project_id}
    )
    return {
        "id": identifier,
        "operation": _dated(operation),
        "stack_id": known["id"],
        "stack_name": known["name"],
        "project_id": known["project_id"],
        "time": time,
        "event": event,
        "finding": finding,
        "policy_result": policy_result,
    }


def _dated(operation: PastOperation) -> DatedOperation:
    return {
        "id": operation.id,
        "action": operation.action,
        "continues": operation.continues,
        "status": operation.status,
        "reason": operation.reason,
        "created_at": operation.created_at,
        "ended_at": operation.finished_at,
        "client_request_token": operation.client_request_token,
    }
