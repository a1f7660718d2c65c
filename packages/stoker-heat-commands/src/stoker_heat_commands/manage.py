"""`heat-manage`: maintenance of the database, with Heat's commands and arguments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oslo_config import cfg
from sqlalchemy import Connection

from stoker.base.errors import StokerError
from stoker.cli.terminal.formats import show_rows
from stoker.processes import maintenance
from stoker.processes.lifetime import cluster_config
from stoker.processes.settings import encryption_keys
from stoker.store import claimable, claims, key_proofs, queries
from stoker.store.records import UNFINISHED
from stoker.store.sealing import Sealer
from stoker_foundation.clock import SystemClock, isoformat
from stoker_heat_commands.environment import require_no_heat

NAME = "heat-manage"

_SECONDS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_SERVICES = ("hostname", "binary", "engine_id", "host", "topic", "status", "updated_at")

Argument = tuple[Sequence[str], Mapping[str, Any]]


class Refused(Exception):
    """The command cannot be carried out; its message says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its help, its arguments for argparse, and the function that returns what it prints."""

    help: str
    run: Callable[[cfg.ConfigOpts], str]
    arguments: Sequence[Argument] = ()


def db_sync(config: cfg.ConfigOpts) -> str:
    """Create or upgrade the tables. A revision, if one is given, must be that of this release."""
    revision = config.command.db_revision
    ours = maintenance.versions(config).program
    if revision not in (None, ours, "head"):
        raise Refused(f"The tables can only be upgraded to the revision of this release, {ours}, not to {revision}.")
    return f"The tables have revision {maintenance.sync(config).database}."


def db_version(config: cfg.ConfigOpts) -> str:
    """Return the revision of the tables."""
    return maintenance.versions(config).database or "none"


def purge_deleted(config: cfg.ConfigOpts) -> str:
    """Remove the records of stacks that were deleted some time ago."""
    seconds = config.command.age * _SECONDS[config.command.granularity]
    total, _ = maintenance.purge(config, seconds, config.command.project_id, config.command.batch_size)
    return f"Removed {total} deleted stack{'' if total == 1 else 's'}."


def service(config: cfg.ConfigOpts) -> str:
    """List the engines, or remove the records of those that no longer run."""
    now = SystemClock().now()
    if config.command.service_command == "clean":
        total = maintenance.on_database(config, lambda database: _cleaned(database, now))
        return f"Removed the records of {total} engine{'' if total == 1 else 's'} that no longer run."
    rows = maintenance.on_database(config, lambda database: database.read_now(_services, now))
    show_rows(rows, _SERVICES, "table")
    return ""


def _cleaned(database: Any, now: float) -> int:
    with database.writing() as connection:
        return claims.forget_dead_engines(connection, now)


def _services(connection: Connection, now: float) -> list[dict[str, Any]]:
    alive = claims.living(connection, now)
    return [
        {
            "hostname": engine.host,
            "binary": "heat-engine",
            "engine_id": engine.id,
            "host": engine.host,
            "topic": "engine",
            "status": "up" if engine.id in alive else "down",
            "updated_at": isoformat(engine.seen_at),
        }
        for engine in claims.list_engines(connection)
    ]


def resource_data_list(config: cfg.ConfigOpts) -> str:
    """Return the data that is stored with a resource, decrypted."""
    identifier = config.command.resource_id
    sealer = Sealer(encryption_keys(config))

    def read(connection: Connection) -> Mapping[str, Any] | None:
        key_proofs.require_keys(connection, sealer)
        row = queries.resource_by_uuid(connection, identifier)
        if row is None:
            return None
        data: Mapping[str, Any] = sealer.open(row.state).get("data", {}) if row.state else {}
        return data

    found = maintenance.on_database(config, lambda database: database.read_now(read))
    if found is None:
        raise Refused(f"There is no resource {identifier}. Its ID is the `resource_id` of an event, not its name.")
    return "\n".join(f"{name} = {value}" for name, value in found.items())


def reset_stack_status(config: cfg.ConfigOpts) -> str:
    """Explain why a stack's status need not be reset, and show the stack's operations that are not finished."""
    identifier = config.command.stack_id

    def read(connection: Connection) -> tuple[bool, list[str]]:
        known = queries.stack_by_id(connection, identifier) is not None
        found = claimable.unfinished(connection, UNFINISHED)
        return known, [operation.id for operation, _, _ in found if operation.stack_id == identifier]

    known, running = maintenance.on_database(config, lambda database: database.read_now(read))
    if not known:
        raise Refused(f"There is no stack {identifier}.")
    reason = (
        "Nothing was reset, and nothing needs to be: a stack cannot stay locked or IN_PROGRESS after its engine has "
        "died, because another engine takes its operation over when the lease has expired."
    )
    if not running:
        return f"{reason} No operation is in progress on the stack {identifier}."
    return f"{reason} In progress on the stack {identifier}: `stoker operation show {running[0]}` shows what it awaits."


def update_params(config: cfg.ConfigOpts) -> str:
    """Explain why parameters need no encryption; refuse to decrypt them."""
    if config.command.crypt_operation == "decrypt":
        raise Refused("Hidden parameters cannot be stored without encryption.")
    return (
        "Nothing was changed, and nothing needs to be: hidden parameters are always encrypted. `stoker db reseal` "
        "encrypts them with a new key."
    )


def _not_needed(reason: str) -> Callable[[cfg.ConfigOpts], str]:
    return lambda config: f"Nothing was changed, and nothing needs to be: {reason}"


COMMANDS: Mapping[str, Command] = {
    "db_sync": Command(
        "Create the tables, or upgrade them to this release.",
        db_sync,
        [(["db_revision"], {"nargs": "?", "metavar": "version"})],
    ),
    "db_version": Command("Print the revision of the tables.", db_version),
    "purge_deleted": Command(
        "Remove the records of stacks that were deleted more than AGE (90) days ago.",
        purge_deleted,
        [
            (["age"], {"nargs": "?", "default": 90, "type": int}),
            (["-g", "--granularity"], {"default": "days", "choices": list(_SECONDS), "help": "unit of AGE"}),
            (["-p", "--project-id"], {"help": "only stacks of this project"}),
            (["-b", "--batch_size"], {"default": 20, "type": int, "help": "number of stacks per transaction"}),
        ],
    ),
    "service": Command(
        "List the engines (list), or remove the records of those that no longer run (clean).",
        service,
        [(["service_command"], {"choices": ["list", "clean"]})],
    ),
    "resource_data_list": Command(
        "Print the data that is stored with a resource, decrypted.", resource_data_list, [(["resource_id"], {})]
    ),
    "reset_stack_status": Command(
        "Explain why this is not needed, and what is in progress.", reset_stack_status, [(["stack_id"], {})]
    ),
    "update_params": Command(
        "Explain why this is not needed: hidden parameters are always encrypted.",
        update_params,
        [
            (["crypt_operation"], {"choices": ["encrypt", "decrypt"]}),
            (["previous_encryption_key"], {"nargs": "?"}),
            (["--verbose-update-params"], {"action": "store_true"}),
        ],
    ),
    "migrate_convergence_1": Command(
        "Explain why this is not needed.",
        _not_needed("operations on every stack are distributed among the engines."),
        [(["stack_id"], {})],
    ),
    "migrate_properties_data": Command(
        "Explain why this is not needed.", _not_needed("`heat-manage db_sync` migrates all data.")
    ),
}


def _add_commands(parsers: Any) -> None:
    for name, command in COMMANDS.items():
        parser: argparse.ArgumentParser = parsers.add_parser(name, help=command.help, description=command.help)
        for names, options in command.arguments:
            parser.add_argument(*names, **options)


def register(config: cfg.ConfigOpts) -> None:
    """Register the commands as arguments of the program."""
    config.register_cli_opt(cfg.SubCommandOpt("command", title="Commands", handler=_add_commands))


def main() -> None:
    """Run the command, with the exit status 1 if it cannot be carried out."""
    require_no_heat()
    try:
        config = cluster_config((), sys.argv[1:], NAME, register)
        if config.command.name is None:
            sys.exit(f"{NAME}: name a command: {', '.join(COMMANDS)}")
        output = COMMANDS[config.command.name].run(config)
    except (StokerError, Refused, cfg.Error, OSError) as error:
        sys.exit(f"{NAME}: {error}")
    if output:
        print(output)
