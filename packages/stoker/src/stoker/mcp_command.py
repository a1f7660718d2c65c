"""`stoker mcp`: the server of the Model Context Protocol."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stoker.cli.framework import data_directory_option
from stoker.processes.directory import DataDirectory

if TYPE_CHECKING:
    from stoker.cli.client.stack_client import StackClient


@click.command()
@click.option("--os-cloud", envvar="OS_CLOUD", metavar="NAME", help="Entry of clouds.yaml to use.")
@data_directory_option
@click.option(
    "--directory",
    "templates",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="Directory with the templates; nothing outside of it is read.  [default: the working directory]",
)
@click.option("--read-only", is_flag=True, help="Offer no tool that applies a plan.")
def mcp(os_cloud: str | None, directory: DataDirectory, templates: Path, read_only: bool) -> None:
    """Serve the Model Context Protocol on standard input and output, for programs with language models.

    Such a program starts this command itself. Its tools look at stacks, search resource types, check templates and
    make plans. The one tool that changes stacks applies plans that a person has approved in Stoker, and no others.

    \b
    Examples:
      stoker mcp
      stoker mcp --directory templates --os-cloud production --read-only
    """
    from stoker.base.extras import require_parts

    require_parts("stoker mcp", ["mcp"])
    from stoker.cli.client.connection import connect
    from stoker.mcp_server.server import build

    @cache
    def connected() -> StackClient:
        return connect(directory, os_cloud)

    build(connected, templates.absolute(), read_only).run("stdio")
