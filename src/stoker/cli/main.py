"""The `stoker` command."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib import import_module

import click

from stoker import __version__
from stoker.cli.framework import Commands

COMMANDS: Mapping[str, str] = {
    "up": "stoker.cli.local:up",
    "down": "stoker.cli.local:down",
    "status": "stoker.cli.local:status",
    "deploy": "stoker.cli.deploy:deploy",
    "plan": "stoker.cli.deploy:plan",
    "delete": "stoker.cli.deploy:delete",
    "stack": "stoker.cli.stacks:stack",
    "lint": "stoker.cli.lint:lint",
    "fmt": "stoker.cli.format:fmt",
    "graph": "stoker.cli.graph:graph",
    "convert": "stoker.cli.convert:command",
    "demo": "stoker.cli.demo:demo",
    "engine": "stoker.cli.cluster:engine",
    "api": "stoker.cli.cluster:api",
    "api-cfn": "stoker.cli.cluster:api_cfn",
    "db": "stoker.cli.database:database",
    "service": "stoker.cli.inside:service",
    "operation": "stoker.cli.inside:operation",
}
"""Where each command is. Only the requested one is imported, since some import large parts of the engine."""


class Stoker(Commands):
    """The commands of the table above."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=Stoker, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="stoker")
def cli() -> None:
    """Create, update and delete stacks of OpenStack resources that are described in templates."""


def main() -> None:
    """Entry point."""
    logging.getLogger("keystoneauth").addHandler(logging.NullHandler())  # its errors contain what it warns about
    cli(prog_name="stoker")
