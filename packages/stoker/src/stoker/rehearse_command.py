"""`stoker rehearse`: find out what happens to a stack when something goes wrong, in virtual time."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stoker.base.errors import StokerError, TemplateInvalid
from stoker.cli.framework import InputPath, key_values
from stoker.cli.offline import binding_options
from stoker.cli.terminal.messages import say
from stoker.cli.terminal.paint import echo, show

if TYPE_CHECKING:
    from stoker.testing.rehearsal.rehearsal import Rehearsal

_MOST_SEEDS = 1_000_000
_MOST_JOBS = 256
_UNUSABLE = 2
_INTERRUPTED = 130
"""The status of shells after a SIGINT."""


def _text(source: str) -> str | None:
    try:
        return Path(source).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _progress(done: int, total: int) -> None:
    """Show how far it is, on a terminal."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        click.echo(f"\r{done} of {total} runs", err=True, nl=False)
        click.echo(end, err=True, nl=False)


def _shown(rehearsal: Rehearsal, single: bool) -> None:
    from stoker.testing.rehearsal.report import one_run, text

    if single:
        for run, outcome in rehearsal.outcomes:
            for line in one_run(rehearsal, run, outcome):
                click.echo(line)
    else:
        for line in text(rehearsal):
            click.echo(line)
    click.echo()
    show(rehearsal.findings, _text)
    count = len(rehearsal.findings)
    style = "bold red" if count else "bold green"
    found = "1 finding" if count == 1 else f"{count} findings" if count else "no findings"
    echo([(f"{found} in {len(rehearsal.outcomes)} runs", style), ("\n", "")])


@click.command()
@click.argument("template", metavar="TEMPLATE", type=InputPath(dir_okay=False))
@click.option(
    "--to",
    metavar="TEMPLATE",
    type=InputPath(dir_okay=False),
    help="Also update the stack to this template before it is deleted.",
)
@click.option(
    "--to-parameter",
    "to_parameters",
    multiple=True,
    metavar="KEY=VALUE",
    callback=key_values,
    help="Value of a parameter that the update changes, with or without --to; repeatable.",
)
@click.option(
    "--scale",
    "scaled",
    multiple=True,
    metavar="POLICY",
    help="Signal this scaling policy of the stack before it is deleted; can be given several times, and counts in this "
    "order.  [default: each policy once]",
)
@click.option(
    "--timings",
    metavar="FILE",
    type=InputPath(dir_okay=False),
    help="How long the resources of a real stack took: the output of `stoker logs STACK --json`.  [default: typical "
    "durations]",
)
@click.option(
    "--seeds",
    type=click.IntRange(0, _MOST_SEEDS),
    metavar="NUMBER",
    help="Number of runs: first each request with each disruption, then random combinations.  [default: all of the "
    "former, and a quarter as many of the latter; 500 at most]",
)
@click.option(
    "--seed", type=click.IntRange(1, _MOST_SEEDS), metavar="NUMBER", help="Repeat this run only, and show what happens."
)
@click.option("--timeout", type=click.IntRange(min=1), metavar="MINUTES", help="Timeout of the actions.")
@click.option(
    "--cloud",
    metavar="FILE",
    type=InputPath(dir_okay=False),
    help="What the cloud has besides its own: flavors, images, networks, keypairs and quotas, as in test files.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, _MOST_JOBS),
    default=lambda: min(os.cpu_count() or 1, _MOST_JOBS),
    show_default="number of processors",
    help="Number of processes.",
)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Output format.",
)
@binding_options
def rehearse(
    template: str,
    to: str | None,
    to_parameters: dict[str, str],
    scaled: tuple[str, ...],
    timings: str | None,
    seeds: int | None,
    seed: int | None,
    timeout: int | None,
    cloud: str | None,
    jobs: int,
    form: str,
    environments: tuple[str, ...],
    parameters: dict[str, str],
) -> None:
    """Rehearse the life of a stack: create, update, scale and delete it again and again; let something go wrong.

    Requests are refused, lost, slow, or exceed a quota, objects break, and engines die. All of it happens on an
    emulated cloud in this machine's processes and in virtual time; nothing is contacted, and no secret is needed. The
    report says what users would see, and each finding names a rule and a place in the template. After Ctrl-C, it is
    that of the runs that have ended.

    Exit status: 0 without findings, 1 with findings, 2 for a template that cannot be used or a usage error, 130 after
    an interruption.

    \b
    Examples:
      stoker rehearse web.yaml
      stoker rehearse web.yaml --to new/web.yaml -e production.yaml
      stoker rehearse web.yaml -P count=2 --to-parameter count=5
      stoker rehearse web.yaml --scale grow --scale grow --scale shrink
      stoker rehearse web.yaml --timings web.events  # of stoker logs web --json
      stoker rehearse web.yaml --seed 118
      stoker rehearse web.yaml --seeds 2000 --jobs 8 -f json > report.json
    """
    from stoker.testing.cases import read_cloud
    from stoker.testing.rehearsal.rehearsal import WORKER, Interrupted, check
    from stoker.testing.rehearsal.rehearsal import rehearse as perform
    from stoker.testing.rehearsal.report import to_data
    from stoker.testing.rehearsal.scenario import Scenario
    from stoker.testing.rehearsal.timings import read_timings
    from stoker.testing.workers import Workers

    logging.getLogger().addHandler(logging.NullHandler())  # what the engine logs about disruptions is expected
    try:
        scenario = Scenario(
            template,
            to,
            environments,
            parameters,
            read_cloud(cloud) if cloud else {},
            timeout,
            scaled=scaled or None,
            timings=read_timings(timings) if timings else {},
            to_parameters=to_parameters,
        )
        check(scenario)
        with Workers(WORKER, jobs) as workers:
            rehearsal = perform(scenario, seeds, seed, workers, _progress)
    except Interrupted as error:
        rehearsal = error.rehearsal
    except KeyboardInterrupt:
        say("\ninterrupted before the undisturbed run has ended: there is nothing to report", err=True)
        sys.exit(_INTERRUPTED)
    except TemplateInvalid as error:
        show(error.diagnostics, _text, err=True)
        sys.exit(_UNUSABLE)
    except (OSError, UnicodeDecodeError) as error:
        say(f"error: {cloud or timings} cannot be read: {error}", err=True)
        sys.exit(_UNUSABLE)
    except StokerError as error:
        say(f"error: {error.message}", err=True)
        sys.exit(_UNUSABLE)
    if form == "json":
        click.echo(json.dumps(to_data(rehearsal), indent=2, ensure_ascii=False))
    else:
        _shown(rehearsal, seed is not None)
    if rehearsal.missing:
        say(f"\ninterrupted: {rehearsal.missing} further runs were not made", err=True)
        sys.exit(_INTERRUPTED)
    if rehearsal.findings:
        sys.exit(1)
