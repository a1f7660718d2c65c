"""Errors of commands: one message, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click
from keystoneauth1 import exceptions as keystone_errors
from oslo_config import cfg

from stoker.base.errors import StokerError

USE_UP = "Is `stoker up` running?"


class CommandFailed(click.ClickException):
    """The command could not be carried out; `exit_code` is 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"{click.style('stoker:', fg='red', bold=True)} {self.message}", file=file, err=file is None)


class LookedAway(CommandFailed):
    """The user interrupted the command, but the operation continues. `exit_code` is that of shells for SIGINT."""

    exit_code = 130


class NoSuchStack(CommandFailed):
    """The project has no stack of this name."""


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turn errors of Stoker, keystoneauth and the configuration into messages for the user."""
    try:
        yield
    except StokerError as error:
        raise CommandFailed(error.message) from error
    except cfg.Error as error:
        raise CommandFailed(f"The configuration is invalid: {error}") from error
    except keystone_errors.ConnectFailure as error:
        what, _, _ = str(error).partition(": ")  # the rest comes from the HTTP library
        raise CommandFailed(f"The service cannot be reached. {USE_UP} ({what})") from error
    except keystone_errors.DiscoveryFailure as error:
        raise CommandFailed("The identity service at auth_url cannot be reached, or there is none.") from error
    except keystone_errors.Unauthorized as error:
        raise CommandFailed(f"The identity service refused the credentials: {error.message}") from error
    except keystone_errors.EndpointNotFound as error:
        raise CommandFailed("The cloud's catalog has no orchestration service for this region.") from error
    except keystone_errors.ClientException as error:
        raise CommandFailed(str(error)) from error
