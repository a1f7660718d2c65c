"""The processes of a cluster."""

from __future__ import annotations

import click

from stoker.cli.commands.database import config_files_option
from stoker_foundation.program import importing


@click.command("engine")
@config_files_option
def engine(config_files: tuple[str, ...]) -> None:
    """Run an engine of a cluster, until SIGTERM.

    Engines share the database that [database] connection names, and find each other through transport_url.

    \b
    Examples:
      stoker engine --config-file heat.conf
      stoker engine --config-file heat.conf --config-file engine1.conf
    """
    with importing():
        from stoker.processes import engine as engine_process

    engine_process.main(config_files)


@click.command("api")
@config_files_option
def api(config_files: tuple[str, ...]) -> None:
    """Serve the Orchestration API for a cluster's engines, until SIGTERM.

    \b
    Examples:
      stoker api --config-file heat.conf
    """
    with importing():
        from stoker.processes import api_processes

    api_processes.main(config_files)


@click.command("api-cfn")
@config_files_option
def api_cfn(config_files: tuple[str, ...]) -> None:
    """Serve the CloudFormation interface for a cluster's engines, until SIGTERM.

    \b
    Examples:
      stoker api-cfn --config-file heat.conf
    """
    with importing():
        from stoker.processes import api_processes

    api_processes.main_cfn(config_files)
