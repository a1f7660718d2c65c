"""Find change sets, and show them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import EntityNotFound
from stoker.contract.change_sets import (
    ChangeSetDetails,
    ChangeSetIdentity,
    ChangeSetView,
    FutureStack,
    ListChangeSets,
    ListFutureStacks,
    ShowChangeSet,
)
from stoker.contract.request import by_name
from stoker.engine.planning.plan import read_plan
from stoker.engine.records.services import EngineServices
from stoker.operations.lookup import find_stack
from stoker.store import change_sets
from stoker.store.records import COMPLETE, FAILED, UNFINISHED
from stoker.store.survey_records import ChangeSet

_IDENTIFIER = re.compile(r"(arn:openstack:heat::(?P<project>[^:/]*):changeSet/(?P<name>[^/]+)/)?(?P<id>[-0-9a-f]{36})")
_EXECUTIONS = {
    COMPLETE: "EXECUTE_COMPLETE",
    FAILED: "EXECUTE_FAILED",
    **dict.fromkeys(UNFINISHED, "EXECUTE_IN_PROGRESS"),
}


async def change_set_show(
    services: EngineServices, context: RequestContext, request: ShowChangeSet
) -> ChangeSetDetails:
    """Return a change set by its name and that of its stack, or by its id or ARN. Raises EntityNotFound.

    `plan` is that of a preview, including nested stacks if the change set has `nested`; `physical_ids` has the objects
    that its steps act on, by the steps' keys.
    """
    row = await find_change_set(services, context, request.name, request.stack)
    held = services.sealer.open(row.body)
    return {
        **_view(row, await execution_of(services, row)),
        "plan": read_plan(held["plan"]),
        "physical_ids": {key: held["physical_ids"].get(uuid) for key, uuid in held["uuids"].items() if uuid},
        "parameters": held["parameters"],
        "tags": held["tags"],
        "template": held["template"],
        "settings": held["settings"],
        "nested": held["nested"],
        # Earlier releases have stored nothing of the following.
        "deployment_mode": held.get("deployment_mode"),
        "drift": held.get("drift"),
        "values": held.get("values", {}),
        "looked_at": held.get("looked_at"),
        "costs": held.get("costs"),
    }


async def change_set_list(
    services: EngineServices, context: RequestContext, request: ListChangeSets
) -> Sequence[ChangeSetView]:
    """Return a stack's change sets, oldest first.

    Raises EntityNotFound if there is neither the stack nor a change set.
    """
    rows = await _all_of(services, context, request.stack)
    executions = await services.database.read(_executions, rows)
    return [_view(row, executions[row.id]) for row in rows]


async def stack_to_be(
    services: EngineServices, context: RequestContext, request: ListFutureStacks
) -> Sequence[FutureStack]:
    """Return stacks that have change sets but were not created yet: all of the project, or the one with this name or
    id.
    """
    rows = await of_stack_to_be(services, context, request.stack)
    first = {row.stack_id: row for row in reversed(rows)}
    return [
        {"id": row.stack_id, "name": row.stack_name, "project_id": row.project_id, "created_at": row.created_at}
        for row in first.values()
    ]


def _view(row: ChangeSet, execution: str) -> ChangeSetView:
    return {
        **identity_of(row),
        "kind": row.kind,
        "description": row.description,
        "status": row.status,
        "status_reason": row.reason,
        "execution_status": execution,
        "created_at": row.created_at,
    }


def identity_of(row: ChangeSet) -> ChangeSetIdentity:
    """Return what names a change set."""
    return {
        "id": row.id,
        "name": row.name,
        "stack_id": row.stack_id,
        "stack_name": row.stack_name,
        "project_id": row.project_id,
    }


async def execution_of(services: EngineServices, row: ChangeSet) -> str:
    """Return whether the change set can be executed, or the state of its execution."""
    return (await services.database.read(_executions, [row]))[row.id]


def _executions(connection: Connection, rows: Sequence[ChangeSet]) -> dict[str, str]:
    """Return the same of several change sets, by their IDs."""
    begun, newest = change_sets.progress(connection, rows)

    def execution(row: ChangeSet) -> str:
        if row.operation is not None:
            return _EXECUTIONS.get(begun.get(row.operation, ""), "EXECUTE_FAILED")
        if row.status == FAILED:
            return "UNAVAILABLE"
        return "AVAILABLE" if newest.get(row.stack_id) == row.base else "OBSOLETE"

    return {row.id: execution(row) for row in rows}


async def find_change_set(services: EngineServices, context: RequestContext, name: str, stack: str | None) -> ChangeSet:
    """Return a change set by its name and that of its stack, or by its ID or ARN. Raises EntityNotFound."""
    identified = _IDENTIFIER.fullmatch(name)
    row = None
    if identified is not None:
        row = await services.database.read(change_sets.by_id, identified["id"])
    elif stack is not None:
        row = next((each for each in await _all_of(services, context, stack) if each.name == name), None)
    if row is None or row.project_id != context.project_id:
        raise EntityNotFound(f"The change set ({name}) could not be found.")
    return row


async def change_set_rows(
    services: EngineServices, context: RequestContext, stack: str | None, name: str | None
) -> list[ChangeSet]:
    """Return the change set with this name, ID or ARN; without one, those of a stack that was never created.

    Raises EntityNotFound for a change set that does not exist.
    """
    if name is None:
        return await of_stack_to_be(services, context, stack)
    return [await find_change_set(services, context, name, stack)]


async def _all_of(services: EngineServices, context: RequestContext, stack: str) -> list[ChangeSet]:
    rows = await of_stack_to_be(services, context, stack)
    if rows:
        return rows
    found = await find_stack(services, context, by_name(stack), deleted=True)
    return await services.database.read(change_sets.of_stack, found.id)


async def of_stack_to_be(services: EngineServices, context: RequestContext, stack: str | None) -> list[ChangeSet]:
    """Return the change sets of stacks that were never created: all of the project, or those of one stack."""
    named = stack.rpartition("/")[2] if stack is not None and stack.startswith("arn:") else stack
    return await services.database.read(change_sets.of_stacks_to_be, context.project_id, named)
