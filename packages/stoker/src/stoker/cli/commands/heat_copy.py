"""Carry out what `stoker takeover` is asked for: read Heat's database, copy or export stacks, and report."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from oslo_config import cfg

from stoker.cli.terminal.errors import CommandFailed, reported_errors
from stoker.cli.terminal.messages import say
from stoker.processes.assembly import made_engine, require_schema
from stoker.processes.directory import write_private
from stoker.processes.lifetime import cluster_config
from stoker.processes.opened_database import opened_database
from stoker.takeover.copying import Copier, CopyOutcome, TreeReport
from stoker.takeover.decoding import Decoder
from stoker.takeover.documents import documents
from stoker.takeover.heat import HeatDatabase

_ALIVE = timedelta(minutes=3)
_VERBS = {
    CopyOutcome.COPY: ("can be copied", "copied"),
    CopyOutcome.AGAIN: ("can be copied again: changed in Heat", "copied again"),
    CopyOutcome.PRESENT: ("already here", "already here before"),
    CopyOutcome.CHANGED_HERE: ("changed here and in Heat, kept as here",) * 2,
    CopyOutcome.IMPOSSIBLE: ("cannot be taken over", "could not be taken over"),
}
"""What is printed after a number of trees, which may be one: whether it is planned, and that it is done."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What to take over, and how: from the database `source`, the stacks of `project` or of all."""

    source: str
    project: str | None
    only_plan: bool
    force: bool
    as_json: bool


def copy_stacks(config_files: Sequence[str], keys: Sequence[str], key_file: Path | None, choice: Choice) -> bool:
    """Take stacks over, or show the plan for that; return whether every stack was, or can be, taken over."""
    with reported_errors():
        config = cluster_config(config_files)
        decoder = Decoder(_keys(config, keys, key_file))
        reports, facts = asyncio.run(_run(config, decoder, choice))
    if choice.as_json:
        click.echo(json.dumps({**facts, "trees": [report.to_data() for report in reports]}, indent=2))
    else:
        _show(reports, facts, choice.only_plan)
    return not any(report.fate in (CopyOutcome.IMPOSSIBLE, CopyOutcome.CHANGED_HERE) for report in reports)


def export(config_files: Sequence[str], directory: Path, project: str | None) -> bool:
    """Write adopt data of the stacks that were taken over; return whether a Heat can adopt all, as they were there."""
    with reported_errors():
        config = cluster_config(config_files)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return asyncio.run(_export(config, directory, project)) == 0


async def _run(config: cfg.ConfigOpts, decoder: Decoder, choice: Choice) -> tuple[list[TreeReport], dict[str, object]]:
    heat = HeatDatabase(choice.source)
    try:
        with heat.connect() as connection:
            facts: dict[str, object] = {"from": heat.shown, "revision": heat.revision(connection)}
            facts["deleted"] = heat.deleted(connection, choice.project)
            total = len(heat.roots(connection, choice.project))
            alive = heat.living_engines(connection, datetime.now(UTC).replace(tzinfo=None) - _ALIVE)
        facts["running_engines"] = alive
        if alive and not choice.only_plan and not choice.force:
            raise CommandFailed(
                f"Heat is running: its engines on {', '.join(alive)} have reported within {_ALIVE.seconds // 60} "
                "minutes. Stop them, and run the command again; with --force it copies although they run."
            )
        async with opened_database(config) as database:
            await require_schema(database)
            async with made_engine(config, database) as engine:
                copier = Copier(engine.services, heat, decoder, project=choice.project, write=not choice.only_plan)
                return await _copied(copier, facts, total, quiet=choice.as_json)
    finally:
        heat.close()


async def _copied(
    copier: Copier, facts: dict[str, object], total: int, *, quiet: bool
) -> tuple[list[TreeReport], dict[str, object]]:
    reports: list[TreeReport] = []
    configs, deployments = await copier.software()
    with click.progressbar(
        length=total, label="Stacks", file=sys.stderr, hidden=quiet or not sys.stderr.isatty()
    ) as bar:

        def note(report: TreeReport) -> None:
            reports.append(report)
            bar.update(1)

        await copier.trees(note)
    return reports, {**facts, "software_configs": configs, "software_deployments": deployments}


async def _export(config: cfg.ConfigOpts, directory: Path, project: str | None) -> int:
    """Write the documents, readable by the user only; return the number of stacks with a warning."""
    warned = total = 0
    async with opened_database(config) as database:
        await require_schema(database)
        async with made_engine(config, database) as engine:
            async for exported in documents(engine.services, project):
                path = directory / f"{exported.stack.id}.json"
                write_private(path, json.dumps(exported.document, indent=2) + "\n")
                total += 1
                if exported.environment:
                    path = directory / f"{exported.stack.id}.environment.json"
                    write_private(path, json.dumps(exported.environment, indent=2) + "\n")
                warnings = ["was changed after it was taken over"] if exported.changed else []
                warnings += [f"cannot be adopted: {obstacle}" for obstacle in exported.obstacles()]
                warned += bool(warnings)
                for warning in warnings:
                    say(f"{exported.stack.name} ({exported.stack.id}) {warning}", err=True)
    say(f"Wrote {_many(total, 'document')} to {directory}")
    return warned


def _keys(config: cfg.ConfigOpts, keys: Sequence[str], file: Path | None) -> list[str]:
    """Return the keys of Heat: those given, those in the file, or those of the configuration."""
    if keys:
        return [part.strip() for key in keys for part in key.split(",")]
    if file is not None:
        lines = [line.strip() for line in file.read_text().splitlines() if line.strip()]
        named = [line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == _OPTION]
        return [part.strip() for line in named or lines for part in line.split(",")]
    return [key.strip() for key in config.auth_encryption_key.split(",")]


_OPTION = "auth_encryption_key"


def _show(reports: Sequence[TreeReport], facts: dict[str, Any], only_plan: bool) -> None:
    say(f"Heat's database {facts['from']} (revision {facts['revision']})")
    if facts["running_engines"]:
        say(f"Engines of Heat are running: {', '.join(facts['running_engines'])}. Stop them before the copy.")
    for fate in CopyOutcome:
        with_fate = [report for report in reports if report.fate is fate]
        if with_fate:
            stacks, resources = (
                sum(report.stacks for report in with_fate),
                sum(report.resources for report in with_fate),
            )
            verb = _VERBS[fate][0 if only_plan else 1]
            content = f"{_many(stacks, 'stack')}, {_many(resources, 'resource')}"
            say(f"{_many(len(with_fate), 'tree')} of stacks ({content}): {verb}")
    say(
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
            say(f"note: {note}")
    for report in reports:
        if report.why:
            say(f"{report.name} ({report.id}): {report.why}", err=True)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
