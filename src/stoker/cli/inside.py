"""`stoker service` and `operation`: the state of a cluster, read from its database without an API process."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import click
from sqlalchemy import Connection

from stoker.base.clock import SystemClock, isoformat
from stoker.cli.database import config_files_option, embedded_option, with_database
from stoker.cli.errors import CommandFailed
from stoker.cli.formats import show_rows
from stoker.cli.framework import Commands, listing, record
from stoker.processes.directory import DataDirectory
from stoker.store import claims, deaths, queries
from stoker.store.database import Database
from stoker.store.records import IN_PROGRESS, UNFINISHED, EngineRecord, Operation

Row = dict[str, Any]

_OPERATION = ("id", "stack", "action", "status", "engine", "claimed", "deaths", "steps", "since")
_STEP = ("resource", "type", "action", "waits_for", "since")


@click.group("service", cls=Commands)
def service() -> None:
    """Show the engines of a cluster."""


def _engines(connection: Connection, now: float) -> list[Row]:
    alive = claims.living(connection, now)
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


@listing("list", "host", "process", "version", "status", "seen", "id", more=("started",))
@config_files_option
def list_services(config_files: tuple[str, ...]) -> Iterable[Row]:
    """List the engines and their status: up, stopped (shut down normally), or down (killed or disconnected).

    \b
    Examples:
      stoker service list --config-file heat.conf
      stoker service list --config-file heat.conf -f json
    """
    now = SystemClock().now()
    return with_database(config_files, lambda database: database.read_now(_engines, now))


service.add_command(list_services)


@click.group("operation", cls=Commands)
def operation() -> None:
    """Show unfinished operations, and those that were set aside because engines died while running them."""


def _operations(connection: Connection) -> list[Row]:
    hosts = {engine.id: engine.host for engine in claims.list_engines(connection)}
    unfinished = claims.unfinished(connection)
    charged = deaths.charges(connection, [found.id for found, _, _ in unfinished])
    steps = queries.resource_summaries(connection, [found.stack_id for found, _, _ in unfinished])
    return [
        {
            "id": found.id,
            "stack": stack,
            "project": project,
            "action": found.action,
            "status": found.status,
            "engine": hosts.get(found.owner or "", found.owner or ""),
            "claimed": found.epoch,
            "deaths": charged[found.id],
            "reason_code": found.reason_code,
            "steps": sum(row.status == IN_PROGRESS for row in steps.get(found.stack_id, ())),
            "since": isoformat(found.started_at or found.created_at),
        }
        for found, stack, project in unfinished
    ]


@listing("list", *_OPERATION, more=("project", "reason_code"))
@config_files_option
@embedded_option
def list_operations(config_files: tuple[str, ...], directory: DataDirectory | None) -> Iterable[Row]:
    """List unfinished operations: the engine that runs each, how often it was claimed, how many engines in a row died
    while running it, and how many steps are in progress.

    Operations that were set aside are FAILED, with the reason code engine_deaths; they are listed until the next
    operation on their stack.

    \b
    Examples:
      stoker operation list --config-file heat.conf
      stoker operation list --data-dir ~/.local/share/stoker -c id -c stack -c reason_code
      stoker operation list --config-file heat.conf -f value -c id
    """
    return with_database(config_files, lambda database: database.read_now(_operations), directory)


operation.add_command(list_operations)


def _steps(connection: Connection, found: Operation) -> list[Row]:
    """Return the resources in progress, with what each waits for, as far as it is recorded."""
    rows = [row for row in queries.resources_of(connection, found.stack_id) if row.status == IN_PROGRESS]
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


def _shown(connection: Connection, identifier: str) -> Row:
    found = _found(connection, identifier)
    hosts = {engine.id: engine.host for engine in claims.list_engines(connection)}
    return {
        "id": found.id,
        "stack_id": found.stack_id,
        "action": found.action,
        "status": found.status,
        "reason": found.reason,
        "reason_code": found.reason_code,
        "engine": hosts.get(found.owner or "", found.owner),
        "claimed": found.epoch,
        "request_id": found.request_id,
        "started": isoformat(found.started_at) if found.started_at else None,
        "finished": isoformat(found.finished_at) if found.finished_at else None,
        "parent_operation": found.parent_operation,
        "deaths": [
            {
                "engine": hosts.get(death.engine_id, death.engine_id),
                "verdict": death.verdict,
                "survived": round(death.survived, 1),
                "recorded": isoformat(death.recorded_at),
            }
            for death in deaths.deaths_of(connection, found.id)
        ],
        "steps": _steps(connection, found) if found.status in UNFINISHED else [],
    }


@record("show")
@click.argument("identifier", metavar="OPERATION")
@config_files_option
@embedded_option
def show_operation(identifier: str, config_files: tuple[str, ...], directory: DataDirectory | None) -> Row:
    """Show an operation: its engine, each step in progress with what it waits for and since when, and the deaths of
    engines that ran it.

    \b
    Examples:
      stoker operation show 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e --config-file heat.conf
    """
    return with_database(config_files, lambda database: database.read_now(_shown, identifier), directory)


operation.add_command(show_operation)


@operation.command("resume")
@click.argument("identifier", metavar="OPERATION")
@config_files_option
@embedded_option
def resume_operation(identifier: str, config_files: tuple[str, ...], directory: DataDirectory | None) -> None:
    """Run an operation that was set aside again, on the next free engine.

    For an operation of a nested stack, the operation of the outermost stack is run again. The ID of the new operation
    is printed.

    \b
    Examples:
      stoker operation resume 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e --config-file heat.conf
    """

    def resume(database: Database) -> Operation:
        with database.writing() as connection:
            return claims.resume(connection, identifier, SystemClock().now())

    click.echo(with_database(config_files, resume, directory).id)


@operation.command("watch")
@click.argument("identifier", metavar="OPERATION")
@click.option(
    "--interval", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Seconds between checks."
)
@config_files_option
def watch_operation(identifier: str, interval: float, config_files: tuple[str, ...]) -> None:
    """Show the steps of an operation whenever they change, until it has ended.

    \b
    Examples:
      stoker operation watch 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e --config-file heat.conf
    """
    before: Any = None
    while True:
        shown = with_database(config_files, lambda database: database.read_now(_shown, identifier))
        now = (shown["status"], shown["engine"], shown["steps"])
        if now != before:
            click.echo(f"{shown['action']} {shown['status']} on {shown['engine'] or 'no engine'}")
            if shown["steps"]:
                show_rows(shown["steps"], _STEP, "table")
            before = now
        if shown["status"] not in UNFINISHED:
            return
        time.sleep(interval)
