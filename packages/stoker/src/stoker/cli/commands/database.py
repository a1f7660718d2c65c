"""`stoker db …`: the tables of a cluster's database, resealing, purging, and what was lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stoker.cli.framework import Commands, InputPath, Rows, data_directory_option, listing
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say
from stoker.processes.directory import DataDirectory

if TYPE_CHECKING:
    from oslo_config import cfg

    from stoker.engine.inspection.survey import ExpectedObject, Found, SurveyResult
    from stoker.processes.mark_files import MarkFiles
    from stoker.store.database import Database
    from stoker.store.key_rotation import Key
    from stoker.store.mark_records import Difference

Result = TypeVar("Result")
Command = TypeVar("Command", bound=Callable[..., Any])

_SECONDS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_WHERE = (
    "Name the cluster's configuration with --config-file, or, where the command has it, the directory of an embedded "
    "Stoker with --data-dir. An embedded Stoker maintains its own database; "
    "`stoker status` and `stoker stack history NAME` show what it does."
)


@click.group("db", cls=Commands)
def database() -> None:
    """Maintain the database that the engines share."""


def _config_files(explanation: str) -> Callable[[Command], Command]:
    """Return a decorator that adds `--config-file`, repeatable, with this explanation."""
    return click.option(
        "--config-file",
        "config_files",
        multiple=True,
        type=InputPath(dir_okay=False),
        metavar="FILE",
        help=f"File in the format of heat.conf{explanation}",
    )


config_files_option = _config_files("; repeatable.  [default: heat.conf in the usual places]")
_marked_cluster_option = _config_files(", of a cluster on this machine; repeatable.")
"""Instead of the directory of an embedded Stoker."""


def embedded_option(function: Command) -> Command:
    """Add `--data-dir`, passed as `directory`: None unless it is given."""

    def directory(_context: click.Context, _option: click.Parameter, value: Path | None) -> DataDirectory | None:
        return DataDirectory(value.expanduser().absolute()) if value else None

    return click.option(
        "--data-dir",
        "directory",
        type=click.Path(file_okay=False, path_type=Path),
        envvar="STOKER_DATA_DIR",
        callback=directory,
        help="Directory of an embedded Stoker, whose database is used instead of the configured one.",
    )(function)


def database_config(config_files: tuple[str, ...], directory: DataDirectory | None = None) -> cfg.ConfigOpts:
    """Load the configuration of the database. Raises CommandFailed without a database.

    `directory` is that of an embedded Stoker, whose database is used instead.
    """
    from stoker.base.config import load_config  # commands on the database need nothing of the other processes

    config = load_config((), list(config_files) or None)
    if directory is not None:
        if directory.set_up() is None:
            raise CommandFailed(f"There is no Stoker in {directory.path}. Start one with `stoker up`.")
        config.set_override("connection", directory.database_url, group="database")
    if not config.database.connection:
        raise CommandFailed(f"No database is configured ([database] connection). {_WHERE}")
    return config


def with_database(
    config_files: tuple[str, ...], work: Callable[[Database], Result], directory: DataDirectory | None = None
) -> Result:
    """Return the result of `work` on the tables. Raises Invalid if they do not fit this release, and CommandFailed."""
    from stoker.processes import maintenance

    return maintenance.on_database(database_config(config_files, directory), work)


@database.command("sync")
@config_files_option
def sync(config_files: tuple[str, ...]) -> None:
    """Create the tables, or upgrade them to this release. Engines of the previous release continue to work.

    \b
    Examples:
      stoker db sync --config-file heat.conf
    """
    from stoker.processes import maintenance

    click.echo(f"The tables have revision {maintenance.sync(database_config(config_files)).database}.")


@database.command("version")
@config_files_option
def version(config_files: tuple[str, ...]) -> None:
    """Print the revision of the tables.

    \b
    Examples:
      stoker db version --config-file heat.conf
    """
    from stoker.processes import maintenance

    click.echo(maintenance.versions(database_config(config_files)).database or "none")


@database.command("check")
@config_files_option
def check(config_files: tuple[str, ...]) -> None:
    """Check whether this release can work with the tables; the exit status is 1 if it cannot.

    \b
    Examples:
      stoker db check --config-file heat.conf
    """
    from stoker.processes import maintenance

    versions = maintenance.versions(database_config(config_files))
    say(f"database {versions.database or 'none'}, this release {versions.program}: {versions.compatibility.value}")
    if not versions.compatibility.usable:
        sys.exit(1)


@database.command("reseal")
@config_files_option
def reseal(config_files: tuple[str, ...]) -> None:
    """Encrypt all stored secrets with the first key of auth_encryption_key.

    When all engines have that key first and this command finds nothing to reseal, the older key can be removed.

    \b
    Examples:
      stoker db reseal --config-file heat.conf
    """
    from stoker.processes.lifetime import cluster_config
    from stoker.processes.settings import encryption_keys
    from stoker.store import key_proofs, key_rotation
    from stoker.store.sealing import Sealer

    sealer = Sealer(encryption_keys(cluster_config(config_files)))

    def renew(opened: Database) -> int:
        opened.read_now(key_proofs.require_keys, sealer)
        total = 0
        for column in key_rotation.sealed_columns():
            after: Key | None = None
            while True:
                with opened.writing() as connection:
                    changed, after = key_rotation.reseal(connection, sealer, column, after)
                total += changed
                if after is None:
                    break
        return total

    total = with_database(config_files, renew)
    click.echo(f"Resealed {total} value{'' if total == 1 else 's'}.")


@database.command("purge")
@config_files_option
@embedded_option
@click.argument("age", type=click.IntRange(min=0), default=90)
@click.option(
    "-g", "--granularity", type=click.Choice(list(_SECONDS)), default="days", show_default=True, help="Unit of AGE."
)
@click.option("-p", "--project-id", help="Only stacks of this project.")
@click.option(
    "-b",
    "--batch-size",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Number of stacks per transaction.",
)
def purge(
    config_files: tuple[str, ...],
    directory: DataDirectory | None,
    age: int,
    granularity: str,
    project_id: str | None,
    batch_size: int,
) -> None:
    """Remove stacks that were deleted more than AGE (90) days ago: resources, events, operations, snapshots,
    and templates and files that no other stack uses.

    Engines without a heartbeat for a day are removed, too. The file of an embedded Stoker shrinks. Engines do the same
    by themselves ([engine] deleted_stacks_days, deleted_stacks_kept).

    \b
    Examples:
      stoker db purge 30 --config-file heat.conf
      stoker db purge 30 --data-dir ~/.local/share/stoker
      stoker db purge 12 --granularity hours --config-file heat.conf
    """
    from stoker.processes import maintenance

    config = database_config(config_files, directory)
    total, compacted = maintenance.purge(config, age * _SECONDS[granularity], project_id, batch_size)
    click.echo(f"Removed {total} deleted stack{'' if total == 1 else 's'}.")
    if not compacted:
        say("The file is in use and was not rewritten; run this again after `stoker down` to make it smaller.")


_ADVICE = (
    "missing, orphaned: the objects belong to no stack; adopt them (external_id, `stoker stack adopt`), or delete.\n"
    "deleted, lost: the objects were deleted or replaced; delete the stack, or look at `stoker drift` and deploy the "
    "latest template again.\n"
    "unknown: nothing is known about these objects; ask their services."
)
_ACCEPT = (
    "What changed in the last {seconds:.0f} seconds before the loss may be missing here. When all is done, "
    "`stoker db accept` ends the warnings."
)
_WITHOUT_MARK = (
    "{known}, so the stacks that were lost are not known by name: only the cloud was compared with the database."
)


def _mark_files(directory: DataDirectory, config_files: tuple[str, ...]) -> MarkFiles:
    from stoker.processes.mark_files import MarkFiles

    if config_files:
        from sqlalchemy import make_url

        config = database_config(config_files)
        return MarkFiles.of_cluster(make_url(config.database.connection), config.engine.state_directory)
    set_up = directory.set_up()
    if set_up is None:
        raise CommandFailed(f"There is no Stoker in {directory.path}. Start one with `stoker up`.")
    return MarkFiles.of(directory, set_up.cloud)


def _none(rows: Rows) -> bool:
    return not rows


@listing(
    "compare", "stack_name", "finding", "resource", "resource_type", "physical_id", "cloud", good=_none,
    more=("stack_id", "project_id", "changed_at", "recorded_at", "reason"), spare=("cloud",),
)  # fmt: skip
@data_directory_option
@_marked_cluster_option
def compare(directory: DataDirectory, config_files: tuple[str, ...]) -> Rows:
    """List what a database lacks after it was restored from a backup, and compare it with the cloud.

    The stacks that are missing, changed or deleted since then, with the objects that belong to no stack any more
    (orphaned), and those that the database still has (lost). Each list of the cloud's services is read once in each
    project: objects with names that Stoker chooses which no resource has are orphaned too, and recorded objects that do
    not exist are lost. What could not be read is unknown. The exit status is 1 if there is anything to list. For a
    cluster, run it on a machine on which an engine runs.

    \b
    Examples:
      stoker db compare
      stoker db compare --data-dir ./here -f json
      stoker db compare --config-file heat.conf
    """
    from stoker.processes import comparison  # most commands need no engine
    from stoker.processes.mark_files import MARK_SECONDS

    files = _mark_files(directory, config_files)
    gap = files.gap()
    sought = [each for difference in gap.differences for each in _sought(difference)] if gap else []
    if config_files:
        surveyed = comparison.compare_cluster(config_files, sought)
    else:
        surveyed = comparison.compare_embedded(directory, sought)
    rows = [row for difference in gap.differences for row in _rows(difference, surveyed)] if gap else []
    found_objects = {(row["finding"], row["project_id"], row["physical_id"]) for row in rows}
    rows += [
        row
        for row in map(_row, surveyed.found)
        if (row["finding"], row["project_id"], row["physical_id"]) not in found_objects
    ]
    if gap is None:
        known = "No older database was found when the engine started" if files.mark() else "There is no mark yet"
        say(_WITHOUT_MARK.format(known=known), err=True)
    if rows:
        say(_ADVICE, err=True)
    if gap is not None:
        say(_ACCEPT.format(seconds=MARK_SECONDS), err=True)
    return rows


def _sought(difference: Difference) -> list[ExpectedObject]:
    """Return the objects about which the cloud is asked although the database does not have them any more, or does."""
    from stoker.engine.inspection.survey import ExpectedObject

    items = (*difference.orphaned, *difference.lost)
    return [ExpectedObject(difference.project_id, item.type, item.physical_id) for item in items]


def _rows(difference: Difference, surveyed: SurveyResult) -> Rows:
    """Return a row for a stack, and one for each of its objects, with what the cloud says about it."""
    from stoker.engine.inspection.survey import ExpectedObject
    from stoker.store.mark_records import Item
    from stoker_foundation.clock import isoformat

    findings = [(difference.finding.value, Item("", "", ""))]
    findings += [("orphaned", item) for item in difference.orphaned] + [("lost", item) for item in difference.lost]
    moments = {"changed_at": difference.marked_at, "recorded_at": difference.recorded_at}
    presences = {
        item: surveyed.sought[ExpectedObject(difference.project_id, item.type, item.physical_id)].value
        for _, item in findings[1:]
    }
    return [
        {
            "stack_name": difference.name,
            "finding": finding,
            "resource": item.resource,
            "resource_type": item.type,
            "physical_id": item.physical_id,
            "cloud": presences.get(item, ""),
            "stack_id": difference.stack_id,
            "project_id": difference.project_id,
            **{name: None if moment is None else isoformat(moment) for name, moment in moments.items()},
            "reason": "",
        }
        for finding, item in findings
    ]


def _row(found: Found) -> dict[str, object]:
    """Return the row of something that the comparison with the cloud has found."""
    presence = {"orphaned": "exists", "lost": "absent"}
    return {
        "stack_name": found.stack,
        "finding": found.finding.value,
        "resource": found.resource,
        "resource_type": found.type,
        "physical_id": found.physical_id,
        "cloud": presence.get(found.finding.value, "unknown"),
        "stack_id": found.stack_id,
        "project_id": found.project_id,
        "changed_at": None,
        "recorded_at": None,
        "reason": found.reason,
    }


database.add_command(compare)


@listing(
    "doubles", "stack_name", "resource", "resource_type", "owner_stack_name", "owner_resource", good=_none,
    more=("stack_id", "project_id", "owner_stack_id", "owner_project_id"),
)  # fmt: skip
@config_files_option
@embedded_option
def doubles(config_files: tuple[str, ...], directory: DataDirectory | None) -> Rows:
    """List the resources whose object belongs to another resource, too.

    Earlier releases permitted that; new resources are refused. The oldest resource owns the object; when another one
    is deleted, the object remains. To end this, remove the resource from its stack, or refer to the object with
    external_id. The exit status is 1 if there is anything to list.

    \b
    Examples:
      stoker db doubles --config-file heat.conf
      stoker db doubles --data-dir ~/.local/share/stoker -f json
    """
    from stoker.store import ownership

    found = with_database(config_files, lambda opened: opened.read_now(ownership.duplicates), directory)
    return [
        {
            "stack_name": second.stack,
            "resource": second.name,
            "resource_type": second.type,
            "owner_stack_name": owner.stack,
            "owner_resource": owner.name,
            "stack_id": second.stack_id,
            "project_id": second.project_id,
            "owner_stack_id": owner.stack_id,
            "owner_project_id": owner.project_id,
        }
        for second, owner in found
    ]


database.add_command(doubles)


@database.command("accept")
@data_directory_option
@_marked_cluster_option
def accept(directory: DataDirectory, config_files: tuple[str, ...]) -> None:
    """Forget what `stoker db compare` lists, so that `stoker up` and `stoker status` do not warn any more.

    \b
    Examples:
      stoker db accept
    """
    files = _mark_files(directory, config_files)
    if files.gap() is None:
        say("Nothing is recorded.")
        return
    files.forget_gap()
    say("The differences are accepted.")
