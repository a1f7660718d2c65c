"""What the database of a cluster says about its engines and operations, as rows for the terminal."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection

from stoker.cli.terminal.errors import CommandFailed
from stoker.store import claimable, claims, deaths, queries
from stoker.store.records import IN_PROGRESS, UNFINISHED, EngineRecord, Operation
from stoker.store.time_of_day import time_of_day
from stoker_foundation.clock import isoformat

Row = dict[str, Any]


def engines(connection: Connection) -> list[Row]:
    """Return the engines of a cluster, with their status now, by the clock that they share."""
    alive = claims.living(connection, time_of_day(connection) or time.time())
    return [
        {
            "id": engine.id,
            "host": engine.host,
            "process": engine.process,
            "version": engine.version,
            "status": _engine_status(engine, alive),
            "started": isoformat(engine.started_at),
            "seen": isoformat(engine.seen_at),
        }
        for engine in claims.list_engines(connection)
    ]


def _engine_status(engine: EngineRecord, alive: set[str]) -> str:
    if engine.id in alive:
        return "up"
    return "down" if engine.stopped_at is None else "stopped"


def operations(connection: Connection) -> list[Row]:
    """Return the unfinished operations, with their engines."""
    hosts = {engine.id: engine.host for engine in claims.list_engines(connection)}
    unfinished = claimable.unfinished(connection)
    charged = deaths.charges(connection, [operation.id for operation, _, _ in unfinished])
    steps = queries.resource_summaries(connection, [operation.stack_id for operation, _, _ in unfinished])
    return [
        {
            "id": operation.id,
            "stack": stack,
            "project": project,
            "action": operation.action,
            "status": operation.status,
            "engine": hosts.get(operation.owner or "", operation.owner or ""),
            "claimed": operation.epoch,
            "deaths": charged[operation.id],
            "reason_code": operation.reason_code,
            "steps": sum(row.status == IN_PROGRESS for row in steps.get(operation.stack_id, ())),
            "since": isoformat(operation.started_at or operation.created_at),
        }
        for operation, stack, project in unfinished
    ]


def _steps(connection: Connection, operation: Operation) -> list[Row]:
    """Return the resources in progress, with what each waits for, as far as it is recorded."""
    rows = [row for row in queries.resources_of(connection, operation.stack_id) if row.status == IN_PROGRESS]
    nested = {row.uuid: queries.stack_by_parent_resource(connection, row.uuid) for row in rows}
    return [
        {
            "resource": row.name,
            "type": row.type,
            "action": row.action,
            "waits_for": _awaited(row.physical_id, nested[row.uuid]),
            "since": isoformat(row.started_at or row.created_at),
        }
        for row in rows
    ]


def _awaited(physical_id: str | None, nested: Any) -> str:
    if nested is not None:
        return f"nested stack {nested.name} ({nested.action}_{nested.status})"
    return f"object {physical_id}" if physical_id else "a response of the service"


def _found(connection: Connection, identifier: str) -> Operation:
    operation = queries.operation_by_id(connection, identifier)
    if operation is None:
        raise CommandFailed(f"There is no operation {identifier}.")
    return operation


def operation(connection: Connection, identifier: str) -> Row:
    """Return an operation with its steps and the deaths of engines. Raises CommandFailed if there is none."""
    row = _found(connection, identifier)
    hosts = {engine.id: engine.host for engine in claims.list_engines(connection)}
    return {
        "id": row.id,
        "stack_id": row.stack_id,
        "action": row.action,
        "status": row.status,
        "reason": row.reason,
        "reason_code": row.reason_code,
        "engine": hosts.get(row.owner or "", row.owner),
        "claimed": row.epoch,
        "request_id": row.request_id,
        "started": isoformat(row.started_at) if row.started_at else None,
        "finished": isoformat(row.finished_at) if row.finished_at else None,
        "parent_operation": row.parent_operation,
        "deaths": [
            {
                "engine": hosts.get(death.engine_id, death.engine_id),
                "verdict": death.verdict,
                "survived": round(death.survived, 1),
                "recorded": isoformat(death.recorded_at),
            }
            for death in deaths.deaths_of(connection, row.id)
        ],
        "steps": _steps(connection, row) if row.status in UNFINISHED else [],
    }
