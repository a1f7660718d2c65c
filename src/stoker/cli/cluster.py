"""The processes of a cluster."""

from __future__ import annotations

import click

from stoker.processes import engine as engine_process
from stoker.processes import faces

_config_files = click.option(
    "--config-file",
    "config_files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="File in heat.conf's form; repeatable, later ones win.  [default: heat.conf in the usual places]",
)


@click.command("engine")
@_config_files
def engine(config_files: tuple[str, ...]) -> None:
    """Run an engine of a cluster, until SIGTERM.

    Engines share the database that [database] connection names, and find each other through transport_url.
    """
    engine_process.main(config_files)


@click.command("api")
@_config_files
def api(config_files: tuple[str, ...]) -> None:
    """Serve the Orchestration API for a cluster's engines, until SIGTERM."""
    faces.main(config_files)


@click.command("api-cfn")
@_config_files
def api_cfn(config_files: tuple[str, ...]) -> None:
    """Serve the CloudFormation interface for a cluster's engines, until SIGTERM."""
    faces.main_cfn(config_files)
