"""`stoker takeover`: take over the stacks of a running Heat from its database.

The command imports what carries it out when it runs, so that its help and its completion are quick.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stoker.cli.commands.database import config_files_option
from stoker.cli.framework import InputPath


@click.command("takeover")
@config_files_option
@click.option("--from", "source", metavar="URL", help="Heat's database, as in its heat.conf.")
@click.option("--plan", "only_plan", is_flag=True, help="Show what would be taken over, and write nothing.")
@click.option("--project", metavar="ID", help="Only the stacks of this project.")
@click.option(
    "--encryption-key",
    "keys",
    multiple=True,
    envvar="HEAT_ENCRYPTION_KEY",
    metavar="KEY",
    help="Heat's auth_encryption_key; repeatable, the current one first.  [default: that of the configuration]",
)
@click.option(
    "--encryption-key-file",
    type=InputPath(dir_okay=False, path_type=Path),
    help="File with Heat's auth_encryption_key: one key in each line, or a heat.conf.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document with every stack.")
@click.option("--force", is_flag=True, help="Copy although engines of Heat are running.")
@click.option(
    "--export",
    "export_directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write adopt data of the stacks that were taken over, with their secrets, into this directory instead.",
)
def command(
    config_files: tuple[str, ...],
    source: str | None,
    only_plan: bool,
    project: str | None,
    keys: tuple[str, ...],
    encryption_key_file: Path | None,
    as_json: bool,
    force: bool,
    export_directory: Path | None,
) -> None:
    """Take over the stacks of a running Heat from its database, under the same IDs, names and signal URLs.

    Nothing in the cloud is called or changed, and Heat's database is only read. Stop Heat first, or make its API
    read-only: an operation that is in progress is recorded as failed, and continues with the next update. The command
    can be interrupted and repeated: stacks that are here already are left alone, and those that have changed in Heat
    since are copied again, unless they were changed here.

    The exit status is 0 when every stack was (or can be) taken over, 1 on an error, and 3 when some stacks cannot be.
    For an export, it is 3 when some stacks were changed since, or cannot be adopted by Heat.

    \b
    Examples:
      stoker takeover --from mysql+pymysql://heat:PASSWORD@db/heat --plan
      stoker takeover --from mysql+pymysql://heat:PASSWORD@db/heat --project 5f3c…
      stoker takeover --from mysql+pymysql://heat:PASSWORD@db/heat \\
        --config-file heat.conf --encryption-key-file key
      stoker takeover --config-file heat.conf --export adopt-data
    """
    if (source is None) == (export_directory is None):
        raise click.UsageError("Give either --from or --export.")
    if export_directory is not None and (only_plan or as_json or force or encryption_key_file):
        raise click.UsageError("--export can be combined with --config-file and --project only.")
    from stoker.cli.commands import heat_copy

    if source is None:
        assert export_directory is not None
        complete = heat_copy.export(config_files, export_directory, project)
    else:
        chosen = heat_copy.Choice(source, project, only_plan, force, as_json)
        complete = heat_copy.copy_stacks(config_files, keys, encryption_key_file, chosen)
    if not complete:
        sys.exit(3)
