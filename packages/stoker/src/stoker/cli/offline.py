"""Common parts of the commands that work on local templates without a server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stoker.base.errors import TemplateInvalid
from stoker.cli.framework import InputPath, key_values
from stoker.cli.terminal.paint import show

if TYPE_CHECKING:
    from stoker.authoring.sources import Sources

Command = TypeVar("Command", bound=Callable[..., Any])


def binding_options(function: Command) -> Command:
    """Add `-e` and `-P`, passed as `environments` and `parameters`."""
    environment = click.option(
        "-e",
        "--environment",
        "environments",
        multiple=True,
        metavar="FILE",
        type=InputPath(dir_okay=False),
        help="Environment; repeatable, later ones override.",
    )
    parameter = click.option(
        "-P",
        "--parameter",
        "parameters",
        multiple=True,
        metavar="KEY=VALUE",
        callback=key_values,
        help="Value of a parameter; repeatable.",
    )
    return environment(parameter(function))


@contextmanager
def problems_shown(sources: Sources) -> Iterator[None]:
    """Show the problems of a template, with excerpts, and exit with status 1."""
    try:
        yield
    except TemplateInvalid as error:
        show(error.diagnostics, sources.shown, err=True)
        sys.exit(1)
