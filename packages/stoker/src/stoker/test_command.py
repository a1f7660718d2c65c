"""`stoker test`: run the tests of templates in virtual time."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stoker.cli.framework import InputPath
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say

if TYPE_CHECKING:
    from stoker.testing.running import Outcome

_MOST_JOBS = 256
_FORMATS = ("text", "json", "github")


def _show_existing(name: str) -> None:
    """Print what a cloud has, as a file for `--cloud`. `-` is the cloud of the `OS_*` variables."""
    import yaml

    from stoker.cli.client.connection import cloud_from_environment
    from stoker.cloud.clouds_yaml import read_cloud
    from stoker.testing.existing_cloud import read_existing

    if name == "-" and not os.environ.get("OS_AUTH_URL"):
        raise CommandFailed("There is no login: OS_AUTH_URL and the other OS_* variables are not set.")
    cloud = cloud_from_environment(os.environ) if name == "-" else read_cloud(name)
    click.echo(yaml.safe_dump(read_existing(cloud), sort_keys=False, allow_unicode=True), nl=False)


def _watch(paths: Sequence[str], part: str, cloud: str | None, jobs: int) -> None:
    """Run tests when their files change; exit with status 1 if the latest result of one is a failure."""
    from stoker.testing.watcher import TestWatcher

    watching = TestWatcher(paths, part, cloud, jobs)
    try:
        watching.run()
    except KeyboardInterrupt:
        click.echo()
        sys.exit(int(watching.failed))


def _default_format() -> str:
    return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"


def _conclude(outcomes: Sequence[Outcome], form: str) -> None:
    """Print what is printed at the end, and exit with status 1 if a test has failed."""
    from stoker.testing.reports import github_annotations, to_data
    from stoker.testing.rounds import summary

    if form == "json":
        click.echo(json.dumps(to_data(outcomes), indent=2, ensure_ascii=False))
    else:
        say(summary(outcomes))
    for line in github_annotations(outcomes) if form == "github" else ():
        click.echo(line)
    if any(outcome.failures for outcome in outcomes):
        sys.exit(1)


def _write(path: Path, report: bytes) -> None:
    try:
        path.write_bytes(report)
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error


@click.command()
@click.argument("paths", nargs=-1, metavar="[FILE|DIRECTORY]...", type=InputPath())
@click.option("-k", "part", default="", metavar="TEXT", help="Run only the tests whose names contain this.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, _MOST_JOBS),
    default=1,
    show_default=True,
    help="Number of processes that run tests.",
)
@click.option(
    "--cloud",
    metavar="FILE",
    type=InputPath(dir_okay=False),
    help="What the emulated cloud has in all tests, with the keys of the section `cloud` of test files.",
)
@click.option(
    "--like",
    metavar="CLOUD",
    help="Run no tests: read from this cloud of clouds.yaml, or `-` for that of the OS_* variables, what a file for "
    "--cloud has, and print it. Nothing is changed.",
)
@click.option("--watch", is_flag=True, help="Run tests again whenever a file changes that they read, until Ctrl-C.")
@click.option("--update", is_flag=True, help="Write the golden plans as they are found, instead of comparing them.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default=_default_format,
    show_default="text",
    help="Output format; github adds annotations to the lines for people, and is the default in workflows of GitHub.",
)
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write a report for JUnit.",
)
def test(
    paths: tuple[str, ...],
    part: str,
    jobs: int,
    cloud: str | None,
    like: str | None,
    watch: bool,
    update: bool,
    form: str,
    junit: Path | None,
) -> None:
    """Run the tests of templates: the given files *.test.yaml, or those in and below the working directory.

    Each test deploys a stack on an emulated cloud of its own, in this process and in virtual time, and compares plan,
    outputs, requests and errors with what is expected. No service is needed, and nothing is contacted.

    Exit status: 0, 1 if a test fails or a test file has mistakes, 2 for a usage
    error.

    \b
    Examples:
      stoker test
      stoker test web.test.yaml -k "two servers"
      stoker test templates/ --jobs 4 --junit report.xml
      stoker test --watch
      stoker test --update
      stoker test --like mycloud > mycloud.yaml
      stoker test --cloud mycloud.yaml
    """
    if like is not None:
        if paths or cloud or watch or update or junit:
            raise click.UsageError(
                "--like runs no tests: it takes neither files nor --cloud, --watch, --update and --junit."
            )
        _show_existing(like)
        return
    from stoker.testing import rounds
    from stoker.testing.cases import SUFFIXES, found_files
    from stoker.testing.reports import to_junit

    logging.getLogger().addHandler(logging.NullHandler())  # what the engine logs about faults is expected
    if watch:
        if update or junit or form == "json":
            raise click.UsageError("--watch prints results for people: it takes neither --update, --junit nor -f json.")
        _watch(paths or (".",), part, cloud, jobs)
    files = found_files(paths or (".",))
    if not files:
        kinds = " or ".join(f"*{suffix}" for suffix in SUFFIXES)
        raise CommandFailed(f"There are no tests ({kinds}) in or below {', '.join(paths or ('.',))}.")
    cases, failed = rounds.read(files, part, cloud)
    if not cases and not failed:
        raise CommandFailed(f"No test has a name that contains {part!r}.")
    running = chain(failed, rounds.outcomes_of(cases, update, jobs))
    outcomes = list(running if form == "json" else rounds.shown(running))
    if junit is not None:
        _write(junit, to_junit(outcomes))
    _conclude(outcomes, form)
