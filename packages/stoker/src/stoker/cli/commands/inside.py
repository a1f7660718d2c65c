"""`stoker service` and `operation`: the state of a cluster, read from its database without an API process."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from stoker.cli.commands.database import config_files_option, embedded_option, with_database
from stoker.cli.framework import Commands, listing, record
from stoker.cli.terminal.formats import show_rows
from stoker.processes.directory import DataDirectory

if TYPE_CHECKING:
    from stoker.store.database import Database
    from stoker.store.records import Operation

Row = dict[str, Any]

_OPERATION = ("id", "stack", "action", "status", "engine", "claimed", "deaths", "steps", "since")
_STEP = ("resource", "type", "action", "waits_for", "since")


@click.group("service", cls=Commands)
def service() -> None:
    """Show the engines of a cluster."""


@listing("list", "host", "process", "version", "status", "seen", "id", more=("started",))
@config_files_option
def list_services(config_files: tuple[str, ...]) -> Iterable[Row]:
    """List the engines and their status: up, stopped (shut down normally), or down (killed or disconnected).

    \b
    Examples:
      stoker service list --config-file heat.conf
      stoker service list --config-file heat.conf -f json
    """
    from stoker.cli.views import cluster_state

    return with_database(config_files, lambda database: database.read_now(cluster_state.engines))


service.add_command(list_services)


@click.group("operation", cls=Commands)
def operation() -> None:
    """Show unfinished operations, and those that were set aside because engines died while running them."""


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
      stoker operation list --data-dir ./here -c id -c stack -c reason_code
      stoker operation list --config-file heat.conf -f value -c id
    """
    from stoker.cli.views import cluster_state

    return with_database(config_files, lambda database: database.read_now(cluster_state.operations), directory)


operation.add_command(list_operations)


@record("show")
@click.argument("identifier", metavar="OPERATION")
@config_files_option
@embedded_option
def show_operation(identifier: str, config_files: tuple[str, ...], directory: DataDirectory | None) -> Row:
    """Show an operation: its engine, each step in progress with what it waits for and since when, and the deaths of
    engines that ran it.

    \b
    Examples:
      stoker operation show 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
    """
    from stoker.cli.views import cluster_state

    return with_database(
        config_files, lambda database: database.read_now(cluster_state.operation, identifier), directory
    )


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
      stoker operation resume 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
    """

    from stoker.store import claimable

    def resume(database: Database) -> Operation:
        with database.writing() as connection:
            return claimable.resume(connection, identifier, time.time())

    click.echo(with_database(config_files, resume, directory).id)


@operation.command("watch")
@click.argument("identifier", metavar="OPERATION")
@click.option(
    "--interval", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Seconds between checks."
)
@config_files_option
@embedded_option
def watch_operation(
    identifier: str, interval: float, config_files: tuple[str, ...], directory: DataDirectory | None
) -> None:
    """Show the steps of an operation whenever they change, until it has ended.

    \b
    Examples:
      stoker operation watch 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
      stoker operation watch --data-dir here 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
    """
    from stoker.cli.views import cluster_state
    from stoker.store.records import UNFINISHED

    before: object = None
    while True:
        shown = with_database(
            config_files, lambda database: database.read_now(cluster_state.operation, identifier), directory
        )
        now = (shown["status"], shown["engine"], shown["steps"])
        if now != before:
            click.echo(f"{shown['action']} {shown['status']} on {shown['engine'] or 'no engine'}")
            if shown["steps"]:
                show_rows(shown["steps"], _STEP, "table")
            before = now
        if shown["status"] not in UNFINISHED:
            return
        time.sleep(interval)
