"""`stoker takeover`: take over the stacks of a running Heat from its database."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from oslo_config import cfg

from stoker.cli.database import config_files_option
from stoker.cli.errors import CommandFailed, reported_errors
from stoker.engine.core import Engine
from stoker.processes.assembly import made_engine, opened_database, require_schema
from stoker.processes.directory import write_private
from stoker.processes.lifetime import cluster_config
from stoker.takeover.copying import Copier, Fate, TreeReport
from stoker.takeover.decoding import Decoder
from stoker.takeover.documents import documents
from stoker.takeover.heat import HeatDatabase

_ALIVE = timedelta(minutes=3)
_VERBS = {
    Fate.COPY: ("can be copied", "copied"),
    Fate.AGAIN: ("have changed in Heat and can be copied again", "copied again"),
    Fate.PRESENT: ("are here already", "were here already"),
    Fate.CHANGED_HERE: ("were changed here and in Heat, and stay as they are here",) * 2,
    Fate.IMPOSSIBLE: ("cannot be taken over", "could not be taken over"),
}


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
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
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

    \b
    Examples:
      stoker takeover --config-file heat.conf --from mysql+pymysql://heat:PASSWORD@db/heat --plan
      stoker takeover --config-file heat.conf --from mysql+pymysql://heat:PASSWORD@db/heat --project 5f3c…
      stoker takeover --config-file heat.conf --from mysql+pymysql://heat:PASSWORD@db/heat --encryption-key-file key
      stoker takeover --config-file heat.conf --export adopt-data
    """
    if (source is None) == (export_directory is None):
        raise click.UsageError("Give either --from or --export.")
    if export_directory is not None and (only_plan or as_json or force or encryption_key_file):
        raise click.UsageError("--export can be combined with --config-file and --project only.")
    with reported_errors():
        config = cluster_config(config_files)
        if source is None:
            assert export_directory is not None
            export_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if asyncio.run(_export(config, export_directory, project)):
                sys.exit(3)
            return
        decoder = Decoder(_keys(config, keys, encryption_key_file))
        reports, facts = asyncio.run(_run(config, source, decoder, project, only_plan, force, quiet=as_json))
    if as_json:
        click.echo(json.dumps({**facts, "trees": [report.to_data() for report in reports]}, indent=2))
    else:
        _show(reports, facts, only_plan)
    if any(report.fate in (Fate.IMPOSSIBLE, Fate.CHANGED_HERE) for report in reports):
        sys.exit(3)


async def _run(
    config: cfg.ConfigOpts, source: str, decoder: Decoder, project: str | None, only_plan: bool, force: bool,
    *, quiet: bool,
) -> tuple[list[TreeReport], dict[str, Any]]:  # fmt: skip
    heat = HeatDatabase(source)
    try:
        with heat.connect() as connection:
            facts: dict[str, Any] = {"from": heat.shown, "revision": heat.revision(connection)}
            facts["deleted"] = heat.deleted(connection, project)
            total = len(heat.roots(connection, project))
            alive = heat.living_engines(connection, datetime.now(UTC).replace(tzinfo=None) - _ALIVE)
        facts["running_engines"] = alive
        if alive and not only_plan and not force:
            raise CommandFailed(
                f"Heat is running: its engines on {', '.join(alive)} have reported within {_ALIVE.seconds // 60} "
                "minutes. Stop them, and run the command again; with --force it copies although they run."
            )
        async with opened_database(config) as database:
            await require_schema(database)
            async with made_engine(config, database) as engine:
                return await _copied(engine, heat, decoder, project, only_plan, total, facts, quiet)
    finally:
        heat.close()


async def _copied(
    engine: Engine, heat: HeatDatabase, decoder: Decoder, project: str | None, only_plan: bool, total: int,
    facts: dict[str, Any], quiet: bool,
) -> tuple[list[TreeReport], dict[str, Any]]:  # fmt: skip
    copier = Copier(engine, heat, decoder, project=project, write=not only_plan)
    reports: list[TreeReport] = []
    configs, deployments = await copier.software()
    with click.progressbar(length=total, label="Stacks", file=sys.stderr, hidden=quiet) as bar:

        def note(report: TreeReport) -> None:
            reports.append(report)
            bar.update(1)

        await copier.trees(note)
    return reports, {**facts, "software_configs": configs, "software_deployments": deployments}


async def _export(config: cfg.ConfigOpts, directory: Path, project: str | None) -> int:
    """Write the documents, readable by the user only; return the number of stacks that have changed."""
    changed = total = 0
    async with opened_database(config) as database:
        await require_schema(database)
        async with made_engine(config, database) as engine:
            async for exported in documents(engine, project):
                path = directory / f"{exported.stack.id}.json"
                write_private(path, json.dumps(exported.document, indent=2) + "\n")
                total += 1
                if exported.changed:
                    changed += 1
                    click.echo(
                        f"{exported.stack.name} ({exported.stack.id}) was changed after it was taken over", err=True
                    )
    click.echo(f"Wrote {_many(total, 'document')} to {directory}")
    return changed


def _keys(config: cfg.ConfigOpts, given: Sequence[str], file: Path | None) -> list[str]:
    """Return the keys of Heat: those given, those in the file, or those of the configuration."""
    if given:
        return [part.strip() for key in given for part in key.split(",")]
    if file is not None:
        lines = [line.strip() for line in file.read_text().splitlines() if line.strip()]
        named = [line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == _OPTION]
        return [part.strip() for line in named or lines for part in line.split(",")]
    return [key.strip() for key in config.auth_encryption_key.split(",")]


_OPTION = "auth_encryption_key"


def _show(reports: Sequence[TreeReport], facts: dict[str, Any], only_plan: bool) -> None:
    click.echo(f"Heat's database {facts['from']} (revision {facts['revision']})")
    if facts["running_engines"]:
        click.echo(f"Engines of Heat are running: {', '.join(facts['running_engines'])}. Stop them before the copy.")
    for fate in Fate:
        found = [report for report in reports if report.fate is fate]
        if found:
            stacks, resources = sum(each.stacks for each in found), sum(each.resources for each in found)
            verb = _VERBS[fate][0 if only_plan else 1]
            click.echo(f"{_many(len(found), 'tree')} of stacks ({stacks} stacks, {resources} resources) {verb}")
    click.echo(
        f"{_many(facts['software_configs'], 'software configuration')}, "
        f"{_many(facts['software_deployments'], 'deployment')}; deleted stacks that are not taken over: "
        f"{facts['deleted']}"
    )
    types = sum((Counter(report.types) for report in reports), Counter[str]())
    if only_plan and types:
        click.echo("\nResources by type:")
        for name, number in sorted(types.items()):
            click.echo(f"  {number:6}  {name}")
    for report in reports:
        for note in report.notes:
            click.echo(f"note: {note}")
    for report in reports:
        if report.why:
            click.echo(f"{report.name} ({report.id}): {report.why}", err=True)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
