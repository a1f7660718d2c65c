"""Errors of commands: one message, never a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import click

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import StokerError
from stoker.cli.terminal.messages import terminal_width, wrapped

USE_UP = "Is `stoker up` running?"
_USAGE = "Error: "
"""What click prints before the message of a usage error."""


class CommandFailed(click.ClickException):
    """The command could not be carried out; `exit_code` is 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        text = f"stoker: {self.message}"
        if file is not None:
            click.echo(text, file=file)
            return
        from stoker.cli.terminal import paint

        if sys.stderr.isatty():
            text = wrapped(text, terminal_width(err=True))
        paint.echo([("stoker:", "bold red"), (f"{text.removeprefix('stoker:')}\n", "")], err=True)


class TemplateRefused(CommandFailed):
    """The template or its environment has problems, which are shown with the lines of `text_of` their sources."""

    heading = "The template or its environment cannot be used:"

    def __init__(self, diagnostics: Sequence[Diagnostic], text_of: Callable[[str], str | None]) -> None:
        super().__init__(self.heading)
        self.diagnostics = diagnostics
        self._text_of = text_of

    def show(self, file: IO[Any] | None = None) -> None:
        from stoker.cli.terminal import paint

        super().show(file)
        paint.show(self.diagnostics, self._text_of, err=True)


class PoliciesRefused(TemplateRefused):
    """Policies on plans have mistakes, which are shown with their lines."""

    heading = "The policies cannot be used:"


class PlanRefused(TemplateRefused):
    """The checks before the first change have found what is known to fail."""

    heading = "The plan is known to fail, and nothing was changed:"


class FollowingInterrupted(CommandFailed):
    """The user interrupted the command, but the operation continues. `exit_code` is that of shells for SIGINT."""

    exit_code = 130


class FollowingFailed(CommandFailed):
    """The command cannot follow the operation any longer, but the operation continues."""


class NoSuchResource(CommandFailed):
    """The stack has no resource of this name."""


class NoSuchStack(CommandFailed):
    """The project has no stack of this name."""


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turn errors of Stoker, keystoneauth and the configuration into messages for the user."""
    try:
        yield
    except click.UsageError as error:
        if type(error).show is not click.UsageError.show:  # it shows the help of a command instead
            raise
        room = terminal_width(err=True) - len(_USAGE) if sys.stderr.isatty() else sys.maxsize
        raise click.UsageError(wrapped(error.format_message(), room), error.ctx) from error
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except StokerError as error:
        raise CommandFailed(error.message) from error
    except Exception as error:
        message = _library_message(error)
        if message is None:
            raise
        raise CommandFailed(message) from error


def _library_message(error: Exception) -> str | None:
    """Return the message about an error of a library; None if there is none, since the error is a defect."""
    if isinstance(error, ModuleNotFoundError):
        return _missing_message()
    if "oslo_config.cfg" in sys.modules:  # the engine's extra has it, and most commands do not need it
        from oslo_config import cfg

        if isinstance(error, cfg.Error):
            return f"The configuration is invalid: {error}"
    from keystoneauth1 import exceptions as keystone_errors

    if isinstance(error, keystone_errors.ConnectFailure):
        what, _, _ = str(error).partition(": ")  # the rest comes from the HTTP library
        return f"The service cannot be reached. {USE_UP} ({what})"
    if isinstance(error, keystone_errors.DiscoveryFailure):
        return "The identity service at auth_url cannot be reached, or there is none."
    if isinstance(error, keystone_errors.Unauthorized):
        return f"The identity service refused the credentials: {error.message}"
    if isinstance(error, keystone_errors.EndpointNotFound):
        return "The cloud's catalog has no orchestration service for this region."
    if isinstance(error, keystone_errors.ClientException):
        return str(error)
    return None


def _missing_message() -> str | None:
    """Return what to install for a command that could not import a module; None if all parts are installed."""
    from stoker.base.extras import PartMissing, missing_parts

    missing = missing_parts()
    context = click.get_current_context(silent=True)
    if not missing or context is None:
        return None
    return PartMissing(f"{context.command_path} {context.invoked_subcommand or ''}".strip(), missing[:1]).message
