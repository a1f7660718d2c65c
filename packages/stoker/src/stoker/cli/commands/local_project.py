"""`stoker up -f`: deploy the stacks of a project file with the Stoker that has been started."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import click

from stoker.cli.framework import key_values, yes_option
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say
from stoker.processes.directory import SetUp

_SIGNALLED = 128
"""The exit status of a program that a signal ends is more than this."""


@dataclass(frozen=True, slots=True)
class StartedProject:
    """The project that is deployed after the start. `parameters` are values STACK.PARAMETER of the command line."""

    path: str
    stage: str | None
    parameters: Mapping[str, str]
    yes: bool

    def check(self, cloud: str | None) -> None:
        """Raise CommandFailed for mistakes in the file, and for one whose stacks are in another cloud than Stoker's, an
        entry of clouds.yaml or None for the emulated one.
        """
        from stoker.cli.commands.project import by_stack, cloud_for, read

        named = cloud_for(self.path, self.stage, None)
        if named is not None and named != cloud:
            what = self.path if self.stage is None else f"the stage {self.stage} of {self.path}"
            where = f"the cloud {cloud}" if cloud is not None else "an emulated cloud"
            raise CommandFailed(
                f"The stacks of {what} are in the cloud {named}, but this Stoker uses {where}. Nothing was done."
            )
        by_stack(read(self.path, self.stage), self.parameters)

    def deploy(self, set_up: SetUp) -> None:
        """Deploy the stacks. Raises CommandFailed, click.Abort if the user does not want it, and SystemExit if a stack
        has failed, which has been shown then.
        """
        from stoker.cli.client.connection import embedded_service
        from stoker.cli.commands.project import Options, deploy_project

        click.echo()
        deploy_project(embedded_service(set_up), self.path, self.stage, self.parameters, Options(), self.yes, "text")

    def deploy_concurrently(
        self,
        watch: Callable[[], None],
        set_up: SetUp,
        stopped: threading.Event,
        interrupted: Callable[[threading.Event], AbstractContextManager[None]],
    ) -> None:
        """Deploy the stacks while another thread runs `watch`, which ends when `stopped` is set.

        A deployment that fails does not end it. Raises SystemExit then, when `watch` has ended.
        """
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            watching = pool.submit(watch)
            try:
                failed = self._failed(set_up, stopped, interrupted)
            except BaseException:
                stopped.set()
                raise
            if not stopped.is_set():
                say(f"\n{self._next_step() if failed else 'The stacks are deployed.'} Ctrl-C stops Stoker.")
            watching.result()
        if failed:
            sys.exit(1)

    def _failed(
        self,
        set_up: SetUp,
        stopped: threading.Event,
        interrupted: Callable[[threading.Event], AbstractContextManager[None]],
    ) -> bool:
        """Deploy the stacks; return whether that has failed, after showing why. A signal sets `stopped`."""
        try:
            with interrupted(stopped):
                self.deploy(set_up)
        except CommandFailed as error:
            error.show()
        except click.Abort:
            say("Nothing was deployed.")
        except SystemExit as end:
            if isinstance(end.code, int) and end.code > _SIGNALLED:
                stopped.set()
        else:
            return False
        return True

    def _next_step(self) -> str:
        stage = f" --stage {self.stage}" if self.stage is not None else ""
        return f"Stoker keeps running. To deploy again: stoker deploy -f {self.path}{stage}."


def project_options(function: Callable[..., object]) -> Callable[..., object]:
    """Add the options of the project that is deployed after the start, passed as `project`; None without a file."""

    @functools.wraps(function)
    def command(
        file: str | None, stage: str | None, parameters: Mapping[str, str], yes: bool, **options: object
    ) -> Any:
        if file is None and (stage is not None or parameters or yes):
            raise click.UsageError("--stage, -P and --yes are for a project: give its file, too (-f FILE.yaml).")
        project = StartedProject(file, stage, parameters, yes) if file is not None else None
        return function(project=project, **options)

    options = (
        yes_option,
        click.option(
            "-P", "--parameter", "parameters", multiple=True, metavar="STACK.KEY=VALUE", callback=key_values,
            help="With a project: value of a parameter; repeatable.",
        ),
        click.option("--stage", metavar="NAME", help="With a project: the stage."),
        click.option(
            "-f", "--project", "file", metavar="FILE", type=click.Path(dir_okay=False),
            help="Deploy all stacks of this project file when everything is ready, as `stoker deploy -f` does.",
        ),
    )  # fmt: skip
    for option in options:
        option(command)
    return command
