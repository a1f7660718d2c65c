"""`stoker sync`: keep the stacks of a project as a directory or a Git repository says."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click

from stoker.cli.framework import key_values, with_service
from stoker.cli.terminal.errors import CommandFailed, FollowingInterrupted, reported_errors
from stoker.cli.terminal.messages import say

if TYPE_CHECKING:
    from stoker.cli.client.git_checkout import GitCheckout
    from stoker.cli.client.stack_client import StackClient
    from stoker.cli.commands.project import Options
    from stoker.cli.commands.reconciler import Round, Rules

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_PROJECT_FILE = "project.yaml"
_LONGEST_SECONDS = 900.0
"""The longest pause between attempts after failures; a new commit ends it."""


@click.command()
@click.option(
    "--dry-run", is_flag=True, help="Only show what differs; with --once, exit with status 2 if something does."
)
@click.option("--once", is_flag=True, help="Do one round, and exit: 0 if all is as the files say, 1 otherwise.")
@click.option(
    "--interval", type=click.FloatRange(min=1), default=60.0, show_default=True, metavar="SECONDS",
    help="Pause between two rounds; longer after failures, at most 15 minutes.",
)  # fmt: skip
@click.option("--prune", is_flag=True, help="Delete stacks that this source has deployed and no longer has.")
@click.option("--allow-data-loss", is_flag=True, help="Allow plans that delete volumes, databases and other data.")
@click.option(
    "--refresh", type=click.Choice(["changes", "all", "none"]), default="all", show_default=True,
    help="Compare with the cloud, and correct differences: of the whole stacks, or only what changes touch.",
)  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=8, show_default=True, help="Stacks deployed at the same time."
)
@click.option("-P", "--parameter", "parameters", multiple=True, metavar="STACK.KEY=VALUE", callback=key_values,
              help="Value of a parameter, such as a hidden one; repeatable.")  # fmt: skip
@click.option("--stage", metavar="NAME", help="The stage of the project file.")
@click.option("--name", metavar="NAME", help="Name of the source in tags of stacks.  [default: its last part]")
@click.option(
    "--checkout", type=click.Path(file_okay=False, path_type=Path), metavar="DIRECTORY",
    help="With a Git repository: where its files are kept.  [default: below ~/.cache/stoker/sync]",
)  # fmt: skip
@click.option("--ref", default="HEAD", show_default=True, metavar="REF", help="With a Git repository: branch or tag.")
@click.option(
    "--path", default=_PROJECT_FILE, show_default=True, metavar="FILE", help="The project file, inside of the source."
)
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="Output format; json writes one object on each line.",
)  # fmt: skip
@click.argument("source", metavar="SOURCE")
@with_service
def sync(
    service: StackClient, source: str, form: str, path: str, ref: str, checkout: Path | None, name: str | None,
    stage: str | None, parameters: Mapping[str, str], jobs: int, refresh: str, allow_data_loss: bool, prune: bool,
    interval: float, once: bool, dry_run: bool,
) -> None:  # fmt: skip
    """Keep the stacks of a project as SOURCE says: a directory, or the URL of a Git repository.

    In each round, the project file is read, all stacks are planned, and those that differ are deployed, until SIGTERM.
    Changes in the cloud by others are differences, too. Plans that lose data are not carried out, and changes that need
    an approval, or a change window, wait for it.

    \b
    Examples:
      stoker sync ./shop --once --dry-run
      stoker sync https://git.example.org/shop.git --ref main --prune
      stoker sync git@git.example.org:shop.git --interval 30 -f json
    """
    from stoker.cli.commands.project import Options
    from stoker.cli.commands.reconciler import Rules

    synced_source = _source(source, ref, checkout, name, stage, path)
    rules = Rules(prune=prune, allow_data_loss=allow_data_loss, dry_run=dry_run)
    options = Options(refresh=refresh, jobs=jobs, within=Path.cwd() if synced_source.checkout is not None else None)
    cloud = click.get_current_context().params["os_cloud"]
    rounds = Rounds(service, cloud, synced_source, stage, parameters, options, rules, form)
    if once:
        result = rounds.one()
        sys.exit(0 if result.in_sync else 2 if dry_run and not result.failed else 1)
    stopping = Event()

    def stop(*_: object) -> None:
        stopping.set()  # an exception can be lost, such as in a destructor
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    rounds.repeat(interval, stopping.wait)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the project file is, relative to the working directory; that is the working copy if there is one."""

    name: str
    path: str
    checkout: GitCheckout | None = None

    def update(self) -> str | None:
        """Return the newest commit, after fetching it; None for a directory. Raises CommandFailed."""
        return self.checkout.update() if self.checkout is not None else None


def _source(
    source: str, ref: str, checkout: Path | None, name: str | None, stage: str | None, path: str
) -> Source:  # fmt: skip
    """Return the source that the options describe. Raises UsageError or CommandFailed."""
    from stoker.cli.client.git_checkout import GitCheckout, is_git_url, repository_name

    is_git = is_git_url(source)
    name = name or (repository_name(source) if is_git else Path(source).resolve().name)
    for part in (name, stage or "default"):
        if not _NAME.fullmatch(part):
            raise click.UsageError(f"{part!r} cannot be a part of tags, which must match {_NAME.pattern}.")
    if not is_git:
        if checkout is not None or ref != "HEAD":
            raise click.UsageError("--ref and --checkout are for Git repositories, and this is a directory.")
        if not Path(source).is_dir():
            raise CommandFailed(f"{source} is neither a directory nor the URL of a Git repository.")
        return Source(name, str(Path(source) / path))
    if ref.startswith("-"):
        raise click.UsageError(f"{ref!r} is no branch or tag.")
    copy = GitCheckout(source, ref, checkout or _cache() / name / (stage or "default"))
    os.chdir(copy.directory)  # the files have the same names for everyone: paths are relative to the repository
    return Source(name, path, copy)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stoker" / "sync"


@dataclass(frozen=True)
class Rounds:
    """The rounds of one source. `parameters` are values by STACK.KEY; `cloud` is the entry of clouds.yaml, if any."""

    service: StackClient
    cloud: str | None
    source: Source
    stage: str | None
    parameters: Mapping[str, str]
    options: Options
    rules: Rules
    form: str

    def one(self) -> Round:
        """Do a round with the newest files, and show its result. Raises CommandFailed if nothing could be done."""
        return self._round(self.source.update())

    def _round(self, revision: str | None) -> Round:
        from stoker.cli.commands.project import at_rest, by_stack, present, read, refuse_other_cloud
        from stoker.cli.commands.reconciler import Reconciler, tag_of
        from stoker.cli.views.project_progress import shown_as

        project = read(self.source.path, self.stage, self.options.within)
        if project.cloud is not None:  # the source does not decide whose credentials are used
            refuse_other_cloud(self.source.path, self.stage, project.cloud, self.cloud)
        options = replace(self.options, parameters=by_stack(project, self.parameters))
        if self.rules.dry_run:
            current_stacks = present(self.service, project, options)
        else:
            current_stacks = at_rest(self.service, project, options, shown_as(self.form))
        tag = tag_of(self.source.name, self.stage)
        result = Reconciler(self.service, tag, options, self.rules, self.form).round(project, current_stacks)
        self._show(revision, result)
        return result

    def repeat(self, interval: float, wait: Callable[[float], bool]) -> None:
        """Do rounds, with a pause of about `interval` seconds between them.

        `wait` waits for some seconds, or returns True when the rounds are to end.
        """
        failures = 0
        revision: str | None = None
        while True:
            revision, succeeded = self._attempt(revision)
            failures = 0 if succeeded else failures + 1
            for pause in _pauses(interval, failures):
                if wait(pause):
                    return
                if failures and self._newer(revision):
                    break

    def _attempt(self, last: str | None) -> tuple[str | None, bool]:
        """Do a round; return the revision, and whether it has not failed. Errors are shown."""
        revision = last
        try:
            with reported_errors():
                revision = self.source.update()
                return revision, not self._round(revision).failed
        except FollowingInterrupted:
            raise
        except click.ClickException as error:
            self._show_error(revision, error)
            return revision, False

    def _newer(self, revision: str | None) -> bool:
        """Return whether there is another commit than this one, so that a pause after a failure ends."""
        try:
            return self.source.update() != revision
        except CommandFailed:
            return False  # the next round reports it

    def _show(self, revision: str | None, result: Round) -> None:
        from stoker.cli.commands.project_results import show_errors
        from stoker.cli.views.project_progress import counted, show_summary
        from stoker.cli.views.reports import write

        if self.form == "json":
            write("round", at=_now(), revision=revision, stacks=result.rows, in_sync=result.in_sync)
            return
        if all(row["outcome"] == "unchanged" for row in result.rows):
            say(f"{_now()}{f'  {revision[:10]}' if revision else ''}  {counted(result.rows)}.")
            return
        if revision:
            say(f"Commit {revision}, {_now()}:")
        show_summary(result.rows, self.form, not result.failed)
        show_errors(result.errors)

    def _show_error(self, revision: str | None, error: click.ClickException) -> None:
        from stoker.cli.views.reports import write

        if self.form == "json":
            fields: dict[str, object] = {"at": _now(), "revision": revision, "error": error.format_message()}
            write("round", **fields, stacks=[], in_sync=False)
        error.show()


def _pauses(interval: float, failures: int) -> Iterator[float]:
    """Yield the pauses before the next attempt: one without failures, otherwise several, up to 15 minutes together."""
    whole = min(interval * 2 ** min(failures, 10), max(interval, _LONGEST_SECONDS)) if failures else interval
    for _ in range(max(1, round(whole / interval))):
        yield interval * random.uniform(0.9, 1.1)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
